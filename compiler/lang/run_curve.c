// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU of elements, by samples: see run.h. A block of floats that was computed from integers knows what it
// would be for numbers from 2^-8 to 2^24 of either sign in place of those integers. What becomes int8 has to be, at all
// of them,
//
//   g q (1 + F(r(q))), F: erf with r(q) = u q, or tanh with r(q) = v q + 0.044715 pi / 2 v^3 q^3, u = v sqrt(pi) / 2,
//   or with r(q) = v q, which is SiLU
//
// The slopes u and v are those of r at the smallest numbers, 2 g is that of the whole at the largest. The elements are
// integers (docs/kernel-language.md).
#include <math.h>
#include <string.h>

#include "compiler/lang/run.h"

enum { HALF = RUN_SAMPLES / 2, SMALLEST = -8 };

static const double pi = 3.14159265358979323846;

// Powers of the root of 2, then the same below 0.
static double number_of(int i) { return exp2(i % HALF / 2.0 + SMALLEST) * (i < HALF ? 1 : -1); }

// ---- samples

static bool same_integers(const lang_run_block *a, const lang_run_block *b) {
  if (a == NULL || b == NULL || a == b) return true;
  if (a->rank != b->rank || memcmp(a->size, b->size, (size_t)a->rank * sizeof *a->size) != 0) return false;
  for (int64_t e = 0; e < a->count; e++)
    if (a->cells[e].i != b->cells[e].i) return false;
  return true;
}

static bool sample(const lang_run_value *v, lang_run_curve *c) {
  const bool number = v->kind == RUN_SCALAR;
  if (!number && v->kind != RUN_BLOCK) return false;
  *c = (lang_run_curve){.of = NULL};
  if (!number && v->block->curve != NULL) *c = *v->block->curve;
  if (!number && v->block->curve != NULL) return true;
  if (!number) c->of = v->block;
  for (int i = 0; i < RUN_SAMPLES; i++) c->at[i] = number ? (double)(float)lang_scalar_number(v->scalar) : number_of(i);
  return number || v->block->dtype != LANG_FLOAT32;
}

void lang_run_curve_note(lang_runner *r, lang_ast_op op, const lang_run_value *a, const lang_run_value *b,
                         lang_run_block *result) {
  lang_run_curve x, y;
  if (result->dtype != LANG_FLOAT32 || !sample(a, &x) || !sample(b, &y) || !same_integers(x.of, y.of)) return;
  if (x.function != 0 && y.function != 0 && (x.function != y.function || memcmp(x.inner, y.inner, sizeof x.inner) != 0))
    return;
  lang_run_curve *made = WF_ARENA_NEW(r->arena, lang_run_curve);
  *made = x.function != 0 ? x : y;
  made->of = x.of != NULL ? x.of : y.of;
  for (int i = 0; i < RUN_SAMPLES; i++)
    made->at[i] = op == AST_ADD ? x.at[i] + y.at[i] : op == AST_SUB ? x.at[i] - y.at[i] : x.at[i] * y.at[i];
  result->curve = made;
  if (made->function != 0) result->meaning = RUN_CURVE;
}

// ---- erf(), tanh(), sigmoid()

static double function_of(lang_builtin_id id, double x) {
  return id == BUILTIN_ERF ? erf(x) : id == BUILTIN_TANH ? tanh(x) : 1 / (1 + exp(-x));
}

bool lang_run_curve_function(lang_runner *r, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                             lang_run_value *result) {
  lang_run_value v;
  lang_run_curve *c = WF_ARENA_NEW(r->arena, lang_run_curve);
  if (!lang_run_eval(r, args[0], &v)) return false;
  if (v.kind != RUN_BLOCK || !sample(&v, c) || c->function != 0)
    return lang_run_fail(r, node, "this is of integers times a number");
  lang_run_block *made = lang_run_new_block(r, v.block->size, v.block->rank, LANG_FLOAT32);
  c->function = id == BUILTIN_ERF ? BUILTIN_ERF : BUILTIN_TANH;
  for (int i = 0; i < RUN_SAMPLES; i++) {
    c->inner[i] = c->at[i] / (id == BUILTIN_SIGMOID ? 2 : 1);
    c->at[i] = function_of(id, c->at[i]);
  }
  made->meaning = RUN_CURVE;
  made->curve = c;
  *result = (lang_run_value){.kind = RUN_BLOCK, .block = made};
  return true;
}

// ---- exp()

void lang_run_curve_exp(lang_runner *r, const lang_run_block *of, bool two, lang_run_block *result) {
  lang_run_curve *c = WF_ARENA_NEW(r->arena, lang_run_curve);
  const lang_run_value v = {.kind = RUN_BLOCK, .block = of};
  if (of->left_out != NULL || !sample(&v, c) || c->function != 0) return;
  c->function = BUILTIN_EXP;
  for (int i = 0; i < RUN_SAMPLES; i++) {
    c->inner[i] = c->at[i] * (two ? log(2.0) : 1);
    c->at[i] = exp(c->inner[i]);
  }
  result->curve = c;
}

static bool has_function(const lang_run_value *v, int function) {
  return v->kind == RUN_BLOCK && v->block->curve != NULL && v->block->curve->function == function;
}

// Sums and products with exp() of elements, and divisions by them; false: it is none.
bool lang_run_curve_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                             lang_run_value *result) {
  lang_run_curve x, y;
  const bool first = has_function(a, BUILTIN_EXP), second = has_function(b, BUILTIN_EXP);
  const lang_run_value *with = second ? b : a;
  if (first == second || !sample(a, &x) || !sample(b, &y) || !same_integers(x.of, y.of)) return false;
  if (node->op != AST_ADD && node->op != AST_SUB && node->op != AST_MUL && node->op != AST_DIV) return false;
  lang_run_curve *c = WF_ARENA_NEW(r->arena, lang_run_curve);
  *c = second ? y : x;
  for (int i = 0; i < RUN_SAMPLES; i++)
    c->at[i] = node->op == AST_ADD   ? x.at[i] + y.at[i]
               : node->op == AST_SUB ? x.at[i] - y.at[i]
               : node->op == AST_MUL ? x.at[i] * y.at[i]
                                     : x.at[i] / y.at[i];
  lang_run_block *made = lang_run_new_block(r, with->block->size, with->block->rank, LANG_FLOAT32);
  made->meaning = RUN_CURVE;
  made->curve = c;
  *result = (lang_run_value){.kind = RUN_BLOCK, .block = made};
  return true;
}

// ---- GELU, SiLU

static bool is_near(double a, double b, double most) { return fabs(a - b) <= most * fabs(b); }

// Of tanh: its argument without the cube.
static double slope_of(const lang_run_curve *c) {
  if (c->function == BUILTIN_ERF) return c->inner[0] / number_of(0);
  return (8 * c->inner[0] - c->inner[2]) / (6 * number_of(0));
}

// With the slope v and so much of the cube.
static bool is_curve(const lang_run_curve *c, double g, double v, double cubes) {
  bool good = c->of != NULL && g != 0;
  for (int i = 0; i < RUN_SAMPLES && good; i++) {
    const double q = number_of(i), cube = cubes * pow(v * q, 3);
    const double f = c->function == BUILTIN_ERF ? erf(c->inner[i]) : tanh(c->inner[i]);
    good = is_near(c->inner[i], v * q + cube, 1e-3) && fabs(c->at[i] - g * q * (1 + f)) <= 1e-3 * fabs(g * q);
  }
  return good;
}

typedef struct gelu {
  int64_t b, c;
  float scale;
} gelu;

static gelu constants_of(double u, double g, double a, double most) {
  return (gelu){(int64_t)rint(-most / u), (int64_t)rint(-1 / (a * u * u)), (float)(-a * u * u * g)};
}

// erf as 1 - 0.2888 (x - 1.769)^2, tanh as 1 - 0.12461 (x - 2.46)^2.
static bool find(const lang_run_curve *from, gelu *k) {
  lang_run_curve odd = *from;
  const lang_run_curve *c = &odd;
  for (int i = 0; i < RUN_SAMPLES && from->inner[0] < 0; i++) odd.inner[i] = -from->inner[i];  // F(-x) is -F(x)
  for (int i = 0; i < RUN_SAMPLES && from->function == BUILTIN_EXP; i++) odd.inner[i] /= 2;    // as tanh(x / 2)
  const double g = c->at[HALF - 1] / number_of(HALF - 1) / 2, line = c->inner[0] / number_of(0);
  const bool error = c->function == BUILTIN_ERF;
  if (!error && line > 0 && is_curve(c, g, line, 0)) {
    *k = constants_of(line, g, 0.12461, 2.46);
    return true;
  }
  const double v = slope_of(c), u = error ? v : v * sqrt(pi) / 2;
  *k = constants_of(u, g, 0.2888, 1.769);
  return u > 0 && is_curve(c, g, v, error ? 0 : 0.044715 * pi / 2);
}

static int64_t word(int64_t value) { return (int32_t)(uint32_t)(uint64_t)value; }

// In words of 32 bits.
static int32_t value_of(const gelu *k, int32_t q) {
  const int64_t magnitude = word(q < 0 ? -(int64_t)q : q), below = (magnitude > -k->b ? -k->b : magnitude) + k->b;
  const int64_t square = word(word(below * below) + k->c);
  return (int32_t)word(q * word((q < 0 ? -square : square) + k->c));
}

bool lang_run_curve_convert(lang_runner *r, const lang_ast *node, const lang_run_block *b, lang_dtype dtype,
                            lang_run_value *result) {
  const lang_run_curve *c = b->curve;
  gelu k;
  if (dtype != LANG_INT8 || c == NULL || !find(c, &k)) return lang_run_fail(r, node, "this is not GELU as int8");
  lang_run_block *scaled = lang_run_new_block(r, b->size, b->rank, LANG_FLOAT32);
  for (int64_t e = 0; e < scaled->count; e++) scaled->cells[e].f = (float)value_of(&k, c->of->cells[e].i) * k.scale;
  const lang_run_value whole = {.kind = RUN_BLOCK, .block = scaled};
  return lang_run_convert(r, node, &whole, LANG_INT8, result);
}
