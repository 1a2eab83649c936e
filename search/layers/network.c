// SPDX-License-Identifier: Apache-2.0
// Networks by any of their names: see network.h.
#include "search/layers/network.h"

#include <string.h>

#include "compiler/onnx/onnx.h"
#include "compiler/quantise/quantise.h"
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/program.h"
#include "workloads/networks/networks.h"

// The table needs the placed graph: which products there are is decided on the way to it. What the values are does not
// matter to it, so one sample has to do.
bool layers_of_model(layers_network *network, graph *model, const char *name, wf_diag *diag) {
  const quantise_options quick = {.samples = 1};
  *network = (layers_network){0};
  graph *placed = quantise_network(model, &quick, QUANTISE_STAGE_PLACED, diag);
  if (placed == NULL) return false;
  layers_of_graph(network, placed);
  graph_destroy(placed);
  if (name != NULL) network->name = layers_lines_base_name(network->arena, name);
  if (network->count > 0) return true;
  wf_error(diag, wf_in_file(network->name), "no layer of this network runs on the array");
  return false;
}

static bool is_table(const char *name) {
  for (size_t i = 0; layers_builtin_name(i) != NULL; i++)
    if (strcmp(layers_builtin_name(i), name) == 0) return true;
  return false;
}

bool layers_is_network(const char *name_or_path) { return !is_table(name_or_path) && layers_is_program(name_or_path); }

bool layers_load_network(layers_network *network, const char *name_or_path, const onnx_options *file, wf_diag *diag) {
  if (!layers_is_network(name_or_path)) return layers_load(network, name_or_path, diag);
  *network = (layers_network){0};
  graph *model = networks_find(name_or_path) == NULL ? onnx_read(name_or_path, file, diag)
                                                     : networks_create(name_or_path, &(networks_options){0}, diag);
  const bool good = model != NULL && layers_of_model(network, model, name_or_path, diag);
  if (model != NULL) graph_destroy(model);
  return good;
}
