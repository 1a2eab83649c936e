// SPDX-License-Identifier: Apache-2.0
// `weft net NAME`: generated networks as ONNX files, as layer tables, or as numbers.
#include <string.h>

#include "cli/cli.h"
#include "compiler/onnx/onnx.h"
#include "search/layers/network.h"
#include "workloads/networks/networks.h"

typedef struct net_options {
  const char *output, *layers, *prune;
  bool list;
  uint64_t size, sequence, past, batch, divisor, depth, seed;
} net_options;

static void list_networks(void) {
  for (size_t i = 0; i < networks_count(); i++) {
    const networks_row *row = networks_at(i);
    printf("%-16s %s\n", row->name, row->description);
  }
}

static cJSON *list_json(void) {
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; i < networks_count(); i++) {
    const networks_row *row = networks_at(i);
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", row->name);
    cJSON_AddStringToObject(entry, "description", row->description);
    if (row->size != 0) cli_json_count(entry, "size", (uint64_t)row->size);
    if (row->sequence != 0) cli_json_count(entry, "seq", (uint64_t)row->sequence);
    if (row->layers != 0) cli_json_count(entry, "depth", (uint64_t)row->layers);
    cJSON_AddItemToArray(list, entry);
  }
  return list;
}

static cli_exit show_list(const cli_common *common, wf_diag *diag) {
  if (common->json == NULL)
    list_networks();
  else if (!cli_write_json(common->json, list_json(), diag))
    return CLI_BAD_INPUT;
  return diag->errors == 0 ? CLI_OK : CLI_BAD_INPUT;
}

static bool write_layers(graph *model, const char *path, wf_diag *diag) {
  layers_network network;
  bool good = layers_of_model(&network, model, NULL, diag);
  FILE *file = good ? cli_open_output(path, diag) : NULL;
  good = file != NULL;
  if (good) {
    layers_print_yaml(&network, file);
    good = cli_close(file, path, diag);
  }
  layers_release(&network);
  return good;
}

static bool report(const cli_common *common, const graph *g, wf_diag *diag) {
  const double macs = networks_macs(g), parameters = networks_parameters(g);
  if (common->json != NULL) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "name", g->name);
    cJSON_AddNumberToObject(document, "macs", macs);
    cJSON_AddNumberToObject(document, "parameters", parameters);
    cli_json_count(document, "nodes", (uint64_t)g->node_count);
    return cli_write_json(common->json, document, diag);
  }
  if (!common->quiet)
    fprintf(stderr, "%s: %d nodes, %.4f G multiply-accumulates, %.3f M parameters\n", g->name, g->node_count,
            macs / 1e9, parameters / 1e6);
  return true;
}

static cli_exit make(const cli_common *common, const net_options *o, const char *name, wf_diag *diag) {
  const networks_options options = {.size = (int64_t)o->size,
                                    .sequence = (int64_t)o->sequence,
                                    .past = (int64_t)o->past,
                                    .batch = (int64_t)o->batch,
                                    .divisor = (int64_t)o->divisor,
                                    .layers = (int64_t)o->depth,
                                    .seed = o->seed,
                                    .prune = o->prune};
  if (!cli_check_output(o->output, diag) || !cli_check_output(o->layers, diag)) return CLI_BAD_INPUT;
  graph *g = networks_create(name, &options, diag);
  if (g == NULL) return CLI_BAD_INPUT;
  bool good = report(common, g, diag);
  if (good && o->output != NULL) good = onnx_write(g, o->output, diag);
  if (good && o->layers != NULL) good = write_layers(g, o->layers, diag);
  graph_destroy(g);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static const wf_option net_rows[] = {
    {"o", WF_TEXT(net_options, output), "FILE.onnx", "write the model"},
    {"layers", WF_TEXT(net_options, layers), "FILE|-", "write the table of its layers (YAML), for the search"},
    {"list", WF_FLAG(net_options, list), NULL, "name the networks"},
    {"size", WF_POSITIVE(net_options, size), "N", "rows and columns of images"},
    {"seq", WF_POSITIVE(net_options, sequence), "N", "tokens or time steps"},
    {"past", WF_POSITIVE(net_options, past), "N", "decoders: keys and values of N tokens are inputs, --seq is 1"},
    {"batch", WF_POSITIVE(net_options, batch), "N", "images or sequences (default 1)"},
    {"divisor", WF_POSITIVE(net_options, divisor), "N", "divide all widths (default 1)"},
    {"depth", WF_POSITIVE(net_options, depth), "N", "layers of transformers and recurrent networks"},
    {"seed", WF_COUNT(net_options, seed), "N", "of the random weights (default 1)"},
    {"prune", WF_TEXT(net_options, prune), "KIND:DENSITY",
     "zeros in weights: weights:0.5, blocks:0.25, blocks:0.25:32"},
};

cli_exit cli_net(int argc, char **argv) {
  net_options o = {.seed = 1};
  static const cli_usage usage = {.verb = "net",
                                  .synopsis = "NAME",
                                  .text =
                                      "Makes a known network with random weights of realistic size: an ONNX file for\n"
                                      "`weft sim` and other tools. The same options and seed give the same bytes.",
                                  .options = {CLI_OPTIONS(net_rows, 0)},
                                  .min_arguments = 0,
                                  .max_arguments = 1};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (o.list) return show_list(&common, &diag);
  if (argc == 1) return make(&common, &o, argv[0], &diag);
  fputs("weft: error: missing argument: NAME\n  hint: weft net --list\n", stderr);
  return CLI_USAGE;
}
