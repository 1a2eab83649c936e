// SPDX-License-Identifier: Apache-2.0
// Smallest, largest, quotients rounded up, common factors: one word for each, for every type of number.
// The type of the result is that of `a + b`, so mixed signs are refused by the compiler's conversion warnings.
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

// clang-format off
#define WF_NUMBER_ORDER(name, type)                                                     \
  static inline type wf_min_##name(type a, type b) { return a < b ? a : b; }            \
  static inline type wf_max_##name(type a, type b) { return a > b ? a : b; }
#define WF_NUMBER_WHOLE(name, type)                                                     \
  WF_NUMBER_ORDER(name, type)                                                           \
  static inline type wf_ceil_div_##name(type a, type b) { return (a + b - 1) / b; }     \
  static inline type wf_align_up_##name(type a, type b) { return (a + b - 1) / b * b; }
WF_NUMBER_WHOLE(int, int)
WF_NUMBER_WHOLE(uint, unsigned)
WF_NUMBER_WHOLE(long, long)
WF_NUMBER_WHOLE(ulong, unsigned long)
WF_NUMBER_WHOLE(llong, long long)
WF_NUMBER_WHOLE(ullong, unsigned long long)
WF_NUMBER_ORDER(float, float)
WF_NUMBER_ORDER(double, double)
#undef WF_NUMBER_ORDER
#undef WF_NUMBER_WHOLE

#define WF_NUMBER_OF_WHOLE(function, a, b)                                              \
  int: function##_int, unsigned: function##_uint, long: function##_long,                \
  unsigned long: function##_ulong, long long: function##_llong, unsigned long long: function##_ullong
#define wf_min(a, b) _Generic((a) + (b), WF_NUMBER_OF_WHOLE(wf_min, a, b), float: wf_min_float, double: wf_min_double)(a, b)
#define wf_max(a, b) _Generic((a) + (b), WF_NUMBER_OF_WHOLE(wf_max, a, b), float: wf_max_float, double: wf_max_double)(a, b)
// clang-format on

// a / b rounded up; the least multiple of b that is at least a. For a >= 0, b > 0, and a + b - 1 within the type.
#define wf_ceil_div(a, b) _Generic((a) + (b), WF_NUMBER_OF_WHOLE(wf_ceil_div, a, b))(a, b)
#define wf_align_up(a, b) _Generic((a) + (b), WF_NUMBER_OF_WHOLE(wf_align_up, a, b))(a, b)

// A number without its fraction; the ends of the type for what is beyond them, 0 for no number.
static inline int64_t wf_whole(double number) {
  if (number >= 0x1p63) return INT64_MAX;
  if (number <= -0x1p63) return INT64_MIN;
  return number == number ? (int64_t)number : 0;
}

// The greatest common factor of two numbers that are at least 0; that of 0 and n is n.
static inline int64_t wf_common_factor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

#endif
