// SPDX-License-Identifier: Apache-2.0
// Forms of tensors, made when they are asked for: see convert.h.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "compiler/graph/names.h"
#include "compiler/quantise/convert.h"

static quantise_convert_layout other(quantise_convert_layout layout) {
  return layout == LAYOUT_PLAIN ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
}

static const int64_t to_layout[LAYOUTS][4] = {[LAYOUT_PLAIN] = {0, 3, 1, 2}, [LAYOUT_CHANNELS_LAST] = {0, 2, 3, 1}};

static bool is_quant(const quantise_converter *c, int tensor) {
  return c->values[tensor].quant[LAYOUT_PLAIN] != GRAPH_NONE ||
         c->values[tensor].quant[LAYOUT_CHANNELS_LAST] != GRAPH_NONE;
}

bool quantise_convert_has_quant(const quantise_converter *c, int tensor) {
  for (int t = tensor; t != GRAPH_NONE; t = c->derived[t])
    if (is_quant(c, t)) return true;
  return false;
}

bool quantise_convert_is_last(const quantise_converter *c, int tensor) {
  for (int t = tensor; t != GRAPH_NONE; t = c->derived[t]) {
    const quantise_convert_value *v = &c->values[t];
    if (v->quant[LAYOUT_CHANNELS_LAST] != GRAPH_NONE || v->real[LAYOUT_CHANNELS_LAST] != GRAPH_NONE) return true;
    if (v->quant[LAYOUT_PLAIN] != GRAPH_NONE || v->real[LAYOUT_PLAIN] != GRAPH_NONE) return false;
  }
  return false;
}

int quantise_convert_new(quantise_converter *c, int tensor, const char *suffix, graph_type type,
                         quantise_convert_layout layout) {
  const graph_tensor *t = &c->model->tensors[tensor];
  int64_t dims[GRAPH_RANK_MAX];
  for (int i = 0; i < t->rank; i++) dims[i] = t->dim[layout == LAYOUT_PLAIN ? i : to_layout[layout][i]];
  const char *end = layout == LAYOUT_PLAIN ? "" : ".nhwc";
  return quantise_rewrite_tensor(c->out, wf_arena_format(c->arena, "%s%s", t->name, suffix), end, type, t->rank, dims);
}

int quantise_convert_constant(quantise_converter *c, const char *name, graph_type type, int rank, const int64_t *dims,
                              const void *data) {
  const int tensor = quantise_rewrite_tensor(c->out, name, "", type, rank, dims);
  graph_tensor *t = &c->out->tensors[tensor];
  void *copy = wf_arena_alloc(c->out->arena, graph_bytes(t) + 1, 1);
  memcpy(copy, data, graph_bytes(t));
  t->data = copy;
  return tensor;
}

// Ends and constants keep the file's names. A node that is called after one of them is not called by a bare number.
graph_node *quantise_convert_emit(quantise_converter *c, graph_op op, const char *name, const int *inputs, int count,
                                  int output) {
  const char *base = graph_names_is_number(name) ? graph_op_name(op) : name;
  return graph_add_node(c->out, op, quantise_rewrite_name(c->out, base, ""), inputs, count, &output, 1);
}

void quantise_convert_copy_attributes(quantise_converter *c, graph_node *to, const graph_node *from) {
  for (int i = 0; i < from->attribute_count; i++) {
    const graph_attribute *a = &from->attributes[i];
    if (a->kind == GRAPH_INT) graph_set_int(c->out, to, a->name, a->integer);
    if (a->kind == GRAPH_FLOAT) graph_set_float(c->out, to, a->name, a->number);
    if (a->kind == GRAPH_TEXT) graph_set_text(c->out, to, a->name, a->text);
    if (a->kind == GRAPH_INTS) graph_set_ints(c->out, to, a->name, a->integers, a->count);
    if (a->kind == GRAPH_FLOATS) graph_set_floats(c->out, to, a->name, a->numbers, a->count);
  }
}

static void set_scale(graph *g, graph_node *node, float scale, int32_t zero) {
  graph_set_float(g, node, "scale", scale);
  if (zero != 0) graph_set_int(g, node, "zero", zero);
}

void quantise_convert_set_quant(quantise_converter *c, int tensor, quantise_convert_layout layout, int form,
                                float scale, int32_t zero) {
  quantise_convert_value *v = &c->values[tensor];
  quantise_convert_check_scale(c, tensor, (double)scale);
  v->quant[layout] = form;
  v->scale = scale;
  v->zero = zero;
  c->out->tensors[form].scale = scale;
  c->out->tensors[form].zero = zero;
}

static int transpose(quantise_converter *c, int form, int to, quantise_convert_layout layout) {
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_TRANSPOSE, c->out->tensors[to].name, &form, 1, to);
  graph_set_ints(c->out, node, "perm", to_layout[layout], 4);
  return to;
}

// ---- int8

static int8_t quantised(double x, float scale, int32_t zero) {
  const float q = rintf((float)x / scale) + (float)zero;
  return (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
}

static int quantise_constant(quantise_converter *c, int tensor, quantise_convert_layout layout, float scale,
                             int32_t zero) {
  const graph_tensor *t = &c->model->tensors[tensor];
  const float *values = quantise_rewrite_floats(c->model, tensor);
  const int form = quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout);
  const int64_t count = graph_elements(t);
  int8_t *data = wf_arena_alloc(c->out->arena, (size_t)count + 1, 1);
  const int64_t channels = t->rank == 4 ? t->dim[1] : 1, places = t->rank == 4 ? t->dim[2] * t->dim[3] : 1;
  for (int64_t i = 0; i < count; i++) {
    const int64_t image = i / (channels * places), channel = i / places % channels, place = i % places;
    const int64_t at = layout == LAYOUT_PLAIN ? i : (image * places + place) * channels + channel;
    data[at] = quantised((double)values[i], scale, zero);
  }
  c->out->tensors[form].data = data;
  return form;
}

static int quantise_real(quantise_converter *c, int tensor, int real, quantise_convert_layout from,
                         quantise_convert_layout layout) {
  const int form = quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_QUANTIZE, c->out->tensors[form].name, &real, 1, form);
  set_scale(c->out, node, c->scale[tensor], c->zero[tensor]);
  if (from != layout) graph_set_ints(c->out, node, "perm", to_layout[layout], 4);
  return form;
}

// A derived tensor by its own operator, in float.
static int compute(quantise_converter *c, int tensor, quantise_convert_layout layout);

int quantise_convert_lut(quantise_converter *c, int form, int model_tensor, quantise_convert_layout layout,
                         const int8_t table[256]) {
  const int to = quantise_convert_new(c, model_tensor, ".i8", GRAPH_I8, layout);
  const char *name = c->out->tensors[to].name;
  const int constant =
      quantise_convert_constant(c, wf_arena_format(c->arena, "%s.table", name), GRAPH_I8, 1, (int64_t[]){256}, table);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_QLUT, c->out->tensors[to].name, (int[]){form, constant}, 2, to);
  if (quantise_convert_is_given(c, model_tensor) || quantise_convert_is_given(c, c->derived[model_tensor]))
    graph_set_int(c->out, node, "given", 1);
  return to;
}

void quantise_convert_requantise_table(float from, int32_t from_zero, float to, int32_t to_zero, int8_t table[256]) {
  for (int q = -128; q < 128; q++) table[q + 128] = quantised((double)from * (q - from_zero), to, to_zero);
}

static bool same(float a, float b) { return !(a < b) && !(a > b); }

static int make_quant(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  quantise_convert_value *v = &c->values[tensor];
  const int across = v->quant[other(layout)];
  if (across != GRAPH_NONE) {
    const int form = transpose(c, across, quantise_convert_new(c, tensor, ".i8", GRAPH_I8, layout), layout);
    quantise_convert_set_quant(c, tensor, layout, form, v->scale, v->zero);
    return form;
  }
  int form;
  int8_t table[256];
  if (c->model->tensors[tensor].data != NULL) {
    form = quantise_constant(c, tensor, layout, c->scale[tensor], c->zero[tensor]);
  } else if (c->derived[tensor] != GRAPH_NONE && quantise_convert_has_quant(c, c->derived[tensor])) {
    const int from = quantise_convert_quant(c, c->derived[tensor], layout);
    const quantise_convert_value *source = &c->values[c->derived[tensor]];
    const float factor = quantise_convert_factor(c, tensor);
    if (factor > 0 && same(source->scale * factor, c->scale[tensor]) && source->zero == c->zero[tensor]) {
      v->quant[layout] = from;
      v->scale = c->scale[tensor];
      v->zero = source->zero;
      return from;
    }
    form = quantise_convert_unit_gelu(c, from, tensor, layout);
    if (form == GRAPH_NONE) form = quantise_convert_curve(c, from, tensor, layout);
    if (form == GRAPH_NONE) {
      if (!quantise_convert_table(c, tensor, c->scale[tensor], c->zero[tensor], table)) return GRAPH_NONE;
      form = quantise_convert_lut(c, from, tensor, layout, table);
    }
  } else {
    const quantise_convert_layout from =
        v->real[layout] != GRAPH_NONE || v->real[other(layout)] == GRAPH_NONE ? layout : other(layout);
    const int real = v->real[from] != GRAPH_NONE ? v->real[from] : compute(c, tensor, layout);
    form = quantise_real(c, tensor, real, from, layout);
  }
  quantise_convert_set_quant(c, tensor, layout, form, c->scale[tensor], c->zero[tensor]);
  return form;
}

// What the tensor is a function of comes first, from the far end: a chain may be longer than the stack.
int quantise_convert_quant(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  if (c->values[tensor].quant[layout] != GRAPH_NONE) return c->values[tensor].quant[layout];
  size_t count = 0, room = 0;
  int *chain = NULL, t = tensor;
  for (; t != GRAPH_NONE && !is_quant(c, t); t = c->derived[t]) *WF_ARENA_PUSH(c->arena, chain, count, &room) = t;
  if (t == GRAPH_NONE) return make_quant(c, tensor, layout);
  for (; count > 1; count--) make_quant(c, chain[count - 1], layout);
  return make_quant(c, tensor, layout);
}

int quantise_convert_quant_at(quantise_converter *c, int tensor, quantise_convert_layout layout, float scale,
                              int32_t zero) {
  const int form = quantise_convert_quant(c, tensor, layout);
  const quantise_convert_value *v = &c->values[tensor];
  if (same(v->scale, scale) && v->zero == zero) return form;
  int8_t table[256];
  quantise_convert_requantise_table(v->scale, v->zero, scale, zero, table);
  const int to = quantise_convert_lut(c, form, tensor, layout, table);
  c->out->tensors[to].scale = scale;
  c->out->tensors[to].zero = zero;
  return to;
}

// ---- float (and integers as they are)

// A constant of the model; to stand beside images with channels last its dimensions go the same way.
static int real_constant(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  const graph_tensor *t = &c->model->tensors[tensor];
  if (layout == LAYOUT_PLAIN || graph_elements(t) == 1)
    return quantise_convert_constant(c, t->name, t->type, t->rank, t->dim, t->data);
  assert(t->type == GRAPH_F32);
  int64_t dims[4] = {1, 1, 1, 1};
  for (int i = 0; i < t->rank; i++) dims[4 - t->rank + i] = t->dim[i];
  const int64_t last[4] = {dims[0], dims[2], dims[3], dims[1]}, places = dims[2] * dims[3];
  const int64_t count = graph_elements(t);
  float *moved = WF_ARENA_ARRAY(c->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++)
    moved[(i / places / dims[1] * places + i % places) * dims[1] + i / places % dims[1]] = ((const float *)t->data)[i];
  return quantise_convert_constant(c, wf_arena_format(c->arena, "%s.nhwc", t->name), GRAPH_F32, 4, last, moved);
}

static int dequantise(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  const quantise_convert_value *v = &c->values[tensor];
  const quantise_convert_layout from = v->quant[layout] != GRAPH_NONE ? layout : other(layout);
  const int form = quantise_convert_new(c, tensor, "", GRAPH_F32, layout), quant = v->quant[from];
  assert(quant != GRAPH_NONE);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_DEQUANTIZE, c->out->tensors[form].name, &quant, 1, form);
  set_scale(c->out, node, v->scale, v->zero);
  if (from != layout) graph_set_ints(c->out, node, "perm", to_layout[layout], 4);
  return form;
}

static bool is_renamed(const quantise_converter *c, int tensor) {
  return c->model->nodes[c->index.maker[tensor]].op == GRAPH_OP_IDENTITY;
}

// Whether the tensor's float form would be computed from those of its operator's inputs.
static bool is_computed(const quantise_converter *c, int tensor, quantise_convert_layout layout) {
  if (c->model->tensors[tensor].rank != 4) layout = LAYOUT_PLAIN;
  if (c->derived[tensor] == GRAPH_NONE || is_quant(c, tensor)) return false;
  if (c->values[tensor].real[layout] != GRAPH_NONE || c->model->tensors[tensor].data != NULL) return false;
  const bool may_rename = quantise_pin_of(c->pins, tensor)->scale <= 0 && is_renamed(c, tensor);
  return may_rename || !quantise_convert_has_quant(c, c->derived[tensor]);
}

// Makes the float form of a tensor, and before it those of all tensors that it is computed from, each after its own
// inputs in their order: a list stands for the stack, which a long chain would overflow.
static int real_of(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  typedef struct visit {
    int tensor, next;  // the input to be seen next
  } visit;
  if (!is_computed(c, tensor, layout)) return quantise_convert_real(c, tensor, layout);
  size_t count = 0, room = 0;
  visit *open = NULL;
  *WF_ARENA_PUSH(c->arena, open, count, &room) = (visit){tensor, 0};
  while (count > 0) {
    visit *v = &open[count - 1];
    const graph_node *node = &c->model->nodes[c->index.maker[v->tensor]];
    if (v->next == node->input_count) {
      quantise_convert_real(c, v->tensor, layout);
      count--;
      continue;
    }
    const int input = node->inputs[v->next++];
    if (input != GRAPH_NONE && is_computed(c, input, layout))
      *WF_ARENA_PUSH(c->arena, open, count, &room) = (visit){input, 0};
    else if (input != GRAPH_NONE)
      quantise_convert_real(c, input, layout);
  }
  return quantise_convert_real(c, tensor, layout);
}

static int compute(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  const graph_node *node = &c->model->nodes[c->index.maker[tensor]];
  if (node->op == GRAPH_OP_IDENTITY) return real_of(c, node->inputs[0], layout);
  int *inputs = WF_ARENA_ARRAY(c->arena, (size_t)node->input_count + 1, int);
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = node->inputs[i] == GRAPH_NONE ? GRAPH_NONE : real_of(c, node->inputs[i], layout);
  const int form = quantise_convert_new(c, tensor, "", GRAPH_F32, layout);
  graph_node *copy = quantise_convert_emit(c, node->op, node->name, inputs, node->input_count, form);
  quantise_convert_copy_attributes(c, copy, node);
  return form;
}

// A function of int8 numbers in float: a table, too.
static int look_up(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  float table[256];
  const int from = quantise_convert_quant(c, c->derived[tensor], layout);
  if (!quantise_convert_real_table(c, tensor, table)) return GRAPH_NONE;
  const int form = quantise_convert_new(c, tensor, "", GRAPH_F32, layout);
  const char *name = wf_arena_format(c->arena, "%s.table", c->out->tensors[form].name);
  const int inputs[2] = {from, quantise_convert_constant(c, name, GRAPH_F32, 1, (int64_t[]){256}, table)};
  quantise_convert_emit(c, GRAPH_OP_QLUT, c->model->nodes[c->index.maker[tensor]].name, inputs, 2, form);
  return form;
}

static int make_real(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  quantise_convert_value *v = &c->values[tensor];
  if (c->model->tensors[tensor].data != NULL) return real_constant(c, tensor, layout);
  const bool has_form = is_quant(c, tensor);
  const bool is_pinned = quantise_pin_of(c->pins, tensor)->scale > 0;
  if (c->derived[tensor] != GRAPH_NONE && !has_form && !is_pinned)
    return quantise_convert_has_quant(c, c->derived[tensor]) && !is_renamed(c, tensor) ? look_up(c, tensor, layout)
                                                                                       : compute(c, tensor, layout);
  if (v->real[other(layout)] != GRAPH_NONE && !has_form)
    return transpose(c, v->real[other(layout)],
                     quantise_convert_new(c, tensor, "", c->model->tensors[tensor].type, layout), layout);
  if (!has_form) quantise_convert_quant(c, tensor, layout);
  return dequantise(c, tensor, layout);
}

int quantise_convert_real(quantise_converter *c, int tensor, quantise_convert_layout layout) {
  quantise_convert_value *v = &c->values[tensor];
  if (c->model->tensors[tensor].rank != 4 && c->model->tensors[tensor].data == NULL) layout = LAYOUT_PLAIN;
  if (v->real[layout] == GRAPH_NONE) v->real[layout] = make_real(c, tensor, layout);
  return v->real[layout];
}
