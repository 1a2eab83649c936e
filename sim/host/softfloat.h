// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary32 and binary64 in integer arithmetic, with an explicit rounding mode and RISC-V's conventions:
// results that are NaN are the canonical one, underflow means tiny after rounding. It serves what the host FPU is not
// asked for: every rounding mode but nearest-even, and hosts other than x86.
#ifndef SIM_HOST_SOFTFLOAT_H
#define SIM_HOST_SOFTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct soft_format {
  int fraction_bits, exponent_bits;
} soft_format;

static const soft_format SOFT_F32 = {23, 8};
static const soft_format SOFT_F64 = {52, 11};

// Rounding modes and flags as RISC-V numbers them (RV64_RNE ..., RV64_NX ...). Flags are added to *flags.
typedef struct soft_context {
  uint32_t rounding;
  uint32_t *flags;
} soft_context;

uint64_t soft_add(soft_format f, soft_context c, uint64_t a, uint64_t b);
uint64_t soft_mul(soft_format f, soft_context c, uint64_t a, uint64_t b);
uint64_t soft_fma(soft_format f, soft_context c, uint64_t a, uint64_t b, uint64_t addend);
uint64_t soft_div(soft_format f, soft_context c, uint64_t a, uint64_t b);
uint64_t soft_sqrt(soft_format f, soft_context c, uint64_t a);
uint64_t soft_convert(soft_format from, soft_format to, soft_context c, uint64_t a);
uint64_t soft_from_int(soft_format f, soft_context c, bool negative, uint64_t magnitude);
// To an integer of `width` bits (32 or 64), saturated, sign-extended to 64 bits.
uint64_t soft_to_int(soft_format f, soft_context c, uint64_t a, bool is_signed, int width);

#endif
