// SPDX-License-Identifier: Apache-2.0
// Registers of products, taken apart once, when the command enters the station: what execute and the counts look at,
// and the rows that the station compares. Configurations of products pass in order, so those of the station are those
// of the unit.
#ifndef SIM_FLOW_OPERANDS_H
#define SIM_FLOW_OPERANDS_H

#include "isa/isa.h"
#include "isa/isa_fields.h"
#include "sim/flow/counts.h"
#include "sim/flow/engine.h"

static inline bool flow_is_product(isa_id insn) {
  return insn == ISA_PRELOAD || insn == ISA_COMPUTE_PRELOADED || insn == ISA_COMPUTE_ACCUMULATED;
}

static inline bool flow_is_os(const flow_engine *e) {
  const uint32_t dataflow = e->array->mesh.dataflow;
  return dataflow == HW_DATAFLOW_BOTH ? !e->rows.weight_stationary : dataflow == HW_DATAFLOW_OS;
}

// What follows from the register but for its row, and from configurations. Programs repeat few of them. Where the
// register may be garbage its row counts as well.
static inline void flow_shape_find(const flow_engine *e, flow_shape *s, uint64_t word, bool turned, uint32_t stride) {
  const uint32_t rows = (uint32_t)isa_get_preload_rows(word, 0), cols = (uint32_t)isa_get_preload_cols(word, 0);
  const uint32_t row = (UINT32_C(1) << e->d.row_bits) - 1, garbage = e->execute.garbage;
  flow_operand *o = &s->operand;
  o->rows = (uint16_t)(turned ? cols : rows);
  o->cols = (uint16_t)(turned ? rows : cols);
  o->length = o->rows == 0 ? 0 : (o->rows - 1U) * stride + 1;
  o->acc = isa_local_accumulator((uint32_t)word) != 0;
  o->garbage = (word & garbage) == garbage;
  o->read = o->length != 0 && o->cols != 0 && !o->garbage;
  s->word = word;
  s->equal = (word & garbage & ~row) == (garbage & ~row) ? UINT64_MAX : ~(uint64_t)row;
  s->known = true;
}

static inline uint32_t flow_rows_step(uint32_t stride) { return stride == 0 ? 1 : stride; }

static inline __attribute__((always_inline)) bool flow_has_shape(const flow_shape *s, uint64_t word) {
  return s->known && ((word ^ s->word) & s->equal) == 0;
}

// `held` rows count for the station as cycle_command_rows says.
static inline void flow_shape_of_preload(flow_engine *e, const cycle_front_command *k, flow_shape s[2]) {
  const cycle_row_config *c = &e->rows;
  const bool os = flow_is_os(e);
  const uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs1, 0), cols = (uint32_t)isa_get_preload_cols(k->rs1, 0);
  flow_shape_find(e, &s[0], k->rs1, !os && c->b_transpose, 1);
  flow_shape_find(e, &s[1], k->rs2, false, os ? 1 : c->c_stride);
  s[0].held = c->b_transpose && c->weight_stationary ? wf_max(rows, cols) : rows;
  s[1].held = s[1].operand.rows * flow_rows_step(c->c_stride);
}

static inline void flow_shape_of_compute(flow_engine *e, const cycle_front_command *k, flow_shape s[2]) {
  const cycle_row_config *c = &e->rows;
  const bool os = flow_is_os(e);
  const uint32_t rows = (uint32_t)isa_get_preload_rows(k->rs2, 0), cols = (uint32_t)isa_get_preload_cols(k->rs2, 0);
  flow_shape_find(e, &s[0], k->rs1, c->a_transpose, c->a_stride);
  flow_shape_find(e, &s[1], k->rs2, os && c->b_transpose, 1);
  s[0].held = s[0].operand.rows * flow_rows_step(c->a_stride);
  s[1].held = c->b_transpose && !c->weight_stationary ? wf_max(rows, cols) : rows;
}

// The operand, and its rows for the station as cycle_command_rows has them.
static inline __attribute__((always_inline)) cycle_row_range flow_operand_of(const flow_engine *e, uint64_t word,
                                                                             const flow_shape *s, flow_operand *o) {
  const uint32_t memory_rows = UINT32_C(1) << e->d.row_bits, row = (uint32_t)word & (memory_rows - 1);
  const uint32_t start = s->operand.acc ? memory_rows : 0;
  *o = s->operand;
  o->first = row;
  o->bank = (uint8_t)(start != 0 ? 0 : 1 + ((row & (e->d.sp_rows - 1)) >> e->sp_shift));
  if (s->held == 0 || s->operand.garbage) return CYCLE_NO_ROWS;
  return (cycle_row_range){.first = start + row, .end = start + wf_min(row + s->held, memory_rows)};
}

// Out of line: programs repeat few pairs of shapes.
static __attribute__((noinline)) void flow_alike_find(flow_engine *e, const cycle_front_command *k, flow_alike *alike) {
  flow_counts_close(e, alike);
  if (k->insn == ISA_PRELOAD)
    flow_shape_of_preload(e, k, alike->shape);
  else
    flow_shape_of_compute(e, k, alike->shape);
  alike->each = flow_counts_product(e, k, alike->shape);
}

// Where products with such registers are kept: their rows do not count.
static inline flow_alike *flow_alike_of(flow_engine *e, bool preload, uint64_t rs1, uint64_t rs2) {
  const uint64_t spread = UINT64_C(0x9E3779B97F4A7C15), other = UINT64_C(0xC2B2AE3D27D4EB4F);
  const uint64_t mixed = (rs1 >> e->d.row_bits) * spread + (rs2 >> e->d.row_bits) * other;
  return &e->alike[preload][mixed >> (64 - FLOW_ALIKE_BITS)];
}

// A preload or compute; returns its rows.
static inline __attribute__((always_inline)) cycle_rows flow_take_apart(flow_engine *e, const cycle_front_command *k,
                                                                        bool preload, flow_operand o[2]) {
  flow_alike *alike = flow_alike_of(e, preload, k->rs1, k->rs2);
  const flow_shape *s = alike->shape;
  if (!flow_has_shape(&s[0], k->rs1) || !flow_has_shape(&s[1], k->rs2)) flow_alike_find(e, k, alike);
  alike->count++;
  const cycle_row_range first = flow_operand_of(e, k->rs1, &s[0], &o[0]);
  const cycle_row_range second = flow_operand_of(e, k->rs2, &s[1], &o[1]);
  return preload ? (cycle_rows){.a = second, .b = first, .a_writes = true} : (cycle_rows){.a = first, .b = second};
}

// A configuration of products came: what was known may have changed.
static inline void flow_shapes_forget(flow_engine *e) {
  for (unsigned kind = 0; kind < 2; kind++)
    for (unsigned n = 0; n < FLOW_ALIKE; n++) e->alike[kind][n].shape[0].known = false;
}

#endif
