// SPDX-License-Identifier: Apache-2.0
// Polishing whole-number mappings: single moves and pairs of moves of one layer, accepted if the network's objective
// improves; and steps of the hardware, after which all layers are fitted to the new sizes. The judge is the scalar
// model throughout.
#ifndef SEARCH_DESCENT_POLISH_H
#define SEARCH_DESCENT_POLISH_H

#include "search/descent/state.h"

// Mappings that others found, for each layer: what one start has learned about a layer helps the others.
typedef struct descent_polish_pool descent_polish_pool;
descent_polish_pool *descent_polish_pool_create(const layers_network *network);
void descent_polish_pool_destroy(descent_polish_pool *pool);
void descent_polish_pool_add(descent_polish_pool *pool, const descent_state *state);

// How hard to try.
typedef struct descent_polish_effort {
  bool orders_only;                 // choose loop orders, move nothing
  const descent_polish_pool *pool;  // tried before a layer is improved; may be NULL
  bool pairs;                       // of moves, and splits of a dimension, not only single moves
  bool hardware;                    // steps of the hardware
  unsigned kicks;                   // random steps of the hardware after that, in a row without gain; and of each layer
  uint64_t seed;                    // of the kicks
  bool importance;                  // visit layers by what they promise (importance.h), not in turn
  uint64_t max_evaluations;         // stop when the state has made that many; 0: no limit
  bool (*stop)(void *context);      // asked now and then; NULL: never
  void *context;
} descent_polish_effort;

// Chooses the best of the three orders for every layer, then improves one layer after the other until none gains.
void descent_polish_layers(descent_state *state, const descent_polish_effort *effort);
// descent_polish_layers, and steps of the hardware until none gains.
void descent_polish_state(descent_state *state, const descent_polish_effort *effort);

// Moves factors out to main memory until the mappings fit the hardware that goal.limits fix or allow; false if they
// never do.
bool descent_polish_fit(descent_state *state);

#endif
