// Layers by the model of the machine: which mapping it prefers, and what it expects of it. A thousand times quicker
// than compiling and simulating them.
#ifndef SEARCH_TRUTH_PREDICT_H
#define SEARCH_TRUTH_PREDICT_H

#include "search/descent/state.h"
#include "search/model/machine.h"
#include "search/sweep/pool.h"

typedef struct predict_result {
  bool good;            // a mapping fits, and the model knows the layer
  bool given;           // the mapping is one of those that were given
  bool takes_mappings;  // false: a kernel that sums over rows of the window, which is left to the mapper
  map_mapping mapping;
  double cycles;
  bool has_energy;
  double energy_pj;
  unsigned evaluations;  // of the model
} predict_result;

// Of mappings that are given, and as many of the mapper's best as `tried` says (at most MAP_BEST_MAX), the one that is
// best for the objective; for the product of area and delay that is the fastest.
predict_result predict_layer(const map_layer *layer, const hw_array *array, const map_mapping *given,
                             size_t given_count, unsigned tried, plain_objective objective);

// The same as the work of a pool: cycles and energy are predicted. `tune` mappings of the mapper.
pool_work *predict_work_for(plain_objective objective);

#endif
