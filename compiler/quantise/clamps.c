// SPDX-License-Identifier: Apache-2.0
// Functions of one int8 that are straight between two ends go into the product before them, whose sums then become
// bytes once, not twice: its scale is the slope, its bias the height, relu and the byte's range are the ends. Curves
// that are relu, and tables such as those of hard sigmoids.
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "compiler/graph/curve.h"
#include "compiler/quantise/rewrite.h"

enum { VALUES = UINT8_MAX + 1, ZERO = -INT8_MIN, FEWEST = 8 };

// y = max(0, slope x + height), as a byte.
typedef struct clamp {
  double slope, height;
} clamp;

// ---- curves

// A curve of one ramp from 0 on, with an offset that is less than half a unit of the result: weight times relu.
static bool of_curve(const graph_node *node, clamp *to) {
  graph_curve c;
  if (!graph_curve_of(node, &c) || c.count != 1 || c.slope[0] != 1 || c.start[0] != 0 || c.weight[0] <= 0) return false;
  *to = (clamp){(double)c.scale * c.weight[0], (double)c.scale * c.offset};
  return fabs(to->height) < 0.5;
}

// ---- tables

// The line through the bytes between the ends that has the least squared distance.
static bool line_through(const int8_t *table, clamp *to) {
  double count = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int q = 0; q < VALUES; q++) {
    if (table[q] <= 0 || table[q] == INT8_MAX) continue;
    count++, x += q - ZERO, y += table[q], xx += (double)(q - ZERO) * (q - ZERO), xy += (double)(q - ZERO) * table[q];
  }
  const double spread = count * xx - x * x;
  if (count < FEWEST || spread <= 0) return false;
  to->slope = (count * xy - x * y) / spread;
  to->height = (y - to->slope * x) / count;
  return to->slope > 0;
}

// Every byte is the line's, rounded, up to what the line itself may be off.
static bool has_bytes(const clamp *c, const int8_t *table) {
  static const double off = 0.55;
  for (int q = 0; q < VALUES; q++) {
    const double at = fmin(fmax(c->slope * (q - ZERO) + c->height, 0), INT8_MAX);
    if (fabs(at - table[q]) > off) return false;
  }
  return true;
}

// Tables between scales that the model gives (`given`) stay: their operand is rounded and cut off as the model says.
static bool of_table(const graph *g, const graph_node *node, clamp *to) {
  const graph_tensor *table = &g->tensors[node->inputs[1]];
  if (graph_int(node, "given", 0) != 0) return false;
  if (table->data == NULL || table->type != GRAPH_I8 || graph_elements(table) != VALUES) return false;
  return line_through(table->data, to) && has_bytes(to, table->data);
}

bool quantise_rewrite_is_clamp(const int8_t table[VALUES]) {
  clamp c;
  return line_through(table, &c) && has_bytes(&c, table);
}

// ---- products

static bool takes_relu(const graph_node *product) {
  return (product->op == GRAPH_OP_QCONV || product->op == GRAPH_OP_QMAT_MUL) &&
         graph_find_attribute(product, "scale") != NULL && graph_int(product, "relu", 0) == 0;
}

static bool has_bias(const graph *g, const graph_node *product) {
  const int bias = product->input_count > 2 ? product->inputs[2] : GRAPH_NONE;
  return bias != GRAPH_NONE && g->tensors[bias].data != NULL;
}

// In units of the sums.
static void add_to_bias(graph *g, graph_node *product, double height) {
  const graph_tensor *bias = &g->tensors[product->inputs[2]];
  const int64_t count = graph_elements(bias);
  const int32_t *from = bias->data;
  int32_t *to = WF_ARENA_ARRAY(g->arena, (size_t)count, int32_t);
  for (int64_t i = 0; i < count; i++)
    to[i] = (int32_t)wf_min(wf_max((double)from[i] + rint(height), (double)INT32_MIN), (double)INT32_MAX);
  const int made = quantise_rewrite_tensor(g, bias->name, ".clamp", GRAPH_I32, 1, &count);
  g->tensors[made].data = to;
  product->inputs[2] = made;
}

static void absorb(graph *g, const quantise_rewrite_index *index, graph_node *node) {
  graph_node *product = quantise_rewrite_maker(g, index, node->inputs[0]);
  clamp c;
  if (product == NULL || index->uses[node->inputs[0]] != 1 || !takes_relu(product)) return;
  if (!(node->op == GRAPH_OP_QCURVE ? of_curve(node, &c) : of_table(g, node, &c))) return;
  if (!has_bias(g, product) && fabs(c.height) >= 0.5) return;
  const double scale = graph_float(product, "scale", 1) * c.slope;
  if (has_bias(g, product)) add_to_bias(g, product, c.height / scale);
  graph_set_float(g, product, "scale", (float)scale);
  graph_set_int(g, product, "relu", 1);
  const int unused = product->outputs[0];
  product->outputs[0] = node->outputs[0];
  node->outputs[0] = unused;  // dead now
  node->inputs[0] = product->outputs[0];
}

void quantise_rewrite_clamps(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].op == GRAPH_OP_QCURVE || g->nodes[n].op == GRAPH_OP_QLUT) absorb(g, &index, &g->nodes[n]);
  quantise_rewrite_drop_dead(g);
}
