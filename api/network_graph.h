// SPDX-License-Identifier: Apache-2.0
// The graph of a network as data of its page: nodes and ends, what goes between them, and the nodes of each step.
#ifndef API_NETWORK_GRAPH_H
#define API_NETWORK_GRAPH_H

#include "api/network_report.h"

// {"nodes": [{"name", "operator", "result", ..}], "edges": [[from, to, tensor], ..], "tensors": [[name, shape], ..]}:
// nodes in an order in which they can be computed, the graph's inputs before and its outputs behind them. Constants
// are no nodes: a node counts the bytes of its own.
cJSON *api_network_graph_json(const network *net);
// The nodes, by their place in that list, that a step works for.
cJSON *api_network_graph_step_json(const network *net, const network_step *step);

#endif
