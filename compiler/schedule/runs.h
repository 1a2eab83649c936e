// SPDX-License-Identifier: Apache-2.0
// Runs of rows: the rows of a box, as far as they are evenly spaced in memory and lie side by side in local memory. One
// load or store moves one run.
#ifndef COMPILER_SCHEDULE_RUNS_H
#define COMPILER_SCHEDULE_RUNS_H

#include <stdint.h>

// A leading dimension of a box.
typedef struct sched_run_dim {
  int64_t count;
  int64_t local, memory;  // local rows and bytes from one element to the next
} sched_run_dim;

typedef struct sched_run {
  int64_t local, memory;  // first local row, its place in memory
  int64_t rows;
  int64_t stride;  // bytes from row to row in memory
} sched_run;

typedef void sched_run_visitor(void *context, const sched_run *rows);

// Calls `visit` for each run of `count` dimensions, outermost first. A run has at most `limit` rows and crosses no
// multiple of `tile` rows (0: it may cross).
void sched_runs_visit(const sched_run_dim *dims, int count, int64_t local, int64_t memory, int64_t limit, int64_t tile,
                      sched_run_visitor *visit, void *context);

#endif
