// SPDX-License-Identifier: Apache-2.0
// The input of a convolution tile: config_ld of state 0, then an mvin for each (b, irow, run of icols, group of
// channels), channels innermost. Rows and columns count from the padding; runs end at the edges of the image and after
// a block of local rows; what lies outside the image is loaded as zeros (address 0). trans_input_3120 swaps batch and
// channel. A tile without an input address emits nothing in revision 2.
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_conv_parts.h"

void cycle_conv_input_begin(const cycle_conv_shape *shape, cycle_conv_part *p) {
  p->silent = shape->later && p->tile->r.input == 0;
}

// Columns from `col` on that one load takes, and whether they lie inside the image.
static uint32_t run_at(const cycle_conv_shape *shape, const cycle_conv_tile *t, uint32_t col, bool *inside) {
  uint32_t edge = cycle_conv_cut(t->lpad + t->icols_unpadded);
  bool left = col < t->lpad;
  *inside = !left && col < edge;
  uint32_t end = left ? t->lpad : *inside ? edge : edge + t->rpad;
  uint32_t longest = *inside && t->downsample ? cycle_conv_cut(shape->dim << 1) : shape->dim;
  return wf_min(cycle_conv_cut(end - col), longest);
}

// The address of a pixel's channels: 32 bits of the offset count.
static uint64_t address_at(const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  bool swap = t->trans_input_3120;
  uint32_t image = swap ? p->kch : p->b;
  uint32_t pixel = (image * r->in_rows + p->row - t->upad) * r->in_cols + p->col - t->lpad;
  uint32_t element = swap ? pixel * r->batches + p->b : pixel * r->in_stride + p->kch;
  return r->input + element;
}

static uint32_t place_at(const cycle_conv_shape *shape, const cycle_conv_tile *t, const cycle_conv_part *p) {
  uint32_t outer = t->trans_input_3120 ? p->b : p->kch, inner = t->trans_input_3120 ? p->kch : p->b;
  uint32_t pixel = (p->row >> t->downsample) * (t->icols >> t->downsample) + (p->col >> t->downsample);
  return (t->a_row + (outer >> shape->dim_log2) * t->input_block + inner * t->plane + pixel) & shape->row_mask;
}

// The last row or column is reached when at most a step is left.
static uint32_t rows_left(const cycle_conv_tile *t, uint32_t row) {
  return cycle_conv_cut(t->upad + t->irows_unpadded + t->dpad - row);
}
static uint32_t cols_left(const cycle_conv_tile *t, uint32_t col) {
  return cycle_conv_cut(t->lpad + t->icols_unpadded + t->rpad - col);
}

bool cycle_conv_input_step(const cycle_conv_shape *shape, cycle_conv_part *p, cycle_conv_command *out) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  bool swap = t->trans_input_3120, inside_cols;
  if (p->silent) return false;
  if (p->config) {
    p->config = false;
    uint64_t stride = swap ? r->batch_size : r->in_stride;
    cycle_conv_config_ld(0, stride << t->downsample, t->input_block, t->pixels, out);
    return true;
  }
  uint32_t run = run_at(shape, t, p->col, &inside_cols);
  bool inside_rows = p->row >= t->upad && p->row < cycle_conv_cut(t->upad + t->irows_unpadded);
  uint32_t channels = swap ? r->batches : r->kchs, width = wf_min(channels, shape->widest);
  uint32_t left = cycle_conv_cut(channels - (swap ? p->b : p->kch));
  out->insn = ISA_MVIN;
  out->rs1 = inside_rows && inside_cols ? address_at(t, p) : 0;
  out->rs2 = cycle_conv_operand(run >> t->downsample, wf_min(left, width), place_at(shape, t, p));

  uint32_t ch_step = swap ? 1 : width, b_step = swap ? width : 1, row_step = 1U << t->downsample;
  return !(cycle_conv_wraps(&p->kch, cycle_conv_cut(r->kchs - p->kch) <= ch_step, ch_step) &&
           cycle_conv_wraps(&p->col, cols_left(t, p->col) <= run, run) &&
           cycle_conv_wraps(&p->row, rows_left(t, p->row) <= row_step, row_step) &&
           cycle_conv_wraps(&p->b, cycle_conv_cut(r->batches - p->b) <= b_step, b_step));
}
