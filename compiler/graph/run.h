// SPDX-License-Identifier: Apache-2.0
// The interpreter: what a graph means. Plain loops in C, independent of the accelerator and of the compiler behind it.
#ifndef COMPILER_GRAPH_RUN_H
#define COMPILER_GRAPH_RUN_H

#include "compiler/graph/graph.h"

// Sets types and shapes of a node's results, from its inputs: types, shapes, and values of constants where a shape
// depends on them. Reports why it cannot. `file` is for messages.
bool graph_infer(graph *g, graph_node *node, const char *file, wf_diag *diag);

typedef struct graph_run_options {
  // Called behind each node, in order: values[t] is the data of tensor t, NULL if there is none (any more). The
  // observer may overwrite the node's results. false stops the run.
  bool (*after)(void *context, const graph *g, const graph_node *node, void *const *values);
  void *context;
  const char *file;  // for messages
} graph_run_options;

// inputs[i] is the data of g->inputs[i], row by row; outputs[o] gets that of g->outputs[o] (graph_bytes each; NULL: not
// wanted). A value is freed behind the last node that reads it. The graph has to be verified.
bool graph_run(const graph *g, const void *const *inputs, void *const *outputs, const graph_run_options *options,
               wf_diag *diag);

// Replaces nodes whose inputs are constant by constants; results of more than `limit` bytes, of products and of
// DequantizeLinear stay. The number of nodes that went.
int graph_fold(graph *g, size_t limit);
// One node, with known shapes: true if its results are constants now (the node itself stays).
bool graph_fold_node(graph *g, const graph_node *node, size_t limit);

// Removes nodes whose results have no reader.
void graph_drop_unused(graph *g);
// Removes tensors that no node and no end names; the others are renumbered.
void graph_compact(graph *g);

#endif
