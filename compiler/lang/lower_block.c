// SPDX-License-Identifier: Apache-2.0
// Operations on blocks: what becomes statements of the block program.
//
// Blocks are values in the kernel and buffers in the program. An operation writes a new buffer, or the buffer of an
// operand if nothing else refers to it: `acc = dot(a, b, acc)` accumulates in place.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

const block_type lang_lower_block_types[LANG_DTYPES] = {
    [LANG_INT8] = BLOCK_I8, [LANG_INT32] = BLOCK_I32, [LANG_FLOAT32] = BLOCK_F32};
const lang_dtype lang_lower_lang_types[BLOCK_TYPES] = {
    [BLOCK_I8] = LANG_INT8, [BLOCK_I32] = LANG_INT32, [BLOCK_F32] = LANG_FLOAT32};

const char *lang_lower_type_text(const lang_lowerer *l, const lang_lower_block *b) {
  return lang_dtype_names[lang_lower_lang_types[l->program->buffers[b->buffer].type]];
}

const char *lang_lower_shape_text(const int64_t *size, int rank, char text[LOWER_SHAPE_TEXT]) {
  size_t used = 0;
  text[used++] = '(';
  for (int d = 0; d < rank; d++)
    used += (size_t)snprintf(text + used, LOWER_SHAPE_TEXT - used, "%s%lld", d == 0 ? "" : ", ", (long long)size[d]);
  snprintf(text + used, LOWER_SHAPE_TEXT - used, rank == 1 ? ",)" : ")");
  return text;
}

bool lang_lower_same_shape(const int64_t *a, int a_rank, const int64_t *b, int b_rank) {
  return a_rank == b_rank && memcmp(a, b, (size_t)a_rank * sizeof *a) == 0;
}

// ---- statements

static bool programs_differ(lang_lowerer *l, const lang_ast *node) {
  lang_lower_fail(l, node, "the programs of the grid differ here");
  lang_lower_hint(l, "blocks at the edges may reach over them: use boundary_check instead of other sizes");
  return false;
}

static bool same_affine(const block_affine *a, const block_affine *b) {
  return memcmp(a->per_loop, b->per_loop, sizeof a->per_loop) == 0;
}

// But for the constants of the offsets, which are taken down.
static bool same_access(lang_lowerer *l, const block_access *a, const block_access *b) {
  if (a->tensor != b->tensor || a->rank != b->rank || !same_affine(&a->base, &b->base)) return false;
  l->slots[l->slot_at++] = a->base.constant;
  for (int d = 0; d < a->rank; d++) {
    const block_access_dim *x = &a->dim[d], *y = &b->dim[d];
    if (!same_affine(&x->offset, &y->offset) || x->step != y->step || x->size != y->size || x->extent != y->extent ||
        x->stride != y->stride)
      return false;
    l->slots[l->slot_at++] = x->offset.constant;
  }
  return true;
}

static bool same_lengths(lang_lowerer *l, const block_lengths *a, const block_lengths *b) {
  if (a->most != b->most || a->step != b->step || !same_affine(&a->first, &b->first)) return false;
  if (a->most != 0) l->slots[l->slot_at++] = a->first.constant;
  return true;
}

static bool same_operand(const block_operand *a, const block_operand *b) {
  if (a->is_number != b->is_number) return false;
  return a->is_number ? memcmp(&a->number, &b->number, sizeof a->number) == 0 : a->view.buffer == b->view.buffer;
}

// Views are whole buffers throughout, so a buffer stands for its view.
static bool same_statement(lang_lowerer *l, const block_statement *a, const block_statement *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case BLOCK_FOR:
      return a->loop.loop == b->loop.loop;
    case BLOCK_LOAD:
      return a->load.target.buffer == b->load.target.buffer && same_access(l, &a->load.access, &b->load.access);
    case BLOCK_DOT:
      return a->dot.target.buffer == b->dot.target.buffer && a->dot.a.buffer == b->dot.a.buffer &&
             a->dot.b.buffer == b->dot.b.buffer && a->dot.a_transposed == b->dot.a_transposed &&
             a->dot.b_transposed == b->dot.b_transposed && a->dot.accumulate == b->dot.accumulate;
    case BLOCK_ELEMENTWISE:
      return a->elementwise.op == b->elementwise.op && a->elementwise.target.buffer == b->elementwise.target.buffer &&
             same_operand(&a->elementwise.a, &b->elementwise.a) && same_operand(&a->elementwise.b, &b->elementwise.b);
    case BLOCK_STORE:
      return a->store.source.buffer == b->store.source.buffer && a->store.apart == b->store.apart &&
             a->store.statistics.buffer == b->store.statistics.buffer &&
             memcmp(&a->store.epilogue.norm, &b->store.epilogue.norm, sizeof(block_norm)) == 0 &&
             memcmp(&a->store.epilogue.pool, &b->store.epilogue.pool, sizeof(block_pool)) == 0 &&
             same_lengths(l, &a->store.lengths, &b->store.lengths) &&
             same_access(l, &a->store.access, &b->store.access);
  }
  return false;
}

block_statement *lang_lower_emit(lang_lowerer *l, const lang_ast *node, const block_statement *s) {
  if (!l->recording) {
    if (l->event_at < l->event_count && same_statement(l, s, l->events[l->event_at])) return l->events[l->event_at++];
    programs_differ(l, node);
    return NULL;
  }
  block_statement *made = block_add(l->program, l->tail, s->kind, lang_source_where(l->s, node->span));
  const wf_location where = made->where;
  *made = *s;
  made->where = where;
  made->next = NULL;
  l->tail = &made->next;
  *WF_ARENA_PUSH(l->arena, l->events, l->event_count, &l->event_room) = made;
  l->event_at = l->event_count;
  return made;
}

int lang_lower_new_buffer(lang_lowerer *l, const lang_ast *node, block_type type, const int64_t *size, int rank) {
  if (l->recording) {
    const char *name = block_fresh_name(l->program, l->hint != NULL ? l->hint : "t", "");
    const int made = block_add_buffer(l->program, name, type, rank, size);
    l->buffer_count = made + 1;
    return made;
  }
  const block_buffer *b = &l->program->buffers[l->buffer_count];
  if (l->buffer_count == l->program->buffer_count || b->type != type ||
      !lang_lower_same_shape(b->size, b->rank, size, rank)) {
    programs_differ(l, node);
    return BLOCK_NONE;
  }
  return l->buffer_count++;
}

lang_lower_value lang_lower_block_value(int buffer, const int64_t *size, int rank) {
  lang_lower_value v = {.kind = VALUE_BLOCK};
  v.block = (lang_lower_block){.buffer = buffer, .rank = rank};
  memcpy(v.block.size, size, (size_t)rank * sizeof *size);
  return v;
}

// Whether an operation may write over an operand.
static bool is_free(const lang_lowerer *l, const lang_lower_block *b, int into) {
  return !b->transposed && (b->buffer == into || lang_lower_references(l, b->buffer, NULL) == 0);
}

static block_operand whole(const lang_lowerer *l, const lang_lower_block *b) {
  return (block_operand){.view = block_whole(l->program, b->buffer)};
}

static bool emit_elementwise(lang_lowerer *l, const lang_ast *node, block_op op, int target, block_operand a,
                             block_operand b) {
  block_statement s = {.kind = BLOCK_ELEMENTWISE};
  s.elementwise.op = op;
  s.elementwise.target = block_whole(l->program, target);
  s.elementwise.a = a;
  s.elementwise.b = b;
  return lang_lower_emit(l, node, &s) != NULL;
}

bool lang_lower_needs_plain(lang_lowerer *l, const lang_ast *node, const lang_lower_block *b) {
  if (!b->transposed) return true;
  lang_lower_fail(l, node, "a transposed block can only be an operand of dot()");
  lang_lower_hint(l, "swap shape, strides and offsets of its block pointer instead");
  return false;
}

// ---- products

// Square matrices, one for each block of columns of the left operand.
static bool are_matrices(const lang_lower_value *v) {
  return v->block.rank == 3 && !v->block.transposed && v->block.size[1] == v->block.size[2];
}

// A block that the kernel computed comes by way of memory.
static bool operand_of(lang_lowerer *l, const lang_ast *node, lang_lower_value *v) {
  const lang_lower_value from = *v;
  if (v->kind == VALUE_ROWS) return lang_lower_row_park(l, node, from.rows, v);
  if (v->kind != VALUE_BLOCK) return lang_lower_fail(l, node, "dot() needs blocks, not %s", lang_lower_kind_text(v));
  if (l->program->buffers[v->block.buffer].type != BLOCK_I8)
    return lang_lower_fail(l, node, "dot() multiplies int8 blocks, this one is %s", lang_lower_type_text(l, &v->block));
  return lang_lower_settle(l, node, v);
}

static bool product_operand(lang_lowerer *l, const lang_ast *node, lang_lower_value *v, int leading) {
  char shape[LOWER_SHAPE_TEXT];
  if (!lang_lower_eval(l, node, BLOCK_NONE, v)) return false;
  if (!operand_of(l, node, v)) return false;
  if (v->block.rank < 2)
    return lang_lower_fail(l, node, "dot() needs two dimensions or more, this block has shape %s",
                           lang_lower_shape_text(v->block.size, v->block.rank, shape));
  for (int d = 0; d < v->block.rank - 2 && leading == 0 && !are_matrices(v); d++)
    if (v->block.size[d] != 1)
      return lang_lower_fail(l, node,
                             "the right operand of dot() has two dimensions, or three for a square matrix per block of "
                             "columns; this block has shape %s",
                             lang_lower_shape_text(v->block.size, v->block.rank, shape));
  return true;
}

static bool check_accumulator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *acc,
                              const lang_lower_value *result) {
  char a[LOWER_SHAPE_TEXT], b[LOWER_SHAPE_TEXT];
  if (acc->kind != VALUE_BLOCK)
    return lang_lower_fail(l, node, "dot() adds to a block, not to %s", lang_lower_kind_text(acc));
  if (l->program->buffers[acc->block.buffer].type != BLOCK_I32) {
    lang_lower_fail(l, node, "dot() adds to int32, not to %s", lang_lower_type_text(l, &acc->block));
    lang_lower_hint(l, "start with zeros(..., int32)");
    return false;
  }
  if (!lang_lower_same_shape(acc->block.size, acc->block.rank, result->block.size, result->block.rank))
    return lang_lower_fail(l, node, "this product has shape %s and cannot be added to a block of shape %s",
                           lang_lower_shape_text(result->block.size, result->block.rank, a),
                           lang_lower_shape_text(acc->block.size, acc->block.rank, b));
  return lang_lower_needs_plain(l, node, &acc->block);
}

static bool check_out_dtype(lang_lowerer *l, const lang_ast *node) {
  lang_lower_value v;
  if (node == NULL) return true;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  return (v.kind == VALUE_DTYPE && v.dtype == LANG_INT32) || lang_lower_fail(l, node, "products are int32");
}

// The buffer that the product goes to: the accumulator's, a copy of it, or a new one.
static int product_target(lang_lowerer *l, const lang_ast *node, const lang_lower_value *acc, int into,
                          const lang_lower_value *shape) {
  if (acc != NULL && is_free(l, &acc->block, into)) return acc->block.buffer;
  const int buffer = lang_lower_new_buffer(l, node, BLOCK_I32, shape->block.size, shape->block.rank);
  if (buffer == BLOCK_NONE || acc == NULL) return buffer;
  const block_operand nothing = {0};
  return emit_elementwise(l, node, BLOCK_OP_COPY, buffer, whole(l, &acc->block), nothing) ? buffer : BLOCK_NONE;
}

bool lang_lower_dot(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const lang_lower_value *acc, int into,
                    lang_lower_value *result) {
  lang_lower_value a, b;
  char x[LOWER_SHAPE_TEXT], y[LOWER_SHAPE_TEXT];
  if (!product_operand(l, args[0], &a, 1) || !product_operand(l, args[1], &b, 0) || !check_out_dtype(l, args[3]))
    return false;
  const int64_t depth = a.block.size[a.block.rank - 1];
  const bool blocks =
      are_matrices(&b) && !a.block.transposed && (depth + b.block.size[1] - 1) / b.block.size[1] == b.block.size[0];
  if (!blocks && b.block.rank == 3 && b.block.size[0] != 1)
    return lang_lower_fail(l, node, "dot() of shapes %s and %s: so many matrices are not for so many columns",
                           lang_lower_shape_text(a.block.size, a.block.rank, x),
                           lang_lower_shape_text(b.block.size, b.block.rank, y));
  if (!blocks && depth != b.block.size[b.block.rank - 2])
    return lang_lower_fail(l, node, "dot() of shapes %s and %s: the inner sizes %lld and %lld differ",
                           lang_lower_shape_text(a.block.size, a.block.rank, x),
                           lang_lower_shape_text(b.block.size, b.block.rank, y), (long long)depth,
                           (long long)b.block.size[b.block.rank - 2]);
  lang_lower_value shape = lang_lower_block_value(BLOCK_NONE, a.block.size, a.block.rank);
  shape.block.size[a.block.rank - 1] = blocks ? depth : b.block.size[b.block.rank - 1];
  if (acc != NULL && acc->kind == VALUE_SCALAR && acc->scalar.kind == LANG_NONE) acc = NULL;
  const bool repeats = args[2] == NULL && acc != NULL &&
                       !lang_lower_same_shape(acc->block.size, acc->block.rank, shape.block.size, shape.block.rank);
  const lang_lower_value bias = repeats ? *acc : shape;
  if (repeats) acc = NULL;
  if (acc != NULL && !check_accumulator(l, args[2] != NULL ? args[2] : node, acc, &shape)) return false;
  const int target = product_target(l, node, acc, into, &shape);
  if (target == BLOCK_NONE) return false;
  block_statement s = {.kind = BLOCK_DOT};
  s.dot.target = block_whole(l->program, target);
  s.dot.a = block_whole(l->program, a.block.buffer);
  s.dot.b = block_whole(l->program, b.block.buffer);
  s.dot.a_transposed = a.block.transposed;
  s.dot.b_transposed = b.block.transposed;
  s.dot.accumulate = acc != NULL;
  s.dot.blocks = blocks;
  *result = lang_lower_block_value(target, shape.block.size, shape.block.rank);
  const lang_lower_value product = *result;
  return lang_lower_emit(l, node, &s) != NULL &&
         (!repeats || lang_lower_arithmetic(l, node, BLOCK_OP_ADD, &product, &bias, into, result));
}

// ---- arithmetic

static bool refuse_infinite(lang_lowerer *l, const lang_ast *node) {
  lang_lower_fail(l, node, "blocks have finite numbers");
  lang_lower_hint(l, "float(\"-inf\") is for where() and for other= of loads, in front of softmax");
  return false;
}

bool lang_lower_full(lang_lowerer *l, const lang_ast *node, const int64_t *size, int rank, double number,
                     lang_dtype dtype, lang_lower_value *result) {
  const int buffer = lang_lower_new_buffer(l, node, lang_lower_block_types[dtype], size, rank);
  if (buffer == BLOCK_NONE) return false;
  if (dtype == LANG_FLOAT32) number = (double)(float)number;
  if (!isfinite(number)) return refuse_infinite(l, node);
  const double least = dtype == LANG_INT8 ? INT8_MIN : INT32_MIN, most = dtype == LANG_INT8 ? INT8_MAX : INT32_MAX;
  if (dtype != LANG_FLOAT32 && (number != floor(number) || number < least || number > most))
    return lang_lower_fail(l, node, "%g is no %s", number, lang_dtype_names[dtype]);
  const block_operand fill = {.is_number = true, .number = number}, nothing = {0};
  *result = lang_lower_block_value(buffer, size, rank);
  return emit_elementwise(l, node, BLOCK_OP_COPY, buffer, fill, nothing);
}

bool lang_lower_assign_block(lang_lowerer *l, const lang_ast *node, const lang_lower_block *target,
                             const lang_lower_block *from) {
  const block_operand nothing = {0};
  return emit_elementwise(l, node, BLOCK_OP_COPY, target->buffer, whole(l, from), nothing);
}

bool lang_lower_copy(lang_lowerer *l, const lang_ast *node, lang_lower_value *v) {
  const lang_lower_block from = v->block;
  if (!lang_lower_needs_plain(l, node, &from)) return false;
  const int buffer = lang_lower_new_buffer(l, node, l->program->buffers[from.buffer].type, from.size, from.rank);
  if (buffer == BLOCK_NONE) return false;
  *v = lang_lower_block_value(buffer, from.size, from.rank);
  return lang_lower_assign_block(l, node, &v->block, &from);
}

// An operation with one operand into another type. `factor` only for SCALE.
static bool emit_conversion(lang_lowerer *l, const lang_ast *node, block_op op, double factor,
                            const lang_lower_value *v, block_type type, lang_lower_value *result) {
  const int buffer = lang_lower_new_buffer(l, node, type, v->block.size, v->block.rank);
  if (buffer == BLOCK_NONE) return false;
  lang_lower_value from = *v;
  if (!lang_lower_settle(l, node, &from)) return false;
  const block_operand by = {.is_number = op == BLOCK_OP_SCALE, .number = op == BLOCK_OP_SCALE ? factor : 0};
  *result = lang_lower_block_value(buffer, v->block.size, v->block.rank);
  return emit_elementwise(l, node, op, buffer, whole(l, &from.block), by);
}

// Softmax of the result is one of the integers.
static void note_rows(lang_lowerer *l, const lang_lower_block *integers, double scale, bool scaled,
                      lang_lower_value *result) {
  lang_lower_rows *rows = WF_ARENA_NEW(l->run, lang_lower_rows);
  *rows = (lang_lower_rows){.form = LOWER_ROWS_ALL, .block = *integers, .scale = scale, .scaled = scaled};
  result->block.scaled = rows;
}

bool lang_lower_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_dtype dtype,
                        lang_lower_value *result) {
  if (v->kind == VALUE_ROWS) return lang_lower_row_convert(l, node, v, dtype, result);
  if (v->kind != VALUE_BLOCK)
    return lang_lower_fail(l, node, ".to() is for blocks, not for %s", lang_lower_kind_text(v));
  const block_type from = l->program->buffers[v->block.buffer].type, to = lang_lower_block_types[dtype];
  if (from == to) {
    *result = *v;
    return true;
  }
  if (!lang_lower_needs_plain(l, node, &v->block)) return false;
  const block_op op = to == BLOCK_F32 ? BLOCK_OP_SCALE : to == BLOCK_I8 ? BLOCK_OP_TO_I8 : BLOCK_OP_TO_I32;
  const lang_lower_value integers = *v, one = lang_lower_int(1);
  if (!emit_conversion(l, node, op, 1.0, &integers, to, result)) return false;
  lang_lower_curve_note(l, BLOCK_OP_MUL, &integers, &one, result);
  if (to == BLOCK_F32) note_rows(l, &integers.block, 1, false, result);
  return true;
}

typedef struct operands {
  block_op op;
  lang_lower_value a;  // a block
  lang_lower_value b;  // a block, or
  bool with_number;    // this instead of b
  double number;
  block_type type;  // of the result
} operands;

// The block first; a number first becomes a number second, with the same result to the last bit: n - x is x * -1 + n.
static bool order_operands(lang_lowerer *l, const lang_ast *node, operands *o, int into) {
  double ignored;
  if (o->a.kind == VALUE_BLOCK) return true;
  const lang_lower_value number = o->a;
  o->a = o->b;
  o->b = number;
  if (o->op != BLOCK_OP_SUB || !lang_lower_is_number(&number, &ignored)) return true;
  const lang_lower_value minus_one = lang_lower_int(-1), block = o->a;
  o->op = BLOCK_OP_ADD;
  return lang_lower_arithmetic(l, node, BLOCK_OP_MUL, &block, &minus_one, into, &o->a);
}

// The type of the result: float32 if anything is a float; else int32, but maxima of int8 stay int8.
static bool find_type(lang_lowerer *l, const lang_ast *node, operands *o) {
  const block_type a = l->program->buffers[o->a.block.buffer].type;
  const bool extreme = o->op == BLOCK_OP_MAX || o->op == BLOCK_OP_MIN;
  o->with_number = o->b.kind != VALUE_BLOCK;
  if (!o->with_number) {
    const block_type b = l->program->buffers[o->b.block.buffer].type;
    o->type = a == BLOCK_F32 || b == BLOCK_F32            ? BLOCK_F32
              : extreme && a == BLOCK_I8 && b == BLOCK_I8 ? BLOCK_I8
                                                          : BLOCK_I32;
    return true;
  }
  if (!lang_lower_is_number(&o->b, &o->number)) {
    if (o->b.kind == VALUE_INDEX)
      return lang_lower_fail(l, node, "this number varies with a loop: it cannot go into a block");
    return lang_lower_fail(l, node, "%s cannot be combined with a block", lang_lower_kind_text(&o->b));
  }
  const bool small = o->number >= INT8_MIN && o->number <= INT8_MAX;
  const bool is_float = o->b.kind == VALUE_SCALAR && o->b.scalar.kind == LANG_FLOAT;
  o->type = a == BLOCK_F32 || is_float ? BLOCK_F32 : extreme && a == BLOCK_I8 && small ? BLOCK_I8 : BLOCK_I32;
  if (o->type == BLOCK_F32) o->number = (double)(float)o->number;
  if (!isfinite(o->number)) return refuse_infinite(l, node);
  if (o->type == BLOCK_F32 || (o->number >= INT32_MIN && o->number <= INT32_MAX)) return true;
  return lang_lower_fail(l, node, "%.0f does not fit in int32", o->number);
}

static bool widen(lang_lowerer *l, const lang_ast *node, lang_lower_value *v, block_type type) {
  const lang_lower_value from = *v;
  return lang_lower_convert(l, node, &from, lang_lower_lang_types[type], v);
}

// int8 to int32 without a way by memory.
static bool widen_leaving(lang_lowerer *l, const lang_ast *node, lang_lower_value *v) {
  const lang_lower_block from = v->block;
  const int buffer = lang_lower_new_buffer(l, node, BLOCK_I32, from.size, from.rank);
  if (buffer == BLOCK_NONE) return false;
  *v = lang_lower_block_value(buffer, from.size, from.rank);
  return emit_elementwise(l, node, BLOCK_OP_TO_I32, buffer, whole(l, &from), (block_operand){0});
}

// The common shape; a block with fewer dimensions gets leading ones, as far as it can.
static bool broadcast(lang_lowerer *l, const lang_ast *node, lang_lower_value *a, lang_lower_value *b, int64_t *size,
                      int *rank) {
  char x[LOWER_SHAPE_TEXT], y[LOWER_SHAPE_TEXT];
  lang_lower_value *low = a->block.rank < b->block.rank ? a : b, *high = low == a ? b : a;
  if (low->block.rank < high->block.rank) {
    int64_t padded[BLOCK_RANK_MAX] = {1, 1, 1, 1, 1};
    const int more = high->block.rank - low->block.rank;
    const lang_lower_value from = *low;
    memcpy(padded + more, low->block.size, (size_t)low->block.rank * sizeof *padded);
    if (!lang_lower_reshape(l, node, &from, padded, high->block.rank, low)) return false;
  }
  *rank = high->block.rank;
  for (int d = 0; d < *rank; d++) {
    const int64_t m = a->block.size[d], n = b->block.size[d];
    if (m != n && m != 1 && n != 1)
      return lang_lower_fail(l, node, "shapes %s and %s do not go together",
                             lang_lower_shape_text(a->block.size, a->block.rank, x),
                             lang_lower_shape_text(b->block.size, b->block.rank, y));
    size[d] = m > n ? m : n;
  }
  return true;
}

static bool can_hold(const lang_lowerer *l, const lang_lower_block *b, int into, block_type type, const int64_t *size,
                     int rank) {
  return l->program->buffers[b->buffer].type == type && lang_lower_same_shape(b->size, b->rank, size, rank) &&
         is_free(l, b, into);
}

static bool emit_scale(lang_lowerer *l, const lang_ast *node, const operands *o, lang_lower_value *result) {
  if (!emit_conversion(l, node, BLOCK_OP_SCALE, o->number, &o->a, BLOCK_F32, result)) return false;
  note_rows(l, &o->a.block, o->number, true, result);
  return true;
}

static bool with_number(lang_lowerer *l, const lang_ast *node, operands *o, int into, lang_lower_value *result) {
  const block_operand number = {.is_number = true, .number = o->number};
  block_op op = o->op;
  // A block of integers times a float is one operation.
  if (op == BLOCK_OP_MUL && o->type == BLOCK_F32 && l->program->buffers[o->a.block.buffer].type != BLOCK_F32)
    return emit_scale(l, node, o, result);
  const bool settles = op == BLOCK_OP_MAX && lang_lower_is_negated(l, o->a.block.buffer);
  if ((settles && !lang_lower_settle(l, node, &o->a)) || !widen(l, node, &o->a, o->type)) return false;
  const lang_lower_block *a = &o->a.block;
  const int target = can_hold(l, a, into, o->type, a->size, a->rank)
                         ? a->buffer
                         : lang_lower_new_buffer(l, node, o->type, a->size, a->rank);
  if (target == BLOCK_NONE) return false;
  const lang_lower_rows *rows = op == BLOCK_OP_MUL ? a->scaled : NULL;
  *result = lang_lower_block_value(target, a->size, a->rank);
  if (!emit_elementwise(l, node, op, target, whole(l, a), number)) return false;
  if (rows != NULL) note_rows(l, &rows->block, (double)(float)(rows->scale * o->number), true, result);
  return true;
}

// int8 that was rounded leaves for memory before it is used again, but one factor of a product: it is multiplied on its
// way out, by a block that was loaded.
static bool widen_factors(lang_lowerer *l, const lang_ast *node, operands *o) {
  const int a = o->a.block.buffer, b = o->b.block.buffer;
  const bool narrow = l->program->buffers[a].type == BLOCK_I8 && l->program->buffers[b].type == BLOCK_I8;
  if (o->op == BLOCK_OP_MUL && narrow && o->type == BLOCK_I32 && a != b) {
    lang_lower_value *leaves = lang_lower_is_rounded(l, a) ? &o->a : lang_lower_is_rounded(l, b) ? &o->b : NULL;
    if (leaves != NULL && !widen_leaving(l, node, leaves)) return false;
  }
  return widen(l, node, &o->a, o->type) && widen(l, node, &o->b, o->type);
}

static bool arithmetic(lang_lowerer *l, const lang_ast *node, block_op op, const lang_lower_value *left,
                       const lang_lower_value *right, int into, lang_lower_value *result) {
  operands o = {.op = op, .a = *left, .b = *right};
  int64_t size[BLOCK_RANK_MAX];
  int rank;
  if (!order_operands(l, node, &o, into) || !lang_lower_needs_plain(l, node, &o.a.block) ||
      (o.b.kind == VALUE_BLOCK && !lang_lower_needs_plain(l, node, &o.b.block)) || !find_type(l, node, &o))
    return false;
  if (o.with_number) return with_number(l, node, &o, into, result);
  if (!broadcast(l, node, &o.a, &o.b, size, &rank) || !widen_factors(l, node, &o)) return false;
  int target = BLOCK_NONE;
  if (can_hold(l, &o.a.block, into, o.type, size, rank))
    target = o.a.block.buffer;
  else if (can_hold(l, &o.b.block, into, o.type, size, rank))
    target = o.b.block.buffer;
  else
    target = lang_lower_new_buffer(l, node, o.type, size, rank);
  if (target == BLOCK_NONE) return false;
  *result = lang_lower_block_value(target, size, rank);
  return emit_elementwise(l, node, o.op, target, whole(l, &o.a.block), whole(l, &o.b.block));
}

bool lang_lower_arithmetic(lang_lowerer *l, const lang_ast *node, block_op op, const lang_lower_value *left,
                           const lang_lower_value *right, int into, lang_lower_value *result) {
  const lang_lower_value a = *left, b = *right;
  if (!arithmetic(l, node, op, &a, &b, into, result)) return false;
  lang_lower_curve_note(l, op, &a, &b, result);
  return true;
}
