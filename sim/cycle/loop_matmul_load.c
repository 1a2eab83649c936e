// SPDX-License-Identifier: Apache-2.0
// Loads a rectangle of tiles: one of the three loaders (A, B, D) of loop_matmul (hw/rtl/weft_loop_matmul_load.sv).
//   address = base + 32 bits of ((row * stride + col) * DIM * bytes of an element)
//   local   = first + (row * cols + col) * DIM
// The last row of tiles is cut by pad_rows (unless full_height), the last tile of a row by pad_cols.
#include "sim/cycle/loop_matmul_parts.h"

void cycle_matmul_load_start(cycle_matmul_load *load, const cycle_matmul_load *start) {
  *load = *start;
  if (load->cols < load->blocks) load->blocks = load->cols;
  load->outer = load->inner = 0;
  // The counter of columns steps by groups, the other by one.
  bool outer_is_row = load->row_is_outer;
  load->outer_step = outer_is_row ? 1 : load->blocks;
  load->inner_step = outer_is_row ? load->blocks : 1;
  load->outer_end = outer_is_row ? load->rows : load->cols;
  load->inner_end = outer_is_row ? load->cols : load->rows;
}

void cycle_matmul_load_command(const cycle_matmul_load *load, const cycle_matmul_geometry *g,
                               cycle_front_command *command) {
  uint16_t row = load->row_is_outer ? load->outer : load->inner, col = load->row_is_outer ? load->inner : load->outer;
  uint16_t left = (uint16_t)(load->cols - col);
  bool last_row = row == (uint16_t)(load->rows - 1), last_col = left <= load->blocks;
  uint32_t blocks = last_col ? left : load->blocks;
  uint32_t width = (blocks << g->dim_log2) - (last_col ? load->pad_cols : 0u);
  uint32_t height = g->dim - (last_row && !load->full_height ? load->pad_rows : 0u);
  uint32_t offset = (row * load->stride + col) << g->dim_log2, tile = (uint32_t)row * load->cols + col;
  uint32_t local = (load->first + (tile << g->dim_log2)) & g->row_mask;
  command->rs1 = load->base + (load->wide ? offset << 2 : offset);
  command->rs2 = cycle_matmul_operand((uint16_t)height, (uint16_t)width, load->flags | local);
}

bool cycle_matmul_load_advance(cycle_matmul_load *load) {
  bool inner_wraps = (uint16_t)(load->inner_end - load->inner) <= load->inner_step;
  load->inner = inner_wraps ? 0 : (uint16_t)(load->inner + load->inner_step);
  if (!inner_wraps) return false;
  bool outer_wraps = (uint16_t)(load->outer_end - load->outer) <= load->outer_step;
  load->outer = outer_wraps ? 0 : (uint16_t)(load->outer + load->outer_step);
  return outer_wraps;
}
