// SPDX-License-Identifier: Apache-2.0
// QCurve: a function of one int8 as a sum of ramps, which a systolic array can compute (docs/networks.md).
//
//   r_i = min(127, max(0, slope_i x + start_i));  y = sat(rne(scale * (offset + sum of weight_i r_i)))
//
// A ramp is a product that leaves the mesh as int8 behind relu, the sum another product.
#ifndef COMPILER_GRAPH_CURVE_H
#define COMPILER_GRAPH_CURVE_H

#include "compiler/graph/graph.h"

enum { GRAPH_CURVE_RAMPS = 8, GRAPH_CURVE_OFFSET_MAX = 16000 };

typedef struct graph_curve {
  int count;
  int8_t slope[GRAPH_CURVE_RAMPS], start[GRAPH_CURVE_RAMPS], weight[GRAPH_CURVE_RAMPS];
  int32_t offset;
  float scale;
} graph_curve;

// What a node says; false: its attributes are no curve.
bool graph_curve_of(const graph_node *node, graph_curve *curve);
void graph_curve_set(graph *g, graph_node *node, const graph_curve *curve);
bool graph_curve_equal(const graph_curve *a, const graph_curve *b);
int8_t graph_curve_value(const graph_curve *curve, int8_t x);

#endif
