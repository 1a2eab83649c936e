// SPDX-License-Identifier: Apache-2.0
// The plan of a conversion: chains around products, derived tensors, scales. See convert.h.
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/quantise/convert.h"
#include "compiler/quantise/mixed.h"

static bool is_pinned(const quantise_converter *c, int tensor) { return quantise_pin_of(c->pins, tensor)->scale > 0; }

// ---- chains

// A constant with one number per channel of the chain's result, or one for all.
static bool is_channel_constant(const quantise_converter *c, int constant, const graph_node *product, int result) {
  const graph_tensor *t = &c->model->tensors[constant], *r = &c->model->tensors[result];
  if (quantise_rewrite_floats(c->model, constant) == NULL || t->rank > r->rank) return false;
  const int axis = product->op == GRAPH_OP_CONV ? 1 : r->rank - 1, at = t->rank - (r->rank - axis);
  const int64_t elements = graph_elements(t);
  return elements == 1 || (at >= 0 && elements == r->dim[axis] && t->dim[at] == elements);
}

// The largest factor: the array adds factor * residual as one product per 127, which must not cost more than the sum
// itself.
static int64_t most_factor(const quantise_converter *c, const graph_node *node) {
  enum { LARGEST_WEIGHT = 127, TERMS = 256, LEAST_PRODUCTS = 1 };
  const graph_tensor *w = &c->model->tensors[node->inputs[1]], *y = &c->model->tensors[node->outputs[0]];
  const int64_t results = y->dim[node->op == GRAPH_OP_CONV ? 1 : y->rank - 1];
  int64_t products = graph_elements(w) / results / TERMS;
  if (products < LEAST_PRODUCTS) products = LEAST_PRODUCTS;
  if (c->options->residual_products > 0) products = c->options->residual_products;
  return LARGEST_WEIGHT * products < QUANTISE_FACTOR_MAX ? LARGEST_WEIGHT * products : QUANTISE_FACTOR_MAX;
}

// The factor of a residual: what raises the weights' scale as little as possible; 0: their scale would have to shrink.
static int64_t residual_factor(const quantise_converter *c, const quantise_convert_chain *chain, int residual) {
  const graph_node *node = &c->model->nodes[chain->node];
  const float weights = quantise_convert_weight_scale(c, node);
  if (weights <= 0 || c->scale[residual] <= 0) return 0;
  const double ratio = (double)c->scale[residual] / ((double)c->scale[node->inputs[0]] * (double)weights);
  const int64_t most = most_factor(c, node);
  return ratio > (double)most ? most : (int64_t)floor(ratio * (1 + 1e-6));
}

static bool take_add(quantise_converter *c, quantise_convert_chain *chain, const graph_node *add) {
  const graph *g = c->model;
  const int other = add->inputs[add->inputs[0] == chain->out ? 1 : 0];
  const graph_node *product = &g->nodes[chain->node];
  const graph_tensor *now = &g->tensors[chain->out], *then = &g->tensors[add->outputs[0]];
  if (chain->relu || !graph_same_shape(now, then)) return false;
  if (chain->bias == GRAPH_NONE && chain->residual == GRAPH_NONE && chain->gain == 1 &&
      is_channel_constant(c, other, product, chain->out)) {
    chain->bias = other;
    return true;
  }
  if (chain->residual != GRAPH_NONE || chain->gain != 1 || g->tensors[other].data != NULL ||
      g->tensors[other].type != GRAPH_F32 || !graph_same_shape(now, &g->tensors[other]))
    return false;
  if (c->zero[other] != 0 || quantise_pin_of(c->pins, product->inputs[1])->scale > 0) return false;
  const int64_t factor = residual_factor(c, chain, other);
  if (factor < 1) return false;
  chain->residual = other;
  chain->factor = factor;
  return true;
}

static bool take_clip(const quantise_converter *c, quantise_convert_chain *chain, const graph_node *clip) {
  float low = 0, high = FLT_MAX;
  if (chain->relu || clip->input_count < 2 || !quantise_rewrite_number(c->model, clip->inputs[1], &low) || low != 0)
    return false;
  if (clip->input_count > 2 && clip->inputs[2] != GRAPH_NONE &&
      !quantise_rewrite_number(c->model, clip->inputs[2], &high))
    return false;
  chain->relu = true;
  chain->limit = high;
  return true;
}

static bool take_gain(const quantise_converter *c, quantise_convert_chain *chain, const graph_node *node) {
  float factor;
  const bool first = node->inputs[0] == chain->out;
  if (chain->relu || chain->residual != GRAPH_NONE || (!first && node->op == GRAPH_OP_DIV)) return false;
  if (!quantise_rewrite_number(c->model, node->inputs[first ? 1 : 0], &factor) || !(factor > 0)) return false;
  if (!graph_same_shape(&c->model->tensors[chain->out], &c->model->tensors[node->outputs[0]])) return false;
  chain->gain *= node->op == GRAPH_OP_MUL ? (double)factor : 1 / (double)factor;
  return true;
}

// The sums of whole numbers (scales of 1), wanted as they are.
static bool take_cast(const quantise_converter *c, quantise_convert_chain *chain, const graph_node *cast) {
  const graph_node *product = &c->model->nodes[chain->node];
  if (c->model->tensors[cast->outputs[0]].type != GRAPH_I32 || chain->last != chain->node) return false;
  for (int i = 0; i < 2; i++) {
    const quantise_pin *pin = quantise_pin_of(c->pins, product->inputs[i]);
    if (!(pin->scale >= 1 && pin->scale <= 1) || pin->scale_count > 1) return false;
  }
  chain->wide = true;
  return true;
}

static bool take(quantise_converter *c, quantise_convert_chain *chain, const graph_node *reader) {
  switch (reader->op) {
    case GRAPH_OP_ADD:
      return take_add(c, chain, reader);
    case GRAPH_OP_RELU:
      if (chain->relu) return false;
      chain->relu = true;
      return true;
    case GRAPH_OP_CLIP:
      return reader->inputs[0] == chain->out && take_clip(c, chain, reader);
    case GRAPH_OP_MUL:
    case GRAPH_OP_DIV:
      return take_gain(c, chain, reader);
    case GRAPH_OP_CAST:
      return take_cast(c, chain, reader);
    default:
      return false;
  }
}

static void plan_chain(quantise_converter *c, int n) {
  quantise_convert_chain *chain = WF_ARENA_PUSH(c->arena, c->chains, c->chain_count, &c->chain_room);
  const int number = (int)c->chain_count - 1;
  *chain = (quantise_convert_chain){.node = n,
                                    .last = n,
                                    .out = c->model->nodes[n].outputs[0],
                                    .bias = GRAPH_NONE,
                                    .residual = GRAPH_NONE,
                                    .gain = 1,
                                    .limit = FLT_MAX};
  c->chain_of[n] = number;
  while (!is_pinned(c, chain->out) && !chain->wide) {
    const graph_node *reader = quantise_rewrite_only_reader(c->model, &c->index, chain->out);
    if (reader == NULL || c->chain_of[reader - c->model->nodes] != GRAPH_NONE || quantise_is_kept(c->options, reader) ||
        !take(c, chain, reader))
      break;
    chain->last = (int)(reader - c->model->nodes);
    chain->out = reader->outputs[0];
    c->chain_of[chain->last] = number;
  }
  chain->weight_scale = quantise_convert_weight_scale(c, &c->model->nodes[n]);
  if (chain->residual != GRAPH_NONE)
    chain->weight_scale = (float)((double)c->scale[chain->residual] /
                                  ((double)c->scale[c->model->nodes[n].inputs[0]] * (double)chain->factor));
}

// ---- derived tensors

static bool is_unary(graph_op op) {
  static const graph_op ops[] = {GRAPH_OP_ABS,          GRAPH_OP_ACOS,
                                 GRAPH_OP_ACOSH,        GRAPH_OP_ASIN,
                                 GRAPH_OP_ASINH,        GRAPH_OP_ATAN,
                                 GRAPH_OP_ATANH,        GRAPH_OP_CEIL,
                                 GRAPH_OP_CELU,         GRAPH_OP_COS,
                                 GRAPH_OP_COSH,         GRAPH_OP_ELU,
                                 GRAPH_OP_ERF,          GRAPH_OP_EXP,
                                 GRAPH_OP_FLOOR,        GRAPH_OP_GELU,
                                 GRAPH_OP_HARD_SIGMOID, GRAPH_OP_HARD_SWISH,
                                 GRAPH_OP_IDENTITY,     GRAPH_OP_LEAKY_RELU,
                                 GRAPH_OP_LOG,          GRAPH_OP_MISH,
                                 GRAPH_OP_NEG,          GRAPH_OP_RECIPROCAL,
                                 GRAPH_OP_RELU,         GRAPH_OP_ROUND,
                                 GRAPH_OP_SELU,         GRAPH_OP_SHRINK,
                                 GRAPH_OP_SIGMOID,      GRAPH_OP_SIGN,
                                 GRAPH_OP_SIN,          GRAPH_OP_SINH,
                                 GRAPH_OP_SOFTPLUS,     GRAPH_OP_SOFTSIGN,
                                 GRAPH_OP_SQRT,         GRAPH_OP_TAN,
                                 GRAPH_OP_TANH,         GRAPH_OP_THRESHOLDED_RELU,
                                 GRAPH_OP_CLIP};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (ops[i] == op) return true;
  return false;
}

static bool is_binary(graph_op op) {
  static const graph_op ops[] = {GRAPH_OP_ADD, GRAPH_OP_SUB, GRAPH_OP_MUL, GRAPH_OP_DIV,
                                 GRAPH_OP_POW, GRAPH_OP_MAX, GRAPH_OP_MIN, GRAPH_OP_PRELU};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (ops[i] == op) return true;
  return false;
}

bool quantise_convert_is_elementwise(const graph *g, const graph_node *node) {
  return node->outputs[0] != GRAPH_NONE && g->tensors[node->outputs[0]].type == GRAPH_F32 &&
         (is_unary(node->op) || (is_binary(node->op) && node->input_count == 2));
}

// A positive constant times a tensor, or a tensor by another name.
static float factor_of(const graph *g, const graph_node *node, int *of) {
  float factor = 1;
  *of = node->inputs[0];
  if (node->op == GRAPH_OP_IDENTITY) return 1;
  if (node->op != GRAPH_OP_MUL && node->op != GRAPH_OP_DIV) return 0;
  const int constant = node->op == GRAPH_OP_MUL && g->tensors[node->inputs[0]].data != NULL ? 0 : 1;
  *of = node->inputs[1 - constant];
  if (!quantise_rewrite_number(g, node->inputs[constant], &factor) || !(factor > 0) ||
      !graph_same_shape(&g->tensors[*of], &g->tensors[node->outputs[0]]))
    return 0;
  return node->op == GRAPH_OP_MUL ? factor : 1 / factor;
}

float quantise_convert_factor(const quantise_converter *c, int tensor) {
  int of;
  const float factor = factor_of(c->model, &c->model->nodes[c->index.maker[tensor]], &of);
  return of == c->derived[tensor] ? factor : 0;
}

// The tensor that all inputs of an element-wise node are functions of; or GRAPH_NONE.
static int common_source(const quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  int source = GRAPH_NONE;
  for (int i = 0; i < node->input_count; i++) {
    const int input = node->inputs[i];
    float number;
    if (input == GRAPH_NONE || quantise_rewrite_number(g, input, &number)) continue;
    if (g->tensors[input].data != NULL || g->tensors[input].type != GRAPH_F32) return GRAPH_NONE;
    const int from = c->derived[input] == GRAPH_NONE || is_pinned(c, input) ? input : c->derived[input];
    if (source != GRAPH_NONE && source != from) return GRAPH_NONE;
    source = from;
  }
  return source;
}

static void plan_derived(quantise_converter *c) {
  const graph *g = c->model;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    if (c->chain_of[n] != GRAPH_NONE || !quantise_convert_is_elementwise(g, node) || quantise_is_kept(c->options, node))
      continue;
    const int source = common_source(c, node);
    if (source != GRAPH_NONE && graph_same_shape(&g->tensors[source], &g->tensors[node->outputs[0]]))
      c->derived[node->outputs[0]] = source;
  }
}

// ---- scales

// Tensors that must have one scale are a group: a tree of parents.
static int find_group(int *parent, int tensor) {
  while (parent[tensor] != tensor) tensor = parent[tensor] = parent[parent[tensor]];
  return tensor;
}

typedef struct groups {
  int *parent;
  float *magnitude;
  quantise_pin *pin;
} groups;

static void unite(groups *all, int a, int b) {
  a = find_group(all->parent, a);
  b = find_group(all->parent, b);
  const quantise_pin *pa = &all->pin[a], *pb = &all->pin[b];
  if (a == b ||
      (pa->scale > 0 && pb->scale > 0 && (pa->scale < pb->scale || pa->scale > pb->scale || pa->zero != pb->zero)))
    return;
  all->parent[b] = a;
  all->magnitude[a] = fmaxf(all->magnitude[a], all->magnitude[b]);
  if (pa->scale <= 0) all->pin[a] = *pb;
}

static bool moves_data(graph_op op) {
  static const graph_op ops[] = {
      GRAPH_OP_RESHAPE,   GRAPH_OP_FLATTEN,  GRAPH_OP_SQUEEZE,        GRAPH_OP_UNSQUEEZE,
      GRAPH_OP_TRANSPOSE, GRAPH_OP_SLICE,    GRAPH_OP_SPLIT,          GRAPH_OP_PAD,
      GRAPH_OP_RESIZE,    GRAPH_OP_MAX_POOL, GRAPH_OP_DEPTH_TO_SPACE, GRAPH_OP_SPACE_TO_DEPTH,
      GRAPH_OP_EXPAND,    GRAPH_OP_TILE,     GRAPH_OP_GATHER,         GRAPH_OP_GLOBAL_MAX_POOL};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (ops[i] == op) return true;
  return false;
}

static void unite_ends(const quantise_converter *c, groups *all, const graph_node *node) {
  const int inputs = node->op == GRAPH_OP_CONCAT ? node->input_count : moves_data(node->op) ? 1 : 0;
  for (int i = 0; i < inputs; i++)
    for (int o = 0; o < node->output_count && node->outputs[o] != GRAPH_NONE; o++)
      if (c->model->tensors[node->outputs[o]].type == GRAPH_F32 && c->model->tensors[node->inputs[i]].data == NULL)
        unite(all, node->outputs[o], node->inputs[i]);
}

// The weights of a recurrent step, whose sums `gates` are; GRAPH_NONE: no such step.
static int recurrent_weights(const quantise_converter *c, int gates) {
  const graph_node *add = quantise_rewrite_maker(c->model, &c->index, gates);
  for (int i = 0; add != NULL && add->op == GRAPH_OP_ADD && i < 2; i++) {
    const graph_node *product = quantise_rewrite_maker(c->model, &c->index, add->inputs[i]);
    if (product != NULL && product->op == GRAPH_OP_MAT_MUL && c->model->tensors[product->inputs[1]].data != NULL)
      return product->inputs[1];
  }
  return GRAPH_NONE;
}

// Steps of a recurrent layer are one layer: their sums have one scale, and so their gates have one table.
static void unite_steps(const quantise_converter *c, groups *all) {
  int *first = WF_ARENA_ARRAY(c->arena, (size_t)c->model->tensor_count + 1, int);  // by weights: gates + 1
  for (int n = 0; n < c->model->node_count; n++) {
    const graph_node *node = &c->model->nodes[n];
    const int weights = node->op == GRAPH_OP_SPLIT ? recurrent_weights(c, node->inputs[0]) : GRAPH_NONE;
    if (weights == GRAPH_NONE) continue;
    if (first[weights] != 0) unite(all, first[weights] - 1, node->inputs[0]);
    first[weights] = node->inputs[0] + 1;
  }
}

// A multiple of a tensor has its bytes, if its scale is bound to no other tensor's.
static void scale_multiples(quantise_converter *c, groups *all) {
  int *members = WF_ARENA_ARRAY(c->arena, (size_t)c->model->tensor_count + 1, int), of;
  for (int t = 0; t < c->model->tensor_count; t++) members[find_group(all->parent, t)]++;
  for (int n = 0; n < c->model->node_count; n++) {
    const graph_node *node = &c->model->nodes[n];
    const int out = node->outputs[0];
    if (!quantise_convert_is_elementwise(c->model, node) || is_pinned(c, out) ||
        members[find_group(all->parent, out)] > 1)
      continue;
    const float factor = factor_of(c->model, node, &of), scale = factor * c->scale[of];
    if (factor > 0 && c->model->tensors[of].data == NULL && scale >= FLT_MIN && scale <= FLT_MAX && c->zero[of] == 0)
      c->scale[out] = scale;
  }
}

static void plan_scales(quantise_converter *c) {
  const size_t count = (size_t)c->model->tensor_count;
  groups all = {WF_ARENA_ARRAY(c->arena, count + 1, int), WF_ARENA_ARRAY(c->arena, count + 1, float),
                WF_ARENA_ARRAY(c->arena, count + 1, quantise_pin)};
  for (size_t t = 0; t < count; t++) {
    all.parent[t] = (int)t;
    all.magnitude[t] = c->ranges->magnitude[t];
    all.pin[t] = *quantise_pin_of(c->pins, (int)t);
  }
  for (int n = 0; n < c->model->node_count; n++) unite_ends(c, &all, &c->model->nodes[n]);
  unite_steps(c, &all);
  for (size_t t = 0; t < count; t++) {
    const int group = find_group(all.parent, (int)t);
    const quantise_pin *own = quantise_pin_of(c->pins, (int)t), *pin = own->scale > 0 ? own : &all.pin[group];
    c->scale[t] = pin->scale > 0 ? pin->scale : all.magnitude[group] / 127 >= FLT_MIN ? all.magnitude[group] / 127 : 1;
    c->zero[t] = pin->scale > 0 ? pin->zero : 0;
  }
  scale_multiples(c, &all);
}

static void plan_constant(quantise_converter *c, int constant) {
  const float *values = quantise_rewrite_floats(c->model, constant);
  float largest = 0;
  if (values == NULL) return;
  for (int64_t i = graph_elements(&c->model->tensors[constant]); i-- > 0;) largest = fmaxf(largest, fabsf(values[i]));
  if (largest / 127 >= FLT_MIN) c->scale[constant] = largest / 127;
}

// A constant on the left of a product has a scale of its own, and so have several matrices on the right.
static void plan_constants(quantise_converter *c, const graph_node *node) {
  if (node->op != GRAPH_OP_MAT_MUL) return;
  const int right = node->inputs[1];
  plan_constant(c, node->inputs[0]);
  if (c->model->tensors[right].rank > 2 && !is_pinned(c, right)) plan_constant(c, right);
}

void quantise_convert_plan(quantise_converter *c) {
  const size_t tensors = (size_t)c->model->tensor_count + 1, nodes = (size_t)c->model->node_count + 1;
  c->index = quantise_rewrite_index_of(c->model);
  c->chain_of = WF_ARENA_ARRAY(c->arena, nodes, int);
  c->derived = WF_ARENA_ARRAY(c->arena, tensors, int);
  c->scale = WF_ARENA_ARRAY(c->arena, tensors, float);
  c->zero = WF_ARENA_ARRAY(c->arena, tensors, int32_t);
  for (size_t i = 0; i < nodes; i++) c->chain_of[i] = GRAPH_NONE;
  for (size_t i = 0; i < tensors; i++) c->derived[i] = GRAPH_NONE;
  plan_scales(c);
  quantise_convert_plan_caches(c);
  for (int n = 0; n < c->model->node_count; n++) plan_constants(c, &c->model->nodes[n]);
  for (int n = 0; n < c->model->node_count; n++)
    if (quantise_convert_is_product(c, &c->model->nodes[n]) && !quantise_is_kept(c->options, &c->model->nodes[n]))
      plan_chain(c, n);
  plan_derived(c);
}
