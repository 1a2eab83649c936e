// SPDX-License-Identifier: Apache-2.0
// Convolutions of integers in any layout, as sums of 32 bits; and the arithmetic of quantised results.
#ifndef COMPILER_GRAPH_CONVOLUTION_H
#define COMPILER_GRAPH_CONVOLUTION_H

#include <math.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"
#include "compiler/graph/window.h"

typedef struct graph_conv_int {
  graph_window window;
  int64_t batch, groups, channels, filters;  // channels and filters of one group
  graph_type x_type;                         // I8 or U8
  const void *x;
  int32_t zero;
  const int16_t *weights;  // [groups * filters][taps][channels]
  int32_t *y;
  int64_t x_batch, x_channel, x_pixel, y_batch, y_filter, y_pixel;  // elements apart
} graph_conv_int;
bool graph_conv_int_run(graph_call *c, const graph_conv_int *v);

// To the nearest integer, ties to even, within 33 bits: what saturates anyway stays far outside.
static inline int64_t graph_rounded(float value) {
  float r = rintf(value);
  return isnan(r) ? 0 : r >= 0x1p33f ? INT64_C(1) << 33 : r <= -0x1p33f ? -(INT64_C(1) << 33) : (int64_t)r;
}

static inline int64_t graph_saturate(graph_type type, int64_t value) {
  int64_t low = type == GRAPH_I8 ? INT8_MIN : 0, high = type == GRAPH_I8 ? INT8_MAX : UINT8_MAX;
  return value < low ? low : value > high ? high : value;
}

#endif
