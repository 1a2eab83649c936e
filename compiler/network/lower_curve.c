// SPDX-License-Identifier: Apache-2.0
// QCurve on the array; where the array cannot, as a table on the hart.
#include "compiler/network/curve.h"
#include "compiler/network/curve_row.h"
#include "compiler/network/private.h"

static bool by_hart(network_lowering *l, const graph_curve *curve) {
  enum { VALUES = UINT8_MAX + 1 };
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  int8_t *bytes = network_lower_alloc(l, VALUES);
  for (int q = INT8_MIN; q <= INT8_MAX; q++) bytes[q - INT8_MIN] = graph_curve_value(curve, (int8_t)q);
  const int64_t count = VALUES;
  network_lower_view table =
      network_lower_view_at(network_lower_constant(l, "curve", bytes, VALUES), WEFT_I8, 1, &count);
  table.rank = 0;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_LUT);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  network_lower_set(call, 2, &table);
  network_lower_squeeze(call);
  return true;
}

// The widest rows that a command moves and the elements fill; else those of the tensor.
static int64_t columns_of(const graph_tensor *t, const hw_derived *d) {
  const int64_t elements = graph_elements(t);
  for (int64_t columns = d->max_cols; columns >= d->dim; columns -= d->dim)
    if (elements % columns == 0) return columns;
  return t->rank == 0 ? 1 : t->dim[t->rank - 1];
}

bool network_lower_curve(network_lowering *l) {
  graph_curve *curve = network_lower_alloc(l, sizeof *curve);
  const graph_tensor *x = network_lower_input(l, 0);
  const hw_derived d = hw_derive(l->array);
  if (!graph_curve_of(l->node, curve)) return network_lower_refuse(l, "no curve");
  if (graph_elements(x) == 0 || !network_curve_fits(curve, l->array)) return by_hart(l, curve);
  const bool is_row = network_curve_row_fits(curve, graph_elements(x), l->array);
  const int64_t columns = is_row ? graph_elements(x) : columns_of(x, &d);
  const network_unit unit = {.curve = curve, .is_row = is_row, .rows = graph_elements(x) / columns, .cols = columns};
  network_lower_unit(l, &unit, network_lower_place_of(l, 0), network_lower_result(l, 0));
  return true;
}
