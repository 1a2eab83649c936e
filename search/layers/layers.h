// SPDX-License-Identifier: Apache-2.0
// Layer tables: the networks of the search as lists of layers with their dimensions and how often each occurs.
//
// A layer is a product over the seven dimensions of compiler/block/block.h; a matrix product M x N x K has P = M, K =
// N, C = K. Rows of an image are P and R, columns Q and S: stride[0] belongs to P and R, stride[1] to Q and S.
#ifndef SEARCH_LAYERS_LAYERS_H
#define SEARCH_LAYERS_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "compiler/mapping/mapping.h"

typedef struct layers_layer {
  const char *name;
  int64_t size[BLOCK_DIMS];  // each at least 1
  int64_t stride[2], dilation[2];
  int64_t groups;  // of a convolution, 0 is 1; C and K are those of one
  bool depthwise;  // a group per channel: groups is 0, C is 1, and K are the channels
  int64_t count;   // how often the network has it
} layers_layer;

// Everything lies in the network's arena.
typedef struct layers_network {
  wf_arena *arena;
  const char *name, *description;
  layers_layer *layers;
  size_t count;
} layers_network;

// Reads a shipped table by its name ("resnet50"), or a file: .yaml (our form, see docs/search-model.md), or .csv with
// the columns layer,R,S,P,Q,C,K,N,Wstride,Hstride,Wdilation,Hdilation,count,macs. False after errors were reported.
// Release the network in any case.
bool layers_load(layers_network *network, const char *name_or_path, wf_diag *diag);
bool layers_parse_yaml(layers_network *network, const char *file, const char *text, size_t length, wf_diag *diag);
bool layers_parse_csv(layers_network *network, const char *file, const char *text, size_t length, wf_diag *diag);
void layers_release(layers_network *network);

// The shipped tables (workloads/layers) in the order of their names; NULL past the end.
const char *layers_builtin_name(size_t index);

void layers_print_yaml(const layers_network *network, FILE *out);

double layers_macs(const layers_layer *layer);  // of one occurrence

// The plain model knows products only. A layer is to it as many of them as it has groups, one after the other; a
// depthwise one is a product with one input channel, which takes the cycles of a diagonal of weights.
double layers_product_macs(const layers_layer *layer);  // of one
double layers_products(const layers_layer *layer);      // of all occurrences

int64_t layers_groups(const layers_layer *layer);  // at least 1
// C and K of all groups together; other sizes are as they are.
int64_t layers_whole_size(const layers_layer *layer, block_dim_id dim);
// Cuts C and K of a layer into groups; false: they do not divide.
bool layers_set_groups(layers_layer *layer, int64_t groups);

// The same layer for the compiler: a convolution, or a product if it has neither window nor stride. Padding is not in
// the tables; the inputs are taken to be padded already.
map_layer layers_to_map(const layers_layer *layer);

#endif
