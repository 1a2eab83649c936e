// SPDX-License-Identifier: Apache-2.0
// The one-loop search: mappings of all layers -> the hardware that they need -> energy and cycles of the network ->
// gradient -> step, for many random starts at a time (batch.h); then rounding to whole factors, judged by the scalar
// model, and polishing of the best (docs/search.md). The result is the same for the same options and seed, on any
// number of threads, unless time ends the search.
#ifndef SEARCH_DESCENT_DESCENT_H
#define SEARCH_DESCENT_DESCENT_H

#include "base/stop.h"
#include "search/descent/batch.h"

typedef struct descent_options {
  descent_goal goal;
  uint64_t seed;
  unsigned starts;           // 0: 2 * TAPE_LANES, with a limit on evaluations TAPE_LANES
  unsigned steps;            // of descent; 0: as descent_batch_defaults
  unsigned polished;         // how many of the rounded starts are polished; 0: 2
  unsigned threads;          // 0: as many as there are processors
  uint64_t max_evaluations;  // 0: no limit
  double max_seconds;        // 0: no limit
  // Parts to leave out, for comparison.
  bool no_gradient;                                   // round and polish the starts as they are
  bool no_polish;                                     // the best rounded start is the result
  bool no_importance;                                 // all layers move in every step
  bool keep_hardware;                                 // the random hardware of each start, not what the mappings need
  bool keep_partition;                                // the random mapping of each start: only orders are chosen
  const wf_stop *stop;                                // nothing more is begun; NULL: never
  void (*progress)(void *context, const char *text);  // may be NULL
  void *context;
} descent_options;

enum { DESCENT_SETS = 4 };

typedef struct descent_result {
  paper_mapping *mappings;  // of each layer; behind them those of the next best starts; to be freed with wf_free
  size_t sets;              // how many of all layers there are
  paper_hardware hardware;
  paper_cost cost;
  double value;
  double rounded;        // the best value before polishing
  uint64_t gradients;    // evaluations of layers with gradients
  uint64_t evaluations;  // of the scalar model, besides
  double seconds;
} descent_result;

// False: no start led to mappings within the limits and bounds.
bool descent_search(const descent_options *options, descent_result *result);
void descent_release(descent_result *result);

#endif
