// SPDX-License-Identifier: Apache-2.0
// Runs a graph as a network program in a test: every element as the interpreter says, or the test fails.
#ifndef COMPILER_NETWORK_TESTS_OUTCOME_H
#define COMPILER_NETWORK_TESTS_OUTCOME_H

#include "base/test.h"
#include "runner/network.h"

typedef struct outcome {
  uint64_t digest, cycles, host_cycles, compared, wrong;
  int steps;
} outcome;

hw_array array_of(const char *name);
// A network without mixes that a test looks at and destroys; the array must live as long.
network *network_on(const graph *g, const hw_array *array);
// Steps that it has of an operator.
int count_steps(const graph *g, const char *array_name, graph_op op);
outcome run_with(const graph *g, const network_options *options, const char *engine, run_hart hart);
outcome run_fused(const graph *g, const hw_array *array, const char *engine, run_hart hart, network_fuse_mode fuse);
// Without fusion; and on an array by its name.
outcome run_on(const graph *g, const hw_array *array, const char *engine, run_hart hart);
outcome run(const graph *g, const char *array_name, const char *engine, run_hart hart);
// The same bytes from `ref` and from `cycle` with the hart; returns what `cycle` says.
outcome run_both(const graph *g, const char *array);

#endif
