// SPDX-License-Identifier: Apache-2.0
// Runs a graph node by node: see run.h. Values live from the node that makes them to the last one that reads them.
#include "compiler/graph/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"

static void report(const graph_call *c, const char *file, wf_diag *diag) {
  wf_error(diag, wf_in_file(file), "node '%s' (%s): %s", c->node->name, graph_op_name(c->node->op), c->message);
}

bool graph_infer(graph *g, graph_node *node, const char *file, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  graph_call c;
  graph_call_prepare(&c, g, node, arena);
  bool ok = graph_call_infer(&c);
  if (!ok) report(&c, file, diag);
  for (int o = 0; o < node->output_count && ok; o++) {
    if (node->outputs[o] == GRAPH_NONE) continue;
    graph_tensor *t = &g->tensors[node->outputs[o]];
    t->type = c.out[o]->type;
    t->rank = c.out[o]->rank;
    memcpy(t->dim, c.out[o]->dim, sizeof t->dim);
  }
  wf_arena_destroy(arena);
  return ok;
}

// ---- running

typedef struct runner {
  const graph *g;
  const graph_run_options *options;
  wf_diag *diag;
  void **values;  // by tensor
  int *last;      // node that reads a tensor last; node_count: an output; -1: no node
  bool *owned;    // the value is ours to free
} runner;

static void find_last(runner *r) {
  const graph *g = r->g;
  for (int t = 0; t < g->tensor_count; t++) r->last[t] = -1;
  for (int n = 0; n < g->node_count; n++)
    for (int i = 0; i < g->nodes[n].input_count; i++)
      if (g->nodes[n].inputs[i] != GRAPH_NONE) r->last[g->nodes[n].inputs[i]] = n;
  for (int o = 0; o < g->output_count; o++) r->last[g->outputs[o]] = g->node_count;
}

static void set_inputs(runner *r, const void *const *inputs) {
  for (int t = 0; t < r->g->tensor_count; t++) r->values[t] = (void *)(uintptr_t)r->g->tensors[t].data;
  for (int i = 0; i < r->g->input_count; i++) r->values[r->g->inputs[i]] = (void *)(uintptr_t)inputs[i];
}

static void release(runner *r, int tensor) {
  if (!r->owned[tensor]) return;
  wf_free(r->values[tensor]);
  r->values[tensor] = NULL;
  r->owned[tensor] = false;
}

static void release_behind(runner *r, int n) {
  const graph_node *node = &r->g->nodes[n];
  for (int i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && r->last[node->inputs[i]] == n) release(r, node->inputs[i]);
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE && r->last[node->outputs[o]] == -1) release(r, node->outputs[o]);
}

static bool run_node(runner *r, int n, wf_arena *arena) {
  const graph_node *node = &r->g->nodes[n];
  graph_call c;
  graph_call_prepare(&c, r->g, node, arena);
  for (int i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == GRAPH_NONE) continue;
    graph_tensor *in = WF_ARENA_NEW(arena, graph_tensor);
    *in = *c.in[i];
    in->data = r->values[node->inputs[i]];
    c.in[i] = in;
  }
  for (int o = 0; o < node->output_count; o++) {
    int tensor = node->outputs[o];
    if (tensor == GRAPH_NONE) continue;
    r->values[tensor] = c.to[o] = wf_alloc(graph_bytes(&r->g->tensors[tensor]) + 1, 1);
    r->owned[tensor] = true;
  }
  if (!graph_call_run(&c)) {
    report(&c, r->options->file, r->diag);
    return false;
  }
  return r->options->after == NULL || r->options->after(r->options->context, r->g, node, r->values);
}

static bool run_nodes(runner *r) {
  bool ok = true;
  for (int n = 0; n < r->g->node_count && ok; n++) {
    wf_arena *arena = wf_arena_create();
    ok = run_node(r, n, arena);
    wf_arena_destroy(arena);
    if (ok) release_behind(r, n);
  }
  return ok;
}

bool graph_run(const graph *g, const void *const *inputs, void *const *outputs, const graph_run_options *options,
               wf_diag *diag) {
  static const graph_run_options none = {0};
  size_t count = (size_t)g->tensor_count + 1;
  runner r = {.g = g, .options = options != NULL ? options : &none, .diag = diag};
  r.values = WF_NEW_ARRAY(count, void *);
  r.last = WF_NEW_ARRAY(count, int);
  r.owned = WF_NEW_ARRAY(count, bool);
  find_last(&r);
  set_inputs(&r, inputs);
  bool ok = run_nodes(&r);
  for (int o = 0; o < g->output_count && ok; o++)
    if (outputs[o] != NULL) memcpy(outputs[o], r.values[g->outputs[o]], graph_bytes(&g->tensors[g->outputs[o]]));
  for (int t = 0; t < g->tensor_count; t++) release(&r, t);
  wf_free(r.values);
  wf_free(r.last);
  wf_free(r.owned);
  return ok;
}
