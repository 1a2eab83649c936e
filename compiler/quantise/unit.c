// SPDX-License-Identifier: Apache-2.0
// Softmax, normalisation and GELU for the array's normaliser: gains and integer constants (docs/quantisation.md).
//
// Gains come from a search over all of them: sums of 32 bits may not wrap for any row, and what is left of the numbers
// has to be fine enough. What does not fit is left to the hart.
#include <math.h>

#include "compiler/graph/unit_rows.h"
#include "compiler/quantise/convert.h"

enum { VALUES = 256 };
static const double sum_max = 2147483647.0;

static bool is_on(const quantise_converter *c, unsigned kind, int64_t width) {
  return (c->options->unit_kinds & kind) != 0 && width <= c->options->target.unit_columns;
}

// ---- softmax: e^x = 2^-z e^p with p in (-ln 2, 0], e^p = 0.3585 (p + 1.353)^2 + 0.344

static graph_unit_constants exponential_of(double scale) {
  const double ln2 = rint(log(2) / scale);
  return (graph_unit_constants){(int32_t)rint(1.353 / scale), (int32_t)rint(0.344 / (0.3585 * scale * scale)),
                                (int32_t)ln2, (int32_t)rint(65536 / ln2)};
}

// The polynomial as the unit computes it, of `below` <= 0; it has to fit.
static int64_t exponential(const graph_unit_constants *c, int64_t below) {
  const int64_t halvings = -below * c->ln2_inverse >> 16, p = below + halvings * c->ln2 + c->b;
  return halvings >= 32 ? 0 : (p * p + c->c) >> halvings;
}

// The polynomial of a scale at its widest (one halving too many or too few) and the sum of a row have to fit.
static bool has_room(double scale, int64_t width, double levels) {
  const double one = 1.353 + log(2);
  return (one * one + 1) / (scale * scale) < sum_max && (double)width * 2.80 / (scale * scale * levels) < sum_max;
}

// Mean square distance of the unit's e^(scale * q) from the real one, for q from -255 to 0, and the same of the copy
// that is summed.
static double distance(const graph_unit *unit, double scale, double levels) {
  const double one = (double)exponential(&unit->constants, 0);
  double sum = 0, all = 0;
  for (int d = 0; d < VALUES; d++) {
    const int64_t below = -(int64_t)unit->gain[0] * d;
    const double right = exp(-scale * d), fine = (double)exponential(&unit->constants, below) / one;
    const double summed = levels * (double)exponential(&unit->constants, below - unit->offset) / one;
    sum += (fine - right) * (fine - right) + (summed - right) * (summed - right);
    all += right * right;
  }
  return sum / all;
}

// Gain and offset for rows of int8 of a scale, whose probabilities reach `most`. A probability of 1 has 127 * e^(scale
// / gain * offset) levels, of which 127 are for `most`.
static bool softmax_gains(double scale, int64_t width, double most, graph_unit *unit) {
  static const double tolerable = 1e-3;
  const double levels = most < 0.99 ? 1 / most : 1;
  double best = INFINITY;
  for (int32_t gain = 1; gain <= GRAPH_UNIT_GAIN_MAX; gain++) {
    graph_unit tried = *unit;
    const double fine = scale / gain, offset = floor(log(levels) / fine);
    if (offset > GRAPH_UNIT_OFFSET_MAX || !has_room(fine, width, exp(fine * offset))) break;
    tried.gain[0] = tried.gain[1] = gain;
    tried.offset = (int32_t)offset;
    tried.two_copies = tried.offset != 0;
    tried.constants = exponential_of(fine);
    if (tried.constants.ln2_inverse < 1 || tried.constants.ln2 < 1) continue;
    const double noise = distance(&tried, scale, exp(fine * offset));
    if (noise >= best) continue;
    best = noise;
    *unit = tried;
  }
  return best < tolerable;
}

// The columns of each row of a mask if they are its first ones; or NULL.
static const int32_t *lengths_of(quantise_converter *c, const float *mask, int64_t rows, int64_t width) {
  int32_t *lengths = WF_ARENA_ARRAY(c->arena, (size_t)rows, int32_t);
  for (int64_t r = 0; r < rows; r++) {
    const float *row = mask + r * width;
    while (lengths[r] < width && !(row[lengths[r]] < 0)) lengths[r]++;
    for (int64_t i = lengths[r]; i < width; i++)
      if (!(row[i] < 0)) return NULL;
    if (lengths[r] == 0) return NULL;
  }
  return lengths;
}

bool quantise_convert_unit_softmax(quantise_converter *c, const graph_node *node, int x, int mask) {
  const graph_tensor *rows = &c->model->tensors[x];
  const int64_t width = rows->dim[rows->rank - 1], height = rows->rank < 2 ? 1 : rows->dim[rows->rank - 2];
  const int out = node->outputs[0];
  if (!is_on(c, QUANTISE_UNIT_SOFTMAX, width) || quantise_pin_of(c->pins, out)->scale > 0) return false;
  graph_unit unit = {.op = GRAPH_OP_QSOFTMAX_UNIT, .scale = 1, .centred = true};
  const int32_t *lengths =
      mask == GRAPH_NONE ? NULL : lengths_of(c, quantise_rewrite_floats(c->model, mask), height, width);
  const int from = quantise_convert_quant(c, x, LAYOUT_PLAIN);
  if (mask != GRAPH_NONE && lengths == NULL) return false;
  if (!softmax_gains((double)c->values[x].scale, width, 127 * (double)c->scale[out], &unit)) return false;
  int inputs[2] = {from, GRAPH_NONE};
  if (lengths != NULL)
    inputs[1] = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.lengths", node->name), GRAPH_I32, 1,
                                          (int64_t[]){height}, lengths);
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_node *made = quantise_convert_emit(c, unit.op, node->name, inputs, lengths == NULL ? 1 : 2, form);
  graph_unit_set(c->out, made, &unit);
  c->scale[out] = (float)(exp(-(double)c->values[x].scale / unit.gain[0] * unit.offset) / 127);
  quantise_convert_set_quant(c, out, LAYOUT_PLAIN, form, c->scale[out], 0);
  return true;
}

// ---- normalisation, then a factor and an offset per column as products with diagonals

// Gains: squares of the first copy's deviations may not wrap; the second copy has 127 for the largest result. Results
// are rounded to second / first levels per standard deviation, and that is cut off to an integer in units of the first
// copy: the finer the one, the coarser the other. Rows vary by 127 / largest, or by more.
static bool norm_gains(int64_t width, double largest, graph_unit *unit) {
  static const double rounding = 1 / 12.0;  // the variance of what is cut off or rounded
  double best = INFINITY;
  for (int32_t first = 1; first <= GRAPH_UNIT_GAIN_MAX; first++) {
    const double most = 128.0 * first + 1, exact = floor(127 * first / largest);
    if (most * most * (double)width > sum_max) break;
    const int32_t second = exact > GRAPH_UNIT_GAIN_MAX ? GRAPH_UNIT_GAIN_MAX : (int32_t)exact;
    if (second < first) continue;
    const double step = (double)first / second, cut = largest / (127.0 * first), noise = step * step + cut * cut;
    if (noise * rounding >= best) continue;
    best = noise * rounding;
    unit->gain[0] = first;
    unit->gain[1] = second;
  }
  unit->two_copies = unit->gain[0] != unit->gain[1];
  return !isinf(best);
}

static int reshaped(quantise_converter *c, const char *name, int form, int to) {
  const graph_tensor *t = &c->out->tensors[to];
  const int shape = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.shape", name), GRAPH_I64, 1,
                                              (int64_t[]){t->rank}, t->dim);
  quantise_convert_emit(c, GRAPH_OP_RESHAPE, name, (int[]){form, shape}, 2, to);
  return to;
}

static float largest_of(const float *values, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(values[i]));
  return largest;
}

bool quantise_convert_scales_columns(const quantise_converter *c, const quantise_convert_norm *n, double step) {
  const int64_t width = graph_elements(&c->model->tensors[n->gamma]);
  const float *gamma = quantise_rewrite_floats(c->model, n->gamma);
  const float *beta = n->beta == GRAPH_NONE ? NULL : quantise_rewrite_floats(c->model, n->beta);
  const double unit = (double)largest_of(gamma, width) / INT8_MAX;
  return unit > 0 && (beta == NULL || (double)largest_of(beta, width) / (unit * step) <= sum_max / 2);
}

// factor[k] * x + offset[k] as a convolution of one channel per group; `step` is the scale of x.
void quantise_convert_scale_columns(quantise_converter *c, const quantise_convert_norm *n, int form, double step,
                                    int to) {
  const graph_tensor *x = &c->model->tensors[n->x];
  const int64_t width = x->dim[x->rank - 1], image[4] = {1, 1, graph_elements(x) / width, width};
  const float *gamma = quantise_rewrite_floats(c->model, n->gamma);
  const float *beta = n->beta == GRAPH_NONE ? NULL : quantise_rewrite_floats(c->model, n->beta);
  const double unit = (double)largest_of(gamma, width) / 127;
  int8_t *weights = wf_arena_alloc(c->arena, (size_t)width, 1);
  int32_t *bias = WF_ARENA_ARRAY(c->arena, (size_t)width, int32_t);
  for (int64_t i = 0; i < width; i++) {
    const double offset = beta == NULL ? 0 : rint((double)beta[i] / (unit * step));
    weights[i] = (int8_t)rint((double)gamma[i] / unit);
    bias[i] = (int32_t)offset;
  }
  const char *name = c->out->tensors[to].name;
  const int in = quantise_rewrite_tensor(c->out, name, ".rows", GRAPH_I8, 4, image);
  const int made = quantise_rewrite_tensor(c->out, name, ".scaled", GRAPH_I8, 4, image);
  const int inputs[3] = {
      reshaped(c, c->out->tensors[in].name, form, in),
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.factors", name), GRAPH_I8, 4,
                                (int64_t[]){1, 1, 1, width}, weights),
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.offsets", name), GRAPH_I32, 1, &width, bias)};
  graph_node *conv = quantise_convert_emit(c, GRAPH_OP_QCONV, c->out->tensors[made].name, inputs, 3, made);
  graph_set_int(c->out, conv, "groups", width);
  graph_set_float(c->out, conv, "scale", (float)(unit * step / (double)c->scale[n->out]));
  reshaped(c, name, made, to);
}

bool quantise_convert_unit_norm(quantise_converter *c, const graph_node *node, const quantise_convert_norm *n) {
  const graph_tensor *x = &c->model->tensors[n->x];
  const int64_t width = x->dim[x->rank - 1];
  graph_unit unit = {.op = GRAPH_OP_QNORM_UNIT, .scale = 1, .centred = n->centred};
  if (!is_on(c, QUANTISE_UNIT_NORM, width) || !(n->deviation.largest > 0)) return false;
  const int from = quantise_convert_quant(c, n->x, LAYOUT_PLAIN);
  // The unit has no epsilon: it must be nothing beside what rows vary.
  const double scale = (double)c->values[n->x].scale;
  if ((double)n->epsilon > 0.01 * scale * scale * 127 || !norm_gains(width, (double)n->deviation.largest, &unit))
    return false;
  const double step = unit.two_copies ? (double)unit.gain[0] / unit.gain[1] : 1;
  if (!quantise_convert_scales_columns(c, n, step)) return false;
  const int normed =
      quantise_rewrite_tensor(c->out, c->model->tensors[n->out].name, ".normed", GRAPH_I8, x->rank, x->dim);
  const int form = quantise_convert_new(c, n->out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_node *made = quantise_convert_emit(c, unit.op, node->name, &from, 1, normed);
  graph_unit_set(c->out, made, &unit);
  c->out->tensors[normed].scale = (float)step;
  quantise_convert_scale_columns(c, n, normed, step, form);
  quantise_convert_set_quant(c, n->out, LAYOUT_PLAIN, form, c->scale[n->out], 0);
  return true;
}

// ---- GELU: x / 2 * (1 + sign * (1 - 0.2888 (min(|x| / sqrt 2, 1.769) - 1.769)^2))

static double gelu(double x) { return 0.5 * x * (1 + erf(x * sqrt(0.5))); }

static bool is_gelu(const float *table, double scale) {
  static const double tolerance = 2e-3;  // its form with a hyperbolic tangent is 5e-4 away
  for (int q = -128; q < 128; q++)
    if (!(fabs((double)table[q + 128] - gelu(scale * q)) <= tolerance)) return false;
  return true;
}

static graph_unit gelu_unit(int32_t gain, double scale, double result) {
  const double unit = scale / gain * sqrt(0.5);
  return (graph_unit){.op = GRAPH_OP_QGELU_UNIT,
                      .gain = {gain, gain},
                      .constants = {(int32_t)rint(-1.769 / unit), (int32_t)rint(-1 / (0.2888 * unit * unit)), 0, 0},
                      .scale = (float)(-0.2888 * unit * unit * unit / sqrt(2) * 1 / result),
                      .centred = true};
}

// Squared distance of its results from the table's; infinite where 32 bits do not hold.
static double gelu_distance(const graph_unit *unit, const float *table, double result) {
  const graph_unit_constants *k = &unit->constants;
  const double q = 128.0 * unit->gain[0], b = k->b, most = fmax(b * b, (q + b) * (q + b)) + fabs((double)k->c);
  if (k->b >= 0 || q * 2 * most > sum_max) return INFINITY;
  double sum = 0;
  for (int i = 0; i < VALUES; i++) {
    const int8_t x = (int8_t)(i - 128);
    int8_t y;
    graph_unit_row(unit, 0, &x, 1, &y);
    const double wanted = fmin(fmax((double)table[i] / result, -128), 127);
    sum += (y - wanted) * (y - wanted);
  }
  return sum;
}

int quantise_convert_unit_gelu(quantise_converter *c, int from, int tensor, quantise_convert_layout layout) {
  const int source = c->derived[tensor];
  const double scale = (double)c->values[source].scale, result = (double)c->scale[tensor];
  float table[VALUES];
  if (!is_on(c, QUANTISE_UNIT_GELU, 0) || c->values[source].zero != 0 || c->zero[tensor] != 0 ||
      c->model->tensors[tensor].rank == 0 || !quantise_convert_real_table(c, tensor, table) || !is_gelu(table, scale))
    return GRAPH_NONE;
  double best = INFINITY;
  graph_unit unit = {0};
  for (int32_t gain = 1; gain <= GRAPH_UNIT_GAIN_MAX; gain++) {
    const graph_unit tried = gelu_unit(gain, scale, result);
    const double distance_of = gelu_distance(&tried, table, result);
    if (distance_of >= best) continue;
    best = distance_of;
    unit = tried;
  }
  if (isinf(best)) return GRAPH_NONE;
  const int to = quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout);
  graph_node *made = quantise_convert_emit(c, unit.op, c->out->tensors[to].name, &from, 1, to);
  graph_unit_set(c->out, made, &unit);
  return to;
}
