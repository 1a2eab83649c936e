// SPDX-License-Identifier: Apache-2.0
// See moves.h.
#include "search/descent/moves.h"

#include <assert.h>
#include <math.h>

double *descent_moves_factor(paper_mapping *m, unsigned dim, descent_moves_place place) {
  switch (place) {
    case MOVE_INSIDE:
      return &m->temporal[PAPER_ACCUMULATOR][dim];
    case MOVE_OUTSIDE:
      return &m->temporal[PAPER_DRAM][dim];
    default:
      return dim == BLOCK_DIM_C ? &m->rows : dim == BLOCK_DIM_K ? &m->columns : NULL;
  }
}

static size_t add_moves(descent_moves_move *moves, size_t count, unsigned dim, int64_t prime) {
  paper_mapping any;
  for (int from = 0; from < MOVE_PLACES; from++)
    for (int to = 0; to < MOVE_PLACES; to++) {
      if (from == to || !descent_moves_factor(&any, dim, (descent_moves_place)from) ||
          !descent_moves_factor(&any, dim, (descent_moves_place)to))
        continue;
      assert(count < MOVES_MAX);
      moves[count++] = (descent_moves_move){(uint8_t)dim, (uint8_t)from, (uint8_t)to, (double)prime};
    }
  return count;
}

size_t descent_moves_of(const layers_layer *layer, descent_moves_move moves[MOVES_MAX]) {
  size_t count = 0;
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    int64_t rest = layer->size[d];
    for (int64_t prime = 2; prime * prime <= rest; prime++) {
      if (rest % prime) continue;
      while (rest % prime == 0) rest /= prime;
      count = add_moves(moves, count, d, prime);
    }
    if (rest > 1) count = add_moves(moves, count, d, rest);
  }
  return count;
}

bool descent_moves_allowed(const paper_mapping *m, const descent_moves_move *move) {
  const double factor = *descent_moves_factor((paper_mapping *)m, move->dim, (descent_moves_place)move->from);
  return fmod(factor, move->prime) == 0;
}

void descent_moves_apply(paper_mapping *m, const descent_moves_move *move) {
  *descent_moves_factor(m, move->dim, (descent_moves_place)move->from) /= move->prime;
  *descent_moves_factor(m, move->dim, (descent_moves_place)move->to) *= move->prime;
}

static double square(double x) { return x * x; }

enum { DIVISORS_MAX = 512 };

static size_t divisors_of(int64_t size, int64_t divisors[DIVISORS_MAX]) {
  size_t count = 0;
  for (int64_t d = 1; d * d <= size; d++) {
    if (size % d) continue;
    assert(count + 2 <= DIVISORS_MAX);
    divisors[count++] = d;
    if (d * d != size) divisors[count++] = size / d;
  }
  return count;
}

size_t descent_moves_splits(const layers_layer *layer, unsigned dim, double side_max,
                            descent_moves_split splits[MOVES_SPLITS_MAX]) {
  const bool spatial = dim == BLOCK_DIM_C || dim == BLOCK_DIM_K;
  int64_t divisors[DIVISORS_MAX];
  const size_t divisor_count = divisors_of(layer->size[dim], divisors);
  size_t count = 0;
  for (size_t i = 0; i < divisor_count; i++)
    for (size_t s = 0; s < divisor_count; s++) {
      const bool allowed = divisors[s] == 1 || (spatial && (double)divisors[s] <= side_max);
      if (!allowed || layer->size[dim] / divisors[i] % divisors[s] || count == MOVES_SPLITS_MAX) continue;
      splits[count++] = (descent_moves_split){(double)divisors[i], (double)divisors[s]};
    }
  return count;
}

void descent_moves_set(const layers_layer *layer, unsigned dim, const descent_moves_split *split, paper_mapping *m) {
  *descent_moves_factor(m, dim, MOVE_INSIDE) = split->inside;
  if (descent_moves_factor(m, dim, MOVE_SPATIAL)) *descent_moves_factor(m, dim, MOVE_SPATIAL) = split->spatial;
  *descent_moves_factor(m, dim, MOVE_OUTSIDE) = (double)layer->size[dim] / (split->inside * split->spatial);
}

static double logarithm_distance(const descent_moves_split *s, double size, double inside, double spatial) {
  const double outside = log(size) - inside - spatial;
  return square(log(s->inside) - inside) + square(log(s->spatial) - spatial) +
         square(log(size / (s->inside * s->spatial)) - outside);
}

void descent_moves_round(const layers_layer *layer, const double inside[BLOCK_DIMS], const double spatial[BLOCK_DIMS],
                         double side_max, paper_mapping *mapping) {
  descent_moves_split splits[MOVES_SPLITS_MAX];
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    const bool has_spatial = descent_moves_factor(mapping, d, MOVE_SPATIAL) != NULL;
    const size_t count = descent_moves_splits(layer, d, side_max, splits);
    const descent_moves_split *best = &splits[0];
    double least = INFINITY;
    for (size_t n = 0; n < count; n++) {
      const double distance =
          logarithm_distance(&splits[n], (double)layer->size[d], inside[d], has_spatial ? spatial[d] : 0);
      if (!(distance < least)) continue;
      least = distance;
      best = &splits[n];
    }
    descent_moves_set(layer, d, best, mapping);
  }
}
