// SPDX-License-Identifier: Apache-2.0
// Floating point in integers: see softfloat.h.
//
// A finite number is sign, exponent e and a 64-bit significand s with its top bit set: value = s / 2^63 * 2^e.
// Every operation computes its exact result to at least 64 bits, ors whatever lies below into the lowest bit (sticky),
// and rounds once, in pack(). 64 bits hold the longest significand (53), a rounding bit and the sticky bit.
#include "sim/host/softfloat.h"

#include "sim/host/rv64.h"

typedef unsigned __int128 u128;

typedef enum { KIND_ZERO, KIND_FINITE, KIND_INF, KIND_NAN } kind;

typedef struct {
  kind kind;
  bool sign, signalling;
  int e;
  uint64_t s;
} number;

static int bias(soft_format f) { return (1 << (f.exponent_bits - 1)) - 1; }
static uint64_t sign_bit(soft_format f) { return UINT64_C(1) << (f.fraction_bits + f.exponent_bits); }
static uint64_t fraction_mask(soft_format f) { return (UINT64_C(1) << f.fraction_bits) - 1; }

static uint64_t infinity(soft_format f, bool sign) {
  return ((UINT64_C(1) << f.exponent_bits) - 1) << f.fraction_bits | (sign ? sign_bit(f) : 0);
}

static uint64_t zero(soft_format f, bool sign) { return sign ? sign_bit(f) : 0; }

static uint64_t canonical_nan(soft_format f) { return infinity(f, false) | UINT64_C(1) << (f.fraction_bits - 1); }

static number unpack(soft_format f, uint64_t bits) {
  uint64_t fraction = bits & fraction_mask(f);
  int e = (int)(bits >> f.fraction_bits & ((UINT64_C(1) << f.exponent_bits) - 1));
  number n = {.sign = (bits & sign_bit(f)) != 0};
  if (e == (1 << f.exponent_bits) - 1) {
    n.kind = fraction == 0 ? KIND_INF : KIND_NAN;
    n.signalling = fraction != 0 && (fraction >> (f.fraction_bits - 1)) == 0;
    return n;
  }
  if (e == 0 && fraction == 0) return n;
  n.kind = KIND_FINITE;
  if (e != 0) fraction |= UINT64_C(1) << f.fraction_bits;
  int shift = __builtin_clzll(fraction);
  n.s = fraction << shift;
  n.e = (e == 0 ? 1 : e) - bias(f) + 63 - f.fraction_bits - shift;
  return n;
}

static bool rounds_up(uint32_t rounding, bool sign, bool odd, uint64_t rest, uint64_t half) {
  switch (rounding) {
    case RV64_RTZ:
      return false;
    case RV64_RDN:
      return sign && rest != 0;
    case RV64_RUP:
      return !sign && rest != 0;
    case RV64_RMM:
      return rest >= half;
    default:
      return rest > half || (rest == half && odd);
  }
}

// s >> by, with the bits lost ored into the lowest one.
static uint64_t shift_sticky(uint64_t s, int by) {
  if (by == 0) return s;
  if (by > 63) return s != 0;
  return s >> by | ((s << (64 - by)) != 0);
}

static u128 shift_sticky128(u128 s, int by) {
  if (by == 0) return s;
  if (by > 127) return s != 0;
  return s >> by | ((s << (128 - by)) != 0);
}

static uint64_t overflow(soft_format f, soft_context c, bool sign) {
  *c.flags |= RV64_OF | RV64_NX;
  bool to_largest = c.rounding == RV64_RTZ || (c.rounding == RV64_RDN && !sign) || (c.rounding == RV64_RUP && sign);
  return infinity(f, sign) - (to_largest ? 1 : 0);
}

// Rounds s / 2^63 * 2^e, top bit of s set, into the format.
static uint64_t pack(soft_format f, soft_context c, bool sign, int e, uint64_t s) {
  int drop = 63 - f.fraction_bits;
  uint64_t half = UINT64_C(1) << (drop - 1), rest_mask = (half << 1) - 1;
  int field = e + bias(f);
  if (field >= (1 << f.exponent_bits) - 1) return overflow(f, c, sign);
  bool tiny = field <= 0;
  if (tiny) {
    // Not tiny if rounding with unbounded exponents would reach the smallest normal number.
    bool up = rounds_up(c.rounding, sign, (s >> drop & 1) != 0, s & rest_mask, half);
    if (field == 0 && up && s >> drop == (UINT64_C(2) << f.fraction_bits) - 1) tiny = false;
    s = shift_sticky(s, 1 - field);
    field = 1;
  }
  uint64_t rest = s & rest_mask, kept = s >> drop;
  if (rounds_up(c.rounding, sign, (kept & 1) != 0, rest, half)) kept++;
  // The significand's top bit, if there is one, counts the exponent up by one.
  uint64_t bits = ((uint64_t)(field - 1) << f.fraction_bits) + kept;
  if (bits >= infinity(f, false)) return overflow(f, c, sign);
  if (rest != 0) *c.flags |= RV64_NX | (tiny ? RV64_UF : 0);
  return bits | zero(f, sign);
}

static uint64_t invalid(soft_format f, soft_context c) {
  *c.flags |= RV64_NV;
  return canonical_nan(f);
}

static int clz128(u128 s) {
  uint64_t high = (uint64_t)(s >> 64);
  return high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)s);
}

// x + y for significands with the top bit at 125 (value = s / 2^125 * 2^e); the lowest 20 bits of both are zero, so
// that a sticky bit there never meets another one.
static uint64_t add_aligned(soft_format f, soft_context c, bool xsign, int xe, u128 xs, bool ysign, int ye, u128 ys) {
  if (xe < ye || (xe == ye && xs < ys)) return add_aligned(f, c, ysign, ye, ys, xsign, xe, xs);
  ys = shift_sticky128(ys, xe - ye);
  u128 sum = xsign == ysign ? xs + ys : xs - ys;
  if (sum == 0) return zero(f, c.rounding == RV64_RDN);
  int shift = clz128(sum);
  sum <<= shift;
  uint64_t s = (uint64_t)(sum >> 64) | ((uint64_t)sum != 0);
  return pack(f, c, xsign, xe + 2 - shift, s);
}

uint64_t soft_fma(soft_format f, soft_context c, uint64_t a, uint64_t b, uint64_t addend) {
  number x = unpack(f, a), y = unpack(f, b), z = unpack(f, addend);
  bool impossible = (x.kind == KIND_INF && y.kind == KIND_ZERO) || (x.kind == KIND_ZERO && y.kind == KIND_INF);
  if (x.signalling || y.signalling || z.signalling || impossible) return invalid(f, c);
  if (x.kind == KIND_NAN || y.kind == KIND_NAN || z.kind == KIND_NAN) return canonical_nan(f);
  bool sign = x.sign != y.sign;
  if (x.kind == KIND_INF || y.kind == KIND_INF) {
    return z.kind == KIND_INF && z.sign != sign ? invalid(f, c) : infinity(f, sign);
  }
  if (z.kind == KIND_INF) return infinity(f, z.sign);
  if (x.kind == KIND_ZERO || y.kind == KIND_ZERO) {
    if (z.kind == KIND_FINITE) return addend;
    return zero(f, sign == z.sign ? sign : c.rounding == RV64_RDN);
  }
  // Significands have at most 53 bits, their product 106: its lowest 22 bits are zero.
  u128 product = (u128)x.s * y.s;
  int e = x.e + y.e + 1, shift = clz128(product);
  product = product << shift >> 2;
  e -= shift;
  if (z.kind == KIND_ZERO) return add_aligned(f, c, sign, e, product, sign, e - 200, 0);
  return add_aligned(f, c, sign, e, product, z.sign, z.e, (u128)z.s << 62);
}

uint64_t soft_add(soft_format f, soft_context c, uint64_t a, uint64_t b) {
  uint64_t one = (uint64_t)bias(f) << f.fraction_bits;
  return soft_fma(f, c, a, one, b);
}

// The added zero has the product's sign, so that a zero product keeps it.
uint64_t soft_mul(soft_format f, soft_context c, uint64_t a, uint64_t b) {
  return soft_fma(f, c, a, b, (a ^ b) & sign_bit(f));
}

uint64_t soft_div(soft_format f, soft_context c, uint64_t a, uint64_t b) {
  number x = unpack(f, a), y = unpack(f, b);
  bool both_zero = x.kind == KIND_ZERO && y.kind == KIND_ZERO, both_inf = x.kind == KIND_INF && y.kind == KIND_INF;
  if (x.signalling || y.signalling || both_zero || both_inf) return invalid(f, c);
  if (x.kind == KIND_NAN || y.kind == KIND_NAN) return canonical_nan(f);
  bool sign = x.sign != y.sign;
  if (x.kind == KIND_INF) return infinity(f, sign);
  if (x.kind == KIND_ZERO || y.kind == KIND_INF) return zero(f, sign);
  if (y.kind == KIND_ZERO) {
    *c.flags |= RV64_DZ;
    return infinity(f, sign);
  }
  u128 dividend = (u128)x.s << 63;
  uint64_t quotient = (uint64_t)(dividend / y.s);  // 2^62 < quotient < 2^64
  bool rest = dividend % y.s != 0;
  int shift = __builtin_clzll(quotient);
  return pack(f, c, sign, x.e - y.e - shift, quotient << shift | rest);
}

// The integer square root of n, whose top bit is at 126 or 127, bit by bit; *rest tells if it is not exact.
static uint64_t root(u128 n, bool *rest) {
  uint64_t r = 0;
  for (int bit = 63; bit >= 0; bit--) {
    uint64_t trial = r | UINT64_C(1) << bit;
    if ((u128)trial * trial <= n) r = trial;
  }
  *rest = (u128)r * r != n;
  return r;
}

uint64_t soft_sqrt(soft_format f, soft_context c, uint64_t a) {
  number x = unpack(f, a);
  if (x.signalling) return invalid(f, c);
  if (x.kind == KIND_NAN) return canonical_nan(f);
  if (x.kind == KIND_ZERO) return a;
  if (x.sign) return invalid(f, c);
  if (x.kind == KIND_INF) return a;
  bool odd = (x.e & 1) != 0, rest;
  // value = s * 2^(e - 63); n = s << 64 or s << 63 makes the exponent left over even.
  uint64_t r = root(odd ? (u128)x.s << 64 : (u128)x.s << 63, &rest);
  int e = odd ? (x.e - 1) / 2 : x.e / 2;
  return pack(f, c, false, e, r | rest);
}

uint64_t soft_convert(soft_format from, soft_format to, soft_context c, uint64_t a) {
  number x = unpack(from, a);
  if (x.signalling) return invalid(to, c);
  switch (x.kind) {
    case KIND_NAN:
      return canonical_nan(to);
    case KIND_INF:
      return infinity(to, x.sign);
    case KIND_ZERO:
      return zero(to, x.sign);
    default:
      return pack(to, c, x.sign, x.e, x.s);
  }
}

uint64_t soft_from_int(soft_format f, soft_context c, bool negative, uint64_t magnitude) {
  if (magnitude == 0) return 0;
  int shift = __builtin_clzll(magnitude);
  return pack(f, c, negative, 63 - shift, magnitude << shift);
}

uint64_t soft_to_int(soft_format f, soft_context c, uint64_t a, bool is_signed, int width) {
  number x = unpack(f, a);
  uint64_t top = UINT64_C(1) << (width - 1);
  uint64_t highest = is_signed ? top - 1 : top | (top - 1), lowest = is_signed ? top : 0;  // lowest: magnitude
  bool negative = x.sign && x.kind != KIND_NAN;
  uint64_t limit = negative ? lowest : highest, kept = 0, rest = 0;
  bool too_big = x.kind == KIND_INF || x.kind == KIND_NAN || (x.kind == KIND_FINITE && x.e > 63);
  if (x.kind == KIND_FINITE && !too_big) {
    u128 wide = shift_sticky128((u128)x.s << 64, 63 - x.e);
    kept = (uint64_t)(wide >> 64);
    rest = (uint64_t)wide;
    if (rounds_up(c.rounding, x.sign, (kept & 1) != 0, rest, UINT64_C(1) << 63)) kept++;
  }
  if (too_big || kept > limit) {
    *c.flags |= RV64_NV;
    kept = limit;
  } else if (rest != 0) {
    *c.flags |= RV64_NX;
  }
  if (negative) kept = 0 - kept;
  return width == 32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)kept : kept;
}
