// SPDX-License-Identifier: Apache-2.0
// Operators on int8 numbers that are not products: movement, pooling, sums. Images stay with their channels last.
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/quantise/convert.h"

static bool is_image(const quantise_converter *c, int tensor) { return c->model->tensors[tensor].rank == 4; }

quantise_convert_layout quantise_convert_layout_of(const quantise_converter *c, int tensor) {
  return is_image(c, tensor) && quantise_convert_is_last(c, tensor) ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
}

int quantise_convert_integers(quantise_converter *c, const graph_node *node, const char *what, const int64_t *values,
                              int count) {
  return quantise_convert_constant(c, wf_arena_format(c->arena, "%s.%s", node->name, what), GRAPH_I64, 1,
                                   (int64_t[]){count}, values);
}

// The result has the scale of what was moved, or another one that the model demands.
static void settle(quantise_converter *c, int out, quantise_convert_layout layout, int form, float scale,
                   int32_t zero) {
  const quantise_pin *pin = quantise_pin_of(c->pins, out);
  if (pin->scale > 0 && (fabsf(pin->scale - scale) > 0 || pin->zero != zero)) {
    int8_t table[256];
    quantise_convert_requantise_table(scale, zero, pin->scale, pin->zero, table);
    form = quantise_convert_lut(c, form, out, layout, table);
    scale = pin->scale;
    zero = pin->zero;
  }
  quantise_convert_set_quant(c, out, layout, form, scale, zero);
}

// A node with one int8 input in the given layout and further inputs; its result settled.
graph_node *quantise_convert_emit_move(quantise_converter *c, const graph_node *node, graph_op op, const int *inputs,
                                       int count, quantise_convert_layout layout) {
  const int out = node->outputs[0], form = quantise_convert_new(c, out, ".i8", GRAPH_I8, layout);
  const int position = c->out->node_count;
  quantise_convert_emit(c, op, node->name, inputs, count, form);
  const quantise_convert_value *v = &c->values[node->inputs[0]];
  settle(c, out, layout, form, v->scale, v->zero);
  return &c->out->nodes[position];
}

// ---- reshaping

static int reshape(quantise_converter *c, const char *name, int form, int to) {
  const graph_tensor *t = &c->out->tensors[to];
  const int shape = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.shape", name), GRAPH_I64, 1,
                                              (int64_t[]){t->rank}, t->dim);
  quantise_convert_emit(c, GRAPH_OP_RESHAPE, name, (int[]){form, shape}, 2, to);
  return to;
}

// Whether an image has the same bytes in both layouts.
static bool same_bytes(const graph_tensor *t) { return t->rank == 4 && (t->dim[1] == 1 || t->dim[2] * t->dim[3] == 1); }

static bool move_reshape(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], out = node->outputs[0];
  const graph_tensor *from = &c->model->tensors[in], *to = &c->model->tensors[out];
  const quantise_convert_layout layout = quantise_convert_layout_of(c, in);
  if (layout == LAYOUT_CHANNELS_LAST && !same_bytes(from) && to->rank == 2 && to->dim[0] == from->dim[0] &&
      quantise_pin_of(c->pins, out)->scale <= 0) {
    quantise_convert_value *v = &c->values[out];
    const int image = quantise_convert_quant(c, in, layout),
              form = quantise_convert_new(c, out, ".i8.flat", GRAPH_I8, LAYOUT_PLAIN);
    v->flat = reshape(c, node->name, image, form);
    v->flat_channels = from->dim[1];
    v->scale = c->values[in].scale;
    v->zero = c->values[in].zero;
  }
  const int image = quantise_convert_quant(c, in, same_bytes(from) ? layout : LAYOUT_PLAIN);
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  reshape(c, node->name, image, form);
  settle(c, out, LAYOUT_PLAIN, form, c->values[in].scale, c->values[in].zero);
  return true;
}

static bool is_perm(const int64_t *perm, int rank, const int64_t *expected) {
  return rank == 4 && memcmp(perm, expected, 4 * sizeof *perm) == 0;
}

static bool move_transpose(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], out = node->outputs[0], rank = c->model->tensors[in].rank;
  int64_t perm[GRAPH_RANK_MAX];
  if (graph_ints(node, "perm", perm, GRAPH_RANK_MAX) == 0)
    for (int i = 0; i < rank; i++) perm[i] = rank - 1 - i;
  const bool last = quantise_convert_layout_of(c, in) == LAYOUT_CHANNELS_LAST;
  const quantise_convert_layout from =
      is_perm(perm, rank, (int64_t[]){0, 2, 3, 1}) && last ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
  if (from == LAYOUT_CHANNELS_LAST || is_perm(perm, rank, (int64_t[]){0, 3, 1, 2})) {  // only the name changes
    const int form = quantise_convert_quant(c, in, from);
    settle(c, out, from == LAYOUT_PLAIN ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN, form, c->values[in].scale,
           c->values[in].zero);
    return true;
  }
  const int form = quantise_convert_quant(c, in, LAYOUT_PLAIN);
  graph_set_ints(c->out, quantise_convert_emit_move(c, node, GRAPH_OP_TRANSPOSE, &form, 1, LAYOUT_PLAIN), "perm", perm,
                 rank);
  return true;
}

// ---- parts and wholes

static int64_t positive(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

static bool move_concat(quantise_converter *c, const graph_node *node) {
  const int out = node->outputs[0], rank = c->model->tensors[out].rank;
  const int64_t axis = positive(graph_int(node, "axis", 0), rank);
  quantise_convert_layout layout = LAYOUT_PLAIN;
  for (int i = 0; i < node->input_count; i++)
    if (quantise_convert_layout_of(c, node->inputs[i]) == LAYOUT_CHANNELS_LAST) layout = LAYOUT_CHANNELS_LAST;
  int *inputs = WF_ARENA_ARRAY(c->arena, (size_t)node->input_count, int);
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = quantise_convert_quant_at(c, node->inputs[i], layout, c->scale[out], c->zero[out]);
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, layout);
  graph_node *made = quantise_convert_emit(c, GRAPH_OP_CONCAT, node->name, inputs, node->input_count, form);
  graph_set_int(c->out, made, "axis", layout == LAYOUT_PLAIN ? axis : quantise_convert_axis((int)axis));
  quantise_convert_set_quant(c, out, layout, form, c->scale[out], c->zero[out]);
  return true;
}

static bool move_split(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], rank = c->model->tensors[in].rank;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, in);
  const int64_t axis = positive(graph_int(node, "axis", 0), rank);
  int64_t *sizes = WF_ARENA_ARRAY(c->arena, (size_t)node->output_count, int64_t);
  int *outputs = WF_ARENA_ARRAY(c->arena, (size_t)node->output_count, int);
  const int form = quantise_convert_quant(c, in, layout);
  for (int i = 0; i < node->output_count; i++) {
    sizes[i] = c->model->tensors[node->outputs[i]].dim[axis];
    outputs[i] = quantise_convert_new(c, node->outputs[i], ".i8", GRAPH_I8, layout);
  }
  const int inputs[2] = {form, quantise_convert_integers(c, node, "sizes", sizes, node->output_count)};
  graph_node *made = graph_add_node(c->out, GRAPH_OP_SPLIT, quantise_rewrite_name(c->out, node->name, ""), inputs, 2,
                                    outputs, node->output_count);
  graph_set_int(c->out, made, "axis", layout == LAYOUT_PLAIN ? axis : quantise_convert_axis((int)axis));
  for (int i = 0; i < node->output_count; i++)
    settle(c, node->outputs[i], layout, outputs[i], c->values[in].scale, c->values[in].zero);
  return true;
}

static bool move_slice(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], rank = c->model->tensors[in].rank;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, in);
  int64_t part[4][GRAPH_RANK_MAX];  // starts, ends, axes, steps
  int count = 0;
  for (int i = 0; i < 2; i++)
    if ((count = quantise_rewrite_integers(c->model, node->inputs[1 + i], part[i], GRAPH_RANK_MAX)) < 0) return false;
  for (int i = 2; i < 4; i++) {
    for (int k = 0; k < count; k++) part[i][k] = i == 2 ? k : 1;
    if (node->input_count > i + 1 && node->inputs[i + 1] != GRAPH_NONE &&
        quantise_rewrite_integers(c->model, node->inputs[i + 1], part[i], GRAPH_RANK_MAX) < 0)
      return false;
  }
  for (int k = 0; k < count; k++) {
    const int axis = (int)positive(part[2][k], rank);
    part[2][k] = layout == LAYOUT_PLAIN ? axis : quantise_convert_axis(axis);
  }
  static const char *const names[] = {"starts", "ends", "axes", "steps"};
  int inputs[5] = {quantise_convert_quant(c, in, layout)};
  for (int i = 0; i < 4; i++) inputs[1 + i] = quantise_convert_integers(c, node, names[i], part[i], count);
  quantise_convert_emit_move(c, node, GRAPH_OP_SLICE, inputs, 5, layout);
  return true;
}

// Expand and Tile, whose result says how often each dimension is repeated.
static bool move_repeat(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0];
  const graph_tensor *x = &c->model->tensors[in], *y = &c->model->tensors[node->outputs[0]];
  const quantise_convert_layout layout = y->rank == x->rank ? quantise_convert_layout_of(c, in) : LAYOUT_PLAIN;
  int64_t numbers[GRAPH_RANK_MAX];
  if (node->op == GRAPH_OP_TILE && graph_elements(x) == 0) return false;
  for (int i = 0; i < y->rank; i++) {
    const int to = layout == LAYOUT_PLAIN ? i : quantise_convert_axis(i);
    numbers[to] = node->op == GRAPH_OP_EXPAND ? y->dim[i] : y->dim[i] / x->dim[i];
  }
  const int inputs[2] = {quantise_convert_quant(c, in, layout),
                         quantise_convert_integers(c, node, "sizes", numbers, y->rank)};
  quantise_convert_emit_move(c, node, node->op, inputs, 2, layout);
  return true;
}

static bool move_pad(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], rank = c->model->tensors[in].rank;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, in);
  int64_t pads[2 * GRAPH_RANK_MAX], moved[2 * GRAPH_RANK_MAX];
  float number = 0;
  if (node->input_count > 3 ||
      quantise_rewrite_integers(c->model, node->inputs[1], pads, 2 * GRAPH_RANK_MAX) != 2 * rank)
    return false;
  if (node->input_count > 2 && node->inputs[2] != GRAPH_NONE &&
      !quantise_rewrite_number(c->model, node->inputs[2], &number))
    return false;
  for (int i = 0; i < rank; i++) {
    const int to = layout == LAYOUT_PLAIN ? i : quantise_convert_axis(i);
    moved[to] = pads[i];
    moved[rank + to] = pads[rank + i];
  }
  const int form = quantise_convert_quant(c, in, layout);
  const quantise_convert_value *v = &c->values[in];
  const double q = rint((double)(number / v->scale)) + v->zero;
  const int8_t value = (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
  const int filling =
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.value", node->name), GRAPH_I8, 0, NULL, &value);
  const int inputs[3] = {form, quantise_convert_integers(c, node, "pads", moved, 2 * rank), filling};
  graph_node *made = quantise_convert_emit_move(c, node, GRAPH_OP_PAD, inputs, 3, layout);
  graph_set_text(c->out, made, "mode", graph_text(node, "mode", "constant"));
  return true;
}

static bool move_resize(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], out = node->outputs[0];
  if (strcmp(graph_text(node, "mode", "nearest"), "nearest") != 0 || graph_find_attribute(node, "axes") != NULL)
    return false;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, in);
  const graph_tensor *from = &c->model->tensors[in], *to = &c->model->tensors[out];
  const float *scales = node->input_count > 2 ? quantise_rewrite_floats(c->model, node->inputs[2]) : NULL;
  const bool by_scale = scales != NULL && graph_elements(&c->model->tensors[node->inputs[2]]) == from->rank;
  if (strcmp(graph_text(node, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0) return false;
  int64_t sizes[GRAPH_RANK_MAX];
  float factors[GRAPH_RANK_MAX];
  for (int i = 0; i < from->rank; i++) {
    const int at = layout == LAYOUT_PLAIN ? i : quantise_convert_axis(i);
    sizes[at] = to->dim[i];
    if (by_scale) factors[at] = scales[i];
  }
  int inputs[4] = {quantise_convert_quant(c, in, layout), GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
  if (by_scale)
    inputs[2] = quantise_convert_constant(c, wf_arena_format(c->arena, "%s.scales", node->name), GRAPH_F32, 1,
                                          (int64_t[]){from->rank}, factors);
  else
    inputs[3] = quantise_convert_integers(c, node, "sizes", sizes, from->rank);
  graph_node *made = quantise_convert_emit_move(c, node, GRAPH_OP_RESIZE, inputs, by_scale ? 3 : 4, layout);
  static const char *const texts[] = {"coordinate_transformation_mode", "nearest_mode"};
  graph_set_text(c->out, made, "mode", "nearest");
  for (int i = 0; i < 2; i++)
    if (graph_find_attribute(node, texts[i]) != NULL)
      graph_set_text(c->out, made, texts[i], graph_text(node, texts[i], ""));
  return true;
}

// [N,H,W,b,b,C] between images: blocks of channels to places.
static bool move_depth_to_space(quantise_converter *c, const graph_node *node) {
  const int in = node->inputs[0], out = node->outputs[0];
  const graph_tensor *t = &c->model->tensors[out];
  const int64_t b = graph_int(node, "blocksize", 1), n = t->dim[0], k = t->dim[1], h = t->dim[2] / b, w = t->dim[3] / b;
  const bool columns_first = strcmp(graph_text(node, "mode", "DCR"), "CRD") == 0;
  const int form = quantise_convert_quant(c, in, LAYOUT_CHANNELS_LAST);
  const int64_t split[6] = {n, h, w, columns_first ? k : b, b, columns_first ? b : k};
  const int64_t perm[6] = {0, 1, columns_first ? 4 : 3, 2, columns_first ? 5 : 4, columns_first ? 3 : 5};
  const int64_t joined[6] = {n, h, b, w, b, k};
  const int blocks = quantise_rewrite_tensor(c->out, node->name, ".blocks", GRAPH_I8, 6, split);
  const int placed = quantise_rewrite_tensor(c->out, node->name, ".placed", GRAPH_I8, 6, joined);
  reshape(c, c->out->tensors[blocks].name, form, blocks);
  graph_node *move = quantise_convert_emit(c, GRAPH_OP_TRANSPOSE, c->out->tensors[placed].name, &blocks, 1, placed);
  graph_set_ints(c->out, move, "perm", perm, 6);
  const int result = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_CHANNELS_LAST);
  reshape(c, node->name, placed, result);
  settle(c, out, LAYOUT_CHANNELS_LAST, result, c->values[in].scale, c->values[in].zero);
  return true;
}

// A transposed number that a product alone reads is quantised before it moves: a byte moves more easily, and the
// product may read it as it is.
static bool is_read_by_product(const quantise_converter *c, int tensor) {
  const graph_node *reader = quantise_rewrite_only_reader(c->model, &c->index, tensor);
  return reader != NULL && reader->op == GRAPH_OP_MAT_MUL && c->scale[tensor] > 0 &&
         quantise_pin_of(c->pins, tensor)->scale <= 0;
}

bool quantise_convert_move(quantise_converter *c, const graph_node *node) {
  static const struct {
    graph_op op;
    bool (*move)(quantise_converter *, const graph_node *);
  } moves[] = {{GRAPH_OP_RESHAPE, move_reshape},
               {GRAPH_OP_FLATTEN, move_reshape},
               {GRAPH_OP_SQUEEZE, move_reshape},
               {GRAPH_OP_UNSQUEEZE, move_reshape},
               {GRAPH_OP_TRANSPOSE, move_transpose},
               {GRAPH_OP_CONCAT, move_concat},
               {GRAPH_OP_SPLIT, move_split},
               {GRAPH_OP_SLICE, move_slice},
               {GRAPH_OP_PAD, move_pad},
               {GRAPH_OP_EXPAND, move_repeat},
               {GRAPH_OP_TILE, move_repeat},
               {GRAPH_OP_RESIZE, move_resize},
               {GRAPH_OP_DEPTH_TO_SPACE, move_depth_to_space},
               {GRAPH_OP_GATHER, quantise_convert_gather}};
  if (c->model->tensors[node->outputs[0]].type != GRAPH_F32) return false;
  bool any = false;
  for (int i = 0; i < (node->op == GRAPH_OP_CONCAT ? node->input_count : 1); i++)
    any |= quantise_convert_has_quant(c, node->inputs[i]);
  any |= node->op == GRAPH_OP_TRANSPOSE && is_read_by_product(c, node->outputs[0]);
  for (size_t i = 0; any && i < sizeof moves / sizeof moves[0]; i++)
    if (moves[i].op == node->op) return moves[i].move(c, node);
  return false;
}

// ---- pooling

static void set_window(quantise_converter *c, graph_node *node, const quantise_rewrite_window *w) {
  graph_set_ints(c->out, node, "kernel_shape", w->kernel, 2);
  graph_set_ints(c->out, node, "strides", w->strides, 2);
  graph_set_ints(c->out, node, "pads", w->pads, 4);
}

static bool pool_max(quantise_converter *c, const graph_node *node) {
  quantise_rewrite_window w;
  if (!quantise_rewrite_window_of(c->model, node, &w) || w.dilations[0] != 1 || w.dilations[1] != 1) return false;
  if (node->output_count > 1 && node->outputs[1] != GRAPH_NONE && c->index.uses[node->outputs[1]] != 0) return false;
  const int form = quantise_convert_quant(c, node->inputs[0], LAYOUT_CHANNELS_LAST);
  set_window(c, quantise_convert_emit_move(c, node, GRAPH_OP_QMAX_POOL, &form, 1, LAYOUT_CHANNELS_LAST), &w);
  return true;
}

// The mean over `count` numbers becomes f * sum with the scale of the result in f.
static bool emit_average(quantise_converter *c, const graph_node *node, graph_op op, int64_t count,
                         const quantise_rewrite_window *w) {
  const int in = node->inputs[0], out = node->outputs[0];
  const int form = quantise_convert_quant(c, in, LAYOUT_CHANNELS_LAST);
  const quantise_convert_value *v = &c->values[in];
  if (v->zero != 0 || c->zero[out] != 0) return false;
  const int result = quantise_convert_new(c, out, ".i8", GRAPH_I8, LAYOUT_CHANNELS_LAST);
  graph_node *made = quantise_convert_emit(c, op, node->name, &form, 1, result);
  graph_set_float(c->out, made, "scale", (float)((double)v->scale / ((double)count * (double)c->scale[out])));
  if (w != NULL) set_window(c, made, w);
  quantise_convert_set_quant(c, out, LAYOUT_CHANNELS_LAST, result, c->scale[out], 0);
  return true;
}

static bool pool_average(quantise_converter *c, const graph_node *node) {
  quantise_rewrite_window w;
  if (!quantise_rewrite_window_of(c->model, node, &w) || w.dilations[0] != 1 || w.dilations[1] != 1) return false;
  const bool padded = (w.pads[0] | w.pads[1] | w.pads[2] | w.pads[3]) != 0;
  if (padded && (graph_int(node, "count_include_pad", 0) == 0 || graph_int(node, "ceil_mode", 0) != 0)) return false;
  return emit_average(c, node, GRAPH_OP_QAVERAGE_POOL, w.kernel[0] * w.kernel[1], &w);
}

bool quantise_convert_pool(quantise_converter *c, const graph_node *node) {
  const graph_tensor *in = &c->model->tensors[node->inputs[0]];
  if (!is_image(c, node->inputs[0]) || in->type != GRAPH_F32 || in->data != NULL || graph_elements(in) == 0)
    return false;
  if (node->op == GRAPH_OP_MAX_POOL) return pool_max(c, node);
  if (node->op == GRAPH_OP_AVERAGE_POOL) return pool_average(c, node);
  if (node->op != GRAPH_OP_GLOBAL_AVERAGE_POOL) return false;
  return emit_average(c, node, GRAPH_OP_QGLOBAL_AVERAGE_POOL, in->dim[2] * in->dim[3], NULL);
}

// ---- sums of two int8 tensors

// The relu that is the only reader of a sum.
static const graph_node *relu_behind(const quantise_converter *c, int sum) {
  const graph_node *reader = quantise_rewrite_only_reader(c->model, &c->index, sum);
  const bool free = reader != NULL && reader->op == GRAPH_OP_RELU && quantise_pin_of(c->pins, sum)->scale <= 0 &&
                    c->zero[reader->outputs[0]] == 0;
  return free ? reader : NULL;
}

// A constant summand has 127 for its own largest magnitude, which may not drown the other one: that of a mask does.
// False: it stays a float number.
static bool scale_constant(quantise_converter *c, int tensor, int other) {
  static const float drowning = 8;
  const float *values = quantise_rewrite_floats(c->model, tensor);
  float largest = 0;
  if (c->model->tensors[tensor].data == NULL) return true;
  if (values == NULL || c->values[tensor].quant[LAYOUT_PLAIN] != GRAPH_NONE) return false;
  for (int64_t i = graph_elements(&c->model->tensors[tensor]); i-- > 0;) largest = fmaxf(largest, fabsf(values[i]));
  if (!(largest / 127 >= FLT_MIN) || !(largest <= drowning * 127 * c->scale[other])) return false;
  c->scale[tensor] = largest / 127;
  c->zero[tensor] = 0;
  return true;
}

// A constant that is repeated along the first dimensions of the sum.
static bool is_repeated(const graph *g, int constant, int sum) {
  const graph_tensor *t = &g->tensors[constant], *y = &g->tensors[sum];
  int same = 0;
  if (quantise_rewrite_floats(g, constant) == NULL || t->rank > y->rank) return false;
  while (same < t->rank && t->dim[t->rank - 1 - same] == y->dim[y->rank - 1 - same]) same++;
  for (int i = 0; i < t->rank - same; i++)
    if (t->dim[i] != 1) return false;
  return same >= 2;  // less goes into a product or is no sum worth a pass
}

bool quantise_convert_add(quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  if (node->op != GRAPH_OP_ADD) return false;
  const bool swapped = g->tensors[node->inputs[0]].data != NULL;
  const int a = node->inputs[swapped ? 1 : 0], b = node->inputs[swapped ? 0 : 1];
  const graph_node *relu = relu_behind(c, node->outputs[0]);
  const int out = relu != NULL ? relu->outputs[0] : node->outputs[0];
  if (g->tensors[out].type != GRAPH_F32 || g->tensors[a].data != NULL) return false;
  const bool same = graph_same_shape(&g->tensors[a], &g->tensors[b]);
  if (!same && (!is_repeated(g, b, out) || !graph_same_shape(&g->tensors[a], &g->tensors[out]) ||
                quantise_convert_layout_of(c, a) != LAYOUT_PLAIN))
    return false;
  if (!quantise_convert_has_quant(c, a) && !quantise_convert_has_quant(c, b)) return false;
  if (!scale_constant(c, a, b) || !scale_constant(c, b, a)) return false;
  if (c->zero[a] != 0 || c->zero[b] != 0 || c->zero[out] != 0) return false;
  const quantise_convert_layout layout = quantise_convert_layout_of(c, a) == LAYOUT_CHANNELS_LAST ||
                                                 quantise_convert_layout_of(c, b) == LAYOUT_CHANNELS_LAST
                                             ? LAYOUT_CHANNELS_LAST
                                             : LAYOUT_PLAIN;
  const int inputs[2] = {quantise_convert_quant(c, a, layout), quantise_convert_quant(c, b, layout)};
  if (c->values[a].zero != 0 || c->values[b].zero != 0) return false;
  const int form = quantise_convert_new(c, out, ".i8", GRAPH_I8, layout);
  graph_node *made = quantise_convert_emit(c, GRAPH_OP_QADD, node->name, inputs, 2, form);
  graph_set_float(c->out, made, "scale_a", c->values[a].scale / c->scale[out]);
  graph_set_float(c->out, made, "scale_b", c->values[b].scale / c->scale[out]);
  if (relu != NULL) graph_set_int(c->out, made, "relu", 1);
  quantise_convert_set_quant(c, out, layout, form, c->scale[out], 0);
  return true;
}
