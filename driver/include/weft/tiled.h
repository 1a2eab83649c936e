// SPDX-License-Identifier: Apache-2.0
// Whole operators on the accelerator: the operands are cut into tiles that fit its memories, and the commands for all
// tiles are given. Everything comes in two forms: from single instructions (mvin, preload, compute, mvout), and, with
// _loop in the name, through the loop unrollers of the accelerator.
//
// The functions return when the commands are given, not when they are done: weft_fence() before reading the result.
// They configure every unit that they use and keep no state. Nothing is given to the accelerator unless WEFT_OK is
// returned. A zero stride means dense; a zero scale means 1.0.
#ifndef WEFT_TILED_H
#define WEFT_TILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/weft.h"

enum weft_status {
  WEFT_OK,
  WEFT_BAD_ARGUMENT,  // a size of zero, a missing operand, a stride shorter than its row
  WEFT_UNSUPPORTED,   // this array or this ISA revision cannot do it
  WEFT_TOO_BIG,       // not even the smallest tile fits the local memories
};

// How the forms from single instructions cut a product: elements of a tile, whole blocks of WEFT_DIM or all; the order
// of the loops over tiles. What stays in the scratchpad follows.
struct weft_mapping {
  size_t m, n, k;
  bool n_outer;  // columns of the result outside, rows inside
};

// C[m][n] = saturate(scale * activation(bias[m][n] + sum over k of A[m][k] * B[k][n]))
struct weft_gemm {
  size_t m, n, k;
  const int8_t *a;                                   // m x k, or k x m with a_transpose
  const int8_t *b;                                   // k x n, or n x k with b_transpose; not both transposed
  const int32_t *bias;                               // m x n, one row of n with bias_repeat, or NULL
  void *c;                                           // m x n, int8 or, with full, int32 without activation and scale
  size_t a_stride, b_stride, bias_stride, c_stride;  // elements between stored rows
  bool a_transpose, b_transpose, bias_repeat, full;
  enum weft_activation activation;
  float scale;
  const struct weft_mapping *mapping;  // NULL: chosen by what moves least
};

enum weft_status weft_tiled_gemm(const struct weft_gemm *gemm);
// The unroller reads B in whole blocks of rows: up to WEFT_DIM - 1 rows behind the last one must be memory, whatever
// they hold.
enum weft_status weft_tiled_gemm_loop(const struct weft_gemm *gemm);

// Images are NHWC, weights [row][column][in][out]; depthwise weights are [channel][row][column]. The accumulated value
// of a pixel goes through activation, scale and saturation, then through max pooling, whose padding counts as zero.
struct weft_conv {
  size_t batch;
  size_t in_rows, in_cols, in_channels, out_channels;
  size_t kernel, stride, padding, dilation;     // stride and dilation: 0 means 1
  size_t pool_size, pool_stride, pool_padding;  // pool_size 0: no pooling
  bool depthwise;                               // out_channels equals in_channels
  const int8_t *input, *weights;
  const int32_t *bias;  // one per output channel, or NULL
  int8_t *output;
  size_t in_stride, out_stride;  // elements between pixels
  enum weft_activation activation;
  float scale;
};

struct weft_conv_shape {
  size_t rows, cols;                // after the convolution
  size_t pooled_rows, pooled_cols;  // of the output
};

// The size of the output, or why there is none.
enum weft_status weft_conv_shape(const struct weft_conv *conv, struct weft_conv_shape *shape);
enum weft_status weft_tiled_conv(const struct weft_conv *conv);
// Revision 1 has square images with dense pixels only.
enum weft_status weft_tiled_conv_loop(const struct weft_conv *conv);

// C[m][n] = saturate(c_scale * activation(round(a_scale * A[m][n]) + round(b_scale * B[m][n]))), the two inner values
// saturated to int8 as well.
struct weft_resadd {
  size_t m, n;
  const int8_t *a, *b;
  int8_t *c;
  size_t a_stride, b_stride, c_stride;  // elements between rows
  float a_scale, b_scale, c_scale;
  enum weft_activation activation;
};

enum weft_status weft_tiled_resadd(const struct weft_resadd *add);
// Revision 2 only. Reads B in whole blocks of rows, as weft_tiled_gemm_loop does.
enum weft_status weft_tiled_resadd_loop(const struct weft_resadd *add);

#endif
