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
  int64_t count;  // how often the network has it
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

// The same layer for the compiler: a convolution, or a product if it has neither window nor stride. Padding is not in
// the tables; the inputs are taken to be padded already.
map_layer layers_to_map(const layers_layer *layer);

#endif
