// SPDX-License-Identifier: Apache-2.0
// What follows from the registers of a convolution tile.
//
//   input rows  = orows * stride + dilated krows - 1, the same for columns; a dilated input counts every second one
//   blocks      = local rows of a block of DIM channels of output, input and weights
//   places      = first local rows: input from half a_half up, weights up to the end of half b_half
#include "sim/cycle/loop_conv_parts.h"

// Pixels along one side of the input tile, with padding but without a dilated input's stored form.
static uint32_t input_side(const arch_loop_conv_slot *r, uint32_t out, uint32_t kernel) {
  uint32_t dilated = cycle_conv_cut(kernel + (r->kernel_dilation - 1) * (kernel - 1));
  return out * r->stride + dilated - 1;
}

static uint32_t halve(uint32_t x) { return cycle_conv_cut(x + 1) >> 1; }

static void derive_input(cycle_conv_tile *t) {
  const arch_loop_conv_slot *r = &t->r;
  uint32_t rows = input_side(r, r->orows, r->krows), cols = input_side(r, r->ocols, r->kcols);
  uint32_t rows_unpadded = rows - r->upad - r->dpad, cols_unpadded = cols - r->lpad - r->rpad;
  t->upad = r->upad, t->dpad = r->dpad, t->lpad = r->lpad, t->rpad = r->rpad;
  if (t->input_dilated) {
    rows_unpadded = (rows_unpadded + 1) >> 1, cols_unpadded = (cols_unpadded + 1) >> 1;
    t->upad = halve(t->upad), t->dpad = halve(t->dpad), t->lpad = halve(t->lpad), t->rpad = halve(t->rpad);
    rows = rows_unpadded + t->upad + t->dpad, cols = cols_unpadded + t->lpad + t->rpad;
  }
  t->irows_unpadded = cycle_conv_cut(rows_unpadded), t->icols_unpadded = cycle_conv_cut(cols_unpadded);
  t->irows = cycle_conv_cut(rows), t->icols = cycle_conv_cut(cols);
}

void cycle_conv_derive(const cycle_conv_shape *shape, cycle_conv_tile *t) {
  const arch_loop_conv_slot *r = &t->r;
  derive_input(t);
  t->plane = (t->irows >> t->downsample) * (t->icols >> t->downsample);
  t->bias_block = r->batches * r->orows * r->ocols;

  // The operand of each kind is `wide` channels in blocks and `deep` rows or images of each.
  uint32_t a_wide = t->trans_input_3120 ? r->batches : r->kchs, a_deep = t->trans_input_3120 ? r->kchs : r->batches;
  uint32_t b_wide = t->trans_weight_0132 ? r->kchs : r->pochs, b_deep = t->trans_weight_0132 ? r->pochs : r->kchs;
  t->input_block = a_deep * t->plane;
  t->weight_block = r->krows * r->kcols * b_deep;
  t->a_row = t->a_half * (shape->sp_rows / 2);
  t->a_rows = ((a_wide + shape->dim - 1) >> shape->dim_log2) * t->input_block;
  t->b_rows = ((b_wide + shape->dim - 1) >> shape->dim_log2) * t->weight_block;
  t->b_row = (t->b_half + 1U) * (shape->sp_rows / 2) - t->b_rows;
  t->c_row = t->half ? shape->acc_rows / 2 : 0;
}
