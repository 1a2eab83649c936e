// SPDX-License-Identifier: Apache-2.0
// Concatenations along the last dimension, as of channels: a part that is made by a copy is copied to where the whole
// has it, and is in no memory of its own.
#include "compiler/network/private.h"

static bool is_rename(const graph_node *node) {
  return node->op == GRAPH_OP_RESHAPE || node->op == GRAPH_OP_SQUEEZE || node->op == GRAPH_OP_UNSQUEEZE ||
         node->op == GRAPH_OP_FLATTEN;
}

static int64_t last_of(const network_lowering *l, int tensor) {
  const graph_tensor *t = network_lower_tensor(l, tensor);
  return t->rank == 0 ? 0 : t->dim[t->rank - 1];
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

// The place of an input of the node from which its last dimension begins.
static int64_t columns_before(const network_lowering *l, const graph_node *concat, int tensor) {
  int64_t columns = 0;
  for (int i = 0; concat->inputs[i] != tensor; i++) columns += last_of(l, concat->inputs[i]);
  return columns;
}

// The concatenation that alone reads the tensor, perhaps by another name, whose rows are the same; NULL: none does.
static const graph_node *concat_of(const network_lowering *l, int *tensor) {
  const int64_t last = last_of(l, *tensor);
  const graph_node *reader = l->reader[*tensor];
  while (reader != NULL && is_rename(reader) && reader->inputs[0] == *tensor &&
         last_of(l, reader->outputs[0]) == last) {
    *tensor = reader->outputs[0];
    reader = l->reader[*tensor];
  }
  if (reader == NULL || reader->op != GRAPH_OP_CONCAT) return NULL;
  const int rank = network_lower_tensor(l, *tensor)->rank;
  const int64_t axis = graph_int(reader, "axis", 0);
  return axis == rank - 1 || axis == -1 ? reader : NULL;
}

bool network_lower_joins(network_lowering *l, const graph_node *maker, network_lower_view *view) {
  int tensor = maker->outputs[0];
  network_lower_view whole;
  if (!copies_rows(l, maker)) return false;
  const graph_node *concat = concat_of(l, &tensor);
  if (concat == NULL) return false;
  if (view == NULL) return true;
  if (!network_lower_view_of(l, concat->outputs[0], &whole)) return false;
  const int64_t row = last_of(l, maker->outputs[0]), all = last_of(l, concat->outputs[0]);
  view->place = whole.place;
  view->place.offset += (uint64_t)columns_before(l, concat, tensor) * view->element_bytes;
  for (int d = 0; d + 1 < view->rank; d++) view->step[d] = view->step[d] / row * all;
  return true;
}

bool network_lower_is_joined(network_lowering *l, int tensor) {
  const graph_node *maker = l->maker[tensor];
  while (maker != NULL && is_rename(maker)) maker = l->maker[maker->inputs[0]];
  if (maker == NULL || !network_lower_joins(l, maker, NULL)) return false;
  int part = maker->outputs[0];
  for (;;) {  // of its names the one at hand, in front of the concatenation
    if (part == tensor) return true;
    const graph_node *reader = l->reader[part];
    if (reader == NULL || !is_rename(reader)) return false;
    part = reader->outputs[0];
  }
}
