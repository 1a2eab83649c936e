// SPDX-License-Identifier: Apache-2.0
// Draws products: configuration, weight-stationary series and output-stationary chains.
#include "sim/gen/gen_private.h"

enum { SERIES = 6, CHAIN = 4 };

typedef struct operand {
  uint32_t local;
  int64_t rows, cols;
} operand;

static uint64_t word_of(operand o) { return sim_gen_operand(o.local, o.rows, o.cols); }

static bool config_ex(sim_gen *g, bool ws) {
  bool transposes = g->array->units.transposer && sim_gen_has(g, GEN_TRANSPOSE);
  int64_t transpose = transposes ? sim_gen_in(&g->r, 0, 2) : 0;
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_ex(&rs1, &rs2);
#define SET(field, value) isa_set_config_ex_##field(&rs1, &rs2, (uint64_t)(value))
  SET(dataflow, ws);
  SET(activation, g->array->units.activation ? sim_gen_in(&g->r, 0, 1) : 0);
  SET(a_transpose, transpose == 1 || (transpose == 2 && !ws));
  SET(b_transpose, transpose == 2);
  SET(a_stride, sim_gen_in(&g->r, sim_gen_one_in(&g->r, 8) ? 0 : 1, sim_gen_one_in(&g->r, 2) ? 1 : 3));
  SET(c_stride, ws && sim_gen_one_in(&g->r, 2) ? sim_gen_in(&g->r, 1, 3) : 1);
  SET(in_shift, sim_gen_in(&g->r, 0, sim_gen_one_in(&g->r, 4) ? 31 : 8));
  SET(acc_scale, sim_gen_one_in(&g->r, 2) ? ARCH_SCALE_ONE : sim_gen_wild_scale(g));
  sim_gen_put(g, ISA_FUNCT_CONFIG_EX, rs1, rs2);
  if (!sim_gen_commit(g)) return false;
  if (!sim_gen_one_in(&g->r, 6)) return true;
  // Only the strides count; the rest must be ignored.
  SET(strides_only, 1);
  SET(dataflow, !ws);
  SET(a_transpose, transpose == 0);
  SET(a_stride, sim_gen_in(&g->r, 1, 2));
#undef SET
  sim_gen_put(g, ISA_FUNCT_CONFIG_EX, rs1, rs2);
  return sim_gen_commit(g);
}

// Tall, full or tiny operands; the ones that leave rows out are the interesting ones.
static int64_t draw_side(sim_gen *g) { return sim_gen_one_in(&g->r, 2) ? g->d.dim : sim_gen_in(&g->r, 1, g->d.dim); }

static operand draw_source(sim_gen *g, bool garbage_allowed, bool transposed, int64_t stride) {
  operand o = {ARCH_LOCAL_GARBAGE, draw_side(g), draw_side(g)};
  bool reads_acc = g->array->accumulator.execute_reads && sim_gen_has(g, GEN_EXECUTE_READS_ACC);
  int64_t steps = transposed ? o.cols : o.rows;
  bool garbage = garbage_allowed && sim_gen_one_in(&g->r, 3);
  if (!garbage) o.local = sim_gen_local(g, reads_acc && sim_gen_one_in(&g->r, 4), (steps - 1) * stride + 1);
  return o;
}

static operand garbage(const sim_gen *g) { return (operand){ARCH_LOCAL_GARBAGE, g->d.dim, g->d.dim}; }

static operand draw_destination(sim_gen *g, int64_t most_rows) {
  bool acc = g->array->accumulator.execute_writes;
  bool spad = g->array->scratchpad.execute_writes && sim_gen_has(g, GEN_EXECUTE_WRITES_SPAD);
  if (sim_gen_one_in(&g->r, 8) || (!acc && !spad)) return garbage(g);
  if (acc && spad) acc = sim_gen_one_in(&g->r, 2);
  operand c = {0, sim_gen_one_in(&g->r, 2) ? most_rows : sim_gen_in(&g->r, 1, most_rows), draw_side(g)};
  c.local = sim_gen_local(g, acc, (c.rows - 1) * sim_gen_config(g)->execute.c_stride_rows + 1);
  if (acc && c.local != ARCH_LOCAL_GARBAGE && sim_gen_one_in(&g->r, 2)) c.local |= ISA_LOCAL_ACCUMULATE_MASK;
  return c;
}

static void put_pair(sim_gen *g, operand loaded, operand c, bool preloaded, operand a, operand bd) {
  sim_gen_put(g, ISA_FUNCT_PRELOAD, word_of(loaded), word_of(c));
  sim_gen_put(g, preloaded ? ISA_FUNCT_COMPUTE_PRELOADED : ISA_FUNCT_COMPUTE_ACCUMULATED, word_of(a), word_of(bd));
}

static bool draws_bias(sim_gen *g) { return !g->array->mesh.bias_garbage && !sim_gen_one_in(&g->r, 3); }

static void weight_stationary(sim_gen *g) {
  const arch_execute_config *c = &sim_gen_config(g)->execute;
  int64_t count = sim_gen_in(&g->r, 1, SERIES);
  bool known = false, plain = sim_gen_one_in(&g->r, 2);
  for (int64_t n = 0; n < count; n++) {
    bool fresh = !known || sim_gen_one_in(&g->r, 2);
    operand weights = fresh ? draw_source(g, true, c->b_transpose, 1) : garbage(g);
    if (!fresh && sim_gen_one_in(&g->r, 4)) weights = draw_source(g, true, c->b_transpose, 1);
    operand a = draw_source(g, false, c->a_transpose, c->a_stride_rows);
    operand d = !plain && draws_bias(g) ? draw_source(g, true, false, 1) : garbage(g);
    put_pair(g, weights, draw_destination(g, a.rows), fresh, a, d);
    known |= sim_gen_commit(g) && fresh;
    c = &sim_gen_config(g)->execute;
  }
}

static void output_stationary(sim_gen *g) {
  int64_t count = sim_gen_in(&g->r, 1, CHAIN);
  for (int64_t n = 0; n < count; n++) {
    const arch_execute_config *c = &sim_gen_config(g)->execute;
    operand bias = n == 0 ? draw_source(g, true, false, 1) : garbage(g);
    operand a = draw_source(g, false, c->a_transpose, c->a_stride_rows);
    operand b = draw_source(g, true, c->b_transpose, 1);
    operand result = n + 1 < count ? garbage(g) : draw_destination(g, g->d.dim);
    if (n + 1 == count && result.local == ARCH_LOCAL_GARBAGE) {
      result = (operand){sim_gen_local(g, g->array->accumulator.execute_writes, g->d.dim), g->d.dim, g->d.dim};
      if (result.local == ARCH_LOCAL_GARBAGE) break;
    }
    put_pair(g, bias, result, n == 0, a, b);
  }
  sim_gen_commit(g);
}

void sim_gen_products(sim_gen *g) {
  bool os = g->array->mesh.dataflow != HW_DATAFLOW_WS && sim_gen_has(g, GEN_OS);
  bool ws = g->array->mesh.dataflow != HW_DATAFLOW_OS;
  if (!os && !ws) return;
  if (os && ws) ws = sim_gen_one_in(&g->r, 2);
  bool same = sim_gen_config(g)->execute.weight_stationary == ws;
  if ((!same || sim_gen_one_in(&g->r, 2)) && !config_ex(g, ws)) return;
  if (ws) {
    weight_stationary(g);
    return;
  }
  for (int64_t chains = sim_gen_in(&g->r, 1, 3); chains > 0; chains--) output_stationary(g);
}
