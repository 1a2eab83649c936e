// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products with what is done to their sums: QConv and QMatMul. See docs/networks.md.
//
//   acc = bias + factor * residual + sum x * w, in units of x scale * w scale;  result = sat(rne(f * acc)).
// Zero points of x go into the bias: sum (x - z) w = sum x w - z sum w. So does the zero point of the result, rounded
// to a whole sum; it and scales per channel leave the array as int32 where they must be exact, for Requantize on the
// host.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/quantise/convert.h"

// Weights that were already converted: the same tensor at the same scale in the same order.
typedef struct convert_weights {
  int model;
  float scale;
  int64_t flat_channels;
  int tensor;
  const int32_t *sums;  // per result channel
} convert_weights;

static bool is_constant(const graph *g, int tensor) { return tensor != GRAPH_NONE && g->tensors[tensor].data != NULL; }

static bool is_float(const graph *g, int tensor) { return g->tensors[tensor].type == GRAPH_F32; }

static bool is_conv(const quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  if (g->tensors[node->inputs[0]].rank != 4 || is_constant(g, node->inputs[0])) return false;
  return quantise_rewrite_floats(g, node->inputs[1]) != NULL &&
         (node->input_count < 3 || node->inputs[2] == GRAPH_NONE ||
          quantise_rewrite_floats(g, node->inputs[2]) != NULL);
}

// Both sides have the same leading dimensions, or one has none.
static bool leads_agree(const graph_tensor *a, const graph_tensor *b) {
  if (a->rank < 2 || b->rank < 2) return false;
  if (a->rank == 2 || b->rank == 2) return true;
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank - 2; i++)
    if (a->dim[i] != b->dim[i]) return false;
  return true;
}

static bool is_mat_mul(const quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  const int a = node->inputs[0], b = node->inputs[1];
  if (!is_float(g, a) || !is_float(g, b) || (is_constant(g, a) && is_constant(g, b))) return false;
  if (!leads_agree(&g->tensors[a], &g->tensors[b])) return false;
  return (is_constant(g, b) && g->tensors[b].rank == 2) || (c->zero[a] == 0 && c->zero[b] == 0);
}

static bool is_gemm(const quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  const bool plain = fabsf(graph_float(node, "alpha", 1) - 1) <= 0;
  if (!is_mat_mul(c, node) || (!plain && (!is_constant(g, node->inputs[1]) || graph_float(node, "alpha", 1) <= 0)))
    return false;
  if (!plain && quantise_pin_of(c->pins, node->inputs[1])->scale > 0) return false;
  if (node->input_count < 3 || node->inputs[2] == GRAPH_NONE) return true;
  const graph_tensor *bias = &g->tensors[node->inputs[2]];
  const int64_t elements = graph_elements(bias);
  return quantise_rewrite_floats(g, node->inputs[2]) != NULL &&
         (elements == 1 || (bias->dim[bias->rank - 1] == elements && elements == g->tensors[node->outputs[0]].dim[1]));
}

bool quantise_convert_is_product(const quantise_converter *c, const graph_node *node) {
  if (node->op != GRAPH_OP_CONV && node->op != GRAPH_OP_GEMM && node->op != GRAPH_OP_MAT_MUL) return false;
  if (!is_float(c->model, node->inputs[0]) || !is_float(c->model, node->inputs[1])) return false;
  return node->op == GRAPH_OP_CONV   ? is_conv(c, node)
         : node->op == GRAPH_OP_GEMM ? is_gemm(c, node)
                                     : is_mat_mul(c, node);
}

// What the model says about a product's weights; scales along another dimension than the results' say nothing.
static const quantise_pin *weight_pin(const quantise_converter *c, const graph_node *node) {
  static const quantise_pin none;
  const quantise_pin *pin = quantise_pin_of(c->pins, node->inputs[1]);
  const bool first = node->op == GRAPH_OP_CONV || (node->op == GRAPH_OP_GEMM && graph_int(node, "transB", 0) != 0);
  return pin->scale_count > 1 && pin->axis != (first ? 0 : 1) ? &none : pin;
}

float quantise_convert_weight_scale(const quantise_converter *c, const graph_node *node) {
  const int w = node->inputs[1];
  const quantise_pin *pin = weight_pin(c, node);
  if (pin->scale > 0) return pin->scale;
  const float *values = quantise_rewrite_floats(c->model, w);
  if (values == NULL) return c->scale[w];
  float largest = 0;
  for (int64_t i = graph_elements(&c->model->tensors[w]); i-- > 0;) largest = fmaxf(largest, fabsf(values[i]));
  const float alpha = node->op == GRAPH_OP_GEMM ? graph_float(node, "alpha", 1) : 1;
  // What is too small for a scale is nothing beside any other number.
  return alpha * largest / 127 >= FLT_MIN ? alpha * largest / 127 : 1;
}

// ---- weights

// Where a weight of the model goes: rows of depth (R, S, C for convolutions; K of a product), columns of results.
typedef struct weight_order {
  int64_t results, depth, window;  // window: R * S, or 1
  bool results_first;              // [K, C, R, S], or transB; else [depth, results]
  int64_t flat_channels, flat_places;
} weight_order;

static weight_order order_of(const quantise_converter *c, const graph_node *node, int64_t flat_channels) {
  const graph_tensor *w = &c->model->tensors[node->inputs[1]];
  weight_order o = {.window = 1};
  o.results_first = node->op == GRAPH_OP_CONV || (node->op == GRAPH_OP_GEMM && graph_int(node, "transB", 0) != 0);
  o.results = w->dim[o.results_first ? 0 : 1];
  if (node->op == GRAPH_OP_CONV) o.window = w->dim[2] * w->dim[3];
  o.depth = graph_elements(w) / o.results;
  o.flat_channels = flat_channels;
  o.flat_places = flat_channels == 0 ? 0 : o.depth / flat_channels;
  return o;
}

// Where the depth `d` of the model goes.
static int64_t place_of(const weight_order *o, int64_t d) {
  d = d % o->window * (o->depth / o->window) + d / o->window;  // [C, R, S] to [R, S, C]
  return o->flat_channels == 0 ? d : d % o->flat_places * o->flat_channels + d / o->flat_places;
}

// What the integers are made of: given ones, or numbers with a scale.
typedef struct weight_source {
  const int8_t *integers;
  const float *values;
  float alpha, scale;
} weight_source;

static weight_source source_of(const quantise_converter *c, const graph_node *node, float scale) {
  return (weight_source){weight_pin(c, node)->integers, quantise_rewrite_floats(c->model, node->inputs[1]),
                         node->op == GRAPH_OP_GEMM ? graph_float(node, "alpha", 1) : 1, scale};
}

// Rounds to nearest even, as every sum of binary32 does.
static inline int8_t weight_at(const weight_source *w, int64_t i) {
  if (w->integers != NULL) return w->integers[i];
  const float unit = 0x1.8p23F, q = w->alpha * w->values[i] / w->scale;
  const float limited = q < -127 ? -127 : q > 127 ? 127 : q;
  return (int8_t)((limited + unit) - unit);
}

// A few results at a time: both sides are then read and written in whole lines.
static void fill_weights(const weight_order *o, const weight_source *w, int8_t *data, int32_t *sums) {
  enum { TOGETHER = 32 };
  const int64_t by_result = o->results_first ? o->depth : 1, by_depth = o->results_first ? 1 : o->results;
  for (int64_t first = 0; first < o->results; first += TOGETHER) {
    const int64_t end = first + TOGETHER < o->results ? first + TOGETHER : o->results;
    for (int64_t d = 0; d < o->depth; d++) {
      int8_t *row = data + place_of(o, d) * o->results;
      for (int64_t r = first; r < end; r++) {
        row[r] = weight_at(w, r * by_result + d * by_depth);
        sums[r] += row[r];
      }
    }
  }
}

static convert_weights make_weights(quantise_converter *c, const graph_node *node, float scale, int64_t flat_channels) {
  const graph_tensor *w = &c->model->tensors[node->inputs[1]];
  const weight_order o = order_of(c, node, flat_channels);
  const weight_source source = source_of(c, node, scale);
  int8_t *data = wf_arena_alloc(c->out->arena, (size_t)(o.depth * o.results) + 1, 1);
  int32_t *sums = WF_ARENA_ARRAY(c->arena, (size_t)o.results, int32_t);
  fill_weights(&o, &source, data, sums);
  const bool image = node->op == GRAPH_OP_CONV;
  const int64_t dims[4] = {image ? w->dim[2] : o.depth, image ? w->dim[3] : o.results, image ? w->dim[1] : 0,
                           o.results};
  const int tensor = quantise_rewrite_tensor(c->out, w->name, "", GRAPH_I8, image ? 4 : 2, dims);
  c->out->tensors[tensor].data = data;
  c->out->tensors[tensor].scale = scale;
  return (convert_weights){node->inputs[1], scale, flat_channels, tensor, sums};
}

static const convert_weights *weights_of(quantise_converter *c, const graph_node *node, float scale,
                                         int64_t flat_channels) {
  for (size_t i = 0; i < c->weight_count; i++) {
    const convert_weights *w = &c->weights[i];
    if (w->model == node->inputs[1] && w->flat_channels == flat_channels && fabsf(w->scale - scale) <= 0) return w;
  }
  const convert_weights made = make_weights(c, node, scale, flat_channels);
  convert_weights *kept = WF_ARENA_PUSH(c->arena, c->weights, c->weight_count, &c->weight_room);
  *kept = made;
  return kept;
}

// ---- what is done to the sums

typedef struct product {
  const graph_node *node;
  const quantise_convert_chain *chain;
  graph_op op;
  quantise_convert_layout layout;
  int x, w;
  float x_scale;
  int32_t x_zero;
  const int32_t *sums;    // of the weights per channel; NULL: the other side is no constant
  const float *w_scales;  // one, or one per channel
  int w_scale_count;
  int64_t channels;
} product;

static double weight_scale(const product *p, int64_t channel) {
  return (double)p->w_scales[p->w_scale_count > 1 ? channel : 0];
}

// The sum of the node's own bias and the one behind it, as a real number.
static double bias_at(const quantise_converter *c, const product *p, int64_t channel) {
  double sum = 0;
  const int own = p->node->input_count > 2 ? p->node->inputs[2] : GRAPH_NONE;
  const int both[2] = {own, p->chain->bias};
  for (int i = 0; i < 2; i++) {
    const float *values = quantise_rewrite_floats(c->model, both[i]);
    if (values == NULL) continue;
    const double factor = i == 0 && p->node->op == GRAPH_OP_GEMM ? (double)graph_float(p->node, "beta", 1) : 1;
    sum += factor * (double)values[graph_elements(&c->model->tensors[both[i]]) == 1 ? 0 : channel];
  }
  return sum;
}

static double result_factor(const quantise_converter *c, const product *p, int64_t channel) {
  return p->chain->gain * (double)p->x_scale * weight_scale(p, channel) / (double)c->scale[p->chain->out];
}

static int32_t to_i32(double value) {
  const double rounded = rint(value);
  return (int32_t)(rounded < INT32_MIN ? INT32_MIN : rounded > INT32_MAX ? INT32_MAX : rounded);
}

// The bias in units of the sums; GRAPH_NONE if it is zero everywhere.
static int make_bias(quantise_converter *c, const product *p, bool with_zero) {
  int32_t *values = WF_ARENA_ARRAY(c->out->arena, (size_t)p->channels, int32_t);
  bool any = false;
  for (int64_t k = 0; k < p->channels; k++) {
    double sum = rint(bias_at(c, p, k) / ((double)p->x_scale * weight_scale(p, k)));
    if (p->sums != NULL) sum -= (double)p->x_zero * p->sums[k];
    if (with_zero) sum += rint(c->zero[p->chain->out] / result_factor(c, p, k));
    values[k] = to_i32(sum);
    any |= values[k] != 0;
  }
  if (!any) return GRAPH_NONE;
  const int tensor = quantise_rewrite_tensor(c->out, p->node->name, ".bias.i32", GRAPH_I32, 1, &p->channels);
  c->out->tensors[tensor].data = values;
  return tensor;
}

static void set_geometry(quantise_converter *c, const product *p, graph_node *node) {
  if (p->op == GRAPH_OP_QMAT_MUL) {
    if (p->node->op == GRAPH_OP_GEMM && graph_int(p->node, "transA", 0) != 0) graph_set_int(c->out, node, "transA", 1);
    if (p->node->op == GRAPH_OP_GEMM && graph_int(p->node, "transB", 0) != 0 && p->sums == NULL)
      graph_set_int(c->out, node, "transB", 1);
    return;
  }
  quantise_rewrite_window w;
  quantise_rewrite_window_of(c->model, p->node, &w);
  if (p->x_zero != 0) memset(w.pads, 0, sizeof w.pads);  // it has an explicit Pad
  graph_set_ints(c->out, node, "strides", w.strides, 2);
  graph_set_ints(c->out, node, "pads", w.pads, 4);
  graph_set_ints(c->out, node, "dilations", w.dilations, 2);
  graph_set_int(c->out, node, "groups", w.groups);
}

static graph_node *emit_product(quantise_converter *c, const product *p, int bias, int output) {
  const int residual = p->chain->residual == GRAPH_NONE ? GRAPH_NONE
                                                        : quantise_convert_quant_at(c, p->chain->residual, p->layout,
                                                                                    c->scale[p->chain->residual], 0);
  const int inputs[4] = {p->x, p->w, bias, residual};
  const int count = residual != GRAPH_NONE ? 4 : bias != GRAPH_NONE ? 3 : 2;
  graph_node *node = quantise_convert_emit(c, p->op, p->node->name, inputs, count, output);
  if (residual != GRAPH_NONE) graph_set_int(c->out, node, "factor", p->chain->factor);
  set_geometry(c, p, node);
  return node;
}

// Numbers outside what relu and its limit let through, where saturation does not do it.
static int clamp(quantise_converter *c, const product *p, int form) {
  const float scale = c->scale[p->chain->out];
  const int32_t zero = c->zero[p->chain->out];
  const double top = p->chain->limit < FLT_MAX ? rint((double)p->chain->limit / (double)scale) + zero : 127;
  const int32_t high = top < 127 ? (int32_t)top : 127;
  if (!p->chain->relu || (high == 127 && (zero == 0 || zero == -128))) return form;
  int8_t table[256];
  for (int q = -128; q < 128; q++) table[q + 128] = (int8_t)(q < zero ? zero : q > high ? high : q);
  return quantise_convert_lut(c, form, p->chain->out, p->layout, table);
}

// int32 on the array, then scales per channel and the zero point on the host.
static int finish_on_host(quantise_converter *c, const product *p) {
  const int out = p->chain->out, sums = quantise_convert_new(c, out, ".i32", GRAPH_I32, p->layout);
  graph_node *node = emit_product(c, p, make_bias(c, p, false), sums);
  if (p->chain->relu && c->zero[out] == 0) graph_set_int(c->out, node, "relu", 1);
  float *factors = WF_ARENA_ARRAY(c->arena, (size_t)p->channels, float);
  const int64_t count = p->w_scale_count > 1 ? p->channels : 1;
  for (int64_t k = 0; k < count; k++) {
    factors[k] = (float)result_factor(c, p, k);
    if (!quantise_convert_check_scale(c, out, result_factor(c, p, k))) break;
  }
  const int scales = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.scales", p->node->name), GRAPH_F32, 1,
                                               &count, factors);
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, p->layout);
  graph_node *last =
      quantise_convert_emit(c, GRAPH_OP_REQUANTIZE, c->out->tensors[form].name, (int[]){sums, scales}, 2, form);
  if (c->zero[out] != 0) graph_set_int(c->out, last, "zero", c->zero[out]);
  return form;
}

static int finish_on_array(quantise_converter *c, const product *p) {
  const int out = p->chain->out, form = quantise_convert_new(c, out, ".i8", GRAPH_I8, p->layout);
  quantise_convert_check_scale(c, out, result_factor(c, p, 0));
  graph_node *node = emit_product(c, p, make_bias(c, p, true), form);
  graph_set_float(c->out, node, "scale", (float)result_factor(c, p, 0));
  if (p->chain->relu && c->zero[out] == 0) graph_set_int(c->out, node, "relu", 1);
  return form;
}

// Rows whose exponentials are not divided by their sums yet.
static void finish_shares(quantise_converter *c, const product *p, int sums) {
  const int out = p->chain->out, products = quantise_convert_new(c, out, ".i32", GRAPH_I32, p->layout);
  emit_product(c, p, GRAPH_NONE, products);
  const int form = quantise_convert_share(c, p->chain, sums, products, result_factor(c, p, 0));
  quantise_convert_set_quant(c, out, p->layout, form, c->scale[out], 0);
}

static void finish(quantise_converter *c, const product *p) {
  const int out = p->chain->out, row_sums = c->values[p->node->inputs[0]].sums;
  if (row_sums != GRAPH_NONE) {
    finish_shares(c, p, row_sums);
    return;
  }
  if (p->chain->wide) {
    const int sums = quantise_convert_new(c, out, "", GRAPH_I32, p->layout);
    emit_product(c, p, make_bias(c, p, false), sums);
    c->values[out].real[p->layout] = sums;
    return;
  }
  const bool host = p->w_scale_count > 1 || (c->zero[out] != 0 && c->options->exact_zeros);
  int form = host ? finish_on_host(c, p) : finish_on_array(c, p);
  form = clamp(c, p, form);
  quantise_convert_set_quant(c, out, p->layout, form, c->scale[out], c->zero[out]);
}

// ---- operands

static int padded(quantise_converter *c, const product *p) {
  quantise_rewrite_window w;
  quantise_rewrite_window_of(c->model, p->node, &w);
  const graph_tensor x = c->out->tensors[p->x];
  if (p->x_zero == 0 || (w.pads[0] | w.pads[1] | w.pads[2] | w.pads[3]) == 0) return p->x;
  const int64_t pads[8] = {0, w.pads[0], w.pads[1], 0, 0, w.pads[2], w.pads[3], 0};
  const int64_t dims[4] = {x.dim[0], x.dim[1] + w.pads[0] + w.pads[2], x.dim[2] + w.pads[1] + w.pads[3], x.dim[3]};
  const int to = quantise_rewrite_tensor(c->out, p->node->name, ".padded", GRAPH_I8, 4, dims);
  const char *name = c->out->tensors[to].name;
  const int amounts =
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.pads", name), GRAPH_I64, 1, (int64_t[]){8}, pads);
  const int8_t zero = (int8_t)p->x_zero;
  const int value = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.value", name), GRAPH_I8, 0, NULL, &zero);
  quantise_convert_emit(c, GRAPH_OP_PAD, c->out->tensors[to].name, (int[]){p->x, amounts, value}, 3, to);
  return to;
}

static void set_weights(quantise_converter *c, product *p, int64_t flat_channels) {
  const quantise_pin *pin = weight_pin(c, p->node);
  const convert_weights *w = weights_of(c, p->node, p->chain->weight_scale, flat_channels);
  p->w = w->tensor;
  p->sums = w->sums;
  p->w_scales = pin->integers != NULL ? pin->scales : &p->chain->weight_scale;
  p->w_scale_count = pin->integers != NULL ? pin->scale_count : 1;
}

static void emit_conv(quantise_converter *c, product *p) {
  p->op = GRAPH_OP_QCONV;
  p->layout = LAYOUT_CHANNELS_LAST;
  p->x = quantise_convert_quant(c, p->node->inputs[0], p->layout);
  set_weights(c, p, 0);
  p->channels = c->model->tensors[p->chain->out].dim[1];
  p->x_scale = c->values[p->node->inputs[0]].scale;
  p->x_zero = c->values[p->node->inputs[0]].zero;
  p->x = padded(c, p);
  finish(c, p);
}

static void emit_mat_mul(quantise_converter *c, product *p) {
  const int a = p->node->inputs[0], b = p->node->inputs[1];
  const graph_tensor *out = &c->model->tensors[p->chain->out];
  const bool constant = is_constant(c->model, b) && c->model->tensors[b].rank == 2;
  const quantise_convert_value *v = &c->values[a];
  const bool flat =
      constant && v->flat != GRAPH_NONE && p->node->op == GRAPH_OP_GEMM && graph_int(p->node, "transA", 0) == 0;
  p->op = GRAPH_OP_QMAT_MUL;
  p->layout = LAYOUT_PLAIN;
  p->x = flat ? v->flat : quantise_convert_quant(c, a, LAYOUT_PLAIN);
  p->channels = out->dim[out->rank - 1];
  if (constant) {
    set_weights(c, p, flat ? v->flat_channels : 0);
  } else {
    p->w = quantise_convert_quant(c, b, LAYOUT_PLAIN);
    p->w_scales = &c->values[b].scale;
    p->w_scale_count = 1;
  }
  p->x_scale = v->scale;
  p->x_zero = v->zero;
  finish(c, p);
}

void quantise_convert_emit_chain(quantise_converter *c, const quantise_convert_chain *chain) {
  product p = {.node = &c->model->nodes[chain->node], .chain = chain};
  if (p.node->op == GRAPH_OP_CONV)
    emit_conv(c, &p);
  else
    emit_mat_mul(c, &p);
}
