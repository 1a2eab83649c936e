// Networks on arrays, layer by layer in the processes of a pool. What was measured once is not measured again: layers
// that are alike, arrays that a search comes back to.
#ifndef SEARCH_TRUTH_RUNS_H
#define SEARCH_TRUTH_RUNS_H

#include "search/layers/layers.h"
#include "search/model/paper.h"
#include "search/sweep/pool.h"

typedef struct runs runs;

// One network on one array; the first three are given.
typedef struct runs_network {
  hw_array array;
  const map_mapping *mappings;  // of each layer; NULL: the mapper's
  const bool *mapped;           // whether the layer's mapping is given
  work_result *layers;          // room for one per layer of the network
  bool good;                    // every layer has a result with energy
  paper_cost cost;              // of all layers, as often as the network has them
  const char *failed;           // the layer that has none, and why
  const char *reason;
} runs_network;

// As pool_create: `jobs` 0 is one per processor.
runs *runs_create(unsigned jobs, double timeout, pool_work *work);
void runs_destroy(runs *r);
// Takes what was measured from a file, and keeps there what is measured from now on. False after an error was reported.
bool runs_keep(runs *r, const char *path, wf_diag *diag);
// `tune` is what requests carry to the work.
void runs_measure(runs *r, const layers_network *network, unsigned tune, runs_network *list, size_t count);

#endif
