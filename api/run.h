// SPDX-License-Identifier: Apache-2.0
// What a run left, for kernels and networks.
#ifndef API_RUN_H
#define API_RUN_H

#include "api/private.h"
#include "api/steps.h"
#include "runner/network.h"
#include "runner/program.h"
#include "sim/figures.h"

struct weft_run {
  weft_totals totals;
  weft_step *steps;
  size_t step_count;
  api_step_texts *texts;  // of the steps
  weft_counter *counters;
  size_t counter_count;
  // Of a network, whose names the steps have.
  const network *net;
  run_network_result result;
  void *owner;  // of the network, and how the run lets it go
  void (*drop)(void *owner);
  weft_ending ending;
  void *report;  // what the forms of its report are made of; NULL: it has none
  void (*drop_report)(void *report);
  const struct api_form *forms;
};

// A `tell` of engines that build hardware: the context is the session, and the progress that of "hardware".
bool api_tell_building(void *session, const char *text);

weft_run *api_run_of_kernel(const hw_array *array, const run_result *result, uint64_t macs);
// Takes the result over, and calls `drop` when the run is destroyed.
weft_run *api_run_of_network(const network *net, const run_network_result *result, void *owner,
                             void (*drop)(void *owner));

// A tensor of a graph, as weft.h describes it.
weft_tensor api_tensor_of(const graph *g, int tensor, bool written);

#endif
