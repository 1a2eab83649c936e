// SPDX-License-Identifier: Apache-2.0
// Random search: some random arrays, the same number of random mappings for each layer on each of them; a layer keeps
// its best mapping by itself, an array is judged by the whole network.
#include <math.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/baselines/internal.h"

enum { ARRAYS = 10 };

void baseline_random_search(const baseline_options *o, baseline_result *result) {
  const size_t count = o->goal.network->count;
  const uint64_t tries = o->max_evaluations / (ARRAYS * count) > 0 ? o->max_evaluations / (ARRAYS * count) : 1;
  paper_mapping *best = WF_NEW_ARRAY(count, paper_mapping);
  uint64_t rng = o->seed;
  for (int n = 0; n < ARRAYS; n++) {
    const paper_hardware hardware = baseline_random_hardware(&o->goal, &rng);
    for (size_t i = 0; i < count; i++) {
      double least = INFINITY;
      for (uint64_t t = 0; t < tries; t++) {
        paper_mapping m;
        baseline_random_mapping(&o->goal.network->layers[i], &hardware, &rng, &m);
        const double value = baseline_layer_value(&o->goal, i, &m, &hardware);
        if (!(value < least)) continue;
        least = value;
        best[i] = m;
      }
      result->evaluations += tries;
    }
    baseline_offer(&o->goal, best, &hardware, result);
  }
  wf_free(best);
}
