// SPDX-License-Identifier: Apache-2.0
// Softmax and layer norm of the rows of a block: see lower.h.
//
// The normaliser of the store unit makes it of an int32 block that is stored, so that its parts are no blocks of their
// own: each is kept as what it is of the block, and the store, which has them all, becomes one statement.
//
//   m = max(x, axis=1)                    LOWER_ROWS_MAX, a number per row
//   d = (x - m[:, None]) * s              LOWER_ROWS_BELOW, then LOWER_ROWS_SCALED; or of x * s from the start
//   e = exp(d)                            LOWER_ROWS_EXP
//   p = e / sum(e, axis=1)[:, None]       LOWER_ROWS_SUM, LOWER_ROWS_SHARE
//   store(y, (p * 127).to(int8))          LOWER_ROWS_LEVELS, LOWER_ROWS_I8
//
//   d = x - (sum(x, axis=1) / N)[:, None]       LOWER_ROWS_TOTAL, LOWER_ROWS_MEAN, LOWER_ROWS_CENTRED
//   r = rsqrt(sum(d * d, axis=1) / N)           LOWER_ROWS_SQUARE, _SQUARES, _VARIANCE, _INVERSE
//   store(y, (d * r[:, None]).to(int8))         LOWER_ROWS_NORMED, LOWER_ROWS_I8; d may be of another block
#include <math.h>
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

enum { LEVELS = 127 };

static const struct {
  const char *text;
  bool column;
} forms[] = {
    [LOWER_ROWS_ALL] = {"a block times a number", false},
    [LOWER_ROWS_MAX] = {"the largest of each row", true},
    [LOWER_ROWS_BELOW] = {"rows less their largest", false},
    [LOWER_ROWS_EXP] = {"exp() of rows", false},
    [LOWER_ROWS_SUM] = {"the sum of exp() of each row", true},
    [LOWER_ROWS_SHARE] = {"exp() of rows divided by its sum", false},
    [LOWER_ROWS_LEVELS] = {"softmax of rows", false},
    [LOWER_ROWS_TOTAL] = {"the sum of each row", true},
    [LOWER_ROWS_MEAN] = {"the mean of each row", true},
    [LOWER_ROWS_CENTRED] = {"rows less their mean", false},
    [LOWER_ROWS_SQUARE] = {"squares of rows less their mean", false},
    [LOWER_ROWS_SQUARES] = {"the sum of squares of each row", true},
    [LOWER_ROWS_VARIANCE] = {"the variance of each row", true},
    [LOWER_ROWS_INVERSE] = {"rsqrt() of the variance of each row", true},
    [LOWER_ROWS_NORMED] = {"layer norm of rows", false},
    [LOWER_ROWS_CURVE] = {"this function of each element", false},
    [LOWER_ROWS_I8] = {"", false},
};

const char *lang_lower_rows_text(const lang_lower_rows *rows) {
  if (rows->form == LOWER_ROWS_ALL && rows->kept != NULL) return "rows of which columns are left out";
  if (rows->form != LOWER_ROWS_I8) return forms[rows->form].text;
  if (rows->kind == BLOCK_GELU) return "GELU";
  return forms[rows->kind == BLOCK_SOFTMAX ? LOWER_ROWS_LEVELS : LOWER_ROWS_NORMED].text;
}

static bool hint_at_form(lang_lowerer *l) {
  lang_lower_hint(l,
                  "softmax of rows: e = exp((x - max(x, axis=1)[:, None]) * scale), then (e / sum(e, axis=1)[:, None] "
                  "* 127).to(int8)");
  return false;
}

static bool refuse(lang_lowerer *l, const lang_ast *node, const char *what) {
  lang_lower_fail(l, node, "%s", what);
  return hint_at_form(l);
}

static bool refuse_exp(lang_lowerer *l, const lang_ast *node) {
  return refuse(l, node, "exp() is of rows less their largest, times a number");
}

static bool refuse_norm(lang_lowerer *l, const lang_ast *node, const char *what) {
  lang_lower_fail(l, node, "%s", what);
  lang_lower_hint(l,
                  "layer norm of rows: d = x - (sum(x, axis=1) / N)[:, None], r = rsqrt(sum(d * d, axis=1) / N), then "
                  "(d * r[:, None]).to(int8)");
  return false;
}

static bool is_norm(const lang_lower_rows *rows) {
  return rows->form >= LOWER_ROWS_TOTAL && rows->form <= LOWER_ROWS_NORMED;
}

static bool hint_for(lang_lowerer *l, const lang_lower_rows *rows) {
  if (rows->form == LOWER_ROWS_CURVE) return lang_lower_curve_hint(l);
  return is_norm(rows) ? false : hint_at_form(l);
}

static bool made(lang_lowerer *l, const lang_lower_rows *from, lang_lower_rows_form form, lang_lower_value *result) {
  lang_lower_rows *rows = WF_ARENA_NEW(l->run, lang_lower_rows);
  *rows = *from;
  rows->form = form;
  *result = (lang_lower_value){.kind = VALUE_ROWS, .rows = rows};
  return true;
}

// ---- blocks as rows

// A block of integers, or one that is such a block times a number.
bool lang_lower_rows_of(lang_lowerer *l, const lang_lower_value *v, lang_lower_rows *rows) {
  if (v->kind == VALUE_ROWS) {
    *rows = *v->rows;
    return true;
  }
  if (v->kind != VALUE_BLOCK || v->block.transposed) return false;
  const lang_lower_rows *scaled = v->block.scaled;
  *rows = (lang_lower_rows){.form = LOWER_ROWS_ALL, .block = v->block, .scale = 1};
  if (scaled != NULL) *rows = *scaled;
  return l->program->buffers[rows->block.buffer].type != BLOCK_F32;
}

static bool same_rows(const lang_lower_rows *a, const lang_lower_rows *b) {
  return a->scale == b->scale && a->scaled == b->scaled && lang_lower_same_mask(a->kept, b->kept) &&
         a->block.buffer == b->block.buffer &&
         lang_lower_same_shape(a->block.size, a->block.rank, b->block.size, b->block.rank);
}

// ---- a number per row

static bool check_axis(lang_lowerer *l, const lang_ast *node, const lang_ast *axis, const lang_lower_block *b) {
  int64_t at = b->rank - 1;
  if (axis == NULL && b->rank > 1) {
    lang_lower_fail(l, node, "without an axis this is of the whole block, of which there is no maximum and no sum");
    lang_lower_hint(l, "of each row: axis=%d", b->rank - 1);
    return false;
  }
  if (axis != NULL && !lang_lower_eval_constant(l, axis, "the axis", &at)) return false;
  if (at == b->rank - 1 || at == -1) return true;
  lang_lower_fail(l, axis, "columns have no maxima and sums here: only the last axis, %d, has", b->rank - 1);
  lang_lower_hint(l, "dot() with a block of ones sums along the other axes");
  return false;
}

static bool check_keep(lang_lowerer *l, const lang_ast *node, bool *keep) {
  *keep = false;
  return node == NULL || lang_lower_truth(l, node, keep);
}

// max() and sum(): `column` is what they are of the rows.
static bool reduce(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const lang_lower_rows *from,
                   lang_lower_rows_form column, lang_lower_value *result) {
  lang_lower_rows rows = *from;
  bool keep;
  if (!check_axis(l, node, args[1], &rows.block) || !check_keep(l, args[2], &keep)) return false;
  rows.spread = keep || rows.block.rank == 1;
  return made(l, &rows, column, result);
}

bool lang_lower_row_max(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const lang_lower_value *v,
                        lang_lower_value *result) {
  lang_lower_rows rows;
  if (lang_lower_rows_of(l, v, &rows) && rows.form == LOWER_ROWS_ALL)
    return reduce(l, node, args, &rows, LOWER_ROWS_MAX, result);
  return refuse(l, node, "max() along an axis is of a block of integers, perhaps scaled");
}

bool lang_lower_row_sum(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value v;
  lang_lower_rows rows;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &v)) return false;
  const bool good = lang_lower_rows_of(l, &v, &rows);
  if (good && rows.form == LOWER_ROWS_EXP) return reduce(l, node, args, &rows, LOWER_ROWS_SUM, result);
  if (good && rows.form == LOWER_ROWS_SQUARE) return reduce(l, node, args, &rows, LOWER_ROWS_SQUARES, result);
  if (good && rows.form == LOWER_ROWS_ALL && !rows.scaled && rows.kept == NULL)
    return reduce(l, node, args, &rows, LOWER_ROWS_TOTAL, result);
  if (good && lang_lower_is_curve(&v)) return refuse_exp(l, args[0]);
  return refuse(l, node, "sum() along an axis is of integers, their squares less the mean, or exp() of rows");
}

// x[:, None] of a number per row.
bool lang_lower_row_subscript(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v,
                              lang_lower_value *result) {
  lang_lower_rows rows = *v->rows;
  const bool column = node->count == 2 && node->items[0]->kind == AST_SLICE && node->items[1]->kind == AST_NONE;
  if (!forms[rows.form].column || rows.spread || !column)
    return lang_lower_fail(l, node, "%s takes [:, None], once", lang_lower_rows_text(&rows));
  rows.spread = true;
  return made(l, &rows, rows.form, result);
}

// ---- exp()

static const double int32_most = INT32_MAX;

// e^x = 2^-z e^p with p in (-ln 2, 0], e^p = 0.3585 (p + 1.353)^2 + 0.344, in units of 0.3585 scale^2.
static bool constants_of(double scale, int64_t width, block_norm *norm) {
  const double one = 1.353 + log(2), unit = 1 / (scale * scale);
  if (!(scale > 0) || !((one * one + 1) * unit < int32_most) || !((double)width * 2.8 * unit < int32_most))
    return false;
  const double ln2 = rint(log(2) / scale);
  if (ln2 < 1) return false;
  *norm = (block_norm){.kind = BLOCK_SOFTMAX,
                       .b = (int32_t)rint(1.353 / scale),
                       .c = (int32_t)rint(0.344 / (0.3585 * scale * scale)),
                       .ln2 = (int32_t)ln2,
                       .ln2_inverse = (int32_t)rint(65536 / ln2)};
  return true;
}

bool lang_lower_row_exp(lang_lowerer *l, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                        lang_lower_value *result) {
  lang_lower_value v;
  block_norm norm;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &v)) return false;
  if (v.kind != VALUE_ROWS || v.rows->form != LOWER_ROWS_BELOW)
    return lang_lower_curve_exp(l, &v, id == BUILTIN_EXP2, result) || refuse_exp(l, node);
  lang_lower_rows rows = *v.rows;
  const lang_lower_block *b = &rows.block;
  if (id == BUILTIN_EXP2) rows.scale *= log(2);
  if (constants_of(rows.scale, b->size[b->rank - 1], &norm)) return made(l, &rows, LOWER_ROWS_EXP, result);
  lang_lower_fail(l, node, "exp() in integers of 32 bits has no room for rows of %lld at a scale of %g",
                  (long long)b->size[b->rank - 1], rows.scale);
  lang_lower_hint(l, "a scale is positive, at most 1, and at least %.3g for such rows",
                  sqrt(2.8 * (double)b->size[b->rank - 1] / int32_most));
  return false;
}

// ---- rsqrt()

bool lang_lower_row_rsqrt(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value v;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &v)) return false;
  if (v.kind == VALUE_ROWS && v.rows->form == LOWER_ROWS_VARIANCE) return made(l, v.rows, LOWER_ROWS_INVERSE, result);
  return refuse_norm(l, node, "rsqrt() is of the variance of rows, without an epsilon: 0 counts as 1");
}

// ---- operators

static bool subtract(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *a, const lang_lower_rows *b,
                     lang_lower_value *result) {
  if (a->form == LOWER_ROWS_ALL && b->form == LOWER_ROWS_MEAN && b->spread && same_rows(a, b))
    return made(l, a, LOWER_ROWS_CENTRED, result);
  if (a->form != LOWER_ROWS_ALL || b->form != LOWER_ROWS_MAX || !b->spread || !same_rows(a, b))
    return refuse(l, node, "what is taken off rows is the largest of each of them, or the mean");
  return made(l, a, LOWER_ROWS_BELOW, result);
}

static bool divide(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *a, const lang_lower_rows *b,
                   lang_lower_value *result) {
  if (a->form != LOWER_ROWS_EXP || b->form != LOWER_ROWS_SUM || !b->spread || !same_rows(a, b))
    return refuse(l, node, "exp() of rows is divided by its own sum");
  return made(l, a, LOWER_ROWS_SHARE, result);
}

// The mean of what was summed.
static bool average(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *a, const lang_lower_value *by,
                    lang_lower_value *result) {
  int64_t count;
  if (a->form != LOWER_ROWS_TOTAL && a->form != LOWER_ROWS_SQUARES)
    return refuse(l, node, "what is divided by a number is a sum of rows");
  if (!lang_lower_is_constant(by, &count) || count != a->block.size[a->block.rank - 1])
    return refuse_norm(l, node, "a sum of rows is divided by how many elements a row has");
  return made(l, a, a->form == LOWER_ROWS_TOTAL ? LOWER_ROWS_MEAN : LOWER_ROWS_VARIANCE, result);
}

static bool norm(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *a, const lang_lower_rows *b,
                 lang_lower_value *result) {
  lang_lower_rows rows = *a;
  if (a->form == LOWER_ROWS_INVERSE && b->form == LOWER_ROWS_CENTRED) return norm(l, node, b, a, result);
  if (a->form == LOWER_ROWS_CENTRED && b->form == LOWER_ROWS_CENTRED && same_rows(a, b))
    return made(l, a, LOWER_ROWS_SQUARE, result);
  if (a->form != LOWER_ROWS_CENTRED || b->form != LOWER_ROWS_INVERSE || !b->spread ||
      !lang_lower_same_shape(a->block.size, a->block.rank, b->block.size, b->block.rank))
    return refuse_norm(l, node, "rows less their mean are multiplied by themselves or by rsqrt() of the variance");
  rows.of = b->block;
  return made(l, &rows, LOWER_ROWS_NORMED, result);
}

static bool times(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *a, double number,
                  lang_lower_value *result) {
  lang_lower_rows rows = *a;
  if (a->form == LOWER_ROWS_BELOW || a->form == LOWER_ROWS_ALL) {
    rows.scaled = true;
    rows.scale = (double)(float)(a->scale * (double)(float)number);
    return made(l, &rows, a->form, result);
  }
  if (a->form != LOWER_ROWS_SHARE) return refuse(l, node, "this has no meaning for a part of softmax");
  if (number == LEVELS) return made(l, a, LOWER_ROWS_LEVELS, result);
  return refuse(l, node, "the normaliser gives a share of 1 the level 127: other factors it has not");
}

static bool meaningless(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows) {
  if (rows->form == LOWER_ROWS_VARIANCE && node->op == AST_ADD)
    return refuse_norm(l, node, "the normaliser has no epsilon: where the variance is 0 it divides by 1");
  if (is_norm(rows)) return refuse_norm(l, node, "this has no meaning for a part of layer norm");
  return refuse(l, node, "this has no meaning for a part of softmax");
}

bool lang_lower_row_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                             const lang_lower_value *b, lang_lower_value *result) {
  lang_lower_rows x, y;
  double number;
  if (lang_lower_is_curve(a) || lang_lower_is_curve(b)) return lang_lower_curve_operator(l, node, a, b, result);
  if (node->op == AST_MUL && a->kind == VALUE_ROWS && lang_lower_is_number(b, &number))
    return times(l, node, a->rows, number, result);
  if (node->op == AST_MUL && b->kind == VALUE_ROWS && lang_lower_is_number(a, &number))
    return times(l, node, b->rows, number, result);
  if (node->op == AST_DIV && a->kind == VALUE_ROWS && b->kind != VALUE_ROWS)
    return average(l, node, a->rows, b, result);
  if (node->kind == AST_COMPARE || !lang_lower_rows_of(l, a, &x) || !lang_lower_rows_of(l, b, &y))
    return meaningless(l, node, a->kind == VALUE_ROWS ? a->rows : b->rows);
  if (node->op == AST_SUB) return subtract(l, node, &x, &y, result);
  if (node->op == AST_DIV) return divide(l, node, &x, &y, result);
  if (node->op == AST_MUL && (is_norm(&x) || is_norm(&y))) return norm(l, node, &x, &y, result);
  return meaningless(l, node, a->kind == VALUE_ROWS ? a->rows : b->rows);
}

bool lang_lower_row_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_dtype dtype,
                            lang_lower_value *result) {
  lang_lower_rows rows = *v->rows;
  if (rows.form == LOWER_ROWS_ALL && (dtype == LANG_FLOAT32 || (dtype == LANG_INT32 && !rows.scaled))) {
    *result = *v;
    return true;
  }
  if (lang_lower_is_curve(v)) return lang_lower_curve_convert(l, node, &rows, dtype, result);
  rows.kind = rows.form == LOWER_ROWS_LEVELS   ? BLOCK_SOFTMAX
              : rows.form == LOWER_ROWS_NORMED ? BLOCK_LAYER_NORM
                                               : BLOCK_NO_NORM;
  if (rows.kind != BLOCK_NO_NORM && dtype == LANG_INT8) return made(l, &rows, LOWER_ROWS_I8, result);
  lang_lower_fail(l, node, "%s cannot become %s: only softmax and layer norm, int8", lang_lower_rows_text(&rows),
                  lang_dtype_names[dtype]);
  return hint_for(l, &rows);
}

// ---- stores

// An int32 block as it is in the program.
static bool int32_view(lang_lowerer *l, const lang_ast *node, const lang_lower_block *b, block_view *view) {
  const lang_lower_value block = {.kind = VALUE_BLOCK, .block = *b};
  lang_lower_value wide;
  if (!lang_lower_convert(l, node, &block, LANG_INT32, &wide)) return false;
  *view = block_whole(l->program, wide.block.buffer);
  return true;
}

bool lang_lower_row_store(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, block_statement *s) {
  if (rows->form != LOWER_ROWS_I8) {
    lang_lower_fail(l, node, "%s cannot be stored: only all of softmax, layer norm or GELU, as int8",
                    lang_lower_rows_text(rows));
    return hint_for(l, rows);
  }
  s->store.epilogue = (block_epilogue){.scaled = true, .scale = 1, .norm = {.kind = rows->kind}};
  if (rows->kind == BLOCK_GELU) s->store.epilogue = rows->gelu;
  if (rows->kind == BLOCK_SOFTMAX)
    constants_of(rows->scale, rows->block.size[rows->block.rank - 1], &s->store.epilogue.norm);
  if (!lang_lower_lengths(l, node, rows, &s->store.lengths)) return false;
  s->store.apart = rows->kind == BLOCK_LAYER_NORM && rows->of.buffer != rows->block.buffer;
  return (!s->store.apart || int32_view(l, node, &rows->of, &s->store.statistics)) &&
         int32_view(l, node, &rows->block, &s->store.source);
}

bool lang_lower_row_park(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, lang_lower_value *result) {
  block_statement s = {.kind = BLOCK_STORE};
  if (rows->form != LOWER_ROWS_I8) {
    lang_lower_fail(l, node, "dot() multiplies int8 blocks: %s become one as a whole", lang_lower_rows_text(rows));
    return hint_for(l, rows);
  }
  return lang_lower_row_limits(l, node, rows, NULL) && lang_lower_row_store(l, node, rows, &s) &&
         lang_lower_park(l, node, &s, &rows->block, result);
}
