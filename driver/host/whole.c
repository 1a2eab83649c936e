// SPDX-License-Identifier: Apache-2.0
// Whole numbers of every type, element by element, and what f32 and f64 have beside binary.c's loops: remainders,
// powers of whole numbers, casts. An element goes through 64 bits: sums, differences and products wrap, and a result
// keeps the lower bits of its type; dividing by zero gives 0. u64 has functions of its own where the sign matters.
#include "private.h"
#include "weft/host_math.h"

// X(type, of C, real)
#define TYPES(X)      \
  X(F32, float, 1)    \
  X(F64, double, 1)   \
  X(I8, int8_t, 0)    \
  X(U8, uint8_t, 0)   \
  X(I16, int16_t, 0)  \
  X(U16, uint16_t, 0) \
  X(I32, int32_t, 0)  \
  X(U32, uint32_t, 0) \
  X(I64, int64_t, 0)  \
  X(U64, uint64_t, 0) \
  X(BOOL, uint8_t, 0)

union value {
  int64_t whole;
  uint64_t large;
  double real;
};
typedef union value function(union value x, union value y);

static bool is_real(uint32_t type) { return type == WEFT_F32 || type == WEFT_F64; }

static union value load(uint32_t type, const char *at) {
  union value v = {.whole = 0};
  switch (type) {
#define X(NAME, ctype, is_real)                              \
  case WEFT_##NAME:                                          \
    if (is_real)                                             \
      v.real = (double)*(const ctype *)(const void *)at;     \
    else                                                     \
      v.whole = (int64_t) * (const ctype *)(const void *)at; \
    break;
    TYPES(X)
#undef X
    default:
      break;
  }
  return v;
}

static void store(uint32_t type, char *at, union value v) {
  if (type == WEFT_BOOL) v.large = v.large != 0;
  switch (type) {
#define X(NAME, ctype, is_real)                                                \
  case WEFT_##NAME:                                                            \
    *(ctype *)(void *)at = is_real ? (ctype)v.real : (ctype)(uint64_t)v.large; \
    break;
    TYPES(X)
#undef X
    default:
      break;
  }
}

// ---- functions of two

static int64_t quotient(int64_t x, int64_t y) { return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; }
static int64_t remainder_of(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
// With the sign of the divisor.
static int64_t modulo(int64_t x, int64_t y) {
  const int64_t r = remainder_of(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static int64_t power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = (uint64_t)base;
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  for (; exponent != 0; exponent >>= 1, factor *= factor)
    if ((exponent & 1) != 0) result *= factor;
  return (int64_t)result;
}

// Exact: what is left when the divisor times powers of two is taken away, the largest first. With the sign of x.
static double real_remainder(double x, double y) {
  const double most = __builtin_fabs(y);
  double left = __builtin_fabs(x), part = most;
  if (!(most > 0) || !(left < __builtin_inf())) return __builtin_nan("");
  if (most > left) return x;
  while (part <= left / 2) part *= 2;
  for (; part >= most; part /= 2)
    if (left >= part) left -= part;
  return __builtin_copysign(left, x);
}

// With the sign of the divisor.
static double real_modulo(double x, double y) {
  const double r = real_remainder(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// X(NAME, of real numbers, of whole ones, of u64)
#define FUNCTIONS(X)                                                                                                   \
  X(ADD, x.real + y.real, (int64_t)(x.large + y.large), (int64_t)(x.large + y.large))                                  \
  X(SUB, x.real - y.real, (int64_t)(x.large - y.large), (int64_t)(x.large - y.large))                                  \
  X(MUL, x.real *y.real, (int64_t)(x.large * y.large), (int64_t)(x.large * y.large))                                   \
  X(DIV, x.real / y.real, quotient(x.whole, y.whole), y.large == 0 ? 0 : (int64_t)(x.large / y.large))                 \
  X(MIN, x.real < y.real ? x.real : y.real, x.whole < y.whole ? x.whole : y.whole,                                     \
    (int64_t)(x.large < y.large ? x.large : y.large))                                                                  \
  X(MAX, x.real > y.real ? x.real : y.real, x.whole > y.whole ? x.whole : y.whole,                                     \
    (int64_t)(x.large > y.large ? x.large : y.large))                                                                  \
  X(MODULO, real_modulo(x.real, y.real), modulo(x.whole, y.whole), y.large == 0 ? 0 : (int64_t)(x.large % y.large))    \
  X(REMAINDER, real_remainder(x.real, y.real), remainder_of(x.whole, y.whole),                                         \
    y.large == 0 ? 0 : (int64_t)(x.large % y.large))                                                                   \
  X(SHIFT_LEFT, 0, y.large > 63 ? 0 : (int64_t)(x.large << y.large), y.large > 63 ? 0 : (int64_t)(x.large << y.large)) \
  X(SHIFT_RIGHT, 0, y.large > 63 ? 0 : (int64_t)(x.large >> y.large), y.large > 63 ? 0 : (int64_t)(x.large >> y.large))

// Comparisons give whole numbers.
#define COMPARISONS(X) \
  X(EQUAL, ==)         \
  X(LESS, <)           \
  X(LESS_OR_EQUAL, <=)

enum kind { REAL, WHOLE, LARGE };

#define X(NAME, real_value, whole_value, large_value)                                                           \
  static union value NAME##_real(union value x, union value y) {                                                \
    (void)x, (void)y;                                                                                           \
    return (union value){.real = real_value};                                                                   \
  }                                                                                                             \
  static union value NAME##_whole(union value x, union value y) { return (union value){.whole = whole_value}; } \
  static union value NAME##_large(union value x, union value y) { return (union value){.whole = large_value}; }
FUNCTIONS(X)
#undef X
#define X(NAME, sign)                                                                                                 \
  static union value NAME##_real(union value x, union value y) { return (union value){.whole = x.real sign y.real}; } \
  static union value NAME##_whole(union value x, union value y) {                                                     \
    return (union value){.whole = x.whole sign y.whole};                                                              \
  }                                                                                                                   \
  static union value NAME##_large(union value x, union value y) { return (union value){.whole = x.large sign y.large}; }
COMPARISONS(X)
#undef X

static function *find(uint32_t op, enum kind kind) {
  switch (op) {
#define X(NAME, ...)     \
  case WEFT_HOST_##NAME: \
    return kind == REAL ? NAME##_real : kind == WHOLE ? NAME##_whole : NAME##_large;
    FUNCTIONS(X)
    COMPARISONS(X)
#undef X
    default:
      return NULL;
  }
}

static enum kind kind_of(uint32_t type) { return is_real(type) ? REAL : type == WEFT_U64 ? LARGE : WHOLE; }

static enum weft_host_status row_of_two(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  const uint32_t type = call->operand[1].type, result = call->operand[0].type;
  function *of = find(call->op, kind_of(type));
  for (int64_t i = 0; i < (int64_t)count; i++)
    store(result, p->at[0] + i * step[0], of(load(type, p->at[1] + i * step[1]), load(type, p->at[2] + i * step[2])));
  return WEFT_HOST_OK;
}

// ---- casts, and powers of whole numbers whose exponents are of another type

static union value whole_of(uint32_t type, union value v) {
  if (!is_real(type)) return v;
  if (v.real != v.real) return (union value){.whole = 0};
  if (v.real >= 0x1p63) return (union value){.whole = INT64_MAX};
  return (union value){.whole = v.real < -0x1p63 ? INT64_MIN : (int64_t)v.real};
}

static union value cast(uint32_t to, uint32_t from, union value v) {
  if (to == WEFT_BOOL && is_real(from)) return (union value){.whole = v.real != 0};
  if (!is_real(to)) return whole_of(from, v);
  if (is_real(from)) return v;
  return (union value){.real = from == WEFT_U64 ? (double)v.large : (double)v.whole};
}

static enum weft_host_status row_cast(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                      const int64_t *step) {
  const uint32_t from = call->operand[1].type, to = call->operand[0].type;
  for (int64_t i = 0; i < (int64_t)count; i++)
    store(to, p->at[0] + i * step[0], cast(to, from, load(from, p->at[1] + i * step[1])));
  return WEFT_HOST_OK;
}

// Exponents with a fraction go through f32.
static int64_t any_power(int64_t base, union value exponent, uint32_t type) {
  const union value whole = whole_of(type, exponent);
  if (!is_real(type) || (double)whole.whole == exponent.real) return power(base, whole.whole);
  return whole_of(WEFT_F32, (union value){.real = (double)weft_powf((float)base, (float)exponent.real)}).whole;
}

static enum weft_host_status row_power(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                       const int64_t *step) {
  const uint32_t base = call->operand[1].type, exponent = call->operand[2].type;
  for (int64_t i = 0; i < (int64_t)count; i++) {
    const int64_t x = load(base, p->at[1] + i * step[1]).whole;
    const union value y = load(exponent, p->at[2] + i * step[2]);
    store(base, p->at[0] + i * step[0], (union value){.whole = any_power(x, y, exponent)});
  }
  return WEFT_HOST_OK;
}

host_row *host_whole_row(const struct weft_host_call *call) {
  const bool real = is_real(call->operand[1].type);
  if (call->op == WEFT_HOST_CAST) return row_cast;
  if (call->op == WEFT_HOST_POW) return real ? NULL : row_power;
  if (real && (call->op == WEFT_HOST_SHIFT_LEFT || call->op == WEFT_HOST_SHIFT_RIGHT)) return NULL;
  if (call->operand[1].type != call->operand[2].type) return NULL;
  return find(call->op, WHOLE) == NULL ? NULL : row_of_two;
}
