// SPDX-License-Identifier: Apache-2.0
// See build_unit.h.
#include "compiler/network/tests/build_unit.h"

#include <math.h>

static graph_unit_constants constants_of(double scale) {
  const double ln2 = 0.6931471805599453 / scale;
  return (graph_unit_constants){(int32_t)lrint(1.353 / scale), (int32_t)lrint(0.344 / (0.3585 * scale * scale)),
                                (int32_t)lrint(ln2), (int32_t)lrint(65536 / ln2)};
}

graph_unit build_softmax(int32_t gain, int32_t offset, double scale) {
  return (graph_unit){.op = GRAPH_OP_QSOFTMAX_UNIT,
                      .gain = {gain, gain},
                      .two_copies = offset != 0,
                      .offset = offset,
                      .constants = constants_of(scale / gain),
                      .scale = 1,
                      .centred = true};
}

graph_unit build_norm(int32_t first, int32_t second, bool centred) {
  return (graph_unit){.op = GRAPH_OP_QNORM_UNIT,
                      .gain = {first, second == 0 ? first : second},
                      .two_copies = second != 0,
                      .scale = 1,
                      .centred = centred};
}

graph_unit build_gelu(int32_t gain, double scale) {
  const double unit = scale / gain / sqrt(2.0);
  return (graph_unit){.op = GRAPH_OP_QGELU_UNIT,
                      .gain = {gain, gain},
                      .constants = {(int32_t)lrint(-1.769 / unit), (int32_t)lrint(-1 / (0.2888 * unit * unit)), 0, 0},
                      .scale = (float)(-0.2888 * unit * unit * unit / sqrt(2.0) / scale),
                      .centred = true};
}

int build_unit(graph *g, int x, const graph_unit *unit, int64_t lengths) {
  const int64_t cols = g->tensors[x].dim[g->tensors[x].rank - 1];
  int inputs[2] = {x, GRAPH_NONE};
  if (lengths > 0) {
    int32_t *counts = WF_ARENA_ARRAY(g->arena, (size_t)lengths, int32_t);
    for (int64_t i = 0; i < lengths; i++) counts[i] = (int32_t)(1 + (i * 7 + cols - 1) % cols);
    inputs[1] = build_result(g, GRAPH_I32, 1, &lengths);
    g->tensors[inputs[1]].data = counts;
  }
  const int y = build_result(g, GRAPH_I8, g->tensors[x].rank, g->tensors[x].dim);
  const char *name = wf_arena_format(g->arena, "rows%d", g->node_count);
  graph_node *node = graph_add_node(g, unit->op, name, inputs, lengths > 0 ? 2 : 1, &y, 1);
  graph_unit_set(g, node, unit);
  return y;
}
