// SPDX-License-Identifier: Apache-2.0
// Generated networks as models: ONNX files and tables of layers. See weft.h.
#include <stdlib.h>

#include "api/private.h"
#include "base/alloc.h"
#include "compiler/onnx/onnx.h"
#include "search/layers/network.h"
#include "workloads/networks/networks.h"

// A model stays as it was made: its layers are those of a graph of their own, which placement changes.
struct weft_model {
  graph *graph;
  char *name, *prune;
  networks_options options;  // with `prune`
};

const char *weft_network_generated(size_t index) { return index < networks_count() ? networks_at(index)->name : NULL; }

weft_status weft_model_at(size_t index, weft_model_row *row) {
  if (index >= networks_count()) return WEFT_USAGE;
  const networks_row *of = networks_at(index);
  const weft_model_row full = {.name = of->name,
                               .description = of->description,
                               .image = (uint64_t)of->size,
                               .sequence = (uint64_t)of->sequence,
                               .depth = (uint64_t)of->layers};
  return api_give(&full, sizeof full, row);
}

static weft_model *keep(graph *g, const char *name, const networks_options *options) {
  weft_model *model = WF_NEW(weft_model);
  *model = (weft_model){.graph = g, .name = wf_strdup(name), .options = *options};
  if (options->prune != NULL) model->options.prune = model->prune = wf_strdup(options->prune);
  return model;
}

weft_model *weft_model_generate(weft_session *s, const char *name, const weft_model_options *options) {
  weft_model_options o = {0};
  if (!api_begin(s, "model") || !api_given(s, name, "the network's name") || !api_take(s, options, &o, sizeof o))
    return NULL;
  const networks_options with = {.size = (int64_t)o.image,
                                 .sequence = (int64_t)o.sequence,
                                 .past = (int64_t)o.past,
                                 .present = o.present,
                                 .batch = (int64_t)o.batch,
                                 .divisor = (int64_t)o.divisor,
                                 .layers = (int64_t)o.depth,
                                 .seed = o.seed,
                                 .prune = o.prune};
  graph *g = networks_create(name, &with, &s->diag);
  return api_end(s, g != NULL, WEFT_BAD_INPUT) == WEFT_OK ? keep(g, name, &with) : NULL;
}

void weft_model_destroy(weft_model *model) {
  if (model == NULL) return;
  graph_destroy(model->graph);
  wf_free(model->name);
  wf_free(model->prune);
  wf_free(model);
}

weft_status weft_model_describe(const weft_model *model, weft_model_facts *facts) {
  if (model == NULL) return WEFT_USAGE;
  const graph *g = model->graph;
  const weft_model_facts full = {.name = g->name,
                                 .nodes = (uint64_t)g->node_count,
                                 .macs = networks_macs(g),
                                 .parameters = networks_parameters(g)};
  return api_give(&full, sizeof full, facts);
}

weft_status weft_model_write(weft_session *s, const weft_model *model, const char *path) {
  if (!api_begin(s, "model") || !api_given(s, model, "the model") || !api_given(s, path, "the file")) return WEFT_USAGE;
  return api_end(s, onnx_write(model->graph, path, &s->diag), WEFT_BAD_INPUT);
}

// NULL after the reason was reported.
static char *layers_text(graph *model, wf_diag *diag) {
  layers_network table;
  char *text = NULL;
  size_t length;
  FILE *out = layers_of_model(&table, model, NULL, diag) ? open_memstream(&text, &length) : NULL;
  if (out != NULL) {
    layers_print_yaml(&table, out);
    fclose(out);
  }
  layers_release(&table);
  return text;
}

char *weft_model_layers(weft_session *s, const weft_model *model) {
  if (!api_begin(s, "model") || !api_given(s, model, "the model")) return NULL;
  graph *g = networks_create(model->name, &model->options, &s->diag);
  char *text = g == NULL ? NULL : layers_text(g, &s->diag);
  if (g != NULL) graph_destroy(g);
  api_end(s, text != NULL, WEFT_BAD_INPUT);
  return text;
}
