// SPDX-License-Identifier: Apache-2.0
// The bias of a convolution tile: config_ld of state 2, then an mvin3 for each (b, orow, DIM ocols, group of channels),
// channels innermost, into the accumulator. All pixels get the same bias: the memory stride is 0; with no_bias the
// address 0 loads zeros. A tile without a bias address emits nothing.
#include "arch/config.h"
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_conv_parts.h"

void cycle_conv_config_ld(uint32_t state, uint64_t stride, uint32_t block_stride, uint32_t pixel_repeats,
                          cycle_conv_command *out) {
  out->insn = ISA_CONFIG_LD;
  isa_init_config_ld(&out->rs1, &out->rs2);
  isa_set_config_ld_state(&out->rs1, &out->rs2, state);
  isa_set_config_ld_pixel_repeats(&out->rs1, &out->rs2, pixel_repeats);
  isa_set_config_ld_block_stride(&out->rs1, &out->rs2, block_stride);
  isa_set_config_ld_scale(&out->rs1, &out->rs2, ARCH_SCALE_ONE);
  isa_set_config_ld_stride(&out->rs1, &out->rs2, stride);
}

void cycle_conv_bias_begin(const cycle_conv_shape *shape, cycle_conv_part *p) {
  (void)shape;
  p->silent = p->tile->r.bias == 0;
}

bool cycle_conv_bias_step(const cycle_conv_shape *shape, cycle_conv_part *p, cycle_conv_command *out) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  if (p->silent) return false;
  if (p->config) {
    p->config = false;
    cycle_conv_config_ld(2, 0, t->bias_block, 1, out);
    return true;
  }
  uint32_t width = wf_min(r->pochs, shape->widest_acc);
  uint32_t cols_left = cycle_conv_cut(r->ocols - p->col), och_left = cycle_conv_cut(r->pochs - p->och);
  uint32_t pixel = (p->b * r->orows + p->row) * r->ocols + p->col;
  uint32_t place = (t->c_row + (p->och >> shape->dim_log2) * t->bias_block + pixel) & shape->row_mask;
  out->insn = ISA_MVIN3;
  out->rs1 = t->no_bias ? 0 : r->bias + p->och * 4;
  out->rs2 =
      cycle_conv_operand(wf_min(cols_left, shape->dim), wf_min(och_left, width), isa_local_with_accumulator(place, 1));
  return !(cycle_conv_wraps(&p->och, och_left <= width, width) &&
           cycle_conv_wraps(&p->col, cols_left <= shape->dim, shape->dim) &&
           cycle_conv_wraps(&p->row, cycle_conv_cut(r->orows - p->row) <= 1, 1) &&
           cycle_conv_wraps(&p->b, cycle_conv_cut(r->batches - p->b) <= 1, 1));
}
