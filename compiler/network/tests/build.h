// SPDX-License-Identifier: Apache-2.0
// Small placed graphs with random weights, for the tests of network programs.
#ifndef COMPILER_NETWORK_TESTS_BUILD_H
#define COMPILER_NETWORK_TESTS_BUILD_H

#include "compiler/graph/graph.h"

typedef struct build_conv {
  int64_t kernel, stride, pad, channels, groups;  // groups 0: 1
  bool no_bias, no_relu;
  int64_t holes;   // so many of four blocks of 16 x 16 weights are zeros
  int64_t factor;  // of `residual`; 0: none
  int residual;
  int64_t pool[3];  // window, stride and padding above and to the left of max pooling; behind it one less than both
} build_conv;

int build_input(graph *g, graph_type type, int rank, const int64_t *dim);
// A constant with random elements: int8 and u8 of their whole range, int32 up to 1000 in magnitude, f32 in -1 .. 1.
int build_constant(graph *g, graph_type type, int rank, const int64_t *dim);
int build_result(graph *g, graph_type type, int rank, const int64_t *dim);
int build_conv2d(graph *g, int x, const build_conv *conv);
int build_product(graph *g, int a, int b, bool trans_b, bool bias, bool relu);
int build_pool(graph *g, graph_op op, int x, int64_t kernel, int64_t stride, int64_t pad);
int build_add(graph *g, int a, int b, bool relu);
// A node of one output with the shape and type of input x.
graph_node *build_like(graph *g, graph_op op, int x, graph_type type, int *y);
void build_random(void *to, size_t bytes, uint64_t seed);

// An image classifier with bottlenecks: `blocks` per stage for four stages, as wide as `width`, images of `size`.
graph *build_residual(const int *blocks, int64_t width, int64_t size);

// Groups, depthwise, windows of all kinds without dilation, pooling with all paddings, sums.
graph *build_mobile(void);

// Attention and what surrounds it on the host: dequantised, normalised, quantised again.
graph *build_attention(void);

// Random inputs, to be freed with build_free_inputs.
void **build_random_inputs(const graph *g);
void build_free_inputs(const graph *g, void **inputs);

#endif
