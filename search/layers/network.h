// SPDX-License-Identifier: Apache-2.0
// Networks by any of their names: tables of layers, ONNX files, generated networks.
#ifndef SEARCH_LAYERS_NETWORK_H
#define SEARCH_LAYERS_NETWORK_H

#include "compiler/graph/graph.h"
#include "compiler/onnx/onnx.h"
#include "search/layers/layers.h"

// A name that layers_load_network takes for an ONNX file or a generated network.
bool layers_is_network(const char *name_or_path);

// A table as layers_load finds it, a .onnx file, or a generated network (`weft net --list`), in this order: a shipped
// table goes before the generated network of its name. Open batches of files are 1. False after errors were reported.
// Release the network in any case. `file`: how a .onnx file is read.
bool layers_load_network(layers_network *network, const char *name_or_path, const onnx_options *file, wf_diag *diag);

// The layers of a float or quantised model as they are placed on the array, under a name of their own (NULL: the
// model's).
bool layers_of_model(layers_network *network, graph *model, const char *name, wf_diag *diag);

#endif
