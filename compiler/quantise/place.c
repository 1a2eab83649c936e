// SPDX-License-Identifier: Apache-2.0
// The last passes on a quantised graph: transposed operands and clamps into products, pooling into convolutions,
// padding of the first convolution into Quantize; and the place of each node with its reason.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

// ---- transposes of operands

static bool is_identity(const int64_t *perm, int rank) {
  for (int i = 0; i < rank; i++)
    if (perm[i] != i) return false;
  return true;
}

// A transpose that swaps the last two dimensions goes into the product; what it does besides stays, if that leaves the
// last dimension where it is (rows are moved whole then).
static void absorb_transpose(graph *g, const quantise_rewrite_index *index, graph_node *product, int operand) {
  graph_node *move = quantise_rewrite_maker(g, index, product->inputs[operand]);
  int64_t perm[GRAPH_RANK_MAX];
  if (move == NULL || move->op != GRAPH_OP_TRANSPOSE || index->uses[product->inputs[operand]] != 1) return;
  const int rank = graph_ints(move, "perm", perm, GRAPH_RANK_MAX);
  if (rank < 2 || perm[rank - 2] != rank - 1) return;
  perm[rank - 2] = perm[rank - 1];
  perm[rank - 1] = rank - 1;
  const char *name = operand == 0 ? "transA" : "transB";
  graph_set_int(g, product, name, !graph_int(product, name, 0));
  graph_tensor *moved = &g->tensors[product->inputs[operand]];
  const int64_t columns = moved->dim[rank - 1];
  moved->dim[rank - 1] = moved->dim[rank - 2];
  moved->dim[rank - 2] = columns;
  if (is_identity(perm, rank)) {
    product->inputs[operand] = move->inputs[0];
  } else {  // its elements stand in another order than the model's tensor of that name
    graph_set_ints(g, move, "perm", perm, rank);
    graph_rename_tensor(g, product->inputs[operand], wf_arena_format(g->arena, "%s.rows", moved->name));
  }
}

static void absorb_transposes(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  for (int n = 0; n < g->node_count; n++)
    for (int i = 0; g->nodes[n].op == GRAPH_OP_QMAT_MUL && i < 2; i++) absorb_transpose(g, &index, &g->nodes[n], i);
  quantise_rewrite_drop_dead(g);
}

// ---- pooling

// The array pools what it stores: padding of the window must not be seen, which holds behind relu (0 is the least).
static bool can_pool(const graph_node *conv, const graph_node *pool) {
  int64_t size[2] = {1, 1}, strides[2] = {1, 1}, pads[4] = {0};
  graph_ints(pool, "kernel_shape", size, 2);
  graph_ints(pool, "strides", strides, 2);
  graph_ints(pool, "pads", pads, 4);
  const bool padded = (pads[0] | pads[1] | pads[2] | pads[3]) != 0;
  return conv->op == GRAPH_OP_QCONV && conv->input_count < 4 && graph_find_attribute(conv, "scale") != NULL &&
         size[0] == size[1] && strides[0] == strides[1] && size[0] <= 3 && strides[0] <= 3 &&
         (!padded || graph_int(conv, "relu", 0) != 0);
}

static void fuse_pools(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  for (int n = 0; n < g->node_count; n++) {
    graph_node *pool = &g->nodes[n];
    if (pool->op != GRAPH_OP_QMAX_POOL) continue;
    graph_node *conv = quantise_rewrite_maker(g, &index, pool->inputs[0]);
    if (conv == NULL || index.uses[pool->inputs[0]] != 1 || !can_pool(conv, pool)) continue;
    static const char *const names[][2] = {
        {"kernel_shape", "pool_size"}, {"strides", "pool_strides"}, {"pads", "pool_pads"}};
    for (int i = 0; i < 3; i++) {
      int64_t values[4];
      graph_set_ints(g, conv, names[i][1], values, graph_ints(pool, names[i][0], values, 4));
    }
    const int unused = conv->outputs[0];
    conv->outputs[0] = pool->outputs[0];
    pool->outputs[0] = unused;  // dead now
    pool->inputs[0] = conv->outputs[0];
  }
  quantise_rewrite_drop_dead(g);
}

// ---- padding of the first convolution

enum { NARROW_CHANNELS = 8 };  // fewer channels than this: the lowering may join the window's columns with them

static void pad_input(graph *g, const quantise_rewrite_index *index, graph_node *conv) {
  const int x = conv->inputs[0];
  graph_node *quantise = quantise_rewrite_maker(g, index, x);
  int64_t pads[4] = {0};
  graph_tensor *image = &g->tensors[x];
  graph_ints(conv, "pads", pads, 4);
  if (quantise == NULL || quantise->op != GRAPH_OP_QUANTIZE || index->uses[x] != 1) return;
  if ((pads[0] | pads[1] | pads[2] | pads[3]) == 0 || image->dim[3] >= NARROW_CHANNELS) return;
  if (graph_int(quantise, "zero", 0) != 0 || graph_find_attribute(quantise, "pads") != NULL) return;
  graph_set_ints(g, quantise, "pads", (int64_t[]){0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0}, 8);
  graph_set_ints(g, conv, "pads", (int64_t[]){0, 0, 0, 0}, 4);
  image->dim[1] += pads[0] + pads[2];
  image->dim[2] += pads[1] + pads[3];
}

static void pad_inputs(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].op == GRAPH_OP_QCONV) pad_input(g, &index, &g->nodes[n]);
}

// ---- places

static const struct {
  graph_op op;
  graph_place place;
  const char *reason;
} places[] = {
    {GRAPH_OP_QCONV, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QMAT_MUL, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QADD, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QMUL, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QMAX_POOL, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QAVERAGE_POOL, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QGLOBAL_AVERAGE_POOL, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QSOFTMAX_UNIT, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QNORM_UNIT, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QGELU_UNIT, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QCURVE, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QNORM_MESH, GRAPH_ON_ARRAY, NULL},
    {GRAPH_OP_QLUT, GRAPH_ON_HOST, "the array has no tables"},
    {GRAPH_OP_QSOFTMAX, GRAPH_ON_HOST, "the array has no exponential"},
    {GRAPH_OP_QLAYER_NORM, GRAPH_ON_HOST, "the array has no square root"},
    {GRAPH_OP_QWIDEN4, GRAPH_ON_ARRAY, "as it is loaded"},
    {GRAPH_OP_QPACK4, GRAPH_ON_HOST, "the array stores bytes"},
    {GRAPH_OP_QHEADROOM, GRAPH_ON_HOST, "the array has no largest of a row"},
    {GRAPH_OP_QCELL, GRAPH_ON_HOST, "the array has no tables"},
    {GRAPH_OP_QHIDDEN, GRAPH_ON_HOST, "the array has no tables"},
    {GRAPH_OP_QSHARE, GRAPH_ON_HOST, "the hart gives each row its factor"},
    {GRAPH_OP_QUANTIZE, GRAPH_ON_HOST, "float numbers"},
    {GRAPH_OP_DEQUANTIZE, GRAPH_ON_HOST, "float numbers"},
    {GRAPH_OP_REQUANTIZE, GRAPH_ON_HOST, "scales per channel or a zero point"},
    {GRAPH_OP_CONCAT, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_SPLIT, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_SLICE, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_PAD, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_RESIZE, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_TRANSPOSE, GRAPH_ON_HOST, "moves data"},
    {GRAPH_OP_RESHAPE, GRAPH_ON_HOST, "only the name changes"},
};

static void place(const graph *g, const quantise_options *options, graph_node *node) {
  node->place = GRAPH_ON_HOST;
  node->reason = "not a product, sum or pooling of int8 numbers";
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (places[i].op == node->op) {
      node->place = places[i].place;
      node->reason = places[i].reason;
    }
  const int out = node->outputs[0];
  if (node->op == GRAPH_OP_QMUL && !options->target.gate &&
      graph_same_shape(&g->tensors[node->inputs[0]], &g->tensors[node->inputs[1]])) {
    node->place = GRAPH_ON_HOST;
    node->reason = "the array multiplies by numbers per channel, and has no gate";
  }
  if (node->place == GRAPH_ON_HOST && node->reason[0] == 'n' && out != GRAPH_NONE && g->tensors[out].type == GRAPH_F32)
    node->reason = "float numbers";
}

// ---- the order

// A Quantize stands right behind the node whose result it takes: the hart then has the numbers at hand, and they need
// not stay in memory as f32.
static void quantise_early(graph *g) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  int count;
  graph_node *nodes = quantise_rewrite_begin(g, &count);
  int *reader = WF_ARENA_ARRAY(g->arena, (size_t)count + 1, int),
      *next = WF_ARENA_ARRAY(g->arena, (size_t)count + 1, int);
  for (int n = 0; n < count; n++) reader[n] = next[n] = GRAPH_NONE;
  for (int n = count - 1; n >= 0; n--) {
    const int maker = nodes[n].op == GRAPH_OP_QUANTIZE ? index.maker[nodes[n].inputs[0]] : GRAPH_NONE;
    if (maker == GRAPH_NONE) continue;
    next[n] = reader[maker];
    reader[maker] = n;
  }
  for (int n = 0; n < count; n++) {
    if (nodes[n].op == GRAPH_OP_QUANTIZE && index.maker[nodes[n].inputs[0]] != GRAPH_NONE) continue;
    quantise_rewrite_keep(g, &nodes[n]);
    for (int q = reader[n]; q != GRAPH_NONE; q = next[q]) quantise_rewrite_keep(g, &nodes[q]);
  }
}

void quantise_place(graph *quantised, const quantise_options *options) {
  absorb_transposes(quantised);
  quantise_rewrite_clamps(quantised);
  if (!options->keep_pools) fuse_pools(quantised);
  quantise_rewrite_gates(quantised);
  pad_inputs(quantised);
  quantise_early(quantised);
  quantise_rewrite_bands(quantised, options->target.near_bytes);
  for (int n = 0; n < quantised->node_count; n++) place(quantised, options, &quantised->nodes[n]);
}
