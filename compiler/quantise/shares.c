// SPDX-License-Identifier: Apache-2.0
// Softmax in front of a product, where the normaliser does not take it: the hart finds the largest number of each row,
// and divides what the product leaves by the sums of the rows. Between them the array moves the rows up to 127,
// computes the exponentials as a curve, their sums and the product:
//   b = (127 - (max x | 1)) / 2,  z = x + 2 b,  e = curve of 127 e^(s (z - 127)),  y = (e V) / (e 1).
// A row's exponentials have all of its bytes, whatever the others sum up to.
#include <math.h>
#include <string.h>

#include "compiler/quantise/convert.h"

enum { VALUES = 256 };
// 9 dB above that of rounding: errors of a row's exponentials average out in its products, and stand in its sum, too.
static const double noise = 8;

// The product that alone reads the rows, if it does nothing to its sums but scale them.
static const quantise_convert_chain *reader_of(const quantise_converter *c, int rows) {
  const graph_node *node = quantise_rewrite_only_reader(c->model, &c->index, rows);
  if (node == NULL || node->op != GRAPH_OP_MAT_MUL || node->inputs[0] != rows) return NULL;
  const int number = c->chain_of[node - c->model->nodes];
  if (number == GRAPH_NONE) return NULL;
  const quantise_convert_chain *chain = &c->chains[number];
  const bool plain = chain->bias == GRAPH_NONE && chain->residual == GRAPH_NONE && !chain->relu && !chain->wide;
  return plain && c->zero[chain->out] == 0 && c->zero[node->inputs[1]] == 0 ? chain : NULL;
}

// A row whose quarters are worth a step.
static bool has_quarters(int64_t width) { return width % 4 == 0 && width >= 64; }

// Columns of a row that has quarters, or is worth to be made wider until it has; quarters of whole words of the hart.
static int64_t width_in_quarters(int64_t width) {
  enum { LEAST = 128, QUARTERS_OF_WORDS = 32 };
  if (width % 4 == 0 || width < LEAST) return width;
  return (width + QUARTERS_OF_WORDS - 1) / QUARTERS_OF_WORDS * QUARTERS_OF_WORDS;
}

// Cycles of the hart and the array for a row of scores and the row behind the product, both ways (docs/networks.md).
static bool pays(const quantise_converter *c, const quantise_convert_chain *chain, const graph_tensor *x) {
  enum { SHARES_ROW = 300, SHARES = 12, ROW = 250, QUARTERS = 2, WIDER = 3, WHOLE = 4, RESULT = 11, WORTH = 2048 };
  const graph_tensor *out = &c->model->tensors[c->model->nodes[chain->node].outputs[0]];
  if (x->rank < 2 || graph_elements(x) < WORTH) return false;  // fewer are not worth steps of the array
  const int64_t width = x->dim[x->rank - 1], results = out->dim[out->rank - 1];
  const int64_t largest = has_quarters(width) ? QUARTERS : has_quarters(width_in_quarters(width)) ? WIDER : WHOLE;
  return SHARES_ROW + SHARES * width > ROW + largest * width + RESULT * results;
}

static int bytes_of(quantise_converter *c, const char *name, const int64_t dims[2], int8_t value) {
  int8_t *bytes = WF_ARENA_ARRAY(c->arena, (size_t)(dims[0] * dims[1]), int8_t);
  memset(bytes, value, (size_t)(dims[0] * dims[1]));
  return quantise_convert_constant(c, name, GRAPH_I8, 2, dims, bytes);
}

// One number for each row of x.
static int per_row(quantise_converter *c, const char *name, const char *suffix, graph_type type,
                   const graph_tensor *x) {
  int64_t dims[GRAPH_RANK_MAX];
  for (int i = 0; i < x->rank; i++) dims[i] = i + 1 < x->rank ? x->dim[i] : 1;
  return quantise_rewrite_tensor(c->out, name, suffix, type, x->rank, dims);
}

static int reshaped(quantise_converter *c, const char *name, int from, int rank, const int64_t *dims) {
  const int to = quantise_rewrite_tensor(c->out, name, ".rows", GRAPH_I8, rank, dims);
  const char *shape = wf_arena_format(c->arena, "%s.shape", c->out->tensors[to].name);
  const int constant = quantise_convert_constant(c, shape, GRAPH_I64, 1, (int64_t[]){rank}, dims);
  quantise_convert_emit(c, GRAPH_OP_RESHAPE, c->out->tensors[to].name, (int[]){from, constant}, 2, to);
  return to;
}

// Rows with columns of the least number behind them.
static int widened(quantise_converter *c, const char *name, int from, const graph_tensor *x, int64_t width) {
  int64_t dims[GRAPH_RANK_MAX], pads[2 * GRAPH_RANK_MAX] = {0};
  const int64_t twice = 2 * x->rank;
  memcpy(dims, x->dim, sizeof dims);
  dims[x->rank - 1] = width;
  pads[twice - 1] = width - x->dim[x->rank - 1];
  const int to = quantise_rewrite_tensor(c->out, name, ".wider", GRAPH_I8, x->rank, dims);
  const char *wider = c->out->tensors[to].name;
  const int amounts =
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.pads", wider), GRAPH_I64, 1, &twice, pads);
  const int value = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.value", wider), GRAPH_I8, 0, NULL,
                                              &(int8_t){INT8_MIN});
  quantise_convert_emit(c, GRAPH_OP_PAD, wider, (int[]){from, amounts, value}, 3, to);
  return to;
}

// The largest numbers of every four of a row, again and again: its quarters are channels of 2 x 2 pixels, which the
// array pools at 0.3 cycles an element where the hart takes 2.5.
static int largest_of_quarters(quantise_converter *c, const char *name, int from, const graph_tensor *x) {
  int64_t width = width_in_quarters(x->dim[x->rank - 1]);
  const int64_t rows = graph_elements(x) / x->dim[x->rank - 1];
  if (!has_quarters(width)) return from;
  if (width != x->dim[x->rank - 1]) from = widened(c, name, from, x, width);
  while (has_quarters(width)) {
    width /= 4;
    from = reshaped(c, name, from, 4, (int64_t[]){1, 2 * rows, 2, width});
    const int to = quantise_rewrite_tensor(c->out, name, ".largest", GRAPH_I8, 4, (int64_t[]){1, rows, 1, width});
    graph_node *node = quantise_convert_emit(c, GRAPH_OP_QMAX_POOL, c->out->tensors[to].name, &from, 1, to);
    graph_set_ints(c->out, node, "kernel_shape", (int64_t[]){2, 2}, 2);
    graph_set_ints(c->out, node, "strides", (int64_t[]){2, 2}, 2);
    from = to;
  }
  int64_t dims[GRAPH_RANK_MAX];
  for (int i = 0; i < x->rank; i++) dims[i] = i + 1 < x->rank ? x->dim[i] : width;
  return reshaped(c, name, from, x->rank, dims);
}

// The rows with their largest number at 127, or 126.
static int moved_up(quantise_converter *c, const char *name, int from, const graph_tensor *x) {
  const int room = per_row(c, name, ".headroom", GRAPH_I8, x), largest = largest_of_quarters(c, name, from, x);
  quantise_convert_emit(c, GRAPH_OP_QHEADROOM, c->out->tensors[room].name, &largest, 1, room);
  const int twos = bytes_of(c, wf_arena_format(c->arena, "%s.twos", name), (int64_t[]){1, x->dim[x->rank - 1]}, 2);
  const int to = quantise_rewrite_tensor(c->out, name, ".up", GRAPH_I8, x->rank, x->dim);
  const int inputs[4] = {room, twos, GRAPH_NONE, from};
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_QMAT_MUL, c->out->tensors[to].name, inputs, 4, to);
  graph_set_int(c->out, node, "factor", 1);
  graph_set_float(c->out, node, "scale", 1);
  return to;
}

static int sums_of(quantise_converter *c, const char *name, int rows, const graph_tensor *x) {
  const int ones = bytes_of(c, wf_arena_format(c->arena, "%s.ones", name), (int64_t[]){x->dim[x->rank - 1], 1}, 1);
  const int sums = per_row(c, name, ".sums", GRAPH_I32, x);
  quantise_convert_emit(c, GRAPH_OP_QMAT_MUL, c->out->tensors[sums].name, (int[]){rows, ones}, 2, sums);
  return sums;
}

bool quantise_convert_shares(quantise_converter *c, const graph_node *softmax, int x) {
  const int out = softmax->outputs[0];
  const quantise_convert_chain *chain = reader_of(c, out);
  const graph_tensor rows = c->model->tensors[x];
  double table[VALUES];
  graph_curve curve;
  if (chain == NULL || !pays(c, chain, &rows) || quantise_pin_of(c->pins, out)->scale > 0) return false;
  const int from = quantise_convert_quant(c, x, LAYOUT_PLAIN);
  for (int q = 0; q < VALUES; q++) table[q] = INT8_MAX * exp((double)c->values[x].scale * (q - VALUES + 1));
  if (!quantise_convert_fit_curve(table, noise, &curve)) return false;
  const int up = moved_up(c, softmax->name, from, &rows);
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_curve_set(c->out, quantise_convert_emit(c, GRAPH_OP_QCURVE, softmax->name, &up, 1, form), &curve);
  c->values[out].sums = sums_of(c, softmax->name, form, &rows);
  quantise_convert_set_quant(c, out, LAYOUT_PLAIN, form, 1, 0);
  return true;
}

int quantise_convert_share(quantise_converter *c, const quantise_convert_chain *chain, int sums, int products,
                           double scale) {
  const int form = quantise_convert_new(c, chain->out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  quantise_convert_check_scale(c, chain->out, scale);
  graph_node *node =
      quantise_convert_emit(c, GRAPH_OP_QSHARE, c->out->tensors[form].name, (int[]){products, sums}, 2, form);
  graph_set_float(c->out, node, "scale", (float)scale);
  return form;
}
