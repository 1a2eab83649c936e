// SPDX-License-Identifier: Apache-2.0
// Softmax in front of a product, where the normaliser does not take it: the hart finds the largest number of each row,
// and divides what the product leaves by the sums of the rows. Between them the array moves the rows up to 127,
// computes the exponentials as a curve, their sums and the product:
//   b = (127 - (max x | 1)) / 2,  z = x + 2 b,  e = curve of 127 e^(s (z - 127)),  y = (e V) / (e 1).
// A row's exponentials have all of its bytes, whatever the others sum up to.
//
// With a constant mask the largest number is that of x / 2 less 128 where x is hidden, which is below all that is not:
//   b = (127 - (max (x / 2 - h) | 1)) / 2,  z = x + 4 b - 128,  e = relu(curve - h),  h = 128 where hidden, else 0;
// a row then ends at 123 to 127.
#include <math.h>
#include <string.h>

#include "base/number.h"
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

// A row whose quarters are worth a step: short ones, if they are whole words of the hart.
static bool has_quarters(int64_t width) { return width % (width < 64 ? 32 : 4) == 0 && width > 0; }

// Columns of a row that has quarters, or is worth to be made wider until it has: quarters of whole words of the hart,
// or, for little more, ones that have quarters themselves.
static int64_t width_in_quarters(int64_t width) {
  enum { LEAST = 128, OF_WORDS = 32, OF_QUARTERS = 128 };
  if (width % 4 == 0 || width < LEAST) return width;
  const int64_t words = wf_align_up(width, (int64_t)OF_WORDS), quarters = wf_align_up(width, (int64_t)OF_QUARTERS);
  return 4 * quarters <= 5 * words ? quarters : words;
}

// Cycles of the hart and the array for a row of scores and the row behind the product, both ways (docs/networks.md).
static bool pays(const quantise_converter *c, const quantise_convert_chain *chain, const graph_tensor *x, bool masked) {
  enum { SHARES_ROW = 300, SHARES = 12, ROW = 250, QUARTERS = 2, WIDER = 3, WHOLE = 4, MASK = 1, WORTH = 2048 };
  enum { RESULT = 11, STORED_ROW = 60, STORED_RESULT = 1 };  // of rows that the hart divides, or has stored
  const graph_tensor *out = &c->model->tensors[c->model->nodes[chain->node].outputs[0]];
  if (x->rank < 2 || graph_elements(x) < WORTH) return false;  // fewer are not worth steps of the array
  const int64_t width = x->dim[x->rank - 1], results = out->dim[out->rank - 1];
  const int64_t largest = has_quarters(width) ? QUARTERS : has_quarters(width_in_quarters(width)) ? WIDER : WHOLE;
  const int64_t divided = c->options->target.row_scales ? STORED_ROW + STORED_RESULT * results : RESULT * results;
  return SHARES_ROW + SHARES * width > ROW + (largest + (masked ? MASK : 0)) * width + divided;
}

static int bytes_of(quantise_converter *c, const char *name, const int64_t dims[2], int8_t value) {
  int8_t *bytes = WF_ARENA_ARRAY(c->arena, (size_t)(dims[0] * dims[1]), int8_t);
  memset(bytes, value, (size_t)(dims[0] * dims[1]));
  return quantise_convert_constant(c, name, GRAPH_I8, 2, dims, bytes);
}

static int all_of(quantise_converter *c, const char *name, int64_t count, int32_t value) {
  int32_t *numbers = WF_ARENA_ARRAY(c->arena, (size_t)count, int32_t);
  for (int64_t i = 0; i < count; i++) numbers[i] = value;
  return quantise_convert_constant(c, name, GRAPH_I32, 1, &count, numbers);
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

// 128 less where a mask has 0; GRAPH_NONE without a mask.
static int hiding(quantise_converter *c, const char *name, int mask) {
  if (mask == GRAPH_NONE) return GRAPH_NONE;
  const graph_tensor *t = &c->out->tensors[mask];
  const int64_t count = graph_elements(t);
  int8_t *bytes = WF_ARENA_ARRAY(c->arena, (size_t)count, int8_t);
  for (int64_t i = 0; i < count; i++) bytes[i] = ((const int8_t *)t->data)[i] == 0 ? INT8_MIN : 0;
  return quantise_convert_constant(c, wf_arena_format(c->arena, "%s.hidden", name), GRAPH_I8, 2, t->dim, bytes);
}

// Rows times a number, less what the mask hides, which begins again every so many rows.
static int hidden(quantise_converter *c, const char *name, const char *suffix, int from, int hide,
                  const graph_tensor *x, float scale, bool relu) {
  const graph_tensor *mask = &c->out->tensors[hide];
  const int64_t dims[3] = {graph_elements(x) / graph_elements(mask), mask->dim[0], mask->dim[1]};
  const int rows = reshaped(c, name, from, 3, dims),
            to = quantise_rewrite_tensor(c->out, name, suffix, GRAPH_I8, 3, dims);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_QADD, c->out->tensors[to].name, (int[]){rows, hide}, 2, to);
  graph_set_float(c->out, node, "scale_a", scale);
  graph_set_float(c->out, node, "scale_b", 1);
  graph_set_int(c->out, node, "relu", relu);
  return reshaped(c, name, to, x->rank, x->dim);
}

// The rows with their largest number at 127, or 126; with a mask at least at 123.
static int moved_up(quantise_converter *c, const char *name, int from, int hide, const graph_tensor *x) {
  const int64_t width = x->dim[x->rank - 1];
  const int seen = hide == GRAPH_NONE ? from : hidden(c, name, ".seen", from, hide, x, 0.5F, false);
  const int room = per_row(c, name, ".headroom", GRAPH_I8, x), largest = largest_of_quarters(c, name, seen, x);
  quantise_convert_emit(c, GRAPH_OP_QHEADROOM, c->out->tensors[room].name, &largest, 1, room);
  const int factors =
      bytes_of(c, wf_arena_format(c->arena, "%s.twos", name), (int64_t[]){1, width}, hide == GRAPH_NONE ? 2 : 4);
  const int to = quantise_rewrite_tensor(c->out, name, ".up", GRAPH_I8, x->rank, x->dim);
  const int bias = hide == GRAPH_NONE ? GRAPH_NONE : all_of(c, wf_arena_format(c->arena, "%s.down", name), width, -128);
  const int inputs[4] = {room, factors, bias, from};
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

bool quantise_convert_shares(quantise_converter *c, const graph_node *softmax, int x, int mask) {
  const int out = softmax->outputs[0];
  const quantise_convert_chain *chain = reader_of(c, out);
  const graph_tensor rows = c->model->tensors[x];
  double table[VALUES];
  graph_curve curve;
  if (chain == NULL || c->options->target.bytes_only || !pays(c, chain, &rows, mask != GRAPH_NONE) ||
      quantise_pin_of(c->pins, out)->scale > 0)
    return false;
  const int from = quantise_convert_quant(c, x, LAYOUT_PLAIN);
  for (int q = 0; q < VALUES; q++) table[q] = INT8_MAX * exp((double)c->values[x].scale * (q - VALUES + 1));
  if (!quantise_convert_fit_curve(table, noise, &curve)) return false;
  const int hide = hiding(c, softmax->name, mask), up = moved_up(c, softmax->name, from, hide, &rows);
  int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_curve_set(c->out, quantise_convert_emit(c, GRAPH_OP_QCURVE, softmax->name, &up, 1, form), &curve);
  if (hide != GRAPH_NONE) form = hidden(c, softmax->name, ".left", form, hide, &rows, 1, true);
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
