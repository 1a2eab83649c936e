// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU of the elements of a block: see lower.h.
//
// The normaliser of the store unit makes it of an int32 block that is stored, so that its parts are no blocks of their
// own. With q, an element of a block of integers, each part is kept as
//
//   p(q) + f(q) * F(r(q))     F: erf or tanh; p, f, r: polynomials of degree 3 at most, f = 0 without F
//
// and sums and products of parts are those of polynomials: how a program writes GELU has no influence. In the end it is
//
//   g q (1 + erf(u q)), or g q (1 + tanh(v q + w q^3)) with w = 0.044715 pi / 2 v^3, where u is v sqrt(pi) / 2;
//   g q (1 + tanh(v q)), which is SiLU of 2 v q
//
// sigmoid(x) is 1/2 + 1/2 tanh(x / 2), and so is 1 / (1 + exp(-x)).
#include <math.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

typedef lang_lower_curve curve;
typedef lang_lower_polynomial polynomial;

static const double pi = 3.14159265358979323846;

bool lang_lower_curve_hint(lang_lowerer *l) {
  lang_lower_hint(l,
                  "GELU: x = q * scale, y = 0.5 * x * (1 + erf(x * 0.70710678)), then (y * levels).to(int8); q are "
                  "integers, the form with tanh() is known, too; SiLU: y = x * sigmoid(x)");
  return false;
}

// ---- polynomials

static polynomial times_number(polynomial a, double number) {
  for (int i = 0; i < LOWER_POWERS; i++) a.of[i] *= number;
  return a;
}

static polynomial plus(polynomial a, const polynomial *b) {
  for (int i = 0; i < LOWER_POWERS; i++) a.of[i] += b->of[i];
  return a;
}

static bool times(const polynomial *a, const polynomial *b, polynomial *product) {
  *product = (polynomial){{0}};
  for (int i = 0; i < LOWER_POWERS; i++)
    for (int j = 0; j < LOWER_POWERS; j++) {
      const double term = a->of[i] * b->of[j];
      if (term != 0 && i + j >= LOWER_POWERS) return false;
      if (term != 0) product->of[i + j] += term;
    }
  return true;
}

// ---- parts

// Of a number, which has no block: rounded as one that meets a block; of a block of integers, or made of one.
static bool curve_of(const lang_lowerer *l, const lang_lower_value *v, curve *c) {
  double number;
  *c = (curve){.root = {.buffer = BLOCK_NONE}};
  if (v->kind == VALUE_ROWS && v->rows->form == LOWER_ROWS_CURVE) *c = *v->rows->curve;
  if (lang_lower_is_number(v, &number)) c->p.of[0] = (double)(float)number;
  if (v->kind != VALUE_BLOCK) return v->kind == VALUE_ROWS || v->kind == VALUE_SCALAR || v->kind == VALUE_INDEX;
  if (v->block.curve != NULL) *c = *v->block.curve;
  if (v->block.curve != NULL || v->block.transposed) return !v->block.transposed;
  c->root = v->block;
  c->p.of[1] = 1;
  return l->program->buffers[v->block.buffer].type != BLOCK_F32;
}

static bool same_root(const curve *a, const curve *b) {
  return a->root.buffer == b->root.buffer &&
         lang_lower_same_shape(a->root.size, a->root.rank, b->root.size, b->root.rank);
}

static bool same_function(const curve *a, const curve *b) {
  bool same = a->function == b->function;
  for (int i = 0; i < LOWER_POWERS; i++) same = same && a->r.of[i] == b->r.of[i];
  return same;
}

// Sums of two with a function each, and products of them, are none.
static bool combine(block_op op, const curve *a, const curve *b, curve *c) {
  if (a->root.buffer != BLOCK_NONE && b->root.buffer != BLOCK_NONE && !same_root(a, b)) return false;
  const bool both = a->function != LOWER_CURVE_NONE && b->function != LOWER_CURVE_NONE;
  if (both && (op == BLOCK_OP_MUL || !same_function(a, b))) return false;
  *c = a->function != LOWER_CURVE_NONE ? *a : *b;
  c->root = a->root.buffer != BLOCK_NONE ? a->root : b->root;
  if (op == BLOCK_OP_MUL) {
    const polynomial *factor = a->function != LOWER_CURVE_NONE ? &b->p : &a->p;
    const polynomial with = c->f;
    return times(&a->p, &b->p, &c->p) && times(&with, factor, &c->f);
  }
  const double sign = op == BLOCK_OP_SUB ? -1 : 1;
  const polynomial p = times_number(b->p, sign), f = times_number(b->f, sign);
  c->p = plus(a->p, &p);
  c->f = plus(a->f, &f);
  return true;
}

void lang_lower_curve_note(lang_lowerer *l, block_op op, const lang_lower_value *left, const lang_lower_value *right,
                           lang_lower_value *result) {
  curve a, b, c;
  if (op != BLOCK_OP_ADD && op != BLOCK_OP_SUB && op != BLOCK_OP_MUL) return;
  if (l->program->buffers[result->block.buffer].type != BLOCK_F32) return;
  if (!curve_of(l, left, &a) || !curve_of(l, right, &b) || !combine(op, &a, &b, &c)) return;
  if (!lang_lower_same_shape(c.root.size, c.root.rank, result->block.size, result->block.rank)) return;
  curve *kept = WF_ARENA_NEW(l->run, curve);
  *kept = c;
  result->block.curve = kept;
}

static bool made(lang_lowerer *l, const curve *c, lang_lower_value *result) {
  lang_lower_rows *rows = WF_ARENA_NEW(l->run, lang_lower_rows);
  curve *kept = WF_ARENA_NEW(l->run, curve);
  *kept = *c;
  *rows = (lang_lower_rows){.form = LOWER_ROWS_CURVE, .block = c->root, .curve = kept};
  *result = (lang_lower_value){.kind = VALUE_ROWS, .rows = rows};
  return true;
}

// ---- erf(), tanh(), sigmoid()

bool lang_lower_curve_function(lang_lowerer *l, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                               lang_lower_value *result) {
  lang_lower_value v;
  curve c;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &v)) return false;
  if (!curve_of(l, &v, &c) || c.root.buffer == BLOCK_NONE || c.function != LOWER_CURVE_NONE) {
    lang_lower_fail(l, node, "%s() is of a block of integers times a number", lang_builtin_names[id]);
    return lang_lower_curve_hint(l);
  }
  const bool half = id == BUILTIN_SIGMOID;
  c.function = id == BUILTIN_ERF ? LOWER_CURVE_ERF : LOWER_CURVE_TANH;
  c.r = times_number(c.p, half ? 0.5 : 1);
  c.p = (polynomial){{half ? 0.5 : 0}};
  c.f = (polynomial){{half ? 0.5 : 1}};
  return made(l, &c, result);
}

// e^r; what becomes of it is known when something is divided by 1 and it.
bool lang_lower_curve_exp(lang_lowerer *l, const lang_lower_value *v, bool two, lang_lower_value *result) {
  curve c;
  if (!curve_of(l, v, &c) || c.root.buffer == BLOCK_NONE || c.function != LOWER_CURVE_NONE) return false;
  c.function = LOWER_CURVE_EXP;
  c.r = times_number(c.p, two ? log(2) : 1);
  c.p = (polynomial){{0}};
  c.f = (polynomial){{1}};
  return made(l, &c, result);
}

// 1 / (k + k e^r) = (1/2 - 1/2 tanh(r / 2)) / k
static bool invert(curve *c) {
  const double k = c->p.of[0];
  bool good = c->function == LOWER_CURVE_EXP && k != 0 && c->f.of[0] == k;
  for (int i = 1; i < LOWER_POWERS; i++) good = good && c->p.of[i] == 0 && c->f.of[i] == 0;
  c->function = LOWER_CURVE_TANH;
  c->r = times_number(c->r, 0.5);
  c->p = (polynomial){{0.5 / k}};
  c->f = (polynomial){{-0.5 / k}};
  return good;
}

// ---- operators

bool lang_lower_is_curve(const lang_lower_value *v) {
  return v->kind == VALUE_ROWS && v->rows->form == LOWER_ROWS_CURVE;
}

bool lang_lower_curve_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                               const lang_lower_value *b, lang_lower_value *result) {
  curve x, y, c;
  const block_op op = node->op == AST_ADD ? BLOCK_OP_ADD : node->op == AST_SUB ? BLOCK_OP_SUB : BLOCK_OP_MUL;
  const bool known = node->kind == AST_BINARY && (op != BLOCK_OP_MUL || node->op == AST_MUL || node->op == AST_DIV);
  bool good = known && curve_of(l, a, &x) && curve_of(l, b, &y);
  if (good && node->op == AST_DIV) good = invert(&y);
  if (good && combine(op, &x, &y, &c)) return made(l, &c, result);
  lang_lower_fail(l, node, "this has no meaning for a part of GELU");
  return lang_lower_curve_hint(l);
}

// ---- what it is in integers

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-3 * fabs(b); }

// g q (1 + F(u q)), F the error function, or tanh.
typedef struct shape {
  double g, u;
  bool silu;
} shape;

// Both functions are odd: f F(r) is -f F(-r).
static bool shape_of(const curve *from, shape *s) {
  static const double cube = 0.044715;
  curve c = *from;
  if (c.r.of[1] < 0) {
    c.r = times_number(c.r, -1);
    c.f = times_number(c.f, -1);
  }
  const double *p = c.p.of, *f = c.f.of, *r = c.r.of;
  const bool error = c.function == LOWER_CURVE_ERF;
  bool zero = r[0] == 0 && r[2] == 0 && c.function != LOWER_CURVE_EXP;
  for (int i = 0; i < LOWER_POWERS; i++) zero = zero && (i == 1 || (p[i] == 0 && f[i] == 0));
  s->silu = !error && r[3] == 0;
  s->g = f[1];
  s->u = error || s->silu ? r[1] : r[1] * sqrt(pi) / 2;
  if (!zero || f[1] == 0 || !is_near(p[1], f[1])) return false;
  return error ? r[3] == 0 : s->silu || is_near(r[3], cube * pi / 2 * r[1] * r[1] * r[1]);
}

// x of SiLU or GELU for 1 of the integers.
static double step_of(const shape *s) { return s->silu ? 2 * s->u : s->u * sqrt(2); }

// F(x) = 1 - a (min(x, most) - most)^2 for x of 0 and more, in units of a u^2: erf with 0.2888 and 1.769, tanh with
// 0.12461 and 2.46, which are nearest to SiLU.
static bool constants_of(const shape *s, block_epilogue *e) {
  const double a = s->silu ? 0.12461 : 0.2888, most = s->silu ? 2.46 : 1.769;
  const double b = rint(-most / s->u), c = rint(-1 / (a * s->u * s->u)), scale = -a * s->u * s->u * s->g;
  if (!(s->u > 0) || !(s->u <= most) || !(b > INT16_MIN) || !(c > INT32_MIN / 2)) return false;
  *e = (block_epilogue){
      .scaled = true, .scale = (float)scale, .norm = {.kind = BLOCK_GELU, .b = (int32_t)b, .c = (int32_t)c}};
  return isfinite(e->scale);
}

// The largest magnitude that stays inside of 32 bits.
static double room_of(const block_epilogue *e) { return (double)INT32_MAX / (-2.0 * e->norm.c); }

enum { WANTED = 16 };  // x of sums, whose largest is not known

static bool has_room(const lang_lowerer *l, const lang_lower_block *root, const shape *s, const block_epilogue *e) {
  const double largest = lang_lower_largest(l, root->buffer);
  return room_of(e) >= (largest > 0 ? largest : WANTED / step_of(s));
}

static bool refuse_scale(lang_lowerer *l, const lang_ast *node, const shape *s) {
  const char *name = s->silu ? "SiLU" : "GELU";
  lang_lower_fail(l, node, "%s in integers of 32 bits has no room for these integers at a scale of %g", name,
                  step_of(s));
  lang_lower_hint(l,
                  "a scale is at most %s, and %s or more for sums; round finer ones first: "
                  "h = (acc * (scale * 32)).to(int8), then %s of h * 0.03125",
                  s->silu ? "4.9" : "2.5", s->silu ? "0.008" : "0.005", name);
  return false;
}

bool lang_lower_curve_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *from, lang_dtype dtype,
                              lang_lower_value *result) {
  shape s;
  lang_lower_rows *rows = WF_ARENA_NEW(l->run, lang_lower_rows);
  *rows = (lang_lower_rows){.form = LOWER_ROWS_I8, .block = from->block, .kind = BLOCK_GELU};
  *result = (lang_lower_value){.kind = VALUE_ROWS, .rows = rows};
  if (dtype != LANG_INT8 || !shape_of(from->curve, &s)) {
    lang_lower_fail(l, node, "%s cannot become %s: only GELU and SiLU, int8", lang_lower_rows_text(from),
                    lang_dtype_names[dtype]);
    return lang_lower_curve_hint(l);
  }
  return (constants_of(&s, &rows->gelu) && has_room(l, &from->block, &s, &rows->gelu)) || refuse_scale(l, node, &s);
}
