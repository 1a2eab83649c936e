// SPDX-License-Identifier: Apache-2.0
// Networks on arrays, layer by layer in the processes of a pool. What was measured once is not measured again: layers
// that are alike, arrays that a search comes back to.
#ifndef SEARCH_TRUTH_RUNS_H
#define SEARCH_TRUTH_RUNS_H

#include "search/layers/layers.h"
#include "search/model/paper.h"
#include "search/sweep/pool.h"

typedef struct truth_runs truth_runs;

// One network on one array; the first four are given.
typedef struct truth_runs_network {
  hw_array array;
  const map_mapping *mappings;  // of each layer; NULL: the mapper's
  const bool *mapped;           // whether the layer's mapping is given
  bool whole_energy;            // as truth_options says
  sweep_work_result *layers;    // room for one per layer of the network
  bool good;                    // every layer has a result with energy
  paper_cost cost;              // of all layers, as often as the network has them, and the rest
  paper_cost rest;              // of the program: steps that are no layers of its table; 0 without a program
  const char *failed;           // the layer that has none, and why
  const char *reason;
} truth_runs_network;

// As sweep_pool_create: `jobs` 0 is one per processor. The first program of `context` (may be NULL) is the network that
// is measured, besides its table of layers.
truth_runs *truth_runs_create(unsigned jobs, double timeout, sweep_pool_work *work, const sweep_work_context *context);
void truth_runs_destroy(truth_runs *r);
// Takes what was measured from a file, and keeps there what is measured from now on. False after an error was reported.
bool truth_runs_keep(truth_runs *r, const char *path, wf_diag *diag);
// Layers by themselves, with ids of its own; results last as long as the runs.
void truth_runs_ask(truth_runs *r, sweep_work_request *requests, size_t count, const sweep_work_result **results);
// `tune` is what requests carry to the work.
void truth_runs_measure(truth_runs *r, const layers_network *network, unsigned tune, truth_runs_network *list,
                        size_t count);

#endif
