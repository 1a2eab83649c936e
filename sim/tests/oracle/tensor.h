// SPDX-License-Identifier: Apache-2.0
// The mathematical level: what a layer's result must be, written as sums over indices in int64 with the documented
// wraps. Nothing here knows commands, local memories or tiles; the one trace of the array is the width of its partial
// sums.
#ifndef SIM_TESTS_ORACLE_TENSOR_H
#define SIM_TESTS_ORACLE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

// How an int32 result becomes an int8 one.
typedef struct oracle_output {
  bool relu;
  uint32_t scale;
} oracle_output;

int64_t oracle_narrow(int64_t value, oracle_output out);

// out[m][n] = base[m][n] + sum_k a[m][k] * b[k][n]. The products of `chunk` consecutive k are summed in the array,
// where they wrap at `bits`; chunks are added to the base in 32 bits (weight stationary). `first` [m][n] enters the
// first chunk inside the array. Null pointers count as zero.
typedef struct oracle_gemm {
  int64_t m, n, k;
  const int64_t *a, *b, *first, *base;
  int64_t chunk;
  unsigned bits;
  unsigned shift;  // rounding right shift of each chunk's sum before it is added (output stationary, chunk = k)
} oracle_gemm;

void oracle_matmul(const oracle_gemm *g, int64_t *out);

// A convolution in NHWC with square kernels; the kernel is [row][col][in channel][out channel], depthwise
// [row][col][channel].
typedef struct oracle_conv {
  int64_t batch, in_rows, in_cols, in_channels;
  int64_t out_rows, out_cols, out_channels;
  int64_t kernel, stride, padding, dilation;
  bool depthwise;
  bool rotate;                                                         // the kernel is turned by 180 degrees
  bool input_dilated;                                                  // a zero between every two input pixels
  int64_t pool_size, pool_stride, pool_padding, pool_rows, pool_cols;  // pool_size 1, stride 1, padding 0: none
  const int64_t *input, *weights, *bias;                               // bias may be null
  oracle_output output;
} oracle_conv;

void oracle_convolution(const oracle_conv *c, int64_t *out);  // [batch][pool row][pool col][channel]

#endif
