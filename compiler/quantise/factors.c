// SPDX-License-Identifier: Apache-2.0
// Factors per channel behind a product of rows with constant weights go into the weights and the bias:
//   s * (x W + b) = x (W s) + s b,
// also where a transpose stands between them (the scale of a layer behind rows of an image).
#include "compiler/quantise/fold.h"

// What stands behind a product, up to the multiplication; NULL: nothing.
typedef struct rows_chain {
  graph_node *product, *add, *transpose;
  int bias;  // which input of `add`
} rows_chain;

static graph_node *single_maker(graph *g, const quantise_pins *pins, const quantise_rewrite_index *index, int tensor) {
  if (index->uses[tensor] != 1 || quantise_pin_of(pins, tensor)->scale > 0) return NULL;
  return quantise_rewrite_maker(g, index, tensor);
}

static bool has_constant_weights(const graph *g, const quantise_pins *pins, const graph_node *node) {
  return node->op == GRAPH_OP_MAT_MUL && quantise_rewrite_floats(g, node->inputs[1]) != NULL &&
         g->tensors[node->inputs[1]].rank == 2 && quantise_pin_of(pins, node->inputs[1])->scale <= 0;
}

// The constant of a sum with one number per column of its result; or -1.
static int bias_of(const graph *g, const graph_node *add) {
  for (int i = 0; i < 2; i++) {
    const graph_tensor *t = &g->tensors[add->inputs[i]], *y = &g->tensors[add->outputs[0]];
    if (quantise_rewrite_floats(g, add->inputs[i]) != NULL && t->rank > 0 && y->rank >= t->rank &&
        graph_elements(t) == y->dim[y->rank - 1] && t->dim[t->rank - 1] == y->dim[y->rank - 1])
      return i;
  }
  return -1;
}

static bool find_chain(graph *g, const quantise_pins *pins, const quantise_rewrite_index *index, int tensor,
                       rows_chain *chain) {
  graph_node *node = single_maker(g, pins, index, tensor);
  if (node != NULL && node->op == GRAPH_OP_TRANSPOSE) {
    chain->transpose = node;
    node = single_maker(g, pins, index, node->inputs[0]);
  }
  if (node != NULL && node->op == GRAPH_OP_ADD) {
    if ((chain->bias = bias_of(g, node)) < 0) return false;
    chain->add = node;
    node = single_maker(g, pins, index, node->inputs[1 - chain->bias]);
  }
  chain->product = node;
  return node != NULL && has_constant_weights(g, pins, node);
}

// The dimension of the multiplication's result that has the product's columns.
static int channel_axis(const graph *g, const rows_chain *chain) {
  const int rank = g->tensors[chain->product->outputs[0]].rank;
  int64_t perm[GRAPH_RANK_MAX];
  if (chain->transpose == NULL) return rank - 1;
  if (graph_ints(chain->transpose, "perm", perm, GRAPH_RANK_MAX) != rank) return 0;
  int axis = 0;
  while (perm[axis] != rank - 1) axis++;
  return axis;
}

// A copy of a constant whose last dimension has the channels, each times its factor.
static int scaled(graph *g, int tensor, const double *factors) {
  const graph_tensor t = g->tensors[tensor];
  const int64_t count = graph_elements(&t), channels = t.dim[t.rank - 1];
  const float *from = t.data;
  float *to = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) to[i] = (float)((double)from[i] * factors[i % channels]);
  return quantise_rewrite_add_floats(g, t.name, t.rank, t.dim, to);
}

static void set_input(graph *g, graph_node *node, int input, int tensor) {
  int *inputs = WF_ARENA_ARRAY(g->arena, (size_t)node->input_count, int);
  for (int i = 0; i < node->input_count; i++) inputs[i] = i == input ? tensor : node->inputs[i];
  node->inputs = inputs;
}

static bool fold_factors(graph *g, const quantise_pins *pins, const quantise_rewrite_index *index, graph_node *mul) {
  const int out = mul->outputs[0];
  if (mul->op != GRAPH_OP_MUL) return false;
  for (int i = 0; i < 2; i++) {
    rows_chain chain = {0};
    if (g->tensors[mul->inputs[i]].data != NULL || !find_chain(g, pins, index, mul->inputs[i], &chain)) continue;
    const graph_tensor result = g->tensors[out];
    const int axis = channel_axis(g, &chain);
    double *factors = WF_ARENA_ARRAY(g->arena, (size_t)result.dim[axis] + 1, double);
    if (!graph_same_shape(&result, &g->tensors[mul->inputs[i]]) ||
        graph_elements(&g->tensors[mul->inputs[1 - i]]) == 1 ||
        !quantise_fold_per_channel(g, mul->inputs[1 - i], &result, axis, factors))
      continue;
    set_input(g, chain.product, 1, scaled(g, chain.product->inputs[1], factors));
    if (chain.add != NULL) set_input(g, chain.add, chain.bias, scaled(g, chain.add->inputs[chain.bias], factors));
    graph_node *last = chain.transpose != NULL ? chain.transpose : chain.add != NULL ? chain.add : chain.product;
    last->outputs[0] = out;
    return true;
  }
  return false;
}

void quantise_fold_factors(graph *g, const quantise_pins *pins) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  bool *dead = WF_ARENA_ARRAY(g->arena, (size_t)g->node_count + 1, bool);
  for (int n = 0; n < g->node_count; n++) dead[n] = fold_factors(g, pins, &index, &g->nodes[n]);
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++)
    if (!dead[n]) quantise_rewrite_keep(g, &nodes[n]);
}
