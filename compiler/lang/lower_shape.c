// SPDX-License-Identifier: Apache-2.0
// Buffers of blocks that are reshaped: (8, 8, 64) is (64, 64) to dot() and (8, 8, 64) again to store().
//
// A reshape that keeps the last dimension makes no statement, so one buffer may stand for values of several shapes.
// Operations on elements want their buffers to have the same number of dimensions. Buffers that such operations connect
// get the shape with most dimensions that a load, a store or one of them has; the others follow it, as they have all of
// its rows or one, all of its columns or one. Products do not mind: they count rows.
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

typedef struct shape {
  int rank;
  int64_t size[BLOCK_RANK_MAX];
} shape;

typedef struct shaper {
  lang_lowerer *l;
  int *group;     // per buffer: a buffer that stands for all it is connected with
  shape *wanted;  // per buffer that stands for others
  bool failed;
} shaper;

static int group_of(const shaper *s, int buffer) {
  while (s->group[buffer] != buffer) buffer = s->group[buffer];
  return buffer;
}

static void connect(void *context, block_statement *statement) {
  shaper *s = context;
  block_view *views[BLOCK_VIEWS_MAX];
  if (statement->kind != BLOCK_ELEMENTWISE) return;
  const int count = block_views(statement, views);
  for (int v = 1; v < count; v++) s->group[group_of(s, views[v]->buffer)] = group_of(s, views[0]->buffer);
}

static void want(shaper *s, int buffer, int rank, const int64_t *size) {
  shape *wanted = &s->wanted[group_of(s, buffer)];
  int64_t count = 1, most = 1;
  for (int d = 0; d < rank; d++) count *= size[d];
  for (int d = 0; d < wanted->rank; d++) most *= wanted->size[d];
  if (rank < wanted->rank || (rank == wanted->rank && count <= most)) return;
  wanted->rank = rank;
  memcpy(wanted->size, size, (size_t)rank * sizeof *size);
}

static void want_of_store(void *context, block_statement *statement) {
  int64_t size[BLOCK_RANK_MAX];
  if (statement->kind != BLOCK_STORE) return;
  const block_access *a = &statement->store.access;
  const block_pool *pool = &statement->store.epilogue.pool;
  for (int d = 0; d < a->rank; d++) size[d] = a->dim[d].size;
  for (int d = 1; d <= 2 && pool->stride != 0; d++) size[d] = (size[d] - 1) * pool->stride + pool->size;
  want(context, statement->store.source.buffer, a->rank, size);
}

// The shape of a buffer among the shapes that it goes with; false if it has neither all of their rows nor one.
static bool fit(const shape *wanted, const block_buffer *buffer, shape *fitted) {
  int64_t rows = 1, all_rows = 1;
  for (int d = 0; d + 1 < buffer->rank; d++) rows *= buffer->size[d];
  for (int d = 0; d + 1 < wanted->rank; d++) all_rows *= wanted->size[d];
  const int64_t columns = buffer->size[buffer->rank - 1];
  if ((rows != 1 && rows != all_rows) || (columns != 1 && columns != wanted->size[wanted->rank - 1])) return false;
  fitted->rank = wanted->rank;
  for (int d = 0; d + 1 < wanted->rank; d++) fitted->size[d] = rows == 1 ? 1 : wanted->size[d];
  fitted->size[wanted->rank - 1] = columns;
  return true;
}

static bool refuse(shaper *s, wf_location where, const char *buffer) {
  const lang_source_span span = {where.line, where.column, where.line, where.column + 1};
  if (!s->failed)
    lang_source_error(s->l->s, s->l->diag, span, "the shapes that '%s' takes here do not go together", buffer);
  if (!s->failed) lang_lower_hint(s->l, "give the block one shape from its first use to its last");
  s->failed = true;
  return false;
}

static void change_statement(void *context, block_statement *statement) {
  shaper *s = context;
  block_view *views[BLOCK_VIEWS_MAX];
  const int count = block_views(statement, views);
  for (int v = 0; v < count; v++) *views[v] = block_whole(s->l->program, views[v]->buffer);
  block_access *access = block_memory(statement), changed;
  if (access == NULL || s->failed) return;
  const block_buffer *buffer = &s->l->program->buffers[views[0]->buffer];
  if (access->rank == buffer->rank) return;
  if (lang_lower_reshape_access(s->l, access, buffer->size, buffer->rank, &changed))
    *access = changed;
  else
    refuse(s, statement->where, buffer->name);
}

static bool has_other_rank(const shaper *s, int buffer) {
  return s->wanted[group_of(s, buffer)].rank != s->l->program->buffers[buffer].rank;
}

bool lang_lower_shapes(lang_lowerer *l) {
  block_program *p = l->program;
  const size_t count = (size_t)p->buffer_count + 1;
  shaper s = {.l = l, .group = WF_ARENA_ARRAY(l->arena, count, int), .wanted = WF_ARENA_ARRAY(l->arena, count, shape)};
  bool change = false;
  for (int b = 0; b < p->buffer_count; b++) s.group[b] = b;
  block_visit(p->body, connect, &s);
  for (int b = 0; b < p->buffer_count; b++) want(&s, b, p->buffers[b].rank, p->buffers[b].size);
  block_visit(p->body, want_of_store, &s);
  for (int b = 0; b < p->buffer_count; b++) change |= has_other_rank(&s, b);
  if (!change) return true;
  for (int b = 0; b < p->buffer_count; b++) {
    shape fitted;
    if (!has_other_rank(&s, b)) continue;
    if (!fit(&s.wanted[group_of(&s, b)], &p->buffers[b], &fitted))
      return refuse(&s, l->instance->kernel->where, p->buffers[b].name);
    p->buffers[b].rank = fitted.rank;
    memcpy(p->buffers[b].size, fitted.size, sizeof fitted.size);
  }
  block_visit(p->body, change_statement, &s);
  return !s.failed;
}
