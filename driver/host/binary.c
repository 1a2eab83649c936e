// SPDX-License-Identifier: Apache-2.0
// Operators on two operands of one type, and on truth values, element by element.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

// Rows over two operands of type T (accessors host_T, host_put_R).
#define ROW(NAME, T, ctype, R, value)                                                              \
  static enum weft_host_status row_##NAME##_##T(const struct weft_host_call *call, size_t count,   \
                                                const struct host_place *p, const int64_t *step) { \
    (void)call;                                                                                    \
    char *to = p->at[0];                                                                           \
    const char *first = p->at[1], *second = p->at[2];                                              \
    const int64_t in = step[1], other = step[2], out = step[0];                                    \
    for (size_t i = 0; i < count; i++, to += out, first += in, second += other) {                  \
      const ctype x = host_##T(first), y = host_##T(second);                                       \
      host_put_##R(to, value);                                                                     \
    }                                                                                              \
    return WEFT_HOST_OK;                                                                           \
  }

enum { WIDE = sizeof(float) };

// Sums and products of f32 whose result and first operand lie side by side, in groups; the second operand does so, too,
// or does not move.
#define DENSE_ROW(NAME, value)                                                                                    \
  __attribute__((always_inline)) static inline void dense_##NAME(char *to, const char *first, const char *second, \
                                                                 int64_t other, int64_t count) {                  \
    int64_t i = 0;                                                                                                \
    for (; i + GROUP <= count; i += GROUP) {                                                                      \
      float x[GROUP], y[GROUP];                                                                                   \
      EACH x[j] = host_f32(first + (i + j) * WIDE);                                                               \
      EACH y[j] = host_f32(second + (i + j) * other);                                                             \
      numbers_there(x);                                                                                           \
      numbers_there(y);                                                                                           \
      EACH x[j] = value(x[j], y[j]);                                                                              \
      numbers_there(x);                                                                                           \
      EACH host_put_f32(to + (i + j) * WIDE, x[j]);                                                               \
    }                                                                                                             \
    for (; i < count; i++)                                                                                        \
      host_put_f32(to + i * WIDE, value(host_f32(first + i * WIDE), host_f32(second + i * other)));               \
  }                                                                                                               \
  static enum weft_host_status row_quick_##NAME(const struct weft_host_call *call, size_t count,                  \
                                                const struct host_place *p, const int64_t *step) {                \
    if (step[0] != WIDE || step[1] != WIDE || (step[2] != WIDE && step[2] != 0))                                  \
      return row_##NAME##_f32(call, count, p, step);                                                              \
    if (step[2] == 0) {                                                                                           \
      const float still = host_f32(p->at[2]); /* the result may lie over it */                                    \
      dense_##NAME(p->at[0], p->at[1], (const char *)&still, 0, (int64_t)count);                                  \
    } else {                                                                                                      \
      dense_##NAME(p->at[0], p->at[1], p->at[2], WIDE, (int64_t)count);                                           \
    }                                                                                                             \
    return WEFT_HOST_OK;                                                                                          \
  }
#define PLUS(x, y) ((x) + (y))
#define MINUS(x, y) ((x) - (y))
#define TIMES(x, y) ((x) * (y))

static inline float divide_f32(float x, float y) { return x / y; }
// Towards zero; by zero gives 0, and the most negative number by -1 itself.
static inline int32_t divide_i32(int32_t x, int32_t y) { return y == 0 ? 0 : (int32_t)((int64_t)x / y); }
static inline int64_t divide_i64(int64_t x, int64_t y) {
  return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

// X(NAME, of any type, result accessor: T is the operands' own)
#define SAME_TYPE(X, T, ctype, utype)               \
  X(ADD, T, ctype, T, (ctype)((utype)x + (utype)y)) \
  X(SUB, T, ctype, T, (ctype)((utype)x - (utype)y)) \
  X(MUL, T, ctype, T, (ctype)((utype)x * (utype)y)) \
  X(DIV, T, ctype, T, divide_##T(x, y))             \
  X(MIN, T, ctype, T, x < y ? x : y)                \
  X(MAX, T, ctype, T, x > y ? x : y)                \
  X(EQUAL, T, ctype, i8, x == y)                    \
  X(LESS, T, ctype, i8, x < y)                      \
  X(LESS_OR_EQUAL, T, ctype, i8, x <= y)
SAME_TYPE(ROW, f32, float, float)
SAME_TYPE(ROW, i32, int32_t, uint32_t)
SAME_TYPE(ROW, i64, int64_t, uint64_t)
DENSE_ROW(ADD, PLUS)
DENSE_ROW(SUB, MINUS)
DENSE_ROW(MUL, TIMES)
ROW(POW, f32, float, f32, weft_powf(x, y))
ROW(AND, i8, int8_t, i8, x != 0 && y != 0)
ROW(OR, i8, int8_t, i8, x != 0 || y != 0)

// Quotients by one number are products with its inverse, if that is far from the ends of the range.
static enum weft_host_status row_divide(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  const float divisor = host_f32(p->at[2]), size = weft_absf(divisor);
  if (step[0] != WIDE || step[1] != WIDE || step[2] != 0 || !(size > 0x1p-64f && size < 0x1p64f))
    return row_DIV_f32(call, count, p, step);
  const float inverse = 1.0f / divisor;
  dense_MUL(p->at[0], p->at[1], (const char *)&inverse, 0, (int64_t)count);
  return WEFT_HOST_OK;
}

// Squares are products.
static enum weft_host_status row_power(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                       const int64_t *step) {
  if (step[0] != WIDE || step[1] != WIDE || step[2] != 0 || host_f32(p->at[2]) != 2)
    return row_POW_f32(call, count, p, step);
  dense_MUL(p->at[0], p->at[1], p->at[1], WIDE, (int64_t)count);
  return WEFT_HOST_OK;
}

static enum weft_host_status row_not(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                     const int64_t *step) {
  (void)call;
  for (int64_t i = 0; i < (int64_t)count; i++) host_put_i8(p->at[0] + i * step[0], p->at[1][i * step[1]] == 0);
  return WEFT_HOST_OK;
}

#define TYPED(NAME, OF_F32)                                \
  case WEFT_HOST_##NAME:                                   \
    return host_is(call, 1, WEFT_F32)   ? OF_F32           \
           : host_is(call, 1, WEFT_I32) ? row_##NAME##_i32 \
           : host_is(call, 1, WEFT_I64) ? row_##NAME##_i64 \
                                        : NULL;

host_row *host_binary_row(const struct weft_host_call *call) {
  switch (call->op) {
    TYPED(ADD, row_quick_ADD)
    TYPED(SUB, row_quick_SUB)
    TYPED(MUL, row_quick_MUL)
    TYPED(DIV, row_divide)
    TYPED(MIN, row_MIN_f32)
    TYPED(MAX, row_MAX_f32)
    TYPED(EQUAL, row_EQUAL_f32)
    TYPED(LESS, row_LESS_f32)
    TYPED(LESS_OR_EQUAL, row_LESS_OR_EQUAL_f32)
    case WEFT_HOST_POW:
      return host_is(call, 1, WEFT_F32) ? row_power : NULL;
    case WEFT_HOST_AND:
      return row_AND_i8;
    case WEFT_HOST_OR:
      return row_OR_i8;
    case WEFT_HOST_NOT:
      return row_not;
    default:
      return NULL;
  }
}
