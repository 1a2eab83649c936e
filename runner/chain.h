// SPDX-License-Identifier: Apache-2.0
// The cheapest choice for a chain of layers, each of which has a few places to choose from, where what a layer costs
// depends on its own place and on that of the layer before it:
//
//   best(n, x) = min over y of best(n - 1, y) + cost(n, x | y)
//
// The work is places x places for each layer; no other choice costs less.
#ifndef RUNNER_CHAIN_H
#define RUNNER_CHAIN_H

#include <stddef.h>

enum { RUN_CHAIN_PLACES = 3 };

typedef struct run_chain_costs {
  double cycles[RUN_CHAIN_PLACES][RUN_CHAIN_PLACES];  // [own][before]; INFINITY: they cannot be together
} run_chain_costs;

// The place of each layer. The first layer costs the least of its row, whatever is before it. Returns what the chain
// costs.
double run_chain_best(const run_chain_costs *costs, size_t count, size_t *places);

#endif
