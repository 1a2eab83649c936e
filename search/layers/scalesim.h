// SPDX-License-Identifier: Apache-2.0
// SCALE-Sim's topologies: its names of columns.
#ifndef SEARCH_LAYERS_SCALESIM_H
#define SEARCH_LAYERS_SCALESIM_H

#include "search/layers/lines.h"

typedef struct layers_columns {
  size_t count;
  layers_lines_layer *read;
} layers_columns;

// By the first line of a text; NULL: it is no topology.
const layers_columns *layers_scalesim_columns(const char *text);

#endif
