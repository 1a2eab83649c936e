// SPDX-License-Identifier: Apache-2.0
// Random programs for the differential test: the same ELF runs on the host and on a reference, prints its whole
// architectural state after every block of instructions, and exits.
#ifndef SIM_HOST_TESTS_RANDOM_PROGRAM_H
#define SIM_HOST_TESTS_RANDOM_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
  RANDOM_STATE_WORDS = 66,       // x0..x31, f0..f31, fcsr, hash of the traps so far
  RANDOM_SCRATCH_BYTES = 16384,  // memory that the blocks load and store, printed last
  RANDOM_BLOCK_INSTRUCTIONS = 48,
};

typedef struct random_program {
  uint8_t *elf;
  size_t elf_length;
  size_t blocks;
  uint64_t *block_pc;   // of each block's first random instruction
  uint64_t *block_end;  // behind its last one
  const uint8_t *code;  // inside elf, of the first address of memory
  size_t output_bytes;  // blocks * RANDOM_STATE_WORDS * 8 + RANDOM_SCRATCH_BYTES
} random_program;

random_program random_program_make(uint64_t seed, size_t blocks);
void random_program_free(random_program *p);

#endif
