// SPDX-License-Identifier: Apache-2.0
// The stores of a convolution tile. Without pooling an mvout for each (b, orow, DIM ocols, DIM channels), channels
// innermost; with pooling a config_st that switches it on, one mvout for each (b, DIM channels), and a config_st that
// switches it off. Both keep the accumulator scale. A tile without an output address emits nothing.
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_conv_parts.h"

void cycle_conv_store_begin(const cycle_conv_shape *shape, cycle_conv_part *p) {
  (void)shape;
  p->silent = p->tile->r.output == 0;
  p->config = !p->tile->no_pool;
  p->after = false;
}

static void config_st(const cycle_conv_tile *t, bool pool, cycle_conv_command *out) {
  out->insn = ISA_CONFIG_ST;
  arch_loop_conv_config_st(&t->r, t->activation, t->r.out_stride, pool, &out->rs1, &out->rs2);
}

// Offsets: 32 bits count, but all of a pooled image.
static uint32_t element_at(const cycle_conv_tile *t, const cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &t->r;
  if (t->trans_output_1203) return ((p->row * r->out_cols + p->col) * r->batch_size + p->b) * r->out_channels + p->och;
  return ((p->b * r->out_rows + p->row) * r->out_cols + p->col) * r->out_stride + p->och;
}

static uint64_t image_at(const cycle_conv_tile *t, const cycle_conv_part *p) {
  return (uint64_t)p->b * t->r.pool_out_rows * t->r.pool_out_cols * t->r.out_stride + p->och;
}

static void mvout(const cycle_conv_shape *shape, const cycle_conv_part *p, cycle_conv_command *out) {
  const cycle_conv_tile *t = p->tile;
  const arch_loop_conv_slot *r = &t->r;
  uint32_t rows = wf_min(cycle_conv_cut(r->ocols - p->col), shape->dim);
  uint32_t cols = wf_min(cycle_conv_cut(r->pochs - p->och), shape->dim);
  uint32_t pixel = (p->b * r->orows + p->row) * r->ocols + p->col;
  uint32_t place = (t->c_row + (p->och >> shape->dim_log2) * t->bias_block + pixel) & shape->row_mask;
  out->insn = ISA_MVOUT;
  out->rs1 = r->output + (t->no_pool ? element_at(t, p) : image_at(t, p));
  out->rs2 = cycle_conv_operand(t->no_pool ? rows : 0, cols, isa_local_with_accumulator(place, 1));
}

static bool next_channel(const cycle_conv_shape *shape, cycle_conv_part *p) {
  bool last = cycle_conv_cut(p->tile->r.pochs - p->och) <= shape->dim;
  return !cycle_conv_wraps(&p->och, last, shape->dim);
}

static bool next_batch(cycle_conv_part *p) {
  return !cycle_conv_wraps(&p->b, cycle_conv_cut(p->tile->r.batches - p->b) <= 1, 1);
}

static bool next_plain(const cycle_conv_shape *shape, cycle_conv_part *p) {
  const arch_loop_conv_slot *r = &p->tile->r;
  return next_channel(shape, p) ||
         !cycle_conv_wraps(&p->col, cycle_conv_cut(r->ocols - p->col) <= shape->dim, shape->dim) ||
         !cycle_conv_wraps(&p->row, cycle_conv_cut(r->orows - p->row) <= 1, 1) || next_batch(p);
}

bool cycle_conv_store_step(const cycle_conv_shape *shape, cycle_conv_part *p, cycle_conv_command *out) {
  if (p->silent) return false;
  if (p->after) {
    config_st(p->tile, false, out);
    return false;
  }
  if (p->config) {
    p->config = false;
    config_st(p->tile, true, out);
    return true;
  }
  mvout(shape, p, out);
  if (p->tile->no_pool) return next_plain(shape, p);
  p->after = !next_channel(shape, p) && !next_batch(p);
  return true;
}
