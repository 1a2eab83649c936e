// SPDX-License-Identifier: Apache-2.0
// Blocks of zeros in weights whose elements are known (`known` of block_tensor): products with such a block are left
// out. The others may be packed, so that zeros take no room and are not loaded: then commands read a tensor that the
// program brings along.
//
// A buffer has known weights if products, also of blocks, read it as B and nothing else does, and each load brings
// elements that lie as far apart in the tensor wherever the loops are.
#ifndef COMPILER_SCHEDULE_ZEROS_H
#define COMPILER_SCHEDULE_ZEROS_H

#include "base/arena.h"
#include "compiler/schedule/box.h"
#include "compiler/schedule/walk.h"
#include "hw/array.h"

// The elements that a load brought into a buffer.
typedef struct sched_known {
  const int8_t *elements;  // of the tensor; NULL: not known
  int64_t base;            // where the element at the buffer's start would be
  int64_t step[BLOCK_RANK_MAX];
  sched_box inside;  // the rest of the buffer is zeros
} sched_known;

// Rows of results, or of weights, as a command has them: `rows` from a row on, counted through all leading dimensions,
// and columns.
typedef struct sched_tile {
  int64_t row, rows, column, columns;
} sched_tile;

// Whether the program reads the buffer as known weights.
bool sched_zeros_in(const block_program *program, int buffer);
// What a load of such a buffer brings.
sched_known sched_zeros_of_load(const sched_walk *w, const block_statement *load, const sched_box *inside);
// Whether the tile holds zeros only; false where elements are not known.
bool sched_zeros_all(const sched_known *known, const block_buffer *buffer, const sched_tile *tile);

// ---- packed weights

// The tiles of an instance that products read, in the order in which they were placed.
typedef struct sched_pack_region {
  struct sched_pack_region *next;
  sched_known known;
  int64_t offset;    // bytes in the packed tensor
  uint32_t *places;  // by rows and columns of tiles of the buffer: counted from 1; 0: no product reads the tile
  sched_tile *tiles;
  size_t count, room;
} sched_pack_region;

enum { SCHED_PACK_SLOTS = 256 };

// Weights without their zeros. A tile takes DIM rows of the buffer and DIM x DIM bytes of a tensor of the program's
// own; `across` of them lie side by side in memory, for that is what a command loads.
typedef struct sched_pack {
  wf_arena *arena;
  const block_buffer *buffer;
  int64_t dim, across, most;  // `most`: tiles of a slot
  sched_pack_region *slots[SCHED_PACK_SLOTS];
  int64_t bytes;  // once laid out
  bool failed;    // tiles are not on a grid, or one was not known in time: then weights stay where they are
} sched_pack;

void sched_pack_create(sched_pack *p, wf_arena *arena, const block_buffer *buffer, const hw_derived *derived);
// The tiles of what a load brings; NULL: products read none.
const sched_pack_region *sched_pack_find(const sched_pack *p, const sched_known *known);
// The first row of a tile in a slot; it is placed if it is new.
uint32_t sched_pack_place(sched_pack *p, const sched_known *known, const sched_tile *tile);
// Gives each region its bytes; no tile is placed from then on.
void sched_pack_lay_out(sched_pack *p);
void sched_pack_fill(const sched_pack *p, int8_t *bytes);

#endif
