// SPDX-License-Identifier: Apache-2.0
// Norms as products of rows and whole factors (QNormMesh in docs/networks.md): what the array needs of the hart, and
// all of it where the array cannot. A row x becomes sat(rne(scale (T x + O))) with
//   k = 1 / sqrt(N squares - sum^2 + a),  T = rne(min(gain k, most)),  O = -rne(T sum / N).
//
// For the array T is a sum of bytes on diagonals, a block for each, so that their product with the block of rows is T
// x. Behind them stands a block whose product with columns of 1, -128, -128, .. is O: its lowest seven bits, then bytes
// that add up to -(O >> 7).
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

struct norm {
  float epsilon, gain, most, inverse;  // inverse: of N
  double count;                        // N
};

static struct norm norm_of(const struct weft_host_call *call, int64_t count, float most) {
  return (struct norm){call->number[0], call->number[1], most, 1.0f / (float)count, (double)count};
}

// Of a group of rows: roots and quotients take long, one after the other, and all else waits for results that are used
// at once. The whole numbers are below 2^53.
static inline void affine_group(const struct norm *n, const int64_t *sum, const int64_t *squares, int64_t *factor,
                                int64_t *offset) {
  double total[GROUP], spread[GROUP];
  float v[GROUP];
  EACH total[j] = (double)sum[j];
  EACH spread[j] = (double)squares[j];
  doubles_there(total);
  doubles_there(spread);
  EACH v[j] = (float)__builtin_fma(n->count, spread[j], -(total[j] * total[j]));
  numbers_there(v);
  EACH v[j] += n->epsilon;
  EACH v[j] = weft_sqrtf(v[j]);
  EACH v[j] = 1.0f / v[j];
  numbers_there(v);
  EACH v[j] *= n->gain;
  numbers_there(v);
  not_above(v, n->most);
  EACH factor[j] = nearest(v[j]);
  wholes_there(factor);
  EACH spread[j] = (double)(int32_t)factor[j];
  doubles_there(spread);
  EACH spread[j] *= total[j];
  doubles_there(spread);
  EACH v[j] = (float)spread[j];
  numbers_there(v);
  EACH v[j] *= n->inverse;
  numbers_there(v);
  EACH offset[j] = -nearest(v[j]);
}

// ---- factors for the array

// A whole number as bytes: its quotient by their number, and one more in the first ones. Nothing here takes another
// time for other numbers, so that steps can be timed without them.
struct parts {
  int64_t all[GROUP], more[GROUP];
};

static inline void split(struct parts *p, const int64_t *whole, int64_t copies) {
  const float many = (float)copies, part = 1.0f / many;
  float v[GROUP], f[GROUP];
  EACH v[j] = (float)(int32_t)whole[j];
  numbers_there(v);
  EACH f[j] = v[j] * part;
  numbers_there(f);
  EACH p->all[j] = lowest(f[j]);
  wholes_there(p->all);
  EACH f[j] = (float)(int32_t)p->all[j];
  numbers_there(f);
  EACH v[j] = __builtin_fmaf(-many, f[j], v[j]);
  numbers_there(v);
  EACH p->more[j] = nearest(v[j]);
}

struct blocks {
  int8_t *to;
  const int32_t *sums, *squares;
  int64_t copies, side;
};

// Some rows of a block, from row `at` on; those behind a group's last one are computed for nothing.
static void put_rows(const struct norm *n, const struct blocks *b, int64_t at, int64_t some) {
  enum { LOW = 127, SHIFT = 7 };
  int64_t sum[GROUP], squares[GROUP], factor[GROUP], offset[GROUP], high[GROUP];
  struct parts factors, offsets;
  const int64_t copies = b->copies, side = b->side, bytes = (copies + 1) * side;
  EACH sum[j] = b->sums == NULL || j >= some ? 0 : b->sums[at + j];
  EACH squares[j] = j >= some ? 0 : b->squares[at + j];
  affine_group(n, sum, squares, factor, offset);
  EACH high[j] = -(offset[j] >> SHIFT);
  split(&factors, factor, copies);
  split(&offsets, high, copies);
  int8_t *to = b->to + at * bytes;
  __builtin_memset(to, 0, (size_t)(some * bytes));
  for (int64_t r = 0; r < some; r++, to += bytes) {
    int8_t *const last = to + copies * side;
    *last = (int8_t)(offset[r] & LOW);
    for (int64_t c = 0; c < copies; c++) {
      to[c * side + at + r] = (int8_t)(factors.all[r] + (c < factors.more[r]));
      last[1 + c] = (int8_t)(offsets.all[r] + (c < offsets.more[r]));
    }
  }
}

// Dimensions: rows, copies and one, the side of a block. The sums are those of QNORMALIZE_SUMS.
static enum weft_host_status factors(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const int64_t all = call->dim[0];
  const int32_t *sums = (const int32_t *)(const void *)p->at[1];
  struct blocks b = {.to = (int8_t *)p->at[0], .squares = sums + all, .copies = call->dim[1] - 1, .side = call->dim[2]};
  const struct norm n = norm_of(call, call->integer[0], (float)(INT8_MAX * b.copies));
  if (call->integer[1] != 0) b.sums = sums;
  for (int64_t left = all; left > 0; left -= b.side) {
    const int64_t rows = left < b.side ? left : b.side;
    for (int64_t at = 0; at < rows; at += GROUP) put_rows(&n, &b, at, rows - at < GROUP ? rows - at : GROUP);
    b.to += b.side * (b.copies + 1) * b.side;
    b.squares += b.side;
    if (b.sums != NULL) b.sums += b.side;
  }
  return WEFT_HOST_OK;
}

// ---- whole rows

static void norm_row(const struct weft_host_call *call, const struct norm *n, int8_t *to, const int8_t *from,
                     float scale) {
  const int64_t count = call->dim[1];
  int64_t sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += from[i];
    squares += from[i] * from[i];
  }
  const int64_t total[GROUP] = {call->integer[0] == 0 ? 0 : sum}, all[GROUP] = {squares};
  int64_t factor[GROUP], offset[GROUP];
  affine_group(n, total, all, factor, offset);
  for (int64_t i = 0; i < count; i++) to[i] = weft_to_int8(scale * (float)(*factor * from[i] + *offset), 0);
}

static enum weft_host_status norm_rows(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct norm n = norm_of(call, call->dim[1], (float)call->integer[1]);
  for (int64_t r = 0; r < call->dim[0]; r++)
    norm_row(call, &n, (int8_t *)p->at[0] + r * call->operand[0].step[0],
             (const int8_t *)p->at[1] + r * call->operand[1].step[0], host_f32(p->at[2]));
  return WEFT_HOST_OK;
}

host_visit *host_qnorm_visit(const struct weft_host_call *call) {
  if (call->outer != 1 || !host_is(call, 0, WEFT_I8)) return NULL;
  if (call->op == WEFT_HOST_QNORM_FACTORS) return call->rank == 3 && host_is(call, 1, WEFT_I32) ? factors : NULL;
  if (call->op != WEFT_HOST_QNORM_MESH || call->rank != 2 || !host_is(call, 1, WEFT_I8)) return NULL;
  return call->operand[0].step[1] == 1 && call->operand[1].step[1] == 1 ? norm_rows : NULL;
}
