// SPDX-License-Identifier: Apache-2.0
// The products of a convolution tile: for each (och, krow, kcol, kch, b, orow, ocol), ocol innermost, a preload and a
// compute. The first position of a weight block loads the weights, the others keep them (preload of the garbage
// address, compute_accumulated). C always accumulates. trans_input_3120 first sets the strides of A and C (config_ex)
// and walks the batches in blocks of DIM, one pixel at a time. Positions between the pixels of a dilated input
// contribute nothing: each is passed over in two silent steps.
#include "arch/local.h"
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_conv_parts.h"

// Whether the position lies between the pixels of a dilated input.
static bool implied_zero(const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  if (!t->input_dilated) return false;
  uint32_t row = (p->krow & r->kernel_dilation) ^ p->row ^ r->upad;
  uint32_t col = (p->kcol & r->kernel_dilation) ^ p->col ^ r->lpad;
  return ((row | col) & 1) != 0;
}

void cycle_conv_execute_begin(const cycle_conv_shape *shape, cycle_conv_part *p) {
  (void)shape;
  p->config = p->tile->trans_input_3120;
  p->silent = !p->config && implied_zero(p->tile, p);
}

static void strides(const cycle_conv_tile *t, cycle_conv_command *out) {
  out->insn = ISA_CONFIG_EX;
  isa_init_config_ex(&out->rs1, &out->rs2);
  isa_set_config_ex_strides_only(&out->rs1, &out->rs2, 1);
  isa_set_config_ex_a_stride(&out->rs1, &out->rs2, cycle_conv_cut(t->irows * t->icols));
  isa_set_config_ex_c_stride(&out->rs1, &out->rs2, cycle_conv_cut(t->r.orows * t->r.ocols));
}

// Local rows of the operands. Dilated inputs are stored without the zeros between the pixels.
static uint32_t a_place(const cycle_conv_shape *shape, const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  uint32_t irow = cycle_conv_cut(p->row * r->stride + p->krow * r->kernel_dilation);
  uint32_t icol = cycle_conv_cut(p->col * r->stride + p->kcol * r->kernel_dilation);
  if (t->input_dilated) irow = cycle_conv_cut(irow + 1) >> 1, icol = cycle_conv_cut(icol + 1) >> 1;
  uint32_t pixel = (irow >> t->downsample) * (t->icols >> t->downsample) + (icol >> t->downsample);
  uint32_t wide = t->trans_input_3120 ? p->b : p->kch, deep = t->trans_input_3120 ? p->kch : p->b;
  return (t->a_row + (wide >> shape->dim_log2) * t->input_block + deep * t->plane + pixel) & shape->row_mask;
}

static uint32_t b_place(const cycle_conv_shape *shape, const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  bool swap = t->trans_weight_0132;
  uint32_t wide = swap ? p->kch : p->och, deep = swap ? p->och : p->kch, depth = swap ? r->pochs : r->kchs;
  uint32_t krow = t->wrot180 ? cycle_conv_cut(r->krows - p->krow - 1) : p->krow;
  uint32_t kcol = t->wrot180 ? cycle_conv_cut(r->kcols - p->kcol - 1) : p->kcol;
  uint32_t block = (wide >> shape->dim_log2) * t->weight_block;
  return (t->b_row + block + (krow * r->kcols + kcol) * depth + deep) & shape->row_mask;
}

static uint32_t c_place(const cycle_conv_shape *shape, const cycle_conv_tile *t, const cycle_conv_part *p) {
  uint32_t pixel = (p->b * t->r.orows + p->row) * t->r.ocols + p->col;
  return (t->c_row + (p->och >> shape->dim_log2) * t->bias_block + pixel) & shape->row_mask;
}

// Columns between two positions: a run of output columns covers every second one of a dilated input.
static uint32_t columns(const cycle_conv_shape *shape, const cycle_conv_tile *t) {
  return cycle_conv_cut(shape->dim << t->input_dilated);
}

static void product(const cycle_conv_shape *shape, const cycle_conv_part *p, cycle_conv_command *out) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  uint32_t run = wf_min(cycle_conv_cut(r->ocols - p->col), columns(shape, t));
  uint32_t rows = t->trans_input_3120 ? wf_min(cycle_conv_cut(r->batches - p->b), shape->dim)
                                      : cycle_conv_cut(run + t->input_dilated) >> t->input_dilated;
  uint32_t cols = wf_min(cycle_conv_cut(r->pochs - p->och), shape->dim);
  uint32_t depth = cycle_conv_cut(wf_min(cycle_conv_cut(r->kcols - p->kcol), t->pixels) *
                                  wf_min(cycle_conv_cut(r->kchs - p->kch), shape->dim));
  if (!p->compute) {
    out->insn = ISA_PRELOAD;
    out->rs1 = cycle_conv_operand(depth, cols, p->fresh ? b_place(shape, t, p) : ARCH_LOCAL_GARBAGE);
    out->rs2 = cycle_conv_operand(rows, cols,
                                  isa_local_with_accumulate(isa_local_with_accumulator(c_place(shape, t, p), 1), 1));
  } else {
    out->insn = p->fresh ? ISA_COMPUTE_PRELOADED : ISA_COMPUTE_ACCUMULATED;
    out->rs1 = cycle_conv_operand(rows, depth, a_place(shape, t, p));
    out->rs2 = cycle_conv_operand(rows, cols, ARCH_LOCAL_GARBAGE);
  }
}

// On to the next position; false behind the last one.
static bool advance(const cycle_conv_shape *shape, cycle_conv_part *p) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  uint32_t b_step = t->trans_input_3120 ? shape->dim : 1;
  uint32_t col_step = p->silent || t->trans_input_3120 ? 1 : columns(shape, t);
  p->compute = false;
  if (!p->silent) p->fresh = false;
  if (!cycle_conv_wraps(&p->col, cycle_conv_cut(r->ocols - p->col) <= col_step, col_step)) return true;
  if (!cycle_conv_wraps(&p->row, cycle_conv_cut(r->orows - p->row) <= 1, 1)) return true;
  if (!cycle_conv_wraps(&p->b, cycle_conv_cut(r->batches - p->b) <= b_step, b_step)) return true;
  p->fresh = true;
  return !(cycle_conv_wraps(&p->kch, cycle_conv_cut(r->kchs - p->kch) <= shape->dim, shape->dim) &&
           cycle_conv_wraps(&p->kcol, cycle_conv_cut(r->kcols - p->kcol) <= t->pixels, t->pixels) &&
           cycle_conv_wraps(&p->krow, cycle_conv_cut(r->krows - p->krow) <= 1, 1) &&
           cycle_conv_wraps(&p->och, cycle_conv_cut(r->pochs - p->och) <= shape->dim, shape->dim));
}

bool cycle_conv_execute_step(const cycle_conv_shape *shape, cycle_conv_part *p, cycle_conv_command *out) {
  bool more = true;
  if (p->config) {
    p->config = false;
    strides(p->tile, out);
  } else {
    if (!p->silent) product(shape, p, out);
    if (!p->compute) {
      p->compute = true;
      return true;
    }
    more = advance(shape, p);
  }
  p->silent = implied_zero(p->tile, p);
  return more;
}
