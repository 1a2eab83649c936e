// SPDX-License-Identifier: Apache-2.0
// Between int8, int32 sums and f32, with the accelerator's rounding; and what the accelerator does element by element.
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

// Rows of the most frequent types take four elements at a time: the hart does nothing while it waits for a result, so
// it has to have others to work on.
#define FOUR(TYPE, LOAD, WORK, STORE)                                                 \
  const int64_t in = step[1], out = step[0];                                          \
  int64_t left = (int64_t)count;                                                      \
  for (; left >= 4; left -= 4, from += 4 * in, to += 4 * out) {                       \
    const TYPE a = WORK(LOAD(from)), b = WORK(LOAD(from + in));                       \
    const TYPE c = WORK(LOAD(from + 2 * in)), d = WORK(LOAD(from + 3 * in));          \
    STORE(to, a), STORE(to + out, b), STORE(to + 2 * out, c), STORE(to + 3 * out, d); \
  }                                                                                   \
  for (; left > 0; left--, from += in, to += out) STORE(to, WORK(LOAD(from)))

// Whether the product with the inverse of a scale may round to another integer than the quotient. The product is off by
// less than 2e-4 below 512, so only near the middle between two integers. A number, so that several can be joined
// without a branch.
static inline unsigned is_doubtful(float product, int32_t nearest) {
  return weft_absf(product - (float)nearest) > 0.499f;
}

// Quotients by products with the inverse; doubtful ones are divided.
static enum weft_host_status quantize_f32(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                          const int64_t *step) {
  const float scale = call->number[0], inverse = 1.0f / scale;
  const int32_t zero = (int32_t)call->integer[0];
  const int64_t in = step[1], out = step[0];
  const char *from = p->at[1];
  char *to = p->at[0];
  int64_t left = (int64_t)count;
  for (; left >= 4; left -= 4, from += 4 * in, to += 4 * out) {
    const float a = host_f32(from), b = host_f32(from + in), c = host_f32(from + 2 * in), d = host_f32(from + 3 * in);
    const float pa = a * inverse, pb = b * inverse, pc = c * inverse, pd = d * inverse;
    int32_t na = weft_nearest(pa), nb = weft_nearest(pb), nc = weft_nearest(pc), nd = weft_nearest(pd);
    if (is_doubtful(pa, na) | is_doubtful(pb, nb) | is_doubtful(pc, nc) | is_doubtful(pd, nd)) {
      na = weft_nearest(a / scale), nb = weft_nearest(b / scale);
      nc = weft_nearest(c / scale), nd = weft_nearest(d / scale);
    }
    host_put_i8(to, weft_saturate(na + zero));
    host_put_i8(to + out, weft_saturate(nb + zero));
    host_put_i8(to + 2 * out, weft_saturate(nc + zero));
    host_put_i8(to + 3 * out, weft_saturate(nd + zero));
  }
  for (; left > 0; left--, from += in, to += out) host_put_i8(to, weft_to_int8(host_f32(from) / scale, zero));
  return WEFT_HOST_OK;
}

static enum weft_host_status dequantize_i8(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                           const int64_t *step) {
  const float scale = call->number[0];
  const int32_t zero = (int32_t)call->integer[0];
  char *to = p->at[0];
  const char *from = p->at[1];
#define PRODUCT(q) (scale * (float)((q)-zero))
  FOUR(float, host_i8, PRODUCT, host_put_f32);
#undef PRODUCT
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

static enum weft_host_status requantize(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  const int32_t zero = (int32_t)call->integer[0];
  for (int64_t i = 0; i < (int64_t)count; i++) {
    const float scale = host_f32(p->at[2] + i * step[2]);
    host_put_i8(p->at[0] + i * step[0], weft_to_int8(scale * (float)host_i32(p->at[1] + i * step[1]), zero));
  }
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

// Bytes that follow each other, eight at a time.
static size_t lut_bytes(char *to, const int8_t *x, const char *middle, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8, x += 8, to += 8) {
    const char a = middle[x[0]], b = middle[x[1]], c = middle[x[2]], d = middle[x[3]];
    const char e = middle[x[4]], f = middle[x[5]], g = middle[x[6]], h = middle[x[7]];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e, to[5] = f, to[6] = g, to[7] = h;
  }
  return i;
}

static enum weft_host_status lut(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                 const int64_t *step) {
  (void)call;
  char *to = p->at[0];
  const char *from = p->at[1], *middle = p->at[2] + 128;
  if (step[0] == 1 && step[1] == 1) {
    const size_t done = lut_bytes(to, (const int8_t *)from, middle, count);
    to += done, from += done, count -= done;
  }
#define ENTRY(x) middle[x]
#define PUT(at, value) (*(at) = (value))
  FOUR(char, host_i8, ENTRY, PUT);
#undef PUT
#undef ENTRY
  return WEFT_HOST_OK;
}

static enum weft_host_status lut_f32(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                     const int64_t *step) {
  (void)call;
  char *to = p->at[0];
  const char *from = p->at[1], *middle = p->at[2] + 128 * sizeof(float);
#define ENTRY(x) host_f32(middle + (x) * (int64_t)sizeof(float))
  FOUR(float, host_i8, ENTRY, host_put_f32);
#undef ENTRY
  return WEFT_HOST_OK;
}

host_row *host_quantise_row(const struct weft_host_call *call) {
  switch (call->op) {
    case WEFT_HOST_QUANTIZE:
      return host_is(call, 1, WEFT_F32) ? quantize_f32 : quantize;
    case WEFT_HOST_DEQUANTIZE:
      return host_is(call, 1, WEFT_I8) ? dequantize_i8 : dequantize;
    case WEFT_HOST_REQUANTIZE:
      return requantize;
    case WEFT_HOST_SCALE:
      return scale;
    case WEFT_HOST_QADD:
      return qadd;
    case WEFT_HOST_LUT:
      return host_is(call, 2, WEFT_F32) ? lut_f32 : lut;
    default:
      return NULL;
  }
}
