// SPDX-License-Identifier: Apache-2.0
// Channels of images in another order, as gathers that products take in:
//   Reshape, Transpose, Reshape that shuffle groups of channels     Gather
//   a part of the channels of a Gather                              Gather
//   Conv of a Gather                                                Conv whose weights stand in the other order
// A convolution that reads a part of the channels then reads all of them, with zeros for the others, unless that is
// more work than moving the part.
#include <string.h>

#include "compiler/quantise/fold.h"

enum { CHANNELS = 1 };

static const graph_node *maker_of(const quantise_rewrite_index *index, int tensor, graph_op op) {
  if (tensor == GRAPH_NONE || index->maker[tensor] == GRAPH_NONE) return NULL;
  const graph_node *node = &index->nodes[index->maker[tensor]];
  return node->op == op ? node : NULL;
}

static void add_gather(graph *g, const char *name, int x, const int64_t *order, int64_t count, int out) {
  const int indices = quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.order", name), order, (int)count);
  graph_node *node =
      graph_add_node(g, GRAPH_OP_GATHER, quantise_rewrite_name(g, name, ""), (int[]){x, indices}, 2, &out, 1);
  graph_set_int(g, node, "axis", CHANNELS);
}

// [N,C,H,W] to [N,a,b,H,W], a and b swapped, and back: channel j a + i is i b + j of before.
static bool shuffle(graph *g, const quantise_pins *pins, const quantise_rewrite_index *index, const graph_node *node) {
  const graph_node *turn = maker_of(index, node->inputs[0], GRAPH_OP_TRANSPOSE);
  const graph_node *split = turn == NULL ? NULL : maker_of(index, turn->inputs[0], GRAPH_OP_RESHAPE);
  int64_t perm[GRAPH_RANK_MAX];
  if (split == NULL || quantise_pin_of(pins, node->inputs[0])->scale > 0 ||
      quantise_pin_of(pins, turn->inputs[0])->scale > 0)
    return false;
  if (graph_ints(turn, "perm", perm, GRAPH_RANK_MAX) != 5) return false;
  const graph_tensor x = g->tensors[split->inputs[0]], parts = g->tensors[split->outputs[0]],
                     y = g->tensors[node->outputs[0]];
  const int64_t a = parts.dim[1], b = parts.dim[2];
  if (memcmp(perm, (int64_t[]){0, 2, 1, 3, 4}, 5 * sizeof *perm) != 0 || x.type != GRAPH_F32) return false;
  if (x.rank != 4 || !graph_same_shape(&x, &y) || a * b != x.dim[1] || parts.dim[0] != x.dim[0] ||
      parts.dim[3] != x.dim[2])
    return false;
  int64_t *order = WF_ARENA_ARRAY(g->arena, (size_t)(a * b), int64_t);
  for (int64_t i = 0; i < a; i++)
    for (int64_t j = 0; j < b; j++) order[j * a + i] = i * b + j;
  add_gather(g, node->name, split->inputs[0], order, a * b, node->outputs[0]);
  return true;
}

// ---- parts of gathers, and convolutions of them

// The places of a gather of channels; NULL: it is something else.
static const int64_t *order_of(const graph *g, const graph_node *node, int64_t *count) {
  int64_t axis = graph_int(node, "axis", 0);
  const graph_tensor *x = &g->tensors[node->inputs[0]], *indices = &g->tensors[node->inputs[1]];
  if (axis < 0) axis += x->rank;
  if (axis != CHANNELS || x->rank != 4 || x->type != GRAPH_F32 || indices->data == NULL || indices->type != GRAPH_I64 ||
      indices->rank != 1)
    return NULL;
  *count = indices->dim[0];
  for (int64_t i = 0; i < *count; i++)
    if (((const int64_t *)indices->data)[i] < 0 || ((const int64_t *)indices->data)[i] >= x->dim[CHANNELS]) return NULL;
  return indices->data;
}

// Slices of the channels, one after the other.
static bool channel_slice(const graph *g, const graph_node *node, int64_t *from) {
  int64_t end, axis = 0, step = 1;
  if (quantise_rewrite_integers(g, node->inputs[1], from, 1) != 1 ||
      quantise_rewrite_integers(g, node->inputs[2], &end, 1) != 1)
    return false;
  if (node->input_count > 3 && node->inputs[3] != GRAPH_NONE &&
      quantise_rewrite_integers(g, node->inputs[3], &axis, 1) != 1)
    return false;
  if (node->input_count > 4 && node->inputs[4] != GRAPH_NONE &&
      quantise_rewrite_integers(g, node->inputs[4], &step, 1) != 1)
    return false;
  const graph_tensor *x = &g->tensors[node->inputs[0]];
  if (axis < 0) axis += x->rank;
  if (axis == CHANNELS && *from < 0) *from += x->dim[CHANNELS];
  return axis == CHANNELS && step == 1 && *from >= 0;
}

static bool part_of_gather(graph *g, const graph_node *gather, const graph_node *node) {
  int64_t count, from = 0;
  const int64_t *order = order_of(g, gather, &count);
  if (order == NULL || (node->op == GRAPH_OP_SLICE && !channel_slice(g, node, &from))) return false;
  int64_t axis = graph_int(node, "axis", 0);
  if (node->op == GRAPH_OP_SPLIT && axis != CHANNELS && axis != CHANNELS - 4) return false;
  for (int o = 0; o < node->output_count; o++) {
    const int64_t channels = g->tensors[node->outputs[o]].dim[CHANNELS];
    if (from + channels > count) return false;
    add_gather(g, wf_arena_format(g->arena, "%s.%d", node->name, o), gather->inputs[0], order + from, channels,
               node->outputs[o]);
    from += channels;
  }
  return true;
}

// Weights [K,C,R,S] for all `channels` of what is gathered.
static int spread_weights(graph *g, const graph_tensor *w, const int64_t *order, int64_t channels) {
  const int64_t window = w->dim[2] * w->dim[3];
  const float *from = w->data;
  float *to = WF_ARENA_ARRAY(g->arena, (size_t)(w->dim[0] * channels * window), float);
  for (int64_t k = 0; k < w->dim[0]; k++)
    for (int64_t i = 0; i < w->dim[1]; i++)
      for (int64_t r = 0; r < window; r++)
        to[(k * channels + order[i]) * window + r] += from[(k * w->dim[1] + i) * window + r];
  return quantise_rewrite_add_floats(g, w->name, 4, (int64_t[]){w->dim[0], channels, w->dim[2], w->dim[3]}, to);
}

// Products for each pixel with zeros, and with a gather (a product, too) before the convolution.
static bool is_worth(const graph_tensor *w, int64_t channels) {
  const int64_t window = w->dim[2] * w->dim[3];
  return w->dim[0] * channels * window <= w->dim[0] * w->dim[1] * window + channels * w->dim[1];
}

static bool conv_of_gather(graph *g, const graph_node *gather, const graph_node *node) {
  int64_t count;
  const int64_t *order = order_of(g, gather, &count), channels = g->tensors[gather->inputs[0]].dim[CHANNELS];
  const graph_tensor w = g->tensors[node->inputs[1]];
  if (order == NULL || graph_int(node, "group", 1) != 1 || quantise_rewrite_floats(g, node->inputs[1]) == NULL ||
      w.rank != 4 || !is_worth(&w, channels))
    return false;
  graph_node *made = quantise_rewrite_keep(g, node);
  int *inputs = WF_ARENA_ARRAY(g->arena, (size_t)node->input_count, int);
  memcpy(inputs, node->inputs, (size_t)node->input_count * sizeof *inputs);
  inputs[0] = gather->inputs[0];
  inputs[1] = spread_weights(g, &w, order, channels);
  g->nodes[made - g->nodes].inputs = inputs;
  return true;
}

// ---- the pass

typedef struct pass {
  graph *g;
  const quantise_pins *pins;
  quantise_rewrite_index index;  // of the nodes before
  int *maker;                    // by tensor, as far as they were there before: the node among the new ones
  int tensors;
} pass;

// The new node that makes a tensor, if that is a gather; it is copied, because nodes move when some are added.
static bool find_gather(const pass *p, const graph_node *node, graph_node *gather) {
  const int x = node->input_count > 0 ? node->inputs[0] : GRAPH_NONE;
  if (x < 0 || x >= p->tensors || p->maker[x] == GRAPH_NONE || quantise_pin_of(p->pins, x)->scale > 0) return false;
  *gather = p->g->nodes[p->maker[x]];
  return gather->op == GRAPH_OP_GATHER;
}

static bool replace(const pass *p, const graph_node *node) {
  graph_node gather;
  if (node->op == GRAPH_OP_RESHAPE) return shuffle(p->g, p->pins, &p->index, node);
  if (node->op != GRAPH_OP_SLICE && node->op != GRAPH_OP_SPLIT && node->op != GRAPH_OP_CONV) return false;
  if (!find_gather(p, node, &gather)) return false;
  if (node->op != GRAPH_OP_CONV) return part_of_gather(p->g, &gather, node);
  return quantise_pin_of(p->pins, node->inputs[1])->scale <= 0 && conv_of_gather(p->g, &gather, node);
}

static void note_makers(pass *p, int from) {
  for (int n = from; n < p->g->node_count; n++)
    for (int o = 0; o < p->g->nodes[n].output_count; o++) {
      const int out = p->g->nodes[n].outputs[o];
      if (out >= 0 && out < p->tensors) p->maker[out] = n;
    }
}

void quantise_fold_channels(graph *g, const quantise_pins *pins) {
  pass p = {g, pins, quantise_rewrite_index_of(g), WF_ARENA_ARRAY(g->arena, (size_t)g->tensor_count + 1, int),
            g->tensor_count};
  int count;
  for (int t = 0; t < p.tensors; t++) p.maker[t] = GRAPH_NONE;
  const graph_node *nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    const int made = g->node_count;
    if (!replace(&p, &nodes[n])) quantise_rewrite_keep(g, &nodes[n]);
    note_makers(&p, made);
  }
  quantise_rewrite_drop_dead(g);
}
