// SPDX-License-Identifier: Apache-2.0
// See numerics.h. Invariant of `exact`: a finite value is (-1)^negative * significand * 2^exponent, without rounding.
#include "sim/tests/oracle/numerics.h"

#include <stdbool.h>

typedef struct exact {
  enum { EXACT_FINITE, EXACT_INFINITE, EXACT_NAN } kind;
  bool negative;
  uint64_t significand;  // below 2^62
  int exponent;
} exact;

enum { SIGNIFICAND_BITS = 24, LEAST_EXPONENT = -149, OVERFLOW_EXPONENT = 128 };

int64_t oracle_clip8(int64_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }

int64_t oracle_relu(int64_t value) { return value < 0 ? 0 : value; }

int64_t oracle_wrap(int64_t value, unsigned bits) {
  int64_t modulus = INT64_C(1) << bits;
  int64_t rest = ((value % modulus) + modulus) % modulus;
  return rest >= modulus / 2 ? rest - modulus : rest;
}

int64_t oracle_saturate(int64_t value, unsigned bits) {
  int64_t limit = INT64_C(1) << (bits - 1);
  return value > limit - 1 ? limit - 1 : value < -limit ? -limit : value;
}

int64_t oracle_shift_even(int64_t value, unsigned shift) {
  int64_t unit = INT64_C(1) << shift;
  int64_t rest = ((value % unit) + unit) % unit;
  int64_t floor = (value - rest) / unit;
  if (2 * rest > unit) return floor + 1;
  if (2 * rest == unit && floor % 2 != 0) return floor + 1;
  return floor;
}

static int bit_length(uint64_t value) {
  int bits = 0;
  while (value >> bits != 0) bits++;
  return bits;
}

// significand / 2^shift, nearest, ties to even.
static uint64_t shift_right_even(uint64_t significand, int shift) {
  if (shift <= 0) return significand;
  if (shift > 62) return 0;  // less than a half, as the significand is below 2^62
  uint64_t unit = UINT64_C(1) << shift;
  uint64_t rest = significand % unit;
  uint64_t floor = significand / unit;
  if (2 * rest > unit) return floor + 1;
  if (2 * rest == unit && floor % 2 == 1) return floor + 1;
  return floor;
}

static exact exact_of_integer(int64_t value) {
  return (exact){EXACT_FINITE, value < 0, value < 0 ? (uint64_t)-value : (uint64_t)value, 0};
}

static exact exact_of_bits(uint32_t bits) {
  uint32_t field = bits >> 23 & 0xff;
  uint32_t fraction = bits & 0x7fffff;
  bool negative = bits >> 31 != 0;
  if (field == 0xff) return (exact){fraction != 0 ? EXACT_NAN : EXACT_INFINITE, negative, 0, 0};
  if (field == 0) return (exact){EXACT_FINITE, negative, fraction, LEAST_EXPONENT};
  return (exact){EXACT_FINITE, negative, fraction | 0x800000, (int)field - 150};
}

static exact round_to_binary32(exact v) {
  if (v.kind != EXACT_FINITE || v.significand == 0) return v;
  int excess = bit_length(v.significand) - SIGNIFICAND_BITS;
  if (LEAST_EXPONENT - v.exponent > excess) excess = LEAST_EXPONENT - v.exponent;
  if (excess > 0) {
    v.significand = shift_right_even(v.significand, excess);
    v.exponent += excess;
  }
  if (bit_length(v.significand) + v.exponent > OVERFLOW_EXPONENT) v.kind = EXACT_INFINITE;
  return v;
}

static exact exact_product(exact a, exact b) {
  exact p = {EXACT_FINITE, a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
  bool a_zero = a.kind == EXACT_FINITE && a.significand == 0;
  bool b_zero = b.kind == EXACT_FINITE && b.significand == 0;
  if (a.kind == EXACT_INFINITE || b.kind == EXACT_INFINITE) p.kind = a_zero || b_zero ? EXACT_NAN : EXACT_INFINITE;
  if (a.kind == EXACT_NAN || b.kind == EXACT_NAN) p.kind = EXACT_NAN;
  return p;
}

static int64_t clip_to_int8(exact v) {
  if (v.kind == EXACT_NAN) return 127;
  uint64_t magnitude = 0;
  if (v.kind == EXACT_FINITE && v.significand == 0) {
    magnitude = 0;  // whatever the exponent
  } else if (v.kind == EXACT_INFINITE || v.exponent > 8) {
    magnitude = 256;  // beyond either end
  } else if (v.exponent > 0) {
    magnitude = v.significand << v.exponent;
  } else {
    magnitude = shift_right_even(v.significand, -v.exponent);
  }
  return oracle_clip8(v.negative ? -(int64_t)magnitude : (int64_t)magnitude);
}

int64_t oracle_scale(int64_t value, uint32_t scale_bits) {
  exact product = exact_product(round_to_binary32(exact_of_integer(value)), exact_of_bits(scale_bits));
  return clip_to_int8(round_to_binary32(product));
}
