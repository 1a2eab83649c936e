// SPDX-License-Identifier: Apache-2.0
// Blocks that the kernel computed as operands of products: see lower.h.
//
// Products read the scratchpad, and results leave for main memory: a computed block is stored to memory of the
// compiler's own and loaded from there. Where in it the iterations have their places, lower_parts.c says.
#include <math.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

enum { CHAIN_MAX = 8 };

bool lang_lower_is_working(const lang_lowerer *l, int tensor) { return tensor >= l->param_tensors; }

// ---- what was computed

// The statement that writes a buffer, if there is one only.
static const block_statement *writer_of(const lang_lowerer *l, int buffer) {
  const block_statement *found = NULL;
  for (size_t e = 0; e < l->event_at; e++) {
    block_view *views[BLOCK_VIEWS_MAX];
    block_statement *s = l->events[e];
    if (!block_has_target(s) || block_views(s, views) == 0 || views[0]->buffer != buffer) continue;
    if (found != NULL) return NULL;
    found = s;
  }
  return found;
}

// What fuse makes a part of the load: copies, one scale, rounding.
bool lang_lower_is_computed(const lang_lowerer *l, int buffer) {
  int scales = 0;
  for (int step = 0; step < CHAIN_MAX; step++) {
    const block_statement *s = writer_of(l, buffer);
    if (s != NULL && s->kind == BLOCK_LOAD) return scales > 1;
    if (s == NULL || s->kind != BLOCK_ELEMENTWISE || s->elementwise.a.is_number) return true;
    const block_op op = s->elementwise.op;
    if (op != BLOCK_OP_COPY && op != BLOCK_OP_SCALE && op != BLOCK_OP_TO_I8) return true;
    scales += op == BLOCK_OP_SCALE;
    buffer = s->elementwise.a.view.buffer;
  }
  return true;
}

// A sum behind one scale, perhaps a maximum with a number, and rounding.
bool lang_lower_is_rounded(const lang_lowerer *l, int buffer) {
  const block_statement *s = writer_of(l, buffer);
  bool scaled = false;
  if (s == NULL || s->kind != BLOCK_ELEMENTWISE || s->elementwise.op != BLOCK_OP_TO_I8) return false;
  for (int step = 0; step < CHAIN_MAX && l->program->buffers[s->elementwise.a.view.buffer].type == BLOCK_F32; step++) {
    s = writer_of(l, s->elementwise.a.view.buffer);
    const bool number = s != NULL && s->kind == BLOCK_ELEMENTWISE && s->elementwise.b.is_number;
    if (!number || s->elementwise.a.is_number) return false;
    scaled |= s->elementwise.op == BLOCK_OP_SCALE;
  }
  return scaled && lang_lower_is_computed(l, buffer);
}

// Of which there is no maximum on the way out.
bool lang_lower_is_negated(const lang_lowerer *l, int buffer) {
  const block_statement *to_i8 = writer_of(l, buffer), *scale = NULL;
  if (to_i8 == NULL || to_i8->kind != BLOCK_ELEMENTWISE || to_i8->elementwise.op != BLOCK_OP_TO_I8) return false;
  scale = writer_of(l, to_i8->elementwise.a.view.buffer);
  return scale != NULL && scale->kind == BLOCK_ELEMENTWISE && scale->elementwise.op == BLOCK_OP_SCALE &&
         scale->elementwise.b.is_number && scale->elementwise.b.number < 0;
}

static bool writes(block_statement *s, int buffer) {
  block_view *views[BLOCK_VIEWS_MAX];
  return block_has_target(s) && block_views(s, views) > 0 && views[0]->buffer == buffer;
}

// Backwards over what was multiplied in place; a product that a loop may have done more than once is not known.
double lang_lower_largest(const lang_lowerer *l, int buffer) {
  double factor = 1;
  for (size_t e = l->event_at; l->program->buffers[buffer].type != BLOCK_I8; e--) {
    if (e == 0 || (l->events[e - 1]->kind == BLOCK_FOR && factor != 1)) return 0;
    block_statement *s = l->events[e - 1];
    if (!writes(s, buffer)) continue;
    if (s->kind != BLOCK_ELEMENTWISE || s->elementwise.a.is_number) return 0;
    const block_op op = s->elementwise.op;
    if (op != BLOCK_OP_COPY && op != BLOCK_OP_TO_I32 && (op != BLOCK_OP_MUL || !s->elementwise.b.is_number)) return 0;
    if (op == BLOCK_OP_MUL) factor *= fabs(s->elementwise.b.number);
    buffer = s->elementwise.a.view.buffer;
  }
  return -INT8_MIN * factor;
}

bool lang_lower_is_operand(const lang_lowerer *l, int buffer) {
  for (size_t e = 0; e < l->event_at; e++) {
    const block_statement *s = l->events[e];
    if (s->kind == BLOCK_DOT && (s->dot.a.buffer == buffer || s->dot.b.buffer == buffer)) return true;
  }
  return false;
}

// ---- by way of memory

static int new_tensor(lang_lowerer *l) {
  const int tensor = l->param_tensors + l->parked++;
  if (l->recording) block_add_tensor(l->program, block_fresh_name(l->program, "parked", ""), BLOCK_I8, 1);
  return tensor;
}

// One block behind the other, row by row.
static block_access access_of(int tensor, const lang_lower_block *block) {
  block_access access = {.tensor = tensor, .rank = block->rank};
  int64_t stride = 1;
  for (int d = block->rank - 1; d >= 0; stride *= block->size[d--])
    access.dim[d] = (block_access_dim){.step = 1, .size = block->size[d], .extent = block->size[d], .stride = stride};
  return access;
}

bool lang_lower_park(lang_lowerer *l, const lang_ast *node, block_statement *store, const lang_lower_block *block,
                     lang_lower_value *result) {
  lang_lower_block plain = *block;
  if (plain.transposed) {
    plain.size[0] = block->size[1];
    plain.size[1] = block->size[0];
  }
  const block_access access = access_of(new_tensor(l), &plain);
  store->store.access = access;
  if (lang_lower_emit(l, node, store) == NULL || !lang_lower_load_access(l, node, &access, result)) return false;
  result->block.transposed = block->transposed;
  for (int d = 0; d < block->rank; d++) result->block.size[d] = block->size[d];
  return true;
}

bool lang_lower_settle(lang_lowerer *l, const lang_ast *node, lang_lower_value *v) {
  const lang_lower_block from = v->block;
  block_statement store = {.kind = BLOCK_STORE};
  if (l->program->buffers[from.buffer].type != BLOCK_I8 || !lang_lower_is_computed(l, from.buffer)) return true;
  store.store.source = block_whole(l->program, from.buffer);
  return lang_lower_park(l, node, &store, &from, v);
}
