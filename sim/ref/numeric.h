// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the accelerator, one definition per operation, and the kernels that cost time.
//
// Floating point is binary32 with round to nearest even at every step: conversion, multiplication, rounding to integer.
// Results beyond the integer type saturate, NaN gives its largest value. Integer sums wrap in two's complement.
// Compile without -ffast-math and with -ffp-contract=off.
#ifndef SIM_REF_NUMERIC_H
#define SIM_REF_NUMERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

float ref_float_of_bits(uint32_t bits);
uint32_t ref_bits_of_float(float value);

// The low `bits` bits as a signed number.
static inline int32_t ref_wrap(uint32_t value, uint32_t bits) {
  uint32_t shift = 32 - bits;
  return (int32_t)(value << shift) >> shift;
}

static inline int32_t ref_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static inline int32_t ref_sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
static inline int32_t ref_mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }

static inline int8_t ref_clip_int8(int32_t value) {
  return (int8_t)(value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value);
}

// Right shift, rounding halves to even.
int32_t ref_rounding_shift(int32_t value, uint32_t shift);
int32_t ref_scale_int32(int32_t value, float scale);

// The polynomials of the normaliser. iexp expects q <= 0.
int32_t ref_iexp(int32_t q, int32_t qln2, int32_t qln2_inverse, int32_t qb, int32_t qc);
int32_t ref_igelu(int32_t q, int32_t qb, int32_t qc);
int32_t ref_floor_sqrt(int32_t value);

// clip_int8(scale * (a * b)), rounded to the nearest even integer: what a gate makes of two int8 elements.
static inline int8_t ref_gate(int8_t a, int8_t b, float scale) {
  return ref_clip_int8(ref_scale_int32((int32_t)a * b, scale));
}

// out[n] = clip_int8(scale * (relu ? max(in[n], 0) : in[n]))
void ref_scale_row(size_t count, const int32_t *in, float scale, bool relu, int8_t *out);

// sums[n] = the low `bits` bits of sums[n] + bias[n]
void ref_bias_row(size_t count, const int8_t *bias, uint32_t bits, int32_t *sums);
// to[n] += in[n]
void ref_add_row(size_t count, const int32_t *in, int32_t *to);

// c[i][j] = sum over k < depth of a[i][k] * b[k][j] for i < rows, j < dim; rows of all three are dim elements apart.
// The plain version is the definition; the other one is compiled for the machine it runs on.
typedef void ref_multiply_fn(size_t dim, size_t rows, size_t depth, const int8_t *a, const int16_t *b, int32_t *c);
ref_multiply_fn ref_multiply, ref_multiply_plain;

#endif
