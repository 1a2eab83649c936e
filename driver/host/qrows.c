// Softmax and normalisation of rows of int8, int8 again: sums in integers, one division per row. The loops take four
// elements at a time, since the hart waits for each result that is used at once.
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

// Of four numbers, one step of all after the other: the compiler does not see into the hart's minimum.
static inline void put_four(int8_t *to, float a, float b, float c, float d) {
#ifdef __riscv
  int32_t w, x, y, z;
  __asm__(
      "fmin.s %4, %4, %8\n\tfmin.s %5, %5, %8\n\tfmin.s %6, %6, %8\n\tfmin.s %7, %7, %8\n\t"
      "fmax.s %4, %4, %9\n\tfmax.s %5, %5, %9\n\tfmax.s %6, %6, %9\n\tfmax.s %7, %7, %9\n\t"
      "fcvt.w.s %0, %4, rne\n\tfcvt.w.s %1, %5, rne\n\tfcvt.w.s %2, %6, rne\n\tfcvt.w.s %3, %7, rne"
      : "=&r"(w), "=&r"(x), "=&r"(y), "=&r"(z), "+f"(a), "+f"(b), "+f"(c), "+f"(d)
      : "f"(127.0f), "f"(-128.0f));
  to[0] = (int8_t)w, to[1] = (int8_t)x, to[2] = (int8_t)y, to[3] = (int8_t)z;
#else
  to[0] = to_byte(a), to[1] = to_byte(b), to[2] = to_byte(c), to[3] = to_byte(d);
#endif
}

// ---- softmax: table[255 + x - largest] / sum, table i32[256]

enum { WORD = sizeof(uint64_t) };
#define LANES UINT64_C(0x00ff00ff00ff00ff)  // of 16 bits, a byte in each
#define ONES UINT64_C(0x0001000100010001)

// The larger of each lane: a + 256 - b has bit 8 where a is not the smaller.
static inline uint64_t larger_lanes(uint64_t a, uint64_t b) {
  const uint64_t first = ((a | ONES << 8) - b) >> 8 & ONES, mask = (first << 8) - first;
  return b ^ ((a ^ b) & mask);
}

// Of whole words: as unsigned bytes, the sign turned, in two words of lanes; no branch depends on the data.
static int32_t largest_of_words(const int8_t *from, int64_t words) {
  uint64_t even = 0, odd = 0;
  for (int64_t i = 0; i < words; i++) {
    uint64_t word;
    __builtin_memcpy(&word, __builtin_assume_aligned(from + i * WORD, WORD), WORD);
    word ^= UINT64_C(0x8080808080808080);
    even = larger_lanes(word & LANES, even);
    odd = larger_lanes(word >> 8 & LANES, odd);
  }
  even = larger_lanes(even, odd);
  even = larger_lanes(even >> 32, even & UINT64_C(0xffffffff));
  even = larger_lanes(even >> 16, even & UINT64_C(0xffff));
  return (int32_t)(even & 0xff) - 128;
}

static int32_t largest_of(const struct line *l) {
  const int64_t words = (uintptr_t)l->from % WORD == 0 ? l->count / WORD : 0;
  int32_t largest = largest_of_words(l->from, words);
  for (int64_t i = words * WORD; i < l->count; i++) largest = LARGER(l->from[i], largest);
  return largest;
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
  for (; i + 4 <= l->count; i += 4) {
    const int8_t *x = l->from + i;
    const int32_t a = entry[x[0]], b = entry[x[1]], c = entry[x[2]], d = entry[x[3]];
    const float e = (float)a, f = (float)b, g = (float)c, h = (float)d;
    put_four(l->to + i, e * factor, f * factor, g * factor, h * factor);
  }
  for (; i < l->count; i++) l->to[i] = to_byte((float)entry[l->from[i]] * factor);
}

static enum weft_host_status softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  softmax_line(&l, (const int32_t *)(const void *)p->at[2], call->number[0]);
  return WEFT_HOST_OK;
}

// The elements whose mask is not 0, if they are the first ones, as in causal masks; else -1.
static int64_t included_first(const char *mask, int64_t count) {
  int64_t first = 0;
  while (first < count && mask[first] != 0) first++;
  for (int64_t i = first; i < count; i++)
    if (mask[i] != 0) return -1;
  return first;
}

static void softmax_scattered(const struct line *l, const char *mask, const int32_t *table, float number) {
  int32_t largest = INT8_MIN;
  int64_t sum = 0;
  for (int64_t i = 0; i < l->count; i++)
    if (mask[i] != 0) largest = LARGER(l->from[i], largest);
  const int32_t *entry = table + 255 - largest;
  for (int64_t i = 0; i < l->count; i++)
    if (mask[i] != 0) sum += entry[l->from[i]];
  const float factor = number / (float)sum;
  for (int64_t i = 0; i < l->count; i++) l->to[i] = mask[i] != 0 ? to_byte((float)entry[l->from[i]] * factor) : 0;
}

// The same of the elements whose mask is not 0; the others become 0.
static enum weft_host_status softmax_masked(void *context, const struct weft_host_call *call,
                                            const struct host_place *p) {
  (void)context;
  const int32_t *table = (const int32_t *)(const void *)p->at[2];
  struct line l = line_of(call, p);
  const int64_t all = l.count, first = included_first(p->at[3], all);
  if (first < 0) {
    softmax_scattered(&l, p->at[3], table, call->number[0]);
    return WEFT_HOST_OK;
  }
  l.count = first;
  if (first > 0) softmax_line(&l, table, call->number[0]);
  for (int64_t i = first; i < all; i++) l.to[i] = 0;
  return WEFT_HOST_OK;
}

// ---- normalisation: (N x - sum) / sqrt(N squares - sum^2 + a) * y + z

// Products of integers take the hart longer than those of floating point, which are as exact here.
static void sums_of(const struct line *l, int64_t *sum, int64_t *squares) {
  int64_t a = 0, b = 0, i = 0;
  double c = 0, d = 0;
  for (; i + 4 <= l->count; i += 4) {
    const int32_t w = l->from[i], x = l->from[i + 1], y = l->from[i + 2], z = l->from[i + 3];
    const double fw = w, fx = x, fy = y, fz = z;
    const double ww = fw * fw, xx = fx * fx, yy = fy * fy, zz = fz * fz;
    const double wx = ww + xx, yz = yy + zz;
    a += w + x, b += y + z;
    c += wx, d += yz;
  }
  for (; i < l->count; i++) {
    a += l->from[i];
    c += l->from[i] * l->from[i];
  }
  *sum = a + b;
  *squares = (int64_t)(c + d);
}

static enum weft_host_status normalize(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const float *gamma = (const float *)(const void *)p->at[2], *beta = (const float *)(const void *)p->at[3];
  int64_t sum, squares;
  sums_of(&l, &sum, &squares);
  if (call->integer[0] == 0) sum = 0;
  const float factor = 1.0f / weft_sqrtf((float)(l.count * squares - sum * sum) + call->number[0]);
  const float n = (float)l.count, s = (float)sum;  // n * x - s is a whole number below 2^24
  int64_t i = 0;
  for (; i + 4 <= l.count; i += 4) {
    const int8_t *x = l.from + i;
    const float *g = gamma + i, *b = beta + i;
    const int32_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    const float f0 = (float)x0, f1 = (float)x1, f2 = (float)x2, f3 = (float)x3;
    const float p0 = n * f0, p1 = n * f1, p2 = n * f2, p3 = n * f3;
    const float d0 = p0 - s, d1 = p1 - s, d2 = p2 - s, d3 = p3 - s;
    const float k0 = d0 * factor, k1 = d1 * factor, k2 = d2 * factor, k3 = d3 * factor;
    const float g0 = k0 * g[0], g1 = k1 * g[1], g2 = k2 * g[2], g3 = k3 * g[3];
    put_four(l.to + i, g0 + b[0], g1 + b[1], g2 + b[2], g3 + b[3]);
  }
  for (; i < l.count; i++) l.to[i] = to_byte((n * (float)l.from[i] - s) * factor * gamma[i] + beta[i]);
  return WEFT_HOST_OK;
}

host_visit *host_qrows_visit(const struct weft_host_call *call) {
  if (call->op == WEFT_HOST_QSOFTMAX && is_plain(call)) return call->integer[0] != 0 ? softmax_masked : softmax;
  return call->op == WEFT_HOST_QNORMALIZE && is_plain(call) ? normalize : NULL;
}
