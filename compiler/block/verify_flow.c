// SPDX-License-Identifier: Apache-2.0
// The order of a block program: every element of a buffer is written before it is read, and iterations of parallel
// loops neither meet in a tensor nor need what another one left in a buffer.
//
// Statements run once in order, with the views that were written so far. A loop runs its body at least once; behind it
// the views that advance with it have become the views that it sweeps. Iterations of a parallel loop that touch the
// same elements of a buffer must start with nothing in it, unless all they do is accumulate.
#include <string.h>

#include "compiler/block/range.h"
#include "compiler/block/verify.h"

typedef struct flow {
  const block_program *program;
  wf_arena *arena;
  wf_diag *diag;
  block_view *written;  // what is known to be written
  size_t count, room;
  uint32_t open;
  bool ok;
} flow;

// ---- views

static bool covers_dim(const block_program *p, const block_view_dim *whole, const block_view_dim *part) {
  block_affine minus = block_affine_times(whole->offset, -1);
  block_affine distance = block_affine_add(part->offset, minus);
  if (whole->step != 1)
    return block_affine_is_constant(&distance) && distance.constant == 0 && part->size <= whole->size &&
           (part->size == 1 || part->step == whole->step);
  block_range range = block_affine_range(p, &distance);
  return range.min >= 0 && range.max + (part->size - 1) * part->step < whole->size;
}

static bool covers(const block_program *p, const block_view *whole, const block_view *part) {
  bool covered = whole->buffer == part->buffer;
  for (int d = 0; covered && d < p->buffers[part->buffer].rank; d++)
    covered = covers_dim(p, &whole->dim[d], &part->dim[d]);
  return covered;
}

// The dimension in which `next` begins where `view` ends, both being alike otherwise, or BLOCK_NONE.
static int continued_in(const block_program *p, const block_view *view, const block_view *next) {
  int found = BLOCK_NONE;
  for (int d = 0; d < p->buffers[view->buffer].rank; d++) {
    const block_view_dim *a = &view->dim[d], *b = &next->dim[d];
    block_affine end = block_affine_add(a->offset, block_constant(a->size));
    bool same = block_affine_equal(&a->offset, &b->offset) && a->size == b->size && a->step == b->step;
    if (same) continue;
    bool follows = block_affine_equal(&end, &b->offset) && a->step == 1 && b->step == 1;
    if (!follows || found != BLOCK_NONE) return BLOCK_NONE;
    found = d;
  }
  return found;
}

static bool is_written(const flow *f, const block_view *view) {
  for (size_t w = 0; w < f->count; w++)
    if (covers(f->program, &f->written[w], view)) return true;
  return false;
}

static void add_written(flow *f, block_view view) {
  if (is_written(f, &view)) return;
  for (size_t w = 0; w < f->count; w++) {
    int d = f->written[w].buffer == view.buffer ? continued_in(f->program, &f->written[w], &view) : BLOCK_NONE;
    if (d == BLOCK_NONE) continue;
    view.dim[d].offset = f->written[w].dim[d].offset;
    view.dim[d].size += f->written[w].dim[d].size;
    f->written[w] = f->written[--f->count];
    add_written(f, view);
    return;
  }
  *WF_ARENA_PUSH(f->arena, f->written, f->count, &f->room) = view;
}

// What a view that advances with a loop has become behind it; false if that is no view.
static bool swept(const block_program *p, int loop, block_view *view) {
  int moving = BLOCK_NONE;
  for (int d = 0; d < p->buffers[view->buffer].rank; d++) {
    if (view->dim[d].offset.per_loop[loop] == 0) continue;
    if (moving != BLOCK_NONE) return false;
    moving = d;
  }
  if (moving == BLOCK_NONE) return true;
  block_view_dim *dim = &view->dim[moving];
  int64_t advance = dim->offset.per_loop[loop];
  if (dim->step != 1 || advance < 0 || advance > dim->size) return false;
  dim->size += advance * (p->loops[loop].trips - 1);
  dim->offset.per_loop[loop] = 0;
  return true;
}

static void forget(flow *f, int buffer) {
  size_t kept = 0;
  for (size_t w = 0; w < f->count; w++)
    if (f->written[w].buffer != buffer) f->written[kept++] = f->written[w];
  f->count = kept;
}

// ---- parallel loops

typedef struct touch {
  block_statement *statement;
  const block_view *view;
  bool writes, accumulates;
} touch;

typedef struct touches {
  flow *f;
  int loop;
  touch *views;
  size_t count, room;
  block_statement **accesses;
  size_t access_count, access_room;
} touches;

static void collect(void *context, block_statement *s) {
  touches *t = context;
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(s, views);
  for (int v = 0; v < count; v++) {
    bool writes = v == 0 && block_has_target(s);
    bool adds = writes && block_accumulates(s);
    *WF_ARENA_PUSH(t->f->arena, t->views, t->count, &t->room) = (touch){s, views[v], writes, adds};
  }
  if (block_memory(s) != NULL) *WF_ARENA_PUSH(t->f->arena, t->accesses, t->access_count, &t->access_room) = s;
}

// Whether iterations of the loop meet in the buffer other than to accumulate.
static bool is_shared(const touches *t, int buffer) {
  for (size_t i = 0; i < t->count; i++)
    for (size_t j = i; j < t->count; j++) {
      const touch *a = &t->views[i], *b = &t->views[j];
      if (a->view->buffer != buffer || b->view->buffer != buffer || (!a->writes && !b->writes)) continue;
      if (a->accumulates && b->accumulates) continue;
      if (!block_views_disjoint(t->f->program, t->loop, t->f->open, a->view, b->view)) return true;
    }
  return false;
}

static void check_accesses(const touches *t) {
  flow *f = t->f;
  for (size_t i = 0; i < t->access_count; i++)
    for (size_t j = i; j < t->access_count; j++) {
      block_statement *a = t->accesses[i], *b = t->accesses[j];
      bool stores = a->kind == BLOCK_STORE || b->kind == BLOCK_STORE;
      if (!stores || block_accesses_disjoint(f->program, t->loop, f->open, block_memory(a), block_memory(b))) continue;
      const block_statement *store = a->kind == BLOCK_STORE ? a : b, *other = store == a ? b : a;
      wf_error(f->diag, store->where,
               "iterations of the parallel loop '%s' may store to elements of '%s' that others %s",
               f->program->loops[t->loop].name, f->program->tensors[store->store.access.tensor].name,
               other->kind == BLOCK_STORE ? "store to" : "load");
      f->ok = false;
    }
}

static void run_list(flow *f, block_statement *list);

static bool *begin_parallel(flow *f, const block_statement *s) {
  touches t = {.f = f, .loop = s->loop.loop};
  bool *shared = WF_ARENA_ARRAY(f->arena, (size_t)f->program->buffer_count + 1, bool);
  block_visit(s->loop.body, collect, &t);
  check_accesses(&t);
  for (int b = 0; b < f->program->buffer_count; b++) {
    shared[b] = is_shared(&t, b);
    if (shared[b]) forget(f, b);
  }
  return shared;
}

static void run_for(flow *f, block_statement *s) {
  bool *shared = f->program->loops[s->loop.loop].parallel ? begin_parallel(f, s) : NULL;
  f->open |= UINT32_C(1) << s->loop.loop;
  run_list(f, s->loop.body);
  f->open &= ~(UINT32_C(1) << s->loop.loop);
  for (int b = 0; shared != NULL && b < f->program->buffer_count; b++)
    if (shared[b]) forget(f, b);
  block_view *body = f->written;
  size_t count = f->count;
  f->written = NULL;
  f->count = f->room = 0;
  for (size_t w = 0; w < count; w++)
    if (swept(f->program, s->loop.loop, &body[w])) add_written(f, body[w]);
}

// ---- statements

static void run_list(flow *f, block_statement *list) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    int count = block_views(list, views);
    bool fresh = block_has_target(list) && !block_accumulates(list);
    for (int v = fresh ? 1 : 0; v < count; v++) {
      if (is_written(f, views[v])) continue;
      wf_error(f->diag, list->where, "reads elements of '%s' that may not be written here",
               f->program->buffers[views[v]->buffer].name);
      f->ok = false;
      add_written(f, *views[v]);  // reported once
    }
    if (block_has_target(list)) add_written(f, *views[0]);
    if (list->kind == BLOCK_FOR) run_for(f, list);
  }
}

bool block_verify_flow(const block_program *program, wf_diag *diag) {
  flow f = {.program = program, .arena = wf_arena_create(), .diag = diag, .ok = true};
  run_list(&f, program->body);
  wf_arena_destroy(f.arena);
  return f.ok;
}
