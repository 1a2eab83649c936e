// SPDX-License-Identifier: Apache-2.0
// Graphs as data: tensors, nodes and names. Everything is in the graph's arena; arrays grow by doubling, so pointers to
// nodes and tensors hold until the next one is added.
#include "compiler/graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/names.h"

const char *const graph_type_names[GRAPH_TYPE_COUNT] = {
#define X(NAME, text, bytes) [GRAPH_##NAME] = text,
    GRAPH_TYPES(X)
#undef X
};

size_t graph_type_bytes(graph_type type) {
  static const unsigned char sizes[GRAPH_TYPE_COUNT] = {
#define X(NAME, text, bytes) [GRAPH_##NAME] = bytes,
      GRAPH_TYPES(X)
#undef X
  };
  return sizes[type];
}

static const graph_op_row rows[GRAPH_OP_COUNT] = {
#define GRAPH_OP(NAME, text, least_in, most_in, least_out, most_out, of_onnx, ...) \
  [GRAPH_OP_##NAME] = {text, least_in, most_in, least_out, most_out, of_onnx},
#include "compiler/graph/ops.def"
#undef GRAPH_OP
};

const graph_op_row *graph_op_info(graph_op op) { return &rows[op]; }

const char *graph_op_name(graph_op op) { return rows[op].name; }

graph_op graph_find_op(const char *name) {
  int op = 0;
  while (op < GRAPH_OP_COUNT && strcmp(rows[op].name, name) != 0) op++;
  return (graph_op)op;
}

graph *graph_create(const char *name) {
  wf_arena *arena = wf_arena_create();
  graph *g = WF_ARENA_NEW(arena, graph);
  g->arena = arena;
  g->name = wf_arena_text(arena, name, strlen(name));
  g->tensor_names = graph_names_create();
  g->node_names = graph_names_create();
  return g;
}

void graph_destroy(graph *g) {
  if (g == NULL) return;
  graph_names_destroy(g->tensor_names);
  graph_names_destroy(g->node_names);
  wf_arena_destroy(g->arena);
}

// Of tensors with one name, which only a faulty graph has, the first is found. A tensor may have been renamed since.
static void index_tensor(graph *g, int tensor) {
  const char *name = g->tensors[tensor].name;
  if (graph_find_tensor(g, name) == GRAPH_NONE) graph_names_add(g->tensor_names, name, tensor);
}

int graph_add_tensor(graph *g, const graph_tensor *tensor) {
  g->tensors = wf_arena_grow(g->arena, g->tensors, (size_t)g->tensor_count, &g->tensor_room, sizeof g->tensors[0]);
  graph_tensor *added = &g->tensors[g->tensor_count];
  *added = *tensor;
  added->name = wf_arena_text(g->arena, tensor->name, strlen(tensor->name));
  index_tensor(g, g->tensor_count++);
  return g->tensor_count - 1;
}

void graph_rename_tensor(graph *g, int tensor, const char *name) {
  g->tensors[tensor].name = wf_arena_text(g->arena, name, strlen(name));
  index_tensor(g, tensor);
}

void graph_index_tensors(graph *g) {
  graph_names_clear(g->tensor_names);
  for (int t = 0; t < g->tensor_count; t++) index_tensor(g, t);
}

void graph_index_nodes(graph *g) {
  graph_names_clear(g->node_names);
  for (int n = 0; n < g->node_count; n++) graph_names_add(g->node_names, g->nodes[n].name, n);
}

static int *copy_indices(graph *g, const int *indices, int count) {
  int *copy = WF_ARENA_ARRAY(g->arena, (size_t)count, int);
  if (count != 0) memcpy(copy, indices, (size_t)count * sizeof copy[0]);
  return copy;
}

graph_node *graph_add_node(graph *g, graph_op op, const char *name, const int *inputs, int input_count,
                           const int *outputs, int output_count) {
  g->nodes = wf_arena_grow(g->arena, g->nodes, (size_t)g->node_count, &g->node_room, sizeof g->nodes[0]);
  graph_node *node = &g->nodes[g->node_count++];
  *node = (graph_node){.op = op,
                       .name = wf_arena_text(g->arena, name, strlen(name)),
                       .inputs = copy_indices(g, inputs, input_count),
                       .input_count = input_count,
                       .outputs = copy_indices(g, outputs, output_count),
                       .output_count = output_count};
  graph_names_add(g->node_names, node->name, g->node_count - 1);
  return node;
}

void graph_set_ends(graph *g, const int *inputs, int input_count, const int *outputs, int output_count) {
  g->inputs = copy_indices(g, inputs, input_count);
  g->input_count = input_count;
  g->outputs = copy_indices(g, outputs, output_count);
  g->output_count = output_count;
}

int graph_find_tensor(const graph *g, const char *name) {
  const int t = graph_names_find(g->tensor_names, name);
  return t != GRAPH_NONE && t < g->tensor_count && strcmp(g->tensors[t].name, name) == 0 ? t : GRAPH_NONE;
}

bool graph_count_elements(int rank, const int64_t *dim, int64_t *elements) {
  uint64_t count = 1;
  bool empty = false;
  for (int d = 0; d < rank; d++) {
    if (dim[d] < 0) return false;
    if (dim[d] == 0)
      empty = true;
    else if (__builtin_mul_overflow(count, (uint64_t)dim[d], &count) || count > GRAPH_ELEMENTS_MAX)
      return false;
  }
  *elements = empty ? 0 : (int64_t)count;
  return !empty || count <= GRAPH_EMPTY_MAX;
}

int64_t graph_elements(const graph_tensor *tensor) {
  int64_t elements;
  bool fits = graph_count_elements(tensor->rank, tensor->dim, &elements);
  assert(fits);
  return fits ? elements : 0;
}

size_t graph_bytes(const graph_tensor *tensor) {
  return (size_t)graph_elements(tensor) * graph_type_bytes(tensor->type);
}

bool graph_same_shape(const graph_tensor *a, const graph_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d] != b->dim[d]) return false;
  return true;
}
