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

static struct host_qrows rows_of(const struct weft_host_call *call, const struct host_place *p) {
  const unsigned last = call->outer == 0 ? 0 : call->outer - 1;
  const struct host_qrow first = row_of(call, p, 0);
  return (struct host_qrows){
      first.to, first.from, first.count, row_count(call), call->operand[0].step[last], call->operand[1].step[last]};
}

static enum weft_host_status softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct host_qrows rows = rows_of(call, p);
  host_qsoftmax_rows(&rows, p->at[2], call->number[0]);
  return WEFT_HOST_OK;
}

static enum weft_host_status softmax_masked(void *context, const struct weft_host_call *call,
                                            const struct host_place *p) {
  (void)context;
  for (int64_t r = 0, rows = row_count(call); r < rows; r++) {
    const struct host_qrow row = row_of(call, p, r);
    host_qsoftmax_masked_row(&row, row_at(call, p, 3, r), p->at[2], call->number[0]);
  }
  return WEFT_HOST_OK;
}

// ---- normalisation: floor(y (N x - sum) k + (z + 1/2)) with k = 1 / sqrt(N squares - sum^2 + a)
//
// Where lowering has made 2^24 y and 2^24 (z + 1/2) of y and z, the conversion to int32 is the one that saturates, and
// the highest byte is the result. Otherwise they are made on the way, which gives the same bits.

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

// The whole numbers are below 2^53.
static void begin_row(const struct weft_host_call *call, struct norm_row *n, int64_t sum, int64_t squares) {
  const double total = call->integer[0] == 0 ? 0 : (double)sum, count = (double)n->row.count;
  const float k = 1.0f / weft_sqrtf((float)__builtin_fma(count, (double)squares, -(total * total)) + call->number[0]);
  n->factor = (float)count * k;
  n->shift = (float)-total * k;
}

enum { RESULT_SHIFT = 24 };

// Factors and offsets of the columns.
struct norm_columns {
  const float *gamma, *beta;
  bool scaled;
};

static inline float scaled_factor(float y) { return y * (1 << RESULT_SHIFT); }
static inline float scaled_offset(float z) { return __builtin_fmaf(z, 1 << RESULT_SHIFT, 1 << (RESULT_SHIFT - 1)); }

static void norm_rest(const struct norm_row *n, int64_t from, const struct norm_columns *columns) {
  for (int64_t i = from; i < n->row.count; i++) {
    const float y = columns->scaled ? columns->gamma[i] : scaled_factor(columns->gamma[i]);
    const float z = columns->scaled ? columns->beta[i] : scaled_offset(columns->beta[i]);
    const float x = __builtin_fmaf((float)n->row.from[i], n->factor, n->shift);
    n->row.to[i] = (int8_t)(lowest(__builtin_fmaf(x, y, z)) >> RESULT_SHIFT);
  }
}

// What the hart works on at once: `many` rows, and as many columns as make a group.
enum { ROWS = 4, FEW_ROWS = 2 };

struct norm_place {
  int8_t *to[ROWS];
  const int8_t *from[ROWS];
  float factor[ROWS], shift[ROWS];
  struct norm_columns columns;
};

__attribute__((always_inline)) static inline void norm_group(const struct norm_place *p, int many, int at) {
  int64_t x[GROUP];
  float v[GROUP], y[GROUP], z[GROUP];
  EACH x[j] = p->from[j % many][at + j / many];
  EACH y[j] = p->columns.gamma[at + j / many];
  EACH z[j] = p->columns.beta[at + j / many];
  if (!p->columns.scaled) {
    EACH y[j] = scaled_factor(y[j]);
    EACH z[j] = scaled_offset(z[j]);
  }
  wholes_there(x);
  EACH v[j] = (float)(int32_t)x[j];
  numbers_there(v);
  EACH v[j] = __builtin_fmaf(v[j], p->factor[j % many], p->shift[j % many]);
  numbers_there(v);
  EACH v[j] = __builtin_fmaf(v[j], y[j], z[j]);
  numbers_there(v);
  EACH x[j] = lowest(v[j]);
  wholes_there(x);
  EACH x[j] >>= RESULT_SHIFT;
  EACH p->to[j % many][at + j / many] = (int8_t)x[j];
}

#define EACH_ROW _Pragma("GCC unroll 4") for (int r = 0; r < many; r++)

__attribute__((always_inline)) static inline void norm_rows(const struct norm_row *n, int many,
                                                            const struct norm_columns *columns) {
  struct norm_place p = {.columns = *columns};
  int64_t i = 0;
  EACH_ROW p.to[r] = n[r].row.to, p.from[r] = n[r].row.from, p.factor[r] = n[r].factor, p.shift[r] = n[r].shift;
  for (const int64_t count = n->row.count; i + GROUP <= count; i += GROUP) {
    _Pragma("GCC unroll 4") for (int c = 0; c < many; c++) norm_group(&p, many, c * (GROUP / many));
    EACH_ROW p.to[r] += GROUP, p.from[r] += GROUP;
    p.columns.gamma += GROUP, p.columns.beta += GROUP;
  }
  EACH_ROW norm_rest(&n[r], i, columns);
}

// Rows that lie this far apart, or a multiple, take each other's places in a data cache of few ways.
enum { SAME_PLACE = 4096 };

// Of up to ROWS rows.
__attribute__((always_inline)) static inline void norm_some(const struct norm_row *n, int64_t some,
                                                            const struct norm_columns *columns) {
  const bool apart = some > 1 && (n[1].row.from - n[0].row.from) % SAME_PLACE != 0;
  int64_t i = 0;
  if (some == ROWS && apart) {
    norm_rows(n, ROWS, columns);
    return;
  }
  for (; i + FEW_ROWS <= some; i += FEW_ROWS) norm_rows(n + i, FEW_ROWS, columns);
  if (i < some) norm_rest(&n[i], 0, columns);
}

static inline int64_t rows_from(int64_t r, int64_t rows) { return rows - r < ROWS ? rows - r : ROWS; }

static enum weft_host_status normalize(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct norm_columns columns = {(const float *)(const void *)p->at[2], (const float *)(const void *)p->at[3],
                                       false};
  for (int64_t r = 0, rows = row_count(call); r < rows; r += ROWS) {
    struct norm_row n[ROWS];
    const int64_t some = rows_from(r, rows);
    for (int64_t i = 0; i < some; i++) {
      int64_t sum, squares;
      n[i].row = row_of(call, p, r + i);
      sums_of(&n[i].row, &sum, &squares);
      begin_row(call, &n[i], sum, squares);
    }
    norm_some(n, some, &columns);
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status normalize_sums(void *context, const struct weft_host_call *call,
                                            const struct host_place *p) {
  (void)context;
  const float *gamma = (const float *)(const void *)p->at[2];
  const struct norm_columns columns = {gamma, gamma + call->dim[call->outer], true};
  const int64_t rows = row_count(call);
  const int32_t *sums = (const int32_t *)(const void *)p->at[3];
  for (int64_t r = 0; r < rows; r += ROWS) {
    struct norm_row n[ROWS];
    const int64_t some = rows_from(r, rows);
    for (int64_t i = 0; i < some; i++) {
      n[i].row = row_of(call, p, r + i);
      begin_row(call, &n[i], sums[r + i], sums[rows + r + i]);
    }
    norm_some(n, some, &columns);
  }
  return WEFT_HOST_OK;
}

// Factors and offsets are those of the columns, the table is one for all.
static bool is_shared(const struct weft_host_call *call, int operand) {
  return call->outer == 0 || call->operand[operand].step[call->outer - 1] == 0;
}

// ---- one number per row

static enum weft_host_status headroom(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct host_qrows rows = rows_of(call, p);
  host_qheadroom_rows(&rows);
  return WEFT_HOST_OK;
}

static enum weft_host_status share(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  for (int64_t r = 0, rows = row_count(call); r < rows; r++)
    host_qshare_row((int8_t *)row_at(call, p, 0, r), (const int32_t *)(const void *)row_at(call, p, 1, r),
                    call->dim[call->outer], host_i32(row_at(call, p, 2, r)), call->number[0]);
  return WEFT_HOST_OK;
}

// An operand with this type and step along a row.
static bool is_row(const struct weft_host_call *call, unsigned operand, enum weft_host_type type, int64_t step) {
  return host_is(call, operand, type) && call->operand[operand].step[call->outer] == step;
}

static host_visit *visit_of_numbers(const struct weft_host_call *call) {
  if (call->outer + 1 != call->rank) return NULL;
  if (call->op == WEFT_HOST_QHEADROOM)
    return is_row(call, 0, WEFT_I8, 0) && is_row(call, 1, WEFT_I8, 1) ? headroom : NULL;
  if (call->op != WEFT_HOST_QSHARE || !is_row(call, 0, WEFT_I8, 1)) return NULL;
  return is_row(call, 1, WEFT_I32, sizeof(int32_t)) && is_row(call, 2, WEFT_I32, 0) ? share : NULL;
}

static host_visit *visit_of(const struct weft_host_call *call) {
  if (call->op == WEFT_HOST_QNORM_MESH || call->op == WEFT_HOST_QNORM_FACTORS) return host_qnorm_visit(call);
  if (call->op == WEFT_HOST_QHEADROOM || call->op == WEFT_HOST_QSHARE) return visit_of_numbers(call);
  if (!is_plain(call) || !is_shared(call, 2)) return NULL;
  if (call->op == WEFT_HOST_QSOFTMAX) return call->integer[0] != 0 ? softmax_masked : softmax;
  if (!is_shared(call, 3)) return NULL;
  if (call->op == WEFT_HOST_QNORMALIZE_SUMS) return call->outer <= 1 ? normalize_sums : NULL;
  return call->op == WEFT_HOST_QNORMALIZE ? normalize : NULL;
}

bool host_qrows_run(const struct weft_host_call *call, const struct host_place *start, enum weft_host_status *status) {
  host_visit *const visit = visit_of(call);
  if (visit != NULL) *status = host_each(call, 0, call->outer == 0 ? 0 : call->outer - 1, start, visit, NULL);
  return visit != NULL;
}
