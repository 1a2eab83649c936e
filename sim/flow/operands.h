// SPDX-License-Identifier: Apache-2.0
// Registers of products, taken apart once, when the command enters the station: what execute and the counts look at,
// and the rows that the station compares. Configurations of products pass in order, so those of the station are those
// of the unit.
#ifndef SIM_FLOW_OPERANDS_H
#define SIM_FLOW_OPERANDS_H

#include "isa/isa.h"
#include "isa/isa_fields.h"
#include "sim/flow/engine.h"

static inline bool flow_is_product(isa_id insn) {
  return insn == ISA_PRELOAD || insn == ISA_COMPUTE_PRELOADED || insn == ISA_COMPUTE_ACCUMULATED;
}

static inline bool flow_is_os(const flow_engine *e) {
  const uint32_t dataflow = e->array->mesh.dataflow;
  return dataflow == HW_DATAFLOW_BOTH ? !e->rows.weight_stationary : dataflow == HW_DATAFLOW_OS;
}

static inline flow_operand flow_operand_of(const flow_engine *e, uint64_t word, bool turned, uint32_t stride) {
  const uint32_t rows = (uint32_t)(turned ? isa_get_preload_cols(word, 0) : isa_get_preload_rows(word, 0));
  const uint32_t cols = (uint32_t)(turned ? isa_get_preload_rows(word, 0) : isa_get_preload_cols(word, 0));
  const uint32_t first = (uint32_t)word & ((UINT32_C(1) << e->d.row_bits) - 1);
  const bool acc = isa_local_accumulator((uint32_t)word) != 0;
  const bool garbage = (word & e->execute.garbage) == e->execute.garbage;
  return (flow_operand){.first = first,
                        .length = rows == 0 ? 0 : (rows - 1) * stride + 1,
                        .rows = (uint16_t)rows,
                        .cols = (uint16_t)cols,
                        .bank = (uint8_t)(acc ? 0 : 1 + ((first & (e->d.sp_rows - 1)) >> e->sp_shift)),
                        .read = rows != 0 && cols != 0 && !garbage,
                        .acc = acc,
                        .garbage = garbage};
}

// As cycle_command_rows has them: `rows` rows of the local address.
static inline cycle_row_range flow_rows_of(const flow_engine *e, const flow_operand *o, uint32_t rows) {
  const uint32_t memory_rows = UINT32_C(1) << e->d.row_bits, start = o->acc ? memory_rows : 0, end = o->first + rows;
  if (rows == 0 || o->garbage) return CYCLE_NO_ROWS;
  return (cycle_row_range){.first = start + o->first, .end = start + wf_min(end, memory_rows)};
}

static inline uint32_t flow_rows_step(uint32_t stride) { return stride == 0 ? 1 : stride; }

// A preload or compute; returns its rows.
static inline cycle_rows flow_take_apart(const flow_engine *e, const cycle_front_command *k, flow_operand o[2]) {
  const cycle_row_config *c = &e->rows;
  const bool os = flow_is_os(e), preload = k->insn == ISA_PRELOAD, b_turned = c->b_transpose;
  if (preload) {
    o[0] = flow_operand_of(e, k->rs1, !os && b_turned, 1);
    o[1] = flow_operand_of(e, k->rs2, false, os ? 1 : c->c_stride);
    uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs1, 0);
    if (b_turned && c->weight_stationary) rows = wf_max(rows, (uint32_t)isa_get_preload_cols(k->rs1, 0));
    return (cycle_rows){.a = flow_rows_of(e, &o[1], o[1].rows * flow_rows_step(c->c_stride)),
                        .b = flow_rows_of(e, &o[0], rows),
                        .a_writes = true};
  }
  o[0] = flow_operand_of(e, k->rs1, c->a_transpose, c->a_stride);
  o[1] = flow_operand_of(e, k->rs2, os && b_turned, 1);
  uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs2, 0);
  if (b_turned && !c->weight_stationary) rows = wf_max(rows, (uint32_t)isa_get_preload_cols(k->rs2, 0));
  return (cycle_rows){.a = flow_rows_of(e, &o[0], o[0].rows * flow_rows_step(c->a_stride)),
                      .b = flow_rows_of(e, &o[1], rows)};
}

#endif
