// SPDX-License-Identifier: Apache-2.0
// Models that are quantised already, as float graphs with pins. A tensor of integers between QuantizeLinear and
// DequantizeLinear becomes the float tensor that it stands for, pinned to its scale and zero point; the two operators
// go. QLinearConv, QLinearMatMul, ConvInteger and MatMulInteger are first written with them. u8 is int8 with its zero
// point 128 less.
#include <math.h>

#include "compiler/quantise/prepare.h"

const quantise_pin *quantise_pin_of(const quantise_pins *pins, int tensor) {
  static const quantise_pin none;
  return pins == NULL || tensor < 0 || tensor >= pins->count ? &none : &pins->of[tensor];
}

// ---- QLinear operators in terms of QuantizeLinear and DequantizeLinear

static int dequantised(graph *g, int x, int scale, int zero, int64_t axis) {
  const graph_tensor t = g->tensors[x];
  const int out = quantise_rewrite_tensor(g, t.name, ".real", GRAPH_F32, t.rank, t.dim);
  const int inputs[3] = {x, scale, zero};
  graph_node *node = graph_add_node(g, GRAPH_OP_DEQUANTIZE_LINEAR, quantise_rewrite_name(g, t.name, ".real"), inputs,
                                    zero == GRAPH_NONE ? 2 : 3, &out, 1);
  graph_set_int(g, node, "axis", axis);
  return out;
}

// The int32 bias of QLinearConv in real numbers.
static bool real_bias(graph *g, const graph_node *node, int *bias) {
  const float *xs = quantise_rewrite_floats(g, node->inputs[1]), *ws = quantise_rewrite_floats(g, node->inputs[4]);
  const graph_tensor b = g->tensors[node->inputs[8]];
  if (b.data == NULL || b.type != GRAPH_I32 || xs == NULL || ws == NULL) return false;
  const int64_t count = graph_elements(&b), scales = graph_elements(&g->tensors[node->inputs[4]]);
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++)
    values[i] = (float)((double)((const int32_t *)b.data)[i] * (double)xs[0] * (double)ws[scales > 1 ? i : 0]);
  *bias = quantise_rewrite_add_floats(g, b.name, 1, &count, values);
  return true;
}

static void copy_attributes(graph_node *to, const graph_node *from) {
  to->attributes = from->attributes;
  to->attribute_count = to->attribute_room = from->attribute_count;
}

static bool split_qlinear(graph *g, const graph_node *node) {
  const bool conv = node->op == GRAPH_OP_QLINEAR_CONV;
  const int *in = node->inputs;
  int inputs[3] = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE}, count = 2;
  if (conv && node->input_count > 8 && in[8] != GRAPH_NONE) {
    if (!real_bias(g, node, &inputs[2])) return false;
    count = 3;
  }
  inputs[0] = dequantised(g, in[0], in[1], in[2], 1);
  inputs[1] = dequantised(g, in[3], in[4], in[5], conv ? 0 : 1);
  const graph_tensor y = g->tensors[node->outputs[0]];
  const int real = quantise_rewrite_tensor(g, y.name, ".real", GRAPH_F32, y.rank, y.dim);
  copy_attributes(graph_add_node(g, conv ? GRAPH_OP_CONV : GRAPH_OP_MAT_MUL, node->name, inputs, count, &real, 1),
                  node);
  const int last[3] = {real, in[6], in[7]};
  graph_add_node(g, GRAPH_OP_QUANTIZE_LINEAR, quantise_rewrite_name(g, node->name, ".quantise"), last, 3, node->outputs,
                 1);
  return true;
}

static bool is_dynamic(const graph *g, const graph_node *node, int input) {
  return node->input_count > input && node->inputs[input] != GRAPH_NONE && g->tensors[node->inputs[input]].data == NULL;
}

// Without a zero point it is 0, also of u8.
static int zero_or_none(graph *g, const graph_node *node, int input, int of) {
  if (node->input_count > input && node->inputs[input] != GRAPH_NONE) return node->inputs[input];
  const graph_type type = g->tensors[of].type;
  const int tensor = quantise_rewrite_tensor(g, g->tensors[of].name, ".zero", type, 0, NULL);
  g->tensors[tensor].data = wf_arena_alloc(g->arena, 1, 1);
  return tensor;
}

static bool split_integer(graph *g, const graph_node *node) {
  if (is_dynamic(g, node, 2) || is_dynamic(g, node, 3)) return false;
  float *one = WF_ARENA_NEW(g->arena, float);
  *one = 1;
  const int unit = quantise_rewrite_add_floats(g, node->name, 0, NULL, one);
  int inputs[2];
  for (int i = 0; i < 2; i++)
    inputs[i] = dequantised(g, node->inputs[i], unit, zero_or_none(g, node, 2 + i, node->inputs[i]), 1);
  const graph_tensor y = g->tensors[node->outputs[0]];
  const int real = quantise_rewrite_tensor(g, y.name, ".real", GRAPH_F32, y.rank, y.dim);
  const graph_op op = node->op == GRAPH_OP_CONV_INTEGER ? GRAPH_OP_CONV : GRAPH_OP_MAT_MUL;
  copy_attributes(graph_add_node(g, op, node->name, inputs, 2, &real, 1), node);
  graph_set_text(
      g, graph_add_node(g, GRAPH_OP_CAST, quantise_rewrite_name(g, node->name, ".sums"), &real, 1, node->outputs, 1),
      "to", graph_type_names[GRAPH_I32]);
  return true;
}

static void split_nodes(graph *g) {
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    const graph_op op = nodes[n].op;
    const bool linear = op == GRAPH_OP_QLINEAR_CONV || op == GRAPH_OP_QLINEAR_MAT_MUL;
    const bool integer = op == GRAPH_OP_CONV_INTEGER || op == GRAPH_OP_MAT_MUL_INTEGER;
    if (!(linear && split_qlinear(g, &nodes[n])) && !(integer && split_integer(g, &nodes[n])))
      quantise_rewrite_keep(g, &nodes[n]);
  }
}

// ---- pins

typedef struct walk {
  graph *g;
  quantise_pins *pins;
  quantise_rewrite_index index;
  int *alias;      // by tensor: what stands for it
  int *new_maker;  // by tensor: the node of the new list that makes it, or GRAPH_NONE
  wf_diag *diag;
} walk;

static bool is_byte(graph_type type) { return type == GRAPH_I8 || type == GRAPH_U8; }

// Scale and zero point of a node as numbers, the zero point as int8's; false: not constant or per channel.
static bool read_scale(const graph *g, const graph_node *node, graph_type type, quantise_pin *pin) {
  int64_t zero = 0;
  if (!quantise_rewrite_number(g, node->inputs[1], &pin->scale) || !(pin->scale > 0)) return false;
  if (node->input_count > 2 && node->inputs[2] != GRAPH_NONE &&
      quantise_rewrite_integers(g, node->inputs[2], &zero, 1) != 1)
    return false;
  pin->is_unsigned = type == GRAPH_U8;
  pin->zero = (int32_t)zero - (pin->is_unsigned ? 128 : 0);
  pin->is_integer = true;
  return true;
}

// ---- constants

typedef struct channel_scales {
  const float *scales;
  int count, axis;
  int64_t inner;  // elements of one channel that follow each other
} channel_scales;

static bool read_channels(const graph *g, const graph_node *node, const graph_tensor *t, channel_scales *s) {
  s->scales = quantise_rewrite_floats(g, node->inputs[1]);
  if (s->scales == NULL) return false;
  s->count = (int)graph_elements(&g->tensors[node->inputs[1]]);
  s->inner = 1;
  s->axis = (int)graph_int(node, "axis", 1);
  if (s->axis < 0) s->axis += t->rank;
  if (s->count == 1) return true;
  if (s->axis >= t->rank || t->dim[s->axis] != s->count) return false;
  for (int i = s->axis + 1; i < t->rank; i++) s->inner *= t->dim[i];
  return true;
}

static int64_t channel_at(const channel_scales *s, int64_t i) { return s->count == 1 ? 0 : i / s->inner % s->count; }

static int64_t integer_of(const graph_tensor *t, int64_t i) {
  if (t->type == GRAPH_I32) return ((const int32_t *)t->data)[i];
  return t->type == GRAPH_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

static int64_t zero_of(const graph *g, const graph_node *node, int64_t channel) {
  if (node->input_count < 3 || node->inputs[2] == GRAPH_NONE) return 0;
  const graph_tensor *zeros = &g->tensors[node->inputs[2]];
  if (zeros->data == NULL) return 0;
  return integer_of(zeros, graph_elements(zeros) == 1 ? 0 : channel);
}

// DequantizeLinear of a constant: a float constant, pinned to its integers if they fit int8 less their zero point.
static bool pin_constant(walk *w, const graph_node *node) {
  graph *g = w->g;
  const graph_tensor t = g->tensors[node->inputs[0]];
  channel_scales s;
  if (t.data == NULL || !(is_byte(t.type) || t.type == GRAPH_I32) || !read_channels(g, node, &t, &s)) return false;
  const int64_t count = graph_elements(&t);
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  int8_t *integers = wf_arena_alloc(g->arena, (size_t)count + 1, 1);
  bool fits = is_byte(t.type);
  for (int64_t i = 0; i < count; i++) {
    const int64_t channel = channel_at(&s, i), number = integer_of(&t, i) - zero_of(g, node, channel);
    values[i] = s.scales[channel] * (float)number;
    fits &= number >= -128 && number <= 127;
    integers[i] = (int8_t)number;
  }
  g->tensors[node->outputs[0]].data = values;
  if (fits)
    w->pins->of[node->outputs[0]] = (quantise_pin){
        .scale = s.scales[0], .integers = integers, .scales = s.scales, .scale_count = s.count, .axis = s.axis};
  return true;
}

// QuantizeLinear of a constant: a constant of integers, for the DequantizeLinear behind it.
static bool quantise_constant(walk *w, const graph_node *node) {
  graph *g = w->g;
  const graph_tensor t = g->tensors[node->inputs[0]];
  channel_scales s;
  if (quantise_rewrite_floats(g, node->inputs[0]) == NULL || !read_channels(g, node, &t, &s)) return false;
  const bool is_unsigned = g->tensors[node->outputs[0]].type == GRAPH_U8;
  const int64_t count = graph_elements(&t);
  uint8_t *bytes = wf_arena_alloc(g->arena, (size_t)count + 1, 1);
  for (int64_t i = 0; i < count; i++) {
    const int64_t channel = channel_at(&s, i);
    const float q = rintf(((const float *)t.data)[i] / s.scales[channel]) + (float)zero_of(g, node, channel);
    const float low = is_unsigned ? 0 : -128, high = is_unsigned ? 255 : 127;
    bytes[i] = (uint8_t)(int)(q < low ? low : q > high ? high : q);
  }
  g->tensors[node->outputs[0]].data = bytes;
  return true;
}

// ---- activations

static void make_real(walk *w, int tensor, const quantise_pin *pin) {
  w->g->tensors[tensor].type = GRAPH_F32;
  w->pins->of[tensor] = *pin;
}

static bool is_pinned(const walk *w, int tensor) { return tensor != GRAPH_NONE && w->pins->of[tensor].scale > 0; }

static void keep(walk *w, const graph_node *node) {
  quantise_rewrite_keep(w->g, node);
  for (int i = 0; i < node->output_count; i++)
    if (node->outputs[i] != GRAPH_NONE) w->new_maker[node->outputs[i]] = w->g->node_count - 1;
}

// The operator that makes x makes the quantised tensor instead, if no other node reads x.
static void quantise_result(walk *w, const graph_node *node, int x) {
  graph *g = w->g;
  const int out = node->outputs[0], maker = w->new_maker[x];
  if (maker != GRAPH_NONE && w->index.uses[node->inputs[0]] == 1 && x == node->inputs[0] && !is_pinned(w, x)) {
    graph_node *made = &g->nodes[maker];
    for (int i = 0; i < made->output_count; i++)
      if (made->outputs[i] == x) made->outputs[i] = out;
    w->new_maker[out] = maker;
    return;
  }
  graph_add_node(g, GRAPH_OP_IDENTITY, node->name, &x, 1, &out, 1);
  w->new_maker[out] = g->node_count - 1;
}

static bool walk_quantise(walk *w, const graph_node *node) {
  quantise_pin pin = {0};
  if (quantise_constant(w, node)) return true;
  if (!is_byte(w->g->tensors[node->outputs[0]].type) || w->g->tensors[node->inputs[0]].type != GRAPH_F32 ||
      !read_scale(w->g, node, w->g->tensors[node->outputs[0]].type, &pin))
    return false;
  quantise_result(w, node, node->inputs[0]);
  make_real(w, node->outputs[0], &pin);
  return true;
}

static bool same_pin(const quantise_pin *a, const quantise_pin *b) {
  return fabsf(a->scale - b->scale) <= 0 && a->zero == b->zero && a->is_unsigned == b->is_unsigned;
}

static bool is_output(const graph *g, int tensor) {
  for (int i = 0; i < g->output_count; i++)
    if (g->outputs[i] == tensor) return true;
  return false;
}

static bool walk_dequantise(walk *w, const graph_node *node) {
  const int in = node->inputs[0];
  const graph_tensor *t = &w->g->tensors[in];
  quantise_pin pin = {0};
  if (pin_constant(w, node)) return true;
  if (is_pinned(w, in)) {
    if (!read_scale(w->g, node, w->pins->of[in].is_unsigned ? GRAPH_U8 : GRAPH_I8, &pin)) return false;
    if (!same_pin(&pin, &w->pins->of[in])) {
      wf_error(w->diag, wf_in_file(w->g->name), "node '%s' reads integers with another scale than they were made with",
               node->name);
      return true;
    }
  } else {
    if (w->new_maker[in] != GRAPH_NONE || !is_byte(t->type) || !read_scale(w->g, node, t->type, &pin)) return false;
    make_real(w, in, &pin);
  }
  if (is_output(w->g, node->outputs[0])) {  // real numbers leave the graph, whatever the integers do
    graph_add_node(w->g, GRAPH_OP_IDENTITY, node->name, &in, 1, node->outputs, 1);
    return true;
  }
  w->alias[node->outputs[0]] = in;
  return true;
}

// Operators that move numbers and take the largest do the same to integers and to what they stand for.
static bool moves(graph_op op) {
  static const graph_op ops[] = {
      GRAPH_OP_RESHAPE, GRAPH_OP_FLATTEN, GRAPH_OP_SQUEEZE,  GRAPH_OP_UNSQUEEZE,      GRAPH_OP_TRANSPOSE,
      GRAPH_OP_SLICE,   GRAPH_OP_SPLIT,   GRAPH_OP_CONCAT,   GRAPH_OP_MAX_POOL,       GRAPH_OP_GATHER,
      GRAPH_OP_EXPAND,  GRAPH_OP_TILE,    GRAPH_OP_IDENTITY, GRAPH_OP_DEPTH_TO_SPACE, GRAPH_OP_SPACE_TO_DEPTH};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (ops[i] == op) return true;
  return false;
}

static void walk_other(walk *w, const graph_node *node) {
  graph *g = w->g;
  const int in = node->input_count > 0 ? node->inputs[0] : GRAPH_NONE;
  const graph_node was = *node;
  keep(w, node);
  if (was.output_count == 0 || was.outputs[0] == GRAPH_NONE || !is_pinned(w, in) ||
      !is_byte(g->tensors[was.outputs[0]].type))
    return;
  const quantise_pin pin = w->pins->of[in];
  if (!pin.is_integer || !moves(was.op)) {
    wf_error(w->diag, wf_in_file(g->name), "node '%s' (%s) reads the integers of a quantised tensor", was.name,
             graph_op_name(was.op));
    wf_hint(w->diag, "only operators that move numbers may stand between QuantizeLinear and DequantizeLinear");
    return;
  }
  for (int i = 0; i < was.output_count; i++)
    if (was.outputs[i] != GRAPH_NONE && is_byte(g->tensors[was.outputs[i]].type)) make_real(w, was.outputs[i], &pin);
}

static void walk_nodes(walk *w) {
  graph *g = w->g;
  int count;
  graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    graph_node *node = &nodes[n];
    for (int i = 0; i < node->input_count; i++)
      if (node->inputs[i] != GRAPH_NONE) node->inputs[i] = w->alias[node->inputs[i]];
    const bool gone = node->op == GRAPH_OP_QUANTIZE_LINEAR     ? walk_quantise(w, node)
                      : node->op == GRAPH_OP_DEQUANTIZE_LINEAR ? walk_dequantise(w, node)
                                                               : false;
    if (!gone) walk_other(w, node);
  }
  for (int i = 0; i < g->output_count; i++) g->outputs[i] = w->alias[g->outputs[i]];
}

bool quantise_prepare_pins(graph *g, quantise_pins *pins, wf_diag *diag) {
  const unsigned errors = diag->errors;
  split_nodes(g);
  const size_t count = (size_t)g->tensor_count;
  *pins = (quantise_pins){WF_ARENA_ARRAY(g->arena, count + 1, quantise_pin), g->tensor_count};
  walk w = {g,
            pins,
            quantise_rewrite_index_of(g),
            WF_ARENA_ARRAY(g->arena, count + 1, int),
            WF_ARENA_ARRAY(g->arena, count + 1, int),
            diag};
  for (size_t t = 0; t < count; t++) {
    w.alias[t] = (int)t;
    w.new_maker[t] = GRAPH_NONE;
  }
  walk_nodes(&w);
  return diag->errors == errors;
}
