// SPDX-License-Identifier: Apache-2.0
// The arithmetic is that of the engines (sim/ref/norm.h), command by command. See unit_rows.h.
#include "compiler/graph/unit_rows.h"

#include "arch/config.h"
#include "compiler/graph/call.h"
#include "sim/ref/norm.h"
#include "sim/ref/numeric.h"

// ---- attributes

enum { CONSTANTS = 4 };

graph_unit graph_unit_of(const graph_node *node, const graph_tensor *lengths) {
  int64_t gains[2] = {1, 1}, c[CONSTANTS] = {0};
  const int count = graph_ints(node, "gains", gains, 2);
  const int64_t offset = graph_int(node, "offset", 0);
  graph_ints(node, "constants", c, CONSTANTS);
  graph_unit unit = {.op = node->op,
                     .gain = {(int32_t)gains[0], (int32_t)gains[count > 1 ? 1 : 0]},
                     .two_copies = count > 1 || offset != 0,
                     .offset = (int32_t)offset,
                     .constants = {(int32_t)c[0], (int32_t)c[1], (int32_t)c[2], (int32_t)c[3]},
                     .scale = graph_float(node, "scale", 1),
                     .centred = graph_int(node, "center", 1) != 0};
  if (lengths != NULL) {
    unit.lengths = lengths->data;
    unit.length_count = graph_elements(lengths);
  }
  return unit;
}

void graph_unit_set(graph *g, graph_node *node, const graph_unit *unit) {
  const int64_t gains[2] = {unit->gain[0], unit->gain[1]};
  const graph_unit_constants *k = &unit->constants;
  const int64_t constants[CONSTANTS] = {k->b, k->c, k->ln2, k->ln2_inverse};
  graph_set_ints(g, node, "gains", gains, unit->op == GRAPH_OP_QNORM_UNIT && unit->two_copies ? 2 : 1);
  if (unit->op != GRAPH_OP_QNORM_UNIT) graph_set_ints(g, node, "constants", constants, CONSTANTS);
  if (unit->offset != 0) graph_set_int(g, node, "offset", unit->offset);
  if (unit->op == GRAPH_OP_QGELU_UNIT) graph_set_float(g, node, "scale", unit->scale);
  if (unit->op == GRAPH_OP_QNORM_UNIT && !unit->centred) graph_set_int(g, node, "center", 0);
}

// ---- inference

static bool check_gains(graph_call *c) {
  int64_t gains[2] = {1, 1};
  const int count = graph_ints(c->node, "gains", gains, 2);
  if (count < 1 || count > 2) return graph_call_fail(c, "it needs one or two gains");
  for (int i = 0; i < count; i++)
    if (gains[i] < 1 || gains[i] > GRAPH_UNIT_GAIN_MAX)
      return graph_call_fail(c, "a gain is not in 1..%d", GRAPH_UNIT_GAIN_MAX);
  if (count == 2 && c->node->op != GRAPH_OP_QNORM_UNIT) return graph_call_fail(c, "it has one gain");
  const int64_t offset = graph_int(c->node, "offset", 0);
  if (offset < 0 || offset > GRAPH_UNIT_OFFSET_MAX || (offset != 0 && c->node->op != GRAPH_OP_QSOFTMAX_UNIT))
    return graph_call_fail(c, "its offset is not one of softmax in 0..%d", GRAPH_UNIT_OFFSET_MAX);
  return true;
}

static bool check_lengths(graph_call *c, const graph_tensor *x, const graph_tensor *lengths) {
  const int64_t width = x->dim[x->rank - 1], count = graph_elements(lengths);
  const int32_t *values = lengths->data;
  if (lengths->type != GRAPH_I32 || values == NULL || count < 1 || graph_elements(x) % (count * width) != 0)
    return graph_call_fail(c, "its lengths do not fit its rows");
  for (int64_t i = 0; i < count; i++)
    if (values[i] < 1 || values[i] > width) return graph_call_fail(c, "a length is not in 1..%d", (int)width);
  return true;
}

bool graph_infer_unit_rows(graph_call *c) {
  enum { WIDTH_MAX = 1 << 15 };  // counts have 16 bits
  const graph_tensor *x = c->in[0], *lengths = c->in[1];
  if (x->rank == 0 || x->dim[x->rank - 1] < 1 || x->dim[x->rank - 1] > WIDTH_MAX)
    return graph_call_fail(c, "it takes rows of 1 to %d int8", WIDTH_MAX);
  if (!check_gains(c)) return false;
  if (lengths != NULL && c->node->op != GRAPH_OP_QSOFTMAX_UNIT) return graph_call_fail(c, "it has no lengths");
  if (lengths != NULL && !check_lengths(c, x, lengths)) return false;
  return graph_call_like(c, 0, 0);
}

// ---- rows

static ref_narrow narrow_of(const graph_unit *unit) {
  const graph_unit_constants *c = &unit->constants;
  const uint32_t activation = unit->op == GRAPH_OP_QSOFTMAX_UNIT ? ARCH_ACTIVATION_SOFTMAX
                              : unit->op == GRAPH_OP_QNORM_UNIT  ? ARCH_ACTIVATION_LAYERNORM
                                                                 : ARCH_ACTIVATION_IGELU;
  return (ref_narrow){.normaliser = true,
                      .activation = activation,
                      .scale = ref_bits_of_float(unit->scale),
                      .qb = c->b,
                      .qc = c->c,
                      .qln2 = c->ln2,
                      .qln2_inverse = c->ln2_inverse};
}

typedef struct unit_row {
  ref_narrow how;
  ref_stats stats;
  const int8_t *x;
  int64_t count;
} unit_row;

// A statistics command over all columns of gain * x + offset: `last` for the last one, what only collects before.
static void command(unit_row *r, int32_t gain, int32_t offset, arch_norm last) {
  for (int64_t i = 0; i < r->count; i++) {
    const int32_t value = gain * r->x[i] + offset;
    ref_stats_row(&r->stats, i + 1 < r->count ? ref_norm_collecting(last) : last, &r->how, &value, 1);
  }
}

static void store(unit_row *r, int32_t gain, int8_t *y) {
  for (int64_t i = 0; i < r->count; i++) {
    const int32_t value = gain * r->x[i];
    ref_narrow_row(&r->how, &r->stats, &value, 1, y + i);
  }
}

static void take_statistics(unit_row *r, const graph_unit *unit) {
  if (unit->op == GRAPH_OP_QSOFTMAX_UNIT) {
    command(r, unit->gain[0], 0, ARCH_NORM_MAX);
    command(r, unit->gain[0], -unit->offset, ARCH_NORM_INV_SUM_EXP);
  } else if (unit->op == GRAPH_OP_QNORM_UNIT) {
    if (unit->centred) command(r, unit->gain[0], 0, ARCH_NORM_MEAN);
    command(r, unit->gain[0], 0, ARCH_NORM_INV_STDDEV);
    if (unit->centred && unit->two_copies) command(r, unit->gain[1], 0, ARCH_NORM_MEAN);
  }
}

void graph_unit_row(const graph_unit *unit, int64_t row, const int8_t *x, int64_t count, int8_t *y) {
  const int64_t length = unit->lengths == NULL ? count : unit->lengths[row % unit->length_count];
  unit_row r = {.how = narrow_of(unit), .x = x, .count = length};
  ref_stats_clear(&r.stats);
  take_statistics(&r, unit);
  store(&r, unit->op == GRAPH_OP_QNORM_UNIT ? unit->gain[1] : unit->gain[0], y);
  for (int64_t i = length; i < count; i++) y[i] = 0;
}

bool graph_run_unit_rows(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const graph_unit unit = graph_unit_of(c->node, c->in[1]);
  const int64_t width = x->dim[x->rank - 1], rows = graph_elements(x) / width;
  for (int64_t r = 0; r < rows; r++)
    graph_unit_row(&unit, r, (const int8_t *)x->data + r * width, width, (int8_t *)c->to[0] + r * width);
  return true;
}
