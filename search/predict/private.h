// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this library.
#ifndef SEARCH_PREDICT_PRIVATE_H
#define SEARCH_PREDICT_PRIVATE_H

#include "search/predict/predict.h"

// The best of one source, the best first.
typedef struct predict_list {
  predict_choice *choices;
  size_t count;
} predict_list;

typedef struct predict_chooser {
  const predict_request *request;
  map_layer layer;  // as its kernel sees it
  size_t kept;      // of each source
  predict_list lists[PREDICT_SOURCES];
  const predict_choice *best;  // NULL: none yet
  unsigned evaluations;
} predict_chooser;

// The value of a legal mapping, which is kept if it is one of the best.
double predict_try(predict_chooser *c, const map_mapping *mapping, predict_source source);
// Steps from the best mappings, with at most that many evaluations.
void predict_climb(predict_chooser *c, unsigned evaluations);

#endif
