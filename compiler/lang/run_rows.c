// SPDX-License-Identifier: Apache-2.0
// Rows, element by element: see run.h. Exponentials are integers; what they are is in docs/kernel-language.md.
#include <math.h>
#include <string.h>

#include "compiler/lang/run.h"

static const double finest = 1e-6;  // of exponentials: the square has 32 bits
enum { LEVELS = 127, FRACTION = 16, WORD = 32 };

static lang_run_value as_value(const lang_run_block *b) { return (lang_run_value){.kind = RUN_BLOCK, .block = b}; }

static int64_t width_of(const lang_run_block *b) { return b->size[b->rank - 1]; }

// ---- along the last axis

// A number per row, in a block that has no cells yet; a row on its own has one of one element.
static lang_run_block *column_of(lang_runner *r, const lang_run_block *b, bool keep, lang_dtype dtype) {
  int64_t size[RUN_RANK_MAX];
  memcpy(size, b->size, sizeof size);
  const bool kept = keep || b->rank == 1;
  if (kept) size[b->rank - 1] = 1;
  return lang_run_new_block(r, size, kept ? b->rank : b->rank - 1, dtype);
}

static bool axis_and_keep(lang_runner *r, const lang_ast *node, const lang_ast **args, const lang_run_block *b,
                          bool *keep) {
  int64_t axis = b->rank - 1;
  *keep = false;
  if (args[1] == NULL && b->rank > 1) return lang_run_fail(r, node, "along which axis?");
  if (args[1] != NULL && !lang_run_eval_int(r, args[1], &axis)) return false;
  if (args[2] != NULL && !lang_run_truth(r, args[2], keep)) return false;
  return axis == b->rank - 1 || axis == -1 || lang_run_fail(r, node, "only the last axis");
}

static bool is_left_out(const lang_run_block *b, int64_t e) { return b->left_out != NULL && b->left_out[e]; }

static const lang_run_block *largest(lang_runner *r, const lang_run_block *b, bool keep) {
  lang_run_block *made = column_of(r, b, keep, LANG_INT32);
  for (int64_t row = 0; row < made->count; row++) {
    made->cells[row].i = INT32_MIN;
    for (int64_t e = row * width_of(b); e < (row + 1) * width_of(b); e++)
      if (!is_left_out(b, e) && b->cells[e].i > made->cells[row].i) made->cells[row] = b->cells[e];
  }
  return made;
}

static lang_run_value times_factor(lang_runner *r, const lang_run_block *whole, double factor) {
  lang_run_block *made = lang_run_new_block(r, whole->size, whole->rank, LANG_FLOAT32);
  for (int64_t e = 0; e < made->count; e++) made->cells[e].f = (float)whole->cells[e].i * (float)factor;
  made->meaning = RUN_SCALED;
  made->left_out = whole->left_out;
  made->whole = whole;
  made->factor = factor;
  const lang_run_value from = as_value(whole), number = {.kind = RUN_SCALAR, .scalar = lang_float(factor)};
  lang_run_curve_note(r, AST_MUL, &from, &number, made);
  return as_value(made);
}

bool lang_run_row_max(lang_runner *r, const lang_ast *node, const lang_ast **args, const lang_run_value *v,
                      lang_run_value *result) {
  bool keep;
  if (v->kind != RUN_BLOCK || !axis_and_keep(r, node, args, v->block, &keep)) return false;
  const lang_run_block *b = v->block;
  if (b->meaning == RUN_SCALED)
    *result = times_factor(r, largest(r, b->whole, keep), b->factor);
  else if (b->dtype != LANG_FLOAT32)
    *result = as_value(largest(r, b, keep));
  else
    return lang_run_fail(r, node, "max() is of integers, perhaps scaled");
  return true;
}

bool lang_run_row_sum(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value v;
  bool keep;
  if (!lang_run_eval(r, args[0], &v) || v.kind != RUN_BLOCK || !axis_and_keep(r, node, args, v.block, &keep))
    return false;
  const bool whole = v.block->dtype != LANG_FLOAT32 && v.block->left_out == NULL;
  if (!whole && v.block->meaning != RUN_EXP) return lang_run_fail(r, node, "sum() is of integers or exponentials");
  lang_run_block *made = column_of(r, v.block, keep, whole ? LANG_INT32 : LANG_FLOAT32);
  made->meaning = v.block->meaning;
  for (int64_t row = 0; row < made->count; row++)
    for (int64_t c = 0; c < width_of(v.block); c++)
      made->cells[row].i =
          (int32_t)((uint32_t)made->cells[row].i + (uint32_t)v.block->cells[row * width_of(v.block) + c].i);
  *result = as_value(made);
  return true;
}

// ---- exponentials

typedef struct exponential {
  int64_t b, c, ln2, inverse;
} exponential;

static exponential exponential_of(double scale) {
  exponential x = {.b = (int64_t)rint(1.353 / scale), .ln2 = (int64_t)rint(log(2.0) / scale)};
  x.c = (int64_t)rint(0.344 / (0.3585 * scale * scale));
  x.inverse = (int64_t)rint(65536 / (double)x.ln2);
  return x;
}

static int64_t word(int64_t value) { return (int32_t)(uint32_t)(uint64_t)value; }

// In words of 32 bits.
static int32_t power(const exponential *x, int32_t q) {
  const uint32_t halvings = (uint32_t)((uint64_t)(word(-(int64_t)q) * x->inverse) >> FRACTION);
  const int64_t p = word(word(q + word((int64_t)halvings * x->ln2)) + x->b);
  return halvings >= WORD ? 0 : (int32_t)((uint32_t)word(p * p + x->c) >> halvings);
}

// Without elements: only what it is of integers counts.
static bool exp_of_elements(lang_runner *r, const lang_ast *node, const lang_run_block *b, bool two,
                            lang_run_value *result) {
  lang_run_block *made = lang_run_new_block(r, b->size, b->rank, LANG_FLOAT32);
  lang_run_curve_exp(r, b, two, made);
  made->meaning = RUN_CURVE;
  *result = as_value(made);
  return made->curve != NULL || lang_run_fail(r, node, "exp() is of integers times a number");
}

bool lang_run_row_exp(lang_runner *r, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                      lang_run_value *result) {
  lang_run_value v;
  if (!lang_run_eval(r, args[0], &v)) return false;
  const bool two = id == BUILTIN_EXP2;
  if (v.kind == RUN_BLOCK && v.block->meaning == RUN_PLAIN && v.block->dtype == LANG_FLOAT32)
    return exp_of_elements(r, node, v.block, two, result);
  if (v.kind != RUN_BLOCK || (v.block->meaning != RUN_SCALED && v.block->dtype != LANG_INT32))
    return lang_run_fail(r, node, "exp() is of integers times a number");
  const bool scaled = v.block->meaning == RUN_SCALED;
  const lang_run_block *from = scaled ? v.block->whole : v.block;
  const double factor = (scaled ? v.block->factor : 1) * (two ? log(2.0) : 1);
  // Softmax does not take other factors; exp() of elements may.
  const exponential x = exponential_of(factor > finest && rint(log(2.0) / factor) >= 1 ? factor : 1);
  lang_run_block *made = lang_run_new_block(r, from->size, from->rank, LANG_FLOAT32);
  made->meaning = RUN_EXP;
  lang_run_curve_exp(r, v.block, two, made);
  for (int64_t e = 0; e < made->count; e++) made->cells[e].i = is_left_out(from, e) ? 0 : power(&x, from->cells[e].i);
  *result = as_value(made);
  return true;
}

// ---- means and deviations, in integers

// Towards zero.
static bool average(lang_runner *r, const lang_ast *node, const lang_run_block *b, const lang_run_value *by,
                    lang_run_value *result) {
  if (by->kind != RUN_SCALAR || by->scalar.kind != LANG_INT || by->scalar.integer < 1)
    return lang_run_fail(r, node, "integers are divided by a positive integer");
  lang_run_block *made = lang_run_new_block(r, b->size, b->rank, LANG_INT32);
  for (int64_t e = 0; e < made->count; e++) made->cells[e].i = (int32_t)(b->cells[e].i / by->scalar.integer);
  *result = as_value(made);
  return true;
}

static int32_t root_of(int32_t square) {
  int64_t root = 0;
  while ((root + 1) * (root + 1) <= square) root++;
  return (int32_t)root;
}

// 1 divided by the whole part of the root, which is 1 at least.
bool lang_run_row_rsqrt(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value v;
  if (!lang_run_eval(r, args[0], &v)) return false;
  if (v.kind != RUN_BLOCK || v.block->dtype != LANG_INT32) return lang_run_fail(r, node, "rsqrt() is of integers");
  lang_run_block *made = lang_run_new_block(r, v.block->size, v.block->rank, LANG_FLOAT32);
  for (int64_t e = 0; e < made->count; e++) {
    const int32_t root = root_of(v.block->cells[e].i);
    made->cells[e].f = 1.0F / (float)(root < 1 ? 1 : root);
  }
  *result = as_value(made);
  return true;
}

// ---- operators

static bool is_float(const lang_run_value *v) { return v->kind == RUN_SCALAR && v->scalar.kind == LANG_FLOAT; }

static bool is_whole(const lang_run_value *v) { return v->kind == RUN_BLOCK && v->block->dtype != LANG_FLOAT32; }

static bool means(const lang_run_value *v, lang_run_meaning meaning) {
  return v->kind == RUN_BLOCK && v->block->meaning == meaning;
}

// What is left out stays so.
static bool subtract(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                     lang_run_value *result) {
  lang_run_block *all = WF_ARENA_NEW(r->arena, lang_run_block);
  if (a->kind != RUN_BLOCK || a->block->left_out == NULL) return lang_run_arithmetic(r, node, AST_SUB, 0, a, b, result);
  *all = *a->block;
  all->left_out = NULL;
  const lang_run_value from = as_value(all);
  if (!lang_run_arithmetic(r, node, AST_SUB, 0, &from, b, result)) return false;
  *all = *result->block;
  all->left_out = a->block->left_out;
  *result = as_value(all);
  return all->count == a->block->count || lang_run_fail(r, node, "these shapes do not go together");
}

static bool scaled_difference(lang_runner *r, const lang_ast *node, const lang_run_block *a, const lang_run_block *b,
                              lang_run_value *result) {
  const lang_run_value x = as_value(a->whole), y = as_value(b->whole);
  lang_run_value difference;
  if (!subtract(r, node, &x, &y, &difference)) return false;
  *result = times_factor(r, difference.block, a->factor);
  return true;
}

static bool share(lang_runner *r, const lang_ast *node, const lang_run_block *a, const lang_run_block *b,
                  lang_run_value *result) {
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (!lang_run_common_shape(a->size, a->rank, b->size, b->rank, size, &rank) || rank != a->rank ||
      memcmp(size, a->size, (size_t)rank * sizeof *size) != 0)
    return lang_run_fail(r, node, "these shapes do not go together");
  lang_run_block *made = lang_run_new_block(r, size, rank, LANG_FLOAT32);
  made->meaning = RUN_SHARE;
  made->whole = a;
  made->by = b;
  *result = as_value(made);
  return true;
}

static bool levels(lang_runner *r, const lang_ast *node, const lang_run_block *b, const lang_run_value *number,
                   lang_run_value *result) {
  if (number->kind != RUN_SCALAR || lang_scalar_number(number->scalar) != LEVELS)
    return lang_run_fail(r, node, "a share times 127");
  lang_run_block *made = lang_run_new_block(r, b->size, b->rank, LANG_FLOAT32);
  for (int64_t e = 0; e < made->count; e++) {
    const int64_t at = lang_run_matching(b->by->size, b->by->rank, b->size, b->rank, e);
    made->cells[e].f = (float)b->whole->cells[e].i * ((float)LEVELS / (float)b->by->cells[at].i);
  }
  *result = as_value(made);
  return true;
}

static bool scaled(lang_runner *r, const lang_ast *node, const lang_run_block *b, const lang_run_value *number,
                   lang_run_value *result) {
  const lang_run_value v = as_value(b);
  lang_run_value whole;
  if (!lang_run_convert(r, node, &v, LANG_INT32, &whole)) return false;
  *result = times_factor(r, whole.block, (double)(float)lang_scalar_number(number->scalar));
  return true;
}

// The elements are those of two products, the factor is one.
static bool scaled_again(lang_runner *r, const lang_ast *node, const lang_run_value *v, const lang_run_value *number,
                         lang_run_value *result) {
  const double factor = (double)(float)(v->block->factor * (double)(float)lang_scalar_number(number->scalar));
  lang_run_block *made = WF_ARENA_NEW(r->arena, lang_run_block);
  if (v->block->left_out != NULL) {
    *result = times_factor(r, v->block->whole, factor);
    return true;
  }
  if (!lang_run_arithmetic(r, node, AST_MUL, 0, v, number, result)) return false;
  *made = *result->block;
  made->meaning = RUN_SCALED;
  made->whole = v->block->whole;
  made->factor = factor;
  *result = as_value(made);
  return true;
}

bool lang_run_row_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                           lang_run_value *result) {
  if (node->op == AST_MUL && is_whole(a) && is_float(b)) return scaled(r, node, a->block, b, result);
  if (node->op == AST_MUL && is_whole(b) && is_float(a)) return scaled(r, node, b->block, a, result);
  if (node->op == AST_MUL && means(a, RUN_SCALED) && is_float(b)) return scaled_again(r, node, a, b, result);
  if (node->op == AST_MUL && means(b, RUN_SCALED) && is_float(a)) return scaled_again(r, node, b, a, result);
  if (node->op == AST_MUL && means(a, RUN_SHARE)) return levels(r, node, a->block, b, result);
  if (node->op == AST_MUL && means(b, RUN_SHARE)) return levels(r, node, b->block, a, result);
  if (node->op == AST_DIV && means(a, RUN_EXP) && means(b, RUN_EXP)) return share(r, node, a->block, b->block, result);
  if (lang_run_curve_operator(r, node, a, b, result)) return true;
  if (node->op == AST_DIV && is_whole(a)) return average(r, node, a->block, b, result);
  if (node->op == AST_SUB && means(a, RUN_SCALED) && means(b, RUN_SCALED) && a->block->factor == b->block->factor)
    return scaled_difference(r, node, a->block, b->block, result);
  if (node->op == AST_SUB) return subtract(r, node, a, b, result);
  return lang_run_arithmetic(r, node, node->op, 0, a, b, result);
}

// ---- columns that are left out

bool lang_run_is_nothing(const lang_run_value *v) {
  return v->kind == RUN_SCALAR && v->scalar.kind == LANG_FLOAT && v->scalar.number == -INFINITY;
}

bool lang_run_keep(lang_runner *r, const lang_ast *node, const lang_run_block *b, const bool *keeps,
                   lang_run_value *result) {
  lang_run_value whole;
  if (b->meaning == RUN_SCALED) {
    if (!lang_run_keep(r, node, b->whole, keeps, &whole)) return false;
    *result = times_factor(r, whole.block, b->factor);
    return true;
  }
  if (b->dtype == LANG_FLOAT32) return lang_run_fail(r, node, "columns are left out of integers, perhaps scaled");
  lang_run_block *made = WF_ARENA_NEW(r->arena, lang_run_block);
  bool *left_out = WF_ARENA_ARRAY(r->arena, (size_t)b->count + 1, bool);
  for (int64_t e = 0; e < b->count; e++) left_out[e] = !keeps[e] || is_left_out(b, e);
  *made = *b;
  made->left_out = left_out;
  *result = as_value(made);
  return true;
}

bool lang_run_where(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value mask, v, other;
  if (!lang_run_eval(r, args[0], &mask) || !lang_run_eval(r, args[1], &v) || !lang_run_eval(r, args[2], &other))
    return false;
  if (mask.kind != RUN_MASK || v.kind != RUN_BLOCK || !lang_run_is_nothing(&other))
    return lang_run_fail(r, node, "where() takes a mask, a block and minus infinity");
  const lang_run_block *b = v.block;
  const lang_run_indexes *m = mask.indexes;
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (!lang_run_common_shape(m->size, m->rank, b->size, b->rank, size, &rank) || rank != b->rank ||
      memcmp(size, b->size, (size_t)rank * sizeof *size) != 0)
    return lang_run_fail(r, node, "these shapes do not go together");
  bool *keeps = WF_ARENA_ARRAY(r->arena, (size_t)b->count + 1, bool);
  for (int64_t e = 0; e < b->count; e++) keeps[e] = m->at[lang_run_matching(m->size, m->rank, size, rank, e)] != 0;
  return lang_run_keep(r, node, b, keeps, result);
}
