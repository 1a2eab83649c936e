// SPDX-License-Identifier: Apache-2.0
// Int4, two a byte: a cache of keys and values that the array widens as it loads it. A QWiden4 is no step: its result
// is in memory as the bytes that it reads, and the kernels of products load these as their second operand, which is the
// stationary one. Nothing else can read it. A QPack4 is the hart's.
#include "compiler/network/private.h"

// The node's result is its operand by another name, or with other strides.
static bool keeps_bytes(const network_lowering *l, const graph_node *node) {
  switch (node->op) {
    case GRAPH_OP_RESHAPE:
    case GRAPH_OP_SQUEEZE:
    case GRAPH_OP_UNSQUEEZE:
    case GRAPH_OP_FLATTEN:
    case GRAPH_OP_IDENTITY:
      return true;
    default:
      return network_lower_is_strided(l, node);
  }
}

const graph_node *network_lower_packed(const network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  while (maker != NULL && maker->op != GRAPH_OP_QWIDEN4)
    maker = keeps_bytes(l, maker) ? l->maker[maker->inputs[0]] : NULL;
  return maker;
}

// One product after the other loads its second operand as it lies.
static bool multiplies(const network_lowering *l, const graph_node *node) {
  return network_lower_is_batched(l, node) || (node->op == GRAPH_OP_QMAT_MUL && graph_int(node, "transB", 0) == 0 &&
                                               network_lower_tensor(l, node->inputs[0])->rank >= 2);
}

static bool keeps_last(const graph_tensor *a, const graph_tensor *b) {
  return a->rank > 0 && b->rank > 0 && a->dim[a->rank - 1] == b->dim[b->rank - 1];
}

// A reader of a packed tensor that cannot read it so; NULL: all can. Rows stay as they are on the way.
static const graph_node *find_refusing(const network_lowering *l, int tensor) {
  for (int n = 0; n < l->g->node_count; n++) {
    const graph_node *node = &l->g->nodes[n];
    for (int i = 0; i < node->input_count; i++) {
      if (node->inputs[i] != tensor) continue;
      if (i == 1 && multiplies(l, node)) continue;
      const bool moves = i == 0 && keeps_bytes(l, node);
      if (!moves || !keeps_last(network_lower_tensor(l, tensor), network_lower_tensor(l, node->outputs[0])))
        return node;
      const graph_node *behind = find_refusing(l, node->outputs[0]);
      if (behind != NULL) return behind;
    }
  }
  return NULL;
}

static bool is_result(const network_lowering *l, int tensor) {
  for (int o = 0; o < l->g->output_count; o++)
    if (l->g->outputs[o] == tensor) return true;
  return false;
}

bool network_lower_widen4(network_lowering *l) {
  const int out = l->node->outputs[0];
  if (!l->array->load.packed_int4) {
    network_lower_refuse(l, "array %s loads no packed int4", l->array->name);
    wf_hint(l->diag, "an array with load.packed_int4: true widens it on load");
    return false;
  }
  const graph_node *reader = find_refusing(l, out);
  if (reader != NULL)
    return network_lower_refuse(l, "%s (%s) reads packed int4, which is the second operand of products only",
                                reader->name, graph_op_name(reader->op));
  return !is_result(l, out) || network_lower_refuse(l, "packed int4 is a result");
}

// Both halves of the pairs as tensors of every other element.
bool network_lower_pack4(network_lowering *l) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_PACK4);
  network_lower_set(call, 0, &y);
  x.dim[x.rank - 1] /= 2;
  x.step[x.rank - 1] *= 2;
  network_lower_set(call, 1, &x);
  x.place.offset += 1;
  network_lower_set(call, 2, &x);
  network_lower_squeeze(call);
  return true;
}
