// SPDX-License-Identifier: Apache-2.0
// Timeloop's problems as layer tables of one layer.
#ifndef SEARCH_LAYERS_TIMELOOP_H
#define SEARCH_LAYERS_TIMELOOP_H

#include "hw/yaml_tree.h"
#include "search/layers/layers.h"

// Whether the root of a file is a problem.
bool layers_timeloop_is(const hw_yaml_node *root);
// The network has its arena; its name is `name`.
bool layers_timeloop_read(layers_network *network, const char *name, const hw_yaml_node *root, wf_diag *diag);

#endif
