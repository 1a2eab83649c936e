// SPDX-License-Identifier: Apache-2.0
// What is left to do when the loops are known: unused loads go, tensors get their sizes, loops their roles,
// and stores of different programs must not meet.
#include <stdlib.h>
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

// ---- unused values

typedef struct usage {
  block_program *program;
  const lang_lowerer *l;
  bool *read;    // per buffer
  bool *loaded;  // per tensor; NULL: other parts load them
} usage;

static void mark_read(void *context, block_statement *s) {
  const usage *u = context;
  block_view *views[BLOCK_VIEWS_MAX];
  const int count = block_views(s, views);
  const int target = block_has_target(s) ? views[0]->buffer : BLOCK_NONE;
  if (s->kind == BLOCK_LOAD && u->loaded != NULL) u->loaded[s->load.access.tensor] = true;
  // What an operation on a value adds to the same value is no use of it.
  for (int v = target != BLOCK_NONE ? 1 : 0; v < count; v++)
    if (views[v]->buffer != target) u->read[views[v]->buffer] = true;
}

// The statement parks a block that no statement loads.
static bool parks_in_vain(const usage *u, const block_statement *s) {
  return s->kind == BLOCK_STORE && u->loaded != NULL && lang_lower_is_working(u->l, s->store.access.tensor) &&
         !u->loaded[s->store.access.tensor];
}

// Removes statements whose result is not read, and loops that are empty then.
static bool remove_unused(const usage *u, block_statement **list) {
  bool changed = false;
  while (*list != NULL) {
    block_statement *s = *list;
    block_view *views[BLOCK_VIEWS_MAX];
    if (s->kind == BLOCK_FOR) changed |= remove_unused(u, &s->loop.body);
    const bool unread = block_has_target(s) && block_views(s, views) > 0 && !u->read[views[0]->buffer];
    const bool gone = s->kind == BLOCK_FOR ? s->loop.body == NULL : unread || parks_in_vain(u, s);
    changed |= gone;
    if (gone)
      *list = s->next;
    else
      list = &s->next;
  }
  return changed;
}

typedef struct renumbering {
  int *buffer;
} renumbering;

static void renumber(void *context, block_statement *s) {
  const renumbering *r = context;
  block_view *views[BLOCK_VIEWS_MAX];
  const int count = block_views(s, views);
  for (int v = 0; v < count; v++) views[v]->buffer = r->buffer[views[v]->buffer];
}

// The name of a buffer that is gone goes to one that was numbered because of it.
static void pass_name_on(block_program *p, const bool *read, int gone) {
  const char *name = p->buffers[gone].name;
  const size_t length = strlen(name);
  for (int b = gone + 1; b < p->buffer_count; b++) {
    const char *other = p->buffers[b].name;
    if (!read[b] || strncmp(other, name, length) != 0 || other[length] == 0) continue;
    if (other[length + strspn(other + length, "0123456789")] != 0) continue;
    p->buffers[b].name = name;
    return;
  }
}

static usage drop_in(lang_lowerer *l, block_statement **list, bool whole) {
  usage u = {.program = l->program, .l = l};
  do {
    if (whole) u.loaded = WF_ARENA_ARRAY(l->arena, (size_t)l->program->tensor_count + 1, bool);
    u.read = WF_ARENA_ARRAY(l->arena, (size_t)l->program->buffer_count + 1, bool);
    block_visit(*list, mark_read, &u);
  } while (remove_unused(&u, list));
  return u;
}

void lang_lower_drop_unused(lang_lowerer *l, block_statement **list) { drop_in(l, list, false); }

static void drop_unused(lang_lowerer *l) {
  block_program *p = l->program;
  const usage u = drop_in(l, &p->body, true);
  const renumbering r = {.buffer = WF_ARENA_ARRAY(l->arena, (size_t)p->buffer_count + 1, int)};
  int count = 0;
  for (int b = 0; b < p->buffer_count; b++)
    if (!u.read[b]) pass_name_on(p, u.read, b);
  for (int b = 0; b < p->buffer_count; b++) {
    r.buffer[b] = count;
    p->buffers[count] = p->buffers[b];
    if (u.read[b]) count++;
  }
  p->buffer_count = count;
  block_visit(p->body, renumber, (void *)&r);
}

// ---- tensors

static void mark_tensor(void *context, block_statement *s) {
  block_program *program = context;
  if (s->kind == BLOCK_LOAD) program->tensors[s->load.access.tensor].read = true;
  if (s->kind == BLOCK_STORE) program->tensors[s->store.access.tensor].written = true;
}

static void size_tensors(lang_lowerer *l) {
  for (int t = 0; t < l->param_tensors; t++)
    l->program->tensors[t].elements = l->tensor_end[t] > 0 ? l->tensor_end[t] : 1;
  block_visit(l->program->body, mark_tensor, l->program);
}

// ---- roles of loops

typedef struct finder {
  const block_program *program;
  const block_statement *dot;
  const block_access *store;  // the first one that moves with the loop
  int loop;
  uint64_t moves;  // a bit per buffer whose value depends on the loop
  bool changed;
} finder;

static bool access_moves(const block_access *a, int loop) {
  bool moves = a->base.per_loop[loop] != 0;
  for (int d = 0; d < a->rank; d++) moves |= a->dim[d].offset.per_loop[loop] != 0;
  return moves;
}

static void mark_moving(void *context, block_statement *s) {
  finder *f = context;
  block_view *views[BLOCK_VIEWS_MAX];
  const int count = block_views(s, views);
  bool moves = s->kind == BLOCK_LOAD && access_moves(&s->load.access, f->loop);
  if (!block_has_target(s) || s->kind == BLOCK_DOT || views[0]->buffer >= 64) return;
  for (int v = 1; v < count; v++) moves |= views[v]->buffer < 64 && (f->moves >> views[v]->buffer & 1) != 0;
  const uint64_t bit = (uint64_t)moves << views[0]->buffer;
  f->changed |= (f->moves & bit) != bit;
  f->moves |= bit;
}

static void see(void *context, block_statement *s) {
  finder *f = context;
  if (s->kind == BLOCK_DOT && f->dot == NULL) f->dot = s;
  if (s->kind == BLOCK_STORE && f->store == NULL && access_moves(&s->store.access, f->loop))
    f->store = &s->store.access;
}

static block_dim_id dim_of_rows(const block_access *store, int loop) {
  static const block_dim_id by_rank[][4] = {{BLOCK_DIM_K},
                                            {BLOCK_DIM_P, BLOCK_DIM_K},
                                            {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_K},
                                            {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_K}};
  if (store->rank > 4) return BLOCK_DIM_NONE;
  for (int d = 0; d < store->rank; d++)
    if (store->dim[d].offset.per_loop[loop] != 0) return by_rank[store->rank - 1][d];
  return BLOCK_DIM_N;
}

// A loop of the sum: kernel rows and columns by their name.
static block_dim_id dim_of_sum(const char *name) {
  static const struct {
    const char *name;
    block_dim_id dim;
  } names[] = {{"r", BLOCK_DIM_R}, {"kh", BLOCK_DIM_R}, {"ky", BLOCK_DIM_R},
               {"s", BLOCK_DIM_S}, {"kw", BLOCK_DIM_S}, {"kx", BLOCK_DIM_S}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, name) == 0) return names[i].dim;
  return BLOCK_DIM_C;
}

static block_dim_id find_dim(finder *f) {
  const block_program *p = f->program;
  do {
    f->changed = false;
    block_visit(p->body, mark_moving, f);
  } while (f->changed);
  block_visit(p->body, see, f);
  if (f->dot == NULL) return f->store == NULL ? dim_of_sum(p->loops[f->loop].name) : dim_of_rows(f->store, f->loop);
  const bool a = f->dot->dot.a.buffer < 64 && (f->moves >> f->dot->dot.a.buffer & 1) != 0;
  const bool b = f->dot->dot.b.buffer < 64 && (f->moves >> f->dot->dot.b.buffer & 1) != 0;
  if (f->store == NULL) return a || b ? dim_of_sum(p->loops[f->loop].name) : BLOCK_DIM_NONE;
  if (a && b && f->dot->dot.blocks && dim_of_rows(f->store, f->loop) == BLOCK_DIM_K) return BLOCK_DIM_K;
  if (a && b) return BLOCK_DIM_N;
  if (b) return BLOCK_DIM_K;
  return dim_of_rows(f->store, f->loop);
}

static void find_dims(lang_lowerer *l) {
  for (int i = 0; i < l->program->loop_count; i++) {
    finder f = {.program = l->program, .loop = i};
    l->program->loops[i].dim = find_dim(&f);
  }
}

// ---- stores that meet

// Loops that step over what the block and the loops with smaller steps cover along one dimension.
static uint32_t separated_along(const block_program *p, const block_access_dim *dim) {
  const block_affine *offset = &dim->offset;
  int64_t span = dim->step * (dim->size - 1) + 1;
  uint32_t left = 0, separated = 0;
  for (int i = 0; i < p->loop_count; i++)
    if (offset->per_loop[i] != 0 && p->loops[i].trips > 1) left |= (uint32_t)1 << i;
  while (left != 0) {
    int next = __builtin_ctz(left);
    for (int i = 0; i < p->loop_count; i++)
      if ((left >> i & 1) != 0 && llabs(offset->per_loop[i]) < llabs(offset->per_loop[next])) next = i;
    const int64_t step = llabs(offset->per_loop[next]);
    if (step >= span) separated |= (uint32_t)1 << next;
    span += step * (p->loops[next].trips - 1);
    left &= ~((uint32_t)1 << next);
  }
  return separated;
}

typedef struct term {
  int64_t stride, count;
} term;

static int by_stride(const void *a, const void *b) {
  const term *x = a, *y = b;
  return (x->stride > y->stride) - (x->stride < y->stride);
}

// Whether different indexes and different bases are different elements: each stride, of a dimension or of a loop in the
// base, steps over what the smaller ones cover.
static bool is_injective(const block_program *p, const block_access *a) {
  term terms[BLOCK_RANK_MAX + BLOCK_LOOPS_MAX];
  size_t count = 0;
  int64_t span = 1;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].extent > 1) terms[count++] = (term){a->dim[d].stride, a->dim[d].extent};
  for (int i = 0; i < p->loop_count; i++)
    if (a->base.per_loop[i] != 0 && p->loops[i].trips > 1)
      terms[count++] = (term){llabs(a->base.per_loop[i]), p->loops[i].trips};
  qsort(terms, count, sizeof *terms, by_stride);
  for (size_t t = 0; t < count; t++) {
    if (terms[t].stride < span) return false;
    span += terms[t].stride * (terms[t].count - 1);
  }
  return true;
}

static bool is_separated(const block_program *p, const block_access *a) {
  uint32_t separated = 0, parallel = 0;
  for (int d = 0; d < a->rank; d++) separated |= separated_along(p, &a->dim[d]);
  for (int i = 0; i < p->loop_count; i++) {
    if (a->base.per_loop[i] != 0) separated |= (uint32_t)1 << i;
    if (p->loops[i].parallel && p->loops[i].trips > 1) parallel |= (uint32_t)1 << i;
  }
  return parallel == 0 || ((parallel & ~separated) == 0 && is_injective(p, a));
}

typedef struct store_check {
  lang_lowerer *l;
  const block_access *store;  // to compare loads with
  wf_location where;
  bool failed;
} store_check;

static lang_source_span span_of(wf_location where) {
  return (lang_source_span){where.line, where.column, where.line, where.column + 1};
}

static bool same_place(const block_access *a, const block_access *b) {
  if (a->rank != b->rank || !block_affine_equal(&a->base, &b->base)) return false;
  for (int d = 0; d < a->rank; d++) {
    const block_access_dim *x = &a->dim[d], *y = &b->dim[d];
    if (!block_affine_equal(&x->offset, &y->offset) || x->step != y->step || x->size != y->size ||
        x->extent != y->extent || x->stride != y->stride)
      return false;
  }
  return true;
}

static void check_load(void *context, block_statement *s) {
  store_check *c = context;
  if (s->kind != BLOCK_LOAD || s->load.access.tensor != c->store->tensor || same_place(&s->load.access, c->store))
    return;
  if (c->failed) return;
  c->failed = true;
  lang_source_error(c->l->s, c->l->diag, span_of(s->where), "'%s' is read here and written elsewhere",
                    c->l->program->tensors[c->store->tensor].name);
  lang_lower_hint(c->l, "a tensor that is read and written must be so at the same places");
}

static void check_store(void *context, block_statement *s) {
  store_check *c = context;
  if (s->kind != BLOCK_STORE || c->failed) return;
  if (!is_separated(c->l->program, &s->store.access)) {
    c->failed = true;
    lang_source_error(c->l->s, c->l->diag, span_of(s->where),
                      "two programs of the grid store to the same elements of '%s'",
                      c->l->program->tensors[s->store.access.tensor].name);
    return;
  }
  store_check load = {.l = c->l, .store = &s->store.access};
  block_visit(c->l->program->body, check_load, &load);
  c->failed = load.failed;
}

bool lang_lower_finish(lang_lowerer *l) {
  store_check check = {.l = l};
  drop_unused(l);
  size_tensors(l);
  if (l->program->body == NULL) return lang_lower_fail(l, l->instance->kernel->function, "this kernel stores nothing");
  if (!lang_lower_check_wraps(l)) return false;
  lang_lower_spread(l);
  if (!lang_lower_shapes(l) || !lang_lower_parts(l)) return false;
  find_dims(l);
  block_visit(l->program->body, check_store, &check);
  return !check.failed;
}
