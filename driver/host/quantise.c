// SPDX-License-Identifier: Apache-2.0
// Between int8, int32 sums and f32, with the accelerator's rounding; and what the accelerator does element by element.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

static float number_of(const struct weft_host_call *call, unsigned operand, const char *at) {
  switch (call->operand[operand].type) {
    case WEFT_F32:
      return host_f32(at);
    case WEFT_I32:
      return (float)host_i32(at);
    case WEFT_U8:
      return (float)(uint8_t)*at;
    default:
      return (float)host_i8(at);
  }
}

static enum weft_host_status quantize(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                      const int64_t *step) {
  const float scale = call->number[0];
  const int32_t zero = (int32_t)call->integer[0];
  for (int64_t i = 0; i < (int64_t)count; i++)
    host_put_i8(p->at[0] + i * step[0], weft_to_int8(number_of(call, 1, p->at[1] + i * step[1]) / scale, zero));
  return WEFT_HOST_OK;
}

typedef uint64_t __attribute__((may_alias)) eight_bytes;

// Bytes of a camera as int8: less 128, which turns the highest bit. Whole words, four at a time; returns their bytes.
static int64_t turn_words(eight_bytes *to, const eight_bytes *from, int64_t words) {
  static const uint64_t high = UINT64_C(0x8080808080808080);
  enum { FOUR = 4 };
  int64_t i = 0;
  for (; i + FOUR <= words; i += FOUR) {
    const uint64_t a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    to[i] = a ^ high;
    to[i + 1] = b ^ high;
    to[i + 2] = c ^ high;
    to[i + 3] = d ^ high;
  }
  for (; i < words; i++) to[i] = from[i] ^ high;
  return words * (int64_t)sizeof(uint64_t);
}

static enum weft_host_status from_bytes(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  enum { WORD = sizeof(uint64_t), HIGH = 0x80 };
  (void)call;
  char *to = p->at[0];
  const char *from = p->at[1];
  const bool dense = step[0] == 1 && step[1] == 1 && ((uintptr_t)to | (uintptr_t)from) % WORD == 0;
  const int64_t n = (int64_t)count;
  int64_t i = 0;
  if (dense)
    i = turn_words((eight_bytes *)__builtin_assume_aligned(to, WORD),
                   (const eight_bytes *)__builtin_assume_aligned(from, WORD), n / WORD);
  for (; i < n; i++) host_put_i8(to + i * step[0], (int8_t)(from[i * step[1]] ^ HIGH));
  return WEFT_HOST_OK;
}

static bool is_from_bytes(const struct weft_host_call *call) {
  return host_is(call, 1, WEFT_U8) && call->number[0] == 1 && call->integer[0] == INT8_MIN;
}

// The body of a row, with the steps as constants where the elements of both sides lie side by side.
#define ROW_INLINE __attribute__((always_inline)) static inline

// Quotients by products with the inverse in binary64, rounded to binary32: the product is off by less than 2^-51 of
// itself, and a quotient of two numbers of 24 bits is at least 2^-49 of itself away from the middle of two of them. So
// the result is that of the division.
ROW_INLINE void quantize_row(char *to, int64_t out, const char *from, int64_t in, int64_t count, float scale,
                             int32_t zero) {
  const double inverse = 1.0 / (double)scale;
  const float high = (float)(INT8_MAX - zero), low = (float)(INT8_MIN - zero);
  for (; count >= GROUP; count -= GROUP, from += GROUP * in, to += GROUP * out) {
    float v[GROUP];
    double d[GROUP];
    EACH v[j] = host_f32(from + j * in);
    numbers_there(v);
    EACH d[j] = (double)v[j];
    doubles_there(d);
    EACH d[j] = d[j] * inverse;
    doubles_there(d);
    EACH v[j] = (float)d[j];
    numbers_there(v);
    not_above(v, high);
    not_below(v, low);
    put_group_at((int8_t *)to, out, v, zero);
  }
  for (; count > 0; count--, from += in, to += out) host_put_i8(to, weft_to_int8(host_f32(from) / scale, zero));
}

static enum weft_host_status quantize_f32(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                          const int64_t *step) {
  const float scale = call->number[0];
  const int32_t zero = (int32_t)call->integer[0];
  const int64_t n = (int64_t)count;
  if (step[0] == 1 && step[1] == sizeof(float) && zero == 0)
    quantize_row(p->at[0], 1, p->at[1], sizeof(float), n, scale, 0);
  else
    quantize_row(p->at[0], step[0], p->at[1], step[1], n, scale, zero);
  return WEFT_HOST_OK;
}

ROW_INLINE void dequantize_row(char *to, int64_t out, const char *from, int64_t in, int64_t count, float scale,
                               int32_t zero) {
  for (; count >= GROUP; count -= GROUP, from += GROUP * in, to += GROUP * out) {
    int64_t x[GROUP];
    float v[GROUP];
    EACH x[j] = host_i8(from + j * in) - zero;
    wholes_there(x);
    EACH v[j] = (float)(int32_t)x[j];
    numbers_there(v);
    EACH v[j] = scale * v[j];
    numbers_there(v);
    EACH host_put_f32(to + j * out, v[j]);
  }
  for (; count > 0; count--, from += in, to += out) host_put_f32(to, scale * (float)(host_i8(from) - zero));
}

static enum weft_host_status dequantize_i8(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                           const int64_t *step) {
  const float scale = call->number[0];
  const int32_t zero = (int32_t)call->integer[0];
  const int64_t n = (int64_t)count;
  if (step[0] == sizeof(float) && step[1] == 1 && zero == 0)
    dequantize_row(p->at[0], sizeof(float), p->at[1], 1, n, scale, 0);
  else
    dequantize_row(p->at[0], step[0], p->at[1], step[1], n, scale, zero);
  return WEFT_HOST_OK;
}

ROW_INLINE void dequantize_mul_row(char *to, const char *from, const char *other, int64_t count, float scale,
                                   int32_t zero) {
  enum { WIDE = sizeof(float) };
  for (; count >= GROUP; count -= GROUP, from += GROUP, to += GROUP * WIDE, other += GROUP * WIDE) {
    int64_t x[GROUP];
    float v[GROUP], y[GROUP];
    EACH x[j] = host_i8(from + j) - zero;
    wholes_there(x);
    EACH v[j] = (float)(int32_t)x[j];
    EACH y[j] = host_f32(other + j * WIDE);
    numbers_there(v);
    EACH v[j] = scale * v[j];
    numbers_there(y);
    numbers_there(v);
    EACH v[j] = v[j] * y[j];
    numbers_there(v);
    EACH host_put_f32(to + j * WIDE, v[j]);
  }
  for (; count > 0; count--, from++, to += WIDE, other += WIDE)
    host_put_f32(to, scale * (float)(host_i8(from) - zero) * host_f32(other));
}

static enum weft_host_status dequantize_mul(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                            const int64_t *step) {
  const float scale = call->number[0];
  const int32_t zero = (int32_t)call->integer[0];
  const int64_t n = (int64_t)count;
  if (step[0] == sizeof(float) && step[1] == 1 && step[2] == sizeof(float) && zero == 0) {
    dequantize_mul_row(p->at[0], p->at[1], p->at[2], n, scale, 0);
    return WEFT_HOST_OK;
  }
  for (int64_t i = 0; i < n; i++)
    host_put_f32(p->at[0] + i * step[0],
                 scale * (float)(host_i8(p->at[1] + i * step[1]) - zero) * host_f32(p->at[2] + i * step[2]));
  return WEFT_HOST_OK;
}

static int32_t integer_of(const struct weft_host_call *call, const char *at) {
  return host_is(call, 1, WEFT_I32)  ? host_i32(at)
         : host_is(call, 1, WEFT_U8) ? (int32_t)(uint8_t)*at
                                     : (int32_t)host_i8(at);
}

static enum weft_host_status dequantize(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  const float scale = call->number[0];
  const uint32_t zero = (uint32_t)call->integer[0];
  for (int64_t i = 0; i < (int64_t)count; i++) {
    const uint32_t q = (uint32_t)integer_of(call, p->at[1] + i * step[1]);
    host_put_f32(p->at[0] + i * step[0], scale * (float)(int32_t)(q - zero));
  }
  return WEFT_HOST_OK;
}

ROW_INLINE void requantize_row(char *to, int64_t out, const char *from, int64_t in, const char *scale, int64_t each,
                               int64_t count, int32_t zero) {
  const float high = (float)(INT8_MAX - zero), low = (float)(INT8_MIN - zero);
  for (; count >= GROUP; count -= GROUP, from += GROUP * in, to += GROUP * out, scale += GROUP * each) {
    int64_t x[GROUP];
    float v[GROUP], factor[GROUP];
    EACH x[j] = host_i32(from + j * in);
    wholes_there(x);
    EACH v[j] = (float)(int32_t)x[j];
    EACH factor[j] = host_f32(scale + j * each);
    numbers_there(v);
    numbers_there(factor);
    EACH v[j] = factor[j] * v[j];
    numbers_there(v);
    not_above(v, high);
    not_below(v, low);
    put_group_at((int8_t *)to, out, v, zero);
  }
  for (; count > 0; count--, from += in, to += out, scale += each)
    host_put_i8(to, weft_to_int8(host_f32(scale) * (float)host_i32(from), zero));
}

static enum weft_host_status requantize(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  const int32_t zero = (int32_t)call->integer[0];
  const int64_t n = (int64_t)count;
  if (step[0] == 1 && step[1] == sizeof(int32_t) && step[2] == sizeof(float))
    requantize_row(p->at[0], 1, p->at[1], sizeof(int32_t), p->at[2], sizeof(float), n, zero);
  else if (step[0] == 1 && step[1] == sizeof(int32_t) && step[2] == 0)
    requantize_row(p->at[0], 1, p->at[1], sizeof(int32_t), p->at[2], 0, n, zero);
  else
    requantize_row(p->at[0], step[0], p->at[1], step[1], p->at[2], step[2], n, zero);
  return WEFT_HOST_OK;
}

static enum weft_host_status scale(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                   const int64_t *step) {
  const float factor = call->number[0];
  for (int64_t i = 0; i < (int64_t)count; i++) {
    const int32_t x = host_i32(p->at[1] + i * step[1]);
    const int32_t kept = call->integer[0] != 0 && x < 0 ? 0 : x;
    host_put_i8(p->at[0] + i * step[0], weft_to_int8(factor * (float)kept, 0));
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status qadd(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                  const int64_t *step) {
  for (int64_t i = 0; i < (int64_t)count; i++) {
    const int x = weft_to_int8(call->number[0] * (float)host_i8(p->at[1] + i * step[1]), 0);
    const int y = weft_to_int8(call->number[1] * (float)host_i8(p->at[2] + i * step[2]), 0);
    const int sum = call->integer[0] != 0 && x + y < 0 ? 0 : x + y;
    host_put_i8(p->at[0] + i * step[0], (int8_t)(sum > 127 ? 127 : sum < -128 ? -128 : sum));
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status pack4(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                   const int64_t *step) {
  (void)call;
  const char *low = p->at[1], *high = p->at[2];
  char *to = p->at[0];
  int64_t left = (int64_t)count;
  for (; left >= GROUP; left -= GROUP) {
    int64_t x[GROUP], y[GROUP];
    EACH x[j] = host_i8(low + j * step[1]);
    wholes_there(x);
    EACH y[j] = host_i8(high + j * step[2]);
    EACH x[j] &= 15;
    wholes_there(y);
    EACH to[j * step[0]] = (char)(x[j] | (int64_t)((uint64_t)y[j] << 4));
    low += GROUP * step[1], high += GROUP * step[2], to += GROUP * step[0];
  }
  for (; left > 0; left--, low += step[1], high += step[2], to += step[0])
    *to = (char)((host_i8(low) & 15) | (int64_t)((uint64_t)host_i8(high) << 4));
  return WEFT_HOST_OK;
}

ROW_INLINE void lut_row(char *to, int64_t out, const char *from, int64_t in, int64_t count, const char *middle) {
  for (; count >= 2 * GROUP; count -= 2 * GROUP, from += 2 * GROUP * in, to += 2 * GROUP * out) {
    int64_t x[GROUP], y[GROUP];
    EACH x[j] = host_i8(from + j * in);
    wholes_there(x);
    EACH y[j] = host_i8(from + (GROUP + j) * in);
    EACH x[j] = middle[x[j]];
    wholes_there(y);
    EACH y[j] = middle[y[j]];
    wholes_there(x);
    EACH to[j * out] = (char)x[j];
    wholes_there(y);
    EACH to[(GROUP + j) * out] = (char)y[j];
  }
  for (; count > 0; count--, from += in, to += out) *to = middle[host_i8(from)];
}

static enum weft_host_status lut(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                 const int64_t *step) {
  (void)call;
  if (step[0] == 1 && step[1] == 1)
    lut_row(p->at[0], 1, p->at[1], 1, (int64_t)count, p->at[2] + 128);
  else
    lut_row(p->at[0], step[0], p->at[1], step[1], (int64_t)count, p->at[2] + 128);
  return WEFT_HOST_OK;
}

ROW_INLINE void lut_f32_row(char *to, int64_t out, const char *from, int64_t in, int64_t count, const char *middle) {
  enum { EACH_BYTES = sizeof(float) };
  for (; count >= GROUP; count -= GROUP, from += GROUP * in, to += GROUP * out) {
    int64_t x[GROUP];
    float v[GROUP];
    EACH x[j] = host_i8(from + j * in);
    wholes_there(x);
    EACH v[j] = host_f32(middle + x[j] * EACH_BYTES);
    numbers_there(v);
    EACH host_put_f32(to + j * out, v[j]);
  }
  for (; count > 0; count--, from += in, to += out) host_put_f32(to, host_f32(middle + host_i8(from) * EACH_BYTES));
}

static enum weft_host_status lut_f32(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                     const int64_t *step) {
  (void)call;
  const char *middle = p->at[2] + 128 * sizeof(float);
  if (step[0] == sizeof(float) && step[1] == 1)
    lut_f32_row(p->at[0], sizeof(float), p->at[1], 1, (int64_t)count, middle);
  else
    lut_f32_row(p->at[0], step[0], p->at[1], step[1], (int64_t)count, middle);
  return WEFT_HOST_OK;
}

host_row *host_quantise_row(const struct weft_host_call *call) {
  switch (call->op) {
    case WEFT_HOST_QUANTIZE:
      return host_is(call, 1, WEFT_F32) ? quantize_f32 : is_from_bytes(call) ? from_bytes : quantize;
    case WEFT_HOST_DEQUANTIZE:
      return host_is(call, 1, WEFT_I8) ? dequantize_i8 : dequantize;
    case WEFT_HOST_DEQUANTIZE_MUL:
      return host_is(call, 1, WEFT_I8) && host_is(call, 2, WEFT_F32) ? dequantize_mul : NULL;
    case WEFT_HOST_REQUANTIZE:
      return requantize;
    case WEFT_HOST_SCALE:
      return scale;
    case WEFT_HOST_QADD:
      return qadd;
    case WEFT_HOST_PACK4:
      return pack4;
    case WEFT_HOST_LUT:
      return host_is(call, 2, WEFT_F32) ? lut_f32 : lut;
    default:
      return NULL;
  }
}
