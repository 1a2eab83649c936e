// SPDX-License-Identifier: Apache-2.0
// Operators on numbers, pointers and blocks. A number is known or affine in loops; what would be neither is refused.
#include <math.h>
#include <string.h>

#include "compiler/lang/lower.h"

bool lang_lower_too_large(lang_lowerer *l, const lang_ast *node) {
  return lang_lower_fail(l, node, "the result does not fit in 64 bits");
}

static const char not_affine[] = "this is not affine in the loops around it";

// ---- numbers

static bool index_result(lang_lowerer *l, const lang_ast *node, bool fits, const lang_lower_index *index,
                         lang_lower_value *result) {
  if (!fits) return lang_lower_too_large(l, node);
  *result = (lang_lower_value){.kind = VALUE_INDEX, .index = *index};
  return true;
}

static bool multiply(lang_lowerer *l, const lang_ast *node, const lang_lower_index *a, const lang_lower_index *b,
                     lang_lower_value *result) {
  lang_lower_index r = {0};
  if (a->loops != 0 && b->loops != 0) return lang_lower_fail(l, node, not_affine);
  bool fits = b->loops == 0 ? lang_lower_index_times(a, b->constant, &r) : lang_lower_index_times(b, a->constant, &r);
  return index_result(l, node, fits, &r, result);
}

// A loop of the grid that would make a // by affine if it were two: the inner one with as many trips as make up `by`.
static void want_split(lang_lowerer *l, const lang_lower_index *a, int64_t by) {
  for (uint32_t left = a->loops; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const int64_t factor = a->per_loop[i], trips = l->program->loops[i].trips;
    if (!l->program->loops[i].parallel || factor < 1 || by % factor != 0 || by / factor >= trips) continue;
    if (trips % (by / factor) != 0) continue;
    l->split_loop = i;
    l->split_by = by / factor;
  }
}

bool lang_lower_divide(lang_lowerer *l, const lang_ast *node, bool rest, const lang_lower_index *a,
                       const lang_lower_index *b, lang_lower_value *result) {
  lang_lower_index quotient, remainder;
  if (b->loops != 0) return lang_lower_fail(l, node, not_affine);
  if (b->constant == 0) return lang_lower_fail(l, node, "division by zero");
  if (!lang_lower_index_divide(l->program, a, b->constant, &quotient, &remainder)) {
    if (b->constant > 1) want_split(l, a, b->constant);
    return lang_lower_fail(l, node, not_affine);
  }
  *result = (lang_lower_value){.kind = VALUE_INDEX, .index = rest ? remainder : quotient};
  return true;
}

static bool power(lang_lowerer *l, const lang_ast *node, int64_t base, int64_t exponent, lang_lower_value *result) {
  int64_t r = 1;
  if (exponent < 0) {
    *result = (lang_lower_value){.kind = VALUE_SCALAR,
                                 .scalar = {.kind = LANG_FLOAT, .number = pow((double)base, (double)exponent)}};
    return true;
  }
  for (int64_t i = 0; i < exponent && base != 0 && base != 1; i++)
    if (__builtin_mul_overflow(r, base, &r)) return lang_lower_too_large(l, node);
  *result = lang_lower_int(base == 0 && exponent > 0 ? 0 : r);
  return true;
}

static bool shift(lang_lowerer *l, const lang_ast *node, const lang_lower_index *a, int64_t by,
                  lang_lower_value *result) {
  lang_lower_index r = {0};
  if (by < 0 || by > 62) return lang_lower_fail(l, node, "a shift by %lld bits", (long long)by);
  if (node->op == AST_SHL) return index_result(l, node, lang_lower_index_times(a, (int64_t)1 << by, &r), &r, result);
  const lang_lower_index divisor = lang_lower_constant((int64_t)1 << by);
  return lang_lower_divide(l, node, false, a, &divisor, result);
}

static bool known_integers(lang_lowerer *l, const lang_ast *node, const lang_lower_index *a, const lang_lower_index *b,
                           lang_lower_value *result) {
  if (a->loops != 0 || b->loops != 0) return lang_lower_fail(l, node, not_affine);
  int64_t x = a->constant, y = b->constant;
  switch (node->op) {
    case AST_POW:
      return power(l, node, x, y, result);
    case AST_BIT_AND:
      *result = lang_lower_int(x & y);
      return true;
    case AST_BIT_OR:
      *result = lang_lower_int(x | y);
      return true;
    case AST_BIT_XOR:
      *result = lang_lower_int(x ^ y);
      return true;
    case AST_DIV:
      if (y == 0) return lang_lower_fail(l, node, "division by zero");
      *result =
          (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_FLOAT, .number = (double)x / (double)y}};
      return true;
    default:
      return lang_lower_fail(l, node, "'%s' has no meaning for integers", lang_ast_op_texts[node->op]);
  }
}

static bool integers(lang_lowerer *l, const lang_ast *node, const lang_lower_index *a, const lang_lower_index *b,
                     lang_lower_value *result) {
  lang_lower_index r = {0};
  switch (node->op) {
    case AST_ADD:
      return index_result(l, node, lang_lower_index_add(a, b, &r), &r, result);
    case AST_SUB: {
      lang_lower_index minus = {0};
      bool fits = lang_lower_index_times(b, -1, &minus) && lang_lower_index_add(a, &minus, &r);
      return index_result(l, node, fits, &r, result);
    }
    case AST_MUL:
      return multiply(l, node, a, b, result);
    case AST_FLOOR:
      return lang_lower_divide(l, node, false, a, b, result);
    case AST_MOD:
      return lang_lower_divide(l, node, true, a, b, result);
    case AST_SHL:
    case AST_SHR:
      if (b->loops != 0) return lang_lower_fail(l, node, not_affine);
      return shift(l, node, a, b->constant, result);
    default:
      return known_integers(l, node, a, b, result);
  }
}

static bool floats(lang_lowerer *l, const lang_ast *node, double a, double b, lang_lower_value *result) {
  double r;
  if (b == 0 && (node->op == AST_DIV || node->op == AST_FLOOR || node->op == AST_MOD))
    return lang_lower_fail(l, node, "division by zero");
  switch (node->op) {
    case AST_ADD:
      r = a + b;
      break;
    case AST_SUB:
      r = a - b;
      break;
    case AST_MUL:
      r = a * b;
      break;
    case AST_DIV:
      r = a / b;
      break;
    case AST_FLOOR:
      r = floor(a / b);
      break;
    case AST_MOD:
      r = a - b * floor(a / b);
      break;
    case AST_POW:
      r = pow(a, b);
      break;
    default:
      return lang_lower_fail(l, node, "'%s' has no meaning for floats", lang_ast_op_texts[node->op]);
  }
  *result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_FLOAT, .number = r}};
  return true;
}

// ---- comparisons: what is the same in all iterations

static bool holds(lang_ast_op op, double a, double b) {
  switch (op) {
    case AST_LT:
      return a < b;
    case AST_LE:
      return a <= b;
    case AST_GT:
      return a > b;
    case AST_GE:
      return a >= b;
    case AST_EQ:
      return a == b;
    default:
      return a != b;
  }
}

// The least and the largest difference a - b over all iterations.
bool lang_lower_difference(const lang_lowerer *l, const lang_lower_index *a, const lang_lower_index *b, int64_t *least,
                           int64_t *most) {
  lang_lower_index minus, difference;
  return lang_lower_index_times(b, -1, &minus) && lang_lower_index_add(a, &minus, &difference) &&
         lang_lower_index_bounds(l->program, &difference, least, most);
}

static bool compare_integers(lang_lowerer *l, const lang_ast *node, const lang_lower_index *a,
                             const lang_lower_index *b, lang_lower_value *result) {
  int64_t least, most;
  bool known = lang_lower_difference(l, a, b, &least, &most);
  const bool at_least = known && holds(node->op, (double)least, 0), at_most = known && holds(node->op, (double)most, 0);
  // Equality may hold in between.
  if ((node->op == AST_EQ || node->op == AST_NE) && known) known = least == most || least > 0 || most < 0;
  if (!known || at_least != at_most)
    return lang_lower_fail(l, node, "this comparison has different results in different iterations");
  *result = lang_lower_bool(at_least);
  return true;
}

static bool compare(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a, const lang_lower_value *b,
                    lang_lower_value *result) {
  double x, y;
  bool equality = node->op == AST_EQ || node->op == AST_NE || node->op == AST_IS || node->op == AST_IS_NOT;
  if (a->kind == VALUE_INDEX && b->kind == VALUE_INDEX && node->op != AST_IS && node->op != AST_IS_NOT)
    return compare_integers(l, node, &a->index, &b->index, result);
  if (lang_lower_is_number(a, &x) && lang_lower_is_number(b, &y)) {
    *result = lang_lower_bool(holds(node->op == AST_IS ? AST_EQ : node->op == AST_IS_NOT ? AST_NE : node->op, x, y));
    return true;
  }
  if (a->kind == VALUE_BLOCK || b->kind == VALUE_BLOCK) {
    lang_lower_fail(l, node, "blocks cannot be compared");
    lang_lower_hint(l, "use maximum() and minimum(): where(x > 0, x, 0) is maximum(x, 0)");
    return false;
  }
  if (!equality)
    return lang_lower_fail(l, node, "%s cannot be compared with %s", lang_lower_kind_text(a), lang_lower_kind_text(b));
  bool same = a->kind == b->kind && a->kind != VALUE_POINTER && lang_lower_same_kind(a, b);
  *result = lang_lower_bool(same == (node->op == AST_EQ || node->op == AST_IS));
  return true;
}

// ---- operators

static bool move_pointer(lang_lowerer *l, const lang_ast *node, const lang_lower_value *pointer,
                         const lang_lower_value *by, lang_lower_value *result) {
  lang_lower_index step = by->index;
  if (node->op != AST_ADD && node->op != AST_SUB)
    return lang_lower_fail(l, node, "'%s' has no meaning for pointers", lang_ast_op_texts[node->op]);
  if (by->kind == VALUE_BLOCK) {
    lang_lower_fail(l, node, "pointers cannot be made of what was loaded or computed: that would be a gather");
    lang_lower_hint(l, "indexes are sums of start + stride * arange(0, BLOCK)");
    return false;
  }
  if (by->kind != VALUE_INDEX)
    return lang_lower_fail(l, node, "a pointer moves by integers, not by %s", lang_lower_kind_text(by));
  *result = *pointer;
  if ((node->op == AST_SUB && !lang_lower_index_times(&by->index, -1, &step)) ||
      !lang_lower_index_add(&pointer->pointer.offset, &step, &result->pointer.offset))
    return lang_lower_too_large(l, node);
  return true;
}

static bool block_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a, const lang_lower_value *b,
                           int into, lang_lower_value *result) {
  switch (node->op) {
    case AST_ADD:
      return lang_lower_arithmetic(l, node, BLOCK_OP_ADD, a, b, into, result);
    case AST_SUB:
      return lang_lower_arithmetic(l, node, BLOCK_OP_SUB, a, b, into, result);
    case AST_MUL:
      return lang_lower_arithmetic(l, node, BLOCK_OP_MUL, a, b, into, result);
    default:
      break;
  }
  lang_lower_fail(l, node, "'%s' has no meaning for blocks", lang_ast_op_texts[node->op]);
  if (node->op == AST_DIV && b->kind != VALUE_BLOCK) lang_lower_hint(l, "multiply by the reciprocal");
  if (node->op == AST_MATMUL) lang_lower_hint(l, "use dot()");
  return false;
}

static bool is_plain_dot(const lang_ast *node) {
  if (node->kind != AST_CALL || node->a->meaning != AST_BUILTIN || node->a->index != BUILTIN_DOT) return false;
  bool acc = node->count > 2 && node->items[2]->kind != AST_KEYWORD;
  for (int i = 0; i < node->count; i++)
    acc |= node->items[i]->kind == AST_KEYWORD && strcmp(node->items[i]->name, "acc") == 0;
  return !acc;
}

// x + dot(a, b) is dot(a, b, x) when x can be an accumulator; what has other shapes (a bias) is added behind it.
static bool add_product(lang_lowerer *l, const lang_ast *node, const lang_ast *dot, const lang_lower_value *acc,
                        int into, lang_lower_value *result) {
  const lang_ast *args[BUILTIN_ARGS_MAX];
  (void)node;
  return lang_builtin_bind(l->s, l->diag, BUILTIN_DOT, dot, args) && lang_lower_dot(l, dot, args, acc, into, result);
}

static bool is_accumulator(const lang_lowerer *l, const lang_lower_value *v) {
  return v->kind == VALUE_BLOCK && !v->block.transposed && l->program->buffers[v->block.buffer].type == BLOCK_I32;
}

static bool short_circuit(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  if (!lang_lower_eval(l, node->a, BLOCK_NONE, result)) return false;
  double number;
  bool truth;
  if (lang_lower_is_number(result, &number))
    truth = number != 0;
  else if (result->kind == VALUE_SCALAR)
    truth = result->scalar.kind == LANG_TEXT && result->scalar.text[0] != 0;
  else
    return lang_lower_fail(l, node->a, "%s is neither true nor false here", lang_lower_kind_text(result));
  return truth == (node->op == AST_OR) || lang_lower_eval(l, node->b, BLOCK_NONE, result);
}

// What the normaliser made int8 of is multiplied by a block as one that was loaded is: it is stored first.
static bool park_factors(lang_lowerer *l, const lang_ast *node, lang_lower_value *a, lang_lower_value *b) {
  const bool blocks =
      (a->kind == VALUE_ROWS || a->kind == VALUE_BLOCK) && (b->kind == VALUE_ROWS || b->kind == VALUE_BLOCK);
  if (node->kind == AST_COMPARE || node->op != AST_MUL || !blocks) return true;
  lang_lower_value *both[] = {a, b};
  for (int i = 0; i < 2; i++) {
    const lang_lower_rows *rows = both[i]->rows;
    if (both[i]->kind != VALUE_ROWS || rows->form != LOWER_ROWS_I8) continue;
    if (!lang_lower_row_park(l, node, rows, both[i])) return false;
  }
  return true;
}

bool lang_lower_binary(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result) {
  lang_lower_value a, b;
  double x, y;
  if (node->op == AST_AND || node->op == AST_OR) return short_circuit(l, node, result);
  if (node->op == AST_ADD && is_plain_dot(node->a) && !is_plain_dot(node->b)) {
    if (!lang_lower_eval(l, node->b, BLOCK_NONE, &b)) return false;
    if (is_accumulator(l, &b)) return add_product(l, node, node->a, &b, into, result);
    return lang_lower_eval(l, node->a, BLOCK_NONE, &a) && block_operator(l, node, &a, &b, into, result);
  }
  if (!lang_lower_eval(l, node->a, BLOCK_NONE, &a)) return false;
  if (node->op == AST_ADD && is_plain_dot(node->b) && is_accumulator(l, &a))
    return add_product(l, node, node->b, &a, into, result);
  if (!lang_lower_eval(l, node->b, BLOCK_NONE, &b)) return false;
  if (lang_lower_is_indexes(&a) || lang_lower_is_indexes(&b)) return lang_lower_index_operator(l, node, &a, &b, result);
  if (!park_factors(l, node, &a, &b)) return false;
  if (a.kind == VALUE_ROWS || b.kind == VALUE_ROWS) return lang_lower_row_operator(l, node, &a, &b, result);
  if (node->kind == AST_COMPARE) return compare(l, node, &a, &b, result);
  if (a.kind == VALUE_POINTER) return move_pointer(l, node, &a, &b, result);
  if (b.kind == VALUE_POINTER && node->op == AST_ADD) return move_pointer(l, node, &b, &a, result);
  if (a.kind == VALUE_BLOCK || b.kind == VALUE_BLOCK) return block_operator(l, node, &a, &b, into, result);
  int64_t truth;
  if (a.kind == VALUE_SCALAR && lang_lower_is_constant(&a, &truth)) a = lang_lower_int(truth);
  if (b.kind == VALUE_SCALAR && lang_lower_is_constant(&b, &truth)) b = lang_lower_int(truth);
  if (a.kind == VALUE_INDEX && b.kind == VALUE_INDEX) return integers(l, node, &a.index, &b.index, result);
  if (lang_lower_is_number(&a, &x) && lang_lower_is_number(&b, &y)) return floats(l, node, x, y, result);
  return lang_lower_fail(l, node, "'%s' has no meaning for %s and %s", lang_ast_op_texts[node->op],
                         lang_lower_kind_text(&a), lang_lower_kind_text(&b));
}

bool lang_lower_unary(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result) {
  lang_lower_value a;
  double number;
  bool truth;
  if (node->op == AST_NOT) {
    if (!lang_lower_truth(l, node->a, &truth)) return false;
    *result = lang_lower_bool(!truth);
    return true;
  }
  if (!lang_lower_eval(l, node->a, BLOCK_NONE, &a)) return false;
  const lang_lower_value minus_one = lang_lower_int(-1);
  const bool has_sign = a.kind == VALUE_BLOCK || a.kind == VALUE_INDEX || a.kind == VALUE_INDEXES;
  if (node->op == AST_PLUS && (has_sign || lang_lower_is_number(&a, &number))) {
    *result = a;
    return true;
  }
  if (node->op == AST_NEG && a.kind == VALUE_BLOCK)
    return lang_lower_arithmetic(l, node, BLOCK_OP_MUL, &a, &minus_one, into, result);
  if (node->op == AST_NEG && lang_lower_is_indexes(&a)) {
    const lang_ast product = {.kind = AST_BINARY, .span = node->span, .op = AST_MUL};
    return lang_lower_index_operator(l, &product, &a, &minus_one, result);
  }
  if (node->op == AST_NEG && a.kind == VALUE_INDEX) {
    lang_lower_index r = {0};
    return index_result(l, node, lang_lower_index_times(&a.index, -1, &r), &r, result);
  }
  if (node->op == AST_INVERT && a.kind == VALUE_INDEX && a.index.loops == 0) {
    *result = lang_lower_int(~a.index.constant);
    return true;
  }
  if (node->op == AST_NEG && lang_lower_is_number(&a, &number)) {
    *result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_FLOAT, .number = -number}};
    return true;
  }
  return lang_lower_fail(l, node, "'%s' has no meaning for %s", lang_ast_op_texts[node->op], lang_lower_kind_text(&a));
}
