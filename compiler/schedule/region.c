// What part of each instance of a buffer is needed. The first walk asks the stores what they keep of each result, the
// second the products what they read for that; loads then move this and no more.
#include "base/number.h"
#include "compiler/schedule/expand.h"

bool box_empty(const box *b, int rank) {
  for (int d = 0; d < rank; d++)
    if (b->lo[d] >= b->hi[d]) return true;
  return false;
}

static int64_t box_size(const box *b, int rank) {
  int64_t elements = 1;
  for (int d = 0; d < rank; d++) elements *= b->hi[d] > b->lo[d] ? b->hi[d] - b->lo[d] : 0;
  return elements;
}

box box_meet(const box *a, const box *b, int rank) {
  box meet = {0};
  for (int d = 0; d < rank; d++) {
    meet.lo[d] = wf_max(a->lo[d], b->lo[d]);
    meet.hi[d] = wf_min(a->hi[d], b->hi[d]);
  }
  return meet;
}

void box_join(box *b, const box *more, int rank) {
  if (box_empty(more, rank)) return;
  if (box_empty(b, rank)) *b = *more;
  for (int d = 0; d < rank; d++) {
    b->lo[d] = wf_min(b->lo[d], more->lo[d]);
    b->hi[d] = wf_max(b->hi[d], more->hi[d]);
  }
}

const box *expand_need(const expand *e, int buffer, uint32_t instance) {
  static const box nothing;
  const expand_needs *needs = &e->needs[buffer];
  return instance < needs->count ? &needs->boxes[instance] : &nothing;
}

void expand_add_need(expand *e, int buffer, uint32_t instance, const box *more) {
  expand_needs *needs = &e->needs[buffer];
  while (needs->count <= instance) *WF_ARENA_PUSH(e->arena, needs->boxes, needs->count, &needs->room) = (box){0};
  box_join(&needs->boxes[instance], more, e->program->buffers[buffer].rank);
}

// Elements [lo, hi) of `size` whose index offset + step * i lies in [0, extent).
static void clip(int64_t offset, int64_t step, int64_t size, int64_t extent, int64_t *lo, int64_t *hi) {
  *lo = offset >= 0 ? 0 : (-offset + step - 1) / step;
  *hi = offset >= extent ? 0 : wf_min(size, (extent - 1 - offset) / step + 1);
}

box expand_inside(const walk *w, const block_view *view, const block_access *access) {
  box inside = {0};
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *a = &access->dim[d];
    int64_t lo, hi, at = block_affine_at(&view->dim[d].offset, w->iteration);
    clip(block_affine_at(&a->offset, w->iteration), a->step, a->size, a->extent, &lo, &hi);
    inside.lo[d] = at + lo * view->dim[d].step;
    inside.hi[d] = hi <= lo ? inside.lo[d] : at + (hi - 1) * view->dim[d].step + 1;
  }
  return inside;
}

static box whole(const block_buffer *buffer) {
  box all = {0};
  for (int d = 0; d < buffer->rank; d++) all.hi[d] = buffer->size[d];
  return all;
}

void expand_note_load(expand *e, const walk *w, const block_statement *s) {
  int b = s->load.target.buffer;
  expand_valid *valid = &e->valid[b];
  bool first = !valid->set || valid->instance != w->instance[b];
  *valid = (expand_valid){.set = true, .instance = w->instance[b]};
  valid->inside = first ? expand_inside(w, &s->load.target, &s->load.access) : whole(&e->program->buffers[b]);
}

bool expand_store_needs(void *context, const walk *w, const block_statement *s) {
  expand *e = context;
  if (s->kind != BLOCK_STORE) return true;
  const block_view *view = &s->store.source;
  box need = expand_inside(w, view, &s->store.access);
  e->stored_bytes += box_size(&need, s->store.access.rank) *
                     (int64_t)block_type_bytes(e->program->tensors[s->store.access.tensor].type);
  if (s->store.epilogue.pool.stride != 0)  // windows reach over what is kept
    for (int d = 0; d < e->program->buffers[view->buffer].rank; d++) {
      need.lo[d] = block_affine_at(&view->dim[d].offset, w->iteration);
      need.hi[d] = need.lo[d] + (view->dim[d].size - 1) * view->dim[d].step + 1;
    }
  expand_add_need(e, view->buffer, w->instance[view->buffer], &need);
  return true;
}

bool expand_repeats(const walk *w, uint32_t loops) {
  for (int l = 0; l < w->program->loop_count; l++)
    if ((loops >> l & 1) != 0 && w->iteration[l] != 0) return true;
  return false;
}
