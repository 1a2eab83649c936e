// SPDX-License-Identifier: Apache-2.0
// Calls over rows of int8, int8 again: softmax (qsoftmax.c) and normalisation, whose sums are exact. Rows that follow
// each other are taken together: of a norm four at a time share the factors and offsets of their columns.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

// Rows have to lie as they are, without steps between their elements.
static bool is_plain(const struct weft_host_call *call) {
  return call->outer + 1 == call->rank && host_is(call, 0, WEFT_I8) && host_is(call, 1, WEFT_I8) &&
         call->operand[0].step[call->outer] == 1 && call->operand[1].step[call->outer] == 1;
}

// The rows of the last outer dimension.
static int64_t row_count(const struct weft_host_call *call) {
  return call->outer == 0 ? 1 : call->dim[call->outer - 1];
}

static const char *row_at(const struct weft_host_call *call, const struct host_place *p, int operand, int64_t row) {
  return p->at[operand] + (call->outer == 0 ? 0 : row * call->operand[operand].step[call->outer - 1]);
}

static struct host_qrow row_of(const struct weft_host_call *call, const struct host_place *p, int64_t row) {
  return (struct host_qrow){(int8_t *)row_at(call, p, 0, row), (const int8_t *)row_at(call, p, 1, row),
                            call->dim[call->outer]};
}

// ---- softmax

static enum weft_host_status softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  for (int64_t r = 0, rows = row_count(call); r < rows; r++) {
    const struct host_qrow row = row_of(call, p, r);
    if (call->integer[0] != 0)
      host_qsoftmax_masked_row(&row, row_at(call, p, 3, r), p->at[2], call->number[0]);
    else
      host_qsoftmax_row(&row, p->at[2], call->number[0]);
  }
  return WEFT_HOST_OK;
}

// ---- normalisation: y (N x - sum) k + z with k = 1 / sqrt(N squares - sum^2 + a)

// A row and what its numbers take: x factor + shift.
struct norm_row {
  struct host_qrow row;
  float factor, shift;
};

// Products of integers take the hart longer than those of floating point, which are as exact here.
static void sums_of(const struct host_qrow *l, int64_t *sum, int64_t *squares) {
  double square[GROUP] = {0};
  int64_t a = 0, i = 0;
  for (; i + GROUP <= l->count; i += GROUP) {
    int64_t x[GROUP];
    double f[GROUP];
    get_group(x, l->from + i);
    EACH f[j] = (double)(int32_t)x[j];
    EACH a += x[j];
    doubles_there(f);
    EACH square[j] = __builtin_fma(f[j], f[j], square[j]);
  }
  for (; i < l->count; i++) {
    a += l->from[i];
    square[0] += l->from[i] * l->from[i];
  }
  EACH square[0] += j == 0 ? 0 : square[j];
  *sum = a;
  *squares = (int64_t)square[0];
}

static void begin_row(const struct weft_host_call *call, struct norm_row *n) {
  int64_t sum, squares;
  sums_of(&n->row, &sum, &squares);
  if (call->integer[0] == 0) sum = 0;
  const int64_t count = n->row.count;
  const float k = 1.0f / weft_sqrtf((float)(count * squares - sum * sum) + call->number[0]);
  n->factor = (float)count * k;
  n->shift = (float)-sum * k;
}

static void norm_rest(const struct norm_row *n, int64_t from, const float *gamma, const float *beta) {
  for (int64_t i = from; i < n->row.count; i++)
    n->row.to[i] = weft_saturate(
        weft_nearest(__builtin_fmaf(__builtin_fmaf((float)n->row.from[i], n->factor, n->shift), gamma[i], beta[i])));
}

// Two columns of four rows.
enum { ROWS = 4, COLUMNS = GROUP / ROWS };

__attribute__((always_inline)) static inline void norm_block(int8_t *const *to, const int8_t *const *from, int at,
                                                             const float *factor, const float *shift,
                                                             const float *gamma, const float *beta) {
  int64_t x[GROUP];
  float v[GROUP], y[COLUMNS], z[COLUMNS];
  EACH x[j] = from[j % ROWS][at + j / ROWS];
  y[0] = gamma[at], y[1] = gamma[at + 1];
  z[0] = beta[at], z[1] = beta[at + 1];
  wholes_there(x);
  EACH v[j] = (float)(int32_t)x[j];
  numbers_there(v);
  EACH v[j] = __builtin_fmaf(v[j], factor[j % ROWS], shift[j % ROWS]);
  numbers_there(v);
  EACH v[j] = __builtin_fmaf(v[j], y[j / ROWS], z[j / ROWS]);
  numbers_there(v);
  not_above(v, 127);
  not_below(v, -128);
  EACH x[j] = nearest(v[j]);
  wholes_there(x);
  EACH to[j % ROWS][at + j / ROWS] = (int8_t)x[j];
}

static void norm_rows(const struct norm_row *n, const float *gamma, const float *beta) {
  int8_t *to[ROWS] = {n[0].row.to, n[1].row.to, n[2].row.to, n[3].row.to};
  const int8_t *from[ROWS] = {n[0].row.from, n[1].row.from, n[2].row.from, n[3].row.from};
  const float factor[ROWS] = {n[0].factor, n[1].factor, n[2].factor, n[3].factor};
  const float shift[ROWS] = {n[0].shift, n[1].shift, n[2].shift, n[3].shift};
  const float *y = gamma, *z = beta;
  int64_t i = 0;
  for (const int64_t count = n->row.count; i + GROUP <= count; i += GROUP) {
    _Pragma("GCC unroll 4") for (int c = 0; c < GROUP; c += COLUMNS) norm_block(to, from, c, factor, shift, y, z);
    _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++) to[r] += GROUP, from[r] += GROUP;
    y += GROUP, z += GROUP;
  }
  for (int r = 0; r < ROWS; r++) norm_rest(&n[r], i, gamma, beta);
}

static enum weft_host_status normalize(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const float *gamma = (const float *)(const void *)p->at[2], *beta = (const float *)(const void *)p->at[3];
  const int64_t rows = row_count(call);
  int64_t r = 0;
  for (; r < rows; r += ROWS) {
    struct norm_row n[ROWS];
    const int64_t some = rows - r < ROWS ? rows - r : ROWS;
    for (int64_t i = 0; i < some; i++) {
      n[i].row = row_of(call, p, r + i);
      begin_row(call, &n[i]);
    }
    if (some == ROWS)
      norm_rows(n, gamma, beta);
    else
      for (int64_t i = 0; i < some; i++) norm_rest(&n[i], 0, gamma, beta);
  }
  return WEFT_HOST_OK;
}

// Factors and offsets are those of the columns, the table is one for all.
static bool is_shared(const struct weft_host_call *call, int operand) {
  return call->outer == 0 || call->operand[operand].step[call->outer - 1] == 0;
}

bool host_qrows_run(const struct weft_host_call *call, const struct host_place *start, enum weft_host_status *status) {
  const bool softmaxes = call->op == WEFT_HOST_QSOFTMAX;
  if ((!softmaxes && call->op != WEFT_HOST_QNORMALIZE) || !is_plain(call)) return false;
  if (!is_shared(call, 2) || (!softmaxes && !is_shared(call, 3))) return false;
  *status = host_each(call, 0, call->outer == 0 ? 0 : call->outer - 1, start, softmaxes ? softmax : normalize, NULL);
  return true;
}
