// SPDX-License-Identifier: Apache-2.0
// If. Its branches read what stands around them; their own names end with them. With a constant condition the nodes of
// the branch that it chooses stand in its place. Otherwise those of both do, and Where chooses among their results,
// which have to be of one type and shape.
#include <string.h>

#include "base/alloc.h"
#include "compiler/onnx/private.h"

static const Onnx__GraphProto *find_branch(const Onnx__NodeProto *from, const char *name) {
  for (size_t i = 0; i < from->n_attribute; i++)
    if (from->attribute[i]->name != NULL && strcmp(from->attribute[i]->name, name) == 0) return from->attribute[i]->g;
  return NULL;
}

static bool find_results(onnx_reader *r, const onnx_node *n, const Onnx__GraphProto *branch, int *results) {
  for (size_t o = 0; o < branch->n_output; o++) {
    const char *name = branch->output[o]->name;
    results[o] = name == NULL ? GRAPH_NONE : onnx_find_value(r, name);
    if (results[o] == GRAPH_NONE) return onnx_node_fail(r, n, "its branch does not make its result %zu", o);
  }
  return true;
}

static bool read_branch(onnx_reader *r, const onnx_node *n, const char *name, int *results) {
  const Onnx__GraphProto *branch = find_branch(n->from, name);
  if (branch == NULL || branch->n_output != n->from->n_output)
    return onnx_node_fail(r, n, "its branch is missing or has another number of results");
  if (branch->n_input != 0) return onnx_node_fail(r, n, "its branch has inputs");
  onnx_scope inner = {graph_names_create(), r->scope};
  r->scope = &inner;
  const bool ok = onnx_read_nodes(r, branch) && find_results(r, n, branch, results);
  r->scope = inner.around;
  graph_names_destroy(inner.names);
  return ok;
}

// A condition of one element without dimensions, which widens no result.
static int plain_condition(onnx_reader *r, const onnx_node *n) {
  const graph_node none = {0};
  static const int64_t nothing[1];
  const graph_tensor shape = {.type = GRAPH_I64, .rank = 1, .dim = {0}, .data = nothing};
  if (r->g->tensors[n->inputs[0]].rank == 0) return n->inputs[0];
  const int inputs[] = {n->inputs[0], onnx_new_tensor(r, n->name, &shape)};
  return onnx_insert(r, n, GRAPH_OP_RESHAPE, &none, inputs, 2);
}

static int choice(onnx_reader *r, const onnx_node *n, int condition, int then, int other) {
  const graph_node none = {0};
  const graph_tensor *a = &r->g->tensors[then], *b = &r->g->tensors[other];
  if (then == other) return then;
  if (a->type != b->type || !graph_same_shape(a, b)) {
    onnx_node_fail(r, n, "its branches give results of different types or shapes, and its condition is no constant");
    return GRAPH_NONE;
  }
  return onnx_insert(r, n, GRAPH_OP_WHERE, &none, (const int[]){condition, then, other}, 3);
}

static bool choose_later(onnx_reader *r, const onnx_node *n, int *results, int *others) {
  if (!read_branch(r, n, "then_branch", results) || !read_branch(r, n, "else_branch", others)) return false;
  const int condition = plain_condition(r, n);
  bool ok = condition != GRAPH_NONE;
  for (size_t o = 0; o < n->from->n_output && ok; o++) {
    results[o] = choice(r, n, condition, results[o], others[o]);
    ok = results[o] != GRAPH_NONE;
  }
  return ok;
}

static bool choose(onnx_reader *r, const onnx_node *n, int *results, int *others) {
  const graph_tensor *condition = &r->g->tensors[n->inputs[0]];
  if (condition->type != GRAPH_BOOL || graph_elements(condition) != 1)
    return onnx_node_fail(r, n, "its condition has to be one bool");
  if (condition->data == NULL) return choose_later(r, n, results, others);
  return read_branch(r, n, *(const uint8_t *)condition->data != 0 ? "then_branch" : "else_branch", results);
}

bool onnx_branch(onnx_reader *r, onnx_node *n) {
  if (!onnx_resolve_inputs(r, n)) return false;
  if (n->input_count != 1 || n->inputs[0] == GRAPH_NONE) return onnx_node_fail(r, n, "it has no condition");
  int *results = WF_NEW_ARRAY(2 * n->from->n_output + 2, int);
  bool ok = choose(r, n, results, results + n->from->n_output);
  for (size_t o = 0; o < n->from->n_output && ok; o++) ok = onnx_name_result(r, n, o, results[o]);
  wf_free(results);
  return ok;
}
