// SPDX-License-Identifier: Apache-2.0
// A convolution on its way to steps: what lower_conv.c, which makes the steps, and lower_scheme.c, which lists the ways
// to make them, share.
#ifndef COMPILER_NETWORK_CONV_H
#define COMPILER_NETWORK_CONV_H

#include "compiler/network/private.h"

typedef struct network_conv {
  layer_desc layer;
  int64_t pads[4];
  int64_t pool_size, pool_stride, pool_padding;  // of the pooling that leaves with the results; stride 0: none
  uint64_t macs;                                 // of the node
  network_scheme scheme;
  const int8_t *weights;  // R x S x C x K
  network_lower_operands at;
} network_conv;

// The node at hand, by the rules.
network_conv network_conv_of(network_lowering *l);
// False: nothing computes it.
bool network_conv_check(const network_lowering *l, const network_conv *c);
// Whether the kernels can say its padding: one number for all sides; along an axis.
bool network_conv_is_regular(const network_conv *c);
bool network_conv_is_regular_in(const network_conv *c, int axis, int64_t pads);
static inline bool network_conv_is_grouped(const network_conv *c) {
  return c->layer.map.kind == MAP_DEPTHWISE || c->layer.map.groups > 1;
}
// Whether its image or its results lie in columns of a wider tensor, so that pixels are no row of their own.
static inline bool network_conv_is_in_columns(const network_conv *c) {
  return c->layer.inputs.pixel != 0 || c->layer.results.pixel != 0;
}
// Takes the pooling behind it if its windows are the store unit's: square, with padding only above and to the left,
// where relu leaves nothing below the zeros.
bool network_conv_take_pooling(const network_lowering *l, network_conv *c);
// Makes the layer in groups one without, whose weights between different groups are zeros; those are not made here.
void network_conv_set_dense(network_conv *c);
// The scheme that the options give the node. False: it is none of its own.
bool network_conv_take_scheme(network_lowering *l, network_conv *c);

#endif
