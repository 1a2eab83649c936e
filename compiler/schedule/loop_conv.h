// SPDX-License-Identifier: Apache-2.0
// Between the files of LOOP_CONV_WS: what a chain of loops computes, and how its registers say so.
#ifndef COMPILER_SCHEDULE_LOOP_CONV_H
#define COMPILER_SCHEDULE_LOOP_CONV_H

#include "compiler/schedule/loop.h"

enum { SCHED_ROW, SCHED_COLUMN, SCHED_AXES };  // of an image

// Images in memory, NHWC, and the element that a block begins with; all in elements. Rows and columns may lie in the
// padding.
typedef struct sched_conv_image {
  int tensor;
  int64_t offset;                              // of pixel 0, 0 of the block's first image, at its first channel
  int64_t first[SCHED_AXES];                   // row, column
  int64_t step[SCHED_AXES];                    // from row to row, column to column of the block
  int64_t extent[SCHED_AXES];                  // of an image
  int64_t stride[SCHED_AXES];                  // of memory
  int64_t image_stride;                        // from image to image
  int64_t images, size[SCHED_AXES], channels;  // of the block, as far as they exist
} sched_conv_image;

// One element of the kernel: the pixel that the first result meets, and where its weights are.
typedef struct sched_conv_tap {
  int64_t at[SCHED_AXES];
  int64_t weights;  // elements
} sched_conv_tap;

// What one loop adds to a result: the products of statements that share their operands.
typedef struct sched_conv_part {
  const block_statement *dot;
  uint32_t input_instance, weight_instance;
  sched_conv_image input;
  int64_t stride[SCHED_AXES];  // of the convolution
  int weight_tensor;
  int64_t row_stride;     // of the weights: from input channel to input channel
  int64_t rows, columns;  // of the weights: input and output channels
  int64_t block;          // channels that have a matrix of their own; 0: all channels have one
  int64_t block_step;     // to the weights of the next block
  sched_conv_tap *taps;
  size_t tap_count, tap_room;
} sched_conv_part;

// A result: parts, the bias before the first, the store behind the last.
typedef struct sched_conv_chain {
  const block_statement *where;  // the store
  sched_conv_part *parts;
  size_t count;
  bool has_bias;
  int bias_tensor;
  int64_t bias;  // element
  sched_conv_image output;
  bool relu;
  float scale;
} sched_conv_chain;

// What the registers of one loop hold.
typedef struct sched_conv_registers {
  int64_t batches, in_rows, in_cols, in_stride, in_channels;
  int64_t out_rows, out_cols, out_stride, weight_stride;
  int64_t kernel, stride, dilation;
  int64_t krows, kcols, kchs, orows, ocols, pochs;
  int64_t pad[SCHED_AXES][2];  // before, behind
  int64_t pixels;              // kernel columns side by side in a local row
  bool no_bias, downsample, relu;
  sched_loop_operand input, weights, bias, output;
} sched_conv_registers;

// Writes a loop; false if a value does not fit its register.
bool sched_conv_put_registers(sched_loop *l, const sched_conv_registers *r);
// Writes the loops of a result; false after the reason was reported.
bool sched_conv_put_chain(sched_loop *l, const sched_conv_chain *chain);

#endif
