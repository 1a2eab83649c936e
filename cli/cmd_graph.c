// SPDX-License-Identifier: Apache-2.0
// `weft graph NET.onnx`: the graph of a model as the compiler sees it.
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/onnx_dims.h"

// ---- JSON

typedef weft_status tensor_at(const weft_graph *graph, size_t index, weft_tensor *tensor);

static cJSON *tensors_json(const weft_graph *g, tensor_at *at) {
  cJSON *list = cJSON_CreateArray();
  weft_tensor t = {.size = sizeof t};
  for (size_t i = 0; at(g, i, &t) == WEFT_OK; i++) {
    cJSON *entry = cJSON_CreateObject(), *shape = cJSON_CreateArray();
    cJSON_AddStringToObject(entry, "name", t.name);
    cJSON_AddStringToObject(entry, "type", t.type);
    for (int d = 0; d < t.rank; d++) cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t.dim[d]));
    cJSON_AddItemToObject(entry, "shape", shape);
    cJSON_AddItemToArray(list, entry);
  }
  return list;
}

static cJSON *operators_json(const weft_graph *g) {
  cJSON *counts = cJSON_CreateObject();
  weft_operator row = {.size = sizeof row};
  for (size_t i = 0; weft_graph_operator(g, i, &row) == WEFT_OK; i++) wf_json_count(counts, row.name, row.count);
  return counts;
}

static cJSON *graph_json(const weft_graph *g, const char *file) {
  cJSON *document = cJSON_CreateObject();
  weft_graph_facts facts = {.size = sizeof facts};
  weft_graph_describe(g, &facts);
  cJSON_AddStringToObject(document, "file", file);
  cJSON_AddStringToObject(document, "name", facts.name);
  cJSON_AddItemToObject(document, "inputs", tensors_json(g, weft_graph_input));
  cJSON_AddItemToObject(document, "outputs", tensors_json(g, weft_graph_output));
  wf_json_count(document, "nodes", facts.nodes);
  cJSON_AddItemToObject(document, "operators", operators_json(g));
  cJSON_AddNumberToObject(document, "macs", facts.macs);
  cJSON_AddNumberToObject(document, "parameters", facts.parameters);
  wf_json_count(document, "constant_bytes", facts.constant_bytes);
  return document;
}

// ---- the verb

static bool stage_good(const char *text) {
  static const char *const names[] = {"model", "quantised", "placed"};
  for (int i = 0; i < 3; i++)
    if (text == NULL || strcmp(text, names[i]) == 0) return true;
  fprintf(stderr, "weft: error: --stage %s\n  hint: one of model, quantised, placed\n", text);
  return false;
}

// A model is the same for all arrays.
static bool array_good(const cli_common *common, const char *stage) {
  if (common->array == NULL || (stage != NULL && strcmp(stage, "model") != 0)) return true;
  fputs("weft: error: --array is for stages behind the model\n  hint: --stage placed\n", stderr);
  return false;
}

typedef struct graph_arguments {
  bool all;
  const char *dims, *outputs, *values, *stage;
  uint64_t batch;
} graph_arguments;

// The options that are lists.
typedef struct graph_lists {
  cli_dims dims;
  cli_names outputs;
  cli_values values;
} graph_lists;

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

static weft_graph *read_graph(weft_session *s, const char *path, const graph_arguments *o, const graph_lists *lists,
                              const weft_array *array) {
  const weft_graph_options options = {.size = sizeof options,
                                      .stage = o->stage,
                                      .batch = o->batch,
                                      .dim_names = lists->dims.names,
                                      .dim_values = lists->dims.values,
                                      .outputs = lists->outputs.names,
                                      .constants = lists->values.files,
                                      .constants_for = lists->values.inputs,
                                      .dims = (uint32_t)lists->dims.count,
                                      .output_count = (uint32_t)lists->outputs.count,
                                      .constant_count = (uint32_t)lists->values.entries.count,
                                      .array = array};
  weft_graph *g = weft_graph_read(s, path, &options);
  cli_messages(s);
  return g;
}

static bool print_graph(weft_session *s, const weft_graph *g, bool all) {
  char *text = weft_graph_text(s, g, all);
  if (text != NULL) fputs(text, stdout);
  weft_free(text);
  return cli_messages(s);
}

static cli_exit show(const cli_common *common, const char *path, const graph_arguments *o, const graph_lists *lists) {
  weft_session *s = weft_session_create();
  weft_array *array = common->array == NULL ? NULL : cli_open_array(common, s);
  weft_graph *g = common->array != NULL && array == NULL ? NULL : read_graph(s, path, o, lists, array);
  bool good = g != NULL && cli_put_json(common, common->json == NULL ? NULL : graph_json(g, path)) == CLI_OK;
  if (g != NULL && cli_prints(common)) good = print_graph(s, g, o->all) && good;
  weft_graph_destroy(g);
  weft_array_destroy(array);
  weft_session_destroy(s);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit parse_and_show(const cli_common *common, const char *path, const graph_arguments *o, graph_lists *l) {
  if (!cli_dims_parse(&l->dims, o->dims) || !cli_names_parse(&l->outputs, "outputs", o->outputs) ||
      !stage_good(o->stage) || !array_good(common, o->stage))
    return CLI_USAGE;
  return cli_values_parse(&l->values, o->values) ? show(common, path, o, l) : CLI_BAD_INPUT;
}

cli_exit cli_graph(int argc, char **argv) {
  graph_arguments o = {0};
  static const cli_usage usage = {
      .verb = "graph",
      .synopsis = "NET.onnx",
      .text =
          "Reads an ONNX model (opset 1 to 21) and prints its graph: shapes inferred, constants\n"
          "folded, glue around shapes removed, one node per line. Stages behind the model are what\n"
          "every array can, or with --array what is run on that one.",
      .options = {CLI_OPTIONS(graph_rows, 0)},
      .takes_array = true,
      .min_arguments = 1,
      .max_arguments = 1};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  graph_lists lists = {0};
  code = parse_and_show(&common, argv[0], &o, &lists);
  cli_dims_release(&lists.dims);
  cli_names_release(&lists.outputs);
  cli_values_release(&lists.values);
  return code;
}
