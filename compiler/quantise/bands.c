// SPDX-License-Identifier: Apache-2.0
// Attention by bands: a product of pairs of matrices, what is done with its rows, and the product behind it, for some
// matrices or some of their rows after the other, so that what lies between the two products stays in the cache.
//   scores = Q K, .., context = rows V    =    for each band: scores' = Q' K, .., context' = rows' V;  all context'
// Every tensor between them has its rows in the order of the scores, so a band is one run of elements in each.
#include <string.h>

#include "base/number.h"
#include "compiler/quantise/make.h"
#include "compiler/quantise/quantise.h"

typedef struct pass {
  graph *g;
  quantise_rewrite_index index;  // of the nodes before
  int64_t near_bytes;
  bool *skipped;  // by node: it is in a region
} pass;

// Nodes from the scores to the last one, between other nodes perhaps.
typedef struct region {
  int first, last, turn;            // turn: the Transpose that alone reads the result, or GRAPH_NONE
  bool *inside, *rows;              // by node, by tensor
  int64_t matrices, height, width;  // of the scores
} region;

// Whole matrices, or rows of one.
typedef struct band {
  int64_t matrix, matrices, row, rows;
} band;

static const graph_tensor *tensor_of(const pass *p, int tensor) { return &p->g->tensors[tensor]; }

// ---- a band of a tensor

// Where a run of elements begins and what it has of each dimension; false: it is no part of the tensor's shape.
static bool find_part(const graph_tensor *t, int64_t begin, int64_t count, int64_t *at, int64_t *dim) {
  int64_t inner = graph_elements(t);
  bool found = false;
  for (int d = 0; d < t->rank; d++) {
    inner /= t->dim[d];
    at[d] = begin / inner;
    begin %= inner;
    if (found) {
      dim[d] = t->dim[d];
      if (at[d] != 0) return false;
      continue;
    }
    found = count % inner == 0 && count >= inner;
    dim[d] = found ? count / inner : 1;
    if (found && at[d] + dim[d] > t->dim[d]) return false;
  }
  return found;
}

static int64_t first_row(const region *r, const band *b) { return b->matrix * r->height + b->row; }
static int64_t rows_in(const region *r, const band *b) { return b->matrices > 1 ? b->matrices * r->height : b->rows; }

// The part of a tensor that has so many elements for each row of scores.
static bool find_rows(const region *r, const band *b, const graph_tensor *t, int64_t *at, int64_t *dim) {
  const int64_t rows = r->matrices * r->height, elements = graph_elements(t);
  return elements % rows == 0 &&
         find_part(t, first_row(r, b) * (elements / rows), rows_in(r, b) * (elements / rows), at, dim);
}

static bool find_matrices(const region *r, const band *b, const graph_tensor *t, int64_t *at, int64_t *dim) {
  const int64_t each = graph_elements(t) / r->matrices;
  return find_part(t, b->matrix * each, b->matrices * each, at, dim);
}

// ---- regions

static bool is_constant(const pass *p, int tensor) { return tensor_of(p, tensor)->data != NULL; }

static int64_t matrices_of(const graph_tensor *t) {
  int64_t count = 1;
  for (int d = 0; d + 2 < t->rank; d++) count *= t->dim[d];
  return count;
}

// Int4 that the array widens as it loads it is in no memory as bytes, and is not cut.
static bool is_widened(const pass *p, int tensor) {
  const graph_node *maker = quantise_rewrite_maker(p->g, &p->index, tensor);
  while (maker != NULL && (maker->op == GRAPH_OP_TRANSPOSE || maker->op == GRAPH_OP_RESHAPE))
    maker = quantise_rewrite_maker(p->g, &p->index, maker->inputs[0]);
  return maker != NULL && maker->op == GRAPH_OP_QWIDEN4;
}

static bool is_tensor_of_matrices(const pass *p, int tensor, const graph_tensor *like) {
  const graph_tensor *t = tensor_of(p, tensor);
  return t->type == GRAPH_I8 && t->data == NULL && t->rank == like->rank && graph_elements(t) > 0 &&
         !is_widened(p, tensor) && memcmp(t->dim, like->dim, (size_t)(t->rank - 2) * sizeof *t->dim) == 0;
}

// Scores: a product of pairs of tensors, as int8.
static bool begins(const pass *p, const graph_node *node) {
  if (node->op != GRAPH_OP_QMAT_MUL || graph_int(node, "transA", 0) != 0) return false;
  if (quantise_make_has(node, 2) || quantise_make_has(node, 3)) return false;
  const graph_tensor *y = tensor_of(p, node->outputs[0]);
  return y->type == GRAPH_I8 && y->rank >= 3 && graph_elements(y) > 0 && is_tensor_of_matrices(p, node->inputs[0], y) &&
         is_tensor_of_matrices(p, node->inputs[1], y);
}

static bool is_rows(const region *r, const graph_node *node, int input) {
  return quantise_make_has(node, input) && r->rows[node->inputs[input]];
}

// Windows that stay within a row of scores: whole ones, one behind the other.
static bool pools_rows(const pass *p, const region *r, const graph_node *node) {
  int64_t size[2] = {1, 1}, strides[2] = {1, 1}, pads[4] = {0};
  graph_ints(node, "kernel_shape", size, 2);
  graph_ints(node, "strides", strides, 2);
  graph_ints(node, "pads", pads, 4);
  const graph_tensor *x = tensor_of(p, node->inputs[0]);
  const int64_t rows = r->matrices * r->height, lines = x->dim[0] * x->dim[1];
  return size[0] == strides[0] && size[1] == strides[1] && (pads[0] | pads[1] | pads[2] | pads[3]) == 0 &&
         lines % rows == 0 && lines / rows % size[0] == 0 && x->dim[2] % size[1] == 0;
}

static bool pads_columns(const pass *p, const graph_node *node) {
  int64_t pads[2 * GRAPH_RANK_MAX];
  const int rank = tensor_of(p, node->inputs[0])->rank;
  if (node->input_count > 3 || quantise_rewrite_integers(p->g, node->inputs[1], pads, 2 * GRAPH_RANK_MAX) != 2 * rank)
    return false;
  for (int i = 0; i < 2 * rank; i++)
    if (pads[i] != 0 && i % rank != rank - 1) return false;
  return true;
}

// Rows times a constant, or times tensors of as many matrices; a residual has the same rows.
static bool multiplies_rows(const pass *p, const region *r, const graph_node *node) {
  if (graph_int(node, "transA", 0) != 0 || (quantise_make_has(node, 3) && !is_rows(r, node, 3))) return false;
  if (quantise_make_has(node, 2) && !is_constant(p, node->inputs[2])) return false;
  if (is_constant(p, node->inputs[1])) return matrices_of(tensor_of(p, node->inputs[1])) == 1;
  return !r->rows[node->inputs[1]] && is_tensor_of_matrices(p, node->inputs[1], tensor_of(p, node->inputs[0]));
}

// All inputs from `from` on are constants. Those with a number for every row of a matrix are cut with its rows.
static bool has_constants(const pass *p, const graph_node *node, int from) {
  for (int i = from; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && !is_constant(p, node->inputs[i])) return false;
  return true;
}

// Whether a node that reads rows gives rows.
static bool joins(const pass *p, const region *r, const graph_node *node) {
  if (node->output_count != 1 || !is_rows(r, node, 0) || graph_elements(tensor_of(p, node->outputs[0])) == 0)
    return false;
  switch (node->op) {
    case GRAPH_OP_RESHAPE:
    case GRAPH_OP_QCURVE:
    case GRAPH_OP_QHEADROOM:
      return true;
    case GRAPH_OP_QLUT:
    case GRAPH_OP_QSOFTMAX:
    case GRAPH_OP_QSOFTMAX_UNIT:
      return has_constants(p, node, 1);
    case GRAPH_OP_QADD:
      return is_rows(r, node, 1) || has_constants(p, node, 1);
    case GRAPH_OP_QSHARE:
      return is_rows(r, node, 1);
    case GRAPH_OP_QMAX_POOL:
      return pools_rows(p, r, node);
    case GRAPH_OP_PAD:
      return pads_columns(p, node) && has_constants(p, node, 1);
    case GRAPH_OP_QMAT_MUL:
      return multiplies_rows(p, r, node);
    default:
      return false;
  }
}

static bool reads_rows(const region *r, const graph_node *node) {
  for (int i = 0; i < node->input_count; i++)
    if (is_rows(r, node, i)) return true;
  return false;
}

// Behind the product with the values, or what divides its rows, ends the region.
static bool ends(const pass *p, const region *r, const graph_node *node) {
  if (node->op == GRAPH_OP_QSHARE) return true;
  if (node->op != GRAPH_OP_QMAT_MUL || is_constant(p, node->inputs[1]) || r->rows[node->inputs[1]]) return false;
  const graph_node *reader = quantise_rewrite_only_reader(p->g, &p->index, node->outputs[0]);
  return reader == NULL || reader->op != GRAPH_OP_QSHARE;
}

static bool grow(const pass *p, region *r) {
  const graph_node *first = &p->g->nodes[r->first];
  r->inside[r->first] = r->rows[first->outputs[0]] = true;
  for (int n = r->first + 1; n < p->g->node_count; n++) {
    const graph_node *node = &p->g->nodes[n];
    if (!reads_rows(r, node)) continue;
    if (p->skipped[n] || !joins(p, r, node)) return false;
    r->inside[n] = r->rows[node->outputs[0]] = true;
    r->last = n;
    if (ends(p, r, node)) return true;
  }
  return false;
}

// No node outside of the region reads a tensor of it but the result.
static bool is_closed(const pass *p, const region *r) {
  const int result = p->g->nodes[r->last].outputs[0];
  for (int n = 0; n < p->g->node_count; n++)
    for (int i = 0; i < p->g->nodes[n].input_count && !r->inside[n]; i++)
      if (is_rows(r, &p->g->nodes[n], i) && p->g->nodes[n].inputs[i] != result) return false;
  for (int o = 0; o < p->g->output_count; o++)
    if (r->rows[p->g->outputs[o]]) return false;
  return true;
}

// A Transpose of whole rows, which products and their results take as strides.
static bool turns_rows(const pass *p, const graph_node *node, int64_t *perm) {
  const int rank = tensor_of(p, node->outputs[0])->rank;
  return node->op == GRAPH_OP_TRANSPOSE && graph_ints(node, "perm", perm, GRAPH_RANK_MAX) == rank &&
         perm[rank - 1] == rank - 1;
}

static void find_turn(const pass *p, region *r) {
  int64_t perm[GRAPH_RANK_MAX];
  const graph_node *reader = quantise_rewrite_only_reader(p->g, &p->index, p->g->nodes[r->last].outputs[0]);
  r->turn = reader != NULL && turns_rows(p, reader, perm) ? (int)(reader - p->g->nodes) : GRAPH_NONE;
}

// ---- constants with rows of their own

// The rows of a constant operand after which it begins again; 0: it has no rows of scores.
static int64_t rows_of_constant(const pass *p, const region *r, const graph_node *node, int input) {
  const graph_tensor *t = tensor_of(p, node->inputs[input]), *x = tensor_of(p, node->inputs[0]);
  if (node->op == GRAPH_OP_QADD) return graph_elements(t) / (graph_elements(x) / (r->matrices * r->height));
  if (node->op == GRAPH_OP_QSOFTMAX && input > 1) return graph_elements(t) / x->dim[x->rank - 1];
  return node->op == GRAPH_OP_QSOFTMAX_UNIT ? graph_elements(t) : 0;
}

// What a band takes of a constant: all of it, or a part; false: a run that goes beyond its end.
static bool find_constant(const pass *p, const region *r, const band *b, const graph_node *node, int input, int64_t *at,
                          int64_t *dim) {
  const graph_tensor *t = tensor_of(p, node->inputs[input]);
  const int64_t rows = rows_of_constant(p, r, node, input);
  memset(at, 0, GRAPH_RANK_MAX * sizeof *at);
  memcpy(dim, t->dim, GRAPH_RANK_MAX * sizeof *dim);
  if (rows == 0 || rows_in(r, b) % rows == 0) return rows == 0 || first_row(r, b) % rows == 0;
  const int64_t each = graph_elements(t) / rows, begin = first_row(r, b) % rows;
  return begin + rows_in(r, b) <= rows && find_part(t, begin * each, rows_in(r, b) * each, at, dim);
}

// ---- the sizes of bands

// A dimension of the scores that bands of whole matrices go along, and how many matrices one step of it has.
typedef struct walk {
  int64_t steps, matrices;
} walk;

// The outermost dimension of which a step is no more than a band.
static walk walk_of(const graph_tensor *scores, int64_t most_matrices) {
  walk w = {1, matrices_of(scores)};
  for (int d = 0; d + 2 < scores->rank; d++) {
    w = (walk){scores->dim[d], w.matrices / scores->dim[d]};
    if (w.matrices <= most_matrices && w.steps > 1) break;
  }
  return w;
}

// Bands of whole matrices are shared out evenly, and do not straddle the dimension; rows are, by whole blocks of most
// arrays.
static band size_of(const region *r, const walk *w, int64_t matrix, int64_t row, int64_t most_rows) {
  enum { ROWS = 32 };
  band b = {.matrix = matrix, .matrices = 1, .row = row, .rows = r->height};
  const int64_t steps = most_rows / r->height / w->matrices;
  if (steps > 0) {
    const int64_t bands = wf_ceil_div(w->steps, wf_min(steps, w->steps)),
                  left = w->steps - matrix / w->matrices % w->steps;
    b.matrices = wf_min(wf_ceil_div(w->steps, bands), left) * w->matrices;
  } else if (most_rows < r->height) {
    const int64_t bands = wf_ceil_div(r->height, most_rows);
    b.rows = wf_min(wf_align_up(wf_ceil_div(r->height, bands), ROWS), r->height - row);
  }
  return b;
}

static bool can_cut_node(const pass *p, const region *r, const band *b, const graph_node *node) {
  int64_t at[GRAPH_RANK_MAX], dim[GRAPH_RANK_MAX];
  for (int i = 1; i < node->input_count; i++)
    if (quantise_make_has(node, i) && is_constant(p, node->inputs[i]) && !find_constant(p, r, b, node, i, at, dim))
      return false;
  return find_rows(r, b, tensor_of(p, node->outputs[0]), at, dim);
}

static bool can_cut(const pass *p, const region *r, const band *b) {
  for (int n = r->first; n <= r->last; n++)
    if (r->inside[n] && !can_cut_node(p, r, b, &p->g->nodes[n])) return false;
  return true;
}

// Rows whose scores are a sixth of what is near, which leaves room for what is made of them and for operands; but of a
// few rows the beginnings of steps would take longer than the steps.
static int64_t most_rows(const pass *p, const region *r) {
  enum { PART = 6, LEAST = 32, BANDS = 1024 };
  const int64_t rows = r->matrices * r->height;
  return wf_max(p->near_bytes / PART / r->width, wf_max(wf_ceil_div(rows, (int64_t)BANDS), (int64_t)LEAST));
}

// Few rows are little beside the operands of their products.
static bool is_far(const pass *p, const region *r) {
  enum { COPIES = 2, FEW = 32 };
  return r->height >= FEW && r->matrices * r->height * r->width * COPIES > p->near_bytes;
}

static int find_bands(const pass *p, const region *r, band **all) {
  const int64_t most = most_rows(p, r);
  const walk w = walk_of(tensor_of(p, p->g->nodes[r->first].outputs[0]), most / r->height);
  size_t room = 0, count = 0;
  band *bands = NULL;
  for (int64_t matrix = 0, row = 0; matrix < r->matrices;) {
    const band b = size_of(r, &w, matrix, row, most);
    if (!can_cut(p, r, &b)) return 0;
    *WF_ARENA_PUSH(p->g->arena, bands, count, &room) = b;
    row = row + b.rows < r->height ? row + b.rows : 0;
    if (row == 0) matrix += b.matrices;
  }
  *all = bands;
  return (int)count;
}

static bool find_region(const pass *p, int first, region *r) {
  const graph_tensor *scores = tensor_of(p, p->g->nodes[first].outputs[0]);
  *r = (region){.first = first,
                .last = first,
                .inside = WF_ARENA_ARRAY(p->g->arena, (size_t)p->g->node_count + 1, bool),
                .rows = WF_ARENA_ARRAY(p->g->arena, (size_t)p->g->tensor_count + 1, bool),
                .matrices = matrices_of(scores),
                .height = scores->dim[scores->rank - 2],
                .width = scores->dim[scores->rank - 1]};
  if (!is_far(p, r) || !grow(p, r) || !is_closed(p, r)) return false;
  find_turn(p, r);
  return true;
}

// ---- the nodes of a band

// A new tensor has the scale of the one that it is a part or the whole of.
static int scaled_as(const pass *p, int made, const graph_tensor *t) {
  p->g->tensors[made].scale = t->scale;
  p->g->tensors[made].zero = t->zero;
  return made;
}

static int cut(const pass *p, const quantise_maker *m, int tensor, const int64_t *at, const int64_t *dim) {
  const graph_tensor t = *tensor_of(p, tensor);
  int64_t starts[GRAPH_RANK_MAX], ends_at[GRAPH_RANK_MAX], axes[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  int count = 0;
  for (int d = 0; d < t.rank; d++) {
    if (dim[d] == t.dim[d]) continue;
    starts[count] = at[d], ends_at[count] = at[d] + dim[d], axes[count] = d, steps[count] = 1;
    count++;
  }
  if (count == 0) return tensor;
  const int inputs[5] = {tensor, quantise_make_integers(m, starts, count), quantise_make_integers(m, ends_at, count),
                         quantise_make_integers(m, axes, count), quantise_make_integers(m, steps, count)};
  return scaled_as(p, quantise_make(m, GRAPH_OP_SLICE, NULL, inputs, 5, GRAPH_NONE), &t);
}

// Behind a Transpose of rows it is what the Transpose takes that is cut.
static int cut_operand(const pass *p, const quantise_maker *m, int tensor, const int64_t *at, const int64_t *dim) {
  int64_t perm[GRAPH_RANK_MAX], x_at[GRAPH_RANK_MAX], x_dim[GRAPH_RANK_MAX];
  const int maker = p->index.maker[tensor];
  const graph_node *turn = maker == GRAPH_NONE ? NULL : &p->index.nodes[maker];
  if (turn == NULL || !turns_rows(p, turn, perm)) return cut(p, m, tensor, at, dim);
  const graph_tensor t = *tensor_of(p, tensor);
  for (int d = 0; d < t.rank; d++) x_at[perm[d]] = at[d], x_dim[perm[d]] = dim[d];
  const int part = cut(p, m, turn->inputs[0], x_at, x_dim);
  return scaled_as(p, quantise_make_transpose(m, part, perm, GRAPH_NONE), &t);
}

static int operand_of(const pass *p, const quantise_maker *m, const region *r, const band *b, const graph_node *node,
                      int input, const int *now) {
  const int tensor = node->inputs[input];
  int64_t at[GRAPH_RANK_MAX], dim[GRAPH_RANK_MAX];
  if (tensor == GRAPH_NONE) return GRAPH_NONE;
  if (r->rows[tensor]) return now[tensor];
  if (is_constant(p, tensor)) {
    find_constant(p, r, b, node, input, at, dim);
    return cut(p, m, tensor, at, dim);
  }
  if (node == &p->index.nodes[r->first] && input == 0)
    find_rows(r, b, tensor_of(p, tensor), at, dim);
  else
    find_matrices(r, b, tensor_of(p, tensor), at, dim);
  return cut_operand(p, m, tensor, at, dim);
}

static int add_node(const pass *p, const region *r, const band *b, int number, const graph_node *node, const int *now) {
  const graph_node named = {.name = wf_arena_format(p->g->arena, "%s.%d", node->name, number)};
  const quantise_maker m = {p->g, &named};
  const graph_tensor y = *tensor_of(p, node->outputs[0]);
  int64_t at[GRAPH_RANK_MAX], dim[GRAPH_RANK_MAX];
  int *inputs = WF_ARENA_ARRAY(p->g->arena, (size_t)node->input_count + 1, int), made;
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = node->op == GRAPH_OP_RESHAPE && i > 0 ? GRAPH_NONE : operand_of(p, &m, r, b, node, i, now);
  find_rows(r, b, &y, at, dim);
  if (node->op == GRAPH_OP_RESHAPE)
    made = quantise_make_reshape(&m, inputs[0], y.rank, dim, GRAPH_NONE);
  else
    made = quantise_make(&m, node->op, node, inputs, node->input_count, GRAPH_NONE);
  return scaled_as(p, made, &y);
}

// ---- all bands

// Joins neighbours along one axis until they have its size; what is left stands in `parts`. The last of all is `out`.
static int join(const pass *p, const quantise_maker *m, int *parts, int count, int axis, int64_t size, int out) {
  int groups = 0;
  for (int i = 0; i < count;) {
    int64_t sum = 0;
    const int first = i;
    while (sum < size) sum += tensor_of(p, parts[i++])->dim[axis];
    const graph_tensor t = *tensor_of(p, parts[first]);
    const int whole = i - first == 1 && out == GRAPH_NONE
                          ? parts[first]
                          : quantise_make_along(m, GRAPH_OP_CONCAT, &parts[first], i - first, axis, out);
    parts[groups++] = scaled_as(p, whole, &t);
  }
  return groups;
}

// Rows within their matrices, then matrices; the result gets the tensor that the graph had.
static void join_all(const pass *p, const region *r, int *parts, int count) {
  int64_t perm[GRAPH_RANK_MAX];
  const graph_node *last = &p->index.nodes[r->last], *turn = r->turn == GRAPH_NONE ? NULL : &p->index.nodes[r->turn];
  const graph_tensor y = *tensor_of(p, last->outputs[0]);
  const quantise_maker m = {p->g, turn == NULL ? last : turn};
  for (int d = 0; d < y.rank; d++) perm[d] = d;
  if (turn != NULL) turns_rows(p, turn, perm);
  for (int d = y.rank - 2; d >= 0 && count > 1; d--) {
    int axis = 0;
    while (perm[axis] != d) axis++;
    const int64_t first = tensor_of(p, parts[0])->dim[axis];
    if (first == y.dim[d]) continue;
    int64_t outer = 1;  // matrices of the dimensions before
    for (int o = 0; o < d; o++) outer *= y.dim[o];
    count =
        join(p, &m, parts, count, axis, y.dim[d], outer == 1 ? (turn == NULL ? last : turn)->outputs[0] : GRAPH_NONE);
  }
}

static void write_bands(const pass *p, const region *r, const band *bands, int count) {
  int64_t perm[GRAPH_RANK_MAX];
  int *parts = WF_ARENA_ARRAY(p->g->arena, (size_t)count, int);
  int *now = WF_ARENA_ARRAY(p->g->arena, (size_t)p->g->tensor_count + 1, int);
  for (int b = 0; b < count; b++) {
    for (int n = r->first; n <= r->last; n++)
      if (r->inside[n]) now[p->index.nodes[n].outputs[0]] = add_node(p, r, &bands[b], b, &p->index.nodes[n], now);
    parts[b] = now[p->index.nodes[r->last].outputs[0]];
    if (r->turn == GRAPH_NONE) continue;
    const graph_node *turn = &p->index.nodes[r->turn];
    turns_rows(p, turn, perm);
    const graph_node named = {.name = wf_arena_format(p->g->arena, "%s.%d", turn->name, b)};
    const graph_tensor t = *tensor_of(p, parts[b]);
    const int turned = quantise_make_transpose(&(quantise_maker){p->g, &named}, parts[b], perm, GRAPH_NONE);
    parts[b] = scaled_as(p, turned, &t);
  }
  join_all(p, r, parts, count);
}

// ---- the pass

typedef struct found {
  region of;
  band *bands;
  int count;
} found;

void quantise_rewrite_bands(graph *g, int64_t near_bytes) {
  pass p = {g, quantise_rewrite_index_of(g), near_bytes, WF_ARENA_ARRAY(g->arena, (size_t)g->node_count + 1, bool)};
  found *regions = WF_ARENA_ARRAY(g->arena, (size_t)g->node_count + 1, found);
  int region_count = 0, count;
  for (int n = 0; n < g->node_count && near_bytes > 0; n++) {
    found *f = &regions[region_count];
    if (p.skipped[n] || !begins(&p, &g->nodes[n]) || !find_region(&p, n, &f->of)) continue;
    if ((f->count = find_bands(&p, &f->of, &f->bands)) < 2) continue;
    for (int i = n; i <= f->of.last; i++) p.skipped[i] |= f->of.inside[i];
    if (f->of.turn != GRAPH_NONE) p.skipped[f->of.turn] = true;
    region_count++;
  }
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    if (!p.skipped[n]) quantise_rewrite_keep(g, &nodes[n]);
    for (int i = 0; i < region_count; i++)
      if (regions[i].of.last == n) write_bands(&p, &regions[i].of, regions[i].bands, regions[i].count);
  }
  quantise_rewrite_drop_dead(g);
}
