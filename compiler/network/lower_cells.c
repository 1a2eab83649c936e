// SPDX-License-Identifier: Apache-2.0
// Cells of LSTMs on the hart: QCell and QHidden.
#include "compiler/network/private.h"

// A call over the rows of the result, with the gates behind operand 1 and their table behind operand 2.
static network_call *over_gates(network_lowering *l, enum weft_host_op op) {
  network_lower_view gates, table, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &gates) || !network_lower_view_of(l, l->node->inputs[1], &table) ||
      !network_lower_view_of(l, l->node->outputs[0], &y))
    return NULL;
  network_call *call = network_lower_call(l, network_lower_host(l), op);
  table.rank = 0;
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &gates);
  network_lower_set(call, 2, &table);
  call->call.outer = (uint32_t)(y.rank - 1);
  return call;
}

static bool add_states(network_lowering *l, network_call *call) {
  network_lower_view states;
  if (!network_lower_view_of(l, l->node->inputs[2], &states)) return false;
  network_lower_set(call, 3, &states);
  return true;
}

bool network_lower_qcell(network_lowering *l) {
  network_call *call = over_gates(l, WEFT_HOST_QCELL);
  const bool has_states = network_lower_has(l->node, 2);
  if (call == NULL || (has_states && !add_states(l, call))) return false;
  call->call.integer[0] = has_states;
  network_lower_squeeze(call);
  return true;
}

bool network_lower_qhidden(network_lowering *l) {
  network_call *call = over_gates(l, WEFT_HOST_QHIDDEN);
  if (call == NULL || !add_states(l, call)) return false;
  call->call.number[0] = graph_float(l->node, "scale", 1);
  network_lower_squeeze(call);
  return true;
}
