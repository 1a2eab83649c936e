// SPDX-License-Identifier: Apache-2.0
// Which ramps a function of one int8 is best summed from, before weights are rounded.
//
// The function is near when its squared distance is least, each value counted by its weight. One ramp at a time is put
// where it explains most of what the others leave; sums over a ramp are differences of sums that are made once, so
// that a place costs the same few additions wherever its ends lie. As this ends in the nearest of many hollows, it can
// begin again with a ramp or two moved at random.
#ifndef COMPILER_QUANTISE_RAMPS_H
#define COMPILER_QUANTISE_RAMPS_H

#include "compiler/graph/curve.h"

enum { QUANTISE_RAMPS_VALUES = 256 };

typedef struct quantise_ramp {
  int slope, start;
} quantise_ramp;

typedef struct quantise_ramps {
  int count;
  quantise_ramp ramps[GRAPH_CURVE_RAMPS];
  double weights[GRAPH_CURVE_RAMPS], offset;
  double left;  // the squared distance
} quantise_ramps;

// What is to be reached, in units of the result's bytes, and how much each value counts (all together 1).
typedef struct quantise_ramps_goal {
  double target[QUANTISE_RAMPS_VALUES], weight[QUANTISE_RAMPS_VALUES];
} quantise_ramps_goal;

typedef struct quantise_ramps_search quantise_ramps_search;
quantise_ramps_search *quantise_ramps_begin(const quantise_ramps_goal *goal);
void quantise_ramps_end(quantise_ramps_search *search);

// One ramp more than in `found`. All are of slopes of at least `least_slope` in magnitude.
void quantise_ramps_add(quantise_ramps_search *search, int least_slope, quantise_ramps *found);

// As many, begun at other places. It may be farther.
void quantise_ramps_again(quantise_ramps_search *search, int least_slope, quantise_ramps *found);

#endif
