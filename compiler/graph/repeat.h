// SPDX-License-Identifier: Apache-2.0
// Several runs of a graph as one graph: inputs, outputs, nodes and tensors once for each run, constants once for all.
#ifndef COMPILER_GRAPH_REPEAT_H
#define COMPILER_GRAPH_REPEAT_H

#include "compiler/graph/graph.h"

enum { GRAPH_REPEAT_MAX = 64 };

// The first run keeps its names, those of the n-th end in "@n". One run's nodes come behind the other's. Constants'
// data are the graph's own: it must live as long.
graph *graph_repeat(const graph *g, int times);

#endif
