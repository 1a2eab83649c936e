// SPDX-License-Identifier: Apache-2.0
// Sums of columns, each with a factor per position, as rotary embeddings are made of them:
//   y[s, d] = x[s, d] cos[s, d] + turned[s, d] sin[s, d], where `turned` has the columns of x in another order, some of
//   them negative,
// become a product with one matrix per position, y[s] = x[s] R[s]: the array then does what the hart did in float, and
// slices, signs and concatenations are no steps of their own.
#include <string.h>

#include "compiler/quantise/fold.h"
#include "compiler/quantise/make.h"

enum {
  RANK = 4,
  TERMS_MAX = 4,         // of a column: dense matrices are not worth it
  DEPTH_MAX = 8,         // of nodes between the sum and what it is made of
  NUMBERS_MAX = 1 << 25  // of all matrices
};

typedef struct term {
  int64_t column;
  double factor;
} term;

typedef struct sum {
  graph *g;
  const quantise_pins *pins;
  const quantise_rewrite_index *index;
  const graph_node *add;
  int x;     // what it is made of
  int axis;  // of positions; 0: not known yet
  // the column that is being looked at
  int64_t position;
  term terms[TERMS_MAX];
  int count;
} sum;

// Before the pass began: nodes are taken out of the graph one by one.
static const graph_node *maker_of(const sum *s, int tensor) {
  const int maker = s->index->maker[tensor];
  return maker == GRAPH_NONE ? NULL : &s->index->nodes[maker];
}

static bool add_term(sum *s, int64_t column, double factor) {
  for (int i = 0; i < s->count; i++)
    if (s->terms[i].column == column) {
      s->terms[i].factor += factor;
      return true;
    }
  if (s->count == TERMS_MAX) return false;
  s->terms[s->count++] = (term){column, factor};
  return true;
}

static bool collect(sum *s, int tensor, int64_t column, double factor, int depth);

// Of a constant at a position and a column, along which alone it may vary.
static bool factor_at(sum *s, int constant, int64_t column, double *factor) {
  const graph_tensor *t = &s->g->tensors[constant];
  const float *values = quantise_rewrite_floats(s->g, constant);
  int64_t at = 0, step = 1;
  if (values == NULL || t->rank > RANK) return false;
  for (int i = t->rank - 1; i >= 0; i--) {
    const int axis = i + RANK - t->rank;
    if (t->dim[i] != 1 && axis != RANK - 1) {
      if (s->axis != 0 && s->axis != axis) return false;
      s->axis = axis;
    }
    if (t->dim[i] != 1) at += step * (axis == RANK - 1 ? column : s->position);
    step *= t->dim[i];
  }
  *factor = (double)values[at];
  return s->axis != RANK - 1;
}

static bool collect_product(sum *s, const graph_node *node, int64_t column, double factor, int depth) {
  const int constant = s->g->tensors[node->inputs[0]].data != NULL ? 0 : 1;
  double own;
  return factor_at(s, node->inputs[constant], column, &own) &&
         collect(s, node->inputs[1 - constant], column, factor * own, depth);
}

static bool is_last_axis(int64_t axis) { return axis == -1 || axis == RANK - 1; }

static bool collect_slice(sum *s, const graph_node *node, int64_t column, double factor, int depth) {
  int64_t part[4] = {0, 0, 0, 1};  // start, end, axis, step
  for (int i = 0; i < 4; i++)
    if (quantise_make_has(node, 1 + i) && quantise_rewrite_integers(s->g, node->inputs[1 + i], &part[i], 1) != 1)
      return false;
  if (!quantise_make_has(node, 3) || !is_last_axis(part[2]) || part[3] < 1) return false;
  if (part[0] < 0) part[0] += s->g->tensors[node->inputs[0]].dim[RANK - 1];
  return collect(s, node->inputs[0], part[0] + part[3] * column, factor, depth);
}

static bool collect_split(sum *s, const graph_node *node, int tensor, int64_t column, double factor, int depth) {
  if (!is_last_axis(graph_int(node, "axis", 0))) return false;
  for (int i = 0; i < node->output_count && node->outputs[i] != tensor; i++)
    column += node->outputs[i] == GRAPH_NONE ? 0 : s->g->tensors[node->outputs[i]].dim[RANK - 1];
  return collect(s, node->inputs[0], column, factor, depth);
}

static bool collect_concat(sum *s, const graph_node *node, int64_t column, double factor, int depth) {
  if (!is_last_axis(graph_int(node, "axis", 0))) return false;
  for (int i = 0; i < node->input_count; i++) {
    const int64_t width = s->g->tensors[node->inputs[i]].dim[RANK - 1];
    if (column < width) return collect(s, node->inputs[i], column, factor, depth);
    column -= width;
  }
  return false;
}

// Columns alone may differ from x.
static bool has_rows_of_x(const sum *s, int tensor) {
  const graph_tensor *t = &s->g->tensors[tensor], *x = &s->g->tensors[s->x];
  return t->rank == RANK && t->type == GRAPH_F32 && memcmp(t->dim, x->dim, (RANK - 1) * sizeof *x->dim) == 0;
}

static bool collect(sum *s, int tensor, int64_t column, double factor, int depth) {
  if (column < 0 || column >= s->g->tensors[tensor].dim[RANK - 1]) return false;
  if (tensor == s->x) return add_term(s, column, factor);
  const graph_node *node = maker_of(s, tensor);
  if (node == NULL || depth == 0 || !has_rows_of_x(s, tensor)) return false;
  if (tensor != s->add->outputs[0] && quantise_pin_of(s->pins, tensor)->scale > 0) return false;
  const int a = node->inputs[0], below = depth - 1;
  switch (node->op) {
    case GRAPH_OP_NEG:
      return collect(s, a, column, -factor, below);
    case GRAPH_OP_ADD:
      return collect(s, a, column, factor, below) && collect(s, node->inputs[1], column, factor, below);
    case GRAPH_OP_SUB:
      return collect(s, a, column, factor, below) && collect(s, node->inputs[1], column, -factor, below);
    case GRAPH_OP_MUL:
      return collect_product(s, node, column, factor, below);
    case GRAPH_OP_SLICE:
      return collect_slice(s, node, column, factor, below);
    case GRAPH_OP_SPLIT:
      return collect_split(s, node, tensor, column, factor, below);
    case GRAPH_OP_CONCAT:
      return collect_concat(s, node, column, factor, below);
    default:
      return false;
  }
}

static bool collect_column(sum *s, int64_t position, int64_t column) {
  s->count = 0;
  s->position = position;
  return collect(s, s->add->outputs[0], column, 1, DEPTH_MAX);
}

// Whether it is made of x, at all positions alike: other nodes are not looked at there.
static bool is_sum_of(sum *s, int x) {
  const graph_tensor *t = &s->g->tensors[x];
  s->x = x;
  s->axis = 0;
  if (t->rank != RANK || t->data != NULL || !graph_same_shape(t, &s->g->tensors[s->add->outputs[0]])) return false;
  bool moves = false;
  for (int64_t column = 0; column < t->dim[RANK - 1]; column++) {
    if (!collect_column(s, 0, column)) return false;
    for (int i = 0; i < s->count; i++) moves |= s->terms[i].column != column;
  }
  const int64_t width = t->dim[RANK - 1];
  return moves && (s->axis == 1 || s->axis == 2) && t->dim[0] * t->dim[s->axis] <= NUMBERS_MAX / (width * width);
}

// One of the products in the sum has x itself.
static bool find_sum(sum *s) {
  for (int i = 0; i < 2; i++) {
    const graph_node *mul = maker_of(s, s->add->inputs[i]);
    for (int k = 0; mul != NULL && mul->op == GRAPH_OP_MUL && k < 2; k++)
      if (is_sum_of(s, mul->inputs[k])) return true;
  }
  return false;
}

// Matrices that the pass has made: layers share them.
typedef struct matrices {
  int *tensors;
  size_t count, room;
} matrices;

static int shared(graph *g, matrices *made, int rank, const int64_t *dims, float *values, const char *name) {
  graph_tensor t = {.rank = rank};
  memcpy(t.dim, dims, (size_t)rank * sizeof *dims);
  for (size_t i = 0; i < made->count; i++) {
    const graph_tensor *old = &g->tensors[made->tensors[i]];
    if (graph_same_shape(old, &t) && memcmp(old->data, values, (size_t)graph_elements(&t) * sizeof *values) == 0)
      return made->tensors[i];
  }
  const int tensor = quantise_rewrite_add_floats(g, wf_arena_format(g->arena, "%s.turns", name), rank, dims, values);
  *WF_ARENA_PUSH(g->arena, made->tensors, made->count, &made->room) = tensor;
  return tensor;
}

// [batch, positions, columns of x, columns of y]
static int make_matrices(sum *s, matrices *made) {
  const graph_tensor x = s->g->tensors[s->x];
  const int64_t width = x.dim[RANK - 1], positions = x.dim[s->axis], all = positions * width * width;
  const int64_t dims[RANK] = {x.dim[0], positions, width, width};
  float *values = WF_ARENA_ARRAY(s->g->arena, (size_t)(x.dim[0] * all), float);
  for (int64_t p = 0; p < positions; p++)
    for (int64_t column = 0; column < width; column++) {
      collect_column(s, p, column);
      for (int i = 0; i < s->count; i++)
        values[(p * width + s->terms[i].column) * width + column] = (float)s->terms[i].factor;
    }
  for (int64_t b = 1; b < x.dim[0]; b++) memcpy(values + b * all, values, (size_t)all * sizeof *values);
  return shared(s->g, made, RANK, dims, values, s->add->name);
}

static const int64_t swapped[RANK] = {0, 2, 1, 3};

// x with its positions in front of its heads: what was transposed to have them behind, or a transpose.
static int positions_first(const sum *s, const quantise_maker *m) {
  const graph_node *move = maker_of(s, s->x);
  int64_t perm[GRAPH_RANK_MAX];
  if (move != NULL && move->op == GRAPH_OP_TRANSPOSE && quantise_pin_of(s->pins, s->x)->scale <= 0 &&
      graph_ints(move, "perm", perm, GRAPH_RANK_MAX) == RANK && memcmp(perm, swapped, sizeof swapped) == 0)
    return move->inputs[0];
  return quantise_make_transpose(m, s->x, swapped, GRAPH_NONE);
}

static bool fold_positions(sum *s, matrices *made) {
  const quantise_maker m = {s->g, s->add};
  const int out = s->add->outputs[0];
  if ((s->add->op != GRAPH_OP_ADD && s->add->op != GRAPH_OP_SUB) || !find_sum(s)) return false;
  const int turns = make_matrices(s, made);
  if (s->axis == 1) {
    quantise_make_binary(&m, GRAPH_OP_MAT_MUL, s->x, turns, out);
    return true;
  }
  const int x = positions_first(s, &m);
  quantise_make_transpose(&m, quantise_make_binary(&m, GRAPH_OP_MAT_MUL, x, turns, GRAPH_NONE), swapped, out);
  return true;
}

void quantise_fold_positions(graph *g, const quantise_pins *pins) {
  const quantise_rewrite_index index = quantise_rewrite_index_of(g);
  matrices made = {0};
  int count;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    sum s = {.g = g, .pins = pins, .index = &index, .add = &nodes[n]};
    if (!fold_positions(&s, &made)) quantise_rewrite_keep(g, &nodes[n]);
  }
}
