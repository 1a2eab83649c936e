// SPDX-License-Identifier: Apache-2.0
// Networks made by program: the published structures with random weights, as model graphs (compiler/graph).
//
// The weights are scaled so that activations neither grow nor vanish (build.h says how), so that a quantised network is
// worth comparing with its float original. The same name, options and seed give the same bytes on every machine.
#ifndef WORKLOADS_NETWORKS_NETWORKS_H
#define WORKLOADS_NETWORKS_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "compiler/graph/graph.h"

// 0 in a field: what the network's table row says.
typedef struct networks_options {
  int64_t size;      // rows and columns of images
  int64_t sequence;  // tokens or time steps
  int64_t batch;
  int64_t divisor;  // widths (channels, hidden sizes) are divided by it: small variants for tests
  int64_t layers;   // of transformers and recurrent networks
  int64_t past;     // tokens whose keys and values are inputs (decoding); then `sequence` is 1 by default
  bool present;     // with `past`: the new tokens' keys and values are results, behind the others
  uint64_t seed;
  const char *prune;  // zeros in weights, as prune.h says; NULL: none
} networks_options;

typedef struct networks_row {
  const char *name, *description;
  int64_t size, sequence, layers;  // defaults; 0: the network has no such option
  int64_t size_multiple;           // sizes must be a multiple of it
} networks_row;

size_t networks_count(void);
const networks_row *networks_at(size_t index);
const networks_row *networks_find(const char *name);  // or NULL

// The graph, to be destroyed by graph_destroy; NULL after the reason was reported.
graph *networks_create(const char *name, const networks_options *options, wf_diag *diag);

// Multiply-accumulates of a graph's convolutions and products, and its trained parameters (statistics of batch
// normalisation do not count).
double networks_macs(const graph *g);
double networks_node_macs(const graph *g, const graph_node *node);
double networks_parameters(const graph *g);

#endif
