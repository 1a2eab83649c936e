// SPDX-License-Identifier: Apache-2.0
// The products of loop_matmul (hw/rtl/weft_loop_matmul_execute.sv): for k, j, i (i innermost) a preload and a compute
// per tile.
//
// The first i of a (k, j) preloads the weights B and computes with them, the others keep them: preload of the garbage
// address and compute_accumulated. When a tile may be emitted is decided in loop_matmul.c.
#include "arch/local.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_matmul_parts.h"

void cycle_matmul_execute_start(cycle_matmul_execute *x, const cycle_matmul_execute *start) {
  *x = *start;
  x->compute = false;
  x->i = x->j = x->k = 0;
}

static uint16_t cut(const cycle_matmul_geometry *g, uint16_t index, uint16_t end, uint16_t pad) {
  return (uint16_t)(g->dim - (index == (uint16_t)(end - 1) ? pad : 0u));
}

static uint32_t tile_row(const cycle_matmul_geometry *g, uint32_t first, uint32_t tile) {
  return (first + (tile << g->dim_log2)) & g->row_mask;
}

static void preload(const cycle_matmul_execute *x, const cycle_matmul_geometry *g, cycle_front_command *command) {
  uint16_t cols = cut(g, x->j, x->end_j, x->pad_j);
  uint32_t b = ARCH_LOCAL_GARBAGE;
  if (x->i == 0) {
    uint32_t k = x->k, j = x->j;
    b = tile_row(g, x->b_row, x->b_transpose ? j * x->end_k + k : k * x->end_j + j);
  }
  uint32_t c = isa_local_with_accumulator(tile_row(g, x->c_row, (uint32_t)x->i * x->end_j + x->j), 1);
  if (x->accumulate || x->k != 0) c = isa_local_with_accumulate(c, 1);
  command->insn = ISA_PRELOAD;
  command->rs1 = cycle_matmul_operand(cut(g, x->k, x->end_k, x->pad_k), cols, b);
  command->rs2 = cycle_matmul_operand(cut(g, x->i, x->end_i, x->pad_i), cols, c);
}

static void compute(const cycle_matmul_execute *x, const cycle_matmul_geometry *g, cycle_front_command *command) {
  uint32_t k = x->k, i = x->i;
  uint32_t a = tile_row(g, x->a_row, x->a_transpose ? k * x->end_i + i : i * x->end_k + k);
  command->insn = x->i == 0 ? ISA_COMPUTE_PRELOADED : ISA_COMPUTE_ACCUMULATED;
  command->rs1 = cycle_matmul_operand(cut(g, x->i, x->end_i, x->pad_i), cut(g, x->k, x->end_k, x->pad_k), a);
  command->rs2 = cycle_matmul_operand((uint16_t)g->dim, (uint16_t)g->dim, ARCH_LOCAL_GARBAGE);
}

void cycle_matmul_execute_command(const cycle_matmul_execute *x, const cycle_matmul_geometry *g,
                                  cycle_front_command *command) {
  if (x->compute)
    compute(x, g, command);
  else
    preload(x, g, command);
}

// True when the counter wraps.
static bool count(uint16_t *index, uint16_t end) {
  bool last = *index == (uint16_t)(end - 1);
  *index = last ? 0 : (uint16_t)(*index + 1);
  return last;
}

bool cycle_matmul_execute_advance(cycle_matmul_execute *x) {
  x->compute = !x->compute;
  if (x->compute) return false;
  return count(&x->i, x->end_i) && count(&x->j, x->end_j) && count(&x->k, x->end_k);
}
