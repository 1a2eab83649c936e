// SPDX-License-Identifier: Apache-2.0
// Copies in which every dimension of the result has a map to indices of the input.
#ifndef COMPILER_GRAPH_MOVEMENT_H
#define COMPILER_GRAPH_MOVEMENT_H

#include "compiler/graph/call.h"

typedef struct graph_maps {
  int rank;
  int64_t dim[GRAPH_RANK_MAX], from_dim[GRAPH_RANK_MAX];
  int64_t *map[GRAPH_RANK_MAX];  // an index of the input, or -1: the fill value
  unsigned char fill[8];
  int64_t *memory;
} graph_maps;
// Maps of every index to itself, to be changed; y and x have the same rank.
bool graph_maps_create(graph_call *c, graph_maps *m, const graph_tensor *x, const graph_tensor *y);
void graph_maps_run(graph_maps *m, void *to, const void *from, graph_type type);  // and frees them

#endif
