// SPDX-License-Identifier: Apache-2.0
// Models of files, for graphs and networks.
#ifndef API_GRAPH_H
#define API_GRAPH_H

#include "api/private.h"
#include "compiler/graph/graph.h"

// Whether the lists of the options are lists; else the call was refused.
bool api_graph_options(weft_session *session, const weft_graph_options *options);
// Whether so many names are given, at most as many as options take.
bool api_names(weft_session *session, const char *const *names, uint32_t count, const char *what);

// NULL after the reason was reported.
graph *api_read_model(const char *path, const weft_graph_options *options, wf_diag *diag);

#endif
