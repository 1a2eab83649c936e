// SPDX-License-Identifier: Apache-2.0
// Convolutions in groups: how many groups go through the array side by side, and how their weights lie.
//
// A block of `together` groups is a convolution of its own with together C channels and together K results, whose
// weights are zero where channel and result are of different groups. So groups of fewer channels than the array has
// rows fill it, for
//
//   passes = ceil(groups / together) R S ceil(together C / DIM) ceil(together K / DIM)
//
// blocks of weights. The number with the fewest passes is taken, of equal ones that which leaves no part of a block
// empty, then the largest. Where a block is a matrix of DIM x DIM, blocks are those of depthwise_conv2d, which has a
// group per channel as its smallest case; else grouped_conv2d takes a block as its group.
#include <string.h>

#include "base/number.h"
#include "compiler/layer/layer.h"

// Groups, and channels and results of one. Of a depthwise layer K are the groups.
typedef struct shape {
  int64_t groups, c, k;
} shape;

static shape shape_of(const map_layer *layer) {
  if (layer->kind == MAP_DEPTHWISE) return (shape){layer->size[BLOCK_DIM_K], 1, 1};
  return (shape){layer->groups == 0 ? 1 : layer->groups, layer->size[BLOCK_DIM_C], layer->size[BLOCK_DIM_K]};
}

static int64_t blocks_of(const shape *s, int64_t together) { return wf_ceil_div(s->groups, together); }

static int64_t matrices(const shape *s, int64_t together, int64_t dim) {
  return blocks_of(s, together) * wf_ceil_div(together * s->c, dim) * wf_ceil_div(together * s->k, dim);
}

// The last block may lack groups only where its channels and results are one block of columns each, which end with the
// tensor: so it is stored as far as there are results.
static bool can_pack(const shape *s, int64_t together, int64_t dim) {
  return s->groups % together == 0 || (together * s->c <= dim && together * s->k <= dim);
}

static int64_t best_together(const shape *s, int64_t dim) {
  int64_t best = 1;
  for (int64_t q = 2; q <= wf_min(s->groups, dim); q++) {
    if (!can_pack(s, q, dim)) continue;
    const int64_t now = matrices(s, q, dim), least = matrices(s, best, dim);
    const bool whole = s->groups % q == 0 || s->groups % best != 0;
    if (now < least || (now == least && whole)) best = q;
  }
  return best;
}

static layer_packing rectangular(const shape *s, int64_t q) {
  return (layer_packing){.together = q, .blocks = blocks_of(s, q), .rows = q * s->c, .columns = q * s->k};
}

layer_packing layer_packing_of(const map_layer *layer, const hw_array *array) {
  const int64_t dim = hw_derive(array).dim;
  const shape s = shape_of(layer);
  if (s.c == s.k && dim % s.c == 0)
    return (layer_packing){
        .together = dim / s.c, .blocks = blocks_of(&s, dim / s.c), .rows = dim, .columns = dim, .square = true};
  return rectangular(&s, best_together(&s, dim));
}

bool layer_can_pack(const map_layer *layer, const hw_array *array, int64_t together) {
  const shape s = shape_of(layer);
  return together >= 1 && together <= s.groups && can_pack(&s, together, hw_derive(array).dim);
}

layer_packing layer_packing_with(const map_layer *layer, const hw_array *array, int64_t together) {
  const layer_packing by_rule = layer_packing_of(layer, array);
  if (together == 0 || together == by_rule.together) return by_rule;
  const shape s = shape_of(layer);
  return rectangular(&s, together);
}

int64_t layer_passes(const map_layer *layer, const hw_array *array) {
  const int64_t dim = hw_derive(array).dim;
  const layer_packing p = layer_packing_of(layer, array);
  return p.blocks * layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S] * wf_ceil_div(p.rows, dim) *
         wf_ceil_div(p.columns, dim);
}

// ---- weights

uint64_t layer_packed_bytes(const map_layer *layer, const layer_packing *p) {
  return (uint64_t)(p->blocks * layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S] * p->rows * p->columns);
}

void layer_pack_weights(const map_layer *layer, const layer_packing *packing, const int8_t *from, int8_t *to) {
  const layer_packing p = *packing;
  const shape s = shape_of(layer);
  const int64_t taps = layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S], results = s.groups * s.k;
  memset(to, 0, (size_t)(p.blocks * taps * p.rows * p.columns));
  for (int64_t g = 0; g < s.groups; g++) {
    const int64_t block = g / p.together, place = g % p.together;
    for (int64_t tap = 0; tap < taps; tap++)
      for (int64_t c = 0; c < s.c; c++) {
        int8_t *row = to + ((block * taps + tap) * p.rows + place * s.c + c) * p.columns + place * s.k;
        if (from == NULL)
          memset(row, 1, (size_t)s.k);
        else
          memcpy(row, from + (tap * s.c + c) * results + g * s.k, (size_t)s.k);
      }
  }
}
