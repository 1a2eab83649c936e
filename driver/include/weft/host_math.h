// SPDX-License-Identifier: Apache-2.0
// Functions of one binary32 number, written with additions, multiplications, divisions and square roots alone: the
// results are the same bits on the hart and on the machine that simulates it. Both must be compiled with
// -ffp-contract=off. They are within 4 units of the last place, or 4e-7 where the result is near zero.
#ifndef WEFT_HOST_MATH_H
#define WEFT_HOST_MATH_H

#include <stdint.h>

float weft_expf(float x);
float weft_logf(float x);  // of numbers below 0: NaN
float weft_erff(float x);
float weft_tanhf(float x);
float weft_sinf(float x);  // up to 2^20 in magnitude
float weft_cosf(float x);
float weft_powf(float x, float y);
float weft_floorf(float x);
float weft_roundf(float x);  // to nearest even

static inline float weft_absf(float x) { return __builtin_fabsf(x); }
static inline float weft_sqrtf(float x) { return __builtin_sqrtf(x); }
static inline float weft_sigmoidf(float x) { return 1.0f / (1.0f + weft_expf(-x)); }

// The nearest integer, the even one of two, of a number that is limited to -512 .. 512; what is no number becomes 512.
static inline int32_t weft_nearest(float x) {
#ifdef __riscv
  float limited;  // fmin takes the number of two operands; gcc would call the C library for it
  __asm__("fmin.s %0, %1, %2" : "=f"(limited) : "f"(x), "f"(512.0f));
  __asm__("fmax.s %0, %1, %2" : "=f"(limited) : "f"(limited), "f"(-512.0f));
#else
  const float low = x < 512.0f ? x : 512.0f, limited = low > -512.0f ? low : -512.0f;
#endif
  return (int32_t)__builtin_lrintf(limited);
}

static inline int8_t weft_saturate(int32_t value) {
  return (int8_t)(value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value);
}

// Rounds to nearest even and saturates; the way of the accelerator's scales.
static inline int8_t weft_to_int8(float x, int32_t zero) { return weft_saturate(weft_nearest(x) + zero); }

#endif
