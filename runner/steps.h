// SPDX-License-Identifier: Apache-2.0
// The steps of a network program timed: what each entry of its step list takes on an engine without data and the hart.
//
// The steps run in order on one memory, as run_network runs them, but the array moves no data: what the hart reads
// comes from the graph's interpreter, which runs once for all arrays. Of equal steps some run: the first, which may
// find other things in the caches, and of the others number 1, 3, 9 .., each of which counts for those up to the next.
// Where a step runs behind steps that did not,
// those of them that fill the L2 run before it, uncounted. With at most two equal steps each, or with `all`, the
// cycles
// are exactly those of run_network.
#ifndef RUNNER_STEPS_H
#define RUNNER_STEPS_H

#include "compiler/network/steps.h"
#include "runner/fidelity.h"
#include "runner/network.h"

// Tensors of a placed graph that the hart reads, as the interpreter computes them from the inputs; by tensor, NULL: not
// needed. NULL after an error was reported.
void **run_steps_values(const graph *placed, const void *const *inputs, wf_diag *diag);
void run_steps_free_values(const graph *placed, void **values);

typedef struct run_steps_request {
  const network *net;
  const network_step_list *list;
  const void *const *inputs;  // per input of the graph
  void *const *values;        // of run_steps_values
  bool all;                   // equal steps run, too
  run_fidelity fidelity;
} run_steps_request;

typedef struct run_steps_result {
  // Per entry of the list: sums over all its steps. run_steps_release frees them.
  run_step_result *entries;
  uint64_t cycles, commands, macs;
  unsigned runs;  // steps that ran, with those that were not counted
} run_steps_result;

// False after an error was reported. Release the result in any case.
bool run_steps(const run_steps_request *request, run_steps_result *result, wf_diag *diag);
void run_steps_release(run_steps_result *result);

// Adds the figures of a step, as if it had run so many times.
void run_steps_add(run_step_result *to, const run_step_result *one, uint64_t times);

#endif
