// SPDX-License-Identifier: Apache-2.0
// Whether a graph is well formed: see graph.h. Reports every violation with the node's or the tensor's name.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/names.h"

typedef struct verifier {
  const graph *g;
  wf_diag *diag;
  bool *made;  // by tensor: a constant, an input, or the result of a node so far
  bool ok;
} verifier;

#define VIOLATION(v, ...)                                       \
  do {                                                          \
    wf_error((v)->diag, wf_in_file((v)->g->name), __VA_ARGS__); \
    (v)->ok = false;                                            \
  } while (false)

static bool in_range(const verifier *v, int tensor) { return tensor >= 0 && tensor < v->g->tensor_count; }

static void check_tensor(verifier *v, const graph_tensor *t) {
  int64_t elements;
  if (t->rank < 0 || t->rank > GRAPH_RANK_MAX)
    VIOLATION(v, "tensor '%s' has %d dimensions", t->name, t->rank);
  else if (!graph_count_elements(t->rank, t->dim, &elements))
    VIOLATION(v, "tensor '%s' has an impossible shape", t->name);
  if ((unsigned)t->type >= GRAPH_TYPE_COUNT) VIOLATION(v, "tensor '%s' has no type", t->name);
  if (!(t->scale >= 0.0f)) VIOLATION(v, "tensor '%s' has the scale %g", t->name, (double)t->scale);
}

static void check_names(verifier *v) {
  graph_names *tensors = graph_names_create(), *nodes = graph_names_create();
  for (int t = 0; t < v->g->tensor_count; t++) {
    const char *name = v->g->tensors[t].name;
    if (name[0] == '\0') VIOLATION(v, "tensor %d has no name", t);
    if (graph_names_find(tensors, name) != GRAPH_NONE) VIOLATION(v, "two tensors are named '%s'", name);
    graph_names_add(tensors, name, t);
  }
  for (int n = 0; n < v->g->node_count; n++) {
    const char *name = v->g->nodes[n].name;
    if (name[0] == '\0') VIOLATION(v, "node %d has no name", n);
    if (graph_names_find(nodes, name) != GRAPH_NONE) VIOLATION(v, "two nodes are named '%s'", name);
    graph_names_add(nodes, name, n);
  }
  graph_names_destroy(tensors);
  graph_names_destroy(nodes);
}

static void make(verifier *v, int tensor, const char *by) {
  if (!in_range(v, tensor)) {
    VIOLATION(v, "%s makes a tensor that is not there", by);
  } else if (v->made[tensor]) {
    VIOLATION(v, "tensor '%s' is made a second time by %s", v->g->tensors[tensor].name, by);
  } else {
    v->made[tensor] = true;
  }
}

static void check_count(verifier *v, const graph_node *node, const char *what, int count, int least, int most) {
  if (count < least || count > most)
    VIOLATION(v, "node '%s' (%s) has %d %s instead of %d to %d", node->name, graph_op_name(node->op), count, what,
              least, most);
}

static void check_node(verifier *v, const graph_node *node) {
  const graph_op_row *row = graph_op_info(node->op);
  check_count(v, node, "inputs", node->input_count, row->least_inputs, row->most_inputs);
  check_count(v, node, "outputs", node->output_count, row->least_outputs, row->most_outputs);
  for (int i = 0; i < node->input_count; i++) {
    int tensor = node->inputs[i];
    if (tensor == GRAPH_NONE) continue;
    if (!in_range(v, tensor))
      VIOLATION(v, "node '%s' reads a tensor that is not there", node->name);
    else if (!v->made[tensor])
      VIOLATION(v, "node '%s' reads '%s' before it is made", node->name, v->g->tensors[tensor].name);
  }
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) make(v, node->outputs[o], node->name);
}

// What the operator says of its results. Only for nodes whose inputs are in order.
static void check_results(verifier *v, const graph_node *node) {
  wf_arena *arena = wf_arena_create();
  graph_call c;
  graph_call_prepare(&c, v->g, node, arena);
  if (!graph_call_infer(&c)) VIOLATION(v, "node '%s' (%s): %s", node->name, graph_op_name(node->op), c.message);
  for (int o = 0; o < node->output_count && v->ok; o++) {
    if (node->outputs[o] == GRAPH_NONE) continue;
    const graph_tensor *t = &v->g->tensors[node->outputs[o]];
    if (c.out[o]->type != t->type || !graph_same_shape(c.out[o], t))
      VIOLATION(v, "tensor '%s' is not what node '%s' (%s) makes", t->name, node->name, graph_op_name(node->op));
  }
  wf_arena_destroy(arena);
}

static void check_flow(verifier *v) {
  const graph *g = v->g;
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data != NULL) v->made[t] = true;
  for (int i = 0; i < g->input_count; i++) make(v, g->inputs[i], "the graph's inputs");
  for (int n = 0; n < g->node_count; n++) {
    if ((unsigned)g->nodes[n].op >= GRAPH_OP_COUNT)
      VIOLATION(v, "node '%s' has no operator", g->nodes[n].name);
    else
      check_node(v, &g->nodes[n]);
    if (v->ok) check_results(v, &g->nodes[n]);
  }
  for (int o = 0; o < g->output_count; o++)
    if (!in_range(v, g->outputs[o]) || !v->made[g->outputs[o]]) VIOLATION(v, "output %d is not made", o);
}

bool graph_verify(const graph *g, wf_diag *diag) {
  verifier v = {.g = g, .diag = diag, .ok = true};
  for (int t = 0; t < g->tensor_count; t++) check_tensor(&v, &g->tensors[t]);
  check_names(&v);
  v.made = WF_NEW_ARRAY((size_t)g->tensor_count + 1, bool);
  check_flow(&v);
  wf_free(v.made);
  return v.ok;
}
