// SPDX-License-Identifier: Apache-2.0
// Where the elements of a placed buffer lie; see layout.h.
#include "compiler/block/layout.h"

#include <assert.h>

#include "isa/isa_fields.h"

block_layout block_layout_of(const block_buffer *buffer, const hw_derived *derived) {
  block_layout l = {.dim = derived->dim,
                    .first_row = buffer->first_row,
                    .slot_rows = buffer->slot_rows,
                    .depth = buffer->depth == 0 ? 1 : buffer->depth,
                    .rows = 1,
                    .accumulator = buffer->scope == BLOCK_ACC};
  for (int d = 0; d + 1 < buffer->rank; d++) l.rows *= buffer->size[d];
  l.columns = buffer->size[buffer->rank - 1];
  l.blocks = (l.columns + l.dim - 1) / l.dim;
  l.tile = buffer->tiled ? l.dim : 0;
  l.block_step = buffer->tiled ? l.dim : l.rows;
  return l;
}

int64_t block_layout_slot_rows(const block_layout *l) {
  int64_t rows = l->tile == 0 ? l->rows : (l->rows + l->tile - 1) / l->tile * l->tile;
  return rows * l->blocks;
}

uint32_t block_layout_of_instance(const block_layout *l, uint32_t instance) {
  return (l->first_row + instance % l->depth * l->slot_rows) | (l->accumulator ? ISA_LOCAL_ACCUMULATOR_MASK : 0);
}

uint32_t block_layout_of_row(const block_layout *l, int64_t flat) {
  return (uint32_t)(l->tile == 0 ? flat : flat / l->tile * l->blocks * l->tile + flat % l->tile);
}

uint32_t block_layout_of_column(const block_layout *l, int64_t column) {
  assert(column % l->dim == 0);
  return (uint32_t)(column / l->dim * l->block_step);
}

uint32_t block_layout_local(const block_layout *l, uint32_t instance, int64_t flat, int64_t column) {
  return block_layout_of_instance(l, instance) + block_layout_of_row(l, flat) + block_layout_of_column(l, column);
}

int64_t block_layout_flat(const block_buffer *buffer, const int64_t *index) {
  int64_t flat = 0;
  for (int d = 0; d + 1 < buffer->rank; d++) flat = flat * buffer->size[d] + index[d];
  return flat;
}
