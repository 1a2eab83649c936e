// SPDX-License-Identifier: Apache-2.0
// How far engine flow is off engine cycle over many runs, as a row of a table. An error is (flow - cycle) / cycle.
#ifndef BENCH_FLOW_ERRORS_H
#define BENCH_FLOW_ERRORS_H

#include <stdint.h>

#include "bench/table.h"

enum { FLOW_ERRORS_NAME = 96 };

typedef struct bench_flow_errors {
  double *cycle, *flow;  // cycles, by run
  size_t count, room;
  double worst;  // percent
  char worst_name[FLOW_ERRORS_NAME];
} bench_flow_errors;

void bench_flow_errors_add(bench_flow_errors *e, const char *name, uint64_t cycle, uint64_t flow);
void bench_flow_errors_free(bench_flow_errors *e);

extern const bench_form bench_flow_errors_form;
// `set`: what the runs are of, for CSV and JSON. `speed`: how many times as fast as cycle; 0: not measured. Without
// runs the row says so.
void bench_flow_errors_row(bench_table *table, const char *set, const char *name, const bench_flow_errors *e,
                           double speed);

#endif
