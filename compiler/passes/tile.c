// SPDX-License-Identifier: Apache-2.0
// Splits the loops of a program in two and puts them in the order of the mapping.
//
// A loop over a dimension with factors sp and dram becomes an outer loop of dram trips with an inner one of sp trips in
// it; iterations behind the end of the loop do not run (block_loop.limit). Then each perfect nest, a chain of loops
// with nothing between them, is sorted by the positions of the mapping. Statements stay where they are: loads of a bias
// and stores around a reduction keep their place between the loops of results and the loops of the sum.
//
// Iterations of a nest may run in any order if what they do to memory does not meet, and if each buffer is either set
// anew in every iteration, or only read, or only accumulated into. A sum that overwrites in its first iteration
// may be reordered if it sums over every loop of the nest whose iterations have the same result.
#include <inttypes.h>

#include "compiler/block/build.h"
#include "compiler/block/range.h"
#include "compiler/passes/passes.h"

enum { NO_POSITION = -1 };

typedef struct tiler {
  block_program *program;
  const map_mapping *mapping;
  wf_diag *diag;
  int position[BLOCK_LOOPS_MAX];  // of each loop in the mapping, or NO_POSITION
  bool ok;
} tiler;

// ---- splitting

typedef struct split {
  const block_program *program;
  int from, inner;
  int64_t trips;
} split;

static void split_index(void *context, block_affine *affine) {
  const split *s = context;
  *affine = block_affine_split(*affine, s->from, s->from, s->inner, s->trips);
}

static uint32_t split_bits(uint32_t loops, const split *s) {
  return (loops >> s->from & 1) != 0 ? loops | UINT32_C(1) << s->inner : loops;
}

static void split_list(const split *s, block_program *program, block_statement *list) {
  for (; list != NULL; list = list->next) {
    block_visit_affine(program, list, split_index, (void *)(uintptr_t)s);
    if (list->kind == BLOCK_DOT) list->dot.overwrite_first = split_bits(list->dot.overwrite_first, s);
    if (list->kind == BLOCK_LOAD) list->load.overwrite_first = split_bits(list->load.overwrite_first, s);
    if (list->kind != BLOCK_FOR) continue;
    split_list(s, program, list->loop.body);
    if (list->loop.loop != s->from) continue;
    block_statement *inner = NULL;
    block_add(program, &inner, BLOCK_FOR, list->where)->loop.loop = s->inner;
    inner->loop.body = list->loop.body;
    list->loop.body = inner;
  }
}

static void split_loop(block_program *program, int loop, int64_t outer_trips, int64_t inner_trips) {
  const char *name = block_fresh_name(program, program->loops[loop].name, "_in");
  const split s = {program, loop, block_add_loop(program, name, inner_trips, program->loops[loop].parallel),
                   inner_trips};
  block_loop *outer = &program->loops[loop], *inner = &program->loops[s.inner];
  inner->dim = outer->dim;
  inner->split_of = loop;
  inner->limit = outer->trips;
  outer->trips = outer_trips;
  split_list(&s, program, program->body);
}

static uint32_t loops_in(const block_statement *list) {
  uint32_t loops = 0;
  for (; list != NULL; list = list->next)
    if (list->kind == BLOCK_FOR) loops |= UINT32_C(1) << list->loop.loop | loops_in(list->loop.body);
  return loops;
}

// The last loop over a dimension that is not the inner one of a split, their number, and the trips of all together.
// Loops that went into other statements do not count.
static int loops_over(const block_program *program, block_dim_id dim, int *loop, int64_t *trips) {
  const uint32_t used = loops_in(program->body);
  int count = 0;
  *trips = 1;
  for (int l = 0; l < program->loop_count; l++) {
    if ((used >> l & 1) == 0 || program->loops[l].dim != dim || program->loops[l].split_of != BLOCK_NONE ||
        program->loops[l].trips == 1)
      continue;
    *loop = l;
    *trips = block_times(*trips, program->loops[l].trips);
    count++;
  }
  return count;
}

static bool is_split(const block_program *program, int loop) {
  for (int l = 0; l < program->loop_count; l++)
    if (program->loops[l].split_of == loop) return true;
  return false;
}

// Whether there was a loop over the dimension that went into other statements.
static bool is_declared(const block_program *program, block_dim_id dim) {
  for (int l = 0; l < program->loop_count; l++)
    if (program->loops[l].dim == dim) return true;
  return false;
}

static bool tile_dim(tiler *t, block_dim_id dim) {
  int64_t sp = t->mapping->sp[dim], dram = t->mapping->dram[dim], trips;
  int loop = BLOCK_NONE, count = loops_over(t->program, dim, &loop, &trips);
  if (count == 0 && (sp * dram <= 1 || is_declared(t->program, dim))) return true;
  if (count == 1 && is_split(t->program, loop)) {
    wf_error(t->diag, wf_in_file("mapping"), "the loop over %s, '%s', is split already", block_dim_names[dim],
             t->program->loops[loop].name);
    return false;
  }
  if ((count > 1 && sp > 1 && dram > 1) || sp < 1 || dram < 1 || sp > trips || sp * (dram - 1) >= trips ||
      sp * dram < trips) {
    wf_error(t->diag, wf_in_file("mapping"),
             "%" PRId64 " * %" PRId64 " trips over %s, the program has %d loop%s with %" PRId64, dram, sp,
             block_dim_names[dim], count, count == 1 ? "" : "s", trips);
    return false;
  }
  if (sp > 1 && dram > 1) {
    if (t->program->loop_count == BLOCK_LOOPS_MAX) {
      wf_error(t->diag, wf_in_file("mapping"), "more than %d loops", BLOCK_LOOPS_MAX);
      return false;
    }
    split_loop(t->program, loop, dram, sp);
  }
  return true;
}

// ---- loops of one trip

static void clear_index(void *context, block_affine *affine) { affine->per_loop[*(const int *)context] = 0; }

static void clear_loop(block_program *program, block_statement *list, int loop) {
  uint32_t others = ~(UINT32_C(1) << loop);
  for (; list != NULL; list = list->next) {
    block_visit_affine(program, list, clear_index, &loop);
    if (list->kind == BLOCK_DOT) list->dot.overwrite_first &= others;
    if (list->kind == BLOCK_LOAD) list->load.overwrite_first &= others;
    if (list->kind == BLOCK_FOR) clear_loop(program, list->loop.body, loop);
  }
}

static void drop_single_trips(block_program *program, block_statement **list) {
  while (*list != NULL) {
    block_statement *s = *list;
    if (s->kind != BLOCK_FOR || program->loops[s->loop.loop].trips != 1) {
      if (s->kind == BLOCK_FOR) drop_single_trips(program, &s->loop.body);
      list = &s->next;
      continue;
    }
    clear_loop(program, s->loop.body, s->loop.loop);
    block_statement **end = &s->loop.body;
    while (*end != NULL) end = &(*end)->next;
    *end = s->next;
    *list = s->loop.body;
  }
}

// ---- order

static void find_positions(tiler *t) {
  for (int l = 0; l < t->program->loop_count; l++) {
    const block_loop *loop = &t->program->loops[l];
    t->position[l] = NO_POSITION;
    if (loop->dim == BLOCK_DIM_NONE) continue;
    bool inner = loop->split_of != BLOCK_NONE || t->mapping->dram[loop->dim] == 1;
    t->position[l] = map_position(t->mapping, loop->dim, inner);
  }
}

// ---- nests

typedef struct nest {
  block_statement *loops[BLOCK_LOOPS_MAX];  // outermost first
  int order[BLOCK_LOOPS_MAX];               // their loop ids
  int count;
  uint32_t outside;  // loops around the nest
  block_statement *body;
} nest;

static nest nest_at(block_statement *loop, uint32_t outside) {
  nest n = {.outside = outside};
  while (loop != NULL && loop->kind == BLOCK_FOR && n.count < BLOCK_LOOPS_MAX) {
    n.loops[n.count] = loop;
    n.order[n.count++] = loop->loop.loop;
    n.body = loop->loop.body;
    loop = n.body != NULL && n.body->next == NULL ? n.body : NULL;
  }
  return n;
}

// Sorts the ids by position; loops that the mapping does not know stay outside. False: they were in order.
static bool sort_loops(const tiler *t, nest *n) {
  bool moved = false;
  for (int i = 1; i < n->count; i++)
    for (int j = i; j > 0 && t->position[n->order[j]] < t->position[n->order[j - 1]]; j--) {
      int before = n->order[j];
      n->order[j] = n->order[j - 1];
      n->order[j - 1] = before;
      moved = true;
    }
  return moved;
}

// ---- whether iterations may run in any order

typedef struct checker {
  const tiler *t;
  const nest *n;
  bool *fresh;  // buffers that this iteration has set
  const block_statement *accesses[64];
  int access_count;
  const block_statement *reason;  // why not
} checker;

// Whether two iterations of the nest that differ in more than the loops `without` never touch the same elements.
static bool are_apart(const checker *c, const block_view *a, const block_view *b, const block_access *x,
                      const block_access *y, uint32_t without) {
  uint32_t outside = c->n->outside;
  for (int l = 0; l < c->n->count; l++) {
    int loop = c->n->loops[l]->loop.loop;
    bool apart =
        (without >> loop & 1) != 0 || (a != NULL ? block_views_disjoint(c->t->program, loop, outside, a, b)
                                                 : block_accesses_disjoint(c->t->program, loop, outside, x, y));
    if (!apart) return false;
    if ((without >> loop & 1) == 0) outside |= UINT32_C(1) << loop;
  }
  return true;
}

static uint32_t loops_of(const nest *n) {
  uint32_t loops = 0;
  for (int l = 0; l < n->count; l++) loops |= UINT32_C(1) << n->loops[l]->loop.loop;
  return loops;
}

// A write that does not depend on what the buffer had when the iteration began.
static bool sets(const checker *c, const block_statement *s) {
  return block_has_target(s) && !block_accumulates(s) && (block_overwrite_first(s) & loops_of(c->n)) == 0;
}

static bool is_accumulation(const block_statement *s) { return block_accumulates(s) || block_overwrite_first(s) != 0; }

// Accumulation over the nest: sums in any order are equal; one that overwrites first must have all loops of the nest
// that meet in its target.
static bool may_accumulate(const checker *c, const block_statement *s, const block_view *target) {
  uint32_t first = block_overwrite_first(s);
  return first == 0 || are_apart(c, target, target, NULL, NULL, first);
}

// Whether anything but accumulation touches the buffer.
static bool is_used_otherwise(block_statement *list, int buffer) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    int count = block_views(list, views);
    for (int v = 0; v < count; v++)
      if (views[v]->buffer == buffer && (v > 0 || !is_accumulation(list))) return true;
    if (list->kind == BLOCK_FOR && is_used_otherwise(list->loop.body, buffer)) return true;
  }
  return false;
}

static bool is_set_in(const checker *c, block_statement *list, int buffer) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    if (block_has_target(list) && block_views(list, views) > 0 && views[0]->buffer == buffer) return true;
    if (list->kind == BLOCK_FOR && is_set_in(c, list->loop.body, buffer)) return true;
  }
  return false;
}

static void check_statement(checker *c, block_statement *s) {
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(s, views);
  bool set = sets(c, s);
  for (int v = set ? 1 : 0; v < count; v++) {
    int buffer = views[v]->buffer;
    bool accumulates = v == 0 && is_accumulation(s) && !is_used_otherwise(c->n->body, buffer);
    bool fine =
        c->fresh[buffer] || (accumulates && may_accumulate(c, s, views[v])) || !is_set_in(c, c->n->body, buffer);
    if (!fine) c->reason = s;
  }
  // What is set inside of loops of the body is set before anything behind it: each runs once at least.
  if (set && block_is_whole(c->t->program, views[0])) c->fresh[views[0]->buffer] = true;
  if (block_memory(s) == NULL) return;
  if (c->access_count < (int)(sizeof c->accesses / sizeof *c->accesses))
    c->accesses[c->access_count++] = s;
  else
    c->reason = s;
}

static void visit_statement(void *context, block_statement *s) { check_statement(context, s); }

static void check_memory(checker *c) {
  for (int i = 0; i < c->access_count; i++)
    for (int j = i; j < c->access_count; j++) {
      const block_statement *a = c->accesses[i], *b = c->accesses[j];
      if (a->kind != BLOCK_STORE && b->kind != BLOCK_STORE) continue;
      const block_access *x = block_memory((block_statement *)(uintptr_t)a);
      const block_access *y = block_memory((block_statement *)(uintptr_t)b);
      if (!are_apart(c, NULL, NULL, x, y, 0)) c->reason = a->kind == BLOCK_STORE ? a : b;
    }
}

// The statement because of which the nest must stay in order, or NULL.
static const block_statement *obstacle(const tiler *t, const nest *n) {
  checker c = {.t = t, .n = n};
  c.fresh = WF_ARENA_ARRAY(t->program->arena, (size_t)t->program->buffer_count + 1, bool);
  block_visit(n->body, visit_statement, &c);
  check_memory(&c);
  return c.reason;
}

// ---- putting them in order

static void order_list(tiler *t, block_statement *list, uint32_t outside, int innermost);

static void order_nest(tiler *t, block_statement *loop, uint32_t outside, int innermost) {
  nest n = nest_at(loop, outside);
  if (sort_loops(t, &n)) {
    const block_statement *reason = obstacle(t, &n);
    if (reason != NULL) {
      wf_error(t->diag, reason->where, "this statement does not let the loops around it run in another order");
      wf_hint(t->diag, "leave their order as in the kernel: '%s' outermost",
              t->program->loops[n.loops[0]->loop.loop].name);
      t->ok = false;
      return;
    }
  }
  for (int l = 0; l < n.count; l++) {
    n.loops[l]->loop.loop = n.order[l];
    if (t->position[n.order[l]] >= innermost) {
      innermost = t->position[n.order[l]];
      continue;
    }
    wf_error(t->diag, n.loops[l]->where, "the mapping has loop '%s' outside of loops around it",
             t->program->loops[n.order[l]].name);
    wf_hint(t->diag, "statements between the loops keep them apart; sums are complete before other loops go on");
    t->ok = false;
    return;
  }
  order_list(t, n.body, outside | loops_of(&n), innermost);
}

static void order_list(tiler *t, block_statement *list, uint32_t outside, int innermost) {
  for (; list != NULL && t->ok; list = list->next)
    if (list->kind == BLOCK_FOR) order_nest(t, list, outside, innermost);
}

static bool is_given(const map_mapping *mapping) {
  for (int d = 0; mapping != NULL && d < BLOCK_DIMS; d++)
    if (mapping->tile[d] != 0) return true;
  return false;
}

bool pass_tile(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  (void)array;
  if (!is_given(mapping)) return true;
  tiler t = {.program = program, .mapping = mapping, .diag = diag, .ok = true};
  drop_single_trips(program, &program->body);
  for (int d = 0; d < BLOCK_DIMS; d++)
    if (!tile_dim(&t, (block_dim_id)d)) return false;
  program->style = (block_style)mapping->style;
  program->dataflow = (block_dataflow)mapping->dataflow;
  find_positions(&t);
  order_list(&t, program->body, 0, NO_POSITION);
  return t.ok;
}
