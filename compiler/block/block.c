// SPDX-License-Identifier: Apache-2.0
// Making block programs: see block.h. Everything lies in the program's arena; its tables have room for the next power
// of two of their count.
#include "compiler/block/block.h"

#include <assert.h>
#include <string.h>

#include "compiler/block/build.h"

const char *const block_dim_names[BLOCK_DIMS] = {"N", "P", "Q", "K", "C", "R", "S"};
const char *const block_type_names[BLOCK_TYPES] = {"i8", "i32", "f32"};
const char *const block_op_names[BLOCK_OP_COUNT] = {
#define X(NAME, text, arity) text,
    BLOCK_OPS(X)
#undef X
};

int block_op_arity(block_op op) {
  static const int arities[BLOCK_OP_COUNT] = {
#define X(NAME, text, arity) arity,
      BLOCK_OPS(X)
#undef X
  };
  return arities[op];
}

size_t block_type_bytes(block_type type) { return type == BLOCK_I8 ? 1 : 4; }

// ---- programs

block_program *block_create(const char *name) {
  wf_arena *arena = wf_arena_create();
  block_program *program = WF_ARENA_NEW(arena, block_program);
  program->arena = arena;
  program->name = wf_arena_text(arena, name, strlen(name));
  return program;
}

void block_destroy(block_program *program) {
  if (program != NULL) wf_arena_destroy(program->arena);
}

// The table with room for one more element.
static void *grown(wf_arena *arena, void *table, int count, size_t size) {
  size_t used = (size_t)count;
  if ((used & (used - 1)) != 0) return table;
  void *larger = wf_arena_alloc(arena, used == 0 ? 1 : 2 * used, size);
  if (used != 0) memcpy(larger, table, used * size);
  return larger;
}

// The capacity of a table of `count` elements.
static size_t room_for(int count) {
  size_t room = 1;
  while (room < (size_t)count) room *= 2;
  return room;
}

static const char *kept(block_program *program, const char *name) {
  return wf_arena_text(program->arena, name, strlen(name));
}

int block_add_tensor(block_program *program, const char *name, block_type type, int64_t elements) {
  program->tensors = grown(program->arena, program->tensors, program->tensor_count, sizeof(block_tensor));
  program->tensors[program->tensor_count] =
      (block_tensor){.name = kept(program, name), .type = type, .elements = elements};
  return program->tensor_count++;
}

int block_add_constant(block_program *program, const char *name, const int8_t *contents, int64_t elements) {
  int8_t *own = WF_ARENA_ARRAY(program->arena, (size_t)elements, int8_t);
  memcpy(own, contents, (size_t)elements);
  int id = block_add_tensor(program, name, BLOCK_I8, elements);
  program->tensors[id].read = true;
  program->tensors[id].contents = own;
  return id;
}

int block_add_loop(block_program *program, const char *name, int64_t trips, bool parallel) {
  assert(program->loop_count < BLOCK_LOOPS_MAX);
  program->loops = grown(program->arena, program->loops, program->loop_count, sizeof(block_loop));
  program->loops[program->loop_count] = (block_loop){
      .name = kept(program, name), .trips = trips, .parallel = parallel, .dim = BLOCK_DIM_NONE, .split_of = BLOCK_NONE};
  return program->loop_count++;
}

int block_add_buffer(block_program *program, const char *name, block_type type, int rank, const int64_t *size) {
  assert(rank >= 1 && rank <= BLOCK_RANK_MAX);
  program->buffers = grown(program->arena, program->buffers, program->buffer_count, sizeof(block_buffer));
  block_buffer *buffer = &program->buffers[program->buffer_count];
  *buffer = (block_buffer){.name = kept(program, name), .type = type, .rank = rank, .depth = 1};
  memcpy(buffer->size, size, (size_t)rank * sizeof *size);
  return program->buffer_count++;
}

block_statement *block_add(block_program *program, block_statement **list, block_kind kind, wf_location where) {
  while (*list != NULL) list = &(*list)->next;
  *list = WF_ARENA_NEW(program->arena, block_statement);
  (*list)->kind = kind;
  (*list)->where = where;
  return *list;
}

static block_statement *copied(wf_arena *arena, const block_statement *from) {
  block_statement *first = NULL, **end = &first;
  for (; from != NULL; from = from->next, end = &(*end)->next) {
    *end = WF_ARENA_NEW(arena, block_statement);
    **end = *from;
    if (from->kind == BLOCK_FOR) (*end)->loop.body = copied(arena, from->loop.body);
  }
  return first;
}

block_statement *block_copy_list(block_program *program, const block_statement *list) {
  return copied(program->arena, list);
}

block_program *block_copy(const block_program *from) {
  block_program *to = block_create(from->name);
  for (int t = 0; t < from->tensor_count; t++) {
    const block_tensor *tensor = &from->tensors[t];
    int id = tensor->contents != NULL ? block_add_constant(to, tensor->name, tensor->contents, tensor->elements)
                                      : block_add_tensor(to, tensor->name, tensor->type, tensor->elements);
    to->tensors[id].read = tensor->read;
    to->tensors[id].written = tensor->written;
    to->tensors[id].known = tensor->known;
    to->tensors[id].packed = tensor->packed;
    to->tensors[id].working = tensor->working;
  }
  for (int l = 0; l < from->loop_count; l++) {
    int id = block_add_loop(to, from->loops[l].name, 0, false);
    const char *name = to->loops[id].name;
    to->loops[id] = from->loops[l];
    to->loops[id].name = name;
  }
  for (int b = 0; b < from->buffer_count; b++) {
    int id = block_add_buffer(to, from->buffers[b].name, from->buffers[b].type, 1, from->buffers[b].size);
    const char *name = to->buffers[id].name;
    to->buffers[id] = from->buffers[b];
    to->buffers[id].name = name;
  }
  to->body = copied(to->arena, from->body);
  to->style = from->style;
  to->dataflow = from->dataflow;
  return to;
}

// Marks the buffers that a list names in `place`, or replaces them by what stands there.
static void rename_buffers(block_statement *list, int *place, bool replace) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    int count = block_views(list, views);
    for (int v = 0; v < count; v++) {
      if (replace)
        views[v]->buffer = place[views[v]->buffer];
      else
        place[views[v]->buffer] = 1;
    }
    if (list->kind == BLOCK_FOR) rename_buffers(list->loop.body, place, replace);
  }
}

const char *block_fresh_name(const block_program *program, const char *stem, const char *suffix) {
  char *name = wf_arena_format(program->arena, "%s%s", stem, suffix);
  for (int n = 2;; n++) {
    bool taken = false;
    for (int l = 0; l < program->loop_count; l++) taken |= strcmp(program->loops[l].name, name) == 0;
    for (int b = 0; b < program->buffer_count; b++) taken |= strcmp(program->buffers[b].name, name) == 0;
    for (int t = 0; t < program->tensor_count; t++) taken |= strcmp(program->tensors[t].name, name) == 0;
    if (!taken) return name;
    name = wf_arena_format(program->arena, "%s%s%d", stem, suffix, n);
  }
}

void block_drop_unused_buffers(block_program *program) {
  int *place = WF_ARENA_ARRAY(program->arena, (size_t)program->buffer_count + 1, int);
  rename_buffers(program->body, place, false);
  int count = 0;
  for (int b = 0; b < program->buffer_count; b++) {
    if (place[b] == 0) continue;
    program->buffers[count] = program->buffers[b];
    place[b] = count++;
  }
  program->buffer_count = count;
  block_buffer *buffers = WF_ARENA_ARRAY(program->arena, room_for(count), block_buffer);
  if (count != 0) memcpy(buffers, program->buffers, (size_t)count * sizeof *buffers);
  program->buffers = buffers;
  rename_buffers(program->body, place, true);
}

// ---- affine indexes

int64_t block_affine_at(const block_affine *affine, const int64_t *iteration) {
  int64_t value = affine->constant;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++)
    if (affine->per_loop[l] != 0) value += affine->per_loop[l] * iteration[l];
  return value;
}

block_affine block_constant(int64_t value) { return (block_affine){.constant = value}; }

block_affine block_term(int loop, int64_t factor) {
  assert(loop >= 0 && loop < BLOCK_LOOPS_MAX);
  block_affine affine = {0};
  affine.per_loop[loop] = factor;
  return affine;
}

block_affine block_affine_add(block_affine a, block_affine b) {
  a.constant += b.constant;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++) a.per_loop[l] += b.per_loop[l];
  return a;
}

block_affine block_affine_times(block_affine a, int64_t factor) {
  a.constant *= factor;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++) a.per_loop[l] *= factor;
  return a;
}

bool block_affine_equal(const block_affine *a, const block_affine *b) { return memcmp(a, b, sizeof *a) == 0; }

bool block_affine_is_constant(const block_affine *affine) {
  const block_affine constant = {.constant = affine->constant};
  return block_affine_equal(affine, &constant);
}

uint32_t block_affine_loops(const block_affine *affine) {
  uint32_t loops = 0;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++)
    if (affine->per_loop[l] != 0) loops |= UINT32_C(1) << l;
  return loops;
}

// Loop `from` was i; it becomes outer * trips + inner.
block_affine block_affine_split(block_affine affine, int from, int outer, int inner, int64_t inner_trips) {
  int64_t factor = affine.per_loop[from];
  affine.per_loop[from] = 0;
  affine.per_loop[outer] += factor * inner_trips;
  affine.per_loop[inner] += factor;
  return affine;
}

// ---- views

block_view block_whole(const block_program *program, int buffer) {
  const block_buffer *b = &program->buffers[buffer];
  block_view view = {.buffer = buffer};
  for (int d = 0; d < b->rank; d++) view.dim[d] = (block_view_dim){.step = 1, .size = b->size[d]};
  return view;
}

bool block_view_equal(const block_program *program, const block_view *a, const block_view *b) {
  if (a->buffer != b->buffer) return false;
  for (int d = 0; d < program->buffers[a->buffer].rank; d++)
    if (!block_affine_equal(&a->dim[d].offset, &b->dim[d].offset) || a->dim[d].size != b->dim[d].size ||
        (a->dim[d].step != b->dim[d].step && a->dim[d].size > 1))
      return false;
  return true;
}

bool block_is_whole(const block_program *program, const block_view *view) {
  const block_view whole = block_whole(program, view->buffer);
  return block_view_equal(program, view, &whole);
}

// ---- what statements touch

int block_views(block_statement *statement, block_view *views[BLOCK_VIEWS_MAX]) {
  int count = 0;
  switch (statement->kind) {
    case BLOCK_FOR:
      break;
    case BLOCK_LOAD:
      views[count++] = &statement->load.target;
      break;
    case BLOCK_DOT:
      views[count++] = &statement->dot.target;
      views[count++] = &statement->dot.a;
      views[count++] = &statement->dot.b;
      break;
    case BLOCK_ELEMENTWISE:
      views[count++] = &statement->elementwise.target;
      if (!statement->elementwise.a.is_number) views[count++] = &statement->elementwise.a.view;
      if (block_op_arity(statement->elementwise.op) == 2 && !statement->elementwise.b.is_number)
        views[count++] = &statement->elementwise.b.view;
      break;
    case BLOCK_STORE:
      views[count++] = &statement->store.source;
      if (statement->store.apart) views[count++] = &statement->store.statistics;
      if (statement->store.gated) views[count++] = &statement->store.factors;
      break;
  }
  return count;
}

bool block_is_shared(const block_program *program, const block_statement *dot) {
  return dot->dot.blocks && program->buffers[dot->dot.b.buffer].rank == 2;
}

bool block_has_target(const block_statement *statement) {
  return statement->kind != BLOCK_FOR && statement->kind != BLOCK_STORE;
}

bool block_is_written(block_statement *list, int buffer) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    if (list->kind == BLOCK_FOR && block_is_written(list->loop.body, buffer)) return true;
    if (block_has_target(list) && block_views(list, views) > 0 && views[0]->buffer == buffer) return true;
  }
  return false;
}

bool block_accumulates(const block_statement *statement) {
  if (statement->kind == BLOCK_LOAD) return statement->load.accumulate;
  return statement->kind == BLOCK_DOT && statement->dot.accumulate;
}

uint32_t block_overwrite_first(const block_statement *statement) {
  if (statement->kind == BLOCK_LOAD) return statement->load.overwrite_first;
  return statement->kind == BLOCK_DOT ? statement->dot.overwrite_first : 0;
}

block_access *block_memory(block_statement *statement) {
  if (statement->kind == BLOCK_LOAD) return &statement->load.access;
  return statement->kind == BLOCK_STORE ? &statement->store.access : NULL;
}

void block_visit(block_statement *list, void (*visit)(void *context, block_statement *statement), void *context) {
  for (; list != NULL; list = list->next) {
    visit(context, list);
    if (list->kind == BLOCK_FOR) block_visit(list->loop.body, visit, context);
  }
}

int64_t block_before_image(const block_statement *store, int d, const int64_t *iteration) {
  enum { FAR = -(1 << 30) };  // all of the source is before the image
  const block_pool *pool = &store->store.epilogue.pool;
  int64_t at = block_affine_at(&store->store.access.dim[d].offset, iteration);
  if (pool->border == 0 || at >= pool->border) return 0;
  if (at < FAR) at = FAR;
  const int64_t first = at * pool->stride - pool->border;
  return first < 0 ? -first : 0;
}

int64_t block_length_of(const block_lengths *lengths, int64_t row, int64_t width, const int64_t *iteration) {
  if (lengths->most == 0) return width;
  const int64_t length = block_affine_at(&lengths->first, iteration) + lengths->step * row;
  const int64_t most = lengths->most < width ? lengths->most : width;
  return length > most ? most : length < 1 ? 1 : length;
}

void block_visit_affine(const block_program *program, block_statement *statement,
                        void (*visit)(void *context, block_affine *affine), void *context) {
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(statement, views);
  for (int v = 0; v < count; v++)
    for (int d = 0; d < program->buffers[views[v]->buffer].rank; d++) visit(context, &views[v]->dim[d].offset);
  block_access *access = block_memory(statement);
  if (access == NULL) return;
  if (statement->kind == BLOCK_STORE && statement->store.lengths.most != 0)
    visit(context, &statement->store.lengths.first);
  visit(context, &access->base);
  for (int d = 0; d < access->rank; d++) visit(context, &access->dim[d].offset);
}
