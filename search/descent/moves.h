// SPDX-License-Identifier: Apache-2.0
// Moves between whole-number mappings of a layer: a prime factor of a dimension goes from one place to another. Any
// mapping can be reached from any other; every mapping on the way is legal.
#ifndef SEARCH_DESCENT_MOVES_H
#define SEARCH_DESCENT_MOVES_H

#include "search/descent/state.h"

typedef enum { MOVE_INSIDE, MOVE_SPATIAL, MOVE_OUTSIDE, MOVE_PLACES } descent_moves_place;

typedef struct descent_moves_move {
  uint8_t dim, from, to;
  double prime;
} descent_moves_move;

enum { MOVES_MAX = 256 };  // a 64-bit size has at most 15 different primes; sizes of layers have few

// The moves of a layer: all of (dimension, prime, from, to) that some mapping allows.
size_t descent_moves_of(const layers_layer *layer, descent_moves_move moves[MOVES_MAX]);
bool descent_moves_allowed(const paper_mapping *mapping, const descent_moves_move *move);
void descent_moves_apply(paper_mapping *mapping, const descent_moves_move *move);
static inline descent_moves_move descent_moves_back(descent_moves_move move) {
  return (descent_moves_move){.dim = move.dim, .from = move.to, .to = move.from, .prime = move.prime};
}

double *descent_moves_factor(paper_mapping *mapping, unsigned dim, descent_moves_place place);  // NULL: no such place

// All ways to split a dimension over its places, as (inside, spatial); the rest is outside.
typedef struct descent_moves_split {
  double inside, spatial;
} descent_moves_split;
enum { MOVES_SPLITS_MAX = 4096 };
size_t descent_moves_splits(const layers_layer *layer, unsigned dim, double side_max,
                            descent_moves_split splits[MOVES_SPLITS_MAX]);
void descent_moves_set(const layers_layer *layer, unsigned dim, const descent_moves_split *split,
                       paper_mapping *mapping);

// The mapping with factors nearest to the given ones (in logarithms), no spatial factor above side_max.
// inside and spatial are logarithms per dimension; spatial is read for C and K only.
void descent_moves_round(const layers_layer *layer, const double inside[BLOCK_DIMS], const double spatial[BLOCK_DIMS],
                         double side_max, paper_mapping *mapping);

#endif
