// SPDX-License-Identifier: Apache-2.0
// Arithmetic on values of the compilation: see scalar.h.
#include "compiler/lang/scalar.h"

#include <math.h>
#include <string.h>

#include "compiler/lang/builtins.h"

static const char overflow[] = "the result does not fit in 64 bits";
static const char zero_division[] = "division by zero";
static const char no_numbers[] = "this operator needs numbers";

static bool is_integer(lang_value a) { return a.kind == LANG_INT || a.kind == LANG_BOOL; }
static bool is_number(lang_value a) { return is_integer(a) || a.kind == LANG_FLOAT; }
bool lang_scalar_infinity(lang_value *v) {
  if (v->kind != LANG_TEXT) return false;
  const bool minus = v->text[0] == '-';
  const char *rest = v->text + (minus || v->text[0] == '+');
  if (strcmp(rest, "inf") != 0 && strcmp(rest, "infinity") != 0) return false;
  *v = lang_float(minus ? -INFINITY : INFINITY);
  return true;
}

double lang_scalar_number(lang_value a) { return a.kind == LANG_FLOAT ? a.number : (double)a.integer; }

static lang_value boolean(bool value) { return (lang_value){.kind = LANG_BOOL, .integer = value}; }

bool lang_scalar_is_true(lang_value a) {
  switch (a.kind) {
    case LANG_INT:
    case LANG_BOOL:
      return a.integer != 0;
    case LANG_FLOAT:
      return a.number != 0;
    case LANG_TEXT:
      return a.text[0] != 0;
    default:
      return false;
  }
}

static const char *integer_power(int64_t base, int64_t exponent, int64_t *result) {
  *result = 1;
  for (; exponent > 0 && base != 1 && base != 0; exponent--)
    if (__builtin_mul_overflow(*result, base, result)) return overflow;
  if (base == 0 && exponent > 0) *result = 0;
  return NULL;
}

static const char *floor_divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
  if (b == 0) return zero_division;
  if (a == INT64_MIN && b == -1) return overflow;
  *quotient = a / b;
  *rest = a % b;
  if (*rest != 0 && (*rest < 0) != (b < 0)) {
    --*quotient;
    *rest += b;
  }
  return NULL;
}

static const char *integer_binary(lang_ast_op op, int64_t a, int64_t b, int64_t *r) {
  int64_t other;
  switch (op) {
    case AST_ADD:
      return __builtin_add_overflow(a, b, r) ? overflow : NULL;
    case AST_SUB:
      return __builtin_sub_overflow(a, b, r) ? overflow : NULL;
    case AST_MUL:
      return __builtin_mul_overflow(a, b, r) ? overflow : NULL;
    case AST_FLOOR:
      return floor_divide(a, b, r, &other);
    case AST_MOD:
      return floor_divide(a, b, &other, r);
    case AST_POW:
      return integer_power(a, b, r);
    case AST_SHL:
      return b < 0 || b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, r) ? overflow : NULL;
    case AST_SHR:
      *r = a >> (b < 0 ? 0 : b > 63 ? 63 : b);
      return b < 0 ? "a shift by a negative number" : NULL;
    case AST_BIT_AND:
      *r = a & b;
      return NULL;
    case AST_BIT_OR:
      *r = a | b;
      return NULL;
    case AST_BIT_XOR:
      *r = a ^ b;
      return NULL;
    default:
      return "this operator has no meaning for integers";
  }
}

static const char *float_binary(lang_ast_op op, double a, double b, double *r) {
  switch (op) {
    case AST_ADD:
      *r = a + b;
      return NULL;
    case AST_SUB:
      *r = a - b;
      return NULL;
    case AST_MUL:
      *r = a * b;
      return NULL;
    case AST_DIV:
      *r = a / b;
      return b == 0 ? zero_division : NULL;
    case AST_FLOOR:
      *r = floor(a / b);
      return b == 0 ? zero_division : NULL;
    case AST_MOD:
      *r = a - b * floor(a / b);
      return b == 0 ? zero_division : NULL;
    case AST_POW:
      *r = pow(a, b);
      return NULL;
    default:
      return "this operator has no meaning for floats";
  }
}

static bool compare(lang_ast_op op, double a, double b, int64_t ia, int64_t ib, bool integers) {
  int order = integers ? (ia > ib) - (ia < ib) : (a > b) - (a < b);
  switch (op) {
    case AST_LT:
      return order < 0;
    case AST_LE:
      return order <= 0;
    case AST_GT:
      return order > 0;
    case AST_GE:
      return order >= 0;
    case AST_EQ:
      return order == 0;
    default:
      return order != 0;
  }
}

// Texts, types and None are only equal or not.
static const char *equality(lang_ast_op op, lang_value a, lang_value b, lang_value *result) {
  bool same = a.kind == b.kind && (a.kind != LANG_TEXT || strcmp(a.text, b.text) == 0) &&
              (a.kind != LANG_TYPE || a.integer == b.integer) &&
              (!is_number(a) || lang_scalar_number(a) == lang_scalar_number(b));
  if (op != AST_EQ && op != AST_NE && op != AST_IS && op != AST_IS_NOT) return no_numbers;
  *result = boolean(same == (op == AST_EQ || op == AST_IS));
  return NULL;
}

const char *lang_scalar_binary(lang_ast_op op, lang_value a, lang_value b, lang_value *result) {
  if (op == AST_AND || op == AST_OR) {
    *result = lang_scalar_is_true(a) == (op == AST_AND) ? b : a;
    return NULL;
  }
  bool comparison = (op >= AST_LT && op <= AST_NE) || op == AST_IS || op == AST_IS_NOT;
  if (comparison && (!is_number(a) || !is_number(b) || op == AST_IS || op == AST_IS_NOT))
    return equality(op, a, b, result);
  if (!is_number(a) || !is_number(b)) return no_numbers;
  bool integers = is_integer(a) && is_integer(b);
  if (comparison) {
    *result = boolean(compare(op, lang_scalar_number(a), lang_scalar_number(b), a.integer, b.integer, integers));
    return NULL;
  }
  if (integers && op != AST_DIV && !(op == AST_POW && b.integer < 0)) {
    *result = (lang_value){.kind = LANG_INT};
    return integer_binary(op, a.integer, b.integer, &result->integer);
  }
  *result = (lang_value){.kind = LANG_FLOAT};
  return float_binary(op, lang_scalar_number(a), lang_scalar_number(b), &result->number);
}

const char *lang_scalar_unary(lang_ast_op op, lang_value a, lang_value *result) {
  if (op == AST_NOT) {
    *result = boolean(!lang_scalar_is_true(a));
    return NULL;
  }
  if (!is_number(a)) return no_numbers;
  *result = a;
  if (result->kind == LANG_BOOL) result->kind = LANG_INT;
  if (op == AST_NEG && a.kind == LANG_FLOAT) result->number = -a.number;
  if (op == AST_NEG && is_integer(a))
    return __builtin_sub_overflow((int64_t)0, a.integer, &result->integer) ? overflow : NULL;
  if (op == AST_INVERT) {
    if (!is_integer(a)) return no_numbers;
    result->integer = ~a.integer;
  }
  return NULL;
}

const char *lang_scalar_cdiv(lang_value a, lang_value b, lang_value *result) {
  if (!is_integer(a) || !is_integer(b)) return "cdiv() needs integers";
  int64_t quotient = 0, rest = 0;
  const char *wrong = floor_divide(a.integer, b.integer, &quotient, &rest);
  *result = lang_int(quotient + (wrong == NULL && rest != 0));
  return wrong;
}

// ---- expressions

static bool wrong_at(const lang_scalar_context *c, const lang_ast *node, const char *wrong) {
  if (wrong == NULL) return true;
  lang_source_error(c->s, c->diag, node->span, "%s", wrong);
  return false;
}

static bool lookup(const lang_scalar_context *c, const lang_ast *node, const char *name, lang_value *value) {
  if (c->lookup != NULL && c->lookup(c->context, name, value)) return true;
  lang_source_error(c->s, c->diag, node->span, "'%s' has no value here", name);
  lang_source_guess guess = lang_source_guess_for(name);
  if (c->guess != NULL) c->guess(c->context, &guess);
  if (guess.best != NULL) wf_hint(c->diag, "did you mean '%s'?", guess.best);
  return false;
}

static bool extreme(const lang_scalar_context *c, const lang_ast *node, bool largest, lang_value *value) {
  for (int i = 0; i < node->count; i++) {
    lang_value next, better;
    if (!lang_scalar_eval(c, node->items[i], &next)) return false;
    if (i == 0) *value = next;
    if (!wrong_at(c, node, lang_scalar_binary(largest ? AST_GT : AST_LT, next, *value, &better))) return false;
    if (better.integer != 0) *value = next;
  }
  return wrong_at(c, node, node->count == 0 ? "min() and max() need arguments" : NULL);
}

static bool call(const lang_scalar_context *c, const lang_ast *node, lang_value *value) {
  const char *name = lang_ast_last_name(node->a);
  int id = name == NULL ? -1 : lang_builtin_find(name);
  const lang_ast *args[BUILTIN_ARGS_MAX];
  if (id == BUILTIN_MIN || id == BUILTIN_MAX) return extreme(c, node, id == BUILTIN_MAX, value);
  if (id != BUILTIN_CDIV && id != BUILTIN_CONSTEXPR)
    return wrong_at(c, node, "only cdiv, min and max can be called here");
  if (!lang_builtin_bind(c->s, c->diag, (lang_builtin_id)id, node, args) || !lang_scalar_eval(c, args[0], value))
    return false;
  if (id == BUILTIN_CONSTEXPR) return true;
  lang_value divisor, dividend = *value;
  return lang_scalar_eval(c, args[1], &divisor) && wrong_at(c, node, lang_scalar_cdiv(dividend, divisor, value));
}

// META["X"] and META.X
static bool meta(const lang_scalar_context *c, const lang_ast *node, lang_value *value) {
  if (node->count != 1 || node->items[0]->kind != AST_STRING) return wrong_at(c, node, "expected META[\"NAME\"]");
  return lookup(c, node->items[0], node->items[0]->name, value);
}

static bool operation(const lang_scalar_context *c, const lang_ast *node, lang_value *value) {
  lang_value a, b;
  if (!lang_scalar_eval(c, node->a, &a)) return false;
  if (node->kind == AST_UNARY) return wrong_at(c, node, lang_scalar_unary(node->op, a, value));
  return lang_scalar_eval(c, node->b, &b) && wrong_at(c, node, lang_scalar_binary(node->op, a, b, value));
}

bool lang_scalar_literal(const lang_ast *node, lang_value *value) {
  switch (node->kind) {
    case AST_INT:
      *value = lang_int(node->integer);
      return true;
    case AST_FLOAT:
      *value = lang_float(node->number);
      return true;
    case AST_BOOL:
      *value = (lang_value){.kind = LANG_BOOL, .integer = node->integer};
      return true;
    case AST_STRING:
      *value = (lang_value){.kind = LANG_TEXT, .text = node->name};
      return true;
    case AST_NONE:
      *value = (lang_value){.kind = LANG_NONE};
      return true;
    default:
      return false;
  }
}

bool lang_scalar_eval(const lang_scalar_context *c, const lang_ast *node, lang_value *value) {
  if (lang_scalar_literal(node, value)) return true;
  if (node->meaning == AST_DTYPE) {
    *value = lang_type((lang_dtype)node->index);
    return true;
  }
  switch (node->kind) {
    case AST_NAME:
      return lookup(c, node, node->name, value);
    case AST_UNARY:
    case AST_BINARY:
    case AST_COMPARE:
      return operation(c, node, value);
    case AST_CONDITIONAL:
      if (!lang_scalar_eval(c, node->b, value)) return false;
      return lang_scalar_eval(c, lang_scalar_is_true(*value) ? node->a : node->c, value);
    case AST_CALL:
      return call(c, node, value);
    case AST_SUBSCRIPT:
      if (c->meta != NULL && node->a->kind == AST_NAME && node->a->name == c->meta) return meta(c, node, value);
      break;
    default:
      break;
  }
  return wrong_at(c, node, "expected a number");
}
