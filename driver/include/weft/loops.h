// SPDX-License-Identifier: Apache-2.0
// The two loop unrollers of the accelerator as structs, the same for both ISA revisions.
//
// Both rely on configuration that the program has made before: see weft_loop_matmul and weft_loop_conv. They take their
// places in the scratchpad and the accumulator themselves: halves that alternate from loop to loop.
#ifndef WEFT_LOOPS_H
#define WEFT_LOOPS_H

#include "weft/weft.h"

// C = D + A * B over i x j x k tiles of WEFT_DIM elements a side. Wants config_ex (weight-stationary, transposes), load
// states 0, 1, 2 for A, B, D (memory strides, scales, shrink for an int8 D) and config_st.
// B is read in whole tiles of rows: the rows that pad_k (pad_j when transposed) counts must be memory too.
// It fits when (i * k + k * j) * WEFT_DIM <= WEFT_SP_ROWS / 2 and i * j * WEFT_DIM <= WEFT_ACC_ROWS / 2.
struct weft_loop_matmul {
  size_t i, j, k;              // tiles
  size_t pad_i, pad_j, pad_k;  // elements missing in the last tile
  const int8_t *a, *b;
  const void *d;                                  // NULL: no bias
  void *c;                                        // NULL: the result stays in the accumulator for the next loop
  size_t a_stride, b_stride, d_stride, c_stride;  // elements
  bool a_transpose, b_transpose;
  bool full_c;      // C is int32
  bool low_d;       // D is int8
  bool accumulate;  // add to what the accumulator holds (a bias just loaded, an earlier loop)
  enum weft_activation activation;
  bool resadd;  // C = A + B element by element; revision 2 only
};

static inline void weft_run_loop_matmul(const struct weft_loop_matmul *l) {
  weft_loop_ws_bounds(l->pad_i, l->pad_j, l->pad_k, l->i, l->j, l->k);
  weft_loop_ws_addrs_ab((uintptr_t)l->a, (uintptr_t)l->b);
  weft_loop_ws_addrs_dc((uintptr_t)l->d, (uintptr_t)l->c);
  weft_loop_ws_strides_ab(l->a_stride, l->b_stride);
  weft_loop_ws_strides_dc(l->d_stride, l->c_stride);
#if WEFT_ISA_REVISION == 1
  weft_loop_ws_r1(l->accumulate, l->full_c, l->low_d, l->activation, l->a_transpose, l->b_transpose);
#else
  weft_loop_ws_r2(l->accumulate, l->full_c, l->low_d, l->activation, 0, 0, l->a_transpose, l->b_transpose, l->resadd,
                  false, false, false, false, false, false, 0);
#endif
}

// A tile of a convolution. Sizes of the whole layer first, then of the tile; revision 1 has square images only and
// takes the row sizes. Wants config_ex (weight-stationary, a_stride = stride >> downsample) and config_st (stride
// out_channels, activation, scale); it sets the load states itself.
struct weft_loop_conv {
  size_t batch_size;
  size_t in_rows, in_cols, in_channels;
  size_t out_rows, out_cols, out_channels;  // before pooling
  size_t pool_out_rows, pool_out_cols;
  size_t kernel, stride, padding, dilation;
  size_t pool_size, pool_stride, pool_padding;
  size_t in_stride, out_stride, weight_stride;  // elements between pixels and kernel rows; revision 2 only

  size_t batches, pool_rows, pool_cols, tile_out_channels;  // pooled rows and columns
  size_t kernel_rows, kernel_cols, tile_in_channels;
  size_t rows, cols;  // before pooling
  size_t left_pad, right_pad, upper_pad, lower_pad;
  size_t pool_left_pad, pool_right_pad, pool_upper_pad, pool_lower_pad;

  const int8_t *weights, *input;  // of the tile; the input's first pixel that is not padding
  const int32_t *bias;            // NULL: the accumulator already holds partial sums
  int8_t *output;                 // NULL: the result stays in the accumulator for the next loop
  bool no_bias;                   // bias is not NULL but stands for zeros
  bool rotate_weights;            // by 180 degrees
  bool trans_output_1203, trans_weight_1203, trans_weight_0132, trans_input_3120;
  bool depthwise;
  size_t max_pixels;  // kernel columns folded into K; 0 means 1
  bool pool, downsample, input_dilated;
  enum weft_activation activation;
};

static inline void weft_run_loop_conv(const struct weft_loop_conv *l) {
#if WEFT_ISA_REVISION == 1
  weft_loop_conv_ws_config_1_r1(l->batch_size, l->in_rows, l->in_channels, l->out_channels, l->out_rows,
                                l->pool_out_rows, l->stride, l->padding);
  weft_loop_conv_ws_config_2_r1(l->pool_padding, l->pool_stride, l->pool_size, l->kernel, l->tile_out_channels,
                                l->pool_cols, l->pool_rows, l->batches);
  weft_loop_conv_ws_config_3_r1(l->left_pad, l->tile_in_channels, l->kernel_cols, l->kernel_rows, l->pool_left_pad,
                                l->lower_pad, l->upper_pad, l->right_pad);
  weft_loop_conv_ws_config_4_r1(l->pool_lower_pad, l->pool_upper_pad, l->pool_right_pad, l->rows, l->cols, l->dilation);
#else
  weft_loop_conv_ws_config_1_r2(l->batch_size, l->in_rows, l->in_channels, l->out_channels, l->out_rows,
                                l->pool_out_rows, l->out_cols, l->stride, l->padding);
  weft_loop_conv_ws_config_2_r2(l->pool_padding, l->pool_stride, l->pool_size, l->pool_out_cols, l->kernel,
                                l->tile_out_channels, l->pool_cols, l->pool_rows, l->batches);
  weft_loop_conv_ws_config_3_r2(l->left_pad, l->tile_in_channels, l->kernel_cols, l->kernel_rows, l->in_cols,
                                l->pool_left_pad, l->lower_pad, l->upper_pad, l->right_pad);
  weft_loop_conv_ws_config_4_r2(l->dilation, l->pool_lower_pad, l->pool_upper_pad, l->pool_right_pad, l->rows, l->cols,
                                l->out_stride, l->weight_stride, l->in_stride);
#endif
  weft_loop_conv_ws_config_5((uintptr_t)l->weights, (uintptr_t)l->output);
  weft_loop_conv_ws_config_6((uintptr_t)l->bias, (uintptr_t)l->input);
#if WEFT_ISA_REVISION == 1
  weft_loop_conv_ws_r1(l->no_bias, l->rotate_weights, l->trans_output_1203, l->trans_weight_1203, l->trans_weight_0132,
                       l->trans_input_3120, l->depthwise, l->max_pixels, !l->pool, l->downsample, l->input_dilated,
                       l->activation);
#else
  weft_loop_conv_ws_r2(l->no_bias, l->rotate_weights, l->trans_output_1203, l->trans_weight_1203, l->trans_weight_0132,
                       l->trans_input_3120, l->depthwise, l->max_pixels, 0, 0, !l->pool, l->downsample,
                       l->input_dilated, l->activation);
#endif
}

#endif
