// TAPE_LANES starts that descend together. The variables are the logarithms of the factors of all layers and the logits
// of their loop orders; a step evaluates the layers that are active, the network over all layers, and the gradients
// back to the active ones; Adam moves them and a projection keeps every dimension's factors legal: none below 1, their
// product not above the size, no spatial factor above the largest side.
#ifndef SEARCH_DESCENT_BATCH_H
#define SEARCH_DESCENT_BATCH_H

#include "search/descent/state.h"

typedef struct batch_options {
  double rate_first, rate_last;                // step in the logarithm of a factor
  double temperature_first, temperature_last;  // of the maxima
  double order_temperature;                    // of the softmax over orders, at the end; 1 at the start
  double penalty;                              // weight of what exceeds the bounds
  unsigned steps;
  double active;  // share of the layers that a round of steps moves, chosen by importance; 1: all
  unsigned round_steps;
  bool linear;  // steps in the factor, not its logarithm, of rate x the factor's scale (the published method)
} batch_options;
extern const batch_options batch_defaults;

// Programs of a network, shared by all batches.
typedef struct batch_programs {
  const descent_goal *goal;
  plain_layer *layers;
  plain_network network;
} batch_programs;

// fixed: sizes of the hardware that every start keeps.
batch_programs batch_programs_create(const descent_goal *goal, const bool fixed[PLAIN_SIZES]);
void batch_programs_release(batch_programs *programs);

typedef struct batch batch;
batch *batch_create(const batch_programs *programs, const batch_options *options);
void batch_destroy(batch *batch);

// Random hardware for every lane (within the goal's limits; the sizes that the goal fixes stay), and a random mapping
// that fills it. With keep_hardware the sizes become the lanes' own limits. Only the first `lanes` are of interest: the
// others are computed but neither counted nor looked at.
void batch_start(batch *batch, uint64_t seed, size_t lanes, bool keep_hardware);
// The limits of a lane: what batch_start made of the goal's.
const plain_limits *batch_limits(const batch *batch, size_t lane);
// Another mapping for a layer of a lane.
void batch_set(batch *batch, size_t layer, size_t lane, const paper_mapping *mapping, paper_order order);

// The next steps, all in all at most options.steps. Returns the evaluations of layers with gradients.
uint64_t batch_descend(batch *batch, unsigned steps);
// The nearest whole-number mapping of a layer of a lane.
void batch_round(const batch *batch, size_t layer, size_t lane, paper_mapping *mapping);
double batch_loss(const batch *batch, size_t lane);

#endif
