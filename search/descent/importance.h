// SPDX-License-Identifier: Apache-2.0
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

typedef struct descent_importance_options {
  double alpha, beta;
  unsigned patience;  // efforts without gain until a layer is given up
} descent_importance_options;
#define IMPORTANCE_DEFAULTS ((descent_importance_options){.alpha = 0.2, .beta = 2, .patience = 3})

typedef struct descent_importance descent_importance;
descent_importance *descent_importance_create(const layers_network *network, descent_importance_options options);
void descent_importance_destroy(descent_importance *importance);

// The cost of one occurrence of a layer before any effort, or after others changed it.
void descent_importance_set(descent_importance *importance, size_t layer, double cost);
// An effort was spent on the layer, which now costs that much.
void descent_importance_spent(descent_importance *importance, size_t layer, double cost);
// The objective's change by a given-up layer may matter again: all layers are taken back.
void descent_importance_revive(descent_importance *importance);

double descent_importance_of(const descent_importance *importance, size_t layer);
// The layer that promises most; the number of layers if all are given up.
size_t descent_importance_pick(const descent_importance *importance);

#endif
