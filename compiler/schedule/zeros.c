// SPDX-License-Identifier: Apache-2.0
// See zeros.h.
#include "compiler/schedule/zeros.h"

#include "base/number.h"

// ---- buffers of known weights

static int last_of(const block_program *program, int buffer) { return program->buffers[buffer].rank - 1; }

static bool loads_known(const block_program *program, const block_statement *s) {
  const block_access *access = &s->load.access;
  if (program->tensors[access->tensor].known == NULL || s->load.accumulate || s->load.overwrite_first != 0)
    return false;
  for (int d = 0; d < access->rank; d++)
    if (s->load.target.dim[d].step != 1) return false;
  const block_access_dim *last = &access->dim[access->rank - 1];
  return last->step == 1 && last->stride == 1 && !s->load.scaled;
}

static bool elementwise_uses(const block_statement *s, int buffer) {
  const block_operand *operands[] = {&s->elementwise.a, &s->elementwise.b};
  if (s->elementwise.target.buffer == buffer) return true;
  for (int i = 0; i < 2; i++)
    if (!operands[i]->is_number && operands[i]->view.buffer == buffer) return true;
  return false;
}

// B of a product; transposed matrices of several dimensions have no rows that a block of columns stands for.
static bool dot_may_use(const block_program *program, const block_statement *s, int buffer) {
  if (s->dot.target.buffer == buffer || s->dot.a.buffer == buffer) return false;
  return s->dot.b.buffer != buffer || !s->dot.b_transposed || last_of(program, buffer) == 1;
}

static bool list_may_use(const block_program *program, const block_statement *list, int buffer, int *loads) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_FOR && !list_may_use(program, s->loop.body, buffer, loads)) return false;
    if (s->kind == BLOCK_STORE && s->store.source.buffer == buffer) return false;
    if (s->kind == BLOCK_ELEMENTWISE && elementwise_uses(s, buffer)) return false;
    if (s->kind == BLOCK_DOT && !dot_may_use(program, s, buffer)) return false;
    if (s->kind != BLOCK_LOAD || s->load.target.buffer != buffer) continue;
    if (!loads_known(program, s)) return false;
    ++*loads;
  }
  return true;
}

// Loads of tensors whose elements are known.
static int known_loads(const block_program *program, const block_statement *list) {
  int count = 0;
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_FOR) count += known_loads(program, s->loop.body);
    if (s->kind == BLOCK_LOAD) count += program->tensors[s->load.access.tensor].known != NULL;
  }
  return count;
}

bool sched_zeros_in(const block_program *program, int buffer) {
  int loads = 0;
  return program->buffers[buffer].scope == BLOCK_SP && list_may_use(program, program->body, buffer, &loads) &&
         loads == 1 && known_loads(program, program->body) == 1;
}

// ---- elements

sched_known sched_zeros_of_load(const sched_walk *w, const block_statement *s, const sched_box *inside) {
  const block_access *access = &s->load.access;
  sched_known known = {.elements = w->program->tensors[access->tensor].known,
                       .base = block_affine_at(&access->base, w->iteration),
                       .inside = *inside};
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *a = &access->dim[d];
    known.step[d] = a->step * a->stride;
    known.base += block_affine_at(&a->offset, w->iteration) * a->stride -
                  block_affine_at(&s->load.target.dim[d].offset, w->iteration) * known.step[d];
  }
  return known;
}

// Where the row begins in the tensor; false: it lies outside.
static bool find_row(const sched_known *known, const block_buffer *buffer, int64_t row, int64_t *element) {
  *element = known->base;
  for (int d = buffer->rank - 2; d >= 0; d--) {
    const int64_t at = row % buffer->size[d];
    if (at < known->inside.lo[d] || at >= known->inside.hi[d]) return false;
    *element += at * known->step[d];
    row /= buffer->size[d];
  }
  return true;
}

bool sched_zeros_all(const sched_known *known, const block_buffer *buffer, const sched_tile *tile) {
  const int last = buffer->rank - 1;
  if (known->elements == NULL) return false;
  const int64_t from = wf_max(tile->column, known->inside.lo[last]),
                to = wf_min(tile->column + tile->columns, known->inside.hi[last]);
  int64_t element;
  for (int64_t row = tile->row; row < tile->row + tile->rows; row++) {
    if (!find_row(known, buffer, row, &element)) continue;
    for (int64_t column = from; column < to; column++)
      if (known->elements[element + column] != 0) return false;
  }
  return true;
}

// ---- packed weights

// Rows of the buffer are whole tiles, so that there are never more tiles than it has room for.
static bool has_whole_tiles(const block_buffer *buffer, int64_t dim) {
  return buffer->size[buffer->rank - 1] % dim == 0 && buffer->size[buffer->rank - 2] % dim == 0;
}

void sched_pack_create(sched_pack *p, wf_arena *arena, const block_buffer *buffer, const hw_derived *derived) {
  *p = (sched_pack){.arena = arena, .buffer = buffer, .dim = derived->dim, .across = derived->max_cols / derived->dim};
  p->most = buffer->size[buffer->rank - 1] / p->dim;
  for (int d = 0; d < buffer->rank - 1; d++) p->most *= buffer->size[d];
  p->most /= p->dim;
  p->failed = !has_whole_tiles(buffer, p->dim);
}

static sched_pack_region *const *slot_of(const sched_pack *p, const sched_known *known) {
  const uint64_t mixed = (uint64_t)known->base * UINT64_C(0x9e3779b97f4a7c15);
  return &p->slots[(mixed >> 32) % SCHED_PACK_SLOTS];
}

static sched_pack_region *find(const sched_pack *p, const sched_known *known) {
  sched_pack_region *region = *slot_of(p, known);
  while (region != NULL && region->known.base != known->base) region = region->next;
  return region;
}

const sched_pack_region *sched_pack_find(const sched_pack *p, const sched_known *known) { return find(p, known); }

static sched_pack_region *add_region(sched_pack *p, const sched_known *known) {
  sched_pack_region **slot = &p->slots[slot_of(p, known) - p->slots],
                    *region = WF_ARENA_NEW(p->arena, sched_pack_region);
  *region = (sched_pack_region){
      .next = *slot, .known = *known, .places = WF_ARENA_ARRAY(p->arena, (size_t)p->most, uint32_t)};
  return *slot = region;
}

// Where the tile is noted; they lie on a grid, for rows of the buffer are whole tiles.
static uint32_t *place_of(const sched_pack *p, const sched_pack_region *region, const sched_tile *tile) {
  const int64_t blocks = p->buffer->size[p->buffer->rank - 1] / p->dim;
  return &region->places[tile->row / p->dim * blocks + tile->column / p->dim];
}

uint32_t sched_pack_place(sched_pack *p, const sched_known *known, const sched_tile *tile) {
  sched_pack_region *region = find(p, known);
  if (region == NULL) region = add_region(p, known);
  uint32_t *place = place_of(p, region, tile);
  p->failed |= tile->row % p->dim != 0 || tile->column % p->dim != 0 || (*place == 0 && p->bytes != 0);
  if (*place == 0) {
    *WF_ARENA_PUSH(p->arena, region->tiles, region->count, &region->room) = *tile;
    *place = (uint32_t)region->count;
  }
  p->failed |= region->tiles[*place - 1].rows != tile->rows || region->tiles[*place - 1].columns != tile->columns;
  return (*place - 1) * (uint32_t)p->dim;
}

void sched_pack_lay_out(sched_pack *p) {
  for (int slot = 0; slot < SCHED_PACK_SLOTS; slot++)
    for (sched_pack_region *region = p->slots[slot]; region != NULL; region = region->next) {
      region->offset = p->bytes;
      p->bytes += (int64_t)region->count * p->dim * p->dim;
    }
}

// A row of a tile; what it lacks of DIM columns stays zero.
static void fill_row(const sched_pack *p, const sched_known *known, const sched_tile *tile, int64_t row, int8_t *to) {
  const int last = p->buffer->rank - 1;
  int64_t element;
  if (row >= tile->rows || !find_row(known, p->buffer, tile->row + row, &element)) return;
  for (int64_t c = 0; c < tile->columns; c++) {
    const int64_t column = tile->column + c;
    if (column >= known->inside.lo[last] && column < known->inside.hi[last]) to[c] = known->elements[element + column];
  }
}

static void fill_region(const sched_pack *p, const sched_pack_region *region, int8_t *to) {
  for (int64_t n = 0; n < (int64_t)region->count; n++) {
    const int64_t first = n - n % p->across, side = wf_min(p->across, (int64_t)region->count - first);
    int8_t *tile = to + first * p->dim * p->dim + (n - first) * p->dim;
    for (int64_t row = 0; row < p->dim; row++)
      fill_row(p, &region->known, &region->tiles[n], row, tile + row * side * p->dim);
  }
}

void sched_pack_fill(const sched_pack *p, int8_t *bytes) {
  for (int slot = 0; slot < SCHED_PACK_SLOTS; slot++)
    for (const sched_pack_region *region = p->slots[slot]; region != NULL; region = region->next)
      fill_region(p, region, bytes + region->offset);
}
