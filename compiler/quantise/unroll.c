// SPDX-License-Identifier: Apache-2.0
// An LSTM step by step: the products with the inputs of all steps are one product, each step adds its product with the
// state, and the gates are element-wise operators. Only the ordinary form: default activations, no peepholes, no
// clipping, all sequences of full length.
//   [i o f c] = x W' + h R' + b;   cell = sigm(f) cell + sigm(i) tanh(c);   h = sigm(o) tanh(cell)
#include <string.h>

#include "compiler/quantise/prepare.h"

typedef struct lstm {
  graph *g;
  const graph_node *node;
  int64_t steps, batch, width, cells;
  int directions;
} lstm;

static bool has_input(const graph_node *node, int i) { return node->input_count > i && node->inputs[i] != GRAPH_NONE; }

static bool describe(graph *g, const graph_node *node, lstm *l) {
  static const char *const refused[] = {"activations", "activation_alpha", "activation_beta", "clip"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    if (graph_find_attribute(node, refused[i]) != NULL) return false;
  if (graph_int(node, "layout", 0) != 0 || graph_int(node, "input_forget", 0) != 0) return false;
  if (quantise_rewrite_floats(g, node->inputs[1]) == NULL || quantise_rewrite_floats(g, node->inputs[2]) == NULL)
    return false;
  if (has_input(node, 3) && quantise_rewrite_floats(g, node->inputs[3]) == NULL) return false;
  if (has_input(node, 4) || has_input(node, 7)) return false;
  const graph_tensor *x = &g->tensors[node->inputs[0]], *w = &g->tensors[node->inputs[1]];
  *l = (lstm){g, node, x->dim[0], x->dim[1], x->dim[2], w->dim[1] / 4, (int)w->dim[0]};
  return true;
}

static const char *part(const lstm *l, int direction, int64_t step, const char *what) {
  return wf_arena_format(l->g->arena, "%s.%s%s%d.%s", l->node->name, direction == 0 ? "" : "back.", "t", (int)step,
                         what);
}

static int add(const lstm *l, graph_op op, const char *name, const int *inputs, int count, int rank,
               const int64_t *dims) {
  const int out = quantise_rewrite_tensor(l->g, name, "", GRAPH_F32, rank, dims);
  graph_add_node(l->g, op, quantise_rewrite_name(l->g, name, ""), inputs, count, &out, 1);
  return out;
}

static int reshape(const lstm *l, const char *name, int x, int rank, const int64_t *dims, int out) {
  graph *g = l->g;
  const int shape = quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.shape", name), dims, rank);
  if (out == GRAPH_NONE) return add(l, GRAPH_OP_RESHAPE, name, (int[]){x, shape}, 2, rank, dims);
  graph_add_node(g, GRAPH_OP_RESHAPE, quantise_rewrite_name(g, name, ""), (int[]){x, shape}, 2, &out, 1);
  return out;
}

// Rows from, ..., to - 1 of dimension 0.
static int rows(const lstm *l, const char *name, int x, int64_t from, int64_t to) {
  graph *g = l->g;
  graph_tensor t = g->tensors[x];
  t.dim[0] = to - from;
  const int64_t bounds[3] = {from, to, 0};
  int inputs[4] = {x};
  for (int i = 0; i < 3; i++)
    inputs[1 + i] = quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.%d", name, i), &bounds[i], 1);
  return add(l, GRAPH_OP_SLICE, name, inputs, 4, t.rank, t.dim);
}

// One direction of [D, 4H, K] as [K, 4H].
static int turned(const lstm *l, int direction, int tensor) {
  const graph_tensor t = l->g->tensors[tensor];
  const int64_t gates = t.dim[1], depth = t.dim[2];
  const float *from = (const float *)t.data + direction * gates * depth;
  float *to = WF_ARENA_ARRAY(l->g->arena, (size_t)(gates * depth), float);
  for (int64_t i = 0; i < gates * depth; i++) to[i % depth * gates + i / depth] = from[i];
  return quantise_rewrite_add_floats(l->g, t.name, 2, (int64_t[]){depth, gates}, to);
}

static int bias_of(const lstm *l, int direction) {
  const int64_t gates = 4 * l->cells;
  float *sums = WF_ARENA_ARRAY(l->g->arena, (size_t)gates, float);
  const float *both =
      has_input(l->node, 3) ? quantise_rewrite_floats(l->g, l->node->inputs[3]) + direction * 2 * gates : NULL;
  for (int64_t i = 0; both != NULL && i < gates; i++) sums[i] = both[i] + both[gates + i];
  return quantise_rewrite_add_floats(l->g, part(l, direction, 0, "bias"), 1, &gates, sums);
}

// A given first state of one direction; GRAPH_NONE: zero.
static int first_state(const lstm *l, int direction, int input, const char *what) {
  if (!has_input(l->node, input)) return GRAPH_NONE;
  const int one = rows(l, part(l, direction, 0, what), l->node->inputs[input], direction, direction + 1);
  return reshape(l, part(l, direction, 0, what), one, 2, (int64_t[]){l->batch, l->cells}, GRAPH_NONE);
}

static int unary(const lstm *l, graph_op op, const char *name, int x) {
  return add(l, op, name, &x, 1, 2, (int64_t[]){l->batch, l->cells});
}

static int binary(const lstm *l, graph_op op, const char *name, int a, int b) {
  return add(l, op, name, (int[]){a, b}, 2, 2, (int64_t[]){l->batch, l->cells});
}

typedef struct state {
  int hidden, cell;  // [B, H]; GRAPH_NONE: zero
} state;

static state step(const lstm *l, int direction, int64_t t, state s, int inputs, int recurrence) {
  graph *g = l->g;
  const int64_t dims[2] = {l->batch, 4 * l->cells};
  int sums = rows(l, part(l, direction, t, "x"), inputs, t * l->batch, (t + 1) * l->batch), gates[4];
  if (s.hidden != GRAPH_NONE) {
    const int product =
        add(l, GRAPH_OP_MAT_MUL, part(l, direction, t, "product"), (int[]){s.hidden, recurrence}, 2, 2, dims);
    sums = add(l, GRAPH_OP_ADD, part(l, direction, t, "sums"), (int[]){product, sums}, 2, 2, dims);
  }
  for (int i = 0; i < 4; i++)
    gates[i] =
        quantise_rewrite_tensor(g, part(l, direction, t, "gates"), "", GRAPH_F32, 2, (int64_t[]){l->batch, l->cells});
  const int64_t sizes[4] = {l->cells, l->cells, l->cells, l->cells};
  const int split[2] = {sums, quantise_rewrite_add_integers(g, part(l, direction, t, "sizes"), sizes, 4)};
  graph_node *node = graph_add_node(g, GRAPH_OP_SPLIT, quantise_rewrite_name(g, part(l, direction, t, "split"), ""),
                                    split, 2, gates, 4);
  graph_set_int(g, node, "axis", 1);
  int cell = binary(l, GRAPH_OP_MUL, part(l, direction, t, "new"),
                    unary(l, GRAPH_OP_SIGMOID, part(l, direction, t, "i"), gates[0]),
                    unary(l, GRAPH_OP_TANH, part(l, direction, t, "c"), gates[3]));
  if (s.cell != GRAPH_NONE) {
    const int kept = binary(l, GRAPH_OP_MUL, part(l, direction, t, "kept"),
                            unary(l, GRAPH_OP_SIGMOID, part(l, direction, t, "f"), gates[2]), s.cell);
    cell = binary(l, GRAPH_OP_ADD, part(l, direction, t, "cell"), kept, cell);
  }
  const int out = unary(l, GRAPH_OP_SIGMOID, part(l, direction, t, "o"), gates[1]);
  return (state){binary(l, GRAPH_OP_MUL, part(l, direction, t, "h"), out,
                        unary(l, GRAPH_OP_TANH, part(l, direction, t, "shown"), cell)),
                 cell};
}

// Runs one direction; the hidden state of each step goes to hidden[].
static state run(const lstm *l, int direction, bool backwards, int *hidden) {
  const int x = reshape(l, part(l, direction, 0, "inputs"), l->node->inputs[0], 2,
                        (int64_t[]){l->steps * l->batch, l->width}, GRAPH_NONE);
  const int sums = add(l, GRAPH_OP_GEMM, part(l, direction, 0, "products"),
                       (int[]){x, turned(l, direction, l->node->inputs[1]), bias_of(l, direction)}, 3, 2,
                       (int64_t[]){l->steps * l->batch, 4 * l->cells});
  const int recurrence = turned(l, direction, l->node->inputs[2]);
  state s = {first_state(l, direction, 5, "h0"), first_state(l, direction, 6, "c0")};
  for (int64_t i = 0; i < l->steps; i++) {
    const int64_t t = backwards ? l->steps - 1 - i : i;
    s = step(l, direction, t, s, sums, recurrence);
    hidden[t] = s.hidden;
  }
  return s;
}

static void concat(const lstm *l, const char *name, const int *inputs, int count, int axis, int out) {
  graph_set_int(l->g,
                graph_add_node(l->g, GRAPH_OP_CONCAT, quantise_rewrite_name(l->g, name, ""), inputs, count, &out, 1),
                "axis", axis);
}

// Y [T, D, B, H]: all hidden states.
static void join_all(const lstm *l, int *const hidden[2]) {
  const int64_t dims[4] = {1, 1, l->batch, l->cells};
  const int count = (int)l->steps * l->directions;
  int *parts = WF_ARENA_ARRAY(l->g->arena, (size_t)count, int);
  for (int i = 0; i < count; i++) {
    const int direction = i % l->directions, t = i / l->directions;
    parts[i] = reshape(l, part(l, direction, t, "y"), hidden[direction][t], 4, dims, GRAPH_NONE);
  }
  if (l->directions == 1) {
    concat(l, l->node->name, parts, count, 0, l->node->outputs[0]);
    return;
  }
  const int64_t flat[4] = {count, 1, l->batch, l->cells};
  const int all = quantise_rewrite_tensor(l->g, l->node->name, ".all", GRAPH_F32, 4, flat);
  concat(l, l->node->name, parts, count, 0, all);
  reshape(l, wf_arena_format(l->g->arena, "%s.directions", l->node->name), all, 4,
          (int64_t[]){l->steps, l->directions, l->batch, l->cells}, l->node->outputs[0]);
}

// Y_h or Y_c [D, B, H]: the last states.
static void join_last(const lstm *l, const char *what, int first, int second, int out) {
  const int64_t dims[3] = {1, l->batch, l->cells};
  int parts[2] = {first, second};
  if (l->directions == 1) {
    reshape(l, part(l, 0, l->steps, what), first, 3, dims, out);
    return;
  }
  for (int i = 0; i < 2; i++) parts[i] = reshape(l, part(l, i, l->steps, what), parts[i], 3, dims, GRAPH_NONE);
  concat(l, part(l, 0, l->steps, what), parts, 2, 0, out);
}

static bool has_output(const graph_node *node, int i) {
  return node->output_count > i && node->outputs[i] != GRAPH_NONE;
}

bool quantise_prepare_lstm(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  lstm l;
  if (!describe(g, node, &l)) return false;
  const bool reverse = strcmp(graph_text(node, "direction", "forward"), "reverse") == 0;
  int *hidden[2];
  state last[2] = {{GRAPH_NONE, GRAPH_NONE}, {GRAPH_NONE, GRAPH_NONE}};
  for (int d = 0; d < l.directions; d++) {
    hidden[d] = WF_ARENA_ARRAY(g->arena, (size_t)l.steps, int);
    last[d] = run(&l, d, reverse || d == 1, hidden[d]);
  }
  if (has_output(node, 0)) join_all(&l, hidden);
  if (has_output(node, 1)) join_last(&l, "Y_h", last[0].hidden, last[1].hidden, node->outputs[1]);
  if (has_output(node, 2)) join_last(&l, "Y_c", last[0].cell, last[1].cell, node->outputs[2]);
  return true;
}
