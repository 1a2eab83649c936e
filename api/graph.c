// SPDX-License-Identifier: Apache-2.0
// Graphs of ONNX files as the compiler sees them. See weft.h.
#include "api/graph.h"

#include <stdlib.h>

#include "api/run.h"
#include "base/alloc.h"
#include "compiler/network/target.h"
#include "compiler/onnx/onnx.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

enum { LIST_MAX = 1024 };  // of dimensions, outputs and constants

struct weft_graph {
  graph *graph;
  uint64_t counts[GRAPH_OP_COUNT];  // of nodes
};

static const char *const stages[] = {"model", "quantised", "placed"};
enum { STAGES = sizeof stages / sizeof *stages };

// What is read for a graph, apart from its file.
typedef struct reading {
  const weft_graph_options *options;
  wf_arena *arena;
  onnx_dim *dims;
  onnx_value *values;
} reading;

// ---- options

static bool list_good(weft_session *s, const void *list, uint32_t count, const char *what) {
  if (count > LIST_MAX) return api_refuse(s, "%s are at most %d", what, LIST_MAX), false;
  return count == 0 || api_given(s, list, what);
}

bool api_names(weft_session *s, const char *const *names, uint32_t count, const char *what) {
  if (!list_good(s, names, count, what)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!api_given(s, names[i], what)) return false;
  return true;
}

bool api_graph_options(weft_session *s, const weft_graph_options *o) {
  return api_names(s, o->dim_names, o->dims, "names of dimensions") &&
         list_good(s, o->dim_values, o->dims, "values of dimensions") &&
         api_names(s, o->outputs, o->output_count, "outputs") &&
         api_names(s, o->constants, o->constant_count, "constants");
}

static bool read_constant(reading *r, uint32_t i, wf_diag *diag) {
  const weft_graph_options *o = r->options;
  graph_tensor *tensor = wf_arena_alloc(r->arena, 1, sizeof *tensor);
  if (!onnx_read_tensor(o->constants[i], r->arena, tensor, diag)) return false;
  const char *input = o->constants_for == NULL ? NULL : o->constants_for[i];
  r->values[i] = (onnx_value){input == NULL ? tensor->name : input, tensor};
  return true;
}

static bool gather(reading *r, wf_diag *diag) {
  const weft_graph_options *o = r->options;
  r->dims = WF_NEW_ARRAY(o->dims, onnx_dim);
  r->values = WF_NEW_ARRAY(o->constant_count, onnx_value);
  for (uint32_t i = 0; i < o->dims; i++) r->dims[i] = (onnx_dim){o->dim_names[i], o->dim_values[i]};
  for (uint32_t i = 0; i < o->constant_count; i++)
    if (!read_constant(r, i, diag)) return false;
  return true;
}

// ---- reading

graph *api_read_model(const char *path, const weft_graph_options *o, wf_diag *diag) {
  reading r = {.options = o, .arena = wf_arena_create()};
  graph *model = NULL;
  if (gather(&r, diag)) {
    const onnx_options options = {.batch = (int64_t)o->batch,
                                  .dims = r.dims,
                                  .dim_count = (int)o->dims,
                                  .values = r.values,
                                  .value_count = (int)o->constant_count,
                                  .outputs = o->outputs,
                                  .output_count = (int)o->output_count};
    model = onnx_read(path, &options, diag);
  }
  wf_free(r.values);
  wf_free(r.dims);
  wf_arena_destroy(r.arena);
  return model;
}

// The graph as it is after a stage; NULL after the reason was reported. The model's is used up.
static graph *at_stage(graph *model, quantise_stage stage, const weft_array *array, wf_diag *diag) {
  if (model == NULL || stage == QUANTISE_STAGE_MODEL) return model;
  quantise_options options = {.int8_ends = true};
  if (array != NULL) options.target = network_target(&array->array);
  graph *g = quantise_network(model, &options, stage, diag);
  graph_destroy(model);
  return g;
}

weft_graph *weft_graph_read(weft_session *s, const char *path, const weft_graph_options *options) {
  weft_graph_options o = {0};
  if (!api_begin(s, "graph") || !api_given(s, path, "the path") || !api_take(s, options, &o, sizeof o) ||
      !api_graph_options(s, &o))
    return NULL;
  const int stage = api_choice(s, "stage", o.stage, stages, STAGES);
  if (stage < 0) return NULL;
  graph *g = at_stage(api_read_model(path, &o, &s->diag), (quantise_stage)stage, o.array, &s->diag);
  if (api_end(s, g != NULL, WEFT_BAD_INPUT) != WEFT_OK) return NULL;
  weft_graph *read = WF_NEW(weft_graph);
  read->graph = g;
  for (int n = 0; n < g->node_count; n++) read->counts[g->nodes[n].op]++;
  return read;
}

void weft_graph_destroy(weft_graph *from) {
  if (from == NULL) return;
  graph_destroy(from->graph);
  wf_free(from);
}

// ---- what it holds

static uint64_t constant_bytes(const graph *g) {
  uint64_t bytes = 0;
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data != NULL) bytes += graph_bytes(&g->tensors[t]);
  return bytes;
}

weft_status weft_graph_describe(const weft_graph *of, weft_graph_facts *facts) {
  if (of == NULL) return WEFT_USAGE;
  const weft_graph_facts full = {.name = of->graph->name,
                                 .nodes = (uint64_t)of->graph->node_count,
                                 .macs = networks_macs(of->graph),
                                 .parameters = networks_parameters(of->graph),
                                 .constant_bytes = constant_bytes(of->graph)};
  return api_give(&full, sizeof full, facts);
}

weft_status weft_graph_input(const weft_graph *of, size_t index, weft_tensor *tensor) {
  if (of == NULL || index >= (size_t)of->graph->input_count) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(of->graph, of->graph->inputs[index], false);
  return api_give(&full, sizeof full, tensor);
}

weft_status weft_graph_output(const weft_graph *of, size_t index, weft_tensor *tensor) {
  if (of == NULL || index >= (size_t)of->graph->output_count) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(of->graph, of->graph->outputs[index], true);
  return api_give(&full, sizeof full, tensor);
}

weft_status weft_graph_operator(const weft_graph *of, size_t index, weft_operator *row) {
  for (int op = 0; of != NULL && op < GRAPH_OP_COUNT; op++) {
    const weft_operator full = {.name = graph_op_name((graph_op)op), .count = of->counts[op]};
    if (full.count != 0 && index-- == 0) return api_give(&full, sizeof full, row);
  }
  return WEFT_USAGE;
}

char *weft_graph_text(weft_session *s, const weft_graph *of, bool constants) {
  if (!api_begin(s, "graph") || !api_given(s, of, "the graph")) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out != NULL) {
    graph_print(of->graph, constants, out);
    fclose(out);
  }
  api_end(s, text != NULL, WEFT_CANNOT_BUILD);
  return text;
}
