// SPDX-License-Identifier: Apache-2.0
// `weft graph NET.onnx`: the graph of a model as the compiler sees it.
#include <string.h>

#include "cli/cli.h"
#include "cli/onnx_dims.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

static cJSON *tensors_json(const graph *g, const int *tensors, int count) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++) {
    const graph_tensor *t = &g->tensors[tensors[i]];
    cJSON *entry = cJSON_CreateObject(), *shape = cJSON_CreateArray();
    cJSON_AddStringToObject(entry, "name", t->name);
    cJSON_AddStringToObject(entry, "type", graph_type_names[t->type]);
    for (int d = 0; d < t->rank; d++) cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->dim[d]));
    cJSON_AddItemToObject(entry, "shape", shape);
    cJSON_AddItemToArray(list, entry);
  }
  return list;
}

static cJSON *operators_json(const graph *g) {
  cJSON *counts = cJSON_CreateObject();
  for (int op = 0; op < GRAPH_OP_COUNT; op++) {
    uint64_t count = 0;
    for (int n = 0; n < g->node_count; n++) count += (int)g->nodes[n].op == op;
    if (count != 0) cli_json_count(counts, graph_op_name((graph_op)op), count);
  }
  return counts;
}

static cJSON *graph_json(const graph *g, const char *file) {
  cJSON *document = cJSON_CreateObject();
  uint64_t constant_bytes = 0;
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data != NULL) constant_bytes += graph_bytes(&g->tensors[t]);
  cJSON_AddStringToObject(document, "file", file);
  cJSON_AddStringToObject(document, "name", g->name);
  cJSON_AddItemToObject(document, "inputs", tensors_json(g, g->inputs, g->input_count));
  cJSON_AddItemToObject(document, "outputs", tensors_json(g, g->outputs, g->output_count));
  cli_json_count(document, "nodes", (uint64_t)g->node_count);
  cJSON_AddItemToObject(document, "operators", operators_json(g));
  cJSON_AddNumberToObject(document, "macs", networks_macs(g));
  cJSON_AddNumberToObject(document, "parameters", networks_parameters(g));
  cli_json_count(document, "constant_bytes", constant_bytes);
  return document;
}

static bool find_stage(const char *text, quantise_stage *stage) {
  static const char *const names[] = {"model", "quantised", "placed"};
  for (int i = 0; i < 3; i++) {
    *stage = (quantise_stage)i;
    if (text == NULL || strcmp(text, names[i]) == 0) return true;
  }
  fprintf(stderr, "weft: error: --stage %s\n  hint: one of model, quantised, placed\n", text);
  return false;
}

// The graph as it is after a stage; NULL after the reason was reported. The model's is used up.
static graph *at_stage(graph *model, quantise_stage stage, wf_diag *diag) {
  if (model == NULL || stage == QUANTISE_STAGE_MODEL) return model;
  const quantise_options options = {.int8_ends = true};
  graph *g = quantise_network(model, &options, stage, diag);
  graph_destroy(model);
  return g;
}

typedef struct graph_arguments {
  bool all;
  const char *dims, *outputs, *values, *stage;
  uint64_t batch;
} graph_arguments;

static const wf_option graph_rows[] = {
    {"all", WF_FLAG(graph_arguments, all), NULL, "constants in full, so that the text reads back"},
    {"batch", WF_COUNT(graph_arguments, batch), "N", "first dimensions that the file leaves open (default 1)"},
    {"dims", WF_TEXT(graph_arguments, dims), "NAME=N,..", "other open dimensions, by name or as INPUT:AXIS"},
    {"outputs", WF_TEXT(graph_arguments, outputs), "NAME,..",
     "tensors or nodes at which the network ends, instead of the file's outputs"},
    {"values", WF_TEXT(graph_arguments, values), "FILE,..", ".pb files of inputs that are constants (also INPUT=FILE)"},
    {"stage", WF_TEXT(graph_arguments, stage), "STAGE",
     "model (default), quantised, placed: how far the compiler goes"},
};

cli_exit cli_graph(int argc, char **argv) {
  graph_arguments o = {0};
  static const cli_usage usage = {
      .verb = "graph",
      .synopsis = "NET.onnx",
      .text =
          "Reads an ONNX model (opset 1 to 21) and prints its graph: shapes inferred, constants\n"
          "folded, glue around shapes removed, one node per line.",
      .options = {CLI_OPTIONS(graph_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  cli_dims dims;
  cli_names outputs = {0};
  cli_values values = {0};
  quantise_stage stage;
  bool parsed = cli_dims_parse(&dims, o.dims, &diag) && cli_names_parse(&outputs, "outputs", o.outputs, &diag) &&
                find_stage(o.stage, &stage);
  const bool valued = parsed && cli_values_parse(&values, o.values, &diag);
  const onnx_options options = {.batch = (int64_t)o.batch,
                                .dims = dims.dims,
                                .dim_count = dims.count,
                                .values = values.values,
                                .value_count = values.count,
                                .outputs = outputs.names,
                                .output_count = outputs.count};
  graph *g = valued ? at_stage(onnx_read(argv[0], &options, &diag), stage, &diag) : NULL;
  const bool written = g == NULL || common.json == NULL || cli_write_json(common.json, graph_json(g, argv[0]), &diag);
  if (g != NULL && !common.quiet && (common.json == NULL || strcmp(common.json, "-") != 0))
    graph_print(g, o.all, stdout);
  graph_destroy(g);
  cli_dims_release(&dims);
  cli_names_release(&outputs);
  cli_values_release(&values);
  return !parsed ? CLI_USAGE : diag.errors == 0 && written ? CLI_OK : CLI_BAD_INPUT;
}
