// SPDX-License-Identifier: Apache-2.0
// Placed graphs as layer tables: see graph.h.
#include "search/layers/graph.h"

#include <string.h>

static layers_layer plain(const graph_node *node) {
  layers_layer layer = {.name = node->name, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  for (int i = 0; i < BLOCK_DIMS; i++) layer.size[i] = 1;
  return layer;
}

// x [N,H,W,C], w [R,S,C/groups,K]; the results before pooling.
static layers_layer of_conv(const graph *g, const graph_node *node) {
  const graph_tensor *x = &g->tensors[node->inputs[0]], *w = &g->tensors[node->inputs[1]];
  layers_layer layer = plain(node);
  int64_t pads[4] = {0};
  graph_ints(node, "pads", pads, 4);
  graph_ints(node, "strides", layer.stride, 2);
  graph_ints(node, "dilations", layer.dilation, 2);
  layer.size[BLOCK_DIM_N] = x->dim[0];
  layer.size[BLOCK_DIM_R] = w->dim[0];
  layer.size[BLOCK_DIM_S] = w->dim[1];
  layer.size[BLOCK_DIM_C] = x->dim[3];
  layer.size[BLOCK_DIM_K] = w->dim[3];
  for (int i = 0; i < 2; i++) {
    const int64_t room = x->dim[1 + i] + pads[i] + pads[2 + i] - layer.dilation[i] * (w->dim[i] - 1) - 1;
    layer.size[i == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q] = room / layer.stride[i] + 1;
  }
  layers_set_groups(&layer, graph_int(node, "groups", 1));
  return layer;
}

static layers_layer of_product(const graph *g, const graph_node *node) {
  const graph_tensor *a = &g->tensors[node->inputs[0]], *b = &g->tensors[node->inputs[1]],
                     *y = &g->tensors[node->outputs[0]];
  layers_layer layer = plain(node);
  const bool turned = graph_int(node, "transA", 0) != 0;
  layer.size[BLOCK_DIM_P] = y->dim[y->rank - 2];
  layer.size[BLOCK_DIM_K] = y->dim[y->rank - 1];
  layer.size[BLOCK_DIM_C] = a->dim[a->rank - (turned ? 2 : 1)];
  for (int i = 0; i < y->rank - 2; i++)
    if (b->rank == 2)
      layer.size[BLOCK_DIM_P] *= y->dim[i];  // rows of one product
    else
      layer.count *= y->dim[i];
  return layer;
}

static bool same_layer(const layers_layer *a, const layers_layer *b) {
  return memcmp(a->size, b->size, sizeof a->size) == 0 && memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
         memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 && a->groups == b->groups &&
         a->depthwise == b->depthwise;
}

// A stride that is never taken says nothing.
static void simplify(layers_layer *layer) {
  if (layer->size[BLOCK_DIM_P] == 1) layer->stride[0] = 1;
  if (layer->size[BLOCK_DIM_Q] == 1) layer->stride[1] = 1;
  if (layer->size[BLOCK_DIM_R] == 1) layer->dilation[0] = 1;
  if (layer->size[BLOCK_DIM_S] == 1) layer->dilation[1] = 1;
}

void layers_of_graph(layers_network *network, const graph *placed) {
  wf_arena *arena = wf_arena_create();
  *network = (layers_network){.arena = arena,
                              .name = wf_arena_text(arena, placed->name, strlen(placed->name)),
                              .description = wf_arena_format(arena, "layers of the network %s", placed->name)};
  size_t room = 0;
  for (int n = 0; n < placed->node_count; n++) {
    const graph_node *node = &placed->nodes[n];
    if (node->op != GRAPH_OP_QCONV && node->op != GRAPH_OP_QMAT_MUL) continue;
    layers_layer layer = node->op == GRAPH_OP_QCONV ? of_conv(placed, node) : of_product(placed, node);
    simplify(&layer);
    size_t i = 0;
    while (i < network->count && !same_layer(&network->layers[i], &layer)) i++;
    if (i < network->count) {
      network->layers[i].count += layer.count;
      continue;
    }
    layer.name = wf_arena_text(arena, layer.name, strlen(layer.name));
    *WF_ARENA_PUSH(arena, network->layers, network->count, &room) = layer;
  }
}
