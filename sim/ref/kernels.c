// The kernels: see numeric.h. Apart so that they are compiled with -O3, and for more than one instruction set
// where the compiler can choose at run time.
#include <string.h>

#include "sim/ref/numeric.h"

// The choice is made by the dynamic linker before a sanitizer is ready for it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_MACHINE
#endif

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

FOR_MACHINE void ref_multiply(size_t dim, size_t rows, size_t depth, const int8_t *a, const int16_t *b, int32_t *c) {
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

FOR_MACHINE void ref_bias_row(size_t count, const int8_t *restrict bias, uint32_t bits, int32_t *restrict sums) {
  for (size_t n = 0; n < count; n++) sums[n] = ref_wrap((uint32_t)sums[n] + (uint32_t)bias[n], bits);
}

FOR_MACHINE void ref_add_row(size_t count, const int32_t *restrict in, int32_t *restrict to) {
  for (size_t n = 0; n < count; n++) to[n] = ref_add(to[n], in[n]);
}

// Clipping before rounding gives the same as after it, because the limits are integers; and adding a number whose unit
// in the last place is one rounds to the nearest even integer.
FOR_MACHINE void ref_scale_row(size_t count, const int32_t *restrict in, float scale, bool relu, int8_t *restrict out) {
  const float round = 0x1.8p23f;
  int32_t floor = relu ? 0 : INT32_MIN;
  for (size_t n = 0; n < count; n++) {
    float product = (float)(in[n] < floor ? floor : in[n]) * scale;
    float low = product < (float)INT8_MIN ? (float)INT8_MIN : product;
    float clipped = low <= (float)INT8_MAX ? low : (float)INT8_MAX;  // NaN takes the second branch
    out[n] = (int8_t)(int32_t)(clipped + round - round);
  }
}
