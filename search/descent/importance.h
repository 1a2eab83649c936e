// Which layer deserves the next effort: the gradient of the network's objective f with respect to the effort t_i given
// to a layer i,
//
//   |df/dg_i| x | alpha (g_i(t) - g_i(t - 1)) + (1 - alpha) min(-g_i / t_i, beta C_i / max V_k - g_i) |
//
// g_i: the layer's share of the objective. The first term looks back at what the last effort won; of the second, one
// part is the hope that goes with little effort so far, the other what similar layers k (same window and stride) reach:
// C_i operations at beta times their best rate V. A layer that gains nothing over many efforts is given up.
#ifndef SEARCH_DESCENT_IMPORTANCE_H
#define SEARCH_DESCENT_IMPORTANCE_H

#include "search/layers/layers.h"

typedef struct importance_options {
  double alpha, beta;
  unsigned patience;  // efforts without gain until a layer is given up
} importance_options;
#define IMPORTANCE_DEFAULTS ((importance_options){.alpha = 0.2, .beta = 2, .patience = 3})

typedef struct importance importance;
importance *importance_create(const layers_network *network, importance_options options);
void importance_destroy(importance *importance);

// The cost of one occurrence of a layer before any effort, or after others changed it.
void importance_set(importance *importance, size_t layer, double cost);
// An effort was spent on the layer, which now costs that much.
void importance_spent(importance *importance, size_t layer, double cost);
// The objective's change by a given-up layer may matter again: all layers are taken back.
void importance_revive(importance *importance);

double importance_of(const importance *importance, size_t layer);
// The layer that promises most; the number of layers if all are given up.
size_t importance_pick(const importance *importance);

#endif
