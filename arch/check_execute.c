// SPDX-License-Identifier: Apache-2.0
// Products: capabilities, sizes and rows of the operands. See check.h.
//
// The verdict on an operand depends on its register and on the configuration of products alone, and rows between two
// legal ones are legal. So operands that were legal are remembered as ranges of rows, and a product between them passes
// (arch_check_product_repeats) without a look at the rules.
#include <string.h>

#include "arch/check_private.h"

typedef struct operand {
  const char *name;
  arch_local at;
  uint32_t rows, cols;
} operand;

static bool check_dataflow(arch_checker *checker, bool weight_stationary) {
  uint32_t has = checker->array->mesh.dataflow;
  if (weight_stationary && has == HW_DATAFLOW_OS)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array is output-stationary only");
  if (!weight_stationary && has == HW_DATAFLOW_WS)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array is weight-stationary only");
  return true;
}

bool arch_check_config_ex(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  if (isa_get_config_ex_strides_only(rs1, rs2)) return true;
  bool transposes = isa_get_config_ex_a_transpose(rs1, rs2) || isa_get_config_ex_b_transpose(rs1, rs2);
  if (transposes && !checker->array->units.transposer)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array cannot transpose operands");
  if (isa_get_config_ex_activation(rs1, rs2) == ARCH_ACTIVATION_RELU && !checker->array->units.activation)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no ReLU unit");
  return check_dataflow(checker, isa_get_config_ex_dataflow(rs1, rs2) == ISA_CONFIG_EX_DATAFLOW_WS);
}

static bool check_size(arch_checker *checker, const operand *o) {
  uint32_t dim = checker->derived.dim;
  if (o->rows <= dim && o->cols <= dim) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%s has %u rows and %u columns, at most %u", o->name, o->rows,
                         o->cols, dim);
}

// An operand that is read: `count` rows from its address on.
static bool check_operand(arch_checker *checker, const operand *o, bool transposed, uint32_t stride) {
  if (o->at.garbage) return true;
  if (!check_size(checker, o)) return false;
  if (o->rows == 0 || o->cols == 0) return true;
  if (o->at.accumulator && !checker->array->accumulator.execute_reads)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                           "%s is in the accumulator, which this array cannot multiply from", o->name);
  if (o->at.accumulator && !checker->array->accumulator.narrow_reads)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                           "%s is in the accumulator, whose rows this array cannot scale to int8", o->name);
  return arch_check_rows(checker, o->name, o->at.accumulator, o->at.row, transposed ? o->cols : o->rows, stride);
}

// Output-stationary results leave from the last row of the array upwards.
static bool check_result_rows(arch_checker *checker, const operand *c) {
  const arch_execute_config *config = &checker->config.execute;
  int64_t stride = config->c_stride_rows, first = c->at.row;
  if (!config->weight_stationary) first += (checker->derived.dim - 1) * (1 - stride);
  return arch_check_rows(checker, c->name, c->at.accumulator, first, c->rows, stride);
}

static bool check_result(arch_checker *checker, uint64_t rs2) {
  operand c = {.name = "C",
               .at = arch_local_decode(&checker->derived, isa_get_preload_dest(0, rs2)),
               .rows = (uint32_t)isa_get_preload_dest_rows(0, rs2),
               .cols = (uint32_t)isa_get_preload_dest_cols(0, rs2)};
  if (c.at.garbage) return true;
  if (!check_size(checker, &c)) return false;
  if (c.rows == 0 || c.cols == 0) return true;
  if (c.at.accumulator && !checker->array->accumulator.execute_writes)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "C is in the accumulator, which this array cannot write");
  if (!c.at.accumulator && !checker->array->scratchpad.execute_writes)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "C is in the scratchpad, which this array cannot write");
  return check_result_rows(checker, &c);
}

// ---- what was legal

static uint32_t row_bits(const arch_checker *checker) { return (UINT32_C(2) << checker->derived.row_bits) - 1; }

static bool is_garbage(const arch_checker *checker, uint64_t rs) {
  return arch_local_decode(&checker->derived, rs).garbage;
}

static arch_check_seen *seen_at(arch_checker *checker, arch_check_role role, uint64_t others) {
  const uint32_t spread = (uint32_t)(others >> 32 ^ others >> 26) * UINT32_C(0x9e3779b1);
  return &checker->seen[role][spread / (UINT32_MAX / CHECK_SEEN + 1)];
}

static inline bool is_seen(arch_checker *checker, arch_check_role role, uint64_t rs) {
  const uint32_t row = (uint32_t)rs & row_bits(checker);
  const arch_check_seen *seen = seen_at(checker, role, rs - row);
  return (seen->others == rs - row && row - seen->first < seen->count) || is_garbage(checker, rs);
}

static void see(arch_checker *checker, arch_check_role role, uint64_t rs) {
  const uint32_t row = (uint32_t)rs & row_bits(checker);
  arch_check_seen *seen = seen_at(checker, role, rs - row);
  if (is_garbage(checker, rs)) return;
  if (seen->count == 0 || seen->others != rs - row)
    *seen = (arch_check_seen){.others = rs - row, .first = row, .count = 1};
  if (row < seen->first) {
    seen->count += seen->first - row;
    seen->first = row;
  }
  if (row - seen->first >= seen->count) seen->count = row - seen->first + 1;
}

void arch_check_forget_products(arch_checker *checker) {
  memset(checker->seen, 0, sizeof checker->seen);
  checker->result_seen = false;
}

// ---- commands

static bool has_result(const arch_checker *checker) {
  return checker->preload.armed && !is_garbage(checker, checker->preload.c);
}

static bool check_waiting_result(arch_checker *checker) {
  return !checker->preload.armed || checker->result_seen || check_result(checker, checker->preload.c);
}

static void preload(arch_checker *checker, uint64_t rs2) {
  checker->preload = (arch_check_preload){.armed = true, .c = rs2};
  checker->result_seen = true;
}

// A preload that no compute has used yet passes on its own, with the strides of now.
static bool pass_waiting_result(arch_checker *checker) {
  if (!has_result(checker)) return true;
  if (!check_waiting_result(checker)) return false;
  if (!checker->config.execute.weight_stationary) checker->sums_left = true;
  return true;
}

bool arch_check_preload_command(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  const arch_execute_config *config = &checker->config.execute;
  operand loaded = {.name = config->weight_stationary ? "B" : "D",
                    .at = arch_local_decode(&checker->derived, isa_get_preload_local(rs1, rs2)),
                    .rows = (uint32_t)isa_get_preload_rows(rs1, rs2),
                    .cols = (uint32_t)isa_get_preload_cols(rs1, rs2)};
  bool transposed = config->weight_stationary && config->b_transpose;
  if (!check_dataflow(checker, config->weight_stationary) || !check_operand(checker, &loaded, transposed, 1) ||
      !check_result(checker, rs2) || !pass_waiting_result(checker))
    return false;
  see(checker, CHECK_LOADED, rs1);
  see(checker, CHECK_RESULT, rs2);
  preload(checker, rs2);
  return true;
}

// The sums of an output-stationary chain leave the array with the first result address. Programs that add to them
// afterwards run (timing programs do it), but what they add to is undefined.
static void follow_chain(arch_checker *checker, bool preloaded) {
  if (checker->config.execute.weight_stationary) return;
  if (!preloaded && checker->sums_left) checker->undefined++;
  checker->sums_left = has_result(checker);
}

bool arch_check_compute(arch_checker *checker, bool preloaded, uint64_t rs1, uint64_t rs2) {
  const arch_execute_config *config = &checker->config.execute;
  bool ws = config->weight_stationary;
  operand a = {.name = "A",
               .at = arch_local_decode(&checker->derived, isa_get_compute_preloaded_a(rs1, rs2)),
               .rows = (uint32_t)isa_get_compute_preloaded_a_rows(rs1, rs2),
               .cols = (uint32_t)isa_get_compute_preloaded_a_cols(rs1, rs2)};
  operand bd = {.name = ws ? "D" : "B",
                .at = arch_local_decode(&checker->derived, isa_get_compute_preloaded_bd(rs1, rs2)),
                .rows = (uint32_t)isa_get_compute_preloaded_bd_rows(rs1, rs2),
                .cols = (uint32_t)isa_get_compute_preloaded_bd_cols(rs1, rs2)};
  if (ws && checker->array->mesh.bias_garbage) bd.at.garbage = true;
  if (!check_dataflow(checker, ws)) return false;
  follow_chain(checker, preloaded);
  if (!check_operand(checker, &a, config->a_transpose, config->a_stride_rows) ||
      !check_operand(checker, &bd, !ws && config->b_transpose, 1))
    return false;
  if (!check_waiting_result(checker)) return false;
  see(checker, CHECK_A, rs1);
  see(checker, CHECK_BD, rs2);
  checker->preload.armed = false;
  return true;
}

static inline bool has_legal_fields(const arch_checker *checker, const arch_command *command) {
  const arch_check_fields *f = &checker->fields[command->insn->id];
  return f->known && (command->rs1 & f->decides[0]) == f->legal[0] && (command->rs2 & f->decides[1]) == f->legal[1];
}

static inline bool repeats_compute(arch_checker *checker, bool preloaded, const arch_command *command) {
  if (!is_seen(checker, CHECK_A, command->rs1) || !is_seen(checker, CHECK_BD, command->rs2) ||
      (checker->preload.armed && !checker->result_seen) || !has_legal_fields(checker, command))
    return false;
  follow_chain(checker, preloaded);
  checker->preload.armed = false;
  return true;
}

static inline bool repeats_preload(arch_checker *checker, const arch_command *command) {
  if (!is_seen(checker, CHECK_LOADED, command->rs1) || !is_seen(checker, CHECK_RESULT, command->rs2) ||
      (checker->preload.armed && !checker->result_seen) || !has_legal_fields(checker, command))
    return false;
  if (checker->preload.armed) pass_waiting_result(checker);
  preload(checker, command->rs2);
  return true;
}

bool arch_check_product_repeats(arch_checker *checker, const arch_command *command) {
  switch (command->insn->id) {
    case ISA_PRELOAD:
      return repeats_preload(checker, command);
    case ISA_COMPUTE_PRELOADED:
      return repeats_compute(checker, true, command);
    case ISA_COMPUTE_ACCUMULATED:
      return repeats_compute(checker, false, command);
    default:
      return false;
  }
}
