// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft that quantised and optimised models have, composed of ONNX's own: see
// compose.h. A QLinear operator is its float operator between DequantizeLinear and QuantizeLinear.
#include <string.h>

#include "compiler/onnx/compose.h"

// ---- between integers and numbers

// Inputs at, at + 1 and at + 2 are integers, their scale and their zero point.
static int real_at(onnx_composer *c, int at) {
  const int inputs[3] = {onnx_compose_input(c, at), onnx_compose_input(c, at + 1), onnx_compose_input(c, at + 2)};
  return onnx_compose_node(c, GRAPH_OP_DEQUANTIZE_LINEAR, NULL, inputs, 3);
}

// Inputs `at` and at + 1 are the scale and the zero point of the result.
static int quantised_by(onnx_composer *c, int x, int at) {
  const int inputs[3] = {x, onnx_compose_input(c, at), onnx_compose_input(c, at + 1)};
  return onnx_compose_node(c, GRAPH_OP_QUANTIZE_LINEAR, NULL, inputs, 3);
}

static void binary(onnx_composer *c, graph_op op) {
  c->results[0] = quantised_by(c, onnx_compose_binary(c, op, real_at(c, 0), real_at(c, 3)), 6);
}

static void q_add(onnx_composer *c) { binary(c, GRAPH_OP_ADD); }
static void q_mul(onnx_composer *c) { binary(c, GRAPH_OP_MUL); }

// The node's own attributes are the operator's.
static void unary(onnx_composer *c, graph_op op) {
  const int x = real_at(c, 0);
  c->results[0] = quantised_by(c, onnx_compose_node(c, op, &c->n->to, &x, 1), 3);
}

static void q_leaky_relu(onnx_composer *c) { unary(c, GRAPH_OP_LEAKY_RELU); }
static void q_sigmoid(onnx_composer *c) { unary(c, GRAPH_OP_SIGMOID); }

static bool takes_channels_first(onnx_composer *c) {
  if (graph_int(&c->n->to, "channels_last", 0) != 0) onnx_compose_fail(c, "channels_last is not supported");
  graph_remove_attribute(&c->n->to, "channels_last");
  return !c->failed;
}

static void q_average_pool(onnx_composer *c) {
  if (takes_channels_first(c)) unary(c, GRAPH_OP_AVERAGE_POOL);
}

static void q_global_average_pool(onnx_composer *c) {
  if (takes_channels_first(c)) unary(c, GRAPH_OP_GLOBAL_AVERAGE_POOL);
}

// Before opset 13 of Softmax everything from the axis on is one dimension, which is the same for the last one.
static void q_softmax(onnx_composer *c) {
  const graph_tensor *x = onnx_compose_tensor(c, c->n->inputs[0]);
  const int64_t opset = graph_int(&c->n->to, "opset", 0), axis = graph_int(&c->n->to, "axis", -1);
  graph_remove_attribute(&c->n->to, "opset");
  if (opset < 13 && axis != -1 && axis != x->rank - 1)
    onnx_compose_fail(c, "its axis is not the last");
  else
    unary(c, GRAPH_OP_SOFTMAX);
}

static void q_concat(onnx_composer *c) {
  const int count = (c->n->input_count - 2) / 3;
  if (c->n->input_count != 2 + 3 * count) {
    onnx_compose_fail(c, "it has %d inputs", c->n->input_count);
    return;
  }
  int *parts = WF_ARENA_ARRAY(c->r->g->arena, (size_t)count, int);
  for (int i = 0; i < count; i++) parts[i] = real_at(c, 2 + 3 * i);
  c->results[0] = quantised_by(c, onnx_compose_node(c, GRAPH_OP_CONCAT, &c->n->to, parts, count), 0);
}

// ---- products

static int times(onnx_composer *c, int x, double factor) {
  if (factor >= 1 && factor <= 1) return x;
  return onnx_compose_binary(c, GRAPH_OP_MUL, x, onnx_compose_number(c, GRAPH_F32, factor));
}

// A, its scale and zero point, B, its scale and zero point, C of int32 in units of alpha and both scales, scale and
// zero point of the result: without them it is f32.
static void q_gemm(onnx_composer *c) {
  graph_node gemm = {0};
  const double alpha = (double)graph_float(&c->n->to, "alpha", 1);
  int inputs[3] = {real_at(c, 0), GRAPH_NONE, onnx_compose_input(c, 6)};
  const bool turned = graph_int(&c->n->to, "transB", 0) != 0;
  const int b[3] = {onnx_compose_input(c, 3), onnx_compose_input(c, 4), onnx_compose_input(c, 5)};
  graph_node channels = {0};
  graph_set_int(c->r->g, &channels, "axis", turned ? 0 : 1);
  inputs[1] = onnx_compose_node(c, GRAPH_OP_DEQUANTIZE_LINEAR, &channels, b, 3);
  if (inputs[2] != GRAPH_NONE && !c->failed) {
    const int unit = onnx_compose_binary(c, GRAPH_OP_MUL, onnx_compose_input(c, 1), onnx_compose_input(c, 4));
    const int sums = onnx_compose_cast(c, inputs[2], GRAPH_F32);
    inputs[2] = times(c, onnx_compose_binary(c, GRAPH_OP_MUL, sums, unit), alpha);
  }
  graph_set_int(c->r->g, &gemm, "transA", graph_int(&c->n->to, "transA", 0));
  graph_set_int(c->r->g, &gemm, "transB", turned);
  graph_set_float(c->r->g, &gemm, "alpha", (float)alpha);
  const int y = onnx_compose_node(c, GRAPH_OP_GEMM, &gemm, inputs, 3);
  c->results[0] = onnx_compose_input(c, 7) == GRAPH_NONE ? y : quantised_by(c, y, 7);
}

static int with_bias(onnx_composer *c, int product, int at) {
  const int bias = onnx_compose_input(c, at);
  return bias == GRAPH_NONE ? product : onnx_compose_binary(c, GRAPH_OP_ADD, product, bias);
}

static int real_of(onnx_composer *c, int x, int scale, int zero) {
  graph_node channels = {0};
  graph_set_int(c->r->g, &channels, "axis", -1);
  return onnx_compose_node(c, GRAPH_OP_DEQUANTIZE_LINEAR, &channels, (const int[]){x, scale, zero}, 3);
}

// A, B, the scale of A, of B, the zero point of A, of B, a bias.
static void integer_to_float(onnx_composer *c) {
  const int a = real_of(c, c->n->inputs[0], c->n->inputs[2], onnx_compose_input(c, 4));
  const int b = real_of(c, c->n->inputs[1], c->n->inputs[3], onnx_compose_input(c, 5));
  c->results[0] = with_bias(c, onnx_compose_binary(c, GRAPH_OP_MAT_MUL, a, b), 6);
}

// A in f32, which is quantised while the network runs, B, its scale and zero point, a bias. The converter quantises A
// with the scale that calibration gives.
static void dynamic_product(onnx_composer *c) {
  const int b = real_of(c, c->n->inputs[1], c->n->inputs[2], onnx_compose_input(c, 3));
  c->results[0] = with_bias(c, onnx_compose_binary(c, GRAPH_OP_MAT_MUL, c->n->inputs[0], b), 4);
}

// ---- GELU in its forms

static int gelu_of(onnx_composer *c, int x, const char *approximate) {
  graph_node attributes = {0};
  graph_set_text(c->r->g, &attributes, "approximate", approximate);
  return onnx_compose_node(c, GRAPH_OP_GELU, &attributes, &x, 1);
}

static void gelu(onnx_composer *c) { c->results[0] = gelu_of(c, c->n->inputs[0], "none"); }
static void bias_gelu(onnx_composer *c) { c->results[0] = gelu_of(c, with_bias(c, c->n->inputs[0], 1), "none"); }
static void fast_gelu(onnx_composer *c) { c->results[0] = gelu_of(c, with_bias(c, c->n->inputs[0], 1), "tanh"); }

static void quick_gelu(onnx_composer *c) {
  const double alpha = (double)graph_float(&c->n->to, "alpha", 1.702f);
  const int gate = onnx_compose_unary(c, GRAPH_OP_SIGMOID, times(c, c->n->inputs[0], alpha));
  c->results[0] = onnx_compose_binary(c, GRAPH_OP_MUL, c->n->inputs[0], gate);
}

// ---- the table

static const onnx_composition compositions[] = {
    {"BiasGelu", 2, 2, 1, 3, bias_gelu},
    {"DynamicQuantizeMatMul", 3, 5, 1, 7, dynamic_product},
    {"FastGelu", 1, 2, 1, 1, fast_gelu},
    {"Gelu", 1, 1, 1, 1, gelu},
    {"MatMulIntegerToFloat", 4, 7, 1, 15, integer_to_float},
    {"QGemm", 6, 9, 1, 27, q_gemm},
    {"QLinearAdd", 7, 8, 1, 91, q_add},
    {"QLinearAveragePool", 4, 5, 1, 11, q_average_pool},
    {"QLinearConcat", 5, 2 + 3 * 300, 1, 31, q_concat},
    {"QLinearGlobalAveragePool", 4, 5, 1, 11, q_global_average_pool},
    {"QLinearLeakyRelu", 4, 5, 1, 11, q_leaky_relu},
    {"QLinearMul", 7, 8, 1, 91, q_mul},
    {"QLinearSigmoid", 4, 5, 1, 11, q_sigmoid},
    {"QLinearSoftmax", 4, 5, 1, 11, q_softmax},
    {"QuickGelu", 1, 1, 1, 1, quick_gelu},
};

const onnx_composition *onnx_find_contrib(const char *op) {
  for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; i++)
    if (strcmp(compositions[i].op, op) == 0) return &compositions[i];
  return NULL;
}
