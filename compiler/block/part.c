// SPDX-License-Identifier: Apache-2.0
// Programs in parts: see part.h. Only statements at the top count, as order within them is not a fence's affair.
#include "compiler/block/part.h"

#include "compiler/block/build.h"

typedef struct cutter {
  const block_program *program;
  wf_arena *arena;
  bool *stored;  // per tensor, in this part
  bool loads_stored, stores;
} cutter;

static void see_load(void *context, block_statement *s) {
  cutter *c = context;
  if (s->kind == BLOCK_LOAD) c->loads_stored |= c->stored[s->load.access.tensor];
}

static void see_store(void *context, block_statement *s) {
  cutter *c = context;
  if (s->kind != BLOCK_STORE) return;
  c->stores = true;
  c->stored[s->store.access.tensor] = true;
}

// A statement with its body, without what follows it.
static block_statement *alone(const cutter *c, const block_statement *s) {
  block_statement *copy = WF_ARENA_NEW(c->arena, block_statement);
  *copy = *s;
  copy->next = NULL;
  return copy;
}

static block_statement **put(const cutter *c, block_statement **end, const block_statement *s) {
  *end = alone(c, s);
  return &(*end)->next;
}

static bool is_constant(const cutter *c, const block_statement *s) {
  return s->kind == BLOCK_LOAD && c->program->tensors[s->load.access.tensor].contents != NULL;
}

static block_part *begin(const cutter *c) {
  block_part *part = WF_ARENA_NEW(c->arena, block_part);
  *part = (block_part){.program = *c->program};
  part->program.body = NULL;
  return part;
}

static bool reads_stored(cutter *c, block_statement *alone) {
  c->loads_stored = false;
  block_visit(alone, see_load, c);
  return c->loads_stored;
}

static bool stores(cutter *c, block_statement *alone) {
  c->stores = false;
  block_visit(alone, see_store, c);
  return c->stores;
}

static block_statement **end_of(block_statement **list) {
  while (*list != NULL) list = &(*list)->next;
  return list;
}

// The next part begins with what stands behind the last store, which only it can be for.
static block_part *begin_next(cutter *c, block_part *part, block_statement **behind, const block_statement *at) {
  block_part *next = part->next = begin(c);
  block_statement **end = &next->program.body;
  for (const block_statement *s = c->program->body; s != at; s = s->next)
    if (is_constant(c, s)) end = put(c, end, s);
  *end = *behind;
  *behind = NULL;
  c->stored = WF_ARENA_ARRAY(c->arena, (size_t)c->program->tensor_count + 1, bool);
  return next;
}

static void note_buffers(void *context, block_statement *s) {
  bool *buffers = context;
  block_view *views[BLOCK_VIEWS_MAX];
  const int count = block_views(s, views);
  for (int n = 0; n < count; n++) buffers[views[n]->buffer] = true;
}

static void note_all_buffers(const cutter *c, block_part *first) {
  for (block_part *part = first; part != NULL; part = part->next) {
    bool *buffers = WF_ARENA_ARRAY(c->arena, (size_t)c->program->buffer_count + 1, bool);
    block_visit(part->program.body, note_buffers, buffers);
    part->buffers = buffers;
  }
}

block_part *block_parts_of(const block_program *program, wf_arena *arena) {
  cutter c = {
      .program = program, .arena = arena, .stored = WF_ARENA_ARRAY(arena, (size_t)program->tensor_count + 1, bool)};
  block_part *first = begin(&c), *part = first;
  block_statement **behind = &first->program.body;  // the last store
  for (const block_statement *s = program->body; s != NULL; s = s->next) {
    block_statement *own = alone(&c, s);
    // One nest that stores and loads has an order of its own.
    if (reads_stored(&c, own)) {
      part = begin_next(&c, part, behind, s);
      behind = &part->program.body;
    }
    *end_of(behind) = own;
    if (stores(&c, own)) behind = &own->next;
  }
  note_all_buffers(&c, first);
  return first;
}
