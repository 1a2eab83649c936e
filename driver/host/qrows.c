// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation of rows of int8, int8 again: sums are exact, one division per row.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

// The inner dimension at one point of the outer ones.
struct line {
  int8_t *to;
  const int8_t *from;
  int64_t count;
};

// Rows have to lie as they are, without steps between their elements.
static bool is_plain(const struct weft_host_call *call) {
  return call->outer + 1 == call->rank && host_is(call, 0, WEFT_I8) && host_is(call, 1, WEFT_I8) &&
         call->operand[0].step[call->outer] == 1 && call->operand[1].step[call->outer] == 1;
}

static struct line line_of(const struct weft_host_call *call, const struct host_place *p) {
  return (struct line){(int8_t *)p->at[0], (const int8_t *)p->at[1], call->dim[call->outer]};
}

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

// The nearest int8, the even one of two: limits that are integers may come before the rounding.
static inline int8_t to_byte(float x) { return weft_saturate(weft_nearest(x)); }

// ---- softmax: table[255 + x - largest] / sum, table i32[256] or f32[256]

enum { WORD = sizeof(uint64_t) };
#define LANES UINT64_C(0x00ff00ff00ff00ff)  // of 16 bits, a byte in each
#define ONES UINT64_C(0x0001000100010001)

// The larger of each lane: a + 256 - b has bit 8 where a is not the smaller, and a - b below it.
static inline uint64_t larger_lanes(uint64_t a, uint64_t b) {
  const uint64_t difference = (a | ONES << 8) - b, first = difference & ONES << 8;
  return b + (difference & (first - (first >> 8)));
}

static inline uint64_t word_at(const void *at) {
  uint64_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(at, WORD), WORD);
  return word;
}

// Of whole words: as unsigned bytes, the sign turned, in two words of lanes; no branch depends on the data.
static int32_t largest_of_words(const int8_t *from, int64_t words) {
  uint64_t even = 0, odd = 0;
  for (int64_t i = 0; i < words; i++) {
    const uint64_t word = word_at(from + i * WORD) ^ UINT64_C(0x8080808080808080);
    even = larger_lanes(word & LANES, even);
    odd = larger_lanes(word >> 8 & LANES, odd);
  }
  even = larger_lanes(even, odd);
  even = larger_lanes(even >> 32, even & UINT64_C(0xffffffff));
  even = larger_lanes(even >> 16, even & UINT64_C(0xffff));
  return (int32_t)(even & 0xff) - 128;
}

static int32_t largest_of(const struct line *l) {
  int32_t largest = INT8_MIN;
  int64_t i = 0;
  for (; i < l->count && (uintptr_t)(l->from + i) % WORD != 0; i++) largest = LARGER(l->from[i], largest);
  const int64_t words = (l->count - i) / WORD;
  const int32_t inside = largest_of_words(l->from + i, words);
  for (i += words * WORD; i < l->count; i++) largest = LARGER(l->from[i], largest);
  return LARGER(inside, largest);
}

static int64_t sum_of(const struct line *l, const int32_t *entry) {
  int64_t a = 0, b = 0, c = 0, d = 0, i = 0;
  for (; i + 4 <= l->count; i += 4) {
    const int8_t *x = l->from + i;
    a += entry[x[0]], b += entry[x[1]], c += entry[x[2]], d += entry[x[3]];
  }
  for (; i < l->count; i++) a += entry[l->from[i]];
  return a + b + c + d;
}

static void softmax_line(const struct line *l, const int32_t *table, float number) {
  const int32_t *entry = table + 255 - largest_of(l);
  const float factor = number / (float)sum_of(l, entry);
  int64_t i = 0;
  for (; i + GROUP <= l->count; i += GROUP) {
    float v[GROUP];
    EACH v[j] = (float)entry[l->from[i + j]] * factor;
    not_above(v, 127);
    put_group(l->to + i, v);
  }
  for (; i < l->count; i++) l->to[i] = to_byte((float)entry[l->from[i]] * factor);
}

// ---- the same where sums of the row's numbers are exact in binary32

// The numbers of the row, and their sum.
static float look_up(const struct line *l, const float *entry, float *row) {
  float sum[GROUP] = {0};
  int64_t i = 0;
  for (; i + GROUP <= l->count; i += GROUP) {
    int64_t x[GROUP];
    float v[GROUP];
    get_group(x, l->from + i);
    EACH v[j] = entry[x[j]];
    numbers_there(v);
    EACH row[i + j] = v[j];
    EACH sum[j] += v[j];
  }
  for (; i < l->count; i++) sum[0] += row[i] = entry[l->from[i]];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

__attribute__((always_inline)) static inline void scale_row(const struct line *l, const float *row, float factor,
                                                            bool saturates) {
  int8_t *const to = l->to;
  const int64_t count = l->count;
  int64_t i = 0;
  for (; i + GROUP <= count; i += GROUP) {
    float v[GROUP];
    EACH v[j] = row[i + j];
    numbers_there(v);
    EACH v[j] = v[j] * factor;
    numbers_there(v);
    if (saturates) not_above(v, 127);
    put_group(to + i, v);
  }
  for (; i < count; i++) to[i] = to_byte(row[i] * factor);
}

static void softmax_floats(const struct line *l, const float *table, float number) {
  float row[WEFT_HOST_SOFTMAX_ROW];
  const float factor = number / look_up(l, table + 255 - largest_of(l), row);
  if (table[255] * factor <= 127)  // the largest of the row
    scale_row(l, row, factor, false);
  else
    scale_row(l, row, factor, true);
}

// ---- rows with and without mask

static void softmax_of(const struct weft_host_call *call, const struct line *l, const char *table) {
  if (host_is(call, 2, WEFT_F32))
    softmax_floats(l, (const float *)(const void *)table, call->number[0]);
  else
    softmax_line(l, (const int32_t *)(const void *)table, call->number[0]);
}

static enum weft_host_status softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  softmax_of(call, &l, p->at[2]);
  return WEFT_HOST_OK;
}

// How many bytes up to the first that is 0, word by word where the address allows it. Of a word without such a byte the
// subtraction sets no sign that it had not.
static int64_t count_included(const char *mask, int64_t count) {
  const uint64_t one = UINT64_C(0x0101010101010101), sign = one << 7;
  int64_t i = 0;
  for (; i + WORD <= count && (uintptr_t)mask % WORD == 0; i += WORD) {
    const uint64_t word = word_at(mask + i);
    if (((word - one) & ~word & sign) != 0) break;
  }
  while (i < count && mask[i] != 0) i++;
  return i;
}

static bool is_nothing(const char *mask, int64_t count) {
  char any = 0;
  for (; count > 0 && (uintptr_t)mask % WORD != 0; count--) any |= *mask++;
  uint64_t words = 0;
  for (; count >= WORD; count -= WORD, mask += WORD) words |= word_at(mask);
  for (; count > 0; count--) any |= *mask++;
  return any == 0 && words == 0;
}

// The elements whose mask is not 0, if they are the first ones, as in causal masks; else -1.
static int64_t included_first(const char *mask, int64_t count) {
  const int64_t first = count_included(mask, count);
  return is_nothing(mask + first, count - first) ? first : -1;
}

// The elements whose mask is not 0 side by side, and back to where they belong; the row has room for all.
static int64_t gather_included(int8_t *to, const int8_t *from, const char *mask, int64_t count) {
  int64_t included = 0;
  for (int64_t i = 0; i < count; i++)
    if (mask[i] != 0) to[included++] = from[i];
  return included;
}

static void spread_included(int8_t *row, const char *mask, int64_t count, int64_t included) {
  for (int64_t i = count - 1; i >= 0; i--) row[i] = mask[i] != 0 ? row[--included] : 0;
}

// The same of the elements whose mask is not 0; the others become 0.
static enum weft_host_status softmax_masked(void *context, const struct weft_host_call *call,
                                            const struct host_place *p) {
  (void)context;
  struct line l = line_of(call, p);
  const int64_t all = l.count, first = included_first(p->at[3], all);
  l.count = first >= 0 ? first : gather_included(l.to, l.from, p->at[3], all);
  if (first < 0) l.from = l.to;
  if (l.count > 0) softmax_of(call, &l, p->at[2]);
  if (first < 0)
    spread_included(l.to, p->at[3], all, l.count);
  else
    __builtin_memset(l.to + first, 0, (size_t)(all - first));
  return WEFT_HOST_OK;
}

// ---- normalisation: (N x - sum) / sqrt(N squares - sum^2 + a) * y + z

// Products of integers take the hart longer than those of floating point, which are as exact here.
static void sums_of(const struct line *l, int64_t *sum, int64_t *squares) {
  double square[GROUP] = {0};
  int64_t a = 0, i = 0;
  for (; i + GROUP <= l->count; i += GROUP) {
    int64_t x[GROUP];
    double f[GROUP];
    get_group(x, l->from + i);
    EACH f[j] = (double)x[j];
    EACH a += x[j];
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

static enum weft_host_status normalize(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const float *gamma = (const float *)(const void *)p->at[2], *beta = (const float *)(const void *)p->at[3];
  int64_t sum, squares;
  sums_of(&l, &sum, &squares);
  if (call->integer[0] == 0) sum = 0;
  const float factor = 1.0f / weft_sqrtf((float)(l.count * squares - sum * sum) + call->number[0]);
  const float n = (float)l.count, s = (float)-sum;  // n * x + s is a whole number below 2^24
  int64_t i = 0;
  for (; i + GROUP <= l.count; i += GROUP) {
    int64_t x[GROUP];
    float v[GROUP], y[GROUP], z[GROUP];
    get_group(x, l.from + i);
    EACH v[j] = (float)x[j];
    EACH y[j] = gamma[i + j];
    EACH z[j] = beta[i + j];
    numbers_there(v);
    EACH v[j] = __builtin_fmaf(n, v[j], s);
    numbers_there(v);
    EACH v[j] = v[j] * factor;
    numbers_there(y);
    numbers_there(z);
    numbers_there(v);
    EACH v[j] = __builtin_fmaf(v[j], y[j], z[j]);
    numbers_there(v);
    not_above(v, 127);
    not_below(v, -128);
    put_group(l.to + i, v);
  }
  for (; i < l.count; i++)
    l.to[i] = to_byte(__builtin_fmaf(__builtin_fmaf(n, l.from[i], s) * factor, gamma[i], beta[i]));
  return WEFT_HOST_OK;
}

host_visit *host_qrows_visit(const struct weft_host_call *call) {
  const bool softmax_fits =
      host_is(call, 2, WEFT_I32) || (host_is(call, 2, WEFT_F32) && call->dim[call->outer] <= WEFT_HOST_SOFTMAX_ROW);
  if (call->op == WEFT_HOST_QSOFTMAX && is_plain(call) && softmax_fits)
    return call->integer[0] != 0 ? softmax_masked : softmax;
  return call->op == WEFT_HOST_QNORMALIZE && is_plain(call) ? normalize : NULL;
}
