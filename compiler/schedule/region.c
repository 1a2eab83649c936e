// SPDX-License-Identifier: Apache-2.0
// What part of each instance of a buffer is needed. The first walk collects what stores keep of each result, the second
// what products read for that; loads then move this part and no more.
#include "compiler/schedule/region.h"

#include "base/number.h"
#include "compiler/block/build.h"

void sched_regions_create(sched_regions *r, const block_program *program, wf_arena *arena) {
  const size_t buffers = (size_t)program->buffer_count + 1;
  *r = (sched_regions){.program = program,
                       .arena = arena,
                       .needs = WF_ARENA_ARRAY(arena, buffers, sched_needs),
                       .valid = WF_ARENA_ARRAY(arena, buffers, sched_valid),
                       .weights = WF_ARENA_ARRAY(arena, buffers, bool)};
  for (int b = 0; b < program->buffer_count; b++) r->weights[b] = sched_zeros_in(program, b);
}

void sched_regions_pack(sched_regions *r, const hw_derived *derived) {
  r->packed = 0;
  while (r->packed < r->program->buffer_count && !r->weights[r->packed]) r->packed++;
  if (r->packed == r->program->buffer_count) return;
  r->pack = WF_ARENA_NEW(r->arena, sched_pack);
  sched_pack_create(r->pack, r->arena, &r->program->buffers[r->packed], derived);
}

const sched_box *sched_region_need(const sched_regions *r, int buffer, uint32_t instance) {
  static const sched_box nothing;
  const sched_needs *needs = &r->needs[buffer];
  return instance < needs->count ? &needs->boxes[instance] : &nothing;
}

void sched_region_add_need(sched_regions *r, int buffer, uint32_t instance, const sched_box *more) {
  sched_needs *needs = &r->needs[buffer];
  while (needs->count <= instance) *WF_ARENA_PUSH(r->arena, needs->boxes, needs->count, &needs->room) = (sched_box){0};
  sched_box_join(&needs->boxes[instance], more, r->program->buffers[buffer].rank);
}

// Elements [lo, hi) of `size` whose index offset + step * i lies in [0, extent).
static void clip(int64_t offset, int64_t step, int64_t size, int64_t extent, int64_t *lo, int64_t *hi) {
  *lo = offset >= 0 ? 0 : (-offset + step - 1) / step;
  *hi = offset >= extent ? 0 : wf_min(size, (extent - 1 - offset) / step + 1);
}

sched_box sched_region_inside(const sched_walk *w, const block_view *view, const block_access *access) {
  sched_box inside = {0};
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *a = &access->dim[d];
    int64_t lo, hi, at = block_affine_at(&view->dim[d].offset, w->iteration);
    clip(block_affine_at(&a->offset, w->iteration), a->step, a->size, a->extent, &lo, &hi);
    inside.lo[d] = at + lo * view->dim[d].step;
    inside.hi[d] = hi <= lo ? inside.lo[d] : at + (hi - 1) * view->dim[d].step + 1;
  }
  return inside;
}

static sched_box whole(const block_buffer *buffer) {
  sched_box all = {0};
  for (int d = 0; d < buffer->rank; d++) all.hi[d] = buffer->size[d];
  return all;
}

void sched_region_note_load(sched_regions *r, const sched_walk *w, const block_statement *s) {
  int b = s->load.target.buffer;
  sched_valid *valid = &r->valid[b];
  bool first = !valid->set || valid->instance != w->instance[b];
  *valid = (sched_valid){.set = true, .instance = w->instance[b]};
  valid->inside = first ? sched_region_inside(w, &s->load.target, &s->load.access) : whole(&r->program->buffers[b]);
  if (first && r->weights[b]) valid->known = sched_zeros_of_load(w, s, &valid->inside);
}

void sched_region_forget_loads(sched_regions *r) {
  for (int b = 0; b < r->program->buffer_count; b++) r->valid[b] = (sched_valid){.set = false};
}

const sched_box *sched_region_nonzero(const sched_regions *r, const sched_walk *w, int buffer) {
  const sched_valid *valid = &r->valid[buffer];
  return valid->set && valid->instance == w->instance[buffer] ? &valid->inside : NULL;
}

const sched_known *sched_region_known(const sched_regions *r, const sched_walk *w, int buffer) {
  const sched_valid *valid = &r->valid[buffer];
  const bool there = valid->set && valid->instance == w->instance[buffer] && valid->known.elements != NULL;
  return there ? &valid->known : NULL;
}

// From results that are kept to what their windows are taken from.
static void take_windows(const sched_walk *w, const block_statement *s, sched_box *need) {
  const block_pool *pool = &s->store.epilogue.pool;
  for (int d = 1; d <= 2; d++) {
    const block_view_dim *view = &s->store.source.dim[d];
    const int64_t at = block_affine_at(&view->offset, w->iteration),
                  padding = d == 1 ? pool->upper_padding : pool->left_padding;
    const int64_t results = need->hi[d] - need->lo[d];
    need->lo[d] = at + block_before_image(s, d, w->iteration);
    need->hi[d] =
        results == 0 ? need->lo[d] : at + wf_min(view->size, (results - 1) * pool->stride + pool->size - padding);
  }
}

bool sched_region_store_needs(void *context, const sched_walk *w, const block_statement *s) {
  sched_regions *r = context;
  if (s->kind != BLOCK_STORE) return true;
  const block_view *view = &s->store.source;
  sched_box need = sched_region_inside(w, view, &s->store.access);
  r->stored_bytes += sched_box_elements(&need, s->store.access.rank) *
                     (int64_t)block_type_bytes(r->program->tensors[s->store.access.tensor].type);
  if (s->store.epilogue.pool.stride != 0) take_windows(w, s, &need);
  sched_region_add_need(r, view->buffer, w->instance[view->buffer], &need);
  const int other = s->store.statistics.buffer;
  if (s->store.apart) sched_region_add_need(r, other, w->instance[other], &need);
  const int factors = s->store.factors.buffer;
  if (s->store.gated) sched_region_add_need(r, factors, w->instance[factors], &need);
  return true;
}
