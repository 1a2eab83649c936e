// SPDX-License-Identifier: Apache-2.0
// Rules of quantise_prepare that have files of their own. Each replaces `node` by nodes that it adds to the graph, or
// returns false and adds none.
#ifndef COMPILER_QUANTISE_PREPARE_H
#define COMPILER_QUANTISE_PREPARE_H

#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

bool quantise_prepare_conv_transpose(graph *g, const quantise_rewrite_index *index, const graph_node *node);
bool quantise_prepare_lstm(graph *g, const quantise_rewrite_index *index, const graph_node *node);

// QDQ and QLinear operators into pins: see pins.c.
bool quantise_prepare_pins(graph *g, quantise_pins *pins, wf_diag *diag);

#endif
