// SPDX-License-Identifier: Apache-2.0
// A model graph to a graph of Q operators on int8 tensors: see convert.h.
#include "compiler/quantise/convert.h"

#include <string.h>

#include "compiler/quantise/mixed.h"

// A tensor of fewer dimensions that is no constant has no form with its channels last.
static bool has_narrow_input(const graph *g, const graph_node *node) {
  for (int i = 0; i < node->input_count; i++) {
    const graph_tensor *t = node->inputs[i] == GRAPH_NONE ? NULL : &g->tensors[node->inputs[i]];
    if (t != NULL && t->data == NULL && t->rank < 4 && graph_elements(t) != 1) return true;
  }
  return false;
}

// Float and integer operators that have no int8 form: as they are, with the forms of their inputs that they need.
static void emit_float(quantise_converter *c, const graph_node *node) {
  const graph *g = c->model;
  quantise_convert_layout layout = LAYOUT_PLAIN;
  const bool image = quantise_convert_is_elementwise(g, node) && g->tensors[node->outputs[0]].rank == 4;
  for (int i = 0; image && i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE && g->tensors[node->inputs[i]].data == NULL &&
        quantise_convert_is_last(c, node->inputs[i]))
      layout = LAYOUT_CHANNELS_LAST;
  if (image && has_narrow_input(g, node)) layout = LAYOUT_PLAIN;
  int *inputs = WF_ARENA_ARRAY(c->arena, (size_t)node->input_count + 1, int);
  int *outputs = WF_ARENA_ARRAY(c->arena, (size_t)node->output_count + 1, int);
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = node->inputs[i] == GRAPH_NONE ? GRAPH_NONE : quantise_convert_real(c, node->inputs[i], layout);
  for (int i = 0; i < node->output_count; i++) {
    const int out = node->outputs[i];
    outputs[i] = out == GRAPH_NONE ? GRAPH_NONE : quantise_convert_new(c, out, "", g->tensors[out].type, layout);
    if (out != GRAPH_NONE) c->values[out].real[layout] = outputs[i];
  }
  graph_node *copy = graph_add_node(c->out, node->op, quantise_rewrite_name(c->out, node->name, ""), inputs,
                                    node->input_count, outputs, node->output_count);
  quantise_convert_copy_attributes(c, copy, node);
  for (int i = 0; i < node->output_count; i++) {  // where the model quantises, its readers see quantised numbers
    const int out = node->outputs[i];
    if (out == GRAPH_NONE || quantise_pin_of(c->pins, out)->scale <= 0) continue;
    quantise_convert_quant(c, out, layout);
    c->values[out].real[layout] = GRAPH_NONE;
  }
}

static void emit_node(quantise_converter *c, int n) {
  const graph_node *node = &c->model->nodes[n];
  if (c->chain_of[n] != GRAPH_NONE) {
    const quantise_convert_chain *chain = &c->chains[c->chain_of[n]];
    if (chain->last == n) quantise_convert_emit_chain(c, chain);
    return;
  }
  if (node->outputs[0] == GRAPH_NONE) {  // only later results of it are wanted
    emit_float(c, node);
    return;
  }
  if (quantise_is_kept(c->options, node)) {
    emit_float(c, node);
    return;
  }
  const quantise_convert_value *v = &c->values[node->outputs[0]];
  if (c->derived[node->outputs[0]] != GRAPH_NONE || v->quant[0] != GRAPH_NONE || v->quant[1] != GRAPH_NONE) return;
  if (!quantise_convert_pool(c, node) && !quantise_convert_move(c, node) && !quantise_convert_add(c, node) &&
      !quantise_convert_rows(c, node) && !quantise_convert_mul(c, node))
    emit_float(c, node);
}

// An input of integers that stand for real numbers. u8 comes in as f32, from which Quantize makes the same numbers less
// 128.
static int begin_integers(quantise_converter *c, int t, const quantise_pin *pin) {
  const int in = quantise_convert_new(c, t, "", pin->is_unsigned ? GRAPH_U8 : GRAPH_I8, LAYOUT_PLAIN);
  if (!pin->is_unsigned) {
    quantise_convert_set_quant(c, t, LAYOUT_PLAIN, in, pin->scale, pin->zero);
    return in;
  }
  const int real = quantise_convert_new(c, t, ".f32", GRAPH_F32, LAYOUT_PLAIN);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_DEQUANTIZE, c->out->tensors[real].name, &in, 1, real);
  graph_set_float(c->out, node, "scale", pin->scale);
  graph_set_int(c->out, node, "zero", pin->zero + 128);
  c->values[t].real[LAYOUT_PLAIN] = real;
  return in;
}

// The hart takes 128 from each byte; the rest of the zero point is in the bias, as that of any image.
static int begin_pixels(quantise_converter *c, int t, quantise_convert_layout layout) {
  const int in = quantise_convert_new(c, t, "", GRAPH_U8, layout);
  const int form = quantise_convert_new(c, t, ".i8", GRAPH_I8, layout);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_QUANTIZE, c->out->tensors[form].name, &in, 1, form);
  graph_set_float(c->out, node, "scale", 1);
  graph_set_int(c->out, node, "zero", -128);
  quantise_convert_set_quant(c, t, layout, form, c->scale[t], c->zero[t]);
  return in;
}

static int begin_input(quantise_converter *c, int t) {
  const graph_tensor *tensor = &c->model->tensors[t];
  const quantise_pin *pin = quantise_pin_of(c->pins, t);
  if (pin->is_integer) return begin_integers(c, t, pin);
  if (c->options->cache == QUANTISE_CACHE_INT4 && quantise_convert_is_cache(c, t))
    return quantise_convert_begin_cache(c, t);
  if (c->options->int8_ends && tensor->type == GRAPH_F32) {
    const quantise_convert_layout layout = tensor->rank == 4 ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
    if (c->options->uint8_images && tensor->rank == 4) return begin_pixels(c, t, layout);
    const int in = quantise_convert_new(c, t, "", GRAPH_I8, layout);
    quantise_convert_set_quant(c, t, layout, in, c->scale[t], c->zero[t]);
    return in;
  }
  return c->values[t].real[LAYOUT_PLAIN] = quantise_convert_new(c, t, "", tensor->type, LAYOUT_PLAIN);
}

static void begin_inputs(quantise_converter *c) {
  const graph *g = c->model;
  int *inputs = WF_ARENA_ARRAY(c->arena, (size_t)g->input_count + 1, int);
  for (int i = 0; i < g->input_count; i++) inputs[i] = begin_input(c, g->inputs[i]);
  graph_set_ends(c->out, inputs, g->input_count, NULL, 0);
}

static int end_integers(quantise_converter *c, int t, const quantise_pin *pin) {
  const int form = quantise_convert_quant_at(c, t, LAYOUT_PLAIN, pin->scale, pin->zero);
  if (!pin->is_unsigned) return form;
  const int real = quantise_convert_new(c, t, ".f32", GRAPH_F32, LAYOUT_PLAIN),
            out = quantise_convert_new(c, t, "", GRAPH_U8, LAYOUT_PLAIN);
  graph_node *node = quantise_convert_emit(c, GRAPH_OP_DEQUANTIZE, c->out->tensors[real].name, &form, 1, real);
  graph_set_float(c->out, node, "scale", pin->scale);
  graph_set_int(c->out, node, "zero", pin->zero);
  node = quantise_convert_emit(c, GRAPH_OP_QUANTIZE, c->out->tensors[out].name, &real, 1, out);
  graph_set_float(c->out, node, "scale", pin->scale);
  graph_set_int(c->out, node, "zero", pin->zero + 128);
  return out;
}

static int end_output(quantise_converter *c, int t) {
  const quantise_pin *pin = quantise_pin_of(c->pins, t);
  if (pin->is_integer) return end_integers(c, t, pin);
  const int cache = c->options->cache != 0 && c->options->int8_ends ? quantise_convert_cache_of(c, t) : GRAPH_NONE;
  if (cache != GRAPH_NONE) return quantise_convert_end_cache(c, t, cache);
  if (c->options->int8_ends && c->model->tensors[t].type == GRAPH_F32 && quantise_convert_has_quant(c, t))
    return quantise_convert_quant(c, t, quantise_convert_is_last(c, t) ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN);
  return quantise_convert_real(c, t, LAYOUT_PLAIN);
}

static void end_outputs(quantise_converter *c) {
  const graph *g = c->model;
  int *outputs = WF_ARENA_ARRAY(c->arena, (size_t)g->output_count + 1, int);
  for (int i = 0; i < g->output_count; i++) {
    outputs[i] = end_output(c, g->outputs[i]);
    const char *name = g->tensors[g->outputs[i]].name;
    if (graph_find_tensor(c->out, name) == GRAPH_NONE) graph_rename_tensor(c->out, outputs[i], name);
  }
  graph_set_ends(c->out, c->out->inputs, c->out->input_count, outputs, g->output_count);
}

static void begin_values(quantise_converter *c) {
  c->values = WF_ARENA_ARRAY(c->arena, (size_t)c->model->tensor_count + 1, quantise_convert_value);
  c->in_table = WF_ARENA_ARRAY(c->arena, (size_t)c->model->tensor_count + 1, int);
  for (int t = 0; t < c->model->tensor_count; t++)
    c->values[t] = (quantise_convert_value){
        .real = {GRAPH_NONE, GRAPH_NONE}, .quant = {GRAPH_NONE, GRAPH_NONE}, .flat = GRAPH_NONE, .sums = GRAPH_NONE};
}

// The int8 form of a tensor, or its float form where it has no other.
static void record_forms(const quantise_converter *c, quantise_forms *forms) {
  const graph *g = c->model;
  forms->of = WF_ARENA_ARRAY(g->arena, (size_t)g->tensor_count + 1, quantise_form);
  forms->count = 0;
  for (int t = 0; t < g->tensor_count; t++) {
    const quantise_convert_value *v = &c->values[t];
    const int last = v->quant[LAYOUT_CHANNELS_LAST] != GRAPH_NONE ? v->quant[LAYOUT_CHANNELS_LAST]
                     : v->quant[LAYOUT_PLAIN] == GRAPH_NONE       ? v->real[LAYOUT_CHANNELS_LAST]
                                                                  : GRAPH_NONE;
    const int plain = v->quant[LAYOUT_PLAIN] != GRAPH_NONE ? v->quant[LAYOUT_PLAIN] : v->real[LAYOUT_PLAIN];
    const int form = last != GRAPH_NONE ? last : plain;
    if (form == GRAPH_NONE || g->tensors[t].data != NULL || v->sums != GRAPH_NONE) continue;
    const graph_tensor *made = &c->out->tensors[form];
    forms->of[forms->count++] = (quantise_form){.tensor = wf_arena_text(g->arena, made->name, strlen(made->name)),
                                                .model = t,
                                                .last = last != GRAPH_NONE,
                                                .scale = made->type == GRAPH_F32 ? 0 : v->scale};
  }
}

graph *quantise_convert(const graph *model, const quantise_pins *pins, const quantise_ranges *ranges,
                        const quantise_options *options, wf_diag *diag) {
  quantise_converter c = {.model = model, .pins = pins, .ranges = ranges, .options = options, .diag = diag};
  const unsigned errors = diag->errors;
  c.arena = wf_arena_create();
  c.out = graph_create(model->name);
  begin_values(&c);
  quantise_convert_plan(&c);
  begin_inputs(&c);
  for (int n = 0; n < model->node_count && !c.refused; n++) emit_node(&c, n);
  if (!c.refused) end_outputs(&c);
  quantise_convert_cells(c.out);
  quantise_rewrite_drop_dead(c.out);
  if (options->forms != NULL) record_forms(&c, options->forms);
  wf_arena_destroy(c.arena);
  if (diag->errors == errors && graph_verify(c.out, diag)) return c.out;
  graph_destroy(c.out);
  return NULL;
}
