// SPDX-License-Identifier: Apache-2.0
// A network with one whole-number mapping for each layer, the hardware that follows and what all of it costs by the
// scalar model: the judge of the search. Trying another mapping for a layer costs one evaluation; the rest of the
// network is only added up again where the hardware changes.
#ifndef SEARCH_DESCENT_STATE_H
#define SEARCH_DESCENT_STATE_H

#include "search/descent/plain.h"

// What a network is worth: EDP in uJ x cycles, cycles, uJ, or mm2 x cycles; many times more where the area or the
// power is above its bound, so that a search is driven back below it.
double descent_goal_value(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost);
// The same for those objectives that do not depend on the hardware, without bounds.
double descent_value(descent_plain_objective objective, paper_cost cost);
bool descent_within_bounds(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost);

typedef struct descent_layer {
  paper_mapping mapping;
  paper_need need;
  paper_traffic traffic;
  paper_cost cost;  // of one occurrence
} descent_layer;

typedef struct descent_state {
  descent_goal goal;
  descent_layer *layers;
  paper_need most;  // over all layers
  paper_hardware hardware;
  paper_cost total;
  double value;          // INFINITY: the hardware does not hold the mappings
  uint64_t evaluations;  // of mappings of layers, since creation
} descent_state;

// All layers start with everything at main memory.
descent_state *descent_state_create(const descent_goal *goal);
void descent_state_destroy(descent_state *state);
void descent_state_copy(descent_state *to, const descent_state *from);  // evaluations stay
// After layers[].mapping were changed: all of it again.
void descent_state_refresh(descent_state *state);
// After goal.limits were changed: the same mappings on the hardware that follows.
void descent_state_resize(descent_state *state);

// The network without one of its layers.
typedef struct descent_others {
  size_t layer;
  paper_need most;
  paper_cost total;
} descent_others;
descent_others descent_others_of(const descent_state *state, size_t layer);

// The value of the network if the layer had this mapping; *candidate is to be given to descent_accept.
double descent_try(descent_state *state, const descent_others *others, const paper_mapping *mapping,
                   descent_layer *candidate);
void descent_accept(descent_state *state, const descent_others *others, const descent_layer *candidate);

// The hardware that needs and limits make. False: a need exceeds what is fixed or the largest that is allowed.
bool descent_size(const descent_plain_limits *limits, const paper_need *most, paper_hardware *hardware);

#endif
