// SPDX-License-Identifier: Apache-2.0
// Concatenations along the last dimension, as of channels. Where the node that makes a part can store rows apart, it
// stores them into the concatenation's tensor, and the other readers of the part load them from there. A concatenation
// of neighbouring parts of a longer one lies in the longer one's tensor, so that a block of DenseNet is one tensor.
#include "compiler/network/private.h"

// ---- tensors and nodes

static int64_t last_of(const network_lowering *l, int tensor) {
  const graph_tensor *t = network_lower_tensor(l, tensor);
  return t->rank == 0 ? 0 : t->dim[t->rank - 1];
}

static bool is_along_last(const network_lowering *l, const graph_node *concat) {
  const int rank = network_lower_tensor(l, concat->outputs[0])->rank;
  const int64_t axis = graph_int(concat, "axis", 0);
  return rank >= 2 && (axis == rank - 1 || axis == -1);
}

// Copies of rows: the last dimension stays as it is.
static bool copies_rows(const network_lowering *l, const graph_node *node) {
  int64_t perm[WEFT_HOST_RANK];
  if (network_lower_tensor(l, node->outputs[0])->rank > WEFT_HOST_RANK) return false;
  if (node->op == GRAPH_OP_RESIZE) return last_of(l, node->inputs[0]) == last_of(l, node->outputs[0]);
  if (node->op != GRAPH_OP_TRANSPOSE || network_lower_is_strided(l, node)) return false;
  const int count = graph_ints(node, "perm", perm, WEFT_HOST_RANK);
  return count > 0 && perm[count - 1] == count - 1;
}

// Convolutions whose kernel stores pixels apart. Those of few results would rather have several pixels in a row of the
// array.
static bool stores_pixels(const network_lowering *l, const graph_node *conv) {
  const graph_tensor *x = network_lower_tensor(l, conv->inputs[0]), *w = network_lower_tensor(l, conv->inputs[1]);
  const int64_t groups = graph_int(conv, "groups", 1);
  if (groups > 1 && (groups != x->dim[3] || groups != w->dim[3])) return false;
  return w->dim[3] >= hw_derive(l->array).dim && graph_find_attribute(conv, "scale") != NULL;
}

// Those that load them so. Of few channels a row of the window is better loaded at once.
static bool loads_pixels(const network_lowering *l, const graph_node *conv) {
  return stores_pixels(l, conv) && network_lower_tensor(l, conv->inputs[0])->dim[3] >= hw_derive(l->array).dim;
}

// ---- who can do with columns

static int uses_of(const graph_node *node, int tensor) {
  int uses = 0;
  for (int i = 0; i < node->input_count; i++) uses += node->inputs[i] == tensor;
  return uses;
}

// Whether a node reads the tensor, which it has as an operand, in the columns of a wider one.
static bool reads_columns(const network_lowering *l, const graph_node *node, int tensor) {
  switch (node->op) {
    case GRAPH_OP_CONCAT:
      return true;
    case GRAPH_OP_QCONV:
      return uses_of(node, tensor) == 1 && node->inputs[0] == tensor && loads_pixels(l, node);
    case GRAPH_OP_QMAX_POOL:
    case GRAPH_OP_QAVERAGE_POOL:
    case GRAPH_OP_QGLOBAL_AVERAGE_POOL:
    case GRAPH_OP_RESIZE:
      return node->inputs[0] == tensor;
    case GRAPH_OP_TRANSPOSE:
      return !network_lower_is_strided(l, node);
    default:
      return false;
  }
}

static bool all_read_columns(const network_lowering *l, int tensor, const graph_node *besides) {
  for (int n = 0; n < l->g->node_count; n++) {
    const graph_node *node = &l->g->nodes[n];
    if (node != besides && uses_of(node, tensor) > 0 && !reads_columns(l, node, tensor)) return false;
  }
  return true;
}

// Whether the node that makes the tensor can store it so. Another name of the rows is the maker's under that name.
static bool is_made_in_columns(const network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  while (maker != NULL && network_lower_is_reshape(maker)) {
    const int other = maker->inputs[0];
    if (l->reader[other] != maker || last_of(l, other) != last_of(l, tensor)) return false;
    if (l->columns[other].whole != GRAPH_NONE) return false;
    maker = l->maker[other];
  }
  if (maker == NULL) return false;
  if (maker->op == GRAPH_OP_QCONV) return stores_pixels(l, maker);
  return maker->op == GRAPH_OP_CONCAT || maker->op == GRAPH_OP_QMAX_POOL || maker->op == GRAPH_OP_QAVERAGE_POOL ||
         copies_rows(l, maker);
}

static bool may_be_columns(const network_lowering *l, int tensor) {
  return l->columns[tensor].whole == GRAPH_NONE && network_lower_tensor(l, tensor)->rank >= 2 &&
         !network_lower_is_output(l, tensor) && is_made_in_columns(l, tensor) && all_read_columns(l, tensor, NULL);
}

// ---- the choice

static void set_columns(network_lowering *l, int tensor, const network_columns *columns) {
  const graph_node *maker = l->maker[tensor];
  l->columns[tensor] = *columns;
  if (maker != NULL && network_lower_is_reshape(maker)) set_columns(l, maker->inputs[0], columns);
}

// A concatenation whose parts lie in a longer one already, in their order, is there.
static void find_inside(network_lowering *l, const graph_node *concat) {
  const int whole = concat->outputs[0];
  const network_columns *first = &l->columns[concat->inputs[0]];
  if (l->columns[whole].whole != GRAPH_NONE || first->whole == GRAPH_NONE) return;
  int64_t column = first->first;
  for (int i = 0; i < concat->input_count; i++) {
    const network_columns *part = &l->columns[concat->inputs[i]];
    if (part->whole != first->whole || part->first != column) return;
    column += last_of(l, concat->inputs[i]);
  }
  if (!network_lower_is_output(l, whole) && all_read_columns(l, whole, NULL)) l->columns[whole] = *first;
}

static void choose_parts(network_lowering *l, const graph_node *concat) {
  const int whole = concat->outputs[0];
  find_inside(l, concat);
  network_columns at = l->columns[whole];
  if (at.whole == GRAPH_NONE) at = (network_columns){whole, 0, last_of(l, whole)};
  for (int i = 0; i < concat->input_count; i++) {
    const int part = concat->inputs[i];
    if (part != at.whole && may_be_columns(l, part)) set_columns(l, part, &at);
    at.first += last_of(l, part);
  }
}

void network_lower_find_columns(network_lowering *l, wf_arena *arena) {
  l->columns = WF_ARENA_ARRAY(arena, (size_t)l->g->tensor_count + 1, network_columns);
  for (int t = 0; t < l->g->tensor_count; t++) l->columns[t].whole = GRAPH_NONE;
  for (int n = l->g->node_count - 1; n >= 0; n--) {
    const graph_node *node = &l->g->nodes[n];
    if (node->op == GRAPH_OP_CONCAT && is_along_last(l, node)) choose_parts(l, node);
  }
}

// ---- what lowering asks

bool network_lower_is_columns(const network_lowering *l, int tensor) { return l->columns[tensor].whole != GRAPH_NONE; }

int64_t network_lower_pixel(const network_lowering *l, int tensor) {
  return network_lower_is_columns(l, tensor) ? l->columns[tensor].pitch : 0;
}
