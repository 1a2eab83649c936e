// SPDX-License-Identifier: Apache-2.0
// Expressions of the oracle: see run.h.
#include <math.h>
#include <string.h>

#include "compiler/lang/run.h"

static bool scalar_result(lang_runner *r, const lang_ast *node, const char *wrong, lang_value v,
                          lang_run_value *result) {
  if (wrong != NULL) return lang_run_fail(r, node, "%s", wrong);
  *result = (lang_run_value){.kind = RUN_SCALAR, .scalar = v};
  return true;
}

bool lang_run_eval_tuple(lang_runner *r, const lang_ast *node, const lang_run_value **items, int *count) {
  lang_run_value *v = WF_ARENA_NEW(r->arena, lang_run_value);
  if (!lang_run_eval(r, node, v)) return false;
  *items = v->kind == RUN_TUPLE ? v->tuple.items : v;
  *count = v->kind == RUN_TUPLE ? v->tuple.count : 1;
  return true;
}

bool lang_run_eval_ints(lang_runner *r, const lang_ast *node, int64_t *numbers, int *count) {
  const lang_run_value *items;
  if (!lang_run_eval_tuple(r, node, &items, count)) return false;
  if (*count > RUN_RANK_MAX) return lang_run_fail(r, node, "at most %d dimensions", RUN_RANK_MAX);
  for (int i = 0; i < *count; i++) {
    if (items[i].kind != RUN_SCALAR || items[i].scalar.kind != LANG_INT)
      return lang_run_fail(r, node, "expected integers");
    numbers[i] = items[i].scalar.integer;
  }
  return true;
}

bool lang_run_eval_int(lang_runner *r, const lang_ast *node, int64_t *result) {
  lang_run_value v;
  if (!lang_run_eval(r, node, &v)) return false;
  if (v.kind != RUN_SCALAR || (v.scalar.kind != LANG_INT && v.scalar.kind != LANG_BOOL))
    return lang_run_fail(r, node, "expected an integer");
  *result = v.scalar.integer;
  return true;
}

bool lang_run_truth(lang_runner *r, const lang_ast *node, bool *truth) {
  lang_run_value v;
  if (!lang_run_eval(r, node, &v)) return false;
  if (v.kind != RUN_SCALAR) return lang_run_fail(r, node, "this is neither true nor false");
  *truth = lang_scalar_is_true(v.scalar);
  return true;
}

// ---- operators

static bool move_pointer(lang_runner *r, const lang_ast *node, const lang_run_value *pointer, const lang_run_value *by,
                         lang_run_value *result) {
  if (by->kind != RUN_SCALAR || by->scalar.kind != LANG_INT || (node->op != AST_ADD && node->op != AST_SUB))
    return lang_run_fail(r, node, "a pointer moves by integers");
  *result = *pointer;
  const int64_t step = by->scalar.integer;
  int64_t *offset = &result->pointer.offset;
  const bool overflow = node->op == AST_ADD ? __builtin_add_overflow(*offset, step, offset)
                                            : __builtin_sub_overflow(*offset, step, offset);
  return !overflow || lang_run_fail(r, node, "this pointer is too far away");
}

static bool binary(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value a, b;
  if (!lang_run_eval(r, node->a, &a)) return false;
  if ((node->op == AST_AND || node->op == AST_OR) && a.kind == RUN_SCALAR &&
      lang_scalar_is_true(a.scalar) == (node->op == AST_OR)) {
    *result = a;
    return true;
  }
  if (!lang_run_eval(r, node->b, &b)) return false;
  if (lang_run_is_indexes(&a) || lang_run_is_indexes(&b)) return lang_run_index_operator(r, node, &a, &b, result);
  if (node->kind == AST_BINARY && (a.kind == RUN_BLOCK || b.kind == RUN_BLOCK))
    return lang_run_row_operator(r, node, &a, &b, result);
  if (a.kind == RUN_POINTER && node->kind == AST_BINARY) return move_pointer(r, node, &a, &b, result);
  if (b.kind == RUN_POINTER && node->op == AST_ADD) return move_pointer(r, node, &b, &a, result);
  lang_value v = {0};
  if (a.kind != RUN_SCALAR || b.kind != RUN_SCALAR) {
    const bool equality = node->op == AST_EQ || node->op == AST_IS || node->op == AST_NE || node->op == AST_IS_NOT;
    if (!equality || node->kind != AST_COMPARE) return lang_run_fail(r, node, "this operator has no meaning here");
    const bool same = a.kind == RUN_DTYPE && b.kind == RUN_DTYPE && a.dtype == b.dtype;
    v = (lang_value){.kind = LANG_BOOL, .integer = same == (node->op == AST_EQ || node->op == AST_IS)};
    return scalar_result(r, node, NULL, v, result);
  }
  const char *wrong = lang_scalar_binary(node->op, a.scalar, b.scalar, &v);
  return scalar_result(r, node, wrong, v, result);
}

static bool unary(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value a;
  lang_value v = {0};
  if (!lang_run_eval(r, node->a, &a)) return false;
  const lang_run_value minus = {.kind = RUN_SCALAR, .scalar = lang_int(-1)};
  const lang_ast product = {.kind = AST_BINARY, .span = node->span, .op = AST_MUL};
  if (lang_run_is_indexes(&a) && node->op == AST_NEG) return lang_run_index_operator(r, &product, &a, &minus, result);
  if (a.kind == RUN_BLOCK && node->op == AST_NEG) {
    return lang_run_arithmetic(r, node, AST_MUL, 0, &a, &minus, result);
  }
  if ((a.kind == RUN_BLOCK || lang_run_is_indexes(&a)) && node->op == AST_PLUS) {
    *result = a;
    return true;
  }
  if (a.kind != RUN_SCALAR) return lang_run_fail(r, node, "this operator has no meaning here");
  const char *wrong = lang_scalar_unary(node->op, a.scalar, &v);
  return scalar_result(r, node, wrong, v, result);
}

// ---- block pointers

static bool make_block_ptr(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_block_ptr *p = WF_ARENA_NEW(r->arena, lang_run_block_ptr);
  lang_run_value base;
  int counts[5], steps = 0;
  if (!lang_run_eval(r, args[0], &base)) return false;
  if (base.kind != RUN_POINTER) return lang_run_fail(r, args[0], "expected a pointer");
  if (!lang_run_eval_ints(r, args[1], p->extent, &counts[0]) ||
      !lang_run_eval_ints(r, args[2], p->stride, &counts[1]) ||
      !lang_run_eval_ints(r, args[3], p->offset, &counts[2]) || !lang_run_eval_ints(r, args[4], p->size, &counts[3]) ||
      (args[6] != NULL && !lang_run_eval_ints(r, args[6], p->step, &steps)))
    return false;
  p->base = base.pointer;
  p->rank = counts[3];
  for (int i = 0; i < 3; i++)
    if (counts[i] != p->rank) return lang_run_fail(r, node, "shape, strides, offsets and block_shape differ in length");
  if (args[6] != NULL && steps != p->rank) return lang_run_fail(r, node, "steps and block_shape differ in length");
  int64_t elements = 1;
  for (int d = 0; d < p->rank; d++) {
    if (args[6] == NULL) p->step[d] = 1;
    if (p->size[d] < 1 || p->size[d] > 1 << 24 || (elements *= p->size[d]) > 1 << 28 || p->step[d] < 1 ||
        p->step[d] > INT32_MAX)
      return lang_run_fail(r, node, "no such block");
  }
  *result = (lang_run_value){.kind = RUN_BLOCK_PTR, .block_ptr = p};
  return true;
}

static bool advance(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value base;
  int64_t by[RUN_RANK_MAX];
  int count;
  if (!lang_run_eval(r, args[0], &base)) return false;
  if (base.kind != RUN_BLOCK_PTR) return lang_run_fail(r, args[0], "expected a block pointer");
  if (!lang_run_eval_ints(r, args[1], by, &count)) return false;
  if (count != base.block_ptr->rank) return lang_run_fail(r, node, "as many offsets as dimensions");
  lang_run_block_ptr *p = WF_ARENA_NEW(r->arena, lang_run_block_ptr);
  *p = *base.block_ptr;
  for (int d = 0; d < count; d++)
    if (__builtin_add_overflow(p->offset[d], by[d], &p->offset[d]))
      return lang_run_fail(r, node, "this offset is too large");
  *result = (lang_run_value){.kind = RUN_BLOCK_PTR, .block_ptr = p};
  return true;
}

// ---- functions

static bool shape_of(lang_runner *r, const lang_ast *node, int64_t *size, int *rank) {
  int64_t count = 1;
  if (!lang_run_eval_ints(r, node, size, rank)) return false;
  if (*rank < 1) return lang_run_fail(r, node, "a shape has dimensions");
  for (int d = 0; d < *rank; d++)
    if (size[d] < 1 || size[d] > 1 << 24 || (count *= size[d]) > 1 << 28)
      return lang_run_fail(r, node, "no such shape");
  return true;
}

static bool dtype_of(lang_runner *r, const lang_ast *node, lang_dtype *dtype) {
  lang_run_value v;
  if (!lang_run_eval(r, node, &v)) return false;
  *dtype = v.dtype;
  return v.kind == RUN_DTYPE || lang_run_fail(r, node, "expected a type");
}

static bool filled(lang_runner *r, const lang_ast *node, const lang_ast *shape, const lang_ast *number,
                   const lang_ast *type, lang_run_value *result) {
  int64_t size[RUN_RANK_MAX];
  int rank;
  lang_dtype dtype;
  lang_run_value v = {.kind = RUN_SCALAR, .scalar = lang_int(0)};
  if (!shape_of(r, shape, size, &rank) || !dtype_of(r, type, &dtype) ||
      (number != NULL && !lang_run_eval(r, number, &v)))
    return false;
  if (v.kind != RUN_SCALAR) return lang_run_fail(r, number, "expected a number");
  return lang_run_full(r, node, size, rank, lang_scalar_number(v.scalar), dtype, result);
}

// max(x, axis=1)
static bool is_along(const lang_ast *node) {
  return node->count == 1 || (node->items[1]->kind == AST_KEYWORD || node->items[1]->kind == AST_INT);
}

static bool along_axis(lang_runner *r, const lang_ast *node, const lang_run_value *v, lang_run_value *result) {
  const lang_ast *args[BUILTIN_ARGS_MAX];
  return lang_builtin_bind(r->s, r->diag, BUILTIN_MAX, node, args) && lang_run_row_max(r, node, args, v, result);
}

static bool extreme(lang_runner *r, const lang_ast *node, lang_ast_op better, lang_run_value *result) {
  for (int i = 0; i < node->count; i++) {
    lang_run_value v;
    lang_value is_better = {0};
    if (!lang_run_eval(r, node->items[i], &v)) return false;
    if (i == 0) *result = v;
    if (v.kind == RUN_BLOCK && better == AST_GT && is_along(node)) return along_axis(r, node, &v, result);
    if (v.kind != RUN_SCALAR || result->kind != RUN_SCALAR ||
        lang_scalar_binary(better, v.scalar, result->scalar, &is_better) != NULL)
      return lang_run_fail(r, node, "min() and max() are for numbers");
    if (is_better.integer != 0) *result = v;
  }
  return node->count > 0 || lang_run_fail(r, node, "min() and max() need arguments");
}

static bool block_extreme(lang_runner *r, const lang_ast *node, const lang_ast **args, bool largest,
                          lang_run_value *result) {
  lang_run_value a, b;
  lang_value is_better = {0};
  if (!lang_run_eval(r, args[0], &a) || !lang_run_eval(r, args[1], &b)) return false;
  if (a.kind == RUN_BLOCK || b.kind == RUN_BLOCK)
    return lang_run_arithmetic(r, node, AST_ADD, largest ? 1 : -1, &a, &b, result);
  if (a.kind != RUN_SCALAR || b.kind != RUN_SCALAR ||
      lang_scalar_binary(AST_GT, a.scalar, b.scalar, &is_better) != NULL)
    return lang_run_fail(r, node, "expected numbers or blocks");
  *result = (is_better.integer != 0) == largest ? a : b;
  return true;
}

static bool number_function(lang_runner *r, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                            lang_run_value *result) {
  if (!lang_run_eval(r, args[0], result)) return false;
  if (id == BUILTIN_FLOAT && result->kind == RUN_SCALAR && lang_scalar_infinity(&result->scalar)) return true;
  if (result->kind != RUN_SCALAR || result->scalar.kind == LANG_TEXT || result->scalar.kind == LANG_NONE)
    return lang_run_fail(r, node, "expected a number");
  lang_value *v = &result->scalar;
  const bool integer = v->kind != LANG_FLOAT;
  if (id == BUILTIN_FLOAT) *v = lang_float(lang_scalar_number(*v));
  if (id == BUILTIN_INT && !integer) *v = lang_int((int64_t)v->number);
  if (id == BUILTIN_ABS)
    *v = integer ? lang_int(v->integer < 0 ? -v->integer : v->integer) : lang_float(fabs(v->number));
  return true;
}

static bool divide_up(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value a, b;
  lang_value v;
  if (!lang_run_eval(r, args[0], &a) || !lang_run_eval(r, args[1], &b)) return false;
  if (a.kind != RUN_SCALAR || b.kind != RUN_SCALAR) return lang_run_fail(r, node, "expected integers");
  const char *wrong = lang_scalar_cdiv(a.scalar, b.scalar, &v);
  return scalar_result(r, node, wrong, v, result);
}

static bool axis_value(lang_runner *r, const lang_ast *node, const int64_t *values, lang_run_value *result) {
  int64_t axis;
  if (!lang_run_eval_int(r, node, &axis)) return false;
  if (axis < 0 || axis >= LANG_GRID_AXES) return lang_run_fail(r, node, "there is no such axis");
  *result = (lang_run_value){.kind = RUN_SCALAR, .scalar = lang_int(values[axis])};
  return true;
}

static bool assertion(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  bool truth;
  *result = (lang_run_value){.kind = RUN_SCALAR, .scalar = {.kind = LANG_NONE}};
  return lang_run_truth(r, args[0], &truth) && (truth || lang_run_fail(r, node, "this does not hold"));
}

static bool call_builtin(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  const lang_builtin_id id = (lang_builtin_id)node->a->index;
  const lang_ast *args[BUILTIN_ARGS_MAX];
  lang_run_value v;
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (id == BUILTIN_MIN || id == BUILTIN_MAX) return extreme(r, node, id == BUILTIN_MAX ? AST_GT : AST_LT, result);
  if (!lang_builtin_bind(r->s, r->diag, id, node, args)) return false;
  switch (id) {
    case BUILTIN_PROGRAM_ID:
      return axis_value(r, args[0], r->program_id, result);
    case BUILTIN_NUM_PROGRAMS:
      return axis_value(r, args[0], r->instance->grid, result);
    case BUILTIN_CDIV:
      return divide_up(r, node, args, result);
    case BUILTIN_ARANGE:
      return lang_run_arange(r, node, args, result);
    case BUILTIN_MAKE_BLOCK_PTR:
      return make_block_ptr(r, node, args, result);
    case BUILTIN_ADVANCE:
      return advance(r, node, args, result);
    case BUILTIN_LOAD:
      return lang_run_load(r, node, args, result);
    case BUILTIN_STORE:
      *result = (lang_run_value){.kind = RUN_SCALAR, .scalar = {.kind = LANG_NONE}};
      return lang_run_store(r, node, args);
    case BUILTIN_DOT:
      return lang_run_dot(r, node, args, result);
    case BUILTIN_TRANS:
      return lang_run_eval(r, args[0], &v) && lang_run_transpose(r, node, &v, result);
    case BUILTIN_ZEROS:
      return filled(r, node, args[0], NULL, args[1], result);
    case BUILTIN_FULL:
      return filled(r, node, args[0], args[1], args[2], result);
    case BUILTIN_MAXIMUM:
    case BUILTIN_MINIMUM:
      return block_extreme(r, node, args, id == BUILTIN_MAXIMUM, result);
    case BUILTIN_SUM:
      return lang_run_row_sum(r, node, args, result);
    case BUILTIN_RSQRT:
      return lang_run_row_rsqrt(r, node, args, result);
    case BUILTIN_WHERE:
      return lang_run_where(r, node, args, result);
    case BUILTIN_EXP:
    case BUILTIN_EXP2:
      return lang_run_row_exp(r, node, id, args, result);
    case BUILTIN_ERF:
    case BUILTIN_TANH:
    case BUILTIN_SIGMOID:
      return lang_run_curve_function(r, node, id, args, result);
    case BUILTIN_RESHAPE:
    case BUILTIN_VIEW:
      return lang_run_eval(r, args[0], &v) && shape_of(r, args[1], size, &rank) &&
             lang_run_reshape(r, node, &v, size, rank, result);
    case BUILTIN_STATIC_ASSERT:
    case BUILTIN_ASSUME:
      return assertion(r, node, args, result);
    case BUILTIN_MULTIPLE_OF:
    case BUILTIN_MAX_CONTIGUOUS:
    case BUILTIN_CONSTEXPR:
      return lang_run_eval(r, args[0], result);
    case BUILTIN_ABS:
    case BUILTIN_INT:
    case BUILTIN_FLOAT:
      return number_function(r, node, id, args, result);
    default:
      return lang_run_fail(r, node, "%s() stands behind 'in' of a loop", lang_builtin_names[id]);
  }
}

static bool call_method(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value v;
  lang_dtype dtype;
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (!lang_run_eval(r, node->a->a, &v)) return false;
  if (node->a->index == METHOD_TO && node->count == 1)
    return dtype_of(r, node->items[0], &dtype) && lang_run_convert(r, node, &v, dtype, result);
  if (node->a->index != METHOD_RESHAPE) return lang_run_fail(r, node, "this cannot be called so");
  const lang_ast all = {.kind = AST_TUPLE, .span = node->span, .items = node->items, .count = node->count};
  return shape_of(r, node->count == 1 ? node->items[0] : &all, size, &rank) &&
         lang_run_reshape(r, node, &v, size, rank, result);
}

// ---- names and parts

static bool attribute(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value v;
  if (node->meaning != AST_METHOD) return lang_run_fail(r, node, "this has no value");
  if (!lang_run_eval(r, node->a, &v)) return false;
  if (node->index == METHOD_TRANSPOSED) return lang_run_transpose(r, node, &v, result);
  if (v.kind == RUN_POINTER && (node->index == METHOD_DTYPE || node->index == METHOD_TYPE))
    *result = (lang_run_value){.kind = RUN_ELEMENT, .dtype = r->tensor_types[v.pointer.tensor]};
  else if (v.kind == RUN_BLOCK && node->index == METHOD_DTYPE)
    *result = (lang_run_value){.kind = RUN_DTYPE, .dtype = v.block->dtype};
  else if (v.kind == RUN_ELEMENT && node->index == METHOD_ELEMENT)
    *result = (lang_run_value){.kind = RUN_DTYPE, .dtype = v.dtype};
  else
    return lang_run_fail(r, node, "there is no such part");
  return true;
}

static bool subscript(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value v;
  int64_t at, size[RUN_RANK_MAX];
  int rank = 0, from = 0;
  if (!lang_run_eval(r, node->a, &v)) return false;
  if (v.kind == RUN_TUPLE) {
    if (!lang_run_eval_int(r, node->items[0], &at)) return false;
    if (at < 0) at += v.tuple.count;
    if (node->count != 1 || at < 0 || at >= v.tuple.count) return lang_run_fail(r, node, "there is no such element");
    *result = v.tuple.items[at];
    return true;
  }
  const bool indexes = lang_run_is_indexes(&v);
  if (v.kind != RUN_BLOCK && !indexes) return lang_run_fail(r, node, "this has no elements");
  const int old_rank = indexes ? v.indexes->rank : v.block->rank;
  const int64_t *old_size = indexes ? v.indexes->size : v.block->size;
  for (int i = 0; i < node->count; i++) {
    const bool new_one = node->items[i]->kind == AST_NONE;
    if ((!new_one && node->items[i]->kind != AST_SLICE) || rank == RUN_RANK_MAX || (!new_one && from == old_rank))
      return lang_run_fail(r, node, "no such index");
    size[rank++] = new_one ? 1 : old_size[from++];
  }
  for (; from < old_rank && rank < RUN_RANK_MAX; from++) size[rank++] = old_size[from];
  if (indexes) return lang_run_index_reshape(r, node, &v, size, rank, result);
  return lang_run_reshape(r, node, &v, size, rank, result);
}

static bool tuple(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  lang_run_value *items = WF_ARENA_ARRAY(r->arena, (size_t)node->count + 1, lang_run_value);
  for (int i = 0; i < node->count; i++)
    if (!lang_run_eval(r, node->items[i], &items[i])) return false;
  *result = (lang_run_value){.kind = RUN_TUPLE, .tuple = {items, node->count}};
  return true;
}

static bool name(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  if (node->meaning == AST_DTYPE) {
    *result = (lang_run_value){.kind = RUN_DTYPE, .dtype = (lang_dtype)node->index};
    return true;
  }
  if (node->meaning != AST_LOCAL) return lang_run_fail(r, node, "'%s' has no value", node->name);
  *result = r->frame->locals[node->index];
  return result->kind != RUN_UNSET || lang_run_fail(r, node, "'%s' is used before it has a value", node->name);
}

static bool call(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  switch (node->a->meaning) {
    case AST_BUILTIN:
      return call_builtin(r, node, result);
    case AST_CALLEE:
      return lang_run_call(r, node, result);
    case AST_METHOD:
      return call_method(r, node, result);
    default:
      return lang_run_fail(r, node, "this cannot be called");
  }
}

bool lang_run_eval(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  bool truth;
  switch (node->kind) {
    case AST_INT:
      return scalar_result(r, node, NULL, lang_int(node->integer), result);
    case AST_FLOAT:
      return scalar_result(r, node, NULL, lang_float(node->number), result);
    case AST_BOOL:
      return scalar_result(r, node, NULL, (lang_value){.kind = LANG_BOOL, .integer = node->integer}, result);
    case AST_STRING:
      return scalar_result(r, node, NULL, (lang_value){.kind = LANG_TEXT, .text = node->name}, result);
    case AST_NONE:
      return scalar_result(r, node, NULL, (lang_value){.kind = LANG_NONE}, result);
    case AST_NAME:
      return name(r, node, result);
    case AST_TUPLE:
    case AST_LIST:
      return tuple(r, node, result);
    case AST_ATTRIBUTE:
      return node->meaning == AST_DTYPE ? name(r, node, result) : attribute(r, node, result);
    case AST_SUBSCRIPT:
      return subscript(r, node, result);
    case AST_UNARY:
      return unary(r, node, result);
    case AST_BINARY:
    case AST_COMPARE:
      return binary(r, node, result);
    case AST_CONDITIONAL:
      return lang_run_truth(r, node->b, &truth) && lang_run_eval(r, truth ? node->a : node->c, result);
    case AST_CALL:
      return call(r, node, result);
    default:
      return lang_run_fail(r, node, "this has no meaning here");
  }
}
