// SPDX-License-Identifier: Apache-2.0
// What the passes share: the nodes that make and read a tensor, constants as numbers, a new list of nodes from an old
// one.
#ifndef COMPILER_QUANTISE_REWRITE_H
#define COMPILER_QUANTISE_REWRITE_H

#include "compiler/graph/graph.h"

// Valid as long as the graph's nodes do not change.
typedef struct quantise_rewrite_index {
  int *maker;               // by tensor: the node, or GRAPH_NONE
  int *reader;              // by tensor: the last node that reads it, or GRAPH_NONE
  int *uses;                // by tensor: how often nodes read it, and outputs of the graph
  const graph_node *nodes;  // that the numbers are of
} quantise_rewrite_index;
quantise_rewrite_index quantise_rewrite_index_of(const graph *g);

// Takes the nodes out of the graph (to be passed on one by one by quantise_rewrite_keep or replaced by graph_add_node).
graph_node *quantise_rewrite_begin(graph *g, int *count);
graph_node *quantise_rewrite_keep(graph *g, const graph_node *node);

// Numbers of a constant: f32, or NULL.
const float *quantise_rewrite_floats(const graph *g, int tensor);
bool quantise_rewrite_number(const graph *g, int tensor, float *value);  // a constant of one element, any type
int quantise_rewrite_integers(const graph *g, int tensor, int64_t *values,
                              int room);  // of i64 or i32; -1: not constant
int quantise_rewrite_add_floats(graph *g, const char *name, int rank, const int64_t *dims,
                                const float *values);  // not copied
int quantise_rewrite_add_integers(graph *g, const char *name, const int64_t *values, int count);

// A tensor, and the name of a node: `base` and `suffix`, numbered if there is one of that name already.
int quantise_rewrite_tensor(graph *g, const char *base, const char *suffix, graph_type type, int rank,
                            const int64_t *dims);
const char *quantise_rewrite_name(graph *g, const char *base, const char *suffix);

// The reader if it is the only one and the tensor is no output of the graph; or NULL.
graph_node *quantise_rewrite_only_reader(const graph *g, const quantise_rewrite_index *index, int tensor);
graph_node *quantise_rewrite_maker(const graph *g, const quantise_rewrite_index *index, int tensor);

// Drops nodes whose results have no reader. Returns how many.
int quantise_rewrite_drop_dead(graph *g);

// clamps.c: functions that are straight between two ends, into the products before them.
void quantise_rewrite_clamps(graph *g);
// Whether a table is straight between two ends.
bool quantise_rewrite_is_clamp(const int8_t table[256]);
// gates.c: numbers per channel, into the weights that sum the channels.
void quantise_rewrite_gates(graph *g);
// bands.c: attention by heads, or by rows of them, so that what lies between its products fits into so many bytes.
void quantise_rewrite_bands(graph *g, int64_t near_bytes);

// The window of a convolution or pooling on images, from its attributes and shapes.
typedef struct quantise_rewrite_window {
  int64_t kernel[2], strides[2], dilations[2];
  int64_t pads[4];  // above, left, below, right
  int64_t groups;
} quantise_rewrite_window;
bool quantise_rewrite_window_of(const graph *g, const graph_node *node, quantise_rewrite_window *window);

#endif
