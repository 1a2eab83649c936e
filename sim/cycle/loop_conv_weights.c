// SPDX-License-Identifier: Apache-2.0
// The weights of a convolution tile: config_ld of state 1, then an mvin2 for each (group of och, krow, kcol, DIM kchs),
// kch innermost. trans_weight_0132 swaps the roles of input and output channels, trans_weight_1203 and depthwise change
// the layout in memory. A tile without a weight address emits nothing in revision 2.
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_conv_parts.h"

void cycle_conv_weights_begin(const cycle_conv_shape *shape, cycle_conv_part *p) {
  p->silent = shape->later && p->tile->r.weights == 0;
}

static uint64_t memory_stride(const cycle_conv_tile *t) {
  const arch_loop_conv_slot *r = &t->r;
  if (t->depthwise) return 1;
  if (t->trans_weight_1203) return (uint64_t)r->kernel * r->kernel * r->out_channels;
  return t->trans_weight_0132 ? r->in_channels : r->weight_stride;
}

static uint32_t element_at(const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  uint32_t tap = p->krow * r->kernel + p->kcol;
  if (t->depthwise) return tap;
  if (t->trans_weight_1203) return (p->kch * r->kernel * r->kernel + tap) * r->out_channels + p->och;
  if (t->trans_weight_0132) return (tap * r->out_channels + p->och) * r->in_channels + p->kch;
  return (tap * r->in_channels + p->kch) * r->weight_stride + p->och;
}

bool cycle_conv_weights_step(const cycle_conv_shape *shape, cycle_conv_part *p, cycle_conv_command *out) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  if (p->silent) return false;
  if (p->config) {
    p->config = false;
    cycle_conv_config_ld(1, memory_stride(t), t->weight_block, 1, out);
    return true;
  }
  // Columns of the operand are output channels, its rows input channels; 0132 swaps them.
  bool swap = t->trans_weight_0132;
  uint32_t wide_all = swap ? r->kchs : r->pochs, deep_all = swap ? r->pochs : r->kchs;
  uint32_t wide = swap ? p->kch : p->och, deep = swap ? p->och : p->kch;
  uint32_t width = wf_min(wide_all, shape->widest);
  uint32_t block = (wide >> shape->dim_log2) * t->weight_block, tap = p->krow * r->kcols + p->kcol;
  out->insn = ISA_MVIN2;
  out->rs1 = r->weights + element_at(t, p);
  out->rs2 = cycle_conv_operand(wf_min(cycle_conv_cut(deep_all - deep), shape->dim),
                                wf_min(cycle_conv_cut(wide_all - wide), width),
                                (t->b_row + block + tap * deep_all + deep) & shape->row_mask);
  uint32_t och_step = swap ? shape->dim : width, kch_step = swap ? width : shape->dim;
  return !(cycle_conv_wraps(&p->kch, cycle_conv_cut(r->kchs - p->kch) <= kch_step, kch_step) &&
           cycle_conv_wraps(&p->kcol, cycle_conv_cut(r->kcols - p->kcol) <= 1, 1) &&
           cycle_conv_wraps(&p->krow, cycle_conv_cut(r->krows - p->krow) <= 1, 1) &&
           cycle_conv_wraps(&p->och, cycle_conv_cut(r->pochs - p->och) <= och_step, och_step));
}
