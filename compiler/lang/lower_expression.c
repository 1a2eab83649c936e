// SPDX-License-Identifier: Apache-2.0
// Expressions: names, tuples, functions, methods. Operators are in lower_operator.c, blocks in lower_block.c.
#include <math.h>
#include <string.h>

#include "compiler/lang/lower.h"
#include "compiler/lang/scalar.h"

// ---- tuples

bool lang_lower_eval_constant(lang_lowerer *l, const lang_ast *node, const char *what, int64_t *result) {
  lang_lower_value v;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  if (lang_lower_is_constant(&v, result)) return true;
  if (v.kind == VALUE_INDEX) return lang_lower_fail(l, node, "%s varies with a loop", what);
  return lang_lower_fail(l, node, "%s must be an integer, not %s", what, lang_lower_kind_text(&v));
}

static bool tuple(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  lang_lower_value *items = WF_ARENA_ARRAY(l->run, (size_t)node->count + 1, lang_lower_value);
  for (int i = 0; i < node->count; i++)
    if (!lang_lower_eval(l, node->items[i], BLOCK_NONE, &items[i])) return false;
  *result = (lang_lower_value){.kind = VALUE_TUPLE, .tuple = {items, node->count}};
  return true;
}

bool lang_lower_eval_tuple(lang_lowerer *l, const lang_ast *node, const lang_lower_value **items, int *count) {
  lang_lower_value *v = WF_ARENA_NEW(l->run, lang_lower_value);
  if (!lang_lower_eval(l, node, BLOCK_NONE, v)) return false;
  *items = v->kind == VALUE_TUPLE ? v->tuple.items : v;
  *count = v->kind == VALUE_TUPLE ? v->tuple.count : 1;
  return true;
}

// A shape: `what` for messages. Elements of a block are counted in 31 bits.
static bool eval_shape(lang_lowerer *l, const lang_ast *node, int64_t *size, int *rank) {
  const lang_lower_value *items;
  int64_t elements = 1;
  if (!lang_lower_eval_tuple(l, node, &items, rank)) return false;
  if (*rank < 1 || *rank > BLOCK_RANK_MAX)
    return lang_lower_fail(l, node, "blocks have 1 to %d dimensions", BLOCK_RANK_MAX);
  for (int d = 0; d < *rank; d++) {
    if (!lang_lower_is_constant(&items[d], &size[d]))
      return lang_lower_fail(l, node, "the shape of a block must be known integers");
    if (size[d] < 1) return lang_lower_fail(l, node, "dimension %d of this shape is %lld", d, (long long)size[d]);
    if (__builtin_mul_overflow(elements, size[d], &elements) || elements > INT32_MAX)
      return lang_lower_fail(l, node, "a block of this shape has too many elements");
  }
  return true;
}

// ---- block pointers

static bool numbers_of(lang_lowerer *l, const lang_ast *node, int rank, const char *what,
                       const lang_lower_value **items) {
  int count;
  if (!lang_lower_eval_tuple(l, node, items, &count)) return false;
  if (count != rank)
    return lang_lower_fail(l, node, "%s has %d entries for a block of %d dimensions", what, count, rank);
  for (int d = 0; d < rank; d++)
    if ((*items)[d].kind != VALUE_INDEX)
      return lang_lower_fail(l, node->count == rank ? node->items[d] : node, "%s must be integers, not %s", what,
                             lang_lower_kind_text(&(*items)[d]));
  return true;
}

static bool known_numbers(lang_lowerer *l, const lang_ast *node, int rank, const char *what, int64_t least,
                          int64_t *numbers) {
  const lang_lower_value *items;
  if (!numbers_of(l, node, rank, what, &items)) return false;
  for (int d = 0; d < rank; d++) {
    const lang_ast *place = node->count == rank ? node->items[d] : node;
    if (!lang_lower_is_constant(&items[d], &numbers[d]))
      return lang_lower_fail(l, place, "%s varies with a loop", what);
    if (numbers[d] < least)
      return lang_lower_fail(l, place, "%s must be %lld or more, this is %lld", what, (long long)least,
                             (long long)numbers[d]);
  }
  return true;
}

static bool check_order(lang_lowerer *l, const lang_ast *node, int rank) {
  int64_t order[BLOCK_RANK_MAX];
  unsigned seen = 0;
  if (node == NULL) return true;
  if (!known_numbers(l, node, rank, "order", 0, order)) return false;
  for (int d = 0; d < rank; d++)
    if (order[d] < rank) seen |= 1U << order[d];
  return seen == (1U << rank) - 1 || lang_lower_fail(l, node, "order must name every dimension once");
}

static bool make_block_ptr(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value base;
  int64_t size[BLOCK_RANK_MAX], extent[BLOCK_RANK_MAX], stride[BLOCK_RANK_MAX], step[BLOCK_RANK_MAX] = {1, 1, 1, 1, 1};
  const lang_lower_value *offsets;
  int rank;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &base)) return false;
  if (base.kind != VALUE_POINTER)
    return lang_lower_fail(l, args[0], "the base must be a pointer, not %s", lang_lower_kind_text(&base));
  if (!eval_shape(l, args[4], size, &rank) || !known_numbers(l, args[1], rank, "shape", 0, extent) ||
      !known_numbers(l, args[2], rank, "strides", 0, stride) || !numbers_of(l, args[3], rank, "offsets", &offsets) ||
      !check_order(l, args[5], rank) || (args[6] != NULL && !known_numbers(l, args[6], rank, "steps", 1, step)))
    return false;
  lang_lower_block_ptr *p = WF_ARENA_NEW(l->run, lang_lower_block_ptr);
  *p = (lang_lower_block_ptr){
      .tensor = base.pointer.tensor, .base = base.pointer.offset, .rank = rank, .span = node->span};
  for (int d = 0; d < rank; d++) {
    int64_t last;
    p->dim[d].offset = offsets[d].index;
    p->dim[d].step = step[d], p->dim[d].size = size[d], p->dim[d].extent = extent[d], p->dim[d].stride = stride[d];
    if (__builtin_mul_overflow(extent[d], stride[d], &last) || last > INT64_MAX / 16 ||
        __builtin_mul_overflow(step[d], size[d], &last) || last > INT64_MAX / 16)
      return lang_lower_fail(l, args[1], "dimension %d of this shape has more elements than memory", d);
  }
  *result = (lang_lower_value){.kind = VALUE_BLOCK_PTR, .block_ptr = p};
  return true;
}

static bool advance(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value base;
  const lang_lower_value *by;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &base)) return false;
  if (base.kind != VALUE_BLOCK_PTR)
    return lang_lower_fail(l, args[0], "advance() needs a block pointer, not %s", lang_lower_kind_text(&base));
  if (!numbers_of(l, args[1], base.block_ptr->rank, "offsets", &by)) return false;
  lang_lower_block_ptr *p = WF_ARENA_NEW(l->run, lang_lower_block_ptr);
  *p = *base.block_ptr;
  for (int d = 0; d < p->rank; d++)
    if (!lang_lower_index_add(&base.block_ptr->dim[d].offset, &by[d].index, &p->dim[d].offset))
      return lang_lower_too_large(l, node);
  *result = (lang_lower_value){.kind = VALUE_BLOCK_PTR, .block_ptr = p};
  return true;
}

// ---- built-in functions

static bool axis_of(lang_lowerer *l, const lang_ast *node, int64_t *axis) {
  if (!lang_lower_eval_constant(l, node, "the axis", axis)) return false;
  return (*axis >= 0 && *axis < LANG_GRID_AXES) ||
         lang_lower_fail(l, node, "a grid has the axes 0 to %d", LANG_GRID_AXES - 1);
}

static bool ceiling_divide(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value x, divisor, up;
  int64_t by;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &x) || !lang_lower_eval(l, args[1], BLOCK_NONE, &divisor)) return false;
  if (x.kind != VALUE_INDEX || !lang_lower_is_constant(&divisor, &by))
    return lang_lower_fail(l, node, "cdiv() needs integers, and a divisor that is known");
  const lang_lower_index less = lang_lower_constant(by - 1), index = lang_lower_constant(by);
  up.kind = VALUE_INDEX;
  if (!lang_lower_index_add(&x.index, &less, &up.index)) return lang_lower_too_large(l, node);
  return lang_lower_divide(l, node, false, &up.index, &index, result);
}

static bool dtype_of(lang_lowerer *l, const lang_ast *node, lang_dtype *dtype) {
  lang_lower_value v;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  if (v.kind != VALUE_DTYPE) return lang_lower_fail(l, node, "expected a type, found %s", lang_lower_kind_text(&v));
  *dtype = v.dtype;
  return true;
}

static bool filled(lang_lowerer *l, const lang_ast *node, const lang_ast *shape, const lang_ast *number,
                   const lang_ast *type, lang_lower_value *result) {
  int64_t size[BLOCK_RANK_MAX];
  int rank;
  lang_dtype dtype;
  double what = 0;
  lang_lower_value v;
  if (!eval_shape(l, shape, size, &rank) || !dtype_of(l, type, &dtype)) return false;
  if (number != NULL) {
    if (!lang_lower_eval(l, number, BLOCK_NONE, &v)) return false;
    if (!lang_lower_is_number(&v, &what))
      return lang_lower_fail(l, number, "expected a number, found %s", lang_lower_kind_text(&v));
  }
  return lang_lower_full(l, node, size, rank, what, dtype, result);
}

static bool transpose(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_lower_value *result) {
  if (v->kind != VALUE_BLOCK)
    return lang_lower_fail(l, node, "only blocks can be transposed, not %s", lang_lower_kind_text(v));
  if (v->block.rank != 2) return lang_lower_fail(l, node, "only blocks of two dimensions can be transposed");
  *result = *v;
  result->block.size[0] = v->block.size[1];
  result->block.size[1] = v->block.size[0];
  result->block.transposed = !v->block.transposed;
  return true;
}

// maximum(), minimum(): of blocks, or of numbers.
static bool block_extreme(lang_lowerer *l, const lang_ast *node, block_op op, const lang_ast **args, int into,
                          lang_lower_value *result) {
  lang_lower_value a, b;
  double x, y;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &a) || !lang_lower_eval(l, args[1], BLOCK_NONE, &b)) return false;
  if (a.kind == VALUE_BLOCK || b.kind == VALUE_BLOCK) return lang_lower_arithmetic(l, node, op, &a, &b, into, result);
  if (!lang_lower_is_number(&a, &x) || !lang_lower_is_number(&b, &y))
    return lang_lower_fail(l, node, "%s and %s cannot be compared", lang_lower_kind_text(&a), lang_lower_kind_text(&b));
  *result = (x > y) == (op == BLOCK_OP_MAX) ? a : b;
  return true;
}

// max(x, axis=1), max(x, 1) of a block; max(x).
static bool is_along(const lang_ast *node, const lang_lower_value *v) {
  if (v->kind != VALUE_BLOCK && v->kind != VALUE_ROWS) return false;
  if (node->count == 1 || node->items[1]->kind == AST_KEYWORD) return true;
  const int rank = v->kind == VALUE_BLOCK ? v->block.rank : v->rows->block.rank;
  return node->items[1]->kind == AST_INT && node->items[1]->integer < rank;
}

static bool along_axis(lang_lowerer *l, const lang_ast *node, lang_lower_value *v) {
  const lang_ast *args[BUILTIN_ARGS_MAX];
  const lang_lower_value of = *v;
  return lang_builtin_bind(l->s, l->diag, BUILTIN_MAX, node, args) && lang_lower_row_max(l, node, args, &of, v);
}

// min(x, axis=0) of Triton.
static bool refuse_reduction(lang_lowerer *l, const lang_ast *keyword) {
  lang_lower_fail(l, keyword, "reductions within a block have no meaning here");
  lang_lower_hint(l, "a block has max() and sum() along its last axis, in softmax");
  return false;
}

// Python's min() and max() of numbers; of what varies with loops if one is always the smaller one.
static bool extreme(lang_lowerer *l, const lang_ast *node, bool largest, lang_lower_value *result) {
  if (node->count == 0) return lang_lower_fail(l, node, "min() and max() need arguments");
  if (!lang_lower_eval(l, node->items[0], BLOCK_NONE, result)) return false;
  if (largest && is_along(node, result)) return along_axis(l, node, result);
  if (node->count == 1 && (result->kind == VALUE_BLOCK || result->kind == VALUE_ROWS)) return refuse_reduction(l, node);
  for (int i = 1; i < node->count; i++) {
    lang_lower_value next;
    double x, y;
    if (node->items[i]->kind == AST_KEYWORD) return refuse_reduction(l, node->items[i]);
    if (!lang_lower_eval(l, node->items[i], BLOCK_NONE, &next)) return false;
    if (result->kind == VALUE_INDEX && next.kind == VALUE_INDEX) {
      int64_t least, most;
      const bool known = lang_lower_difference(l, &next.index, &result->index, &least, &most);
      if (!known || (least < 0 && most > 0))
        return lang_lower_fail(l, node, "which one it is changes in the loops around it");
      if (largest ? most > 0 : least < 0) *result = next;
    } else if (lang_lower_is_number(result, &x) && lang_lower_is_number(&next, &y)) {
      if (largest ? y > x : y < x) *result = next;
    } else {
      lang_lower_fail(l, node, "min() and max() are for numbers");
      if (result->kind == VALUE_BLOCK || next.kind == VALUE_BLOCK) lang_lower_hint(l, "use minimum() and maximum()");
      return false;
    }
  }
  return true;
}

static bool number_function(lang_lowerer *l, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                            lang_lower_value *result) {
  double number;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, result)) return false;
  if (id == BUILTIN_FLOAT && result->kind == VALUE_SCALAR && lang_scalar_infinity(&result->scalar)) return true;
  if (id == BUILTIN_INT && result->kind == VALUE_INDEX) return true;
  if (!lang_lower_is_number(result, &number))
    return lang_lower_fail(l, node, "%s() needs a number, not %s", lang_builtin_names[id],
                           lang_lower_kind_text(result));
  if (id == BUILTIN_INT || (id == BUILTIN_ABS && result->kind == VALUE_INDEX)) {
    if (!(fabs(number) < 9e15)) return lang_lower_too_large(l, node);
    *result = lang_lower_int((int64_t)(id == BUILTIN_ABS ? fabs(number) : number));
    return true;
  }
  number = id == BUILTIN_ABS ? fabs(number) : number;
  *result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_FLOAT, .number = number}};
  return true;
}

static bool static_assert_(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  bool truth;
  lang_lower_value message;
  if (!lang_lower_truth(l, args[0], &truth)) return false;
  *result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_NONE}};
  if (truth) return true;
  bool text = args[1] != NULL && lang_lower_eval(l, args[1], BLOCK_NONE, &message) && message.kind == VALUE_SCALAR &&
              message.scalar.kind == LANG_TEXT;
  return lang_lower_fail(l, node, "%s", text ? message.scalar.text : "this does not hold");
}

static bool call_builtin(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result) {
  const lang_builtin_id id = (lang_builtin_id)node->a->index;
  const lang_ast *args[BUILTIN_ARGS_MAX];
  lang_lower_value v;
  int64_t axis, size[BLOCK_RANK_MAX];
  int rank;
  if (id == BUILTIN_MIN || id == BUILTIN_MAX) return extreme(l, node, id == BUILTIN_MAX, result);
  if (!lang_builtin_bind(l->s, l->diag, id, node, args)) return false;
  switch (id) {
    case BUILTIN_PROGRAM_ID:
      if (!axis_of(l, args[0], &axis)) return false;
      *result = (lang_lower_value){.kind = VALUE_INDEX, .index = l->axis[axis]};
      return true;
    case BUILTIN_NUM_PROGRAMS:
      if (!axis_of(l, args[0], &axis)) return false;
      *result = lang_lower_int(l->instance->grid[axis]);
      return true;
    case BUILTIN_CDIV:
      return ceiling_divide(l, node, args, result);
    case BUILTIN_ARANGE:
      return lang_lower_arange(l, node, args, result);
    case BUILTIN_MAKE_BLOCK_PTR:
      return make_block_ptr(l, node, args, result);
    case BUILTIN_ADVANCE:
      return advance(l, node, args, result);
    case BUILTIN_LOAD:
      return lang_lower_load(l, node, args, result);
    case BUILTIN_STORE:
      *result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_NONE}};
      return lang_lower_store(l, node, args);
    case BUILTIN_DOT:
      if (args[2] == NULL) return lang_lower_dot(l, node, args, NULL, into, result);
      return lang_lower_eval(l, args[2], BLOCK_NONE, &v) && lang_lower_dot(l, node, args, &v, into, result);
    case BUILTIN_TRANS:
      return lang_lower_eval(l, args[0], BLOCK_NONE, &v) && transpose(l, node, &v, result);
    case BUILTIN_ZEROS:
      return filled(l, node, args[0], NULL, args[1], result);
    case BUILTIN_FULL:
      return filled(l, node, args[0], args[1], args[2], result);
    case BUILTIN_MAXIMUM:
      return block_extreme(l, node, BLOCK_OP_MAX, args, into, result);
    case BUILTIN_MINIMUM:
      return block_extreme(l, node, BLOCK_OP_MIN, args, into, result);
    case BUILTIN_SUM:
      return lang_lower_row_sum(l, node, args, result);
    case BUILTIN_WHERE:
      return lang_lower_where(l, node, args, result);
    case BUILTIN_EXP:
    case BUILTIN_EXP2:
      return lang_lower_row_exp(l, node, id, args, result);
    case BUILTIN_RSQRT:
      return lang_lower_row_rsqrt(l, node, args, result);
    case BUILTIN_ERF:
    case BUILTIN_TANH:
    case BUILTIN_SIGMOID:
      return lang_lower_curve_function(l, node, id, args, result);
    case BUILTIN_RESHAPE:
    case BUILTIN_VIEW:
      return lang_lower_eval(l, args[0], BLOCK_NONE, &v) && eval_shape(l, args[1], size, &rank) &&
             lang_lower_reshape(l, node, &v, size, rank, result);
    case BUILTIN_STATIC_ASSERT:
    case BUILTIN_ASSUME:
      return static_assert_(l, node, args, result);
    case BUILTIN_MULTIPLE_OF:
    case BUILTIN_MAX_CONTIGUOUS:
    case BUILTIN_CONSTEXPR:
      return lang_lower_eval(l, args[0], into, result);
    case BUILTIN_ABS:
    case BUILTIN_INT:
    case BUILTIN_FLOAT:
      return number_function(l, node, id, args, result);
    default:
      return lang_lower_fail(l, node, "%s() stands behind 'in' of a loop", lang_builtin_names[id]);
  }
}

// ---- methods, subscripts, names

static bool call_method(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  const lang_ast *method = node->a;
  lang_lower_value v;
  lang_dtype dtype;
  int64_t size[BLOCK_RANK_MAX];
  int rank;
  if (!lang_lower_eval(l, method->a, BLOCK_NONE, &v)) return false;
  for (int i = 0; i < node->count; i++)
    if (node->items[i]->kind == AST_KEYWORD)
      return lang_lower_fail(l, node->items[i], ".%s() has no parameters with names", method->name);
  if (method->index == METHOD_TO) {
    if (node->count != 1) return lang_lower_fail(l, node, ".to() takes one type");
    return dtype_of(l, node->items[0], &dtype) && lang_lower_convert(l, node, &v, dtype, result);
  }
  if (method->index != METHOD_RESHAPE) return lang_lower_fail(l, node, "'.%s' cannot be called", method->name);
  // x.reshape((a, b)) and x.reshape(a, b)
  const lang_ast all = {.kind = AST_TUPLE, .span = node->span, .items = node->items, .count = node->count};
  return eval_shape(l, node->count == 1 ? node->items[0] : &all, size, &rank) &&
         lang_lower_reshape(l, node, &v, size, rank, result);
}

static bool attribute(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  lang_lower_value v;
  if (node->meaning != AST_METHOD) return lang_lower_fail(l, node, "this has no value");
  if (!lang_lower_eval(l, node->a, BLOCK_NONE, &v)) return false;
  if (node->index == METHOD_TRANSPOSED) return transpose(l, node, &v, result);
  if ((node->index == METHOD_DTYPE || node->index == METHOD_TYPE) && v.kind == VALUE_POINTER) {
    block_type type = l->program->tensors[v.pointer.tensor].type;
    *result = (lang_lower_value){.kind = VALUE_ELEMENT, .dtype = type == BLOCK_I8 ? LANG_INT8 : LANG_INT32};
    return true;
  }
  if (node->index == METHOD_DTYPE && v.kind == VALUE_BLOCK) {
    static const lang_dtype types[] = {[BLOCK_I8] = LANG_INT8, [BLOCK_I32] = LANG_INT32, [BLOCK_F32] = LANG_FLOAT32};
    *result = (lang_lower_value){.kind = VALUE_DTYPE, .dtype = types[l->program->buffers[v.block.buffer].type]};
    return true;
  }
  if (node->index == METHOD_ELEMENT && v.kind == VALUE_ELEMENT) {
    *result = (lang_lower_value){.kind = VALUE_DTYPE, .dtype = v.dtype};
    return true;
  }
  return lang_lower_fail(l, node, "%s has no '.%s'", lang_lower_kind_text(&v), node->name);
}

// x[None, :] puts dimensions of one in; t[1] takes an element of a tuple.
static bool subscript(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  lang_lower_value v;
  int64_t at, size[BLOCK_RANK_MAX];
  int rank = 0, from = 0;
  if (!lang_lower_eval(l, node->a, BLOCK_NONE, &v)) return false;
  if (v.kind == VALUE_TUPLE) {
    if (node->count != 1) return lang_lower_fail(l, node, "a tuple has one index");
    if (!lang_lower_eval_constant(l, node->items[0], "the index", &at)) return false;
    if (at < 0) at += v.tuple.count;
    if (at < 0 || at >= v.tuple.count) return lang_lower_fail(l, node, "this tuple has %d elements", v.tuple.count);
    *result = v.tuple.items[at];
    return true;
  }
  if (lang_lower_is_indexes(&v)) return lang_lower_index_subscript(l, node, &v, result);
  if (v.kind == VALUE_ROWS) return lang_lower_row_subscript(l, node, &v, result);
  if (v.kind != VALUE_BLOCK) return lang_lower_fail(l, node, "%s has no elements", lang_lower_kind_text(&v));
  for (int i = 0; i < node->count; i++) {
    const lang_ast *item = node->items[i];
    if (item->kind != AST_NONE && item->kind != AST_SLICE) {
      lang_lower_fail(l, item, "a block takes ':' and None as indexes");
      lang_lower_hint(l, "load the part that is needed");
      return false;
    }
    if (rank == BLOCK_RANK_MAX || (item->kind == AST_SLICE && from == v.block.rank))
      return lang_lower_fail(l, node, "too many indexes");
    size[rank++] = item->kind == AST_NONE ? 1 : v.block.size[from++];
  }
  for (; from < v.block.rank && rank < BLOCK_RANK_MAX; from++) size[rank++] = v.block.size[from];
  return lang_lower_reshape(l, node, &v, size, rank, result);
}

static bool name(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  if (node->meaning == AST_DTYPE) {
    *result = (lang_lower_value){.kind = VALUE_DTYPE, .dtype = (lang_dtype)node->index};
    return true;
  }
  if (node->meaning != AST_LOCAL) return lang_lower_fail(l, node, "'%s' has no value", node->name);
  *result = l->frame->locals[node->index];
  if (result->kind == VALUE_UNSET) return lang_lower_fail(l, node, "'%s' is used before it has a value", node->name);
  if (result->kind == VALUE_LOST)
    return lang_lower_fail(l, node, "'%s' changes from iteration to iteration in a way that is not affine", node->name);
  return true;
}

bool lang_lower_truth(lang_lowerer *l, const lang_ast *node, bool *truth) {
  lang_lower_value v;
  double number;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  if (lang_lower_is_number(&v, &number))
    *truth = number != 0;
  else if (v.kind == VALUE_SCALAR)
    *truth = v.scalar.kind == LANG_TEXT && v.scalar.text[0] != 0;
  else if (v.kind == VALUE_INDEX)
    return lang_lower_fail(l, node, "this condition varies with a loop");
  else
    return lang_lower_fail(l, node, "%s is neither true nor false", lang_lower_kind_text(&v));
  return true;
}

bool lang_lower_eval(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result) {
  bool truth;
  lang_value literal;
  if (lang_scalar_literal(node, &literal)) {
    *result = node->kind == AST_INT ? lang_lower_int(node->integer)
                                    : (lang_lower_value){.kind = VALUE_SCALAR, .scalar = literal};
    return true;
  }
  switch (node->kind) {
    case AST_NAME:
      return name(l, node, result);
    case AST_TUPLE:
    case AST_LIST:
      return tuple(l, node, result);
    case AST_ATTRIBUTE:
      return node->meaning == AST_DTYPE ? name(l, node, result) : attribute(l, node, result);
    case AST_SUBSCRIPT:
      return subscript(l, node, result);
    case AST_UNARY:
      return lang_lower_unary(l, node, into, result);
    case AST_BINARY:
    case AST_COMPARE:
      return lang_lower_binary(l, node, into, result);
    case AST_CONDITIONAL:
      return lang_lower_truth(l, node->b, &truth) && lang_lower_eval(l, truth ? node->a : node->c, into, result);
    case AST_CALL:
      if (node->a->meaning == AST_BUILTIN) return call_builtin(l, node, into, result);
      if (node->a->meaning == AST_CALLEE) return lang_lower_call(l, node, result);
      if (node->a->meaning == AST_METHOD) return call_method(l, node, result);
      return lang_lower_fail(l, node->a, "this cannot be called");
    default:
      return lang_lower_fail(l, node, "this has no meaning here");
  }
}
