// SPDX-License-Identifier: Apache-2.0
// See repeat.h.
#include "compiler/graph/repeat.h"

#include <string.h>

typedef struct repeater {
  const graph *from;
  graph *to;
  int run;
  int *tensors;  // of the run at hand, by tensor of the graph
} repeater;

static const char *name_of(const repeater *r, const char *name) {
  return r->run == 0 ? name : wf_arena_format(r->to->arena, "%s@%d", name, r->run + 1);
}

static void add_tensors(repeater *r) {
  for (int t = 0; t < r->from->tensor_count; t++) {
    graph_tensor tensor = r->from->tensors[t];
    if (tensor.data != NULL && r->run > 0) continue;
    tensor.name = name_of(r, tensor.name);
    r->tensors[t] = graph_add_tensor(r->to, &tensor);
  }
}

static int *tensors_of(const repeater *r, const int *from, int count) {
  int *to = WF_ARENA_ARRAY(r->to->arena, (size_t)count + 1, int);
  for (int i = 0; i < count; i++) to[i] = from[i] == GRAPH_NONE ? GRAPH_NONE : r->tensors[from[i]];
  return to;
}

static void set_attribute(graph *g, graph_node *node, const graph_attribute *a) {
  switch (a->kind) {
    case GRAPH_INT:
      graph_set_int(g, node, a->name, a->integer);
      return;
    case GRAPH_FLOAT:
      graph_set_float(g, node, a->name, a->number);
      return;
    case GRAPH_TEXT:
      graph_set_text(g, node, a->name, a->text);
      return;
    case GRAPH_INTS:
      graph_set_ints(g, node, a->name, a->integers, a->count);
      return;
    case GRAPH_FLOATS:
      graph_set_floats(g, node, a->name, a->numbers, a->count);
  }
}

static void add_nodes(const repeater *r) {
  for (int n = 0; n < r->from->node_count; n++) {
    const graph_node *from = &r->from->nodes[n];
    const int *inputs = tensors_of(r, from->inputs, from->input_count);
    const int *outputs = tensors_of(r, from->outputs, from->output_count);
    graph_node *node =
        graph_add_node(r->to, from->op, name_of(r, from->name), inputs, from->input_count, outputs, from->output_count);
    for (int a = 0; a < from->attribute_count; a++) set_attribute(r->to, node, &from->attributes[a]);
    node->place = from->place;
    node->reason = from->reason == NULL ? NULL : wf_arena_format(r->to->arena, "%s", from->reason);
  }
}

// The tensors of all runs so far, then those of this one.
static void add_ends(const repeater *r, int *ends, const int *from, int count) {
  memcpy(ends + (size_t)r->run * (size_t)count, tensors_of(r, from, count), (size_t)count * sizeof *ends);
}

graph *graph_repeat(const graph *g, int times) {
  repeater r = {.from = g, .to = graph_create(g->name)};
  wf_arena *arena = r.to->arena;
  r.tensors = WF_ARENA_ARRAY(arena, (size_t)g->tensor_count + 1, int);
  int *inputs = WF_ARENA_ARRAY(arena, (size_t)g->input_count * (size_t)times + 1, int);
  int *outputs = WF_ARENA_ARRAY(arena, (size_t)g->output_count * (size_t)times + 1, int);
  for (r.run = 0; r.run < times; r.run++) {
    add_tensors(&r);
    add_nodes(&r);
    add_ends(&r, inputs, g->inputs, g->input_count);
    add_ends(&r, outputs, g->outputs, g->output_count);
  }
  graph_set_ends(r.to, inputs, g->input_count * times, outputs, g->output_count * times);
  return r.to;
}
