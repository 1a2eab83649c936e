// SPDX-License-Identifier: Apache-2.0
// Quantisation while the network runs.
//   DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, Mul with both scales   the product of the real numbers:
//                          what was quantised with the range of each input is quantised with that of the calibration
//   DynamicQuantizeLinear  otherwise, in simple operators, as are QuantizeLinear and DequantizeLinear whose scales are
//                          computed
//   a computed zero point  sum (x - z) w = sum x w - z sum w: the second sum is a constant
#include <math.h>
#include <string.h>

#include "compiler/graph/run.h"
#include "compiler/quantise/expand.h"

// ---- a product between dynamic quantisation and scales

typedef struct dynamic {
  const graph_node *quantise, *product;
  int weights_scale;  // constant, or GRAPH_NONE: 1
} dynamic;

static const graph_node *maker_of(const quantise_rewrite_index *index, int tensor, graph_op op) {
  const int n = tensor == GRAPH_NONE ? GRAPH_NONE : index->maker[tensor];
  return n != GRAPH_NONE && index->nodes[n].op == op ? &index->nodes[n] : NULL;
}

static bool is_integer_product(const graph_node *node) {
  return node != NULL && (node->op == GRAPH_OP_MAT_MUL_INTEGER || node->op == GRAPH_OP_CONV_INTEGER);
}

// The integer product whose sums, as f32, are that tensor.
static const graph_node *cast_product(const quantise_rewrite_index *index, int tensor) {
  const graph_node *cast = maker_of(index, tensor, GRAPH_OP_CAST);
  if (cast == NULL || index->maker[cast->inputs[0]] == GRAPH_NONE) return NULL;
  const graph_node *product = &index->nodes[index->maker[cast->inputs[0]]];
  return is_integer_product(product) ? product : NULL;
}

// `scale` is that of the quantisation, or its product with a constant.
static bool is_scale_of(const graph *g, const quantise_rewrite_index *index, int scale, const graph_node *quantise,
                        int *constant) {
  *constant = GRAPH_NONE;
  if (!quantise_make_wants(quantise, 1)) return false;
  if (scale == quantise->outputs[1]) return true;
  const graph_node *mul = maker_of(index, scale, GRAPH_OP_MUL);
  for (int i = 0; mul != NULL && i < 2; i++)
    if (mul->inputs[i] == quantise->outputs[1] && quantise_rewrite_floats(g, mul->inputs[1 - i]) != NULL) {
      *constant = mul->inputs[1 - i];
      return true;
    }
  return false;
}

// One scale, or one per result of the weights.
static bool fits_weights(const graph *g, const graph_node *product, int constant) {
  if (constant == GRAPH_NONE) return true;
  const graph_tensor *w = &g->tensors[product->inputs[1]], *s = &g->tensors[constant];
  const bool conv = product->op == GRAPH_OP_CONV_INTEGER;
  const int64_t results = conv ? w->dim[0] : w->dim[w->rank - 1], count = graph_elements(s);
  if (count == 1) return true;
  const int at = s->rank - (conv ? w->rank - 1 : 1);  // of the channel beside the result
  return count == results && at >= 0 && s->dim[at] == results;
}

static bool is_dynamic(const graph *g, const quantise_rewrite_index *index, const graph_node *mul, dynamic *d) {
  for (int i = 0; i < 2; i++) {
    d->product = cast_product(index, mul->inputs[i]);
    if (d->product == NULL) continue;
    const graph_node *p = d->product;
    d->quantise = maker_of(index, p->inputs[0], GRAPH_OP_DYNAMIC_QUANTIZE_LINEAR);
    if (d->quantise == NULL || d->quantise->outputs[0] != p->inputs[0] || !quantise_make_has(p, 2) ||
        !quantise_make_wants(d->quantise, 2) || p->inputs[2] != d->quantise->outputs[2])
      continue;
    const bool constant = g->tensors[p->inputs[1]].data != NULL && g->tensors[p->inputs[1]].rank > 1 &&
                          (!quantise_make_has(p, 3) || g->tensors[p->inputs[3]].data != NULL);
    if (constant && is_scale_of(g, index, mul->inputs[1 - i], d->quantise, &d->weights_scale) &&
        fits_weights(g, p, d->weights_scale))
      return true;
  }
  return false;
}

// DequantizeLinear stays: the pins take its integers (pins.c).
static int real_weights(const quantise_maker *m, const dynamic *d) {
  graph *g = m->g;
  const graph_node *p = d->product;
  const int64_t count = d->weights_scale == GRAPH_NONE ? 1 : graph_elements(&g->tensors[d->weights_scale]);
  const float one = 1;
  const float *scales = d->weights_scale == GRAPH_NONE ? &one : quantise_rewrite_floats(g, d->weights_scale);
  const int rank = count == 1 ? 0 : 1;
  const int scale = quantise_make_constant(m, GRAPH_F32, rank, &count, scales);
  const int zero = quantise_make_has(p, 3) ? p->inputs[3] : GRAPH_NONE;
  const bool whole = zero == GRAPH_NONE || graph_elements(&g->tensors[zero]) == count;
  int zeros = zero;
  if (!whole) {  // one zero point for all scales
    uint8_t *same = wf_arena_alloc(g->arena, (size_t)count, 1);
    memset(same, *(const uint8_t *)g->tensors[zero].data, (size_t)count);
    zeros = quantise_make_constant(m, g->tensors[zero].type, rank, &count, same);
  }
  const int inputs[3] = {p->inputs[1], scale, zeros};
  const int axis = p->op == GRAPH_OP_CONV_INTEGER ? 0 : g->tensors[p->inputs[1]].rank - 1;
  return quantise_make_along(m, GRAPH_OP_DEQUANTIZE_LINEAR, inputs, 3, axis, GRAPH_NONE);
}

static bool has_one_zero(const graph *g, const dynamic *d) {
  const int zero = quantise_make_has(d->product, 3) ? d->product->inputs[3] : GRAPH_NONE;
  if (zero == GRAPH_NONE) return true;
  const int64_t zeros = graph_elements(&g->tensors[zero]),
                scales = d->weights_scale == GRAPH_NONE ? 1 : graph_elements(&g->tensors[d->weights_scale]);
  return zeros == 1 || zeros == scales;
}

static bool expand_product(graph *g, const quantise_rewrite_index *index, const graph_node *mul) {
  dynamic d;
  if (mul->op != GRAPH_OP_MUL || !quantise_make_is_float(g, mul, 0) || !is_dynamic(g, index, mul, &d) ||
      !has_one_zero(g, &d))
    return false;
  if (!graph_same_shape(&g->tensors[d.product->outputs[0]], &g->tensors[mul->outputs[0]])) return false;
  const quantise_maker m = {g, mul};
  const int inputs[2] = {d.quantise->inputs[0], real_weights(&m, &d)};
  quantise_make(&m, d.product->op == GRAPH_OP_CONV_INTEGER ? GRAPH_OP_CONV : GRAPH_OP_MAT_MUL, d.product, inputs, 2,
                mul->outputs[0]);
  return true;
}

void quantise_expand_dynamic_products(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++)
    if (!expand_product(g, &index, &nodes[n])) quantise_rewrite_keep(g, &nodes[n]);
  quantise_rewrite_drop_dead(g);
}

// ---- in simple operators

static bool is_byte(graph_type type) { return type == GRAPH_I8 || type == GRAPH_U8; }

// A list along an axis of x as [n, 1, ..].
static int beside(const quantise_maker *m, int list, const graph_tensor *x) {
  const graph_tensor t = quantise_make_tensor(m, list);
  if (graph_elements(&t) == 1) return quantise_make_reshape(m, list, 0, NULL, GRAPH_NONE);
  int64_t dim[GRAPH_RANK_MAX], axis = graph_int(m->node, "axis", 1);
  if (axis < 0) axis += x->rank;
  for (int d = 0; d < GRAPH_RANK_MAX; d++) dim[d] = d == 0 ? t.dim[0] : 1;
  return quantise_make_reshape(m, list, x->rank - (int)axis, dim, GRAPH_NONE);
}

static bool is_computed(const graph *g, const graph_node *node) {
  for (int i = 1; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && g->tensors[node->inputs[i]].data == NULL) return true;
  return false;
}

static int rounded(const quantise_maker *m, int x, int scale) {
  return quantise_make_unary(m, GRAPH_OP_ROUND, quantise_make_binary(m, GRAPH_OP_DIV, x, scale, GRAPH_NONE),
                             GRAPH_NONE);
}

static void to_bytes(const quantise_maker *m, int x, graph_type type, int out) {
  const bool is_signed = type == GRAPH_I8;
  const int limited = quantise_make_clip(m, x, is_signed ? -128 : 0, is_signed ? 127 : 255, GRAPH_NONE);
  quantise_make_cast(m, limited, type, out);
}

bool quantise_expand_quantize(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (!quantise_make_is_float(g, node, 0) || !is_computed(g, node) || graph_elements(&x) == 0) return false;
  int whole = rounded(&m, node->inputs[0], beside(&m, node->inputs[1], &x));
  if (quantise_make_has(node, 2)) {
    const int zero = quantise_make_cast(&m, beside(&m, node->inputs[2], &x), GRAPH_F32, GRAPH_NONE);
    whole = quantise_make_binary(&m, GRAPH_OP_ADD, whole, zero, GRAPH_NONE);
  }
  to_bytes(&m, whole, g->tensors[node->outputs[0]].type, node->outputs[0]);
  return true;
}

bool quantise_expand_dequantize(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (!is_computed(g, node) || graph_elements(&x) == 0) return false;
  int whole = quantise_make_cast(&m, node->inputs[0], GRAPH_F32, GRAPH_NONE);
  if (quantise_make_has(node, 2)) {
    const int zero = quantise_make_cast(&m, beside(&m, node->inputs[2], &x), GRAPH_F32, GRAPH_NONE);
    whole = quantise_make_binary(&m, GRAPH_OP_SUB, whole, zero, GRAPH_NONE);
  }
  quantise_make_binary(&m, GRAPH_OP_MUL, whole, beside(&m, node->inputs[1], &x), node->outputs[0]);
  return true;
}

static int wanted(const graph_node *node, int output) {
  return quantise_make_wants(node, output) ? node->outputs[output] : GRAPH_NONE;
}

// The smallest or largest number, or 0.
static int bound(const quantise_maker *m, int x, graph_op reduce, graph_op join) {
  const int extreme = quantise_make_reduce(m, reduce, x, NULL, 0, false, GRAPH_NONE);
  return quantise_make_binary(m, join, extreme, quantise_make_number(m, 0), GRAPH_NONE);
}

bool quantise_expand_dynamic(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int x = node->inputs[0];
  if (graph_elements(&g->tensors[x]) == 0 || g->tensors[x].rank == 0) return false;
  const int low = bound(&m, x, GRAPH_OP_REDUCE_MIN, GRAPH_OP_MIN),
            high = bound(&m, x, GRAPH_OP_REDUCE_MAX, GRAPH_OP_MAX),
            range = quantise_make_binary(&m, GRAPH_OP_SUB, high, low, GRAPH_NONE),
            scale = quantise_make_binary(&m, GRAPH_OP_DIV, range, quantise_make_number(&m, 255), wanted(node, 1));
  // Of zeros alone the scale is 0, and so are the results.
  const int divisor = quantise_make_binary(&m, GRAPH_OP_MAX, scale, quantise_make_number(&m, 1e-37f), GRAPH_NONE);
  const int negative = quantise_make_unary(&m, GRAPH_OP_NEG, low, GRAPH_NONE),
            zero = quantise_make_clip(&m, rounded(&m, negative, divisor), 0, 255, GRAPH_NONE);
  if (quantise_make_wants(node, 2)) quantise_make_cast(&m, zero, GRAPH_U8, node->outputs[2]);
  const int whole = quantise_make_binary(&m, GRAPH_OP_ADD, rounded(&m, x, divisor), zero, GRAPH_NONE);
  to_bytes(&m, whole, GRAPH_U8, node->outputs[0]);
  return true;
}

// ---- computed zero points

// The product with ones instead of x: what each result takes of the zero point; the graph's data is not touched.
static int sums_of_weights(const quantise_maker *m, int weights, int zero) {
  graph *g = m->g;
  const graph_tensor x = quantise_make_tensor(m, m->node->inputs[0]);
  graph_tensor one = x;
  const bool conv = m->node->op == GRAPH_OP_CONV_INTEGER;
  for (int d = 0; d < one.rank - (conv ? 3 : 1); d++) one.dim[d] = d == 1 && conv ? one.dim[d] : 1;
  if (!conv && one.rank > 2) one.rank = 2, one.dim[0] = 1, one.dim[1] = x.dim[x.rank - 1];
  if (conv) {
    one = x;
    one.dim[0] = 1;
  }
  uint8_t *ones = wf_arena_alloc(g->arena, (size_t)graph_elements(&one) + 1, 1);
  memset(ones, 1, (size_t)graph_elements(&one));
  graph *small = graph_create("sums");
  graph_tensor t[3] = {one, quantise_make_tensor(m, weights), {0}};
  t[0].name = "ones", t[0].data = ones, t[1].name = "weights";
  int inputs[4] = {graph_add_tensor(small, &t[0]), graph_add_tensor(small, &t[1]), GRAPH_NONE, GRAPH_NONE};
  if (zero != GRAPH_NONE) {
    t[2] = quantise_make_tensor(m, zero);
    t[2].name = "zero";
    inputs[3] = graph_add_tensor(small, &t[2]);
  }
  const int out = graph_add_tensor(small, &(graph_tensor){.name = "sums"});
  graph_node *node = graph_add_node(small, m->node->op, "sums", inputs, zero != GRAPH_NONE ? 4 : 2, &out, 1);
  node->attributes = m->node->attributes;
  node->attribute_count = node->attribute_room = m->node->attribute_count;
  graph_set_ends(small, NULL, 0, &out, 1);
  wf_diag quiet = wf_diag_to(NULL);
  int result = GRAPH_NONE;
  if (graph_infer(small, &small->nodes[0], "sums", &quiet)) {
    const graph_tensor *sums = &small->tensors[out];
    void *values = wf_arena_alloc(g->arena, graph_bytes(sums) + 1, 1);
    if (graph_run(small, NULL, &values, NULL, &quiet))
      result = quantise_make_constant(m, GRAPH_I32, sums->rank, sums->dim, values);
  }
  graph_destroy(small);
  return result;
}

bool quantise_expand_integer_product(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int weights = node->inputs[1], zero = quantise_make_has(node, 3) ? node->inputs[3] : GRAPH_NONE;
  if (!quantise_make_has(node, 2) || g->tensors[node->inputs[2]].data != NULL) return false;
  const graph_tensor x = g->tensors[node->inputs[0]], *w = &g->tensors[weights];
  if (w->data == NULL || (zero != GRAPH_NONE && g->tensors[zero].data == NULL) || !is_byte(x.type) || x.rank < 2 ||
      graph_elements(&g->tensors[node->inputs[2]]) != 1 || graph_elements(&x) == 0 ||
      (node->op == GRAPH_OP_MAT_MUL_INTEGER && w->rank != 2))
    return false;
  const int sums = sums_of_weights(&m, weights, zero);
  if (sums == GRAPH_NONE) return false;
  const int inputs[4] = {node->inputs[0], weights, GRAPH_NONE, zero};
  const int all = quantise_make(&m, node->op, node, inputs, 4, GRAPH_NONE);
  const int point = quantise_make_reshape(&m, node->inputs[2], 0, NULL, GRAPH_NONE),
            offset = quantise_make_binary(&m, GRAPH_OP_MUL, quantise_make_cast(&m, point, GRAPH_I32, GRAPH_NONE), sums,
                                          GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_SUB, all, offset, node->outputs[0]);
  return true;
}
