// SPDX-License-Identifier: Apache-2.0
// What a learned correction sees of a layer with a mapping on an array (features.def): sites of the compiled program
// and of the machine, each with its features, logarithms of sizes and times for the most part.
#ifndef SEARCH_LEARN_FEATURES_H
#define SEARCH_LEARN_FEATURES_H

#include "search/model/machine.h"

typedef enum {
  LEARN_ARRAY,
  LEARN_LAYER,
  LEARN_MAPPING,
  LEARN_WEIGHTS,
  LEARN_INPUTS,
  LEARN_MESH,
  LEARN_RESULTS,
  LEARN_SITES
} learn_site;

enum {
#define X(SITE, name, value) LEARN_FEATURE_##name,
#include "search/learn/features.def"
#undef X
  LEARN_FEATURES
};

extern const char *const learn_feature_names[LEARN_FEATURES];

// The features of a site stand at first[site] to first[site + 1] - 1.
typedef struct learn_places {
  int first[LEARN_SITES + 1];
} learn_places;
learn_places learn_places_of(void);

// Of a layer that the model knows; `p` is its prediction.
void learn_features_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                       const machine_prediction *p, float features[LEARN_FEATURES]);

#endif
