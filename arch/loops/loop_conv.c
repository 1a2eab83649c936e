// SPDX-License-Identifier: Apache-2.0
// LOOP_CONV_WS: a tile of a convolution, NHWC, as weight-stationary products that always accumulate.
//
// Local memory of a tile, one row per pixel and block of dim channels:
//   input    a_row + (ch/dim)*input_block + (b*DS(irows) + DS(row))*DS(icols) + DS(col), DS(x) = x >> downsample
//   weights  b_row + (och/dim)*weight_block + (krow*kcols + kcol)*kchs + kch
//   output   c_row + (och/dim)*bias_block + (b*orows + orow)*ocols + ocol
// trans_input_3120 swaps the roles of batch and channel in the input, trans_weight_0132 those of input and output
// channels in the weights. With input_dilated every second row and column of the input is an implied zero, which is
// neither loaded nor computed: UNDIL(x) = (x + 1) >> 1.
#include <string.h>

#include "arch/config.h"
#include "arch/loops/emit.h"

void arch_loop_conv_reset(arch_loop_conv *loop) { memset(loop, 0, sizeof *loop); }

// The registers of revision 1, whose images are square.
static void configure_revision_1(arch_loop_conv_slot *s, isa_id id, uint64_t rs1, uint64_t rs2) {
#define GET(insn, field) ((uint32_t)isa_get_loop_conv_ws_config_##insn##_r1_##field(rs1, rs2))
  switch (id) {
    case ISA_LOOP_CONV_WS_CONFIG_1_R1:
      s->batch_size = GET(1, batch_size), s->stride = GET(1, stride);
      s->in_rows = s->in_cols = GET(1, in_dim);
      s->in_channels = s->in_stride = GET(1, in_channels);
      s->out_channels = s->out_stride = s->weight_stride = GET(1, out_channels);
      s->out_rows = s->out_cols = GET(1, out_dim);
      s->pool_out_rows = s->pool_out_cols = GET(1, pool_out_dim);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_2_R1:
      s->kernel = GET(2, kernel_dim), s->pool_size = GET(2, pool_size), s->pool_stride = GET(2, pool_stride);
      s->batches = GET(2, batches), s->porows = GET(2, porows), s->pocols = GET(2, pocols), s->pochs = GET(2, pochs);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_3_R1:
      s->krows = GET(3, krows), s->kcols = GET(3, kcols), s->kchs = GET(3, kchs), s->lpad = GET(3, lpad);
      s->rpad = GET(3, rpad), s->upad = GET(3, upad), s->dpad = GET(3, dpad), s->plpad = GET(3, plpad);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_4_R1:
      s->orows = GET(4, orows), s->pupad = GET(4, pupad);
      s->ocols = GET(4, ocols), s->kernel_dilation = GET(4, kernel_dilation);
      break;
    default:
      break;
  }
#undef GET
}

static void configure_revision_2(arch_loop_conv_slot *s, isa_id id, uint64_t rs1, uint64_t rs2) {
#define GET(insn, field) ((uint32_t)isa_get_loop_conv_ws_config_##insn##_r2_##field(rs1, rs2))
  switch (id) {
    case ISA_LOOP_CONV_WS_CONFIG_1_R2:
      s->batch_size = GET(1, batch_size), s->stride = GET(1, stride), s->in_rows = GET(1, in_row_dim);
      s->in_channels = GET(1, in_channels), s->out_channels = GET(1, out_channels);
      s->out_rows = GET(1, out_row_dim), s->out_cols = GET(1, out_col_dim);
      s->pool_out_rows = GET(1, pool_out_row_dim);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_2_R2:
      s->kernel = GET(2, kernel_dim), s->pool_size = GET(2, pool_size), s->pool_stride = GET(2, pool_stride);
      s->pool_out_cols = GET(2, pool_out_col_dim);
      s->batches = GET(2, batches), s->porows = GET(2, porows), s->pocols = GET(2, pocols), s->pochs = GET(2, pochs);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_3_R2:
      s->krows = GET(3, krows), s->kcols = GET(3, kcols), s->kchs = GET(3, kchs), s->lpad = GET(3, lpad);
      s->rpad = GET(3, rpad), s->upad = GET(3, upad), s->dpad = GET(3, dpad), s->plpad = GET(3, plpad);
      s->in_cols = GET(3, in_col_dim);
      break;
    case ISA_LOOP_CONV_WS_CONFIG_4_R2:
      s->orows = GET(4, orows), s->pupad = GET(4, pupad);
      s->ocols = GET(4, ocols), s->kernel_dilation = GET(4, kernel_dilation);
      s->in_stride = GET(4, in_stride), s->weight_stride = GET(4, weight_stride), s->out_stride = GET(4, out_stride);
      break;
    default:
      break;
  }
#undef GET
}

void arch_loop_conv_configure(arch_loop_conv *loop, isa_id id, uint64_t rs1, uint64_t rs2) {
  arch_loop_conv_slot *slot = &loop->slots[loop->current];
  if (id == ISA_LOOP_CONV_WS_CONFIG_5) {
    slot->weights = isa_get_loop_conv_ws_config_5_weights(rs1, rs2);
    slot->output = isa_get_loop_conv_ws_config_5_output(rs1, rs2);
  } else if (id == ISA_LOOP_CONV_WS_CONFIG_6) {
    slot->bias = isa_get_loop_conv_ws_config_6_bias(rs1, rs2);
    slot->input = isa_get_loop_conv_ws_config_6_input(rs1, rs2);
  } else {
    configure_revision_1(slot, id, rs1, rs2);
    configure_revision_2(slot, id, rs1, rs2);
  }
}

// Both revisions share these operand bits.
static void plan_flags(arch_loop_conv_plan *plan, uint64_t rs1, uint64_t rs2) {
  plan->no_bias = isa_get_loop_conv_ws_r1_no_bias(rs1, rs2);
  plan->wrot180 = isa_get_loop_conv_ws_r1_wrot180(rs1, rs2);
  plan->trans_output_1203 = isa_get_loop_conv_ws_r1_trans_output_1203(rs1, rs2);
  plan->trans_weight_1203 = isa_get_loop_conv_ws_r1_trans_weight_1203(rs1, rs2);
  plan->trans_weight_0132 = isa_get_loop_conv_ws_r1_trans_weight_0132(rs1, rs2);
  plan->trans_input_3120 = isa_get_loop_conv_ws_r1_trans_input_3120(rs1, rs2);
  plan->depthwise = isa_get_loop_conv_ws_r1_depthwise(rs1, rs2);
  plan->no_pool = isa_get_loop_conv_ws_r1_no_pool(rs1, rs2);
  plan->downsample = isa_get_loop_conv_ws_r1_downsample(rs1, rs2);
  plan->input_dilated = isa_get_loop_conv_ws_r1_input_dilated(rs1, rs2);
  plan->activation = (uint32_t)isa_get_loop_conv_ws_r1_activation(rs1, rs2);
}

static int32_t undilate(const arch_loop_conv_plan *plan, int32_t x) { return plan->input_dilated ? (x + 1) >> 1 : x; }

// The kernel with its dilation is an unsigned number of 16 bits. Sides that no plan accepts need not be exact.
static int32_t input_side(uint32_t out, uint32_t stride, uint32_t kernel, uint32_t dilation) {
  uint32_t dilated = (kernel + (dilation - 1) * (kernel - 1)) & UINT16_MAX;
  return (int32_t)wf_min((int64_t)out * stride + dilated - 1, INT32_MAX / 2);
}

static void plan_input(arch_loop_conv_plan *plan) {
  const arch_loop_conv_slot *s = &plan->slot;
  plan->irows = input_side(s->orows, s->stride, s->krows, s->kernel_dilation);
  plan->icols = input_side(s->ocols, s->stride, s->kcols, s->kernel_dilation);
  plan->irows_unpadded = undilate(plan, plan->irows - (int32_t)s->upad - (int32_t)s->dpad);
  plan->icols_unpadded = undilate(plan, plan->icols - (int32_t)s->lpad - (int32_t)s->rpad);
  plan->upad = undilate(plan, (int32_t)s->upad), plan->dpad = undilate(plan, (int32_t)s->dpad);
  plan->lpad = undilate(plan, (int32_t)s->lpad), plan->rpad = undilate(plan, (int32_t)s->rpad);
  if (!plan->input_dilated) return;
  plan->irows = plan->irows_unpadded + plan->upad + plan->dpad;
  plan->icols = plan->icols_unpadded + plan->lpad + plan->rpad;
}

static int64_t input_plane(const arch_loop_conv_plan *plan) {
  return (int64_t)(plan->irows >> plan->downsample) * (plan->icols >> plan->downsample);
}

static void plan_blocks(arch_loop_conv_plan *plan) {
  const arch_loop_conv_slot *s = &plan->slot;
  plan->bias_block = (int64_t)s->batches * s->orows * s->ocols;
  plan->input_block = (plan->trans_input_3120 ? s->kchs : s->batches) * input_plane(plan);
  plan->weight_block = (int64_t)s->krows * s->kcols * (plan->trans_weight_0132 ? s->pochs : s->kchs);
}

static void plan_rows(arch_loop_conv_plan *plan, unsigned current, bool half, uint32_t a_id, uint32_t b_id) {
  const arch_loop_conv_slot *s = &plan->slot;
  const hw_derived *d = plan->derived;
  uint32_t columns = plan->trans_weight_0132 ? s->kchs : s->pochs;
  int64_t side = d->sp_rows / ARCH_LOOP_SLOTS, blocks = (columns + d->dim - 1) / d->dim;
  plan->a_row = (a_id == 0 ? current : a_id - 1) * side;
  plan->b_row = (b_id == 0 ? current + 1 : b_id) * side - blocks * plan->weight_block;
  plan->c_row = half ? d->acc_rows / ARCH_LOOP_SLOTS : 0;
}

void arch_loop_conv_run(arch_loop_conv *loop, const hw_array *array, const hw_derived *derived, isa_id id,
                        const arch_command *run, arch_loop_conv_plan *plan) {
  uint64_t rs1 = run->rs1, rs2 = run->rs2;
  bool later = id == ISA_LOOP_CONV_WS_R2;
  *plan = (arch_loop_conv_plan){
      .derived = derived, .run = *run, .slot = loop->slots[loop->current], .revision = later ? 2 : 1};
  plan_flags(plan, rs1, rs2);
  plan->pixels = (int32_t)isa_get_loop_conv_ws_r1_max_pixels_per_row(rs1, rs2);
  if (plan->pixels == 0 || !array->units.pixel_repeat) plan->pixels = 1;
  plan_input(plan);
  plan_blocks(plan);
  plan_rows(plan, loop->current, loop->half, later ? (uint32_t)isa_get_loop_conv_ws_r2_a_spad_id(rs1, rs2) : 0,
            later ? (uint32_t)isa_get_loop_conv_ws_r2_b_spad_id(rs1, rs2) : 0);
  if (plan->slot.output != 0) loop->half = !loop->half;
  loop->current ^= 1;
}

// Sizes that the store unit's registers cannot hold would be cut off by hardware.
static const char *pool_fault(const arch_loop_conv_slot *s) {
  if (s->pool_size > 3 || s->pool_stride > 3 || s->pupad > 3 || s->plpad > 3)
    return "pooling windows, strides and paddings are at most 3";
  if (s->pool_size == 0) return "the pooling window has no size";
  if (s->pool_stride == 0) return "the pooling stride is 0; no_pool stores without pooling";
  if (s->pool_out_cols > 255 || s->porows > 255 || s->pocols > 255 || s->orows > 255 || s->ocols > 255)
    return "images are at most 255 pixels wide and high when they are pooled";
  return NULL;
}

const char *arch_loop_conv_fault(const arch_loop_conv_plan *plan) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (s->batches == 0 || s->orows == 0 || s->ocols == 0 || s->pochs == 0) return "the output tile is empty";
  if (s->krows == 0 || s->kcols == 0 || s->kchs == 0) return "the kernel tile is empty";
  if (plan->irows_unpadded < 0 || plan->icols_unpadded < 0) return "the padding is larger than the input tile";
  if (plan->irows > INT16_MAX || plan->icols > INT16_MAX) return "the input tile has more than 32767 rows or columns";
  if (plan->bias_block > UINT16_MAX || plan->input_block > UINT16_MAX || plan->weight_block > UINT16_MAX)
    return "a channel block of the tile has more than 65535 local rows";
  if (plan->trans_input_3120 && (int64_t)plan->irows * plan->icols > UINT16_MAX)
    return "a channel of the input tile has more than 65535 pixels";
  return plan->no_pool || s->output == 0 ? NULL : pool_fault(s);
}

static void emit_config_ld(const arch_loop_conv_plan *plan, uint64_t state, uint64_t stride, int64_t block_stride,
                           int32_t repeats, arch_command *out) {
  *out = loop_command(&plan->run, ISA_CONFIG_LD);
  isa_init_config_ld(&out->rs1, &out->rs2);
  isa_set_config_ld_state(&out->rs1, &out->rs2, state);
  isa_set_config_ld_pixel_repeats(&out->rs1, &out->rs2, (uint64_t)repeats);
  isa_set_config_ld_block_stride(&out->rs1, &out->rs2, (uint64_t)block_stride);
  isa_set_config_ld_scale(&out->rs1, &out->rs2, ARCH_SCALE_ONE);
  isa_set_config_ld_stride(&out->rs1, &out->rs2, stride);
}

static int32_t widest(const arch_loop_conv_plan *plan, uint32_t channels, uint32_t max_blocks) {
  return (int32_t)wf_min(channels, max_blocks * plan->derived->dim);
}

static int64_t output_row(const arch_loop_conv_plan *plan, int64_t och, int64_t b, int64_t orow, int64_t ocol) {
  const arch_loop_conv_slot *s = &plan->slot;
  return plan->c_row + och / plan->derived->dim * plan->bias_block + (b * s->orows + orow) * s->ocols + ocol;
}

// --- bias: counters {b, orow, ocol, och} -----------------------------------------------------------------------------

static arch_loop_result next_bias(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (cursor->done || s->bias == 0) return ARCH_LOOP_END;
  if (!cursor->started) {
    cursor->started = true;
    emit_config_ld(plan, 2, 0, plan->bias_block, 1, out);
    return ARCH_LOOP_COMMAND;
  }
  int32_t *x = cursor->index, dim = (int32_t)plan->derived->dim;
  int32_t width = widest(plan, s->pochs, plan->derived->max_block_len_acc);
  uint32_t local;
  if (!loop_local(cursor, plan->derived, LOOP_ACC, output_row(plan, x[3], x[0], x[1], x[2]), &local))
    return ARCH_LOOP_NO_ROW;
  *out = loop_command(&plan->run, ISA_MVIN3);
  out->rs1 = plan->no_bias ? 0 : loop_dram(s->bias, (uint64_t)x[3] * plan->derived->acc_bytes);
  out->rs2 = loop_operand(local, wf_min(dim, (int32_t)s->ocols - x[2]), wf_min(width, (int32_t)s->pochs - x[3]));
  static const int32_t start[4] = {0, 0, 0, 0};
  int32_t end[4] = {(int32_t)s->batches, (int32_t)s->orows, (int32_t)s->ocols, (int32_t)s->pochs};
  int32_t step[4] = {1, 1, dim, width};
  cursor->done = !loop_step(x, 4, start, end, step);
  return ARCH_LOOP_COMMAND;
}

// --- input: counters {b, irow, icol, ich}; rows and columns are negative in the padding ------------------------------

// Columns of the run that starts at icol: runs end at the edges of the image and after a block of rows.
static int32_t input_run(const arch_loop_conv_plan *plan, int32_t icol) {
  int32_t dim = (int32_t)plan->derived->dim;
  if (icol < 0) return (int32_t)wf_min(dim, -icol);
  if (icol < plan->icols_unpadded)
    return (int32_t)wf_min((int64_t)dim << plan->downsample, plan->icols_unpadded - icol);
  return (int32_t)wf_min(dim, plan->icols_unpadded + plan->rpad - icol);
}

static uint64_t input_offset(const arch_loop_conv_plan *plan, const int32_t *x) {
  const arch_loop_conv_slot *s = &plan->slot;
  int64_t b = x[0], irow = x[1], icol = x[2], ich = x[3];
  int64_t image = plan->trans_input_3120 ? ich : b;
  int64_t pixel = (image * s->in_rows + irow) * s->in_cols + icol;
  int64_t element = plan->trans_input_3120 ? pixel * s->batches + b : pixel * s->in_stride + ich;
  return (uint64_t)element * plan->derived->input_bytes;
}

static int64_t input_row(const arch_loop_conv_plan *plan, int64_t b, int64_t ch, int32_t row, int32_t col) {
  int64_t outer = plan->trans_input_3120 ? b : ch, inner = plan->trans_input_3120 ? ch : b;
  return plan->a_row + outer / plan->derived->dim * plan->input_block + inner * input_plane(plan) +
         (int64_t)(row >> plan->downsample) * (plan->icols >> plan->downsample) + (col >> plan->downsample);
}

static void emit_input_config(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  cursor->started = true;
  cursor->index[1] = -plan->upad;
  cursor->index[2] = -plan->lpad;
  uint64_t elements = plan->trans_input_3120 ? s->batch_size : s->in_stride;
  emit_config_ld(plan, 0, elements * plan->derived->input_bytes << plan->downsample, plan->input_block, plan->pixels,
                 out);
}

static arch_loop_result next_input(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (cursor->done || (plan->revision == 2 && s->input == 0)) return ARCH_LOOP_END;
  if (!cursor->started) {
    emit_input_config(plan, cursor, out);
    return ARCH_LOOP_COMMAND;
  }
  int32_t *x = cursor->index, run = input_run(plan, x[2]);
  bool zeros = x[1] < 0 || x[1] >= plan->irows_unpadded || x[2] < 0 || x[2] >= plan->icols_unpadded;
  int32_t channels = (int32_t)(plan->trans_input_3120 ? s->batches : s->kchs);
  int32_t width = widest(plan, (uint32_t)channels, plan->derived->max_block_len);
  uint32_t local;
  if (!loop_local(cursor, plan->derived, LOOP_SPAD, input_row(plan, x[0], x[3], x[1] + plan->upad, x[2] + plan->lpad),
                  &local))
    return ARCH_LOOP_NO_ROW;
  *out = loop_command(&plan->run, ISA_MVIN);
  out->rs1 = zeros ? 0 : loop_dram(s->input, input_offset(plan, x));
  out->rs2 = loop_operand(local, run >> plan->downsample, wf_min(width, channels - x[plan->trans_input_3120 ? 0 : 3]));
  int32_t start[4] = {0, -plan->upad, -plan->lpad, 0};
  int32_t end[4] = {(int32_t)s->batches, plan->irows_unpadded + plan->dpad, plan->icols_unpadded + plan->rpad,
                    (int32_t)s->kchs};
  int32_t step[4] = {plan->trans_input_3120 ? width : 1, 1 << plan->downsample, run,
                     plan->trans_input_3120 ? 1 : width};
  cursor->done = !loop_step(x, 4, start, end, step);
  return ARCH_LOOP_COMMAND;
}

// --- weights: counters {och, krow, kcol, kch} ------------------------------------------------------------------------

static uint64_t weight_offset(const arch_loop_conv_plan *plan, const int32_t *x) {
  const arch_loop_conv_slot *s = &plan->slot;
  uint64_t och = (uint64_t)x[0], krow = (uint64_t)x[1], kcol = (uint64_t)x[2], kch = (uint64_t)x[3];
  uint64_t tap = krow * s->kernel + kcol, element;
  if (plan->depthwise)
    element = tap;
  else if (plan->trans_weight_1203)
    element = (kch * s->kernel * s->kernel + tap) * s->out_channels + och;
  else if (plan->trans_weight_0132)
    element = (tap * s->out_channels + och) * s->in_channels + kch;
  else
    element = (tap * s->in_channels + kch) * s->weight_stride + och;
  return element * plan->derived->input_bytes;
}

static uint64_t weight_memory_stride(const arch_loop_conv_plan *plan) {
  const arch_loop_conv_slot *s = &plan->slot;
  uint64_t elements = s->weight_stride;
  if (plan->depthwise)
    elements = 1;
  else if (plan->trans_weight_1203)
    elements = (uint64_t)s->kernel * s->kernel * s->out_channels;
  else if (plan->trans_weight_0132)
    elements = s->in_channels;
  return elements * plan->derived->input_bytes;
}

static int64_t weight_row(const arch_loop_conv_plan *plan, int64_t och, int64_t krow, int64_t kcol, int64_t kch) {
  const arch_loop_conv_slot *s = &plan->slot;
  bool swap = plan->trans_weight_0132;
  int64_t wide = swap ? kch : och, deep = swap ? och : kch, depth = swap ? s->pochs : s->kchs;
  return plan->b_row + wide / plan->derived->dim * plan->weight_block + (krow * s->kcols + kcol) * depth + deep;
}

static arch_loop_result next_weights(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (cursor->done || (plan->revision == 2 && s->weights == 0)) return ARCH_LOOP_END;
  if (!cursor->started) {
    cursor->started = true;
    emit_config_ld(plan, 1, weight_memory_stride(plan), plan->weight_block, 1, out);
    return ARCH_LOOP_COMMAND;
  }
  bool swap = plan->trans_weight_0132;
  int32_t *x = cursor->index, dim = (int32_t)plan->derived->dim;
  int32_t wide = (int32_t)(swap ? s->kchs : s->pochs), deep = (int32_t)(swap ? s->pochs : s->kchs);
  int32_t width = widest(plan, (uint32_t)wide, plan->derived->max_block_len);
  uint32_t local;
  if (!loop_local(cursor, plan->derived, LOOP_SPAD, weight_row(plan, x[0], x[1], x[2], x[3]), &local))
    return ARCH_LOOP_NO_ROW;
  *out = loop_command(&plan->run, ISA_MVIN2);
  out->rs1 = loop_dram(s->weights, weight_offset(plan, x));
  out->rs2 = loop_operand(local, wf_min(dim, deep - x[swap ? 0 : 3]), wf_min(width, wide - x[swap ? 3 : 0]));
  static const int32_t start[4] = {0, 0, 0, 0};
  int32_t end[4] = {(int32_t)s->pochs, (int32_t)s->krows, (int32_t)s->kcols, (int32_t)s->kchs};
  int32_t step[4] = {swap ? dim : width, 1, 1, swap ? width : dim};
  cursor->done = !loop_step(x, 4, start, end, step);
  return ARCH_LOOP_COMMAND;
}

// --- execute: counters {och, krow, kcol, kch, b, orow, ocol}; phase 0 is the preload, 1 the compute ------------------

enum { OCH, KROW, KCOL, KCH, BATCH, OROW, OCOL, EXECUTE_COUNTERS };

typedef struct product {
  int32_t rows, cols, depth;  // of A and C, of B and C, of A and B
  int64_t a, b, c;            // local rows
} product;

// Positions that fall between the pixels of a dilated input contribute nothing.
static bool is_implied_zero(const arch_loop_conv_plan *plan, const int32_t *x) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (!plan->input_dilated) return false;
  uint32_t row = (uint32_t)x[KROW] * s->kernel_dilation + (uint32_t)x[OROW] - s->upad;
  uint32_t col = (uint32_t)x[KCOL] * s->kernel_dilation + (uint32_t)x[OCOL] - s->lpad;
  return ((row | col) & 1) != 0;
}

static product product_at(const arch_loop_conv_plan *plan, const int32_t *x) {
  const arch_loop_conv_slot *s = &plan->slot;
  int32_t dim = (int32_t)plan->derived->dim;
  int32_t pixels = (int32_t)wf_min(plan->pixels, (int32_t)s->kcols - x[KCOL]);
  int32_t irow = undilate(plan, (int32_t)((uint32_t)x[OROW] * s->stride + (uint32_t)x[KROW] * s->kernel_dilation));
  int32_t icol = undilate(plan, (int32_t)((uint32_t)x[OCOL] * s->stride + (uint32_t)x[KCOL] * s->kernel_dilation));
  int32_t krow = plan->wrot180 ? (int32_t)s->krows - x[KROW] - 1 : x[KROW];
  int32_t kcol = plan->wrot180 ? (int32_t)s->kcols - x[KCOL] - 1 : x[KCOL];
  int64_t run = wf_min((int64_t)dim << plan->input_dilated, (int32_t)s->ocols - x[OCOL]);
  return (product){
      .rows = (int32_t)(plan->trans_input_3120 ? wf_min(dim, (int32_t)s->batches - x[BATCH])
                                               : undilate(plan, (int32_t)run)),
      .cols = (int32_t)wf_min(dim, (int32_t)s->pochs - x[OCH]),
      .depth = pixels * (int32_t)wf_min(dim, (int32_t)s->kchs - x[KCH]),
      .a = input_row(plan, x[BATCH], x[KCH], irow, icol),
      .b = weight_row(plan, x[OCH], krow, kcol, x[KCH]),
      .c = output_row(plan, x[OCH], x[BATCH], x[OROW], x[OCOL]),
  };
}

static bool emit_product(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  product p = product_at(plan, cursor->index);
  uint32_t local = ARCH_LOCAL_GARBAGE;
  if (cursor->phase == 1) {
    if (!loop_local(cursor, plan->derived, LOOP_SPAD, p.a, &local)) return false;
    *out = loop_command(&plan->run, cursor->fresh ? ISA_COMPUTE_PRELOADED : ISA_COMPUTE_ACCUMULATED);
    out->rs1 = loop_operand(local, p.rows, p.depth);
    out->rs2 = loop_operand(ARCH_LOCAL_GARBAGE, p.rows, p.cols);
    return true;
  }
  *out = loop_command(&plan->run, ISA_PRELOAD);
  if (cursor->fresh && !loop_local(cursor, plan->derived, LOOP_SPAD, p.b, &local)) return false;
  out->rs1 = loop_operand(local, p.depth, p.cols);
  if (!loop_local(cursor, plan->derived, LOOP_ACC_ADD, p.c, &local)) return false;
  out->rs2 = loop_operand(local, p.rows, p.cols);
  return true;
}

static void step_execute(const arch_loop_conv_plan *plan, bool skipped, arch_loop_cursor *cursor) {
  const arch_loop_conv_slot *s = &plan->slot;
  int32_t *x = cursor->index, dim = (int32_t)plan->derived->dim;
  static const int32_t start[EXECUTE_COUNTERS] = {0};
  int32_t end[EXECUTE_COUNTERS] = {
      [OCH] = (int32_t)s->pochs,     [KROW] = (int32_t)s->krows, [KCOL] = (int32_t)s->kcols, [KCH] = (int32_t)s->kchs,
      [BATCH] = (int32_t)s->batches, [OROW] = (int32_t)s->orows, [OCOL] = (int32_t)s->ocols};
  int32_t step[EXECUTE_COUNTERS] = {[OCH] = dim,
                                    [KROW] = 1,
                                    [KCOL] = plan->pixels,
                                    [KCH] = dim,
                                    [BATCH] = plan->trans_input_3120 ? dim : 1,
                                    [OROW] = 1,
                                    [OCOL] = skipped || plan->trans_input_3120 ? 1 : dim << plan->input_dilated};
  cursor->done = !loop_step(x, EXECUTE_COUNTERS, start, end, step);
  if (x[BATCH] == 0 && x[OROW] == 0 && x[OCOL] == 0) cursor->fresh = true;
}

static void emit_strides(const arch_loop_conv_plan *plan, arch_command *out) {
  *out = loop_command(&plan->run, ISA_CONFIG_EX);
  isa_init_config_ex(&out->rs1, &out->rs2);
  isa_set_config_ex_strides_only(&out->rs1, &out->rs2, 1);
  isa_set_config_ex_a_stride(&out->rs1, &out->rs2, (uint64_t)plan->irows * (uint64_t)plan->icols);
  isa_set_config_ex_c_stride(&out->rs1, &out->rs2, (uint64_t)plan->slot.orows * plan->slot.ocols);
}

static arch_loop_result next_execute(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  if (!cursor->started) {
    cursor->started = cursor->fresh = true;
    if (plan->trans_input_3120) {
      emit_strides(plan, out);
      return ARCH_LOOP_COMMAND;
    }
  }
  while (!cursor->done && cursor->phase == 0 && is_implied_zero(plan, cursor->index)) step_execute(plan, true, cursor);
  if (cursor->done) return ARCH_LOOP_END;
  if (!emit_product(plan, cursor, out)) return ARCH_LOOP_NO_ROW;
  cursor->phase ^= 1;
  if (cursor->phase == 0) {
    cursor->fresh = false;
    step_execute(plan, false, cursor);
  }
  return ARCH_LOOP_COMMAND;
}

// --- store: counters {b, orow, ocol, och}; pooled {b, och} in phase 1 between two config_st --------------------------

void arch_loop_conv_config_st(const arch_loop_conv_slot *slot, uint32_t activation, uint64_t stride_bytes, bool pool,
                              uint64_t *rs1, uint64_t *rs2) {
  isa_init_config_st(rs1, rs2);
#define SET(field, value) isa_set_config_st_##field(rs1, rs2, (value))
  SET(activation, activation);
  SET(stride, stride_bytes);
  SET(acc_scale, ARCH_SCALE_KEEP);
  if (!pool) return;
  SET(pool_stride, slot->pool_stride);
  SET(pool_size, slot->pool_size);
  SET(pool_upad, slot->pupad);
  SET(pool_lpad, slot->plpad);
  SET(pool_out_dim, slot->pool_out_cols);
  SET(pool_orows, slot->porows);
  SET(pool_ocols, slot->pocols);
  SET(orows, slot->orows);
  SET(ocols, slot->ocols);
#undef SET
}

static void emit_config_st(const arch_loop_conv_plan *plan, bool pool, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  *out = loop_command(&plan->run, ISA_CONFIG_ST);
  arch_loop_conv_config_st(s, plan->activation, (uint64_t)s->out_stride * plan->derived->input_bytes, pool, &out->rs1,
                           &out->rs2);
}

static uint64_t output_offset(const arch_loop_conv_plan *plan, const int32_t *x) {
  const arch_loop_conv_slot *s = &plan->slot;
  uint64_t b = (uint64_t)x[0], orow = (uint64_t)x[1], ocol = (uint64_t)x[2], och = (uint64_t)x[3], element;
  if (plan->trans_output_1203)
    element = ((orow * s->out_cols + ocol) * s->batch_size + b) * s->out_channels + och;
  else
    element = ((b * s->out_rows + orow) * s->out_cols + ocol) * s->out_stride + och;
  return element * plan->derived->input_bytes;
}

static arch_loop_result next_plain_store(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  int32_t *x = cursor->index, dim = (int32_t)plan->derived->dim;
  uint32_t local;
  if (!loop_local(cursor, plan->derived, LOOP_ACC, output_row(plan, x[3], x[0], x[1], x[2]), &local))
    return ARCH_LOOP_NO_ROW;
  *out = loop_command(&plan->run, ISA_MVOUT);
  out->rs1 = loop_dram(s->output, output_offset(plan, x));
  out->rs2 = loop_operand(local, wf_min(dim, (int32_t)s->ocols - x[2]), wf_min(dim, (int32_t)s->pochs - x[3]));
  static const int32_t start[4] = {0, 0, 0, 0};
  int32_t end[4] = {(int32_t)s->batches, (int32_t)s->orows, (int32_t)s->ocols, (int32_t)s->pochs};
  int32_t step[4] = {1, 1, dim, dim};
  cursor->done = !loop_step(x, 4, start, end, step);
  return ARCH_LOOP_COMMAND;
}

static arch_loop_result next_pooled_store(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor,
                                          arch_command *out) {
  const arch_loop_conv_slot *s = &plan->slot;
  int32_t *x = cursor->index, dim = (int32_t)plan->derived->dim;
  if (cursor->phase != 1) {
    emit_config_st(plan, cursor->phase == 0, out);
    cursor->done = cursor->phase == 2;
    cursor->phase = 1;
    return ARCH_LOOP_COMMAND;
  }
  uint32_t local;
  if (!loop_local(cursor, plan->derived, LOOP_ACC, output_row(plan, x[1], x[0], 0, 0), &local)) return ARCH_LOOP_NO_ROW;
  uint64_t image = (uint64_t)x[0] * s->pool_out_rows * s->pool_out_cols * s->out_stride;
  *out = loop_command(&plan->run, ISA_MVOUT);
  out->rs1 = s->output + (image + (uint64_t)x[1]) * plan->derived->input_bytes;
  out->rs2 = loop_operand(local, 0, wf_min(dim, (int32_t)s->pochs - x[1]));
  static const int32_t start[2] = {0, 0};
  int32_t end[2] = {(int32_t)s->batches, (int32_t)s->pochs}, step[2] = {1, dim};
  if (!loop_step(x, 2, start, end, step)) cursor->phase = 2;
  return ARCH_LOOP_COMMAND;
}

static arch_loop_result next_store(const arch_loop_conv_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  if (cursor->done || plan->slot.output == 0) return ARCH_LOOP_END;
  return plan->no_pool ? next_plain_store(plan, cursor, out) : next_pooled_store(plan, cursor, out);
}

arch_loop_result arch_loop_conv_next(const arch_loop_conv_plan *plan, arch_loop_conv_part part,
                                     arch_loop_cursor *cursor, arch_command *out) {
  switch (part) {
    case ARCH_LOOP_CONV_LOAD_BIAS:
      return next_bias(plan, cursor, out);
    case ARCH_LOOP_CONV_LOAD_INPUT:
      return next_input(plan, cursor, out);
    case ARCH_LOOP_CONV_LOAD_WEIGHTS:
      return next_weights(plan, cursor, out);
    case ARCH_LOOP_CONV_EXECUTE:
      return next_execute(plan, cursor, out);
    default:
      return next_store(plan, cursor, out);
  }
}
