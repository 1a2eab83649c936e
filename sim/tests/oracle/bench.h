// SPDX-License-Identifier: Apache-2.0
// The bench of one case: an array, an engine under test, its memory and the memory that must result.
// Life of a case: bench_begin chooses an array from the seed; the group allocates and fills regions (written to both
// memories), appends commands to `program` and writes the right results with bench_want_*; bench_finish runs the
// program on the engine and compares both memories from the first to the last allocated byte, gaps included.
#ifndef SIM_TESTS_ORACLE_BENCH_H
#define SIM_TESTS_ORACLE_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine.h"
#include "sim/tests/oracle/commands.h"
#include "sim/tests/oracle/random.h"
#include "sim/tests/oracle/tensor.h"

enum { BENCH_REGIONS = 64 };

typedef struct bench_region {
  const char *name;
  uint64_t address;
  uint64_t bytes;
} bench_region;

typedef struct bench {
  const sim_engine_ops *ops;
  const char *program_name;  // for the command that repeats a case
  bool print_commands;       // of failing cases
  const char *group;
  uint64_t seed;
  int64_t dim;
  oracle_random random;
  hw_array array;
  hw_derived size;
  arch_memory *memory;
  arch_memory *want;
  uint64_t top;  // first free address
  bench_region regions[BENCH_REGIONS];
  size_t region_count;
  command_list program;
  char what[400];
  arch_fault fault;  // of the last program executed
  uint64_t cases;
  uint64_t failures;
} bench;

// How operands are drawn.
typedef enum { FILL_UNIFORM, FILL_EXTREME, FILL_SPARSE, FILL_SMALL, FILL_STYLES } fill_style;

void bench_open(bench *b, const sim_engine_ops *ops, const char *program_name);
void bench_close(bench *b);

// `number` tells groups apart in the seed; revision 0 draws one.
void bench_begin(bench *b, const char *group, uint64_t number, int64_t dim, uint64_t seed, uint32_t revision);
void bench_describe(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool bench_finish(bench *b);
// The program must end in a fault of that kind at or before command `last`, and leave the memory alone.
bool bench_finish_refused(bench *b, arch_fault_kind kind, uint64_t last);

// A region of random bytes behind a random gap.
uint64_t bench_alloc(bench *b, const char *name, int64_t bytes);
void bench_put8(bench *b, uint64_t address, int64_t value);  // an operand: in both memories
void bench_put32(bench *b, uint64_t address, int64_t value);
void bench_want8(bench *b, uint64_t address, int64_t value);  // a result
void bench_want32(bench *b, uint64_t address, int64_t value);

fill_style bench_style(bench *b);
int64_t bench_draw8(bench *b, fill_style style);
int64_t bench_draw32(bench *b, fill_style style);
uint32_t bench_scale(bench *b);       // finite and positive, 2^-12 to 4
uint32_t bench_sum_scale(bench *b);   // one that brings sums of products into the int8 range
uint32_t bench_wild_scale(bench *b);  // any bit pattern: negative, denormal, infinite, NaN

// Runs a program on another engine and memory; false and the fault's text after a fault.
bool bench_execute(bench *b, const sim_engine_ops *ops, arch_memory *memory, char *text, size_t text_size);

// An array with that many PEs per side. Capacities, banks, tiles, widths and bursts vary.
hw_array oracle_array(int64_t dim, uint32_t revision, oracle_random *random);

#endif
