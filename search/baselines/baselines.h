// SPDX-License-Identifier: Apache-2.0
// What the one-loop search is compared with: the same networks, the same model, the same number of evaluations
// (docs/search.md). An evaluation is the cost of one mapping of one layer, with or without a gradient.
#ifndef SEARCH_BASELINES_BASELINES_H
#define SEARCH_BASELINES_BASELINES_H

#include "search/descent/descent.h"

typedef struct baseline_options {
  descent_goal goal;  // limits: the largest hardware; nothing fixed
  uint64_t seed, max_evaluations;
} baseline_options;

typedef struct baseline_result {
  paper_mapping *mappings;  // to be freed with wf_free
  paper_hardware hardware;
  paper_cost cost;
  double value;  // INFINITY: nothing was found
  uint64_t evaluations;
} baseline_result;

// The methods, in the order in which tables list them.
//   METHOD(identifier, name, what it does)
#define BASELINE_METHODS(METHOD)                                                                                       \
  METHOD(default_heuristic, "default", "the default array with the mappings of a greedy rule")                         \
  METHOD(default_tuned, "default-tuned", "the default array with mappings improved by moves")                          \
  METHOD(random, "random", "random hardware, random mappings of each layer")                                           \
  METHOD(bayes, "bayes", "two loops of Gaussian processes: hardware outside, mappings inside")                         \
  METHOD(genetic, "genetic", "a population of networks' mappings with the hardware that they need")                    \
  METHOD(published, "published", "one loop of gradients as published: steps in the factors, greedy starts, roundings") \
  METHOD(descent, "descent", "the one-loop search; then the same with a part left out")                                \
  METHOD(descent_all_layers, "no-importance", "... all layers in every step and in turn, none by importance")          \
  METHOD(descent_kept_hardware, "no-inference", "... on the random hardware of each start, none inferred")             \
  METHOD(descent_kept_partition, "no-partition", "... with the mapping of each start, only orders chosen")             \
  METHOD(descent_no_gradient, "no-gradient", "... without steps: starts are rounded and polished")                     \
  METHOD(descent_no_polish, "no-polish", "... without polishing: the best rounded start")

typedef enum {
#define METHOD(identifier, name, text) BASELINE_##identifier,
  BASELINE_METHODS(METHOD)
#undef METHOD
      BASELINES
} baseline_method;
extern const char *const baseline_names[BASELINES];
extern const char *const baseline_texts[BASELINES];

void baseline_run(baseline_method method, const baseline_options *options, baseline_result *result);
void baseline_release(baseline_result *result);

#endif
