// SPDX-License-Identifier: Apache-2.0
// Pooling: the largest of shifted loads becomes one load of all they read, and a store that pools it.
//
// Each iteration of the loops and each load of a running maximum is a tap: the same block, shifted by some rows and
// columns. If the taps are all places of a square, this is pooling with that window; steps of the blocks are its
// stride. The store unit pools behind scaling, so the window lies in the accumulator and leaves with scale 1.
#include <string.h>

#include "compiler/passes/fuse.h"

enum { RANK = 4, ROW = 1, COLUMN = 2, WINDOW_MAX = 16, TAPS_MAX = WINDOW_MAX * WINDOW_MAX };

typedef struct taps {
  int64_t row[TAPS_MAX], column[TAPS_MAX];
  int count;
} taps;

// Whether two taps differ in nothing but constants in rows and columns.
static bool are_alike(const block_access *a, const block_access *b) {
  block_access other = *b;
  if (b->rank != RANK || a->rank != RANK) return false;
  other.dim[ROW].offset.constant = a->dim[ROW].offset.constant;
  other.dim[COLUMN].offset.constant = a->dim[COLUMN].offset.constant;
  if (a->tensor != b->tensor || !block_affine_equal(&a->base, &b->base)) return false;
  for (int d = 0; d < RANK; d++) {
    const block_access_dim *x = &a->dim[d], *y = &other.dim[d];
    if (!block_affine_equal(&x->offset, &y->offset) || x->step != y->step || x->size != y->size ||
        x->extent != y->extent || x->stride != y->stride)
      return false;
  }
  return true;
}

// The loops of the maximum move nothing but rows and columns.
static bool only_shifts(const block_access *access, uint32_t loops) {
  uint32_t elsewhere = block_affine_loops(&access->base);
  for (int d = 0; d < RANK; d++)
    if (d != ROW && d != COLUMN) elsewhere |= block_affine_loops(&access->dim[d].offset);
  return (elsewhere & loops) == 0;
}

// The constant of an index and what the loops of the maximum add to it.
static int64_t shift_at(const block_affine *index, uint32_t loops, const int64_t *iteration) {
  int64_t shift = index->constant;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++)
    if ((loops >> l & 1) != 0) shift += index->per_loop[l] * iteration[l];
  return shift;
}

// The next iteration of the loops; false behind the last one.
static bool advance(const block_program *program, uint32_t loops, int64_t *iteration) {
  for (int l = 0; l < program->loop_count; l++) {
    if ((loops >> l & 1) == 0) continue;
    if (++iteration[l] < program->loops[l].trips) return true;
    iteration[l] = 0;
  }
  return false;
}

// The taps of a maximum; false if there are too many or they are no shifts of one block.
static bool find_taps(const block_program *program, const fuse_value *v, taps *t) {
  const block_access *first = &v->loads[0]->load.access;
  t->count = 0;
  for (int n = 0; n < v->load_count; n++) {
    const block_access *access = &v->loads[n]->load.access;
    int64_t iteration[BLOCK_LOOPS_MAX] = {0};
    if (!are_alike(first, access) || !only_shifts(access, v->loops)) return false;
    do {
      if (t->count == TAPS_MAX) return false;
      t->row[t->count] = shift_at(&access->dim[ROW].offset, v->loops, iteration);
      t->column[t->count++] = shift_at(&access->dim[COLUMN].offset, v->loops, iteration);
    } while (advance(program, v->loops, iteration));
  }
  return true;
}

static void range_of(const int64_t *shifts, int count, int64_t *low, int64_t *size) {
  int64_t high = *low = shifts[0];
  for (int t = 1; t < count; t++) {
    if (shifts[t] < *low) *low = shifts[t];
    if (shifts[t] > high) high = shifts[t];
  }
  *size = high - *low + 1;
}

// The side of the square that the taps fill, and its first row and column; 0 if they fill none.
static int64_t square_of(const taps *t, int64_t *row, int64_t *column) {
  bool filled[WINDOW_MAX][WINDOW_MAX] = {{false}};
  int64_t rows, columns, places = 0;
  range_of(t->row, t->count, row, &rows);
  range_of(t->column, t->count, column, &columns);
  if (rows != columns || rows > WINDOW_MAX) return 0;
  for (int n = 0; n < t->count; n++) {
    bool *place = &filled[t->row[n] - *row][t->column[n] - *column];
    places += *place ? 0 : 1;
    *place = true;
  }
  return places == rows * columns ? rows : 0;
}

// Rows or columns of the whole window: the shifts become part of the block.
static void widen(block_access_dim *dim, uint32_t loops, int64_t first, int64_t window) {
  dim->offset.constant = first;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++)
    if ((loops >> l & 1) != 0) dim->offset.per_loop[l] = 0;
  dim->size = (dim->size - 1) * dim->step + window;
  dim->step = 1;
}

static void pool(fuse_pass *f, block_statement **list, block_statement *store, const fuse_value *v,
                 block_access *access) {
  int64_t size[BLOCK_RANK_MAX];
  for (int d = 0; d < RANK; d++) size[d] = access->dim[d].size;
  int buffer = block_add_buffer(f->program, block_fresh_name(f->program, "window", ""), BLOCK_I32, RANK, size);
  block_statement *load = WF_ARENA_NEW(f->c.arena, block_statement);
  *load = (block_statement){.kind = BLOCK_LOAD, .where = v->loads[0]->where, .next = store};
  load->load.target = block_whole(f->program, buffer);
  load->load.access = *access;
  fuse_use_of(f, load)->kept = true;
  while (*list != store) list = &(*list)->next;
  *list = load;
  store->store.source = load->load.target;
}

bool fuse_store_largest(fuse_pass *f, block_statement **list, block_statement *store, const fuse_value *v) {
  taps t;
  int64_t row = 0, column = 0, window = 0;
  block_access access = v->loads[0]->load.access;
  bool complete = v->carried == BLOCK_NONE && access.rank == RANK && store->store.epilogue.pool.stride == 0;
  if (complete && find_taps(f->program, v, &t)) window = square_of(&t, &row, &column);
  if (window == 0 || access.dim[ROW].step != access.dim[COLUMN].step)
    return fuse_refuse(f, store->where, "this maximum is no pooling over a square window of rows and columns",
                       "blocks of (image, row, column, channel), loops or loads that shift rows and columns by one");
  if (fuse_is_stored(f, access.tensor))
    return fuse_refuse(f, v->loads[0]->where, "what is pooled is stored to in the same kernel",
                       "pool in a second kernel");
  const block_pool pooling = {.size = (uint32_t)window, .stride = (uint32_t)access.dim[ROW].step};
  widen(&access.dim[ROW], v->loops, row, window);
  widen(&access.dim[COLUMN], v->loops, column, window);
  pool(f, list, store, v, &access);
  store->store.epilogue = (block_epilogue){.scaled = true, .scale = 1, .pool = pooling};
  return true;
}
