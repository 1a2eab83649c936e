// SPDX-License-Identifier: Apache-2.0
// Moves the loads of products' operands out of the loops that their buffers outlive, as the mapping's residency says.
// In programs without a mapping a load leaves the loops whose counter its access does not have; its buffer stays as
// large. A buffer grows by what these loops sweep: along a dimension of the access (a convolution's window with its
// halo), or by a new leading dimension where the loop only moves the base. Products then read a part of it.
#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/passes/passes.h"

typedef struct hoist {
  block_program *program;
  const map_mapping *mapping;
  wf_diag *diag;
  int64_t dim;
  bool ok;
} hoist;

// ---- which loads leave which loops

typedef struct role {
  const block_program *program;
  int buffer;
  bool weights, inputs;
} role;

static void find_role(void *context, block_statement *s) {
  role *r = context;
  if (s->kind != BLOCK_DOT || block_is_shared(r->program, s)) return;
  r->weights |= s->dot.b.buffer == r->buffer;
  r->inputs |= s->dot.a.buffer == r->buffer;
}

static int position_of(const hoist *h, const block_loop *loop) {
  if (loop->dim == BLOCK_DIM_NONE) return -1;
  bool inner = loop->split_of != BLOCK_NONE;
  for (int l = 0; l < h->program->loop_count && !inner; l++) {
    if (h->program->loops[l].split_of == (int)(loop - h->program->loops)) break;
    if (l + 1 == h->program->loop_count) inner = h->mapping->sp[loop->dim] > 1;
  }
  return map_position(h->mapping, loop->dim, inner);
}

// Whether the loop changes nothing of what is loaded.
static bool is_invariant(const block_access *access, int loop) {
  bool moves = access->base.per_loop[loop] != 0;
  for (int d = 0; d < access->rank; d++) moves |= access->dim[d].offset.per_loop[loop] != 0;
  return !moves;
}

static bool is_private(const hoist *h, const block_statement *load, const block_statement *loop);

static bool leaves(const hoist *h, const block_statement *load, const block_statement *statement) {
  const int number = statement->loop.loop;
  const block_loop *loop = &h->program->loops[number];
  role r = {.program = h->program, .buffer = load->load.target.buffer};
  block_visit(h->program->body, find_role, &r);
  if (!r.weights && !r.inputs) return false;
  if (h->program->tensors[load->load.access.tensor].written) return false;
  if (map_is_none(h->mapping)) return is_invariant(&load->load.access, number) && is_private(h, load, statement);
  return position_of(h, loop) >= h->mapping->residency[r.weights ? MAP_WEIGHTS : MAP_INPUTS];
}

// ---- growing a buffer by a loop

typedef struct growth {
  hoist *hoist;
  block_statement *load;
  int buffer, loop;
  int dim;              // that grows
  int64_t scale, step;  // of the old index and of the loop in the new one
} growth;

// A view's index of the dimension that grew.
static void scale_view(const growth *g, block_view *view) {
  block_view_dim *v = &view->dim[g->dim];
  v->offset = block_affine_add(block_affine_times(v->offset, g->scale), block_term(g->loop, g->step));
  v->step *= g->scale;
}

static void scale_views(void *context, block_statement *s) {
  const growth *g = context;
  block_view *views[BLOCK_VIEWS_MAX];
  if (s == g->load) return;
  int count = block_views(s, views);
  for (int n = 0; n < count; n++)
    if (views[n]->buffer == g->buffer) scale_view(g, views[n]);
}

static void insert_view_dim(void *context, block_statement *s) {
  const growth *g = context;
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(s, views);
  for (int n = 0; n < count; n++) {
    if (views[n]->buffer != g->buffer) continue;
    memmove(&views[n]->dim[1], &views[n]->dim[0], (BLOCK_RANK_MAX - 1) * sizeof views[n]->dim[0]);
    views[n]->dim[0] = (block_view_dim){.step = 1, .size = 1};
  }
}

// A leading dimension of one element, to grow along: the loop no longer moves the base.
static bool insert_dim(growth *g, int64_t stride) {
  block_program *p = g->hoist->program;
  block_access *access = &g->load->load.access;
  block_buffer *buffer = &p->buffers[g->buffer];
  const block_loop *loop = &p->loops[g->loop];
  if (access->rank == BLOCK_RANK_MAX) return false;
  memmove(&access->dim[1], &access->dim[0], (BLOCK_RANK_MAX - 1) * sizeof access->dim[0]);
  access->dim[0] = (block_access_dim){
      .offset = block_term(g->loop, 1), .step = 1, .size = 1, .extent = loop->trips, .stride = stride};
  access->base.per_loop[g->loop] = 0;
  if (loop->split_of != BLOCK_NONE && access->base.per_loop[loop->split_of] == stride * loop->trips) {
    access->dim[0].offset.per_loop[loop->split_of] = loop->trips;
    access->dim[0].extent = loop->limit;
    access->base.per_loop[loop->split_of] = 0;
  }
  access->rank++;
  memmove(&buffer->size[1], &buffer->size[0], (BLOCK_RANK_MAX - 1) * sizeof buffer->size[0]);
  buffer->size[0] = 1;
  buffer->rank++;
  block_visit(p->body, insert_view_dim, g);
  return true;
}

static void grow_dim(growth *g, int d) {
  block_program *p = g->hoist->program;
  block_access_dim *a = &g->load->load.access.dim[d];
  int64_t trips = p->loops[g->loop].trips, factor = a->offset.per_loop[g->loop];
  int64_t step = a->size == 1 ? factor : wf_common_factor(factor, a->step);
  g->dim = d;
  g->scale = a->size == 1 ? 1 : a->step / step;
  g->step = factor / step;
  a->size = (a->size - 1) * g->scale + (trips - 1) * g->step + 1;
  a->step = step;
  a->offset.per_loop[g->loop] = 0;
  p->buffers[g->buffer].size[d] = g->load->load.target.dim[d].size = a->size;
  block_visit(p->body, scale_views, g);
}

// Whether blocks of columns still start at the first lane of a row.
static bool keeps_lanes(const growth *g, const block_access_dim *a) {
  int64_t factor = a->offset.per_loop[g->loop];
  return (a->size == 1 || a->step == 1) && a->stride == 1 && factor % g->hoist->dim == 0;
}

// Whether no index of the dimension leaves the tensor.
static bool never_clipped(const hoist *h, const block_access_dim *a) {
  int64_t low = a->offset.constant, high = a->offset.constant + a->step * (a->size - 1);
  for (int l = 0; l < h->program->loop_count; l++) {
    int64_t reach = a->offset.per_loop[l] * (h->program->loops[l].trips - 1);
    if (reach < 0) low += reach;
    if (reach > 0) high += reach;
  }
  return low >= 0 && high < a->extent;
}

static bool grow(growth *g) {
  block_access *access = &g->load->load.access;
  int moved = -1, count = 0, last = access->rank - 1;
  for (int d = 0; d <= last; d++)
    if (access->dim[d].offset.per_loop[g->loop] != 0) {
      moved = d;
      count++;
    }
  int64_t base = access->base.per_loop[g->loop];
  if (count == 0 && base == 0) return true;
  if (count == 0) {
    if (!insert_dim(g, base)) return false;
    grow_dim(g, 0);
    return true;
  }
  block_access_dim *a = &access->dim[moved];
  if (count > 1 || base != 0 || a->offset.per_loop[g->loop] < 0) return false;
  if (moved == last && !keeps_lanes(g, a)) {
    int64_t stride = a->offset.per_loop[g->loop] * a->stride;
    if (!never_clipped(g->hoist, a) || access->rank == BLOCK_RANK_MAX) return false;
    a->offset.per_loop[g->loop] = 0;
    if (!insert_dim(g, stride)) return false;
    moved = 0;
  }
  grow_dim(g, moved);
  return true;
}

// ---- moving

typedef struct uses {
  int buffer;
  unsigned count;
} uses;

static void count_uses(void *context, block_statement *s) {
  uses *u = context;
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(s, views);
  for (int n = 0; n < count; n++) u->count += views[n]->buffer == u->buffer;
}

// Whether all uses of the load's buffer are inside the loop, and the load alone fills it.
static bool is_private(const hoist *h, const block_statement *load, const block_statement *loop) {
  uses inside = {.buffer = load->load.target.buffer}, all = inside;
  block_visit(loop->loop.body, count_uses, &inside);
  block_visit(h->program->body, count_uses, &all);
  return inside.count == all.count && block_is_whole(h->program, &load->load.target);
}

static void hoist_list(hoist *h, block_statement **list);

// Moves what leaves the loop at *at in front of it; returns where the loop is then.
static block_statement **hoist_out(hoist *h, block_statement **at) {
  block_statement *loop = *at;
  for (block_statement **from = &loop->loop.body; *from != NULL;) {
    block_statement *s = *from;
    const block_loop *l = &h->program->loops[loop->loop.loop];
    if (s->kind != BLOCK_LOAD || !leaves(h, s, loop)) {
      from = &s->next;
      continue;
    }
    growth g = {.hoist = h, .load = s, .buffer = s->load.target.buffer, .loop = loop->loop.loop};
    if (!is_private(h, s, loop) || !grow(&g)) {
      wf_error(h->diag, s->where, "buffer '%s' cannot be kept over loop '%s'", h->program->buffers[g.buffer].name,
               l->name);
      wf_hint(h->diag, "move its residency inside of that loop");
      h->ok = false;
      return at;
    }
    *from = s->next;
    s->next = loop;
    *at = s;
    at = &s->next;
  }
  return at;
}

static void hoist_list(hoist *h, block_statement **list) {
  for (block_statement **at = list; *at != NULL && h->ok; at = &(*at)->next) {
    if ((*at)->kind != BLOCK_FOR) continue;
    hoist_list(h, &(*at)->loop.body);
    if (h->ok) at = hoist_out(h, at);
  }
}

bool pass_hoist(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  hoist h = {.program = program, .mapping = mapping, .diag = diag, .dim = hw_derive(array).dim, .ok = true};
  hoist_list(&h, &program->body);
  return h.ok;
}
