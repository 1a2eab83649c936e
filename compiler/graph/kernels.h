// SPDX-License-Identifier: Apache-2.0
// The loops in which the interpreter spends its time. Compiled with -O3 and several instruction sets; every set gives
// the same results, because sums are made in the order of k and nothing is contracted.
#ifndef COMPILER_GRAPH_KERNELS_H
#define COMPILER_GRAPH_KERNELS_H

#include <stdint.h>

// c[m][n] += a[m][k] * b[k][n]; rows are lda, ldb, ldc elements apart.
void graph_kernel_f32(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                      float *c, int64_t ldc);

// c[i * row + j * column] = sum over k of a[i][k] * b[j][k], modulo 2^32. Rows of a and b are k elements.
void graph_kernel_i16(int64_t m, int64_t n, int64_t k, const int16_t *a, const int16_t *b, int32_t *c, int64_t row,
                      int64_t column);

// sums[i] += x[i] * w[i], modulo 2^32.
void graph_kernel_multiply_add(int64_t count, const int8_t *x, const int16_t *w, int32_t *sums);

// to[i] = sums[i] * scale in binary32, rounded to nearest even and saturated; 0 where that is no number.
void graph_kernel_scale(int64_t count, const int32_t *sums, float scale, int8_t *to);

#endif
