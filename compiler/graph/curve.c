// SPDX-License-Identifier: Apache-2.0
// See curve.h.
#include "compiler/graph/curve.h"

#include <math.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/convolution.h"

static bool get_bytes(const graph_node *node, const char *name, int count, int8_t *to) {
  int64_t values[GRAPH_CURVE_RAMPS + 1];
  if (graph_ints(node, name, values, GRAPH_CURVE_RAMPS + 1) != count) return false;
  for (int i = 0; i < count; i++) {
    if (values[i] < INT8_MIN || values[i] > INT8_MAX) return false;
    to[i] = (int8_t)values[i];
  }
  return true;
}

bool graph_curve_of(const graph_node *node, graph_curve *curve) {
  int64_t slopes[GRAPH_CURVE_RAMPS + 1];
  const int64_t offset = graph_int(node, "offset", 0);
  *curve = (graph_curve){.count = graph_ints(node, "slopes", slopes, GRAPH_CURVE_RAMPS + 1),
                         .offset = (int32_t)offset,
                         .scale = graph_float(node, "scale", 1)};
  return curve->count >= 1 && curve->count <= GRAPH_CURVE_RAMPS && offset >= -GRAPH_CURVE_OFFSET_MAX &&
         offset <= GRAPH_CURVE_OFFSET_MAX && isfinite(curve->scale) &&
         get_bytes(node, "slopes", curve->count, curve->slope) &&
         get_bytes(node, "starts", curve->count, curve->start) &&
         get_bytes(node, "weights", curve->count, curve->weight);
}

static void set_bytes(graph *g, graph_node *node, const char *name, int count, const int8_t *from) {
  int64_t values[GRAPH_CURVE_RAMPS];
  for (int i = 0; i < count; i++) values[i] = from[i];
  graph_set_ints(g, node, name, values, count);
}

void graph_curve_set(graph *g, graph_node *node, const graph_curve *curve) {
  set_bytes(g, node, "slopes", curve->count, curve->slope);
  set_bytes(g, node, "starts", curve->count, curve->start);
  set_bytes(g, node, "weights", curve->count, curve->weight);
  if (curve->offset != 0) graph_set_int(g, node, "offset", curve->offset);
  graph_set_float(g, node, "scale", curve->scale);
}

bool graph_curve_equal(const graph_curve *a, const graph_curve *b) {
  const size_t count = (size_t)a->count;
  return a->count == b->count && memcmp(a->slope, b->slope, count) == 0 && memcmp(a->start, b->start, count) == 0 &&
         memcmp(a->weight, b->weight, count) == 0 && a->offset == b->offset &&
         memcmp(&a->scale, &b->scale, sizeof a->scale) == 0;
}

int8_t graph_curve_value(const graph_curve *curve, int8_t x) {
  int32_t sum = curve->offset;
  for (int i = 0; i < curve->count; i++) {
    const int32_t ramp = curve->slope[i] * x + curve->start[i];
    sum += curve->weight[i] * (ramp < 0 ? 0 : ramp > INT8_MAX ? INT8_MAX : ramp);
  }
  return (int8_t)graph_saturate(GRAPH_I8, graph_rounded(curve->scale * (float)sum));
}

bool graph_infer_qcurve(graph_call *c) {
  graph_curve curve;
  if (!graph_curve_of(c->node, &curve))
    return graph_call_fail(c,
                           "its slopes, starts and weights are not 1 to %d numbers of int8, or its offset is not "
                           "in +-%d",
                           GRAPH_CURVE_RAMPS, GRAPH_CURVE_OFFSET_MAX);
  return graph_call_like(c, 0, 0);
}

bool graph_run_qcurve(graph_call *c) {
  graph_curve curve;
  const int8_t *x = c->in[0]->data;
  int8_t table[UINT8_MAX + 1], *y = c->to[0];
  if (!graph_curve_of(c->node, &curve)) return false;
  for (int q = INT8_MIN; q <= INT8_MAX; q++) table[q - INT8_MIN] = graph_curve_value(&curve, (int8_t)q);
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++) y[i] = table[x[i] - INT8_MIN];
  return true;
}
