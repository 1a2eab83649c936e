// SPDX-License-Identifier: Apache-2.0
// Starts by a rule, for searches that can ask the model only a few times: a mapping that fills given hardware, and
// hardware on which such mappings are good.
#ifndef SEARCH_DESCENT_GREEDY_H
#define SEARCH_DESCENT_GREEDY_H

#include "search/descent/state.h"

// As many rows and columns as fit, the window inside, then the other dimensions grown in turn by their smallest
// primes while the memories hold the tiles. No evaluation of the model.
void descent_greedy_mapping(const layers_layer *layer, const paper_hardware *hardware, paper_mapping *mapping);

// The best `wanted` of the states that a climb over hardware meets, best first, to be destroyed by the caller; returns
// how many there are. The climb doubles and halves sizes, and judges them by all layers' greedy mappings on the
// hardware that these need; it begins in the upper part of what the limits allow, then at random. It ends after about
// `evaluations` mappings of layers, at least those of one point; *spent is what it took.
size_t descent_greedy_starts(const descent_goal *goal, uint64_t seed, uint64_t evaluations, size_t wanted,
                             descent_state **best, uint64_t *spent);

#endif
