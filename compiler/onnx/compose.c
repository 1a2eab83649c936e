// SPDX-License-Identifier: Apache-2.0
// Compositions: see compose.h. Of ONNX's own domain: losses, normalisation by groups, batch normalisation that computes
// its statistics.
//   NegativeLogLikelihoodLoss   -w[t] x[n, t, ..], t the target; the mean is over the sum of w[t]
//   SoftmaxCrossEntropyLoss     the same of LogSoftmax
//   GroupNormalization          InstanceNormalization of [N, groups, all], then scale and bias
#include "compiler/onnx/compose.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"

// ---- nodes and constants

void onnx_compose_fail(onnx_composer *c, const char *format, ...) {
  char message[200];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (!c->failed) onnx_node_fail(c->r, c->n, "%s", message);
  c->failed = true;
}

const graph_tensor *onnx_compose_tensor(const onnx_composer *c, int tensor) { return &c->r->g->tensors[tensor]; }

int onnx_compose_input(const onnx_composer *c, int at) {
  return at < c->n->input_count ? c->n->inputs[at] : GRAPH_NONE;
}

int onnx_compose_node(onnx_composer *c, graph_op op, const graph_node *attributes, const int *inputs, int count) {
  const graph_node none = {0};
  if (c->failed) return GRAPH_NONE;
  while (count > 0 && inputs[count - 1] == GRAPH_NONE) count--;
  const int result = onnx_insert(c->r, c->n, op, attributes != NULL ? attributes : &none, inputs, count);
  c->failed = result == GRAPH_NONE;
  return result;
}

int onnx_compose_unary(onnx_composer *c, graph_op op, int x) { return onnx_compose_node(c, op, NULL, &x, 1); }

int onnx_compose_binary(onnx_composer *c, graph_op op, int a, int b) {
  return onnx_compose_node(c, op, NULL, (const int[]){a, b}, 2);
}

int onnx_compose_constant(onnx_composer *c, graph_type type, int rank, const int64_t *dim, const void *data) {
  graph_tensor t = {.type = type, .rank = rank};
  for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
  void *copy = wf_arena_alloc(c->r->g->arena, graph_bytes(&t) + 1, 1);
  if (graph_bytes(&t) != 0) memcpy(copy, data, graph_bytes(&t));
  t.data = copy;
  char *name = wf_format("%s.constant", c->n->name);
  const int tensor = onnx_new_tensor(c->r, name, &t);
  wf_free(name);
  return tensor;
}

int onnx_compose_number(onnx_composer *c, graph_type type, double value) {
  int64_t bytes = 0;
  graph_put_real(type, &bytes, 0, value);
  return onnx_compose_constant(c, type, 0, NULL, &bytes);
}

int onnx_compose_integer(onnx_composer *c, graph_type type, int64_t value) {
  int64_t bytes = 0;
  graph_put_int(type, &bytes, 0, value);
  return onnx_compose_constant(c, type, 0, NULL, &bytes);
}

int onnx_compose_reshape(onnx_composer *c, int x, int rank, const int64_t *dim) {
  if (c->failed) return GRAPH_NONE;
  const int64_t count = rank;
  return onnx_compose_binary(c, GRAPH_OP_RESHAPE, x, onnx_compose_constant(c, GRAPH_I64, 1, &count, dim));
}

int onnx_compose_along(onnx_composer *c, graph_op op, int x, int64_t axis) {
  graph_node attributes = {0};
  graph_set_int(c->r->g, &attributes, "axis", axis);
  return onnx_compose_node(c, op, &attributes, &x, 1);
}

int onnx_compose_cast(onnx_composer *c, int x, graph_type type) {
  graph_node attributes = {0};
  if (c->failed || onnx_compose_tensor(c, x)->type == type) return x;
  graph_set_text(c->r->g, &attributes, "to", graph_type_names[type]);
  return onnx_compose_node(c, GRAPH_OP_CAST, &attributes, &x, 1);
}

// ---- losses

static int gather(onnx_composer *c, graph_op op, int x, int indices, int64_t axis) {
  graph_node attributes = {0};
  graph_set_int(c->r->g, &attributes, "axis", axis);
  return onnx_compose_node(c, op, &attributes, (const int[]){x, indices}, 2);
}

static int choose(onnx_composer *c, int condition, int a, int b) {
  return onnx_compose_node(c, GRAPH_OP_WHERE, NULL, (const int[]){condition, a, b}, 3);
}

// x at the target's class, in the target's shape.
static int picked(onnx_composer *c, int x, int target) {
  if (c->failed) return GRAPH_NONE;
  const int64_t one = 1;
  const int axes = onnx_compose_constant(c, GRAPH_I64, 1, &one, &one);
  const int indices = onnx_compose_binary(c, GRAPH_OP_UNSQUEEZE, target, axes);
  return onnx_compose_binary(c, GRAPH_OP_SQUEEZE, gather(c, GRAPH_OP_GATHER_ELEMENTS, x, indices, 1), axes);
}

static int sum_of(onnx_composer *c, graph_op op, int x) {
  graph_node attributes = {0};
  graph_set_int(c->r->g, &attributes, "keepdims", 0);
  return onnx_compose_node(c, op, &attributes, &x, 1);
}

static int reduced(onnx_composer *c, int loss, int weight) {
  const char *how = graph_text(&c->n->to, "reduction", "mean");
  if (strcmp(how, "none") == 0) return loss;
  if (strcmp(how, "sum") == 0) return sum_of(c, GRAPH_OP_REDUCE_SUM, loss);
  if (strcmp(how, "mean") != 0) onnx_compose_fail(c, "its reduction '%s' is unknown", how);
  if (weight == GRAPH_NONE) return sum_of(c, GRAPH_OP_REDUCE_MEAN, loss);
  return onnx_compose_binary(c, GRAPH_OP_DIV, sum_of(c, GRAPH_OP_REDUCE_SUM, loss),
                             sum_of(c, GRAPH_OP_REDUCE_SUM, weight));
}

static bool is_loss(onnx_composer *c, int x, int target) {
  const graph_tensor *a = onnx_compose_tensor(c, x), *b = onnx_compose_tensor(c, target);
  bool fits = graph_is_real(a->type) && (b->type == GRAPH_I32 || b->type == GRAPH_I64) && a->rank >= 2 &&
              b->rank == a->rank - 1;
  for (int d = 0; fits && d < b->rank; d++) fits = b->dim[d] == a->dim[d == 0 ? 0 : d + 1];
  if (!fits) onnx_compose_fail(c, "its targets do not fit its input");
  return fits;
}

static int loss_of(onnx_composer *c, int x) {
  int target = onnx_compose_input(c, 1), weight = onnx_compose_input(c, 2), ignored = GRAPH_NONE;
  if (c->failed || !is_loss(c, x, target)) return GRAPH_NONE;
  const graph_type index = onnx_compose_tensor(c, target)->type, real = onnx_compose_tensor(c, x)->type;
  const int64_t ignore = graph_int(&c->n->to, "ignore_index", 0);
  const bool can_be = index == GRAPH_I64 || (int32_t)ignore == ignore;  // else no target equals it
  if (can_be && graph_find_attribute(&c->n->to, "ignore_index") != NULL) {
    ignored = onnx_compose_binary(c, GRAPH_OP_EQUAL, target, onnx_compose_integer(c, index, ignore));
    target = choose(c, ignored, onnx_compose_integer(c, index, 0), target);
    if (weight == GRAPH_NONE)
      weight = choose(c, ignored, onnx_compose_number(c, real, 0), onnx_compose_number(c, real, 1));
    else
      weight = choose(c, ignored, onnx_compose_number(c, real, 0), gather(c, GRAPH_OP_GATHER, weight, target, 0));
  } else if (weight != GRAPH_NONE) {
    weight = gather(c, GRAPH_OP_GATHER, weight, target, 0);
  }
  int loss = onnx_compose_unary(c, GRAPH_OP_NEG, picked(c, x, target));
  if (weight != GRAPH_NONE) loss = onnx_compose_binary(c, GRAPH_OP_MUL, loss, weight);
  return reduced(c, loss, weight);
}

static void likelihood(onnx_composer *c) { c->results[0] = loss_of(c, c->n->inputs[0]); }

static void cross_entropy(onnx_composer *c) {
  const int logs = onnx_compose_along(c, GRAPH_OP_LOG_SOFTMAX, c->n->inputs[0], 1);
  c->results[0] = loss_of(c, logs);
  c->results[1] = logs;
}

// ---- normalisation by groups: of opset 18 with scale and bias per group, of 21 per channel

// A list of numbers per channel or group, as [C, 1, ..] beside the image.
static int beside_image(onnx_composer *c, int list, int64_t groups, const graph_tensor *x) {
  int64_t dim[GRAPH_RANK_MAX];
  const graph_tensor *t = onnx_compose_tensor(c, list);
  const int64_t channels = x->dim[1];
  for (int d = 0; d < GRAPH_RANK_MAX; d++) dim[d] = 1;
  if (t->rank != 1 || t->type != x->type || (t->dim[0] != groups && t->dim[0] != channels)) {
    onnx_compose_fail(c, "its scale and bias do not fit its input");
    return GRAPH_NONE;
  }
  if (t->dim[0] != channels) {
    const int64_t two = 2, wide[2] = {groups, channels / groups}, narrow[2] = {groups, 1};
    const int column = onnx_compose_reshape(c, list, 2, narrow);
    list = onnx_compose_binary(c, GRAPH_OP_EXPAND, column, onnx_compose_constant(c, GRAPH_I64, 1, &two, wide));
  }
  dim[0] = channels;
  return onnx_compose_reshape(c, list, x->rank - 1, dim);
}

static int ones_or_zeros(onnx_composer *c, graph_type type, int64_t count, double value) {
  if (c->failed) return GRAPH_NONE;
  const int64_t one = 1;
  return onnx_compose_binary(c, GRAPH_OP_EXPAND, onnx_compose_number(c, type, value),
                             onnx_compose_constant(c, GRAPH_I64, 1, &one, &count));
}

static void group_norm(onnx_composer *c) {
  const graph_tensor x = *onnx_compose_tensor(c, c->n->inputs[0]);
  const int64_t groups = graph_int(&c->n->to, "num_groups", 0);
  if (x.rank < 3 || groups < 1 || x.dim[1] % groups != 0 || !graph_is_real(x.type) || graph_elements(&x) == 0) {
    onnx_compose_fail(c, "its groups do not fit its input");
    return;
  }
  const int64_t grouped[3] = {x.dim[0], groups, graph_elements(&x) / x.dim[0] / groups};
  graph_node norm = {0};
  graph_set_float(c->r->g, &norm, "epsilon", graph_float(&c->n->to, "epsilon", 1e-5f));
  const int inputs[3] = {onnx_compose_reshape(c, c->n->inputs[0], 3, grouped), ones_or_zeros(c, x.type, groups, 1),
                         ones_or_zeros(c, x.type, groups, 0)};
  const int flat = onnx_compose_node(c, GRAPH_OP_INSTANCE_NORMALIZATION, &norm, inputs, 3);
  const int same = onnx_compose_reshape(c, flat, x.rank, x.dim);
  const int scaled = onnx_compose_binary(c, GRAPH_OP_MUL, same, beside_image(c, c->n->inputs[1], groups, &x));
  c->results[0] = onnx_compose_binary(c, GRAPH_OP_ADD, scaled, beside_image(c, c->n->inputs[2], groups, &x));
}

// ---- batch normalisation that computes its statistics: y, and the moving mean and variance

static int moving(onnx_composer *c, int old, int now) {
  if (c->failed) return GRAPH_NONE;
  const double momentum = (double)graph_float(&c->n->to, "momentum", 0.9f);
  const graph_type type = onnx_compose_tensor(c, old)->type;
  const int kept = onnx_compose_binary(c, GRAPH_OP_MUL, old, onnx_compose_number(c, type, momentum));
  const int added = onnx_compose_binary(c, GRAPH_OP_MUL, now, onnx_compose_number(c, type, 1 - momentum));
  return onnx_compose_binary(c, GRAPH_OP_ADD, kept, added);
}

// Over all dimensions but the channels'.
static int mean_per_channel(onnx_composer *c, int x, int rank) {
  int64_t axes[GRAPH_RANK_MAX] = {0};
  graph_node attributes = {0};
  for (int d = 2; d < rank; d++) axes[d - 1] = d;
  graph_set_ints(c->r->g, &attributes, "axes", axes, rank - 1);
  return onnx_compose_node(c, GRAPH_OP_REDUCE_MEAN, &attributes, &x, 1);
}

static void batch_norm(onnx_composer *c) {
  const graph_tensor x = *onnx_compose_tensor(c, c->n->inputs[0]);
  if (x.rank < 2 || graph_elements(&x) == 0 || !graph_is_real(x.type)) {
    onnx_compose_fail(c, "its input has no channels");
    return;
  }
  const int mean = mean_per_channel(c, c->n->inputs[0], x.rank);
  const int centred = onnx_compose_binary(c, GRAPH_OP_SUB, c->n->inputs[0], mean);
  const int squares = onnx_compose_binary(c, GRAPH_OP_MUL, centred, centred);
  const int variance = c->failed ? GRAPH_NONE : mean_per_channel(c, squares, x.rank);
  graph_node norm = {0};
  graph_set_float(c->r->g, &norm, "epsilon", graph_float(&c->n->to, "epsilon", 1e-5f));
  int inputs[5] = {c->n->inputs[0], c->n->inputs[1], c->n->inputs[2]};
  inputs[3] = onnx_compose_reshape(c, mean, 1, &x.dim[1]);
  inputs[4] = onnx_compose_reshape(c, variance, 1, &x.dim[1]);
  c->results[0] = onnx_compose_node(c, GRAPH_OP_BATCH_NORMALIZATION, &norm, inputs, 5);
  if (c->n->from->n_output > 1) c->results[1] = moving(c, c->n->inputs[3], inputs[3]);
  if (c->n->from->n_output > 2) c->results[2] = moving(c, c->n->inputs[4], inputs[4]);
}

static const onnx_composition training = {"BatchNormalization", 5, 5, 3, 31, batch_norm};

static const onnx_composition compositions[] = {
    {"GroupNormalization", 3, 3, 1, 7, group_norm},
    {"NegativeLogLikelihoodLoss", 2, 3, 1, 3, likelihood},
    {"SoftmaxCrossEntropyLoss", 2, 3, 2, 3, cross_entropy},
};

const onnx_composition *onnx_find_composition(const char *domain, const char *op, const graph_node *attributes) {
  if (strcmp(domain, "com.microsoft") == 0) return onnx_find_contrib(op);
  if (domain[0] == '\0' && strcmp(op, training.op) == 0 && graph_int(attributes, "training_mode", 0) != 0)
    return &training;
  for (size_t i = 0; domain[0] == '\0' && i < sizeof compositions / sizeof compositions[0]; i++)
    if (strcmp(compositions[i].op, op) == 0) return &compositions[i];
  return NULL;
}

static bool check_ends(onnx_reader *r, const onnx_node *n, const onnx_composition *k) {
  if (n->input_count < k->least_inputs || n->input_count > k->most_inputs)
    return onnx_node_fail(r, n, "it has %d inputs instead of %d to %d", n->input_count, k->least_inputs,
                          k->most_inputs);
  for (int i = 0; i < k->most_inputs && i < 32; i++)
    if ((k->needed >> i & 1) != 0 && (i >= n->input_count || n->inputs[i] == GRAPH_NONE))
      return onnx_node_fail(r, n, "its input %d is missing", i);
  if (n->from->n_output < 1 || n->from->n_output > (size_t)k->most_outputs)
    return onnx_node_fail(r, n, "it has %zu outputs instead of 1 to %d", n->from->n_output, k->most_outputs);
  return true;
}

bool onnx_compose(onnx_reader *r, onnx_node *n, const onnx_composition *composition) {
  onnx_composer c = {.r = r, .n = n, .results = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, GRAPH_NONE}};
  if (!check_ends(r, n, composition)) return false;
  composition->compose(&c);
  for (size_t o = 0; o < n->from->n_output && !c.failed; o++) c.failed = !onnx_name_result(r, n, o, c.results[o]);
  return !c.failed;
}
