// SPDX-License-Identifier: Apache-2.0
// See unit.h.
#include "compiler/network/unit.h"

#include <string.h>

#include "compiler/network/curve.h"
#include "compiler/network/curve_row.h"
#include "compiler/network/gate.h"
#include "compiler/network/held.h"
#include "compiler/network/mesh_norm.h"
#include "compiler/network/multiply.h"
#include "compiler/network/normalise.h"

bool network_unit_equal(const network_unit *a, const network_unit *b) {
  const graph_unit *x = &a->what, *y = &b->what;
  if (a->held != NULL || b->held != NULL)
    return a->held != NULL && b->held != NULL && memcmp(a->held, b->held, sizeof *a->held) == 0;
  if (a->curve != NULL || b->curve != NULL)
    return a->curve != NULL && b->curve != NULL && a->rows == b->rows && a->cols == b->cols &&
           graph_curve_equal(a->curve, b->curve);
  return a->rows == b->rows && a->cols == b->cols && x->op == y->op && x->two_copies == y->two_copies &&
         memcmp(x->gain, y->gain, sizeof x->gain) == 0 && x->centred == y->centred &&
         memcmp(&x->constants, &y->constants, sizeof x->constants) == 0 && x->offset == y->offset &&
         memcmp(&x->scale, &y->scale, sizeof x->scale) == 0 && x->lengths == y->lengths;
}

const char *network_unit_name(const network_unit *unit) {
  return unit->held != NULL                        ? "held_product"
         : unit->is_row                            ? "curve_row"
         : unit->curve != NULL                     ? "curve"
         : unit->what.op == GRAPH_OP_QSOFTMAX_UNIT ? "softmax_unit"
         : unit->what.op == GRAPH_OP_QNORM_UNIT    ? "norm_unit"
         : unit->what.op == GRAPH_OP_QNORM_MESH    ? "norm_mesh"
         : unit->what.op == GRAPH_OP_QMUL          ? network_gate_name(unit)
                                                   : "gelu_unit";
}

command_program *network_unit_program(const network_unit *unit, const hw_array *array, wf_diag *diag) {
  if (unit->held != NULL) return network_held_program(unit, array);
  if (unit->is_row) return network_curve_row_program(unit, array);
  if (unit->curve != NULL) return network_curve_program(unit, array, diag);
  if (unit->what.op == GRAPH_OP_QNORM_MESH) return network_mesh_norm_program(unit, array);
  if (unit->what.op == GRAPH_OP_QMUL && unit->what.gain[1] == NETWORK_GATE_ELEMENTS)
    return network_multiply_program(unit, array);
  if (unit->what.op == GRAPH_OP_QMUL) return network_gate_program(unit, array);
  return network_normalise_program(unit, array, diag);
}
