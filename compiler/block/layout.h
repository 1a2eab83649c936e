// SPDX-License-Identifier: Apache-2.0
// Where the elements of a placed buffer lie. The last dimension is cut into blocks of DIM columns; the others,
// flattened, count rows.
//
//   row(flat, column) = first_row + slot * slot_rows + column / DIM * rows + flat
//   tiled             = first_row + slot * slot_rows + (flat / DIM * blocks + column / DIM) * DIM + flat % DIM
//
// Tiled, the column blocks of a row are DIM apart, where wide stores look for them.
#ifndef COMPILER_BLOCK_LAYOUT_H
#define COMPILER_BLOCK_LAYOUT_H

#include "compiler/block/block.h"
#include "hw/array.h"

typedef struct block_layout {
  uint32_t dim;
  uint32_t first_row, slot_rows, depth;
  int64_t rows;        // flattened leading dimensions
  int64_t columns;     // size of the last dimension
  int64_t blocks;      // of columns
  int64_t block_step;  // rows between two blocks of columns
  int64_t tile;        // rows that lie together: DIM if tiled, else 0 (all)
  bool accumulator;
} block_layout;

block_layout block_layout_of(const block_buffer *buffer, const hw_derived *derived);
// Rows that one slot takes.
int64_t block_layout_slot_rows(const block_layout *l);
// The local address of a row; `column` is the first of its block. It is the sum of three parts.
uint32_t block_layout_local(const block_layout *l, uint32_t instance, int64_t flat, int64_t column);
uint32_t block_layout_of_instance(const block_layout *l, uint32_t instance);
uint32_t block_layout_of_row(const block_layout *l, int64_t flat);
uint32_t block_layout_of_column(const block_layout *l, int64_t column);
// The row of an element, from the indexes of the leading dimensions.
int64_t block_layout_flat(const block_buffer *buffer, const int64_t *index);

#endif
