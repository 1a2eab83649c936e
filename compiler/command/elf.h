// SPDX-License-Identifier: Apache-2.0
// Programs for the RISC-V host: C, compiled and linked with the driver's runtime.
#ifndef COMPILER_COMMAND_ELF_H
#define COMPILER_COMMAND_ELF_H

#include "compiler/command/command.h"

typedef struct command_elf_config {
  // What the tensors hold at the start, per tensor; NULL (or an entry of NULL): weft_fill of driver/include/weft/data.h
  // with seed + number of the tensor for tensors that are read, zeros for the others.
  const uint8_t *const *bytes;
  uint64_t seed;
  unsigned times;  // how often the program runs, one after the other: the first time finds nothing of the accelerator's
                   // in the caches; 0 counts as 1
} command_elf_config;

typedef enum {
  COMMAND_ELF_DONE,
  COMMAND_ELF_NO_COMPILER,
  COMMAND_ELF_FAILED,
} command_elf_result;

// Builds the program at `path`. It prints `run N cycles C` for each time and `tensor NAME digest D` (weft_digest) for
// each tensor that is written, and ends with code 0. Its note names the array. Errors are reported.
command_elf_result command_write_elf(const command_program *program, const command_elf_config *config, const char *path,
                                     wf_diag *diag);

// The main program alone, with what it says above; and the command's C is command_write_c.
bool command_write_main(const command_program *program, const command_elf_config *config, FILE *out, wf_diag *diag);

#endif
