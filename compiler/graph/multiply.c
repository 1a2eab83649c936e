// SPDX-License-Identifier: Apache-2.0
// QMul: sat(rne(scale * (a * b))) on int8, b repeated along the dimensions in which it has 1 (docs/networks.md).
#include "compiler/graph/convolution.h"

// The step of b along each dimension of a; false: it does not fit.
static bool find_steps(const graph_tensor *a, const graph_tensor *b, int64_t *steps) {
  int64_t step = 1;
  if (b->rank > a->rank) return false;
  for (int i = 1; i <= a->rank; i++) {
    const int64_t size = i > b->rank ? 1 : b->dim[b->rank - i];
    if (size != 1 && size != a->dim[a->rank - i]) return false;
    steps[a->rank - i] = size == 1 ? 0 : step;
    step *= size;
  }
  return true;
}

bool graph_infer_qmul(graph_call *c) {
  int64_t steps[GRAPH_RANK_MAX];
  if (c->in[1]->type != GRAPH_I8 || !find_steps(c->in[0], c->in[1], steps))
    return graph_call_fail(c, "it multiplies int8 tensors of one shape, or by one that is repeated");
  return graph_call_like(c, 0, 0);
}

bool graph_run_qmul(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const int8_t *a = x->data, *b = c->in[1]->data;
  const float scale = graph_float(c->node, "scale", 1);
  int64_t steps[GRAPH_RANK_MAX], place[GRAPH_RANK_MAX] = {0}, at = 0;
  int8_t *y = c->to[0];
  if (!find_steps(x, c->in[1], steps)) return false;
  for (int64_t i = 0, n = graph_elements(x); i < n; i++) {
    y[i] = (int8_t)graph_saturate(GRAPH_I8, graph_rounded(scale * (float)(a[i] * b[at])));
    for (int d = x->rank; d-- > 0; at -= x->dim[d] * steps[d], place[d] = 0) {
      at += steps[d];
      if (++place[d] < x->dim[d]) break;
    }
  }
  return true;
}
