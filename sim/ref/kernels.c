// SPDX-License-Identifier: Apache-2.0
// The kernels: see numeric.h. Apart so that they are compiled with -O3, and for more than one instruction set
// where the compiler can choose at run time.
#include <string.h>

#include "base/machine.h"
#include "sim/ref/numeric.h"

static inline __attribute__((always_inline)) void multiply(size_t dim, size_t rows, size_t depth,
                                                           const int8_t *restrict a, const int16_t *restrict b,
                                                           int32_t *restrict c) {
  for (size_t i = 0; i < rows; i++) {
    int32_t *restrict out = c + i * dim;
    memset(out, 0, dim * sizeof *out);
    for (size_t k = 0; k < depth; k++) {
      int16_t left = a[i * dim + k];
      const int16_t *restrict right = b + k * dim;
      if (left == 0) continue;
      for (size_t j = 0; j < dim; j++) out[j] += left * right[j];
    }
  }
}

WF_FOR_MACHINE void ref_multiply(size_t dim, size_t rows, size_t depth, const int8_t *a, const int16_t *b, int32_t *c) {
  if (dim == 16)
    multiply(16, rows, depth, a, b, c);
  else
    multiply(dim, rows, depth, a, b, c);
}

void ref_multiply_plain(size_t dim, size_t rows, size_t depth, const int8_t *a, const int16_t *b, int32_t *c) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < dim; j++) {
      int32_t sum = 0;
      for (size_t k = 0; k < depth; k++) sum += a[i * dim + k] * b[k * dim + j];
      c[i * dim + j] = sum;
    }
}

WF_FOR_MACHINE void ref_bias_row(size_t count, const int8_t *restrict bias, uint32_t bits, int32_t *restrict sums) {
  for (size_t n = 0; n < count; n++) sums[n] = ref_wrap((uint32_t)sums[n] + (uint32_t)bias[n], bits);
}

WF_FOR_MACHINE void ref_add_row(size_t count, const int32_t *restrict in, int32_t *restrict to) {
  for (size_t n = 0; n < count; n++) to[n] = ref_add(to[n], in[n]);
}

enum { LANES = 8 };
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef int8_t bytes __attribute__((vector_size(LANES)));
typedef int8_t all_bytes __attribute__((vector_size(LANES * sizeof(int32_t))));

// Clipping before rounding gives the same as after it, because the limits are integers; and adding a number whose unit
// in the last place is one rounds to the nearest even integer. NaN becomes the largest value.
static const float round_by = 0x1.8p23f;

static inline __attribute__((always_inline)) void scale_lanes(const int32_t *in, float by, int32_t at_least,
                                                              int8_t *out) {
  const floats zero = {0}, low = zero + (float)INT8_MIN, high = zero + (float)INT8_MAX;
  ints x;
  memcpy(&x, in, sizeof x);
  ints keep = x >= at_least;
  x = (x & keep) | (at_least & ~keep);
  floats product = __builtin_convertvector(x, floats) * by;
  ints below = product < low, inside = (product <= high) & ~below, above = ~(inside | below);
  floats rounded = (floats)((ints)product & inside) + round_by - round_by;
  ints whole = __builtin_convertvector(rounded, ints) | (below & INT8_MIN) | (above & INT8_MAX);
  bytes result = __builtin_shufflevector((all_bytes)whole, (all_bytes)whole, 0, 4, 8, 12, 16, 20, 24, 28);
  memcpy(out, &result, sizeof result);
}

static inline __attribute__((always_inline)) int8_t scale_one(int32_t in, float by) {
  float product = (float)in * by;
  if (product < (float)INT8_MIN) return INT8_MIN;
  if (!(product <= (float)INT8_MAX)) return INT8_MAX;
  return (int8_t)(int32_t)(product + round_by - round_by);
}

WF_FOR_MACHINE void ref_scale_row(size_t count, const int32_t *restrict in, float scale, bool relu,
                                  int8_t *restrict out) {
  int32_t at_least = relu ? 0 : INT32_MIN;
  size_t n = 0;
  for (; n + LANES <= count; n += LANES) scale_lanes(in + n, scale, at_least, out + n);
  for (; n < count; n++) out[n] = scale_one(in[n] < at_least ? at_least : in[n], scale);
}
