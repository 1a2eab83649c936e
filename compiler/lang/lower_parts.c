// SPDX-License-Identifier: Apache-2.0
// A program with parked blocks in parts: see lower.h.
//
// Every iteration of the loops around a store of a parked block has a place of its own in its memory, so that all
// iterations may be over before the first block is loaded back. The program then becomes one after the other of its
// parts: part n has the stores that need n blocks to have been parked one after the other, and what these stores need.
// What a part needs of values that an earlier one computed it computes again, or loads.
#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

typedef struct parts {
  lang_lowerer *l;
  int *of_buffer;  // the part that writes it last
  int *of_tensor;  // of memory of parked blocks: the part that stores
  bool changed, failed;
} parts;

static bool refuse(parts *p, const block_statement *s, const char *what, const char *way_on) {
  const lang_source_span span = {s->where.line, s->where.column, s->where.line, s->where.column + 1};
  if (!p->failed) {
    lang_source_error(p->l->s, p->l->diag, span, "%s", what);
    lang_lower_hint(p->l, "%s", way_on);
  }
  p->failed = true;
  return false;
}

// ---- places

static bool is_parking(const lang_lowerer *l, const block_statement *s) {
  return s->kind == BLOCK_STORE && lang_lower_is_working(l, s->store.access.tensor);
}

// A block that the loop does not compute is parked once, in front of it.
static bool leaves(const lang_lowerer *l, const block_statement *s, const block_statement *loop) {
  return is_parking(l, s) && !block_is_written(loop->loop.body, s->store.source.buffer) &&
         s->store.lengths.first.per_loop[loop->loop.loop] == 0 &&
         !(s->store.apart && block_is_written(loop->loop.body, s->store.statistics.buffer));
}

static void move_out(const lang_lowerer *l, block_statement **list) {
  for (block_statement **at = list; *at != NULL; at = &(*at)->next) {
    block_statement *loop = *at;
    if (loop->kind != BLOCK_FOR) continue;
    move_out(l, &loop->loop.body);
    for (block_statement **from = &loop->loop.body; *from != NULL;) {
      block_statement *s = *from;
      if (!leaves(l, s, loop)) {
        from = &s->next;
        continue;
      }
      *from = s->next;
      s->next = loop;
      *at = s;
      at = &s->next;
    }
  }
}

typedef struct placing {
  parts *p;
  int tensor;
  block_affine base;
} placing;

static void place_access(void *context, block_statement *s) {
  const placing *at = context;
  block_access *access = block_memory(s);
  if (access != NULL && access->tensor == at->tensor) access->base = block_affine_add(access->base, at->base);
}

static void place_store(parts *p, const block_statement *s, const int *around, int count) {
  const block_access *a = &s->store.access;
  block_tensor *tensor = &p->l->program->tensors[a->tensor];
  placing at = {.p = p, .tensor = a->tensor};
  int64_t elements = 1;
  for (int d = 0; d < a->rank; d++) elements *= a->dim[d].size;
  for (int i = count; i-- > 0;) {
    at.base = block_affine_add(at.base, block_term(around[i], elements));
    if (__builtin_mul_overflow(elements, p->l->program->loops[around[i]].trips, &elements))
      refuse(p, s, "the blocks that this is of all programs do not fit in memory", "use fewer programs");
  }
  block_visit(p->l->program->body, place_access, &at);
  tensor->elements = elements;
  tensor->working = true;
}

static void place_list(parts *p, const block_statement *list, int *around, int count) {
  for (; list != NULL; list = list->next) {
    if (is_parking(p->l, list)) place_store(p, list, around, count);
    if (list->kind != BLOCK_FOR) continue;
    around[count] = list->loop.loop;
    place_list(p, list->loop.body, around, count + 1);
  }
}

// ---- which part a statement belongs to

static int part_of(const parts *p, block_statement *s) {
  block_view *views[BLOCK_VIEWS_MAX];
  int part = 0;
  for (int v = 0, count = block_views(s, views); v < count; v++) part = wf_max(part, p->of_buffer[views[v]->buffer]);
  if (s->kind == BLOCK_LOAD && lang_lower_is_working(p->l, s->load.access.tensor))
    part = wf_max(part, p->of_tensor[s->load.access.tensor] + 1);
  return part;
}

static void raise(parts *p, int *part, int to) {
  p->changed |= *part < to;
  *part = wf_max(*part, to);
}

static void find_part(void *context, block_statement *s) {
  parts *p = context;
  block_view *views[BLOCK_VIEWS_MAX];
  if (s->kind == BLOCK_FOR || p->failed) return;
  const int part = part_of(p, s);
  if (block_has_target(s) && block_views(s, views) > 0) raise(p, &p->of_buffer[views[0]->buffer], part);
  if (is_parking(p->l, s)) raise(p, &p->of_tensor[s->store.access.tensor], part);
  if (part > p->l->parked)
    refuse(p, s, "this block is computed of a product that it is an operand of itself",
           "a product of what an earlier iteration computed needs a kernel per iteration");
}

static void find_parts(parts *p) {
  do {
    p->changed = false;
    block_visit(p->l->program->body, find_part, p);
  } while (p->changed && !p->failed);
}

// ---- tensors of the kernel

static void check_tensor(void *context, block_statement *s) {
  parts *p = context;
  const block_access *a = block_memory(s);
  if (s->kind != BLOCK_STORE || p->failed || lang_lower_is_working(p->l, a->tensor)) return;
  int *seen = &p->of_tensor[a->tensor];
  const int part = part_of(p, s) + 1;  // 0: there was no store yet
  if (p->l->program->tensors[a->tensor].read)
    refuse(p, s, "a tensor that is read, too, is stored where a computed block is multiplied",
           "store to a tensor of its own");
  else if (*seen != 0 && *seen != part)
    refuse(p, s, "a tensor is stored before and behind the product of a computed block",
           "store to two tensors, or in two kernels");
  *seen = part;
}

// ---- parts

static int last_part(const parts *p) {
  int last = 0;
  for (int b = 0; b < p->l->program->buffer_count; b++) last = wf_max(last, p->of_buffer[b]);
  return last;
}

static void keep_stores(const parts *p, block_statement **list, int part) {
  while (*list != NULL) {
    if ((*list)->kind == BLOCK_FOR) keep_stores(p, &(*list)->loop.body, part);
    if ((*list)->kind == BLOCK_STORE && part_of(p, *list) != part)
      *list = (*list)->next;
    else
      list = &(*list)->next;
  }
}

static void cut(const parts *p) {
  block_program *program = p->l->program;
  block_statement *all = NULL, **end = &all;
  const int last = last_part(p);
  for (int part = 0; part <= last; part++) {
    *end = block_copy_list(program, program->body);
    keep_stores(p, end, part);
    lang_lower_drop_unused(p->l, end);
    while (*end != NULL) end = &(*end)->next;
  }
  program->body = all;
}

// ---- memory that no statement uses

typedef struct numbers {  // per tensor
  bool *used;
  int *of;
} numbers;

static void see_tensor(void *context, block_statement *s) {
  numbers *n = context;
  if (block_memory(s) != NULL) n->used[block_memory(s)->tensor] = true;
}

static void number_tensor(void *context, block_statement *s) {
  const numbers *n = context;
  if (block_memory(s) != NULL) block_memory(s)->tensor = n->of[block_memory(s)->tensor];
}

// Blocks that were parked for what is not used.
static void drop_tensors(lang_lowerer *l) {
  block_program *program = l->program;
  const size_t room = (size_t)program->tensor_count + 1;
  numbers n = {WF_ARENA_ARRAY(l->arena, room, bool), WF_ARENA_ARRAY(l->arena, room, int)};
  int count = l->param_tensors;
  for (int t = 0; t < count; t++) n.of[t] = t;
  block_visit(program->body, see_tensor, &n);
  for (int t = count; t < program->tensor_count; t++) {
    n.of[t] = count;
    program->tensors[count] = program->tensors[t];
    if (n.used[t]) count++;
  }
  block_visit(program->body, number_tensor, &n);
  program->tensor_count = count;
  l->parked = count - l->param_tensors;
}

bool lang_lower_parts(lang_lowerer *l) {
  drop_tensors(l);
  const size_t buffers = (size_t)l->program->buffer_count + 1, tensors = (size_t)l->program->tensor_count + 1;
  int around[BLOCK_LOOPS_MAX];
  if (l->parked == 0) return true;
  parts p = {
      .l = l, .of_buffer = WF_ARENA_ARRAY(l->arena, buffers, int), .of_tensor = WF_ARENA_ARRAY(l->arena, tensors, int)};
  move_out(l, &l->program->body);
  place_list(&p, l->program->body, around, 0);
  find_parts(&p);
  if (!p.failed) block_visit(l->program->body, check_tensor, &p);
  if (!p.failed) cut(&p);
  return !p.failed;
}
