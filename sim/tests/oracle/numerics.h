// SPDX-License-Identifier: Apache-2.0
// Scale, shift and wrap numerics in exact integer arithmetic: no floating-point instruction is used, every rounding is
// a visible comparison with the half. A binary32 value is kept as sign, significand and power of two.
#ifndef SIM_TESTS_ORACLE_NUMERICS_H
#define SIM_TESTS_ORACLE_NUMERICS_H

#include <stdint.h>

#define FLOAT_ONE UINT32_C(0x3f800000)

int64_t oracle_clip8(int64_t value);
int64_t oracle_wrap(int64_t value, unsigned bits);      // two's complement of that width
int64_t oracle_saturate(int64_t value, unsigned bits);  // nearest value of that width
int64_t oracle_relu(int64_t value);

// value / 2^shift, rounded to the nearest integer, ties to the even one.
int64_t oracle_shift_even(int64_t value, unsigned shift);

// clip8(integer(binary32(binary32(value) * scale))), ties to even at each of the three roundings; NaN gives 127.
int64_t oracle_scale(int64_t value, uint32_t scale_bits);

#endif
