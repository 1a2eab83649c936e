// SPDX-License-Identifier: Apache-2.0
// Operators that exporters write as chains of smaller ones: Gelu (with erf or tanh) and LayerNormalization. The last
// node of a chain becomes the operator; nodes without readers are dropped later.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"

typedef struct chains {
  graph *g;
  int *maker;  // by tensor: the node that makes it, or -1
} chains;

static const graph_node *made_by(const chains *p, int tensor, graph_op op) {
  if (tensor == GRAPH_NONE || p->maker[tensor] < 0) return NULL;
  const graph_node *node = &p->g->nodes[p->maker[tensor]];
  return node->op == op ? node : NULL;
}

static bool is_number(const chains *p, int tensor, double value) {
  const graph_tensor *t = &p->g->tensors[tensor];
  if (t->data == NULL || !graph_is_real(t->type) || graph_elements(t) != 1) return false;
  return fabs(graph_real_at(t->type, t->data, 0) - value) <= 1e-4 * fabs(value);
}

// The tensor is OP(other, value), in either order.
static bool is_with(const chains *p, int tensor, graph_op op, double value, int *other) {
  const graph_node *node = made_by(p, tensor, op);
  for (int i = 0; i < 2 && node != NULL; i++)
    if (is_number(p, node->inputs[i], value)) {
      *other = node->inputs[1 - i];
      return true;
    }
  return false;
}

// other * value, also written as a division.
static bool is_scaled(const chains *p, int tensor, double value, int *other) {
  const graph_node *node = made_by(p, tensor, GRAPH_OP_DIV);
  if (is_with(p, tensor, GRAPH_OP_MUL, value, other)) return true;
  if (node == NULL || !is_number(p, node->inputs[1], 1 / value)) return false;
  *other = node->inputs[0];
  return true;
}

// ---- Gelu: 0.5 * x * (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))

static bool is_cube(const chains *p, int tensor, int *x) {
  const graph_node *power = made_by(p, tensor, GRAPH_OP_POW), *outer = made_by(p, tensor, GRAPH_OP_MUL);
  if (power != NULL && is_number(p, power->inputs[1], 3)) {
    *x = power->inputs[0];
    return true;
  }
  for (int i = 0; i < 2 && outer != NULL; i++) {
    const graph_node *inner = made_by(p, outer->inputs[i], GRAPH_OP_MUL);
    *x = outer->inputs[1 - i];
    if (inner != NULL && inner->inputs[0] == *x && inner->inputs[1] == *x) return true;
  }
  return false;
}

static bool is_tanh_argument(const chains *p, int tensor, int *x) {
  int sum, cube, base;
  if (!is_scaled(p, tensor, sqrt(2 / M_PI), &sum)) return false;
  const graph_node *add = made_by(p, sum, GRAPH_OP_ADD);
  for (int i = 0; i < 2 && add != NULL; i++) {
    *x = add->inputs[1 - i];
    if (is_scaled(p, add->inputs[i], 0.044715, &cube) && is_cube(p, cube, &base) && base == *x) return true;
  }
  return false;
}

static bool is_gate(const chains *p, int tensor, int *x, bool *with_tanh) {
  int inner;
  if (!is_with(p, tensor, GRAPH_OP_ADD, 1, &inner)) return false;
  const graph_node *error = made_by(p, inner, GRAPH_OP_ERF), *hyperbolic = made_by(p, inner, GRAPH_OP_TANH);
  *with_tanh = hyperbolic != NULL;
  if (error != NULL) return is_scaled(p, error->inputs[0], sqrt(0.5), x);
  return hyperbolic != NULL && is_tanh_argument(p, hyperbolic->inputs[0], x);
}

// The tensor is a product of x and its gate, in either order; half: and of 0.5, which may stand with either factor.
static bool is_product(const chains *p, int tensor, bool half, int *x, bool *with_tanh) {
  const graph_node *product = made_by(p, tensor, GRAPH_OP_MUL);
  for (int i = 0; i < 2 && product != NULL; i++) {
    int a = product->inputs[i], b = product->inputs[1 - i], inner;
    if (is_gate(p, a, x, with_tanh) && (half ? is_scaled(p, b, 0.5, &inner) && inner == *x : b == *x)) return true;
    if (half && is_scaled(p, a, 0.5, &inner) && is_gate(p, inner, x, with_tanh) && b == *x) return true;
  }
  return false;
}

static bool is_gelu(const chains *p, int tensor, int *x, bool *with_tanh) {
  int inner;
  return (is_scaled(p, tensor, 0.5, &inner) && is_product(p, inner, false, x, with_tanh)) ||
         is_product(p, tensor, true, x, with_tanh);
}

// ---- LayerNormalization

// A mean over the last axes, from `axis` on, which keeps them.
static bool is_mean(const chains *p, int tensor, int *x, int *axis) {
  const graph_node *mean = made_by(p, tensor, GRAPH_OP_REDUCE_MEAN);
  int64_t axes[GRAPH_RANK_MAX];
  if (mean == NULL || graph_int(mean, "keepdims", 1) == 0) return false;
  *x = mean->inputs[0];
  int rank = p->g->tensors[*x].rank, count = graph_ints(mean, "axes", axes, GRAPH_RANK_MAX);
  uint32_t set = 0;
  if (count < 1 || count > rank) return false;
  for (int i = 0; i < count; i++) set |= 1u << (axes[i] < 0 ? axes[i] + rank : axes[i]);
  *axis = rank - count;
  return set == ((1u << rank) - 1) - ((1u << *axis) - 1);
}

static bool is_centred(const chains *p, int tensor, int *x, int *axis) {
  const graph_node *sub = made_by(p, tensor, GRAPH_OP_SUB);
  return sub != NULL && is_mean(p, sub->inputs[1], x, axis) && *x == sub->inputs[0];
}

static bool is_square(const chains *p, int tensor, int *base) {
  const graph_node *power = made_by(p, tensor, GRAPH_OP_POW), *product = made_by(p, tensor, GRAPH_OP_MUL);
  if (power != NULL) *base = power->inputs[0];
  if (product != NULL) *base = product->inputs[0];
  return (power != NULL && is_number(p, power->inputs[1], 2)) || (product != NULL && product->inputs[1] == *base);
}

// sqrt(mean of squares + epsilon) of the same centred x
static bool is_deviation(const chains *p, int tensor, int x, int axis, float *epsilon) {
  const graph_node *root = made_by(p, tensor, GRAPH_OP_SQRT),
                   *add = root == NULL ? NULL : made_by(p, root->inputs[0], GRAPH_OP_ADD);
  for (int i = 0; i < 2 && add != NULL; i++) {
    const graph_tensor *number = &p->g->tensors[add->inputs[i]];
    int squares, base, centre, mean_axis, centre_axis;
    if (number->data == NULL || !graph_is_real(number->type) || graph_elements(number) != 1) continue;
    *epsilon = (float)graph_real_at(number->type, number->data, 0);
    if (is_mean(p, add->inputs[1 - i], &squares, &mean_axis) && mean_axis == axis && is_square(p, squares, &base) &&
        is_centred(p, base, &centre, &centre_axis) && centre == x && centre_axis == axis)
      return true;
  }
  return false;
}

static bool fits(const chains *p, int tensor, int x, int axis) {
  const graph_tensor *t = &p->g->tensors[tensor], *whole = &p->g->tensors[x];
  if (t->rank != whole->rank - axis) return false;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d] != whole->dim[axis + d]) return false;
  return true;
}

typedef struct layer_norm {
  int inputs[3], axis;
  float epsilon;
} layer_norm;

static bool is_scaled_norm(const chains *p, int tensor, layer_norm *found) {
  const graph_node *product = made_by(p, tensor, GRAPH_OP_MUL);
  for (int i = 0; i < 2 && product != NULL; i++) {
    const graph_node *quotient = made_by(p, product->inputs[i], GRAPH_OP_DIV);
    if (quotient == NULL || !is_centred(p, quotient->inputs[0], &found->inputs[0], &found->axis)) continue;
    found->inputs[1] = product->inputs[1 - i];
    if (is_deviation(p, quotient->inputs[1], found->inputs[0], found->axis, &found->epsilon) &&
        fits(p, found->inputs[1], found->inputs[0], found->axis))
      return true;
  }
  return false;
}

static bool is_layer_norm(const chains *p, int tensor, layer_norm *found) {
  const graph_node *add = made_by(p, tensor, GRAPH_OP_ADD);
  for (int i = 0; i < 2 && add != NULL; i++) {
    found->inputs[2] = add->inputs[1 - i];
    if (is_scaled_norm(p, add->inputs[i], found) && fits(p, found->inputs[2], found->inputs[0], found->axis))
      return true;
  }
  return false;
}

// ---- replacing

static void become(graph *g, graph_node *node, graph_op op, const int *inputs, int count) {
  node->op = op;
  node->inputs = WF_ARENA_ARRAY(g->arena, (size_t)count, int);
  memcpy(node->inputs, inputs, (size_t)count * sizeof inputs[0]);
  node->input_count = count;
  node->attributes = NULL;
  node->attribute_count = node->attribute_room = 0;
}

static void try_node(const chains *p, graph_node *node) {
  layer_norm norm;
  bool with_tanh;
  int x;
  if (node->output_count != 1 || node->outputs[0] == GRAPH_NONE) return;
  if (is_gelu(p, node->outputs[0], &x, &with_tanh)) {
    become(p->g, node, GRAPH_OP_GELU, &x, 1);
    if (with_tanh) graph_set_text(p->g, node, "approximate", "tanh");
  } else if (is_layer_norm(p, node->outputs[0], &norm)) {
    become(p->g, node, GRAPH_OP_LAYER_NORMALIZATION, norm.inputs, 3);
    graph_set_int(p->g, node, "axis", norm.axis);
    graph_set_float(p->g, node, "epsilon", norm.epsilon);
  }
}

void onnx_patterns(graph *g) {
  chains p = {g, WF_NEW_ARRAY((size_t)g->tensor_count + 1, int)};
  for (int t = 0; t < g->tensor_count; t++) p.maker[t] = -1;
  for (int n = 0; n < g->node_count; n++)
    for (int o = 0; o < g->nodes[n].output_count; o++)
      if (g->nodes[n].outputs[o] != GRAPH_NONE) p.maker[g->nodes[n].outputs[o]] = n;
  for (int n = 0; n < g->node_count; n++) try_node(&p, &g->nodes[n]);
  wf_free(p.maker);
}
