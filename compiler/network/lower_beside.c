// SPDX-License-Identifier: Apache-2.0
// Pixels side by side: g neighbouring pixels of a row count as one pixel with g times the channels. The bytes of images
// and results lie as before, but rows of results become whole lines of the cache, which stores then need not fetch, and
// rows of inputs become longer. Weights are those of each pixel, shifted by the pixels before it, with zeros between
// them: a 1 x 1 convolution of 16 to 96 channels becomes a product of 32 to 192, half of whose weights are zeros.
// The scheduler leaves out blocks of zeros (lower_zeros.c); the array multiplies blocks that are partly zeros. So the
// mapper's estimate decides.
#include <string.h>

#include "compiler/network/private.h"

enum { TOGETHER_MOST = 8 };                     // pixels
enum { DEPTH_MOST = 512, DEPTH_GIVEN = 2048 };  // elements of a row of weights or of their columns, by rule and at all
#define WORTH 0.95                              // of the time with fewer

static bool is_matrix(const map_layer *map) { return map->kind == MAP_GEMM; }

static bool is_convolution(const map_layer *map) {
  return map->kind == MAP_CONV && map->groups == 1 && map->dilation[1] == 1;
}

static int64_t row_of(const map_layer *map) { return map->size[BLOCK_DIM_S] * map->size[BLOCK_DIM_C]; }

layer_desc network_lower_beside_layer(const layer_desc *layer, int64_t together) {
  layer_desc wide = *layer;
  int64_t *size = wide.map.size;
  const block_dim_id across = is_matrix(&layer->map) ? BLOCK_DIM_P : BLOCK_DIM_Q;
  size[across] /= together;
  size[BLOCK_DIM_K] *= together;
  if (is_matrix(&layer->map)) {
    size[BLOCK_DIM_C] *= together;
  } else {
    size[BLOCK_DIM_S] += (together - 1) * layer->map.stride[1];
    wide.map.stride[1] *= together;
  }
  return wide;
}

// Whether rows end inside of lines, and sizes and kinds are those of pixels side by side.
static bool may_lie(const layer_desc *layer, const hw_array *array, int64_t together, int64_t depth_most) {
  const map_layer *map = &layer->map;
  const int64_t *size = map->size, across = is_matrix(map) ? size[BLOCK_DIM_P] : size[BLOCK_DIM_Q];
  const int64_t line = cost_line_bytes(array);
  if (!is_matrix(map) && !is_convolution(map)) return false;
  const layer_desc wide = network_lower_beside_layer(layer, together);
  if (size[BLOCK_DIM_K] % line == 0 && size[BLOCK_DIM_C] % line == 0) return false;
  return across % together == 0 && across > together && row_of(&wide.map) <= depth_most &&
         wide.map.size[BLOCK_DIM_K] <= depth_most;
}

bool network_lower_may_lie_beside(const layer_desc *layer, const hw_array *array, int64_t together) {
  return may_lie(layer, array, together, DEPTH_GIVEN);
}

// Whether a block of the weights of `together` pixels has some of one of them: pixel p has `depth` rows from
// p * down on, and `results` columns from p * results on.
static bool has_weights(int64_t row, int64_t column, int64_t dim, int64_t depth, int64_t down, int64_t results,
                        int64_t together) {
  for (int64_t p = column / results; p < together && p * results < column + dim; p++)
    if (p * down < row + dim && row < p * down + depth) return true;
  return false;
}

// The share of blocks of weights that are not all zeros.
static double density_of(const layer_desc *layer, int64_t together, int64_t dim) {
  const int64_t channels = layer->map.size[BLOCK_DIM_C], results = layer->map.size[BLOCK_DIM_K],
                depth = is_matrix(&layer->map) ? channels : row_of(&layer->map),
                down = channels * (is_matrix(&layer->map) ? 1 : layer->map.stride[1]);
  int64_t blocks = 0, filled = 0;
  for (int64_t row = 0; row < depth + (together - 1) * down; row += dim)
    for (int64_t column = 0; column < together * results; column += dim, blocks++)
      filled += has_weights(row, column, dim, depth, down, results, together);
  return (double)filled / (double)blocks;
}

// R x S x C x K becomes R x wide S x C x (together K); of a matrix product, whose rows are pixels, S is what C counts.
static const int8_t *spread_weights(network_lowering *l, const layer_desc *layer, int64_t together, const int8_t *from,
                                    uint64_t *bytes) {
  const map_layer *map = &layer->map;
  const int64_t rows = map->size[BLOCK_DIM_R], taps = map->size[BLOCK_DIM_S], channels = map->size[BLOCK_DIM_C],
                results = map->size[BLOCK_DIM_K];
  const int64_t step = is_matrix(map) ? 1 : map->stride[1], wide_taps = taps + (together - 1) * step,
                wide = together * results;
  *bytes = (uint64_t)(rows * wide_taps * channels * wide);
  int8_t *to = network_lower_alloc(l, *bytes);
  memset(to, 0, *bytes);
  for (int64_t i = 0; i < rows * taps * channels * together; i++) {
    const int64_t pixel = i % together, c = i / together % channels, s = i / together / channels % taps,
                  r = i / together / channels / taps;
    const int64_t row = (r * wide_taps + s + pixel * step) * channels + c;
    memcpy(to + row * wide + pixel * results, from + ((r * taps + s) * channels + c) * results, (size_t)results);
  }
  return to;
}

static network_place repeated_bias(network_lowering *l, const graph_tensor *bias, int64_t results, int64_t together) {
  const size_t bytes = (size_t)results * sizeof(int32_t);
  char *to = network_lower_alloc(l, bytes * (uint64_t)together);
  for (int64_t p = 0; p < together; p++) memcpy(to + (size_t)p * bytes, bias->data, bytes);
  return network_lower_constant(l, bias->name, to, bytes * (uint64_t)together);
}

// The number of pixels that takes the least time; 1: as the layer is.
static int64_t best_together(const network_lowering *l, const layer_desc *layer) {
  int64_t best = 1;
  double least = 0;
  for (int64_t together = 2; together <= TOGETHER_MOST; together *= 2) {
    if (!may_lie(layer, l->array, together, DEPTH_MOST)) continue;
    if (least == 0) least = layer_estimate(layer, l->array) * WORTH;
    const layer_desc wide = network_lower_beside_layer(layer, together);
    const double cycles = layer_estimate_sparse(&wide, l->array, density_of(layer, together, hw_derive(l->array).dim));
    if (cycles >= least) continue;
    least = cycles * WORTH;
    best = together;
  }
  return best;
}

bool network_lower_beside(network_lowering *l, layer_desc *layer, network_lower_operands *at, const int8_t *weights,
                          int64_t together) {
  const graph_tensor *bias = layer->map.bias ? network_lower_input(l, 2) : NULL;
  if (weights == NULL || (bias != NULL && bias->data == NULL)) return false;
  if (together == 0) together = best_together(l, layer);
  if (together == 1) return false;
  uint64_t bytes;
  const int8_t *spread = spread_weights(l, layer, together, weights, &bytes);
  at->weights = network_lower_constant(l, network_lower_input(l, 1)->name, spread, bytes);
  if (bias != NULL) at->bias = repeated_bias(l, bias, layer->map.size[BLOCK_DIM_K], together);
  at->beside = true;
  *layer = network_lower_beside_layer(layer, together);
  return true;
}
