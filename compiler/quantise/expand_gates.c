// SPDX-License-Identifier: Apache-2.0
// GRU and RNN step by step: the products with the inputs of all steps are one product, each step adds its product with
// the state, and the gates are element-wise operators. Only the ordinary form: default activations, no clipping, all
// sequences of full length.
//   GRU  z = sigm(x Wz' + h Rz' + b)   r = sigm(x Wr' + h Rr' + b)
//        n = tanh(x Wn' + bw + r (h Rn' + br)), or with linear_before_reset = 0 tanh(x Wn' + bw + (r h) Rn' + br)
//        h = n + z (h - n)
//   RNN  h = tanh(x W' + h R' + b)
#include <string.h>

#include "compiler/quantise/expand.h"

typedef struct layer {
  quantise_maker m;
  int64_t steps, batch, width, cells, gates;
  int directions;
  bool is_gru, batch_first, resets_sums;  // resets_sums: linear_before_reset
} layer;

// What one direction has: weights of the inputs, [width, gates * cells], and of the state: of z and r (early), and of
// the last gate. Biases may be GRAPH_NONE.
typedef struct weights {
  int inputs, early, late, input_bias, early_bias, late_bias;
} weights;

static bool has_default_activations(const graph_node *node) {
  const char *text = graph_text(node, "activations", NULL);
  if (graph_find_attribute(node, "activation_alpha") != NULL || graph_find_attribute(node, "activation_beta") != NULL ||
      graph_find_attribute(node, "clip") != NULL)
    return false;
  if (text == NULL) return graph_find_attribute(node, "activations") == NULL;
  return node->op == GRAPH_OP_GRU ? strcmp(text, "Sigmoid,Tanh") == 0 || strcmp(text, "Sigmoid,Tanh,Sigmoid,Tanh") == 0
                                  : strcmp(text, "Tanh") == 0 || strcmp(text, "Tanh,Tanh") == 0;
}

static bool describe(graph *g, const graph_node *node, layer *l) {
  enum { STEPS_MAX = 4096 };
  const graph_tensor *x = &g->tensors[node->inputs[0]], *w = &g->tensors[node->inputs[1]];
  if (!has_default_activations(node) || quantise_make_has(node, 4) || x->type != GRAPH_F32) return false;
  *l = (layer){.m = {g, node}, .is_gru = node->op == GRAPH_OP_GRU, .directions = (int)w->dim[0]};
  l->batch_first = graph_int(node, "layout", 0) != 0;
  l->resets_sums = graph_int(node, "linear_before_reset", 0) != 0;
  l->gates = l->is_gru ? 3 : 1;
  l->steps = x->dim[l->batch_first ? 1 : 0];
  l->batch = x->dim[l->batch_first ? 0 : 1];
  l->width = x->dim[2];
  l->cells = w->dim[1] / l->gates;
  return l->steps > 0 && l->steps <= STEPS_MAX && l->batch > 0 && l->width > 0 && l->cells > 0 && l->directions > 0 &&
         l->directions <= 2;
}

// ---- weights

static int direction_of(const layer *l, int tensor, int direction, int64_t rows, int64_t columns) {
  const int one = quantise_make_slice(&l->m, tensor, 0, direction, direction + 1, 1, GRAPH_NONE);
  return quantise_make_reshape(&l->m, one, 2, (int64_t[]){rows, columns}, GRAPH_NONE);
}

static int turned(const layer *l, int tensor, int direction, int64_t depth) {
  const int one = direction_of(l, tensor, direction, l->gates * l->cells, depth);
  return quantise_make_transpose(&l->m, one, (int64_t[]){1, 0}, GRAPH_NONE);
}

// Half `half` of the biases: of the inputs' product, or of the state's.
static int bias_of(const layer *l, int direction, int half) {
  const graph_node *node = l->m.node;
  if (!quantise_make_has(node, 3)) return GRAPH_NONE;
  const int64_t count = l->gates * l->cells;
  const int both = direction_of(l, node->inputs[3], direction, 2, count);
  const int one = quantise_make_slice(&l->m, both, 0, half, half + 1, 1, GRAPH_NONE);
  return quantise_make_reshape(&l->m, one, 1, &count, GRAPH_NONE);
}

// Columns of `count` gates; of a list, their numbers.
static int gates_of(const layer *l, int sums, int64_t gate, int64_t count) {
  if (sums == GRAPH_NONE) return sums;
  const int axis = l->m.g->tensors[sums].rank - 1;
  return quantise_make_slice(&l->m, sums, axis, gate * l->cells, (gate + count) * l->cells, 1, GRAPH_NONE);
}

static weights weights_of(const layer *l, int direction) {
  const graph_node *node = l->m.node;
  const int state = turned(l, node->inputs[2], direction, l->cells), bias = bias_of(l, direction, 1);
  return (weights){.inputs = turned(l, node->inputs[1], direction, l->width),
                   .early = l->is_gru ? gates_of(l, state, 0, 2) : GRAPH_NONE,
                   .late = l->is_gru ? gates_of(l, state, 2, 1) : state,
                   .input_bias = bias_of(l, direction, 0),
                   .early_bias = l->is_gru ? gates_of(l, bias, 0, 2) : GRAPH_NONE,
                   .late_bias = l->is_gru ? gates_of(l, bias, 2, 1) : bias};
}

// ---- a step

static int plus(const layer *l, int a, int b) {
  return b == GRAPH_NONE ? a : quantise_make_binary(&l->m, GRAPH_OP_ADD, a, b, GRAPH_NONE);
}

static int product(const layer *l, int a, int b, int bias) {
  return plus(l, quantise_make_binary(&l->m, GRAPH_OP_MAT_MUL, a, b, GRAPH_NONE), bias);
}

static int unary(const layer *l, graph_op op, int x) { return quantise_make_unary(&l->m, op, x, GRAPH_NONE); }

static int binary(const layer *l, graph_op op, int a, int b) {
  return quantise_make_binary(&l->m, op, a, b, GRAPH_NONE);
}

static int gru_step(const layer *l, const weights *w, int x, int h) {
  const int both = plus(l, product(l, h, w->early, w->early_bias), gates_of(l, x, 0, 2));
  const int z = unary(l, GRAPH_OP_SIGMOID, gates_of(l, both, 0, 1)),
            r = unary(l, GRAPH_OP_SIGMOID, gates_of(l, both, 1, 1));
  const int reset = l->resets_sums ? binary(l, GRAPH_OP_MUL, r, product(l, h, w->late, w->late_bias))
                                   : product(l, binary(l, GRAPH_OP_MUL, r, h), w->late, w->late_bias);
  const int n = unary(l, GRAPH_OP_TANH, plus(l, reset, gates_of(l, x, 2, 1)));
  return plus(l, n, binary(l, GRAPH_OP_MUL, z, binary(l, GRAPH_OP_SUB, h, n)));
}

static int step(const layer *l, const weights *w, int x, int h) {
  if (l->is_gru) return gru_step(l, w, x, h);
  return unary(l, GRAPH_OP_TANH, plus(l, product(l, h, w->late, w->late_bias), x));
}

// ---- all steps

static int first_state(const layer *l, int direction) {
  const graph_node *node = l->m.node;
  const int64_t dim[2] = {l->batch, l->cells};
  if (quantise_make_has(node, 5)) {
    const int axis = l->batch_first ? 1 : 0;
    const int one = quantise_make_slice(&l->m, node->inputs[5], axis, direction, direction + 1, 1, GRAPH_NONE);
    return quantise_make_reshape(&l->m, one, 2, dim, GRAPH_NONE);
  }
  float *zeros = WF_ARENA_ARRAY(l->m.g->arena, (size_t)(l->batch * l->cells), float);
  return quantise_make_constant(&l->m, GRAPH_F32, 2, dim, zeros);
}

// The hidden state of each step, in the order of time; gives the last one.
static int run(const layer *l, int x, int direction, bool backwards, int *hidden) {
  const weights w = weights_of(l, direction);
  const int sums = product(l, x, w.inputs, w.input_bias);
  int h = first_state(l, direction);
  for (int64_t i = 0; i < l->steps; i++) {
    const int64_t t = backwards ? l->steps - 1 - i : i;
    h = step(l, &w, quantise_make_slice(&l->m, sums, 0, t * l->batch, (t + 1) * l->batch, 1, GRAPH_NONE), h);
    hidden[t] = h;
  }
  return h;
}

// Y [T, D, B, H], or with the batch first [B, T, D, H].
static void join_all(const layer *l, int *const hidden[2]) {
  const int64_t dim[4] = {l->batch_first ? l->batch : 1, 1, l->batch_first ? 1 : l->batch, l->cells};
  const int out = l->m.node->outputs[0], count = (int)l->steps * l->directions;
  int *parts = WF_ARENA_ARRAY(l->m.g->arena, (size_t)count, int);
  for (int i = 0; i < count; i++)
    parts[i] = quantise_make_reshape(&l->m, hidden[i % l->directions][i / l->directions], 4, dim, GRAPH_NONE);
  const graph_tensor y = quantise_make_tensor(&l->m, out);
  const int all = quantise_make_along(&l->m, GRAPH_OP_CONCAT, parts, count, l->batch_first ? 1 : 0, GRAPH_NONE);
  quantise_make_reshape(&l->m, all, y.rank, y.dim, out);
}

// Y_h [D, B, H], or with the batch first [B, D, H].
static void join_last(const layer *l, const int *last) {
  const int64_t dim[3] = {l->batch_first ? l->batch : 1, l->batch_first ? 1 : l->batch, l->cells};
  int parts[2];
  for (int d = 0; d < l->directions; d++) parts[d] = quantise_make_reshape(&l->m, last[d], 3, dim, GRAPH_NONE);
  quantise_make_along(&l->m, GRAPH_OP_CONCAT, parts, l->directions, l->batch_first ? 1 : 0, l->m.node->outputs[1]);
}

bool quantise_expand_recurrent(graph *g, const graph_node *node) {
  layer l;
  if (!describe(g, node, &l)) return false;
  const bool reverse = strcmp(graph_text(node, "direction", "forward"), "reverse") == 0;
  int x = node->inputs[0], *hidden[2], last[2];
  if (l.batch_first) x = quantise_make_transpose(&l.m, x, (int64_t[]){1, 0, 2}, GRAPH_NONE);
  x = quantise_make_reshape(&l.m, x, 2, (int64_t[]){l.steps * l.batch, l.width}, GRAPH_NONE);
  for (int d = 0; d < l.directions; d++) {
    hidden[d] = WF_ARENA_ARRAY(g->arena, (size_t)l.steps, int);
    last[d] = run(&l, x, d, reverse || d == 1, hidden[d]);
  }
  if (quantise_make_wants(node, 0)) join_all(&l, hidden);
  if (quantise_make_wants(node, 1)) join_last(&l, last);
  return true;
}
