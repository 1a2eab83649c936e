// SPDX-License-Identifier: Apache-2.0
// Gathers of int8 with constant indices. Channels of an image whose channels are last lie too thinly for copies: they
// are put in another order by a product with one 1 in each column, which is exact.
#include "compiler/quantise/convert.h"

// As numbers from 0 on; NULL: they are computed, or lie outside.
static int64_t *constant_indices(quantise_converter *c, const graph_node *node, int64_t size) {
  const graph_tensor *t = &c->model->tensors[node->inputs[1]];
  const int64_t count = graph_elements(t);
  if (t->data == NULL || count < 1 || count > INT32_MAX) return NULL;
  int64_t *values = WF_ARENA_ARRAY(c->arena, (size_t)count, int64_t);
  if (quantise_rewrite_integers(c->model, node->inputs[1], values, (int)count) != count) return NULL;
  for (int64_t i = 0; i < count; i++) {
    values[i] += values[i] < 0 ? size : 0;
    if (values[i] < 0 || values[i] >= size) return NULL;
  }
  return values;
}

// Runs of indices that follow each other.
static int64_t runs_of(const int64_t *indices, int64_t count) {
  int64_t runs = 1;
  for (int64_t i = 1; i < count; i++) runs += indices[i] != indices[i - 1] + 1;
  return runs;
}

static bool select_channels(quantise_converter *c, const graph_node *node, const int64_t *indices, int64_t count,
                            int64_t channels) {
  int8_t *weights = wf_arena_alloc(c->arena, (size_t)(channels * count), 1);
  for (int64_t i = 0; i < count; i++) weights[indices[i] * count + i] = 1;
  const int64_t dims[4] = {1, 1, channels, count};
  const char *name = wf_arena_format(c->arena, "%s.selection", node->name);
  const int inputs[2] = {quantise_convert_quant(c, node->inputs[0], LAYOUT_CHANNELS_LAST),
                         quantise_convert_constant(c, name, GRAPH_I8, 4, dims, weights)};
  graph_node *made = quantise_convert_emit_move(c, node, GRAPH_OP_QCONV, inputs, 2, LAYOUT_CHANNELS_LAST);
  graph_set_float(c->out, made, "scale", 1);
  return true;
}

bool quantise_convert_gather(quantise_converter *c, const graph_node *node) {
  enum { CHANNELS = 1, FEW_RUNS = 4 };
  const graph_tensor *x = &c->model->tensors[node->inputs[0]], *index = &c->model->tensors[node->inputs[1]];
  int64_t axis = graph_int(node, "axis", 0);
  if (axis < 0) axis += x->rank;
  const int64_t *indices = constant_indices(c, node, x->dim[axis]), count = graph_elements(index);
  if (indices == NULL) return false;
  quantise_convert_layout layout = quantise_convert_layout_of(c, node->inputs[0]);
  if (index->rank != 1) layout = LAYOUT_PLAIN;
  if (layout == LAYOUT_CHANNELS_LAST && axis == CHANNELS && runs_of(indices, count) > FEW_RUNS)
    return select_channels(c, node, indices, count, x->dim[CHANNELS]);
  const int places = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.places", node->name), GRAPH_I64,
                                               index->rank, index->dim, indices);
  const int inputs[2] = {quantise_convert_quant(c, node->inputs[0], layout), places};
  graph_node *made = quantise_convert_emit_move(c, node, GRAPH_OP_GATHER, inputs, 2, layout);
  graph_set_int(c->out, made, "axis", layout == LAYOUT_PLAIN ? axis : quantise_convert_axis((int)axis));
  return true;
}
