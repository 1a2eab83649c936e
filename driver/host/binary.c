// SPDX-License-Identifier: Apache-2.0
// Operators on two operands of one type, and on truth values, element by element.
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
ROW(POW, f32, float, f32, weft_powf(x, y))
ROW(AND, i8, int8_t, i8, x != 0 && y != 0)
ROW(OR, i8, int8_t, i8, x != 0 || y != 0)

static enum weft_host_status row_not(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                     const int64_t *step) {
  (void)call;
  for (int64_t i = 0; i < (int64_t)count; i++) host_put_i8(p->at[0] + i * step[0], p->at[1][i * step[1]] == 0);
  return WEFT_HOST_OK;
}

#define TYPED(NAME)                                        \
  case WEFT_HOST_##NAME:                                   \
    return host_is(call, 1, WEFT_F32)   ? row_##NAME##_f32 \
           : host_is(call, 1, WEFT_I32) ? row_##NAME##_i32 \
           : host_is(call, 1, WEFT_I64) ? row_##NAME##_i64 \
                                        : NULL;

host_row *host_binary_row(const struct weft_host_call *call) {
  switch (call->op) {
    TYPED(ADD)
    TYPED(SUB)
    TYPED(MUL)
    TYPED(DIV)
    TYPED(MIN)
    TYPED(MAX)
    TYPED(EQUAL)
    TYPED(LESS)
    TYPED(LESS_OR_EQUAL)
    case WEFT_HOST_POW:
      return host_is(call, 1, WEFT_F32) ? row_POW_f32 : NULL;
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
