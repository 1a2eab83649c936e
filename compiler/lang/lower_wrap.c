// SPDX-License-Identifier: Apache-2.0
// Indexes modulo a size, `(start + arange(0, BLOCK)) % M`, are read as plain ones that end at M: elements beyond read
// as zero where the kernel would read the first ones again. That is the same kernel if these elements never get out. So
// they are followed through the statements: per buffer and dimension, from which place on elements are beyond; a
// product must not sum over them, and every store must leave them out. See lower.h.
#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

// Elements from + i >= extent of a dimension are beyond.
typedef struct beyond {
  bool is;
  int tensor;  // that was read so
  block_affine from;
  int64_t extent;
} beyond;

typedef struct place {
  beyond dim[BLOCK_RANK_MAX];
} place;

typedef struct follower {
  lang_lowerer *l;
  place *of;  // per buffer
  bool changed, failed;
} follower;

static bool refuse(follower *f, const block_statement *s, const beyond *b, const char *what, const char *way_on) {
  const lang_source_span span = {s->where.line, s->where.column, s->where.line, s->where.column + 1};
  if (f->failed) return false;
  f->failed = true;
  lang_source_error(f->l->s, f->l->diag, span, "'%s' is read modulo %lld: %s", f->l->program->tensors[b->tensor].name,
                    (long long)b->extent, what);
  lang_lower_hint(f->l, "%s", way_on);
  return false;
}

// The most that a.from - a.extent exceeds b.from - b.extent by.
static int64_t most_ahead(const follower *f, const beyond *a, const beyond *b) {
  const block_program *p = f->l->program;
  int64_t most = a->from.constant - a->extent - (b->from.constant - b->extent);
  for (int i = 0; i < p->loop_count; i++) {
    const int64_t factor = a->from.per_loop[i] - b->from.per_loop[i];
    if (factor > 0) most += factor * (p->loops[i].trips - 1);
  }
  return most;
}

static bool merge(follower *f, const block_statement *s, int buffer, int d, const beyond *b) {
  beyond *old = &f->of[buffer].dim[d];
  if (!b->is || (old->is && most_ahead(f, b, old) <= 0)) return true;
  if (old->is && most_ahead(f, old, b) > 0)
    return refuse(f, s, b, "two blocks that wrap around at different places meet here", "mask what is loaded instead");
  *old = *b;
  f->changed = true;
  return true;
}

static bool any(const follower *f, int buffer, const beyond **found) {
  for (int d = 0; d < f->l->program->buffers[buffer].rank; d++)
    if (f->of[buffer].dim[d].is) {
      *found = &f->of[buffer].dim[d];
      return true;
    }
  return false;
}

// ---- statements

// A buffer keeps from one iteration to the next what the place would be in.
static bool varies(const follower *f, const block_affine *from) {
  for (int i = 0; i < f->l->program->loop_count; i++)
    if (from->per_loop[i] != 0 && !f->l->program->loops[i].parallel) return true;
  return false;
}

static void follow_load(follower *f, const block_statement *s) {
  const block_access *a = &s->load.access;
  const beyond none = {.is = true};
  unsigned dims = 0;
  for (size_t i = 0; i < f->l->mark_count; i++)
    if (f->l->marks[i].statement == s) dims |= f->l->marks[i].wrapped;
  for (int d = 0; d < a->rank; d++) {
    const beyond b = {true, a->tensor, a->dim[d].offset, a->dim[d].extent};
    if ((dims >> d & 1) == 0 || most_ahead(f, &b, &none) + a->dim[d].size - 1 < 0) continue;
    if (varies(f, &b.from))
      refuse(f, s, &b, "where it wraps around varies with a loop", "mask what is loaded instead");
    else
      merge(f, s, s->load.target.buffer, d, &b);
  }
}

static bool refuse_sum(follower *f, const block_statement *s, const beyond *b) {
  return refuse(f, s, b, "a product that sums over what wraps around is not the same without it",
                "mask this dimension where it is loaded: 'index < bound' with other=0");
}

static void follow_operand(follower *f, const block_statement *s, int operand, bool left, bool transposed) {
  const int rank = f->l->program->buffers[operand].rank, target = s->dot.target.buffer;
  const int target_rank = f->l->program->buffers[target].rank;
  const int depth = left != transposed ? rank - 1 : rank - 2;
  const beyond *b;
  if (!any(f, operand, &b)) return;
  if (f->of[operand].dim[depth].is) {
    refuse_sum(f, s, &f->of[operand].dim[depth]);
    return;
  }
  if (s->dot.blocks || rank != 2 || target_rank != 2) {
    refuse(f, s, b, "what wraps around can only be an operand of two dimensions", "mask what is loaded instead");
    return;
  }
  merge(f, s, target, left ? 0 : 1, &f->of[operand].dim[1 - depth]);
}

static void follow_view(follower *f, const block_statement *s, int operand, int target) {
  const block_buffer *from = &f->l->program->buffers[operand], *to = &f->l->program->buffers[target];
  const beyond *b;
  if (!any(f, operand, &b) || operand == target) return;
  bool same = from->rank == to->rank;
  for (int d = 0; d < from->rank && same; d++) same = from->size[d] == to->size[d] || !f->of[operand].dim[d].is;
  for (int d = 0; d < from->rank && same; d++) same = from->size[d] == to->size[d] || from->size[d] == 1;
  if (!same) {
    refuse(f, s, b, "a block that wraps around cannot change its shape", "mask what is loaded instead");
    return;
  }
  for (int d = 0; d < from->rank; d++) merge(f, s, target, d, &f->of[operand].dim[d]);
}

static void follow_store(follower *f, const block_statement *s) {
  const int source = s->store.source.buffer;
  const block_access *a = &s->store.access;
  const beyond *b;
  if (!any(f, source, &b)) return;
  if (lang_lower_is_working(f->l, a->tensor)) {
    refuse(f, s, b, "what was computed of it cannot be an operand of dot()", "mask what is loaded instead");
    return;
  }
  bool left_out = a->rank == f->l->program->buffers[source].rank && s->store.epilogue.pool.stride == 0;
  for (int d = 0; d < a->rank && left_out; d++) {
    const beyond *wrapped = &f->of[source].dim[d], stored = {true, a->tensor, a->dim[d].offset, a->dim[d].extent};
    if (!wrapped->is) continue;
    b = wrapped;
    left_out = a->dim[d].size == f->l->program->buffers[source].size[d] && a->dim[d].step == 1 &&
               most_ahead(f, wrapped, &stored) <= 0;
  }
  if (!left_out)
    refuse(f, s, b, "elements that wrap around would be stored",
           "mask the store with the plain index: 'start + arange(0, BLOCK) < bound'");
}

static void follow(void *context, block_statement *s) {
  follower *f = context;
  if (f->failed) return;
  if (s->kind == BLOCK_LOAD) follow_load(f, s);
  if (s->kind == BLOCK_STORE) follow_store(f, s);
  if (s->kind == BLOCK_DOT) {
    follow_operand(f, s, s->dot.a.buffer, true, s->dot.a_transposed);
    follow_operand(f, s, s->dot.b.buffer, false, s->dot.b_transposed);
  }
  if (s->kind == BLOCK_ELEMENTWISE) {
    const int target = s->elementwise.target.buffer;
    if (!s->elementwise.a.is_number) follow_view(f, s, s->elementwise.a.view.buffer, target);
    if (!s->elementwise.b.is_number) follow_view(f, s, s->elementwise.b.view.buffer, target);
  }
}

bool lang_lower_check_wraps(lang_lowerer *l) {
  follower f = {.l = l};
  if (l->mark_count == 0) return true;
  f.of = WF_ARENA_ARRAY(l->arena, (size_t)l->program->buffer_count + 1, place);
  do {
    f.changed = false;
    block_visit(l->program->body, follow, &f);
  } while (f.changed && !f.failed);
  return !f.failed;
}
