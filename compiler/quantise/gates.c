// SPDX-License-Identifier: Apache-2.0
// Gates behind which a convolution of 1 x 1 sums the channels (squeeze and excite): sum of (x s) w is sum of x (s w).
// The numbers multiply the weights' rows then, which are fewer than the image's pixels, and the image is read once.
//
// QMul  x' = rne(f x s)     ->   QMul     w' = rne(t / 127 s w), t at most 1: no weight becomes larger
// QConv sums of x' w        ->   QMatMul  sums of x w', which are r = t / (127 f) times those
//
// Products whose scale the model gives (`given`) stay: they are rounded as the model says.
// Bias, the residual's factor and the scale follow: the factor is whole, so that t is a little less than 1 where there
// is one.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

enum { WORTH = 2 };  // times as many pixels as columns of weights

typedef struct gate {
  const graph_node *mul, *conv;
  int64_t channels, columns;
  double ratio;  // r
  int64_t factor;
} gate;

static bool is_gated(const graph *g, const graph_node *mul) {
  const graph_tensor *x = &g->tensors[mul->inputs[0]], *s = &g->tensors[mul->inputs[1]];
  return x->rank == 4 && s->rank == 4 && x->dim[0] == 1 && s->dim[1] == 1 && s->dim[2] == 1 && s->dim[3] == x->dim[3] &&
         s->data == NULL && x->data == NULL;
}

static bool is_all(const graph_node *node, const char *name, int64_t value) {
  int64_t values[4];
  const int count = graph_ints(node, name, values, 4);
  for (int i = 0; i < count; i++)
    if (values[i] != value) return false;
  return true;
}

static bool is_pointwise(const graph *g, const graph_node *conv) {
  const graph_tensor *w = &g->tensors[conv->inputs[1]];
  return conv->op == GRAPH_OP_QCONV && w->data != NULL && w->type == GRAPH_I8 && w->dim[0] * w->dim[1] == 1 &&
         graph_int(conv, "groups", 1) == 1 && is_all(conv, "strides", 1) && is_all(conv, "pads", 0) &&
         graph_find_attribute(conv, "scale") != NULL && graph_find_attribute(conv, "pool_size") == NULL;
}

static bool has(const graph_node *node, int input) {
  return node->input_count > input && node->inputs[input] != GRAPH_NONE;
}

static bool has_numbers(const graph *g, const graph_node *conv) {
  return !has(conv, 2) || g->tensors[conv->inputs[2]].data != NULL;
}

// The ratio, and what it makes of the residual's factor; false: that would become 0.
static bool find_ratio(gate *to) {
  const double most = 1 / (INT8_MAX * (double)graph_float(to->mul, "scale", 1));
  const int64_t factor = graph_int(to->conv, "factor", 1);
  to->ratio = most;
  if (!has(to->conv, 3)) return true;
  to->factor = (int64_t)fmin(floor((double)factor * most), QUANTISE_FACTOR_MAX);
  to->ratio = (double)to->factor / (double)factor;
  return to->factor > 0;
}

static bool gate_of(const graph *g, const quantise_rewrite_index *index, const graph_node *mul, gate *to) {
  if (mul->op != GRAPH_OP_QMUL || graph_int(mul, "given", 0) != 0 || !is_gated(g, mul)) return false;
  const graph_node *conv = quantise_rewrite_only_reader(g, index, mul->outputs[0]);
  if (conv == NULL || conv->inputs[0] != mul->outputs[0] || !is_pointwise(g, conv) || !has_numbers(g, conv))
    return false;
  const graph_tensor *x = &g->tensors[mul->inputs[0]];
  *to = (gate){.mul = mul, .conv = conv, .channels = x->dim[3], .columns = g->tensors[conv->outputs[0]].dim[3]};
  return x->dim[1] * x->dim[2] >= WORTH * to->columns && find_ratio(to);
}

// The gate's numbers, one in each row.
static int as_column(graph *g, const gate *from) {
  const int64_t dim[2] = {from->channels, 1};
  const int to = quantise_rewrite_tensor(g, from->mul->name, ".column", GRAPH_I8, 2, dim);
  const int shape = quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.shape", from->mul->name), dim, 2);
  graph_add_node(g, GRAPH_OP_RESHAPE, quantise_rewrite_name(g, from->mul->name, ".column"),
                 (int[]){from->mul->inputs[1], shape}, 2, &to, 1);
  return to;
}

static int multiplied_weights(graph *g, const gate *from) {
  const int64_t dim[2] = {from->channels, from->columns};
  const graph_tensor *w = &g->tensors[from->conv->inputs[1]];
  const int rows = quantise_rewrite_tensor(g, w->name, ".rows", GRAPH_I8, 2, dim);
  g->tensors[rows].data = g->tensors[from->conv->inputs[1]].data;
  const int column = as_column(g, from), to = quantise_rewrite_tensor(g, from->mul->name, ".weights", GRAPH_I8, 2, dim);
  graph_node *node = graph_add_node(g, GRAPH_OP_QMUL, from->mul->name, (int[]){rows, column}, 2, &to, 1);
  graph_set_float(g, node, "scale", (float)(from->ratio * (double)graph_float(from->mul, "scale", 1)));
  return to;
}

static int scaled_bias(graph *g, const gate *from) {
  if (!has(from->conv, 2)) return GRAPH_NONE;
  const graph_tensor *bias = &g->tensors[from->conv->inputs[2]];
  const int64_t count = graph_elements(bias);
  const int32_t *old = bias->data;
  int32_t *values = WF_ARENA_ARRAY(g->arena, (size_t)count, int32_t);
  for (int64_t i = 0; i < count; i++) values[i] = (int32_t)rint(fmax(fmin(old[i] * from->ratio, INT32_MAX), INT32_MIN));
  const int made = quantise_rewrite_tensor(g, bias->name, ".gated", GRAPH_I32, 1, &count);
  g->tensors[made].data = values;
  return made;
}

static void replace(graph *g, const gate *from) {
  const int weights = multiplied_weights(g, from), bias = scaled_bias(g, from);
  const int inputs[4] = {from->mul->inputs[0], weights, bias, has(from->conv, 3) ? from->conv->inputs[3] : GRAPH_NONE};
  graph_node *node =
      graph_add_node(g, GRAPH_OP_QMAT_MUL, from->conv->name, inputs, from->conv->input_count, from->conv->outputs, 1);
  graph_set_float(g, node, "scale", (float)((double)graph_float(from->conv, "scale", 1) / from->ratio));
  if (graph_int(from->conv, "relu", 0) != 0) graph_set_int(g, node, "relu", 1);
  if (has(from->conv, 3)) graph_set_int(g, node, "factor", from->factor);
}

void quantise_rewrite_gates(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  const int old = g->node_count;
  gate *gates = WF_ARENA_ARRAY(g->arena, (size_t)old + 1, gate);  // by the place of the convolution
  bool *dead = WF_ARENA_ARRAY(g->arena, (size_t)old + 1, bool);
  for (int n = 0; n < old; n++) {
    gate found;
    if (!gate_of(g, &index, &g->nodes[n], &found)) continue;
    gates[found.conv - g->nodes] = found;
    dead[n] = true;
  }
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    if (dead[n]) continue;
    if (gates[n].conv != NULL)
      replace(g, &gates[n]);
    else
      quantise_rewrite_keep(g, &nodes[n]);
  }
}
