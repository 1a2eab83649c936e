// SPDX-License-Identifier: Apache-2.0
// The layer table of a placed graph: its convolutions and products, equal ones as one layer with a count.
#ifndef SEARCH_LAYERS_GRAPH_H
#define SEARCH_LAYERS_GRAPH_H

#include "compiler/graph/graph.h"
#include "search/layers/layers.h"

// Release the network by layers_release. The products of a batch in which both sides differ count as layers of their
// own. Padding is part of the inputs, as in every table.
void layers_of_graph(layers_network *network, const graph *placed);

#endif
