// SPDX-License-Identifier: Apache-2.0
// Products of two int8 tensors, element by element: QMul. Gates of channels, and what goes into products alone: other
// readers may need the numbers finer than a byte (cells of an LSTM, halves of a rotary embedding).
#include <math.h>

#include "compiler/quantise/convert.h"

static bool is_number(const quantise_converter *c, int tensor) {
  const graph_tensor *t = &c->model->tensors[tensor];
  return t->type == GRAPH_F32 && t->data == NULL && c->zero[tensor] == 0;
}

// One number per channel of an image.
static bool is_gate(const graph_tensor *gate, const graph_tensor *x) {
  return x->rank == 4 && gate->rank == 4 && gate->dim[0] == x->dim[0] && gate->dim[1] == x->dim[1] &&
         gate->dim[2] == 1 && gate->dim[3] == 1;
}

static bool goes_into_product(const quantise_converter *c, int tensor) {
  const graph_node *reader = quantise_rewrite_only_reader(c->model, &c->index, tensor);
  return reader != NULL && quantise_convert_is_product(c, reader);
}

bool quantise_convert_mul(quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  const int out = node->outputs[0];
  if (node->op != GRAPH_OP_MUL || !is_number(c, node->inputs[0]) || !is_number(c, node->inputs[1])) return false;
  const int first = graph_same_shape(&g->tensors[node->inputs[0]], &g->tensors[out]) ? 0 : 1;
  const int a = node->inputs[first], b = node->inputs[1 - first];
  const bool gate = is_gate(&g->tensors[b], &g->tensors[a]), same = graph_same_shape(&g->tensors[a], &g->tensors[b]);
  if (c->zero[out] != 0 || !graph_same_shape(&g->tensors[a], &g->tensors[out])) return false;
  if (!gate && !(same && goes_into_product(c, out))) return false;
  if (!quantise_convert_has_quant(c, a) || !quantise_convert_has_quant(c, b)) return false;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, a);
  const int inputs[2] = {quantise_convert_quant(c, a, layout), quantise_convert_quant(c, b, layout)};
  if (c->values[a].zero != 0 || c->values[b].zero != 0) return false;
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, layout);
  const double scale = (double)c->values[a].scale * (double)c->values[b].scale / (double)c->scale[out];
  quantise_convert_check_scale(c, out, scale);
  graph_node *made = quantise_convert_emit(c, GRAPH_OP_QMUL, node->name, inputs, 2, form);
  graph_set_float(c->out, made, "scale", (float)scale);
  if (quantise_convert_is_given(c, out)) graph_set_int(c->out, made, "given", 1);
  quantise_convert_set_quant(c, out, layout, form, c->scale[out], 0);
  return true;
}
