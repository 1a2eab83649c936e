// SPDX-License-Identifier: Apache-2.0
// TAPE_LANES starts that descend together. The variables are the logarithms of the factors of all layers and the logits
// of their loop orders; a step evaluates the layers that are active, the network over all layers, and the gradients
// back to the active ones; Adam moves them and a projection keeps every dimension's factors legal: none below 1, their
// product not above the size, no spatial factor above the largest side.
#ifndef SEARCH_DESCENT_BATCH_H
#define SEARCH_DESCENT_BATCH_H

#include "search/descent/state.h"

typedef struct descent_batch_options {
  double rate_first, rate_last;                // step in the logarithm of a factor
  double temperature_first, temperature_last;  // of the maxima
  double order_temperature;                    // of the softmax over orders, at the end; 1 at the start
  double penalty;                              // weight of what exceeds the bounds
  unsigned steps;
  double active;  // share of the layers that a round of steps moves, chosen by importance; 1: all
  unsigned round_steps;
  bool linear;  // steps in the factor, not its logarithm, of rate x the factor's scale (the published method)
} descent_batch_options;
extern const descent_batch_options descent_batch_defaults;

// Programs of a network, shared by all batches.
typedef struct descent_batch_programs {
  const descent_goal *goal;
  descent_plain_layer *layers;
  descent_plain_network network;
} descent_batch_programs;

// fixed: sizes of the hardware that every start keeps.
descent_batch_programs descent_batch_programs_create(const descent_goal *goal, const bool fixed[PLAIN_SIZES]);
void descent_batch_programs_release(descent_batch_programs *programs);

typedef struct descent_batch descent_batch;
descent_batch *descent_batch_create(const descent_batch_programs *programs, const descent_batch_options *options);
void descent_batch_destroy(descent_batch *batch);

// Random hardware for every lane (within the goal's limits; the sizes that the goal fixes stay), and a random mapping
// that fills it. With keep_hardware the sizes become the lanes' own limits. Only the first `lanes` are of interest: the
// others are computed but neither counted nor looked at.
void descent_batch_start(descent_batch *batch, uint64_t seed, size_t lanes, bool keep_hardware);
// The limits of a lane: what descent_batch_start made of the goal's.
const descent_plain_limits *descent_batch_limits(const descent_batch *batch, size_t lane);
// Another mapping for a layer of a lane.
void descent_batch_set(descent_batch *batch, size_t layer, size_t lane, const paper_mapping *mapping,
                       paper_order order);

// The next steps, all in all at most options.steps. Returns the evaluations of layers with gradients.
uint64_t descent_batch_descend(descent_batch *batch, unsigned steps);
// The nearest whole-number mapping of a layer of a lane.
void descent_batch_round(const descent_batch *batch, size_t layer, size_t lane, paper_mapping *mapping);
double descent_batch_loss(const descent_batch *batch, size_t lane);

#endif
