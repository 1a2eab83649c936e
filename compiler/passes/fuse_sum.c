// SPDX-License-Identifier: Apache-2.0
// Sums of products and loads in the accumulator: see fuse.c for what they become.
#include <string.h>

#include "compiler/passes/fuse.h"

static bool is_in_place(const fuse_term *term) { return term->loops != 0 || term->statement->kind == BLOCK_DOT; }

// The first term of a list in the order of execution that stays in place, or NULL.
static const fuse_term *first_in_place(const fuse_sum *sum, const block_statement *list) {
  for (; list != NULL; list = list->next) {
    const fuse_term *inner = list->kind == BLOCK_FOR ? first_in_place(sum, list->loop.body) : NULL;
    if (inner != NULL) return inner;
    for (int t = 0; t < sum->count; t++)
      if (sum->terms[t].statement == list && is_in_place(&sum->terms[t])) return &sum->terms[t];
  }
  return NULL;
}

static bool stores_to(const block_statement *list, int tensor) {
  for (; list != NULL; list = list->next)
    if ((list->kind == BLOCK_STORE && list->store.access.tensor == tensor) ||
        (list->kind == BLOCK_FOR && stores_to(list->loop.body, tensor)))
      return true;
  return false;
}

bool fuse_is_stored(const fuse_pass *f, int tensor) { return stores_to(f->program->body, tensor); }

static bool statement_stores_to(const block_statement *s, int tensor) {
  block_statement alone = *s;
  alone.next = NULL;
  return stores_to(&alone, tensor);
}

bool fuse_can_move(const fuse_pass *f, const block_statement *list, const block_statement *load,
                   const block_statement *to) {
  int tensor = load->load.access.tensor, met = 0;
  if (!fuse_is_stored(f, tensor)) return true;
  for (const block_statement *s = list; s != NULL && met < 2; s = s->next) {
    met += (s == load) + (s == to);
    if (met == 1 && statement_stores_to(s, tensor)) return false;
  }
  return met == 2;
}

bool fuse_spread(fuse_pass *f, const block_statement *load, const block_buffer *to, block_access *access) {
  for (int d = 0; d < to->rank; d++) {
    block_access_dim *dim = &access->dim[d];
    if (dim->size == to->size[d]) continue;
    bool always_inside =
        block_affine_is_constant(&dim->offset) && dim->offset.constant >= 0 && dim->offset.constant < dim->extent;
    if (access->rank != to->rank || dim->size != 1 || !always_inside)
      return fuse_refuse(f, load->where, "a repeated block must be one element wide, and this inside of its tensor",
                         "give it offset 0 in this dimension");
    access->base = block_affine_add(access->base, block_constant(dim->offset.constant * dim->stride));
    *dim = (block_access_dim){.step = 1, .size = to->size[d], .extent = to->size[d]};
  }
  return true;
}

static int accumulator_for(fuse_pass *f, const fuse_term *in_place, int stored) {
  const block_buffer *like = &f->program->buffers[stored];
  if (in_place != NULL) {
    block_view *views[BLOCK_VIEWS_MAX];
    block_views(in_place->statement, views);
    int own = views[0]->buffer;
    if (!f->accumulators[own] && f->program->buffers[own].type == BLOCK_I32 && fuse_is_same_size(f, own, stored))
      return own;
  }
  int64_t size[BLOCK_RANK_MAX];
  memcpy(size, like->size, sizeof size);
  return block_add_buffer(f->program, block_fresh_name(f->program, "sum", ""), BLOCK_I32, like->rank, size);
}

// Gives the statements of a sum that stay in place to its accumulator.
static bool claim(fuse_pass *f, const fuse_sum *sum, const fuse_term *first, bool overwrite, int accumulator) {
  const block_view whole = block_whole(f->program, accumulator);
  for (int t = 0; t < sum->count; t++) {
    const fuse_term *term = &sum->terms[t];
    block_statement *s = term->statement;
    if (!is_in_place(term)) continue;
    fuse_use *u = fuse_use_of(f, s);
    if (u->kept || u->accumulator != BLOCK_NONE)
      return fuse_refuse(f, s->where, "this block goes into two different results", "compute it for each of them");
    u->accumulator = accumulator;
    u->terms = sum->terms;
    bool overwrites = overwrite && term == first;
    uint32_t loops = overwrites ? term->loops : 0;
    if (s->kind == BLOCK_DOT) {
      s->dot.target = whole;
      s->dot.accumulate = !overwrites;
      s->dot.overwrite_first = loops;
    } else {
      s->load.target = whole;
      s->load.accumulate = !overwrites;
      s->load.overwrite_first = loops;
      s->load.scaled = term->scaled;
      s->load.scale = term->scale;
      if (!fuse_spread(f, s, &f->program->buffers[accumulator], &s->load.access)) return false;
    }
  }
  return true;
}

// Puts the loads of a sum that are free to move in front of `place`.
static bool put_loads(fuse_pass *f, block_statement **list, const fuse_sum *sum, const block_statement *place,
                      int accumulator, int *count) {
  block_statement **at = list;
  while (*at != place) at = &(*at)->next;
  for (int t = 0; t < sum->count; t++) {
    const fuse_term *term = &sum->terms[t];
    if (is_in_place(term) || fuse_is_multiplied(f, sum, term)) continue;
    if (!fuse_can_move(f, *list, term->statement, place))
      return fuse_refuse(f, term->statement->where,
                         "the tensor is stored to between this load and the sum that it goes into",
                         "load it right before it is added");
    block_statement *load = WF_ARENA_NEW(f->c.arena, block_statement);
    *load = *term->statement;
    load->load.target = block_whole(f->program, accumulator);
    load->load.scaled = term->scaled;
    load->load.scale = term->scale;
    load->load.accumulate = (*count)++ != 0;
    if (!fuse_spread(f, term->statement, &f->program->buffers[accumulator], &load->load.access)) return false;
    fuse_use_of(f, load)->accumulator = accumulator;
    load->next = *at;
    *at = load;
    at = &load->next;
  }
  return true;
}

static bool tops_are_in(const fuse_sum *sum, const block_statement *list, const block_statement *end) {
  for (int t = 0; t < sum->count; t++) {
    const block_statement *s = list;
    while (s != end && s != sum->terms[t].top) s = s->next;
    if (s == end && is_in_place(&sum->terms[t])) return false;
  }
  return true;
}

int fuse_make_sum(fuse_pass *f, block_statement **list, block_statement *store, const fuse_sum *sum) {
  const fuse_term *first = first_in_place(sum, *list);
  if (sum->count == 0 || sum->carried != BLOCK_NONE || !tops_are_in(sum, *list, store)) {
    fuse_refuse(
        f, store->where, sum->count == 0 ? "stores numbers" : "stores a sum that is not complete here",
        sum->count == 0 ? "the accelerator has no way to store numbers" : "store it after the loop that adds it up");
    return BLOCK_NONE;
  }
  const fuse_use *again = first == NULL ? NULL : fuse_use_of(f, first->statement);
  if (again != NULL && again->accumulator != BLOCK_NONE && again->terms == sum->terms) return again->accumulator;
  int accumulator = accumulator_for(f, first, store->store.source.buffer), loads = 0;
  f->accumulators[accumulator] = true;
  if (!put_loads(f, list, sum, first == NULL ? store : first->top, accumulator, &loads) ||
      !claim(f, sum, first, loads == 0, accumulator) ||
      !fuse_put_multiples(f, list, store, sum, first == NULL && loads == 0, accumulator))
    return BLOCK_NONE;
  return accumulator;
}
