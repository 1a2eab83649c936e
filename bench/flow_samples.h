// SPDX-License-Identifier: Apache-2.0
// Runs engine flow on layers x mappings x arrays: on the set that the model of the machine is judged by, and on layers
// drawn at random.
#ifndef BENCH_FLOW_SAMPLES_H
#define BENCH_FLOW_SAMPLES_H

#include "bench/bench.h"

typedef struct bench_flow_samples {
  uint64_t samples, groups, seed;
} bench_flow_samples;

// Adds rows of errors by what the sample is, and a table of pairs of mappings. False after an error was reported.
bool bench_flow_samples_run(const bench_job *job, const bench_flow_samples *o, bench_table *errors);

#endif
