// SPDX-License-Identifier: Apache-2.0
// A map from names to tensors, for readers of graphs. Names are borrowed.
#ifndef COMPILER_GRAPH_NAMES_H
#define COMPILER_GRAPH_NAMES_H

typedef struct graph_names graph_names;

graph_names *graph_names_create(void);
void graph_names_destroy(graph_names *names);
int graph_names_find(const graph_names *names, const char *name);       // or GRAPH_NONE
void graph_names_add(graph_names *names, const char *name, int value);  // replaces an older entry of that name

#endif
