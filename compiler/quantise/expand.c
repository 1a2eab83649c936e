// SPDX-License-Identifier: Apache-2.0
// The pass that writes operators in terms of simpler ones (expand.h), and the small ones among them:
//   PRelu              x with one slope: LeakyRelu; else relu(x) + slope * min(x, 0)
//   Clip               with limits that are computed, or of integers: Min(Max(x, low), high)
//   Mean               Sum times 1 / count
//   ReduceL1, ..       sums of |x|, of squares, of e^(x - largest)
//   Trilu, EyeLike     Where with a constant mask; a constant
//   Xor                (a or b) and not (a and b)
//   Pow                exponents become the type of the base
//   Gemm               with a third operand or factors that no product takes: MatMul, Mul, Add
//   TopK, GatherElements  stay: the hart has them
#include "compiler/quantise/expand.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"

// ---- element by element

static bool expand_prelu(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int x = node->inputs[0];
  float slope;
  if (!quantise_make_is_float(g, node, 0) || !graph_same_shape(&g->tensors[x], &g->tensors[node->outputs[0]]))
    return false;
  if (quantise_rewrite_number(g, node->inputs[1], &slope)) {
    graph_node attributes = {0};
    graph_set_float(g, &attributes, "alpha", slope);
    quantise_make(&m, GRAPH_OP_LEAKY_RELU, &attributes, &x, 1, node->outputs[0]);
    return true;
  }
  const int up = quantise_make_unary(&m, GRAPH_OP_RELU, x, GRAPH_NONE),
            down = quantise_make_clip(&m, x, -INFINITY, 0, GRAPH_NONE),
            scaled = quantise_make_binary(&m, GRAPH_OP_MUL, down, node->inputs[1], GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_ADD, up, scaled, node->outputs[0]);
  return true;
}

static bool is_computed(const graph *g, const graph_node *node, int input) {
  return quantise_make_has(node, input) && g->tensors[node->inputs[input]].data == NULL;
}

static bool expand_clip(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  int x = node->inputs[0];
  if (!is_computed(g, node, 1) && !is_computed(g, node, 2) && quantise_make_is_float(g, node, 0)) return false;
  const bool has_high = quantise_make_has(node, 2);
  if (quantise_make_has(node, 1))
    x = quantise_make_binary(&m, GRAPH_OP_MAX, x, node->inputs[1], has_high ? GRAPH_NONE : node->outputs[0]);
  if (has_high) quantise_make_binary(&m, GRAPH_OP_MIN, x, node->inputs[2], node->outputs[0]);
  if (!has_high && x == node->inputs[0]) quantise_make_unary(&m, GRAPH_OP_IDENTITY, x, node->outputs[0]);
  return true;
}

static bool expand_mean(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  if (!quantise_make_is_float(g, node, 0)) return false;
  const int sum = quantise_make(&m, GRAPH_OP_SUM, NULL, node->inputs, node->input_count, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_MUL, sum, quantise_make_number(&m, 1 / (float)node->input_count), node->outputs[0]);
  return true;
}

static bool expand_xor(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int a = node->inputs[0], b = node->inputs[1], either = quantise_make_binary(&m, GRAPH_OP_OR, a, b, GRAPH_NONE),
            both = quantise_make_binary(&m, GRAPH_OP_AND, a, b, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_AND, either, quantise_make_unary(&m, GRAPH_OP_NOT, both, GRAPH_NONE),
                       node->outputs[0]);
  return true;
}

static bool expand_pow(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  if (!quantise_make_is_float(g, node, 0) || quantise_make_is_float(g, node, 1)) return false;
  const int exponent = quantise_make_cast(&m, node->inputs[1], GRAPH_F32, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_POW, node->inputs[0], exponent, node->outputs[0]);
  return true;
}

// ---- comparisons

static bool expand_is_nan(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int x = node->inputs[0];
  if (!quantise_make_is_float(g, node, 0)) return false;
  quantise_make_unary(&m, GRAPH_OP_NOT, quantise_make_binary(&m, GRAPH_OP_EQUAL, x, x, GRAPH_NONE), node->outputs[0]);
  return true;
}

static bool expand_is_inf(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const bool up = graph_int(node, "detect_positive", 1) != 0, down = graph_int(node, "detect_negative", 1) != 0;
  int x = node->inputs[0];
  if (!quantise_make_is_float(g, node, 0) || (!up && !down)) return false;
  if (up && down) x = quantise_make_unary(&m, GRAPH_OP_ABS, x, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_EQUAL, x, quantise_make_number(&m, up ? INFINITY : -INFINITY), node->outputs[0]);
  return true;
}

// 0 .. count - 1 along `axis` of `rank` dimensions, in i64.
static int counting(const quantise_maker *m, int64_t count, int axis, int rank) {
  int64_t dim[GRAPH_RANK_MAX], *numbers = WF_ARENA_ARRAY(m->g->arena, (size_t)count + 1, int64_t);
  for (int64_t i = 0; i < count; i++) numbers[i] = i;
  for (int d = 0; d < rank; d++) dim[d] = d == axis ? count : 1;
  return quantise_make_constant(m, GRAPH_I64, rank, dim, numbers);
}

static bool expand_hardmax(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  const int64_t given = graph_int(node, "axis", -1);
  const int axis = (int)(given < 0 ? given + x.rank : given);
  if (!quantise_make_is_float(g, node, 0) || graph_elements(&x) == 0) return false;
  const int place = quantise_make_along(&m, GRAPH_OP_ARG_MAX, node->inputs, 1, axis, GRAPH_NONE),
            same = quantise_make_binary(&m, GRAPH_OP_EQUAL, counting(&m, x.dim[axis], axis, x.rank), place, GRAPH_NONE);
  quantise_make_cast(&m, same, GRAPH_F32, node->outputs[0]);
  return true;
}

static int whole(const quantise_maker *m, int64_t value) {
  return quantise_make_constant(m, GRAPH_I64, 0, NULL, &value);
}

// Indices below 0 count from the end.
static bool expand_one_hot(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor y = g->tensors[node->outputs[0]];
  const int64_t given = graph_int(node, "axis", -1);
  const int axis = (int)(given < 0 ? given + y.rank : given);
  if (g->tensors[node->inputs[0]].data != NULL || graph_elements(&y) == 0) return false;
  const int64_t depth = y.dim[axis];
  int64_t dim[GRAPH_RANK_MAX];
  for (int d = 0; d < y.rank; d++) dim[d] = d == axis ? 1 : y.dim[d];
  const int index = quantise_make_cast(&m, node->inputs[0], GRAPH_I64, GRAPH_NONE),
            below = quantise_make_binary(&m, GRAPH_OP_LESS, index, whole(&m, 0), GRAPH_NONE),
            wrapped = quantise_make_binary(&m, GRAPH_OP_ADD, index, whole(&m, depth), GRAPH_NONE),
            place = quantise_make(&m, GRAPH_OP_WHERE, NULL, (int[]){below, wrapped, index}, 3, GRAPH_NONE),
            same = quantise_make_binary(&m, GRAPH_OP_EQUAL, counting(&m, depth, axis, y.rank),
                                        quantise_make_reshape(&m, place, y.rank, dim, GRAPH_NONE), GRAPH_NONE);
  const int off = quantise_make_slice(&m, node->inputs[2], 0, 0, 1, 1, GRAPH_NONE),
            on = quantise_make_slice(&m, node->inputs[2], 0, 1, 2, 1, GRAPH_NONE);
  quantise_make(&m, GRAPH_OP_WHERE, NULL, (int[]){same, on, off}, 3, node->outputs[0]);
  return true;
}

// The last of equal elements is the first from behind.
static bool expand_arg(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  const int64_t given = graph_int(node, "axis", 0);
  const int axis = (int)(given < 0 ? given + x.rank : given);
  if (graph_int(node, "select_last_index", 0) == 0 || x.rank == 0 || graph_elements(&x) == 0) return false;
  graph_node attributes = {0};
  graph_set_int(g, &attributes, "axis", axis);
  graph_set_int(g, &attributes, "keepdims", graph_int(node, "keepdims", 1));
  const int turned = quantise_make_slice(&m, node->inputs[0], axis, x.dim[axis] - 1, -x.dim[axis] - 1, -1, GRAPH_NONE),
            place = quantise_make(&m, node->op, &attributes, &turned, 1, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_SUB, whole(&m, x.dim[axis] - 1), place, node->outputs[0]);
  return true;
}

// ---- reductions

// The axes as the maker takes them, positive; all of them if none is given.
static int axes_of(const graph *g, const graph_node *node, int64_t *axes) {
  const int rank = g->tensors[node->inputs[0]].rank;
  int count = graph_ints(node, "axes", axes, GRAPH_RANK_MAX);
  for (int i = 0; i < count && i < GRAPH_RANK_MAX; i++) axes[i] += axes[i] < 0 ? rank : 0;
  for (int d = 0; count == 0 && d < rank; d++) axes[d] = d;
  return count == 0 ? rank : count;
}

// x - largest stays finite: where all of x is -inf, so is its sum's logarithm, and the largest does not count.
static int log_sum_exp(const quantise_maker *m, int x, const int64_t *axes, int count, bool keep, int out) {
  const int largest = quantise_make_reduce(m, GRAPH_OP_REDUCE_MAX, x, axes, count, true, GRAPH_NONE);
  const int limited = quantise_make_clip(m, largest, -3e38f, 3e38f, GRAPH_NONE);
  const int powers =
      quantise_make_unary(m, GRAPH_OP_EXP, quantise_make_binary(m, GRAPH_OP_SUB, x, limited, GRAPH_NONE), GRAPH_NONE);
  const int sum = quantise_make_reduce(m, GRAPH_OP_REDUCE_SUM, powers, axes, count, true, GRAPH_NONE);
  const int logs = quantise_make_unary(m, GRAPH_OP_LOG, sum, GRAPH_NONE);
  if (keep) return quantise_make_binary(m, GRAPH_OP_ADD, logs, limited, out);
  const int all = quantise_make_binary(m, GRAPH_OP_ADD, logs, limited, GRAPH_NONE);
  const graph_tensor y = quantise_make_tensor(m, out);
  return quantise_make_reshape(m, all, y.rank, y.dim, out);
}

static bool expand_reduce(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  int64_t axes[GRAPH_RANK_MAX];
  int x = node->inputs[0], out = node->outputs[0], part;
  const bool keep = graph_int(node, "keepdims", 1) != 0;
  if (!quantise_make_is_float(g, node, 0) || g->tensors[x].rank == 0 || graph_elements(&g->tensors[x]) == 0)
    return false;
  const int count = axes_of(g, node, axes);
  switch (node->op) {
    case GRAPH_OP_REDUCE_L1:
      part = quantise_make_unary(&m, GRAPH_OP_ABS, x, GRAPH_NONE);
      quantise_make_reduce(&m, GRAPH_OP_REDUCE_SUM, part, axes, count, keep, out);
      return true;
    case GRAPH_OP_REDUCE_L2:
      part = quantise_make_reduce(&m, GRAPH_OP_REDUCE_SUM_SQUARE, x, axes, count, keep, GRAPH_NONE);
      quantise_make_unary(&m, GRAPH_OP_SQRT, part, out);
      return true;
    case GRAPH_OP_REDUCE_LOG_SUM:
      part = quantise_make_reduce(&m, GRAPH_OP_REDUCE_SUM, x, axes, count, keep, GRAPH_NONE);
      quantise_make_unary(&m, GRAPH_OP_LOG, part, out);
      return true;
    default:
      log_sum_exp(&m, x, axes, count, keep, out);
      return true;
  }
}

// Without axes nothing is summed up if the node says so.
static bool expand_sum_of_none(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const bool none = !quantise_make_has(node, 1) || graph_elements(&g->tensors[node->inputs[1]]) == 0;
  if (!none || graph_int(node, "noop_with_empty_axes", 0) == 0) return false;
  quantise_make_unary(&m, GRAPH_OP_IDENTITY, node->inputs[0], node->outputs[0]);
  return true;
}

// ---- constants that depend on shapes alone

// What the operator makes of an input of that shape, of zeros or ones, as bool.
static bool computed(graph *g, const graph_node *node, const graph_tensor *x, void *result, graph_tensor *y) {
  wf_arena *arena = wf_arena_create();
  graph_call c;
  graph_call_prepare(&c, g, node, arena);
  c.in[0] = x;
  c.out[0]->type = x->type;
  c.to[0] = result;
  const bool ok = graph_call_infer(&c) && graph_call_run(&c);
  *y = *c.out[0];
  wf_arena_destroy(arena);
  return ok;
}

static bool expand_trilu(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  if (graph_elements(&x) == 0) {
    quantise_make_unary(&m, GRAPH_OP_IDENTITY, node->inputs[0], node->outputs[0]);
    return true;
  }
  if (x.rank < 2 || is_computed(g, node, 1)) return false;
  graph_tensor ones = {.type = GRAPH_BOOL, .rank = 2, .dim = {x.dim[x.rank - 2], x.dim[x.rank - 1]}}, y;
  const size_t count = (size_t)graph_elements(&ones);
  uint8_t *all = wf_arena_alloc(g->arena, count + 1, 1), *kept = wf_arena_alloc(g->arena, count + 1, 1);
  memset(all, 1, count);
  ones.data = all;
  if (!computed(g, node, &ones, kept, &y)) return false;
  const uint64_t nothing = 0;
  const int mask = quantise_make_constant(&m, GRAPH_BOOL, 2, ones.dim, kept),
            zero = quantise_make_constant(&m, x.type, 0, NULL, &nothing);
  quantise_make(&m, GRAPH_OP_WHERE, NULL, (int[]){mask, node->inputs[0], zero}, 3, node->outputs[0]);
  return true;
}

static bool expand_eye_like(graph *g, const graph_node *node) {
  graph_tensor x = g->tensors[node->inputs[0]], y;
  graph_tensor *out = &g->tensors[node->outputs[0]];
  void *result = wf_arena_alloc(g->arena, graph_bytes(out) + 1, 1);
  x.data = result;  // which is not read
  if (!computed(g, node, &x, result, &y)) return false;
  out->data = result;
  return true;
}

// ---- products

static bool is_one(float factor) { return factor >= 1 && factor <= 1; }

static int times(const quantise_maker *m, int x, float factor, int out) {
  if (is_one(factor) && out == GRAPH_NONE) return x;
  return quantise_make_binary(m, GRAPH_OP_MUL, x, quantise_make_number(m, factor), out);
}

static int turned(const quantise_maker *m, int x, const char *name) {
  return graph_int(m->node, name, 0) == 0 ? x : quantise_make_transpose(m, x, (int64_t[]){1, 0}, GRAPH_NONE);
}

// A constant third operand along the results is a bias; the converter takes it.
static bool is_bias(const graph *g, const graph_node *node) {
  if (!quantise_make_has(node, 2)) return true;
  const graph_tensor *c = &g->tensors[node->inputs[2]], *y = &g->tensors[node->outputs[0]];
  const int64_t count = graph_elements(c);
  return c->data != NULL && (count == 1 || (c->rank > 0 && c->dim[c->rank - 1] == count && count == y->dim[1]));
}

static bool expand_gemm(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const float alpha = graph_float(node, "alpha", 1), beta = graph_float(node, "beta", 1);
  const bool plain = is_one(alpha) || (alpha > 0 && g->tensors[node->inputs[1]].data != NULL);
  if (!quantise_make_is_float(g, node, 0) || (is_bias(g, node) && plain)) return false;
  const bool has_sum = quantise_make_has(node, 2), scaled = !is_one(alpha);
  const int a = turned(&m, node->inputs[0], "transA"), b = turned(&m, node->inputs[1], "transB"),
            last = node->outputs[0];
  int y = quantise_make_binary(&m, GRAPH_OP_MAT_MUL, a, b, scaled || has_sum ? GRAPH_NONE : last);
  if (scaled) y = times(&m, y, alpha, has_sum ? GRAPH_NONE : last);
  if (has_sum) quantise_make_binary(&m, GRAPH_OP_ADD, y, times(&m, node->inputs[2], beta, GRAPH_NONE), last);
  return true;
}

// ---- the pass

static const struct {
  graph_op op;
  quantise_expansion *expand;
} rules[] = {
    {GRAPH_OP_PRELU, expand_prelu},
    {GRAPH_OP_CLIP, expand_clip},
    {GRAPH_OP_MEAN, expand_mean},
    {GRAPH_OP_XOR, expand_xor},
    {GRAPH_OP_POW, expand_pow},
    {GRAPH_OP_IS_NA_N, expand_is_nan},
    {GRAPH_OP_IS_INF, expand_is_inf},
    {GRAPH_OP_HARDMAX, expand_hardmax},
    {GRAPH_OP_ONE_HOT, expand_one_hot},
    {GRAPH_OP_ARG_MAX, expand_arg},
    {GRAPH_OP_ARG_MIN, expand_arg},
    {GRAPH_OP_REDUCE_L1, expand_reduce},
    {GRAPH_OP_REDUCE_L2, expand_reduce},
    {GRAPH_OP_REDUCE_LOG_SUM, expand_reduce},
    {GRAPH_OP_REDUCE_LOG_SUM_EXP, expand_reduce},
    {GRAPH_OP_REDUCE_SUM, expand_sum_of_none},
    {GRAPH_OP_TRILU, expand_trilu},
    {GRAPH_OP_EYE_LIKE, expand_eye_like},
    {GRAPH_OP_GEMM, expand_gemm},
    {GRAPH_OP_BATCH_NORMALIZATION, quantise_expand_batch_norm},
    {GRAPH_OP_INSTANCE_NORMALIZATION, quantise_expand_instance_norm},
    {GRAPH_OP_LAYER_NORMALIZATION, quantise_expand_layer_norm},
    {GRAPH_OP_LRN, quantise_expand_lrn},
    {GRAPH_OP_CONV_TRANSPOSE, quantise_expand_conv_transpose},
    {GRAPH_OP_MAX_POOL, quantise_expand_pool},
    {GRAPH_OP_AVERAGE_POOL, quantise_expand_pool},
    {GRAPH_OP_GLOBAL_MAX_POOL, quantise_expand_global},
    {GRAPH_OP_GLOBAL_AVERAGE_POOL, quantise_expand_global},
    {GRAPH_OP_RESIZE, quantise_expand_resize},
    {GRAPH_OP_PAD, quantise_expand_pad},
    {GRAPH_OP_QUANTIZE_LINEAR, quantise_expand_quantize},
    {GRAPH_OP_DEQUANTIZE_LINEAR, quantise_expand_dequantize},
    {GRAPH_OP_DYNAMIC_QUANTIZE_LINEAR, quantise_expand_dynamic},
    {GRAPH_OP_MAT_MUL_INTEGER, quantise_expand_integer_product},
    {GRAPH_OP_CONV_INTEGER, quantise_expand_integer_product},
    {GRAPH_OP_GATHER_ND, quantise_expand_gather_nd},
    {GRAPH_OP_SCATTER_ND, quantise_expand_scatter_nd},
    {GRAPH_OP_MAX_UNPOOL, quantise_expand_max_unpool},
    {GRAPH_OP_COMPRESS, quantise_expand_compress},
    {GRAPH_OP_REVERSE_SEQUENCE, quantise_expand_reverse},
    {GRAPH_OP_CUM_SUM, quantise_expand_cum_sum},
    {GRAPH_OP_GRU, quantise_expand_recurrent},
    {GRAPH_OP_RNN, quantise_expand_recurrent},
};

static bool expand_node(graph *g, const graph_node *node) {
  if (node->output_count == 0 || node->outputs[0] == GRAPH_NONE) {
    // of a recurrent layer only the last state may be wanted
    if (node->op != GRAPH_OP_GRU && node->op != GRAPH_OP_RNN) return false;
  }
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i].op == node->op) return rules[i].expand(g, node);
  return false;
}

static bool expand_all(graph *g) {
  int count;
  bool changed = false;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    if (expand_node(g, &nodes[n]))
      changed = true;
    else
      quantise_rewrite_keep(g, &nodes[n]);
  }
  return changed;
}

void quantise_expand(graph *g) {
  enum { ROUNDS = 4 };  // an expansion may need others
  quantise_expand_dynamic_products(g);
  for (int round = 0; round < ROUNDS && expand_all(g); round++) continue;
  quantise_rewrite_drop_dead(g);
}
