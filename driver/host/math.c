// SPDX-License-Identifier: Apache-2.0
// Functions of one number: see weft/host_math.h. Arguments are brought to a small interval, where a few terms of the
// function's series are enough.
#include "weft/host_math.h"

static float from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t to_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float not_a_number(void) { return from_bits(UINT32_C(0x7fc00000)); }
static float infinity(void) { return from_bits(UINT32_C(0x7f800000)); }
static float power_of_two(int exponent) { return from_bits((uint32_t)(exponent + 127) << 23); }  // -126 .. 127

float weft_roundf(float x) {
  const float magic = 8388608.0f;  // 2^23: from here on there is nothing behind the point
  if (!(weft_absf(x) < magic)) return x;
  const float rounded = x < 0 ? (x - magic) + magic : (x + magic) - magic;
  return rounded == 0 ? x * 0.0f : rounded;  // keeps the sign of zero
}

float weft_floorf(float x) {
  const float rounded = weft_roundf(x);
  return rounded > x ? rounded - 1.0f : rounded;
}

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r from its series. 2^n is applied in two steps, because it may not be a normal
// number.
float weft_expf(float x) {
  if (x != x) return x;
  if (x > 88.72284f) return infinity();
  if (x < -104.0f) return 0.0f;
  const float n = weft_roundf(x * 1.44269504f);
  const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  float sum = 1.0f / 5040.0f;
  sum = sum * r + 1.0f / 720.0f;
  sum = sum * r + 1.0f / 120.0f;
  sum = sum * r + 1.0f / 24.0f;
  sum = sum * r + 1.0f / 6.0f;
  sum = sum * r + 0.5f;
  const float power = 1.0f + (r + r * r * sum);
  const int exponent = (int)n, half = exponent / 2;
  return power * power_of_two(half) * power_of_two(exponent - half);
}

// x = 2^n m with m around 1; ln m = 2 artanh((m - 1) / (m + 1)).
float weft_logf(float x) {
  if (x != x || x < 0) return not_a_number();
  if (x == 0) return -infinity();
  if (x == infinity()) return x;
  int exponent = 0;
  if (x < power_of_two(-126)) {
    x *= 8388608.0f;
    exponent = -23;
  }
  uint32_t bits = to_bits(x);
  exponent += (int)(bits >> 23) - 127;
  float m = from_bits((bits & UINT32_C(0x7fffff)) | UINT32_C(0x3f800000));
  if (m > 1.41421356f) {
    m *= 0.5f;
    exponent++;
  }
  const float s = (m - 1.0f) / (m + 1.0f), q = s * s;
  float sum = 1.0f / 11.0f;
  sum = sum * q + 1.0f / 9.0f;
  sum = sum * q + 1.0f / 7.0f;
  sum = sum * q + 0.2f;
  sum = sum * q + 1.0f / 3.0f;
  const float n = (float)exponent;
  return n * 0.693145752f + (2.0f * s + (2.0f * s * q * sum + n * 1.42860677e-6f));
}

// Near zero the series of erf; elsewhere 1 - (a polynomial in 1 / (1 + p x)) e^(-x x), Abramowitz and Stegun 7.1.26.
float weft_erff(float x) {
  if (x != x) return x;
  const float a = weft_absf(x);
  if (a < 0.75f) {
    const float q = -x * x;
    float sum = 1.0f / 75600.0f;
    sum = sum * q + 1.0f / 9360.0f;
    sum = sum * q + 1.0f / 1320.0f;
    sum = sum * q + 1.0f / 216.0f;
    sum = sum * q + 1.0f / 42.0f;
    sum = sum * q + 0.1f;
    sum = sum * q + 1.0f / 3.0f;
    return 1.12837917f * (x + x * q * sum);
  }
  const float t = 1.0f / (1.0f + 0.3275911f * a);
  float sum = 1.061405429f;
  sum = sum * t - 1.453152027f;
  sum = sum * t + 1.421413741f;
  sum = sum * t - 0.284496736f;
  sum = sum * t + 0.254829592f;
  const float result = 1.0f - sum * t * weft_expf(-a * a);
  return x < 0 ? -result : result;
}

float weft_tanhf(float x) {
  if (x != x) return x;
  const float a = weft_absf(x);
  if (a < 0.3f) {
    const float q = x * x;
    float sum = 62.0f / 2835.0f;
    sum = sum * q - 17.0f / 315.0f;
    sum = sum * q + 2.0f / 15.0f;
    sum = sum * q - 1.0f / 3.0f;
    return x + x * q * sum;
  }
  const float result = 1.0f - 2.0f / (weft_expf(2.0f * a) + 1.0f);
  return x < 0 ? -result : result;
}

// ---- angles: x = quarter * pi / 2 + r with |r| <= pi / 4, in binary64

static float sine_of(double r) {
  const double q = r * r;
  return (float)(r * (1.0 + q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q / 362880.0)))));
}

static float cosine_of(double r) {
  const double q = r * r;
  return (float)(1.0 + q * (-0.5 + q * (1.0 / 24.0 + q * (-1.0 / 720.0 + q / 40320.0))));
}

// The sine of x + turns quarter circles.
static float turned_sine(float x, int turns) {
  if (!(weft_absf(x) <= 1048576.0f)) return not_a_number();
  const int quarter = (int)weft_roundf(x * 0.636619772f);
  const double r = (double)x - quarter * 1.5707963267948966;
  const int which = (quarter + turns) & 3;
  const float value = (which & 1) != 0 ? cosine_of(r) : sine_of(r);
  return (which & 2) != 0 ? -value : value;
}

float weft_sinf(float x) { return turned_sine(x, 0); }
float weft_cosf(float x) { return turned_sine(x, 1); }

// ---- powers

// Small whole exponents by multiplication, which is exact where the result is; others as e^(y ln x).
float weft_powf(float x, float y) {
  if (y == 0.5f) return weft_sqrtf(x);
  const int whole = y >= -64.0f && y <= 64.0f ? (int)y : 0;
  if ((float)whole != y) return weft_expf(y * weft_logf(x));
  float result = 1.0f, square = x;
  for (unsigned left = (unsigned)(whole < 0 ? -whole : whole); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return whole < 0 ? 1.0f / result : result;
}
