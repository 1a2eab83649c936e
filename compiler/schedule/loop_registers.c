// SPDX-License-Identifier: Apache-2.0
// The commands of one LOOP_CONV_WS: six that fill its registers, in the layout of the array's revision, and one that
// starts it.
#include "compiler/schedule/loop_conv.h"

// Sets a field; `fits` becomes false if it is too narrow.
#define SET(insn, field, value)                                 \
  do {                                                          \
    const uint64_t set = (uint64_t)(value);                     \
    isa_set_##insn##_##field(&rs1, &rs2, set);                  \
    *fits = *fits && isa_get_##insn##_##field(rs1, rs2) == set; \
  } while (false)

static void put_shape_1(sched_loop *l, const sched_conv_registers *r, bool *fits) {
  uint64_t rs1, rs2;
  isa_init_loop_conv_ws_config_1_r1(&rs1, &rs2);
  SET(loop_conv_ws_config_1_r1, batch_size, r->batches);
  SET(loop_conv_ws_config_1_r1, in_dim, r->in_cols);
  SET(loop_conv_ws_config_1_r1, in_channels, r->in_channels);
  SET(loop_conv_ws_config_1_r1, out_channels, r->out_stride);
  SET(loop_conv_ws_config_1_r1, out_dim, r->out_cols);
  SET(loop_conv_ws_config_1_r1, stride, r->stride);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_1, sched_loop_number(rs1), sched_loop_number(rs2));
}

static void put_shape_2(sched_loop *l, const sched_conv_registers *r, bool *fits) {
  uint64_t rs1, rs2;
  isa_init_loop_conv_ws_config_1_r2(&rs1, &rs2);
  SET(loop_conv_ws_config_1_r2, batch_size, r->batches);
  SET(loop_conv_ws_config_1_r2, in_row_dim, r->in_rows);
  SET(loop_conv_ws_config_1_r2, in_channels, r->in_channels);
  SET(loop_conv_ws_config_1_r2, out_channels, r->out_stride);
  SET(loop_conv_ws_config_1_r2, out_row_dim, r->out_rows);
  SET(loop_conv_ws_config_1_r2, out_col_dim, r->out_cols);
  SET(loop_conv_ws_config_1_r2, stride, r->stride);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_1, sched_loop_number(rs1), sched_loop_number(rs2));
}

// The fields that both revisions have: in the same bits, as far as they are wide enough.
static void put_tile(sched_loop *l, const sched_conv_registers *r, bool later, bool *fits) {
  uint64_t rs1, rs2;
  isa_init_loop_conv_ws_config_2_r1(&rs1, &rs2);
  SET(loop_conv_ws_config_2_r1, kernel_dim, r->kernel);
  SET(loop_conv_ws_config_2_r1, batches, r->batches);
  SET(loop_conv_ws_config_2_r1, porows, r->orows);
  SET(loop_conv_ws_config_2_r1, pocols, r->ocols);
  SET(loop_conv_ws_config_2_r1, pochs, r->pochs);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_2, sched_loop_number(rs1), sched_loop_number(rs2));
  isa_init_loop_conv_ws_config_3_r1(&rs1, &rs2);
  if (later) {
    SET(loop_conv_ws_config_3_r2, in_col_dim, r->in_cols);
    SET(loop_conv_ws_config_3_r2, dpad, r->pad[SCHED_ROW][1]);
  } else {
    SET(loop_conv_ws_config_3_r1, dpad, r->pad[SCHED_ROW][1]);
  }
  SET(loop_conv_ws_config_3_r1, krows, r->krows);
  SET(loop_conv_ws_config_3_r1, kcols, r->kcols);
  SET(loop_conv_ws_config_3_r1, kchs, r->kchs);
  SET(loop_conv_ws_config_3_r1, upad, r->pad[SCHED_ROW][0]);
  SET(loop_conv_ws_config_3_r1, lpad, r->pad[SCHED_COLUMN][0]);
  SET(loop_conv_ws_config_3_r1, rpad, r->pad[SCHED_COLUMN][1]);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_3, sched_loop_number(rs1), sched_loop_number(rs2));
}

static void put_results(sched_loop *l, const sched_conv_registers *r, bool later, bool *fits) {
  uint64_t rs1, rs2;
  isa_init_loop_conv_ws_config_4_r1(&rs1, &rs2);
  SET(loop_conv_ws_config_4_r1, orows, r->orows);
  SET(loop_conv_ws_config_4_r1, ocols, r->ocols);
  if (later) {
    SET(loop_conv_ws_config_4_r2, kernel_dilation, r->dilation);
    SET(loop_conv_ws_config_4_r2, out_stride, r->out_stride);
    SET(loop_conv_ws_config_4_r2, weight_stride, r->weight_stride);
    SET(loop_conv_ws_config_4_r2, in_stride, r->in_stride);
  } else {
    SET(loop_conv_ws_config_4_r1, kernel_dilation, r->dilation);
  }
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_4, sched_loop_number(rs1), sched_loop_number(rs2));
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_5, r->weights, r->output);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS_CONFIG_6, r->bias, r->input);
}

bool sched_conv_put_registers(sched_loop *l, const sched_conv_registers *r) {
  const bool later = l->array->isa.revision != 1;
  bool all_fit = true, *fits = &all_fit;
  uint64_t rs1, rs2;
  if (later)
    put_shape_2(l, r, fits);
  else
    put_shape_1(l, r, fits);
  put_tile(l, r, later, fits);
  put_results(l, r, later, fits);
  isa_init_loop_conv_ws_r1(&rs1, &rs2);  // these bits are the same in both revisions
  SET(loop_conv_ws_r1, no_bias, r->no_bias);
  SET(loop_conv_ws_r1, max_pixels_per_row, r->pixels);
  SET(loop_conv_ws_r1, no_pool, 1);
  SET(loop_conv_ws_r1, downsample, r->downsample);
  SET(loop_conv_ws_r1, activation, r->relu);
  sched_loop_put(l, ISA_FUNCT_LOOP_CONV_WS, sched_loop_number(rs1), sched_loop_number(rs2));
  return all_fit;
}
