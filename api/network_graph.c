// SPDX-License-Identifier: Apache-2.0
// The graph of a network as JSON: see network_graph.h. A tensor comes from one place, the node or the input of the
// graph that makes it; every use of it by a node or an output is an edge. Nodes that a graph's text would show in an
// order stay in it, so an edge always leads to a later place of the list.
#include "api/network_graph.h"

#include "api/steps.h"
#include "base/alloc.h"
#include "base/json.h"

enum { SHAPE = 128, NOWHERE = -1 };

// Where each tensor of the graph comes from, and the lists that grow.
typedef struct graph_writer {
  const graph *g;
  int *source;  // per tensor: a place in the list of nodes, NOWHERE: it is a constant
  int *number;  // per tensor: a place in the list of tensors, NOWHERE: not there yet
  cJSON *nodes, *edges, *tensors;
  int tensor_count;
} graph_writer;

static cJSON *add_node(const graph_writer *w, const char *name, const char *operator_name, int tensor) {
  char shape[SHAPE];
  cJSON *object = cJSON_CreateObject();
  api_tensor_text(&w->g->tensors[tensor], shape, sizeof shape);
  cJSON_AddStringToObject(object, "name", name);
  cJSON_AddStringToObject(object, "operator", operator_name);
  cJSON_AddStringToObject(object, "result", shape);
  cJSON_AddItemToArray(w->nodes, object);
  return object;
}

static int number_of(graph_writer *w, int tensor) {
  const graph_tensor *t = &w->g->tensors[tensor];
  char shape[SHAPE];
  if (w->number[tensor] != NOWHERE) return w->number[tensor];
  api_tensor_text(t, shape, sizeof shape);
  cJSON_AddItemToArray(w->tensors, cJSON_CreateStringArray((const char *[]){t->name, shape}, 2));
  return w->number[tensor] = w->tensor_count++;
}

static void add_edge(graph_writer *w, int tensor, int to) {
  if (tensor == GRAPH_NONE || w->source[tensor] == NOWHERE) return;
  const int edge[] = {w->source[tensor], to, number_of(w, tensor)};
  cJSON_AddItemToArray(w->edges, cJSON_CreateIntArray(edge, sizeof edge / sizeof *edge));
}

static uint64_t constant_bytes(const graph *g, const graph_node *node) {
  uint64_t bytes = 0;
  for (int i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && g->tensors[node->inputs[i]].data != NULL)
      bytes += graph_bytes(&g->tensors[node->inputs[i]]);
  return bytes;
}

static void write_inputs(graph_writer *w) {
  for (int i = 0; i < w->g->input_count; i++) {
    const int tensor = w->g->inputs[i];
    w->source[tensor] = i;
    add_node(w, w->g->tensors[tensor].name, "input", tensor);
  }
}

static void write_node(graph_writer *w, const graph_node *node, int place) {
  cJSON *object = add_node(w, node->name, graph_op_name(node->op), node->outputs[0]);
  const uint64_t constants = constant_bytes(w->g, node);
  if (constants > 0) wf_json_count(object, "constant_bytes", constants);
  if (node->reason != NULL) cJSON_AddStringToObject(object, "reason", node->reason);
  for (int i = 0; i < node->input_count; i++) add_edge(w, node->inputs[i], place);
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) w->source[node->outputs[o]] = place;
}

static void write_outputs(graph_writer *w, int place) {
  for (int o = 0; o < w->g->output_count; o++) {
    const int tensor = w->g->outputs[o];
    add_node(w, w->g->tensors[tensor].name, "output", tensor);
    add_edge(w, tensor, place + o);
  }
}

static int *filled(int count) {
  int *list = WF_NEW_ARRAY((size_t)count + 1, int);
  for (int i = 0; i < count; i++) list[i] = NOWHERE;
  return list;
}

cJSON *api_network_graph_json(const network *net) {
  const graph *g = net->graph;
  cJSON *document = cJSON_CreateObject();
  graph_writer w = {g, filled(g->tensor_count), filled(g->tensor_count), NULL, NULL, NULL, 0};
  w.nodes = cJSON_AddArrayToObject(document, "nodes");
  w.edges = cJSON_AddArrayToObject(document, "edges");
  w.tensors = cJSON_AddArrayToObject(document, "tensors");
  write_inputs(&w);
  for (int n = 0; n < g->node_count; n++) write_node(&w, &g->nodes[n], g->input_count + n);
  write_outputs(&w, g->input_count + g->node_count);
  wf_free(w.source);
  wf_free(w.number);
  return document;
}

static int place_of(const graph *g, const graph_node *node) { return g->input_count + (int)(node - g->nodes); }

cJSON *api_network_graph_step_json(const network *net, const network_step *step) {
  cJSON *list = cJSON_CreateArray();
  cJSON_AddItemToArray(list, cJSON_CreateNumber(place_of(net->graph, step->node)));
  for (int n = 0; n < step->also_count; n++)
    cJSON_AddItemToArray(list, cJSON_CreateNumber(place_of(net->graph, step->also[n])));
  return list;
}
