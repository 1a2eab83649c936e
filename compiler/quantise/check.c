// SPDX-License-Identifier: Apache-2.0
// Numbers that no int8 can stand for: constants that are no numbers, and scales that are none.
#include <float.h>
#include <math.h>

#include "compiler/quantise/convert.h"

// Products and sums over many numbers; limits of others, and masks, may be infinite.
static bool needs_finite(graph_op op) {
  static const graph_op ops[] = {GRAPH_OP_CONV,
                                 GRAPH_OP_CONV_TRANSPOSE,
                                 GRAPH_OP_GEMM,
                                 GRAPH_OP_MAT_MUL,
                                 GRAPH_OP_BATCH_NORMALIZATION,
                                 GRAPH_OP_LAYER_NORMALIZATION,
                                 GRAPH_OP_LSTM,
                                 GRAPH_OP_GRU,
                                 GRAPH_OP_RNN};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == op) return true;
  return false;
}

static bool check_constant(const graph *g, int tensor, bool finite, wf_diag *diag) {
  const float *values = quantise_rewrite_floats(g, tensor);
  const int64_t count = values == NULL ? 0 : graph_elements(&g->tensors[tensor]);
  for (int64_t i = 0; i < count; i++) {
    if (isnan(values[i]) ? false : !finite || !isinf(values[i])) continue;
    wf_error(diag, wf_in_file(g->name), "tensor %s: element %lld is %s, for which no int8 can stand",
             g->tensors[tensor].name, (long long)i, isnan(values[i]) ? "no number (NaN)" : "infinite");
    return false;
  }
  return true;
}

bool quantise_check(const graph *model, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  bool *seen = WF_ARENA_ARRAY(arena, (size_t)model->tensor_count + 1, bool), good = true;
  for (int n = 0; n < model->node_count; n++) {
    const graph_node *node = &model->nodes[n];
    const bool finite = needs_finite(node->op);
    for (int i = 0; i < node->input_count; i++) {
      const int t = node->inputs[i];
      if (t == GRAPH_NONE || seen[t]) continue;
      seen[t] = finite;  // a reader that is content with less may come before one that is not
      good = check_constant(model, t, finite, diag) && good;
    }
  }
  wf_arena_destroy(arena);
  return good;
}

// What follows from a refused tensor would be refused, too: the first one says why.
bool quantise_convert_check_scale(quantise_converter *c, int tensor, double scale) {
  if (c->refused || (isfinite(scale) && scale >= (double)FLT_MIN && scale <= (double)FLT_MAX)) return !c->refused;
  c->refused = true;
  wf_error(c->diag, wf_in_file(c->model->name),
           "tensor %s: its int8 form would need the scale %g, which binary32 lacks", c->model->tensors[tensor].name,
           scale);
  wf_hint(c->diag, "the numbers of the model, or their products, are too large or too small");
  return false;
}
