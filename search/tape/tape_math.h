// SPDX-License-Identifier: Apache-2.0
// exp, log and floor of doubles without branches, tables or calls, so that loops over lanes become vector code.
//
// Only additions, multiplications, divisions and integer operations on the bits are used, in a written order and
// without contraction: every instruction set gives the same bits. Errors are below 2 units in the last place in the
// ranges given; outside of them arguments count as the nearest one inside.
#ifndef SEARCH_TAPE_TAPE_MATH_H
#define SEARCH_TAPE_TAPE_MATH_H

#include <stdint.h>
#include <string.h>

#define TAPE_MATH_SMALLEST 1e-300  // arguments of log below it count as it
#define TAPE_MATH_LARGEST 700.0    // exponents beyond +- this count as it
// Added to a number below 2^51 in magnitude it leaves that number, rounded to nearest, in the low bits of the sum.
#define TAPE_MATH_ROUND 0x1.8p52

static inline int64_t tape_math_bits(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double tape_math_double(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// 2^n e^r with |r| <= ln 2 / 2; the series of e^r ends where a term is below 2^-56.
static inline double tape_math_exp(double x) {
  x = x > TAPE_MATH_LARGEST ? TAPE_MATH_LARGEST : x;
  x = x < -TAPE_MATH_LARGEST ? -TAPE_MATH_LARGEST : x;
  double shifted = x * 0x1.71547652b82fep0 + TAPE_MATH_ROUND;
  double n = shifted - TAPE_MATH_ROUND;
  double r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-40;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return tape_math_double(tape_math_bits(p) + (int64_t)((uint64_t)tape_math_bits(shifted) << 52));
}

// e ln 2 + 2 artanh(s) with s = (m - 1) / (m + 1), m the mantissa between sqrt(1/2) and sqrt(2): |s| < 0.172.
static inline double tape_math_log(double x) {
  x = x < TAPE_MATH_SMALLEST ? TAPE_MATH_SMALLEST : x;
  int64_t bits = tape_math_bits(x);
  double e = tape_math_double((bits >> 52) | INT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
  double m = tape_math_double((bits & INT64_C(0x000fffffffffffff)) | INT64_C(0x3ff0000000000000));
  double upper = m > 0x1.6a09e667f3bcdp0 ? 1.0 : 0.0;
  m = upper > 0.5 ? 0.5 * m : m;
  e += upper;
  double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 2.0 / 21.0;
  p = p * z + 2.0 / 19.0;
  p = p * z + 2.0 / 17.0;
  p = p * z + 2.0 / 15.0;
  p = p * z + 2.0 / 13.0;
  p = p * z + 2.0 / 11.0;
  p = p * z + 2.0 / 9.0;
  p = p * z + 2.0 / 7.0;
  p = p * z + 2.0 / 5.0;
  p = p * z + 2.0 / 3.0;
  p = s * (z * p);
  return e * 0x1.62e42fefa0000p-1 + (2.0 * s + (p + e * 0x1.cf79abc9e3b39p-40));
}

// log(1 + e^x), which neither overflows nor loses the small side.
static inline double tape_math_softplus(double x) {
  double magnitude = x < 0.0 ? -x : x;
  return (x > 0.0 ? x : 0.0) + tape_math_log(1.0 + tape_math_exp(-magnitude));
}

static inline double tape_math_floor(double x) {
  double nearest = (x + TAPE_MATH_ROUND) - TAPE_MATH_ROUND;
  return nearest > x ? nearest - 1.0 : nearest;
}

#endif
