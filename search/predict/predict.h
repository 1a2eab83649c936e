// SPDX-License-Identifier: Apache-2.0
// Layers by the model of the machine: which mappings it prefers, and what it expects of them. A thousand times quicker
// than compiling and simulating them.
#ifndef SEARCH_PREDICT_PREDICT_H
#define SEARCH_PREDICT_PREDICT_H

#include "search/descent/state.h"
#include "search/learn/trees.h"
#include "search/model/machine.h"

enum { PREDICT_KEPT_MAX = 64 };

typedef struct predict_request {
  const map_layer *layer;
  const hw_array *array;
  descent_plain_objective objective;  // area x delay: the delay
  // Of mappings that are given and as many of the mapper's best as `tried` says (at most MAP_BEST_MAX), the best are
  // looked for; then `climbs` more mappings, steps from the best (climb.c).
  const map_mapping *given;
  size_t given_count;
  unsigned tried, climbs;
  unsigned kept;  // how many of the best are to be known; 0 is 1
  // Cycles and values of choices are the model's, corrected by these; their order is the model's. NULL: no correction.
  const learn_trees *learned;
} predict_request;

typedef enum { PREDICT_MAPPER, PREDICT_GIVEN, PREDICT_CLIMBED, PREDICT_SOURCES } predict_source;

typedef struct predict_choice {
  map_mapping mapping;
  predict_source source;
  double cycles;
  bool has_energy;
  double energy_pj;
  double value;  // of the objective: the less, the better
} predict_choice;

typedef struct predict_result {
  // False: a kernel that sums over rows of the window, or a layer that the model does not know (grouped, depthwise),
  // of which the mapper's estimate is the only choice. They are left to the mapper.
  bool takes_mappings;
  size_t count;  // 0: no mapping fits
  // All different, the best first; behind it the best of each source in turn, as what the model prefers among mappings
  // that are nearly alike says little.
  predict_choice *choices;
  unsigned evaluations;  // of the model
} predict_result;

// What figures of a layer are worth; without energy the cycles count.
double predict_value(descent_plain_objective objective, double cycles, bool has_energy, double energy_pj);

predict_result predict_layer(const predict_request *request);
void predict_release(predict_result *result);

#endif
