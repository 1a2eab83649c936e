// SPDX-License-Identifier: Apache-2.0
// Operators in terms of simpler ones, which the converter or the hart have: a function for each replaces `node` by
// nodes that it adds to the graph, or returns false and adds none. Results change by float rounding at most.
#ifndef COMPILER_QUANTISE_EXPAND_H
#define COMPILER_QUANTISE_EXPAND_H

#include "compiler/quantise/make.h"

typedef bool quantise_expansion(graph *g, const graph_node *node);

// The pass: all of them, until nothing changes.
void quantise_expand(graph *g);

// narrow.c: operators on f64 become such on f32 where the hart has no others.
void quantise_narrow(graph *g);

// expand.c: element by element, sums, products
// expand_norm.c; any_batch_norm: also one of constants
quantise_expansion quantise_expand_any_batch_norm, quantise_expand_batch_norm, quantise_expand_instance_norm,
    quantise_expand_layer_norm, quantise_expand_lrn;
// expand_image.c: windows on one and three dimensions, resizing, padding. Convolutions come behind the folding of
// constants into them (prepare.c).
quantise_expansion quantise_expand_conv, quantise_expand_conv_transpose, quantise_expand_spread, quantise_expand_pool,
    quantise_expand_global, quantise_expand_resize, quantise_expand_pad;
// expand_integer.c
quantise_expansion quantise_expand_quantize, quantise_expand_dequantize, quantise_expand_dynamic,
    quantise_expand_integer_product;
// Products of integers that were quantised while the network runs become products of real numbers.
void quantise_expand_dynamic_products(graph *g);
// expand_places.c: elements by their places, sums along a dimension
quantise_expansion quantise_expand_gather_nd, quantise_expand_scatter_nd, quantise_expand_max_unpool,
    quantise_expand_compress, quantise_expand_reverse, quantise_expand_cum_sum;
// expand_gates.c: GRU and RNN step by step, LSTM with weights that are no constants
quantise_expansion quantise_expand_recurrent;

#endif
