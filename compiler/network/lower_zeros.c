// SPDX-License-Identifier: Apache-2.0
// Weights with blocks of zeros, of networks that were pruned, or of pixels that lie side by side: a kernel of such a
// layer is its own and leaves these blocks out (compiler/schedule/zeros.h). Blocks are DIM x DIM, of the matrix of taps
// and input channels by output channels. Weights of groups side by side are such blocks already, whose rows are short:
// packed, several lie side by side and come as whole lines.
#include "base/number.h"
#include "compiler/network/private.h"

#define WORTH (1.0 / 16)  // at least so many blocks are zeros

typedef struct matrix {
  const int8_t *elements;
  int64_t rows, columns, pitch;
} matrix;

static bool is_zero(const matrix *m, int64_t row, int64_t column, int64_t dim) {
  const int64_t end = wf_min(row + dim, m->rows), last = wf_min(column + dim, m->columns);
  for (int64_t r = row; r < end; r++)
    for (int64_t c = column; c < last; c++)
      if (m->elements[r * m->pitch + c] != 0) return false;
  return true;
}

// The share of blocks that are all zeros.
static double zeros_of(const matrix *m, int64_t dim) {
  int64_t zeros = 0;
  for (int64_t row = 0; row < m->rows; row += dim)
    for (int64_t column = 0; column < m->columns; column += dim) zeros += is_zero(m, row, column, dim);
  return (double)zeros / (double)(wf_ceil_div(m->rows, dim) * wf_ceil_div(m->columns, dim));
}

static int64_t or_one(int64_t size) { return size == 0 ? 1 : size; }

static bool may_skip(layer_kernel kernel) {
  return kernel == LAYER_GEMM || kernel == LAYER_CONV2D || kernel == LAYER_CONV2D_NARROW;
}

static bool has_blocks(layer_kernel kernel) {
  return kernel == LAYER_DEPTHWISE_CONV2D || kernel == LAYER_GROUPED_CONV2D;
}

const int8_t *network_lower_contents(const network_lowering *l, network_place place, uint64_t bytes) {
  const network_buffer *buffer = &l->net->buffers[place.buffer];
  const bool there = buffer->contents != NULL && buffer->content_bytes >= place.offset + bytes;
  return there ? (const int8_t *)buffer->contents + place.offset : NULL;
}

const int8_t *network_lower_own_weights(const network_lowering *l, const layer_desc *layer, layer_kernel kernel,
                                        const network_lower_operands *at, double *zeros) {
  const int64_t *size = layer->map.size;
  *zeros = 0;
  if (at->weights.buffer < 0) return NULL;
  if (layer->style == BLOCK_STYLE_LOOP) return NULL;  // the unrollers know no zeros
  if (has_blocks(kernel)) {
    const layer_packing packing = layer_packing_with(&layer->map, l->array, layer->together);
    return network_lower_contents(l, at->weights, layer_packed_bytes(&layer->map, &packing));
  }
  if (!may_skip(kernel)) return NULL;
  matrix m = {.rows = or_one(size[BLOCK_DIM_R]) * or_one(size[BLOCK_DIM_S]) * or_one(size[BLOCK_DIM_C]),
              .columns = or_one(size[BLOCK_DIM_K])};
  m.pitch = layer->weight_pitch != 0 ? layer->weight_pitch : m.columns;
  m.elements = network_lower_contents(l, at->weights, (uint64_t)((m.rows - 1) * m.pitch + m.columns));
  if (m.elements == NULL) return NULL;
  *zeros = zeros_of(&m, hw_derive(l->array).dim);
  return *zeros >= WORTH ? m.elements : NULL;
}
