// Products: capabilities, sizes and rows of the operands. See check.h.
#include <inttypes.h>

#include "sim/check_private.h"

typedef struct operand {
  const char *name;
  sim_local at;
  uint32_t rows, cols;
} operand;

static bool check_dataflow(sim_checker *checker, bool weight_stationary) {
  uint32_t has = checker->array->mesh.dataflow;
  if (weight_stationary && has == HW_DATAFLOW_OS)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "this array is output-stationary only");
  if (!weight_stationary && has == HW_DATAFLOW_WS)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "this array is weight-stationary only");
  return true;
}

bool check_config_ex(sim_checker *checker, uint64_t rs1, uint64_t rs2) {
  if (isa_get_config_ex_strides_only(rs1, rs2)) return true;
  bool transposes = isa_get_config_ex_a_transpose(rs1, rs2) || isa_get_config_ex_b_transpose(rs1, rs2);
  if (transposes && !checker->array->units.transposer)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "this array cannot transpose operands");
  if (isa_get_config_ex_activation(rs1, rs2) == SIM_ACTIVATION_RELU && !checker->array->units.activation)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "this array has no ReLU unit");
  return check_dataflow(checker, isa_get_config_ex_dataflow(rs1, rs2) == ISA_CONFIG_EX_DATAFLOW_WS);
}

static bool check_size(sim_checker *checker, const operand *o) {
  uint32_t dim = checker->derived.dim;
  if (o->rows <= dim && o->cols <= dim) return true;
  return check_fail(checker, SIM_FAULT_ILLEGAL, "%s has %u rows and %u columns, at most %u", o->name, o->rows, o->cols,
                    dim);
}

// An operand that is read: `count` rows from its address on.
static bool check_operand(sim_checker *checker, const operand *o, bool transposed, uint32_t stride) {
  if (o->at.garbage) return true;
  if (!check_size(checker, o)) return false;
  if (o->rows == 0 || o->cols == 0) return true;
  if (o->at.accumulator && !checker->array->accumulator.execute_reads)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "%s is in the accumulator, which this array cannot multiply from",
                      o->name);
  if (o->at.accumulator && !checker->array->accumulator.narrow_reads)
    return check_fail(checker, SIM_FAULT_ILLEGAL,
                      "%s is in the accumulator, whose rows this array cannot scale to int8", o->name);
  return check_rows(checker, o->name, o->at.accumulator, o->at.row, transposed ? o->cols : o->rows, stride);
}

// Output-stationary results leave from the last row of the array upwards.
static bool check_result_rows(sim_checker *checker, const check_preload *preload) {
  const sim_execute_config *c = &checker->config.execute;
  int64_t stride = c->c_stride_rows, first = preload->c.row, count = preload->c_rows;
  if (!c->weight_stationary) first += (checker->derived.dim - 1) * (1 - stride);
  return check_rows(checker, "C", preload->c.accumulator, first, count, stride);
}

static bool check_result(sim_checker *checker, const check_preload *preload) {
  operand c = {.name = "C", .rows = preload->c_rows, .cols = preload->c_cols};
  if (preload->c.garbage) return true;
  if (!check_size(checker, &c)) return false;
  if (c.rows == 0 || c.cols == 0) return true;
  if (preload->c.accumulator && !checker->array->accumulator.execute_writes)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "C is in the accumulator, which this array cannot write");
  if (!preload->c.accumulator && !checker->array->scratchpad.execute_writes)
    return check_fail(checker, SIM_FAULT_ILLEGAL, "C is in the scratchpad, which this array cannot write");
  return check_result_rows(checker, preload);
}

bool check_preload_command(sim_checker *checker, uint64_t rs1, uint64_t rs2) {
  const sim_execute_config *config = &checker->config.execute;
  operand loaded = {.name = config->weight_stationary ? "B" : "D",
                    .at = sim_local_decode(&checker->derived, isa_get_preload_local(rs1, rs2)),
                    .rows = (uint32_t)isa_get_preload_rows(rs1, rs2),
                    .cols = (uint32_t)isa_get_preload_cols(rs1, rs2)};
  check_preload preload = {.armed = true,
                           .c = sim_local_decode(&checker->derived, isa_get_preload_dest(rs1, rs2)),
                           .c_rows = (uint32_t)isa_get_preload_dest_rows(rs1, rs2),
                           .c_cols = (uint32_t)isa_get_preload_dest_cols(rs1, rs2)};
  bool transposed = config->weight_stationary && config->b_transpose;
  if (!check_dataflow(checker, config->weight_stationary) || !check_operand(checker, &loaded, transposed, 1) ||
      !check_result(checker, &preload))
    return false;
  // A preload that no compute has used yet passes on its own, with the strides of now.
  if (checker->preload.armed && !checker->preload.c.garbage) {
    if (!check_result(checker, &checker->preload)) return false;
    if (!config->weight_stationary) checker->sums_left = true;
  }
  checker->preload = preload;
  return true;
}

// The sums of an output-stationary chain leave the array with the first result address. Programs that add to them
// afterwards run (timing programs do it), but what they add to is undefined.
static void follow_chain(sim_checker *checker, bool preloaded) {
  if (checker->config.execute.weight_stationary) return;
  if (!preloaded && checker->sums_left) checker->undefined++;
  checker->sums_left = checker->preload.armed && !checker->preload.c.garbage;
}

bool check_compute(sim_checker *checker, bool preloaded, uint64_t rs1, uint64_t rs2) {
  const sim_execute_config *config = &checker->config.execute;
  bool ws = config->weight_stationary;
  operand a = {.name = "A",
               .at = sim_local_decode(&checker->derived, isa_get_compute_preloaded_a(rs1, rs2)),
               .rows = (uint32_t)isa_get_compute_preloaded_a_rows(rs1, rs2),
               .cols = (uint32_t)isa_get_compute_preloaded_a_cols(rs1, rs2)};
  operand bd = {.name = ws ? "D" : "B",
                .at = sim_local_decode(&checker->derived, isa_get_compute_preloaded_bd(rs1, rs2)),
                .rows = (uint32_t)isa_get_compute_preloaded_bd_rows(rs1, rs2),
                .cols = (uint32_t)isa_get_compute_preloaded_bd_cols(rs1, rs2)};
  if (ws && checker->array->mesh.bias_garbage) bd.at.garbage = true;
  if (!check_dataflow(checker, ws)) return false;
  follow_chain(checker, preloaded);
  if (!check_operand(checker, &a, config->a_transpose, config->a_stride_rows) ||
      !check_operand(checker, &bd, !ws && config->b_transpose, 1))
    return false;
  if (checker->preload.armed && !check_result(checker, &checker->preload)) return false;
  checker->preload.armed = false;
  return true;
}
