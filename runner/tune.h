// SPDX-License-Identifier: Apache-2.0
// Network programs whose mappings are tuned where they run: in the network.
//
// A layer alone, behind itself, finds other lines in the L2 than behind the layer that stores its inputs, so the
// fastest mapping there need not be the fastest here. Tuning therefore times whole networks without data. In each run
// every layer has one of its mappings, so a run judges a mapping of all layers at once.
#ifndef RUNNER_TUNE_H
#define RUNNER_TUNE_H

#include "compiler/network/mappings.h"
#include "runner/network.h"

typedef struct run_tune_shape run_tune_shape;
typedef struct run_tune_result run_tune_result;

typedef struct run_tune_request {
  const graph *placed;
  const network_options *options;  // tuning.count says how many mappings of a layer are tried; 0, 1: none is tuned
  const void *const *inputs;       // per input of the graph
  void *const *values;             // of run_steps_values; NULL: they are found out
  void (*found)(void *context, const run_tune_result *result);  // of run_tune_network, what tuning found; may be NULL
  void *context;
} run_tune_request;

// What tuning found for the layers of one shape.
struct run_tune_shape {
  const layer_call *call;
  map_mapping mapping;
  bool changed;             // it is not the mapper's first
  uint64_t cycles, before;  // of all its steps in the network; with the mapper's first
  double energy_pj;         // 0: not known
};

struct run_tune_result {
  network_mappings mappings;  // those that are better than the mapper's first
  run_tune_shape *shapes;
  size_t shape_count;
  uint64_t runs, steps;     // networks that were timed, and their steps
  uint64_t cycles, before;  // of the network, with these mappings and without
  double seconds;           // of all processors
  network *base;            // owns the calls
};

// Layers for which options->mapping has one keep it. False after errors were reported. Release in any case.
bool run_tune(const run_tune_request *request, run_tune_result *result, wf_diag *diag);
void run_tune_release(run_tune_result *result);

// network_create with the mappings that tuning finds, or with the mapper's where options->tuning asks for none.
network *run_tune_network(const run_tune_request *request, wf_diag *diag);

#endif
