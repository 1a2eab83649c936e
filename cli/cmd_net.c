// SPDX-License-Identifier: Apache-2.0
// `weft net NAME`: generated networks as ONNX files, as layer tables, or as numbers, through libweft.
#include <inttypes.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

typedef struct net_options {
  const char *output, *layers, *prune;
  bool list;
  uint64_t size, sequence, past, batch, divisor, depth, seed;
} net_options;

static cJSON *row_json(const weft_model_row *row) {
  cJSON *entry = cJSON_CreateObject();
  cJSON_AddStringToObject(entry, "name", row->name);
  cJSON_AddStringToObject(entry, "description", row->description);
  if (row->image != 0) wf_json_count(entry, "size", row->image);
  if (row->sequence != 0) wf_json_count(entry, "seq", row->sequence);
  if (row->depth != 0) wf_json_count(entry, "depth", row->depth);
  return entry;
}

static cli_exit show_list(const cli_common *common) {
  weft_model_row row = {.size = sizeof row};
  cJSON *list = common->json == NULL ? NULL : cJSON_CreateArray();
  for (size_t i = 0; weft_model_at(i, &row) == WEFT_OK; i++) {
    if (list == NULL)
      printf("%-16s %s\n", row.name, row.description);
    else
      cJSON_AddItemToArray(list, row_json(&row));
  }
  return cli_put_json(common, list);
}

static bool write_layers(weft_session *s, const weft_model *model, const char *path) {
  char *text = weft_model_layers(s, model);
  const bool good = cli_messages(s) && cli_write_text(path, text);
  weft_free(text);
  return good;
}

static bool report(const cli_common *common, const weft_model *model) {
  weft_model_facts facts = {.size = sizeof facts};
  weft_model_describe(model, &facts);
  if (common->json != NULL) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "name", facts.name);
    cJSON_AddNumberToObject(document, "macs", facts.macs);
    cJSON_AddNumberToObject(document, "parameters", facts.parameters);
    wf_json_count(document, "nodes", facts.nodes);
    return cli_put_json(common, document) == CLI_OK;
  }
  if (!common->quiet)
    fprintf(stderr, "%s: %" PRIu64 " nodes, %.4f G multiply-accumulates, %.3f M parameters\n", facts.name, facts.nodes,
            facts.macs / 1e9, facts.parameters / 1e6);
  return true;
}

static weft_model *generate(weft_session *s, const net_options *o, const char *name) {
  const weft_model_options options = {.size = sizeof options,
                                      .image = o->size,
                                      .sequence = o->sequence,
                                      .past = o->past,
                                      .batch = o->batch,
                                      .divisor = o->divisor,
                                      .depth = o->depth,
                                      .seed = o->seed,
                                      .prune = o->prune};
  weft_model *model = weft_model_generate(s, name, &options);
  cli_messages(s);
  return model;
}

static bool write_model(weft_session *s, const weft_model *model, const char *path) {
  weft_model_write(s, model, path);
  return cli_messages(s);
}

static cli_exit make(const cli_common *common, const net_options *o, const char *name) {
  if (!cli_may_write(o->output) || !cli_may_write(o->layers)) return CLI_BAD_INPUT;
  weft_session *s = weft_session_create();
  weft_model *model = generate(s, o, name);
  bool good = model != NULL && report(common, model);
  if (good && o->output != NULL) good = write_model(s, model, o->output);
  if (good && o->layers != NULL) good = write_layers(s, model, o->layers);
  weft_model_destroy(model);
  weft_session_destroy(s);
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
  if (o.list) return show_list(&common);
  if (argc == 1) return make(&common, &o, argv[0]);
  fputs("weft: error: missing argument: NAME\n  hint: weft net --list\n", stderr);
  return CLI_USAGE;
}
