// Moves between whole-number mappings of a layer: a prime factor of a dimension goes from one place to another. Any
// mapping can be reached from any other; every mapping on the way is legal.
#ifndef SEARCH_DESCENT_MOVES_H
#define SEARCH_DESCENT_MOVES_H

#include "search/descent/state.h"

typedef enum { MOVE_INSIDE, MOVE_SPATIAL, MOVE_OUTSIDE, MOVE_PLACES } moves_place;

typedef struct moves_move {
  uint8_t dim, from, to;
  double prime;
} moves_move;

enum { MOVES_MAX = 256 };  // a 64-bit size has at most 15 different primes; sizes of layers have few

// The moves of a layer: all of (dimension, prime, from, to) that some mapping allows.
size_t moves_of(const layers_layer *layer, moves_move moves[MOVES_MAX]);
bool moves_allowed(const paper_mapping *mapping, const moves_move *move);
void moves_apply(paper_mapping *mapping, const moves_move *move);
static inline moves_move moves_back(moves_move move) {
  return (moves_move){.dim = move.dim, .from = move.to, .to = move.from, .prime = move.prime};
}

double *moves_factor(paper_mapping *mapping, unsigned dim, moves_place place);  // NULL: no such place

// All ways to split a dimension over its places, as (inside, spatial); the rest is outside.
typedef struct moves_split {
  double inside, spatial;
} moves_split;
enum { MOVES_SPLITS_MAX = 4096 };
size_t moves_splits(const layers_layer *layer, unsigned dim, double side_max, moves_split splits[MOVES_SPLITS_MAX]);
void moves_set(const layers_layer *layer, unsigned dim, const moves_split *split, paper_mapping *mapping);

// The mapping with factors nearest to the given ones (in logarithms), no spatial factor above side_max.
// inside and spatial are logarithms per dimension; spatial is read for C and K only.
void moves_round(const layers_layer *layer, const double inside[BLOCK_DIMS], const double spatial[BLOCK_DIMS],
                 double side_max, paper_mapping *mapping);

#endif
