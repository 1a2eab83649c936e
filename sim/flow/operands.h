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

// What follows from the upper half of the register and from configurations alone. Programs repeat few of them.
static inline void flow_shape_find(flow_shape *s, uint64_t word, bool turned, uint32_t stride) {
  const uint32_t rows = (uint32_t)isa_get_preload_rows(word, 0), cols = (uint32_t)isa_get_preload_cols(word, 0);
  s->upper = (uint32_t)(word >> 32);
  s->rows = (uint16_t)(turned ? cols : rows);
  s->cols = (uint16_t)(turned ? rows : cols);
  s->length = s->rows == 0 ? 0 : (s->rows - 1U) * stride + 1;
  s->known = true;
}

static inline void flow_operand_of(const flow_engine *e, uint64_t word, const flow_shape *s, flow_operand *o) {
  const uint32_t first = (uint32_t)word & ((UINT32_C(1) << e->d.row_bits) - 1);
  o->first = first;
  o->length = s->length;
  o->rows = s->rows;
  o->cols = s->cols;
  o->acc = isa_local_accumulator((uint32_t)word) != 0;
  o->garbage = (word & e->execute.garbage) == e->execute.garbage;
  o->bank = (uint8_t)(o->acc ? 0 : 1 + ((first & (e->d.sp_rows - 1)) >> e->sp_shift));
  o->read = s->length != 0 && s->cols != 0 && !o->garbage;
}

// As cycle_command_rows has them: `rows` rows of the local address.
static inline cycle_row_range flow_rows_of(const flow_engine *e, const flow_operand *o, uint32_t rows) {
  const uint32_t memory_rows = UINT32_C(1) << e->d.row_bits, start = o->acc ? memory_rows : 0, end = o->first + rows;
  if (rows == 0 || o->garbage) return CYCLE_NO_ROWS;
  return (cycle_row_range){.first = start + o->first, .end = start + wf_min(end, memory_rows)};
}

static inline uint32_t flow_rows_step(uint32_t stride) { return stride == 0 ? 1 : stride; }

static inline bool flow_has_shape(const flow_shape *s, uint64_t word) {
  return s->known && s->upper == (uint32_t)(word >> 32);
}

// `rows` counts for the station as cycle_command_rows says.
static inline void flow_shape_of_preload(flow_engine *e, const cycle_front_command *k, flow_shape s[2]) {
  const cycle_row_config *c = &e->rows;
  const bool os = flow_is_os(e);
  const uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs1, 0), cols = (uint32_t)isa_get_preload_cols(k->rs1, 0);
  flow_shape_find(&s[0], k->rs1, !os && c->b_transpose, 1);
  flow_shape_find(&s[1], k->rs2, false, os ? 1 : c->c_stride);
  s[0].held = c->b_transpose && c->weight_stationary ? wf_max(rows, cols) : rows;
  s[1].held = s[1].rows * flow_rows_step(c->c_stride);
}

static inline void flow_shape_of_compute(flow_engine *e, const cycle_front_command *k, flow_shape s[2]) {
  const cycle_row_config *c = &e->rows;
  const bool os = flow_is_os(e);
  const uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs2, 0), cols = (uint32_t)isa_get_preload_cols(k->rs2, 0);
  flow_shape_find(&s[0], k->rs1, c->a_transpose, c->a_stride);
  flow_shape_find(&s[1], k->rs2, os && c->b_transpose, 1);
  s[0].held = s[0].rows * flow_rows_step(c->a_stride);
  s[1].held = c->b_transpose && !c->weight_stationary ? wf_max(rows, cols) : rows;
}

// A preload or compute; returns its rows.
static inline cycle_rows flow_take_apart(flow_engine *e, const cycle_front_command *k, flow_operand o[2]) {
  const bool preload = k->insn == ISA_PRELOAD;
  flow_shape *s = e->shapes[preload];
  if (!flow_has_shape(&s[0], k->rs1) || !flow_has_shape(&s[1], k->rs2)) {
    if (preload)
      flow_shape_of_preload(e, k, s);
    else
      flow_shape_of_compute(e, k, s);
  }
  flow_operand_of(e, k->rs1, &s[0], &o[0]);
  flow_operand_of(e, k->rs2, &s[1], &o[1]);
  const cycle_row_range first = flow_rows_of(e, &o[0], s[0].held), second = flow_rows_of(e, &o[1], s[1].held);
  return preload ? (cycle_rows){.a = second, .b = first, .a_writes = true} : (cycle_rows){.a = first, .b = second};
}

// A configuration came: what was known may have changed.
static inline void flow_shapes_forget(flow_engine *e) {
  for (unsigned n = 0; n < 2; n++) e->shapes[n][0].known = e->shapes[n][1].known = false;
}

#endif
