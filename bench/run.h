// SPDX-License-Identifier: Apache-2.0
// One program on one engine, measured in a process of its own, so that its peak memory is its own and a crash is a
// failed run.
//
// A run goes to the end of the program or, with `limit`, stops in that cycle. With a log it notes every event of the
// reservation station up to there: two engines agree if their logs are equal.
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/programs/programs.h"
#include "sim/engine.h"

// Shared with the process that fills it.
typedef struct bench_log {
  size_t count, capacity;  // count goes on when the log is full
  sim_event events[];
} bench_log;

bench_log *bench_log_create(size_t capacity);
void bench_log_destroy(bench_log *log);

// The place of the first difference, or SIZE_MAX.
size_t bench_log_difference(const bench_log *a, const bench_log *b);

typedef struct bench_run {
  const bench_program *program;
  const hw_array *array;
  const sim_engine_ops *engine;
  const sim_engine_options *options;
  uint64_t limit;    // cycles; 0: none
  unsigned repeats;  // the one with the least processor time counts
  bench_log *log;    // NULL: none
} bench_run;

typedef enum {
  BENCH_RUN_GOOD,
  BENCH_RUN_CANNOT_BUILD,  // reported by the engine
  BENCH_RUN_FAULT,
  BENCH_RUN_WRONG,  // another result than expected
  BENCH_RUN_CRASHED,
} bench_status;

typedef struct bench_measured {
  bench_status status;
  bool finished;                     // not stopped by the limit
  uint64_t cycles;                   // 0 of an engine without time
  double wall_seconds, cpu_seconds;  // of the engine alone
  uint64_t peak_bytes;               // of the process
  size_t wrong;                      // bytes
  char fault[320];
} bench_measured;

bench_measured bench_run_program(const bench_run *run);

#endif
