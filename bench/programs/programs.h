// SPDX-License-Identifier: Apache-2.0
// Programs that compare engines: what the tiled library tells the accelerator for one operator on random data, caught
// as a list of commands, with the memory it starts from and the result it must leave. They are for gemmini-default,
// whose sizes the tiled library was compiled with.
#ifndef BENCH_PROGRAMS_PROGRAMS_H
#define BENCH_PROGRAMS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/memory.h"
#include "sim/engine.h"

#define BENCH_ARRAY "gemmini-default"

// Bytes of main memory.
typedef struct bench_block {
  uint64_t address;
  size_t size;
  uint8_t *bytes;
} bench_block;

enum { BENCH_INPUTS = 3 };
typedef struct bench_program {
  const char *name;
  const char *text;  // what it computes
  uint64_t macs;
  arch_command *commands;
  size_t count, capacity;
  bench_block input[BENCH_INPUTS];  // two operands, bias
  bench_block result;               // as it must be
} bench_program;

size_t bench_program_count(void);
// `quick`: the same operator, small enough for every engine.
bench_program *bench_program_create(size_t index, bool quick);
void bench_program_destroy(bench_program *program);

// Brings the inputs into an empty memory.
void bench_program_load(const bench_program *program, arch_memory *memory);
// Bytes of the result that are not what they must be.
size_t bench_program_wrong(const bench_program *program, const arch_memory *memory);

#endif
