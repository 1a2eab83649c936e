// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation of rows of int8 whose results are wanted as int8: QSoftmax and QLayerNorm, without float
// numbers in between. The formulas are those of docs/networks.md.
#include <math.h>

#include "compiler/quantise/convert.h"

static bool is_last_axis(const quantise_converter *c, const graph_node *node) {
  const int rank = c->model->tensors[node->inputs[0]].rank;
  const int64_t axis = graph_int(node, "axis", -1);
  return axis == -1 || axis == rank - 1;
}

static const graph_node *maker_of(const quantise_converter *c, int tensor, graph_op op) {
  const graph_node *node = quantise_rewrite_maker(c->model, &c->index, tensor);
  return node != NULL && node->op == op ? node : NULL;
}

// A node reads the result as int8, or the caller does, who takes the network's outputs as int8.
static bool is_read(const quantise_converter *c, int tensor) {
  return c->index.reader[tensor] != GRAPH_NONE || (c->options->int8_ends && c->index.uses[tensor] > 0);
}

static bool finish(quantise_converter *c, int out, int form) {
  quantise_convert_set_quant(c, out, LAYOUT_PLAIN, form, c->scale[out], 0);
  return true;
}

// ---- softmax

enum { TABLE = 256, PHASES = 8 };

// e^(scale * d) for d from -255 to 0, of which 1 is 255, once for each of eight columns. They round where numbers are
// small another way: what a row has of them then adds up to what they are, to a sixteenth of one.
static int powers(quantise_converter *c, const char *name, float scale) {
  const double small = 4;
  uint8_t table[PHASES][TABLE];
  for (int phase = 0; phase < PHASES; phase++)
    for (int i = 0; i < TABLE; i++) {
      const double power = UINT8_MAX * exp((double)scale * (i - TABLE + 1));
      table[phase][i] = (uint8_t)floor(power + (power < small ? (2 * phase + 1) / (2.0 * PHASES) : 0.5));
    }
  return quantise_convert_constant(c, wf_arena_format(c->arena, "%s.powers", name), GRAPH_U8, 2,
                                   (int64_t[]){PHASES, TABLE}, table);
}

// What is added to the scores before a softmax. A sum may stand between two reshapes that split dimensions before the
// last two (windows of one image).
typedef struct masked {
  int x, mask;         // the scores as the softmax has them, the constant; or GRAPH_NONE
  graph_tensor split;  // the shape of the sum
} masked;

enum { ROWS_MAX = 1 << 20 };  // of a mask that is written out

// A number of the mask at an element of the sum.
static float mask_at(const graph_tensor *mask, const graph_tensor *sum, int64_t element) {
  int64_t at = 0, step = 1;
  for (int i = 1; i <= mask->rank; i++) {
    const int64_t size = sum->dim[sum->rank - i], place = element % size, own = mask->dim[mask->rank - i];
    element /= size;
    at += own == 1 ? 0 : place * step;
    step *= own;
  }
  return ((const float *)mask->data)[at];
}

// Rows after which the mask begins again.
static int64_t mask_period(const graph_tensor *mask, const graph_tensor *sum) {
  int64_t rows = 1, period = 1;
  for (int i = 2; i <= sum->rank; i++) {
    rows *= sum->dim[sum->rank - i];
    if (i <= mask->rank && mask->dim[mask->rank - i] != 1) period = rows;
  }
  return period;
}

// A constant summand of 0 and of numbers so far below that e to them is nothing.
static bool is_mask(const graph_tensor *mask, const graph_tensor *sum, float scale) {
  if (mask->data == NULL || mask->type != GRAPH_F32 || mask->rank > sum->rank || sum->rank < 2) return false;
  const int64_t width = sum->dim[sum->rank - 1], rows = mask_period(mask, sum);
  if (mask->rank < 1 || mask->dim[mask->rank - 1] != width || rows > ROWS_MAX) return false;
  for (int64_t r = 0; r < rows; r++) {
    int64_t included = 0;
    for (int64_t i = 0; i < width; i++) {
      const float value = mask_at(mask, sum, r * width + i);
      if (fabsf(value) > 0 && value > -(scale * TABLE + 20)) return false;
      included += !(value < 0);
    }
    if (included == 0) return false;
  }
  return true;
}

// The rows of whole dimensions of x in which the mask repeats.
static int64_t whole_period(const graph_tensor *x, int64_t period) {
  int64_t rows = 1;
  for (int i = 2; i <= x->rank && (rows < period || rows % period != 0); i++) rows *= x->dim[x->rank - i];
  return rows;
}

static int mask_of(quantise_converter *c, const masked *m) {
  const graph_tensor *mask = &c->model->tensors[m->mask];
  const int64_t rows = whole_period(&c->model->tensors[m->x], mask_period(mask, &m->split));
  const int64_t dims[2] = {rows, m->split.dim[m->split.rank - 1]}, count = rows * dims[1];
  int8_t *bytes = wf_arena_alloc(c->arena, (size_t)count, 1);
  for (int64_t i = 0; i < count; i++) bytes[i] = !(mask_at(mask, &m->split, i) < 0);
  return quantise_convert_constant(c, mask->name, GRAPH_I8, 2, dims, bytes);
}

static bool has_same_rows(const graph_tensor *a, const graph_tensor *b) {
  return a->rank >= 2 && b->rank >= 2 && a->dim[a->rank - 1] == b->dim[b->rank - 1] &&
         a->dim[a->rank - 2] == b->dim[b->rank - 2] && graph_elements(a) == graph_elements(b);
}

// What the rows are, and the mask that is added to them.
static masked masked_input(const quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  masked m = {.x = node->inputs[0], .mask = GRAPH_NONE};
  if (quantise_convert_has_quant(c, m.x)) return m;
  const graph_node *joined = maker_of(c, m.x, GRAPH_OP_RESHAPE);
  const graph_node *add = maker_of(c, joined == NULL ? m.x : joined->inputs[0], GRAPH_OP_ADD);
  if (add == NULL) return m;
  const int constant = g->tensors[add->inputs[0]].data != NULL ? 0 : 1, sum = add->outputs[0];
  int x = add->inputs[1 - constant];
  if (!graph_same_shape(&g->tensors[x], &g->tensors[sum])) return m;
  const graph_node *split = joined == NULL ? NULL : maker_of(c, x, GRAPH_OP_RESHAPE);
  if (split != NULL) x = split->inputs[0];
  if (!graph_same_shape(&g->tensors[x], &g->tensors[m.x]) || !has_same_rows(&g->tensors[x], &g->tensors[sum]) ||
      !quantise_convert_has_quant(c, x) || !is_mask(&g->tensors[add->inputs[constant]], &g->tensors[sum], c->scale[x]))
    return m;
  return (masked){x, add->inputs[constant], g->tensors[sum]};
}

static bool convert_softmax(quantise_converter *c, const graph_node *node) {
  const int out = node->outputs[0];
  const masked m = masked_input(c, node);
  const int x = m.x, mask = m.mask;
  if (!is_last_axis(c, node) || !quantise_convert_has_quant(c, x) || !is_read(c, out) || c->zero[out] != 0)
    return false;
  const graph_tensor *scores = &c->model->tensors[x];
  const bool plain = mask == GRAPH_NONE || graph_elements(&c->model->tensors[mask]) ==
                                               scores->dim[scores->rank - 1] * scores->dim[scores->rank - 2];
  if (plain && quantise_convert_unit_softmax(c, node, x, mask)) return true;
  const int hides = mask == GRAPH_NONE ? GRAPH_NONE : mask_of(c, &m);
  if (quantise_convert_shares(c, node, x, hides)) return true;
  const int from = quantise_convert_quant(c, x, LAYOUT_PLAIN);
  const int inputs[3] = {from, powers(c, node->name, c->values[x].scale), hides};
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_node *made = quantise_convert_emit(c, GRAPH_OP_QSOFTMAX, node->name, inputs, mask == GRAPH_NONE ? 2 : 3, form);
  graph_set_float(c->out, made, "scale", 1 / c->scale[out]);
  return finish(c, out, form);
}

// ---- normalisation

// A constant with one number per column, divided by the scale of the result.
static int per_column(quantise_converter *c, int constant, int64_t width, float scale) {
  const float *values = quantise_rewrite_floats(c->model, constant);
  float *divided = WF_ARENA_ARRAY(c->arena, (size_t)width, float);
  for (int64_t i = 0; i < width; i++) divided[i] = values[i] / scale;
  return quantise_convert_constant(c, c->model->tensors[constant].name, GRAPH_F32, 1, &width, divided);
}

static bool is_per_column(const quantise_converter *c, int constant, int64_t width) {
  const graph_tensor *t = &c->model->tensors[constant];
  return quantise_rewrite_floats(c->model, constant) != NULL && graph_elements(t) == width && t->rank > 0 &&
         t->dim[t->rank - 1] == width;
}

static bool emit_norm(quantise_converter *c, const graph_node *node, const quantise_convert_norm *n) {
  const graph_tensor *x = &c->model->tensors[n->x];
  const int64_t width = x->dim[x->rank - 1];
  enum { WIDTH_MAX = 1 << 15 };
  if (c->zero[n->out] != 0 || width > WIDTH_MAX) return false;
  if (!is_per_column(c, n->gamma, width) || (n->beta != GRAPH_NONE && !is_per_column(c, n->beta, width))) return false;
  if (!n->centred && c->zero[n->x] != 0) return false;
  if (quantise_convert_unit_norm(c, node, n)) return true;
  if (!quantise_convert_has_quant(c, n->x) || !is_read(c, n->out)) return false;
  if (quantise_convert_mesh_norm(c, node, n)) return true;
  const float scale = c->scale[n->out];
  int inputs[3] = {quantise_convert_quant(c, n->x, LAYOUT_PLAIN), per_column(c, n->gamma, width, scale)};
  if (n->beta != GRAPH_NONE) inputs[2] = per_column(c, n->beta, width, scale);
  const int form = quantise_convert_new(c, n->out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_node *made =
      quantise_convert_emit(c, GRAPH_OP_QLAYER_NORM, node->name, inputs, n->beta == GRAPH_NONE ? 2 : 3, form);
  const double wide = (double)width / (double)c->values[n->x].scale;
  graph_set_float(c->out, made, "epsilon", (float)((double)n->epsilon * wide * wide));
  if (!n->centred) graph_set_int(c->out, made, "center", 0);
  return finish(c, n->out, form);
}

static bool convert_layer_norm(quantise_converter *c, const graph_node *node) {
  for (int i = 1; i < node->output_count; i++)
    if (node->outputs[i] != GRAPH_NONE && c->index.uses[node->outputs[i]] != 0) return false;
  const quantise_convert_norm n = {.x = node->inputs[0],
                                   .gamma = node->inputs[1],
                                   .beta = node->input_count > 2 ? node->inputs[2] : GRAPH_NONE,
                                   .out = node->outputs[0],
                                   .epsilon = graph_float(node, "epsilon", 1e-5F),
                                   .centred = true,
                                   .deviation = c->ranges->deviation[node->outputs[0]]};
  return is_last_axis(c, node) && emit_norm(c, node, &n);
}

// x / sqrt(mean of x^2 + epsilon): the x, or GRAPH_NONE; and how far the roots reach.
static int root_mean_square(const quantise_converter *c, int tensor, float *epsilon, quantise_deviation *deviation) {
  const graph *g = c->model;
  int64_t axes[GRAPH_RANK_MAX];
  float two = 0;
  const graph_node *div = maker_of(c, tensor, GRAPH_OP_DIV);
  const graph_node *root = div == NULL ? NULL : maker_of(c, div->inputs[1], GRAPH_OP_SQRT);
  const graph_node *add = root == NULL ? NULL : maker_of(c, root->inputs[0], GRAPH_OP_ADD);
  const graph_node *mean = add == NULL ? NULL : maker_of(c, add->inputs[0], GRAPH_OP_REDUCE_MEAN);
  const graph_node *power = mean == NULL ? NULL : maker_of(c, mean->inputs[0], GRAPH_OP_POW);
  if (power == NULL || power->inputs[0] != div->inputs[0] || !quantise_rewrite_number(g, power->inputs[1], &two))
    return GRAPH_NONE;
  const int rank = g->tensors[div->inputs[0]].rank;
  if (two < 2 || two > 2 || !quantise_rewrite_number(g, add->inputs[1], epsilon)) return GRAPH_NONE;
  if (graph_ints(mean, "axes", axes, GRAPH_RANK_MAX) != 1 || (axes[0] != -1 && axes[0] != rank - 1)) return GRAPH_NONE;
  *deviation = (quantise_deviation){.largest = c->ranges->magnitude[tensor],
                                    .narrowest = c->ranges->low[root->outputs[0]],
                                    .widest = c->ranges->high[root->outputs[0]]};
  return div->inputs[0];
}

static bool convert_rms_norm(quantise_converter *c, const graph_node *node) {
  for (int i = 0; i < 2; i++) {
    quantise_convert_norm n = {.gamma = node->inputs[1 - i], .beta = GRAPH_NONE, .out = node->outputs[0]};
    if (c->model->tensors[n.gamma].data == NULL) continue;
    n.x = root_mean_square(c, node->inputs[i], &n.epsilon, &n.deviation);
    return n.x != GRAPH_NONE && emit_norm(c, node, &n);
  }
  return false;
}

bool quantise_convert_rows(quantise_converter *c, const graph_node *node) {
  if (node->op == GRAPH_OP_SOFTMAX) return convert_softmax(c, node);
  if (node->op == GRAPH_OP_LAYER_NORMALIZATION) return convert_layer_norm(c, node);
  return node->op == GRAPH_OP_MUL && convert_rms_norm(c, node);
}
