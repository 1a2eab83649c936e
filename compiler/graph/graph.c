// SPDX-License-Identifier: Apache-2.0
// Graphs as data: tensors, nodes and names. Everything is in the graph's arena; arrays grow by doubling, so pointers to
// nodes and tensors hold until the next one is added.
#include "compiler/graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

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
  return g;
}

void graph_destroy(graph *g) {
  if (g != NULL) wf_arena_destroy(g->arena);
}

int graph_add_tensor(graph *g, const graph_tensor *tensor) {
  g->tensors = wf_arena_grow(g->arena, g->tensors, (size_t)g->tensor_count, &g->tensor_room, sizeof g->tensors[0]);
  graph_tensor *added = &g->tensors[g->tensor_count];
  *added = *tensor;
  added->name = wf_arena_text(g->arena, tensor->name, strlen(tensor->name));
  return g->tensor_count++;
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
  return node;
}

void graph_set_ends(graph *g, const int *inputs, int input_count, const int *outputs, int output_count) {
  g->inputs = copy_indices(g, inputs, input_count);
  g->input_count = input_count;
  g->outputs = copy_indices(g, outputs, output_count);
  g->output_count = output_count;
}

int graph_find_tensor(const graph *g, const char *name) {
  for (int t = 0; t < g->tensor_count; t++)
    if (strcmp(g->tensors[t].name, name) == 0) return t;
  return GRAPH_NONE;
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
