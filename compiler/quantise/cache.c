// SPDX-License-Identifier: Apache-2.0
// Caches of decoders: inputs that are keys or values of earlier tokens, with four bits a number.
//
// An input is a cache by its use: products of pairs of matrices alone read it, as their second operand, perhaps by
// another name or with dimensions exchanged. Its rows are packed two numbers a byte, the first in the low half, and
// widened by the array as they are loaded (QWiden4). Its scale is its own: the largest magnitude seen, of the cache and
// of the new token's part that will join it, is 7. A result that has the cache's name with `present` in place of `past`
// is that part: it comes as the bytes that belong behind the cache.
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/quantise/convert.h"

enum { LEAST = -8, MOST = 7, MOST_I8 = 127 };

static bool moves(graph_op op) {
  return op == GRAPH_OP_RESHAPE || op == GRAPH_OP_TRANSPOSE || op == GRAPH_OP_SQUEEZE || op == GRAPH_OP_UNSQUEEZE ||
         op == GRAPH_OP_FLATTEN || op == GRAPH_OP_IDENTITY;
}

// Whether only products read the tensor, as their second operand; counts them.
static bool only_products_read(const graph *g, int tensor, int *products) {
  for (int o = 0; o < g->output_count; o++)
    if (g->outputs[o] == tensor) return false;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    for (int i = 0; i < node->input_count; i++) {
      if (node->inputs[i] != tensor) continue;
      const bool product = i == 1 && node->op == GRAPH_OP_MAT_MUL && g->tensors[node->inputs[0]].data == NULL;
      *products += product;
      if (!product && (i != 0 || !moves(node->op) || !only_products_read(g, node->outputs[0], products))) return false;
    }
  }
  return true;
}

bool quantise_convert_is_cache(const quantise_converter *c, int tensor) {
  const graph_tensor *t = &c->model->tensors[tensor];
  int products = 0;
  if (t->type != GRAPH_F32 || t->rank < 2 || t->dim[t->rank - 1] % 2 != 0) return false;
  for (int i = 0; i < c->model->input_count; i++)
    if (c->model->inputs[i] == tensor && quantise_pin_of(c->pins, tensor)->scale <= 0)
      return only_products_read(c->model, tensor, &products) && products > 0;
  return false;
}

// ---- the new token's part

static int input_named(const graph *g, const char *name) {
  for (int i = 0; i < g->input_count; i++)
    if (strcmp(g->tensors[g->inputs[i]].name, name) == 0) return g->inputs[i];
  return GRAPH_NONE;
}

int quantise_convert_cache_of(const quantise_converter *c, int result) {
  static const char present[] = "present";
  static const char *const pasts[] = {"past", "past_key_values"};
  const char *name = c->model->tensors[result].name, *at = strstr(name, present);
  for (size_t i = 0; at != NULL && i < sizeof pasts / sizeof *pasts; i++) {
    const char *wanted = wf_arena_format(c->arena, "%.*s%s%s", (int)(at - name), name, pasts[i], at + strlen(present));
    const int input = input_named(c->model, wanted);
    if (input != GRAPH_NONE && quantise_convert_is_cache(c, input)) return input;
  }
  return GRAPH_NONE;
}

static float magnitude_of(const quantise_converter *c, int cache) {
  float most = c->ranges->magnitude[cache];
  for (int o = 0; o < c->model->output_count; o++)
    if (quantise_convert_cache_of(c, c->model->outputs[o]) == cache)
      most = fmaxf(most, c->ranges->magnitude[c->model->outputs[o]]);
  return most;
}

// A cache and what it is called on its way to products.
static void set_scale(quantise_converter *c, int tensor, float scale) {
  const graph *g = c->model;
  c->scale[tensor] = scale;
  for (int n = 0; n < g->node_count; n++)
    if (moves(g->nodes[n].op) && g->nodes[n].inputs[0] == tensor) set_scale(c, g->nodes[n].outputs[0], scale);
}

void quantise_convert_plan_caches(quantise_converter *c) {
  const int bits = (int)c->options->cache;
  for (int i = 0; bits != 0 && i < c->model->input_count; i++) {
    const int t = c->model->inputs[i];
    if (!quantise_convert_is_cache(c, t)) continue;
    const float scale = magnitude_of(c, t) / (float)(bits == QUANTISE_CACHE_INT4 ? MOST : MOST_I8);
    set_scale(c, t, scale >= FLT_MIN ? scale : 1);
  }
}

// ---- ends

static int packed_tensor(quantise_converter *c, const char *name, const graph_tensor *wide) {
  graph_tensor t = {.name = name, .type = GRAPH_I8, .rank = wide->rank};
  memcpy(t.dim, wide->dim, sizeof t.dim);
  t.dim[t.rank - 1] /= 2;
  return graph_add_tensor(c->out, &t);
}

// The bytes of a tensor at scale `from`, cut to what four bits hold at scale `to`, as a table, and packed.
static int pack(quantise_converter *c, const char *name, int tensor, int form, float to) {
  const graph_tensor given = c->out->tensors[form];
  int8_t table[256];
  quantise_convert_requantise_table(given.scale, given.zero, to, 0, table);
  for (int i = 0; i < 256; i++) table[i] = (int8_t)(table[i] > MOST ? MOST : table[i] < LEAST ? LEAST : table[i]);
  const int wide = quantise_convert_lut(c, form, tensor, LAYOUT_PLAIN, table);
  c->out->tensors[wide].scale = to;
  c->out->tensors[wide].zero = 0;
  const graph_tensor of = c->out->tensors[wide];
  const int packed = packed_tensor(c, name, &of);
  quantise_convert_emit(c, GRAPH_OP_QPACK4, c->out->tensors[packed].name, &wide, 1, packed);
  return packed;
}

// With float ends the hart packs it.
int quantise_convert_begin_cache(quantise_converter *c, int t) {
  const graph_tensor *of = &c->model->tensors[t];
  int in, packed;
  if (c->options->int8_ends) {
    in = packed = packed_tensor(c, of->name, of);
  } else {
    in = quantise_convert_new(c, t, "", GRAPH_F32, LAYOUT_PLAIN);
    const int bytes = quantise_convert_new(c, t, ".i8", GRAPH_I8, LAYOUT_PLAIN);
    graph_node *node = quantise_convert_emit(c, GRAPH_OP_QUANTIZE, c->out->tensors[bytes].name, &in, 1, bytes);
    graph_set_float(c->out, node, "scale", c->scale[t]);
    c->out->tensors[bytes].scale = c->scale[t];
    packed = pack(c, wf_arena_format(c->arena, "%s.packed", of->name), t, bytes, c->scale[t]);
  }
  const int wide = quantise_convert_new(c, t, ".wide", GRAPH_I8, LAYOUT_PLAIN);
  quantise_convert_emit(c, GRAPH_OP_QWIDEN4, c->out->tensors[wide].name, &packed, 1, wide);
  quantise_convert_set_quant(c, t, LAYOUT_PLAIN, wide, c->scale[t], 0);
  return in;
}

int quantise_convert_end_cache(quantise_converter *c, int result, int cache) {
  const float scale = c->scale[cache];
  if (c->options->cache != QUANTISE_CACHE_INT4) return quantise_convert_quant_at(c, result, LAYOUT_PLAIN, scale, 0);
  const char *name = wf_arena_format(c->arena, "%s.packed", c->model->tensors[result].name);
  return pack(c, name, result, quantise_convert_quant(c, result, LAYOUT_PLAIN), scale);
}
