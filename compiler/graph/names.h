// SPDX-License-Identifier: Apache-2.0
// A map from names to tensors or nodes. Names are borrowed.
#ifndef COMPILER_GRAPH_NAMES_H
#define COMPILER_GRAPH_NAMES_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct graph_names graph_names;

graph_names *graph_names_create(void);
void graph_names_destroy(graph_names *names);
int graph_names_find(const graph_names *names, const char *name);       // or GRAPH_NONE
void graph_names_add(graph_names *names, const char *name, int value);  // replaces an older entry of that name
void graph_names_clear(graph_names *names);
// The first name without an entry of BASE, BASE SEPARATOR FIRST, and so on with the next numbers. A base remembers
// which numbers were given out.
const char *graph_names_unused(graph_names *names, wf_arena *arena, const char *base, const char *separator, int first);
// Names that an exporter gave by counting tensors, and that no reader knows from the model's source: a number, `3356`,
// `3356.i8`, `onnx::Conv_17`. For the second function also a word with a number, `input.2`, `input.2.i8`: that can be
// the name of a module just as well, `features.2`.
bool graph_names_is_number(const char *name);
bool graph_names_may_be_counted(const char *name);

#endif
