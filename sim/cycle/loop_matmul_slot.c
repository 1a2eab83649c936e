// SPDX-License-Identifier: Apache-2.0
// The slots of loop_matmul: the registers that loop commands write, and what follows from them when a loop is started
// (hw/rtl/weft_loop_matmul.sv, its first half). Registers keep their values from loop to loop.
#include "isa/isa_fields.h"
#include "sim/cycle/loop_matmul_parts.h"

void cycle_matmul_slots_reset(cycle_matmul_slots *slots, const cycle_matmul_geometry *g) {
  *slots = (cycle_matmul_slots){0};
  slots->of[1].a_row = slots->of[0].b_end = g->sp_half;
  slots->of[1].b_end = g->sp_rows;
}

// A spad id n > 0 pins an operand to half n - 1. A loop that stays in the scratchpad takes its operands from the
// registers even when ids are given.
static void place_operands(cycle_matmul_slot *s, uint32_t number, const cycle_matmul_geometry *g) {
  uint32_t a_id = s->a_id, b_id = s->b_id;
  s->a_rows = ((uint32_t)s->i * s->k) << g->dim_log2;
  s->b_rows = ((uint32_t)s->k * s->j) << g->dim_log2;
  uint32_t a_place = a_id == 0 ? s->a_row : (a_id - 1) * g->sp_half;
  uint32_t b_place = (b_id == 0 ? s->b_end : b_id * g->sp_half) - s->b_rows;
  s->lda_row = s->resadd ? number * g->acc_half : a_place;
  s->ldb_row = s->resadd ? number * g->acc_half : b_place;
  s->ex_a_row = s->to_spad ? s->a_row : a_place;
  s->ex_b_row = s->to_spad ? s->b_end - s->b_rows : b_place;
}

// Options that only revision 2 has; returns the parts that are skipped.
static uint8_t run_options(cycle_matmul_slot *s, uint64_t rs1, uint64_t rs2) {
  s->resadd = isa_get_loop_ws_r2_resadd(rs1, rs2);
  s->to_spad = isa_get_loop_ws_r2_spad_only(rs1, rs2) && !s->resadd;
  s->a_id = (uint8_t)isa_get_loop_ws_r2_a_spad_id(rs1, rs2);
  s->b_id = (uint8_t)isa_get_loop_ws_r2_b_spad_id(rs1, rs2);
  return (uint8_t)(isa_get_loop_ws_r2_skip_lda(rs1, rs2) << CYCLE_MATMUL_A |
                   isa_get_loop_ws_r2_skip_ldb(rs1, rs2) << CYCLE_MATMUL_B |
                   isa_get_loop_ws_r2_skip_ldd(rs1, rs2) << CYCLE_MATMUL_D |
                   isa_get_loop_ws_r2_skip_ex(rs1, rs2) << CYCLE_MATMUL_EXECUTE |
                   isa_get_loop_ws_r2_skip_stc(rs1, rs2) << CYCLE_MATMUL_STORE);
}

// The halves move on after a loop that stores to memory; a skipped part keeps its half.
static void take_halves(cycle_matmul_slots *slots, cycle_matmul_slot *s, uint8_t skipped) {
  s->d_half = slots->next_d_half;
  s->ex_half = slots->next_ex_half;
  s->c_half = slots->next_c_half;
  if (s->c == 0) return;
  slots->next_d_half ^= !cycle_matmul_has(skipped, CYCLE_MATMUL_D);
  slots->next_ex_half ^= !cycle_matmul_has(skipped, CYCLE_MATMUL_EXECUTE);
  slots->next_c_half ^= !cycle_matmul_has(skipped, CYCLE_MATMUL_STORE);
}

static void run(cycle_matmul_slots *slots, unsigned number, const cycle_matmul_geometry *g, uint64_t rs1,
                uint64_t rs2) {
  cycle_matmul_slot *s = &slots->of[number];
  uint64_t activation = isa_get_loop_ws_r1_activation(rs1, rs2);
  s->accumulate = isa_get_loop_ws_r1_ex_accumulate(rs1, rs2);
  s->full_c = isa_get_loop_ws_r1_full_c(rs1, rs2);
  s->low_d = isa_get_loop_ws_r1_low_d(rs1, rs2);
  s->softmax = activation == ISA_LOOP_WS_R1_ACTIVATION_SOFTMAX;
  s->norm = s->softmax || activation == ISA_LOOP_WS_R1_ACTIVATION_LAYERNORM;
  s->a_transpose = isa_get_loop_ws_r1_a_transpose(rs1, rs2);
  s->b_transpose = isa_get_loop_ws_r1_b_transpose(rs1, rs2);
  s->c_spad = (uint32_t)isa_get_loop_ws_r2_c_spad(rs1, rs2);
  uint8_t skipped = g->later ? run_options(s, rs1, rs2) : 0;
  take_halves(slots, s, skipped);
  place_operands(s, number, g);
  s->configured = true;
  s->started = s->done = skipped;
}

static void configure_bounds(cycle_matmul_slot *s, uint64_t rs1, uint64_t rs2) {
  s->pad_i = (uint16_t)isa_get_loop_ws_bounds_pad_i(rs1, rs2);
  s->pad_j = (uint16_t)isa_get_loop_ws_bounds_pad_j(rs1, rs2);
  s->pad_k = (uint16_t)isa_get_loop_ws_bounds_pad_k(rs1, rs2);
  s->i = (uint16_t)isa_get_loop_ws_bounds_i(rs1, rs2);
  s->j = (uint16_t)isa_get_loop_ws_bounds_j(rs1, rs2);
  s->k = (uint16_t)isa_get_loop_ws_bounds_k(rs1, rs2);
}

bool cycle_matmul_slot_write(cycle_matmul_slots *slots, unsigned number, const cycle_matmul_geometry *g,
                             const cycle_front_command *command) {
  cycle_matmul_slot *s = &slots->of[number];
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  switch ((isa_id)command->insn) {
    case ISA_LOOP_WS_BOUNDS:
      configure_bounds(s, rs1, rs2);
      break;
    case ISA_LOOP_WS_ADDRS_AB:
      s->a = rs1;
      s->b = rs2;
      break;
    case ISA_LOOP_WS_ADDRS_DC:
      s->d = rs1;
      s->c = rs2;
      break;
    case ISA_LOOP_WS_STRIDES_AB:
      s->a_stride = (uint32_t)rs1;
      s->b_stride = (uint32_t)rs2;
      break;
    case ISA_LOOP_WS_STRIDES_DC:
      s->d_stride = (uint32_t)rs1;
      s->c_stride = (uint32_t)rs2;
      break;
    case ISA_LOOP_WS_SPAD_AB_R2:
      s->a_row = (uint32_t)rs1;
      s->b_end = (uint32_t)rs2;
      break;
    case ISA_LOOP_WS_R1:
    case ISA_LOOP_WS_R2:
      run(slots, number, g, rs1, rs2);
      return true;
    default:  // LOOP_WS_SPAD_C: the run command carries the address that counts
      break;
  }
  return false;
}
