// SPDX-License-Identifier: Apache-2.0
// Products whose right side stands there several times: keys and values that several heads of queries share, which
// Unsqueeze, Expand and Reshape have repeated. The G matrices on the left that meet one on the right become its rows:
//   a [B,H G,M,K] by b [B,H,K,N], each G times   =   a as [B,H,G M,K] by b, as [B,H G,M,N]
// so nothing is repeated, and each matrix on the right is loaded once. What works by elements or along rows behind such
// a product (factors, masks, softmax, parts of rows and rows joined) takes its rows as they are; the Reshape to the
// shape of the model stands behind it, and is no step.
#include <string.h>

#include "compiler/quantise/fold.h"
#include "compiler/quantise/make.h"

typedef struct pass {
  graph *g;
  const quantise_pins *pins;
  quantise_rewrite_index index;  // of the nodes before
  int *grouped;                  // by tensor that was there before: the same rows, more to a matrix; or GRAPH_NONE
} pass;

// A tensor in which each matrix of x stands `times` times, perhaps transposed.
typedef struct repeat {
  int x;
  int64_t times;
  bool turned;
} repeat;

// From the nodes before the pass; NULL where another operator or none makes the tensor.
static const graph_node *made_by(const pass *p, int tensor, graph_op op) {
  const int maker = tensor == GRAPH_NONE ? GRAPH_NONE : p->index.maker[tensor];
  return maker != GRAPH_NONE && p->index.nodes[maker].op == op ? &p->index.nodes[maker] : NULL;
}

static bool is_pinned(const pass *p, int tensor) { return quantise_pin_of(p->pins, tensor)->scale > 0; }

// ---- what is repeated

static bool swaps_last(const graph_node *turn, int rank) {
  int64_t perm[GRAPH_RANK_MAX];
  if (graph_ints(turn, "perm", perm, GRAPH_RANK_MAX) != rank || rank < 3) return false;
  for (int i = 0; i < rank - 2; i++)
    if (perm[i] != i) return false;
  return perm[rank - 2] == rank - 1 && perm[rank - 1] == rank - 2;
}

static bool same_dims(const int64_t *a, const int64_t *b, int count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// [.., H, 1, K, N] to [.., H, G, K, N].
static bool repeats_matrices(const graph_tensor *one, const graph_tensor *all) {
  const int axis = all->rank - 3;
  return one->rank == all->rank && axis >= 1 && one->dim[axis] == 1 && all->dim[axis] > 1 &&
         same_dims(one->dim, all->dim, axis) && same_dims(one->dim + axis + 1, all->dim + axis + 1, 2);
}

// [.., H, G, K, N] to [.., H G, K, N].
static bool joins_matrices(const graph_tensor *apart, const graph_tensor *joined) {
  const int axis = joined->rank - 3;
  return apart->rank == joined->rank + 1 && axis >= 0 && same_dims(apart->dim, joined->dim, axis) &&
         apart->dim[axis] * apart->dim[axis + 1] == joined->dim[axis] &&
         same_dims(apart->dim + axis + 2, joined->dim + axis + 1, 2);
}

// The input of the Unsqueeze or Reshape that made `one` from [.., H, K, N]; GRAPH_NONE: it was made otherwise.
static int without_axis(const pass *p, int one) {
  const graph_tensor *t = &p->g->tensors[one];
  const graph_node *node = made_by(p, one, GRAPH_OP_UNSQUEEZE);
  if (node == NULL) node = made_by(p, one, GRAPH_OP_RESHAPE);
  if (node == NULL) return GRAPH_NONE;
  const graph_tensor *x = &p->g->tensors[node->inputs[0]];
  const int axis = t->rank - 3;
  return x->rank == t->rank - 1 && same_dims(x->dim, t->dim, axis) && same_dims(x->dim + axis, t->dim + axis + 1, 2)
             ? node->inputs[0]
             : GRAPH_NONE;
}

static bool find_repeat(const pass *p, int b, repeat *r) {
  const graph_node *turn = made_by(p, b, GRAPH_OP_TRANSPOSE);
  r->turned = turn != NULL && swaps_last(turn, p->g->tensors[b].rank);
  const int joined = r->turned ? turn->inputs[0] : b;
  const graph_node *join = made_by(p, joined, GRAPH_OP_RESHAPE);
  if (join == NULL || !joins_matrices(&p->g->tensors[join->inputs[0]], &p->g->tensors[joined])) return false;
  const graph_node *expand = made_by(p, join->inputs[0], GRAPH_OP_EXPAND);
  if (expand == NULL) expand = made_by(p, join->inputs[0], GRAPH_OP_TILE);
  if (expand == NULL) return false;
  const graph_tensor *all = &p->g->tensors[expand->outputs[0]];
  if (!repeats_matrices(&p->g->tensors[expand->inputs[0]], all)) return false;
  r->x = without_axis(p, expand->inputs[0]);
  r->times = all->dim[all->rank - 3];
  return r->x != GRAPH_NONE && !is_pinned(p, b) && !is_pinned(p, joined) && !is_pinned(p, expand->outputs[0]);
}

// ---- products

// The dimensions with the rows of `times` matrices as those of one.
static void group_dims(const graph_tensor *t, int64_t times, int64_t *dim) {
  memcpy(dim, t->dim, (size_t)t->rank * sizeof *dim);
  dim[t->rank - 3] /= times;
  dim[t->rank - 2] *= times;
}

static int group(const quantise_maker *m, pass *p, int tensor, int64_t times) {
  const graph_tensor t = quantise_make_tensor(m, tensor);
  int64_t dim[GRAPH_RANK_MAX];
  group_dims(&t, times, dim);
  const int known = p->grouped[tensor];
  if (known != GRAPH_NONE && same_dims(p->g->tensors[known].dim, dim, t.rank)) return known;
  return p->grouped[tensor] = quantise_make_reshape(m, tensor, t.rank, dim, GRAPH_NONE);
}

// `made` has the rows of `out`, which is made of it.
static void stand_for(pass *p, const quantise_maker *m, int made, int out) {
  const graph_tensor t = quantise_make_tensor(m, out);
  p->grouped[out] = made;
  quantise_make_reshape(m, made, t.rank, t.dim, out);
}

static int turned(const quantise_maker *m, int x) {
  const int rank = quantise_make_tensor(m, x).rank;
  int64_t perm[GRAPH_RANK_MAX];
  for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return quantise_make_transpose(m, x, perm, GRAPH_NONE);
}

static bool group_product(pass *p, const graph_node *node) {
  const quantise_maker m = {p->g, node};
  const graph_tensor *a = &p->g->tensors[node->inputs[0]], *b = &p->g->tensors[node->inputs[1]];
  repeat r;
  if (a->rank != b->rank || a->rank < 3 || !same_dims(a->dim, b->dim, a->rank - 2)) return false;
  if (is_pinned(p, node->outputs[0]) || !find_repeat(p, node->inputs[1], &r)) return false;
  const int left = group(&m, p, node->inputs[0], r.times), right = r.turned ? turned(&m, r.x) : r.x;
  stand_for(p, &m, quantise_make_binary(&m, GRAPH_OP_MAT_MUL, left, right, GRAPH_NONE), node->outputs[0]);
  return true;
}

// ---- what stands behind them

static bool is_last(int64_t axis, int rank) { return axis == -1 || axis == rank - 1; }

// Parts of rows alone.
static bool cuts_rows(const pass *p, const graph_node *node, int rank) {
  int64_t axes[GRAPH_RANK_MAX];
  if (!quantise_make_has(node, 3)) return false;
  const int count = quantise_rewrite_integers(p->g, node->inputs[3], axes, GRAPH_RANK_MAX);
  return count == 1 && is_last(axes[0], rank);
}

// Whether each row of the result depends on rows of the same place alone.
static bool goes_by_rows(const pass *p, const graph_node *node, int rank) {
  switch (node->op) {
    case GRAPH_OP_ADD:
    case GRAPH_OP_SUB:
    case GRAPH_OP_MUL:
    case GRAPH_OP_DIV:
      return true;
    case GRAPH_OP_SOFTMAX:
      return is_last(graph_int(node, "axis", -1), rank);
    case GRAPH_OP_CONCAT:
      return is_last(graph_int(node, "axis", 0), rank);
    case GRAPH_OP_SLICE:
      return cuts_rows(p, node, rank);
    default:
      return false;
  }
}

static bool takes_only_first(graph_op op) { return op == GRAPH_OP_SLICE || op == GRAPH_OP_SOFTMAX; }

// A constant that is the same for all matrices: as many rows as they have, or one.
static bool is_mask(const graph_tensor *t) {
  if (t->type != GRAPH_F32 || t->data == NULL) return false;
  for (int i = 0; i < t->rank - 2; i++)
    if (t->dim[i] != 1) return false;
  return true;
}

// Its rows for all matrices that have become one.
static int repeat_mask(const quantise_maker *m, int tensor, int64_t times) {
  const graph_tensor t = quantise_make_tensor(m, tensor);
  if (t.rank < 2 || t.dim[t.rank - 2] == 1) return tensor;
  const int64_t numbers = graph_elements(&t);
  float *values = WF_ARENA_ARRAY(m->g->arena, (size_t)(times * numbers) + 1, float);
  for (int64_t i = 0; i < times; i++) memcpy(values + i * numbers, t.data, (size_t)numbers * sizeof *values);
  int64_t dim[GRAPH_RANK_MAX];
  memcpy(dim, t.dim, sizeof dim);
  dim[t.rank - 2] *= times;
  return quantise_rewrite_add_floats(m->g, t.name, t.rank, dim, values);
}

// What stands for an input of a node behind grouped rows; GRAPH_NONE: nothing can.
static int input_for(const pass *p, const quantise_maker *m, int tensor, const graph_tensor *rows, int64_t times) {
  if (tensor == GRAPH_NONE) return GRAPH_NONE;
  const int known = p->grouped[tensor];
  if (known != GRAPH_NONE) return same_dims(p->g->tensors[known].dim, rows->dim, rows->rank - 1) ? known : GRAPH_NONE;
  return is_mask(&p->g->tensors[tensor]) ? repeat_mask(m, tensor, times) : GRAPH_NONE;
}

// The first input with grouped rows; GRAPH_NONE: none.
static int first_grouped(const pass *p, const graph_node *node) {
  for (int i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && p->grouped[node->inputs[i]] != GRAPH_NONE) return node->inputs[i];
  return GRAPH_NONE;
}

static bool group_rows(pass *p, const graph_node *node) {
  const int first = first_grouped(p, node);
  if (first == GRAPH_NONE || is_pinned(p, node->outputs[0])) return false;
  const graph_tensor rows = p->g->tensors[p->grouped[first]], model = p->g->tensors[first];
  if (!goes_by_rows(p, node, rows.rank) || p->g->tensors[node->outputs[0]].rank != rows.rank) return false;
  const quantise_maker m = {p->g, node};
  int *inputs = WF_ARENA_ARRAY(p->g->arena, (size_t)node->input_count, int);
  memcpy(inputs, node->inputs, (size_t)node->input_count * sizeof *inputs);
  const int64_t times = rows.dim[rows.rank - 2] / model.dim[rows.rank - 2];
  for (int i = 0; i < (takes_only_first(node->op) ? 1 : node->input_count); i++)
    if ((inputs[i] = input_for(p, &m, node->inputs[i], &rows, times)) == GRAPH_NONE) return false;
  stand_for(p, &m, quantise_make(&m, node->op, node, inputs, node->input_count, GRAPH_NONE), node->outputs[0]);
  return true;
}

// ---- the pass

static bool replace(pass *p, const graph_node *node) {
  if (node->output_count != 1) return false;
  return (node->op == GRAPH_OP_MAT_MUL && group_product(p, node)) || group_rows(p, node);
}

void quantise_fold_repeats(graph *g, const quantise_pins *pins) {
  pass p = {g, pins, quantise_rewrite_index_of(g), WF_ARENA_ARRAY(g->arena, (size_t)g->tensor_count + 1, int)};
  int count;
  for (int t = 0; t < g->tensor_count; t++) p.grouped[t] = GRAPH_NONE;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++)
    if (!replace(&p, &nodes[n])) quantise_rewrite_keep(g, &nodes[n]);
  quantise_rewrite_drop_dead(g);
}
