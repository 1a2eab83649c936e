// SPDX-License-Identifier: Apache-2.0
// A generated network in tests: quantised and placed, with random inputs and an array.
#ifndef RUNNER_TESTS_JOB_H
#define RUNNER_TESTS_JOB_H

#include "compiler/graph/graph.h"
#include "compiler/network/network.h"
#include "hw/array.h"
#include "workloads/networks/networks.h"

typedef struct job {
  hw_array array;
  graph *placed;
  void **inputs, **values;  // values: of run_steps_values; NULL: not asked for
} job;

// What a network came to on engine cycle, every node as the interpreter says.
typedef struct job_outcome {
  uint64_t cycles, digest;
  int mixes;  // steps of several layers
} job_outcome;

job job_open(const char *name, const networks_options *options, const char *array, bool int8_ends);
void job_close(job *j);
// Destroys the network.
job_outcome job_run(const job *j, network *net);

#endif
