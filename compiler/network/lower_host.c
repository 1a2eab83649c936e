// SPDX-License-Identifier: Apache-2.0
// Operators of the hart that change values: between int8 and numbers, element by element, over dimensions.
#include <math.h>
#include <string.h>

#include "compiler/graph/element.h"
#include "compiler/network/private.h"

// ---- calls over the whole result

// A call over all elements of the result with the first `inputs` inputs broadcast to it.
static network_call *over_result(network_lowering *l, network_step *step, enum weft_host_op op, int inputs) {
  network_lower_view y;
  if (!network_lower_view_of(l, l->node->outputs[0], &y)) return NULL;
  network_call *call = network_lower_call(l, step, op);
  network_lower_set(call, 0, &y);
  for (int i = 0; i < inputs; i++) {
    network_lower_view x;
    if (!network_lower_view_of(l, l->node->inputs[i], &x)) return NULL;
    x = network_lower_broadcast(&x, y.rank, y.dim);
    network_lower_set(call, i + 1, &x);
  }
  return call;
}

static bool simple(network_lowering *l, enum weft_host_op op, int inputs) {
  network_call *call = over_result(l, network_lower_host(l), op, inputs);
  if (call != NULL) network_lower_squeeze(call);
  return call != NULL;
}

// ---- between int8 and numbers

bool network_lower_lut(network_lowering *l) {
  network_lower_view table;
  network_call *call = over_result(l, network_lower_host(l), WEFT_HOST_LUT, 1);
  if (call == NULL || !network_lower_view_of(l, l->node->inputs[1], &table)) return false;
  if (table.rank != 1 || table.dim[0] != 256) return network_lower_refuse(l, "the table has not 256 entries");
  table.rank = 0;
  network_lower_set(call, 2, &table);
  network_lower_squeeze(call);
  return true;
}

// x with its dimensions in the order of `perm`, if the node has it.
static bool permuted(network_lowering *l, network_lower_view *view) {
  int64_t perm[WEFT_HOST_RANK];
  const int count = graph_ints(l->node, "perm", perm, WEFT_HOST_RANK);
  if (count == 0) return true;
  if (count != view->rank) return network_lower_refuse(l, "perm has %d entries for %d dimensions", count, view->rank);
  const network_lower_view old = *view;
  for (int d = 0; d < count; d++) {
    view->dim[d] = old.dim[perm[d]];
    view->step[d] = old.step[perm[d]];
  }
  return true;
}

static network_call *between(network_lowering *l, network_step *step, enum weft_host_op op,
                             const network_lower_view *to, const network_lower_view *from) {
  network_call *call = network_lower_call(l, step, op);
  network_lower_set(call, 0, to);
  network_lower_set(call, 1, from);
  call->call.number[0] = graph_float(l->node, "scale", 1);
  call->call.integer[0] = graph_int(l->node, "zero", 0);
  network_lower_squeeze(call);
  return call;
}

static bool is_end(const int *ends, int count, int tensor) {
  for (int i = 0; i < count; i++)
    if (ends[i] == tensor) return true;
  return false;
}

bool network_lower_quantize(network_lowering *l) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  if (y.type != WEFT_I8) return network_lower_refuse(l, "the result is not int8");
  if (!permuted(l, &x)) return false;
  int64_t pads[2 * WEFT_HOST_RANK] = {0};
  const int pad_count = graph_ints(l->node, "pads", pads, 2 * WEFT_HOST_RANK);
  if (pad_count != 0 && pad_count != 2 * y.rank) return network_lower_refuse(l, "pads do not fit the result");
  network_step *step = network_lower_host(l);
  step->edge = is_end(l->g->inputs, l->g->input_count, l->node->inputs[0]);
  if (pad_count != 0) network_lower_borders(l, step, &y, pads, (int8_t)graph_int(l->node, "zero", 0));
  for (int d = 0; d < y.rank; d++) {
    y.place.offset += (uint64_t)(pads[d] * y.step[d]);
    y.dim[d] = x.dim[d];
  }
  between(l, step, WEFT_HOST_QUANTIZE, &y, &x);
  return true;
}

bool network_lower_dequantize(network_lowering *l) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  if (!permuted(l, &x)) return false;
  network_step *step = network_lower_host(l);
  step->edge = is_end(l->g->outputs, l->g->output_count, l->node->outputs[0]);
  between(l, step, WEFT_HOST_DEQUANTIZE, &y, &x);
  return true;
}

bool network_lower_requantize(network_lowering *l) {
  network_call *call = over_result(l, network_lower_host(l), WEFT_HOST_REQUANTIZE, 2);
  if (call == NULL) return false;
  call->call.integer[0] = graph_int(l->node, "zero", 0);
  network_lower_squeeze(call);
  return true;
}

// ---- functions of one element

typedef struct unary {
  graph_op op;
  enum weft_host_op host;
  const char *name_a, *name_b;  // attributes
  float a, b;                   // by default
} unary;

static const unary unaries[] = {
    {GRAPH_OP_ABS, WEFT_HOST_ABS, NULL, NULL, 0, 0},
    {GRAPH_OP_NEG, WEFT_HOST_NEG, NULL, NULL, 0, 0},
    {GRAPH_OP_EXP, WEFT_HOST_EXP, NULL, NULL, 0, 0},
    {GRAPH_OP_LOG, WEFT_HOST_LOG, NULL, NULL, 0, 0},
    {GRAPH_OP_SQRT, WEFT_HOST_SQRT, NULL, NULL, 0, 0},
    {GRAPH_OP_ERF, WEFT_HOST_ERF, NULL, NULL, 0, 0},
    {GRAPH_OP_TANH, WEFT_HOST_TANH, NULL, NULL, 0, 0},
    {GRAPH_OP_SIN, WEFT_HOST_SIN, NULL, NULL, 0, 0},
    {GRAPH_OP_COS, WEFT_HOST_COS, NULL, NULL, 0, 0},
    {GRAPH_OP_SIGMOID, WEFT_HOST_SIGMOID, NULL, NULL, 0, 0},
    {GRAPH_OP_RECIPROCAL, WEFT_HOST_RECIPROCAL, NULL, NULL, 0, 0},
    {GRAPH_OP_FLOOR, WEFT_HOST_FLOOR, NULL, NULL, 0, 0},
    {GRAPH_OP_CEIL, WEFT_HOST_CEIL, NULL, NULL, 0, 0},
    {GRAPH_OP_ROUND, WEFT_HOST_ROUND, NULL, NULL, 0, 0},
    {GRAPH_OP_SOFTPLUS, WEFT_HOST_SOFTPLUS, NULL, NULL, 0, 0},
    {GRAPH_OP_RELU, WEFT_HOST_CLIP, NULL, NULL, 0, INFINITY},
    {GRAPH_OP_LEAKY_RELU, WEFT_HOST_LEAKY_RELU, "alpha", NULL, 0.01f, 0},
    {GRAPH_OP_ELU, WEFT_HOST_ELU, "alpha", NULL, 1, 0},
    {GRAPH_OP_HARD_SIGMOID, WEFT_HOST_HARD_SIGMOID, "alpha", "beta", 0.2f, 0.5f},
    {GRAPH_OP_HARD_SWISH, WEFT_HOST_HARD_SWISH, NULL, NULL, 0, 0},
    {GRAPH_OP_NOT, WEFT_HOST_NOT, NULL, NULL, 0, 0},
};

static bool expect_float(const network_lowering *l, int input) {
  const graph_tensor *t = network_lower_input(l, input);
  return t->type == GRAPH_F32 ||
         network_lower_refuse(l, "tensor %s is %s, not f32", t->name, graph_type_names[t->type]);
}

static bool function(network_lowering *l, enum weft_host_op op, float a, float b) {
  network_call *call = over_result(l, network_lower_host(l), op, 1);
  if (call == NULL) return false;
  call->call.number[0] = a;
  call->call.number[1] = b;
  network_lower_squeeze(call);
  return true;
}

bool network_lower_unary(network_lowering *l) {
  const graph_node *node = l->node;
  if (node->op != GRAPH_OP_NOT && !expect_float(l, 0)) return false;
  if (node->op == GRAPH_OP_GELU)
    return function(
        l, strcmp(graph_text(node, "approximate", "none"), "tanh") == 0 ? WEFT_HOST_GELU_TANH : WEFT_HOST_GELU, 0, 0);
  for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
    const unary *u = &unaries[i];
    if (u->op != node->op) continue;
    return function(l, u->host, u->name_a == NULL ? u->a : graph_float(node, u->name_a, u->a),
                    u->name_b == NULL ? u->b : graph_float(node, u->name_b, u->b));
  }
  return network_lower_refuse(l, "no such function on the host");
}

bool network_lower_clip(network_lowering *l) {
  float limits[2] = {-INFINITY, INFINITY};
  if (!expect_float(l, 0)) return false;
  for (int i = 0; i < 2; i++) {
    if (!network_lower_has(l->node, i + 1)) continue;
    const graph_tensor *t = network_lower_input(l, i + 1);
    if (t->data == NULL) return network_lower_refuse(l, "a limit is no constant");
    memcpy(&limits[i], t->data, sizeof limits[i]);
  }
  return function(l, WEFT_HOST_CLIP, limits[0], limits[1]);
}

// ---- functions of several elements

bool network_lower_binary(network_lowering *l) {
  static const struct {
    graph_op op;
    enum weft_host_op host;
  } table[] = {{GRAPH_OP_ADD, WEFT_HOST_ADD}, {GRAPH_OP_SUB, WEFT_HOST_SUB}, {GRAPH_OP_MUL, WEFT_HOST_MUL},
               {GRAPH_OP_DIV, WEFT_HOST_DIV}, {GRAPH_OP_POW, WEFT_HOST_POW}, {GRAPH_OP_AND, WEFT_HOST_AND},
               {GRAPH_OP_OR, WEFT_HOST_OR}};
  const graph_tensor *x = network_lower_input(l, 0), *y = network_lower_input(l, 1);
  const bool power = l->node->op == GRAPH_OP_POW;
  if (x->type != y->type && (!power || graph_is_real(x->type))) return network_lower_refuse(l, "operands of two types");
  if (power && x->type == GRAPH_F64) return network_lower_refuse(l, "powers of %s", graph_type_names[x->type]);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].op == l->node->op) return simple(l, table[i].host, 2);
  return network_lower_refuse(l, "no such operator on the host");
}

bool network_lower_mod(network_lowering *l) {
  return simple(l, graph_int(l->node, "fmod", 0) != 0 ? WEFT_HOST_REMAINDER : WEFT_HOST_MODULO, 2);
}

bool network_lower_shift(network_lowering *l) {
  const bool left = strcmp(graph_text(l->node, "direction", ""), "LEFT") == 0;
  return simple(l, left ? WEFT_HOST_SHIFT_LEFT : WEFT_HOST_SHIFT_RIGHT, 2);
}

bool network_lower_compare(network_lowering *l) {
  const graph_op op = l->node->op;
  const bool turned = op == GRAPH_OP_GREATER || op == GRAPH_OP_GREATER_OR_EQUAL;
  const bool or_equal = op == GRAPH_OP_LESS_OR_EQUAL || op == GRAPH_OP_GREATER_OR_EQUAL;
  network_call *call = over_result(l, network_lower_host(l),
                                   op == GRAPH_OP_EQUAL ? WEFT_HOST_EQUAL
                                   : or_equal           ? WEFT_HOST_LESS_OR_EQUAL
                                                        : WEFT_HOST_LESS,
                                   2);
  if (call == NULL) return false;
  if (turned) {
    const struct weft_host_operand x = call->call.operand[1];
    const network_place place = call->place[1];
    call->call.operand[1] = call->call.operand[2];
    call->call.operand[2] = x;
    call->place[1] = call->place[2];
    call->place[2] = place;
  }
  network_lower_squeeze(call);
  return true;
}

// The first two inputs, then the result with each of the others.
bool network_lower_many(network_lowering *l) {
  const graph_op op = l->node->op;
  const enum weft_host_op host = op == GRAPH_OP_MAX   ? WEFT_HOST_MAX
                                 : op == GRAPH_OP_MIN ? WEFT_HOST_MIN
                                                      : WEFT_HOST_ADD;
  network_lower_view y, x, sum;
  if (!network_lower_view_of(l, l->node->outputs[0], &y) || !network_lower_view_of(l, l->node->inputs[0], &sum))
    return false;
  sum = network_lower_broadcast(&sum, y.rank, y.dim);
  if (l->node->input_count == 1) network_lower_copy(l, &y, &sum);
  network_step *step = l->node->input_count == 1 ? NULL : network_lower_host(l);
  for (int i = 1; i < l->node->input_count; i++, sum = y) {
    if (!network_lower_view_of(l, l->node->inputs[i], &x)) return false;
    x = network_lower_broadcast(&x, y.rank, y.dim);
    network_call *call = network_lower_call(l, step, host);
    network_lower_set(call, 0, &y);
    network_lower_set(call, 1, &sum);
    network_lower_set(call, 2, &x);
    network_lower_squeeze(call);
  }
  return true;
}

bool network_lower_where(network_lowering *l) { return simple(l, WEFT_HOST_WHERE, 3); }
bool network_lower_cast(network_lowering *l) { return simple(l, WEFT_HOST_CAST, 1); }

// ---- over dimensions

static int64_t axis_of(const network_lowering *l, int64_t by_default) {
  const int64_t axis = graph_int(l->node, "axis", by_default);
  return axis < 0 ? axis + network_lower_input(l, 0)->rank : axis;
}

// Moves dimensions to the end of a call, in their order.
static void make_inner(network_call *call, const bool *inner) {
  const struct weft_host_call old = call->call;
  struct weft_host_call *c = &call->call;
  uint32_t to = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t d = 0; d < old.rank; d++) {
      if (inner[d] != (pass == 1)) continue;
      c->dim[to] = old.dim[d];
      for (int o = 0; o < WEFT_HOST_OPERANDS; o++) c->operand[o].step[to] = old.operand[o].step[d];
      to++;
    }
    if (pass == 0) c->outer = to;
  }
}

bool network_lower_softmax(network_lowering *l) {
  if (!expect_float(l, 0)) return false;
  const enum weft_host_op op = l->node->op == GRAPH_OP_SOFTMAX ? WEFT_HOST_SOFTMAX : WEFT_HOST_LOG_SOFTMAX;
  network_call *call = over_result(l, network_lower_host(l), op, 1);
  if (call == NULL) return false;
  bool inner[WEFT_HOST_RANK] = {false};
  inner[axis_of(l, -1)] = true;
  make_inner(call, inner);
  network_lower_squeeze(call);
  return true;
}

bool network_lower_layer_norm(network_lowering *l) {
  if (!expect_float(l, 0)) return false;
  for (int o = 1; o < l->node->output_count; o++)
    if (l->node->outputs[o] != GRAPH_NONE) return network_lower_refuse(l, "mean and deviation as results");
  const int64_t axis = axis_of(l, -1);
  const int64_t one[1] = {1};
  float *zero = network_lower_alloc(l, sizeof *zero);
  network_call *call =
      over_result(l, network_lower_host(l), WEFT_HOST_NORMALIZE, network_lower_has(l->node, 2) ? 3 : 2);
  if (call == NULL) return false;
  if (!network_lower_has(l->node, 2)) {
    network_lower_view none =
        network_lower_view_at(network_lower_constant(l, "zero", zero, sizeof *zero), WEFT_F32, 1, one);
    none.rank = 0;
    network_lower_set(call, 3, &none);
  }
  call->call.number[0] = graph_float(l->node, "epsilon", 1e-5f);
  call->call.outer = (uint32_t)axis;
  network_lower_squeeze(call);
  if (call->call.outer + 1 != call->call.rank) return network_lower_refuse(l, "axes that are not one in memory");
  return true;
}

// The axes of a reduction, from the attribute or the constant second input; none: all.
static bool reduced_axes(network_lowering *l, bool *reduced) {
  const int rank = network_lower_input(l, 0)->rank;
  int64_t axes[WEFT_HOST_RANK];
  int count = graph_ints(l->node, "axes", axes, WEFT_HOST_RANK);
  if (network_lower_has(l->node, 1)) {
    const graph_tensor *t = network_lower_input(l, 1);
    if (t->data == NULL) return network_lower_refuse(l, "the axes are no constant");
    count = (int)graph_elements(t);
    memcpy(axes, t->data, (size_t)count * sizeof *axes);
  }
  for (int d = 0; d < WEFT_HOST_RANK; d++) reduced[d] = count == 0 && d < rank;
  for (int i = 0; i < count; i++) reduced[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
  return true;
}

// A call over all elements of the input with the reduced dimensions inside.
static network_call *reduction(network_lowering *l, enum weft_host_op op, const bool *reduced) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return NULL;
  network_call *call = network_lower_call(l, network_lower_host(l), op);
  network_lower_set(call, 0, &x);
  network_lower_set(call, 1, &x);
  int64_t kept[WEFT_HOST_RANK];
  for (int d = 0; d < x.rank; d++) kept[d] = reduced[d] ? 1 : x.dim[d];
  const network_lower_view result = network_lower_view_at(y.place, y.type, x.rank, kept);
  struct weft_host_operand *o = &call->call.operand[0];
  call->place[0] = y.place;
  o->type = (uint32_t)y.type;
  o->element_bytes = y.element_bytes;
  for (int d = 0; d < x.rank; d++) o->step[d] = reduced[d] ? 0 : result.step[d];
  make_inner(call, reduced);
  network_lower_squeeze(call);
  return call;
}

bool network_lower_reduce(network_lowering *l) {
  static const struct {
    graph_op op;
    enum weft_host_op host;
  } table[] = {{GRAPH_OP_REDUCE_SUM, WEFT_HOST_SUM},      {GRAPH_OP_REDUCE_MEAN, WEFT_HOST_SUM},
               {GRAPH_OP_REDUCE_MAX, WEFT_HOST_LARGEST},  {GRAPH_OP_REDUCE_MIN, WEFT_HOST_SMALLEST},
               {GRAPH_OP_REDUCE_PROD, WEFT_HOST_PRODUCT}, {GRAPH_OP_REDUCE_SUM_SQUARE, WEFT_HOST_SUM_SQUARES}};
  bool reduced[WEFT_HOST_RANK];
  if (!expect_float(l, 0) || !reduced_axes(l, reduced)) return false;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].op != l->node->op) continue;
    network_call *call = reduction(l, table[i].host, reduced);
    if (call == NULL) return false;
    const int64_t means = graph_elements(network_lower_output(l, 0));  // 0 of an empty tensor
    const bool mean = l->node->op == GRAPH_OP_REDUCE_MEAN && means > 0;
    call->call.number[0] = mean ? (float)means / (float)graph_elements(network_lower_input(l, 0)) : 1.0f;
    return true;
  }
  return network_lower_refuse(l, "no such reduction on the host");
}

bool network_lower_arg(network_lowering *l) {
  if (graph_int(l->node, "select_last_index", 0) != 0) return network_lower_refuse(l, "the last of equal elements");
  const enum weft_host_op op = l->node->op == GRAPH_OP_ARG_MAX ? WEFT_HOST_ARG_LARGEST : WEFT_HOST_ARG_SMALLEST;
  bool reduced[WEFT_HOST_RANK] = {false};
  reduced[axis_of(l, 0)] = true;
  return reduction(l, op, reduced) != NULL;
}
