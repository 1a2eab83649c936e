// SPDX-License-Identifier: Apache-2.0
// Names of tensors and nodes, each once in the graph: those of the file, but where an exporter counted tensors up, the
// operator or node that makes the tensor.
#include <string.h>

#include "base/alloc.h"
#include "compiler/onnx/private.h"

int onnx_find_value(const onnx_reader *r, const char *name) {
  int found = GRAPH_NONE;
  for (const onnx_scope *s = r->scope; s != NULL && found == GRAPH_NONE; s = s->around)
    found = graph_names_find(s->names, name);
  return found;
}

const char *onnx_unique(onnx_reader *r, graph_names *taken, const char *base) {
  const char *name = graph_names_unused(taken, r->g->arena, base, ".", 1);
  name = wf_arena_text(r->g->arena, name, strlen(name));
  graph_names_add(taken, name, 0);
  return name;
}

int onnx_new_tensor(onnx_reader *r, const char *base, const graph_tensor *tensor) {
  graph_tensor t = *tensor;
  t.name = onnx_unique(r, r->tensors, base);
  return graph_add_tensor(r->g, &t);
}

int onnx_named_tensor(onnx_reader *r, const char *name, const graph_tensor *tensor) {
  int index = onnx_new_tensor(r, name, tensor);
  graph_names_add(r->scope->names, name, index);
  return index;
}

// Whether the file's node has a name that says more than that of its result: `input.2` may be counted or a module's.
static bool is_named_better(const onnx_node *n, const char *result) {
  const char *own = n->from->name;
  if (graph_names_is_number(result)) return true;
  return graph_names_may_be_counted(result) && own != NULL && *own != '\0' && !graph_names_may_be_counted(own);
}

int onnx_named_result(onnx_reader *r, const onnx_node *n, size_t o) {
  const graph_tensor open = {0};
  const char *name = n->from->output[o];
  if (!is_named_better(n, name)) return onnx_named_tensor(r, name, &open);
  const int tensor = onnx_new_tensor(r, n->name, &open);
  graph_names_add(r->scope->names, name, tensor);
  return tensor;
}

// ---- outputs

static void name_output(onnx_reader *r, int o, const char *name, bool shared) {
  graph *g = r->g;
  int tensor = g->outputs[o];
  if (strcmp(g->tensors[tensor].name, name) == 0) return;
  int old = graph_find_tensor(g, name);
  if (old != GRAPH_NONE) graph_rename_tensor(g, old, onnx_unique(r, r->tensors, name));
  if (!shared) {
    graph_rename_tensor(g, tensor, name);
    return;
  }
  graph_tensor copy = g->tensors[tensor];
  copy.name = name;
  copy.data = NULL;
  g->outputs[o] = graph_add_tensor(g, &copy);
  char *base = wf_format("%s.copy", name);
  graph_add_node(g, GRAPH_OP_IDENTITY, onnx_unique(r, r->nodes, base), &tensor, 1, &g->outputs[o], 1);
  wf_free(base);
}

// What is an input or another output, too, keeps its name, and a copy gets the new one.
void onnx_name_outputs(onnx_reader *r, const onnx_cut *cut) {
  graph *g = r->g;
  bool *is_end = WF_NEW_ARRAY((size_t)g->tensor_count + 1, bool);
  for (int i = 0; i < g->input_count; i++) is_end[g->inputs[i]] = true;
  for (int o = 0; o < g->output_count; o++) {
    const int tensor = g->outputs[o];
    name_output(r, o, cut->outputs[o], is_end[tensor]);
    is_end[tensor] = true;
  }
  wf_free(is_end);
}
