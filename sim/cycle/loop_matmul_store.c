// SPDX-License-Identifier: Apache-2.0
// The stores of loop_matmul (hw/rtl/weft_loop_matmul_store.sv): mvout of C for j (groups of tiles), i innermost,
// mvout_spad when C stays in the scratchpad, or, with the layer-norm and softmax activations, three passes of
// statistics commands over every row.
//
// A group is stored when the products of its slot have passed it in the last k; with statistics, when they are
// complete. Statistics: for i, groups of norm_stats rows, the three passes, the rows of the group: one config_norm that
// selects the row's set, then one mvout of one row for each group of columns.
#include "arch/local.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_matmul_parts.h"

enum { PASSES = 3 };

typedef struct group {
  bool last_i, last_j;
  uint16_t blocks, width, height;
} group;

static group group_of(const cycle_matmul_store *st, const cycle_matmul_geometry *g) {
  uint16_t left = (uint16_t)(st->end_j - st->j);
  group x = {.last_i = st->i == (uint16_t)(st->end_i - 1), .last_j = left <= st->blocks};
  x.blocks = x.last_j ? left : st->blocks;
  x.width = (uint16_t)(((uint32_t)x.blocks << g->dim_log2) - (x.last_j ? st->pad_j : 0u));
  x.height = (uint16_t)(g->dim - (x.last_i ? st->pad_i : 0u));
  return x;
}

void cycle_matmul_store_start(cycle_matmul_store *st, const cycle_matmul_geometry *g, const cycle_matmul_store *start) {
  *st = *start;
  st->config = true;
  st->norm = start->norm && !start->to_spad;
  st->whole = start->whole || st->norm;
  st->blocks = start->end_j < g->blocks ? start->end_j : g->blocks;
  if (start->full || start->to_spad) st->blocks = 1;
  st->i = st->j = st->group = st->set = 0;
  st->pass = 0;
}

bool cycle_matmul_store_may(const cycle_matmul_store *st, const cycle_matmul_made *made) {
  if (made->done) return true;
  if (st->whole) return false;
  uint16_t left = (uint16_t)(st->end_j - st->j), blocks = left <= st->blocks ? left : st->blocks;
  uint16_t end = (uint16_t)(st->j + blocks);
  if (made->by_rows) return made->i > st->i || (made->i == st->i && made->j >= end);
  return made->k == st->last_k && (made->j >= end || (made->j == (uint16_t)(end - 1) && made->i > st->i));
}

// ---- commands

static uint32_t norm_of(const cycle_matmul_store *st, bool last_j) {
  static const struct {
    uint8_t last, before;
  } passes[2][PASSES] = {
      {{ARCH_NORM_MEAN, ARCH_NORM_SUM}, {ARCH_NORM_INV_STDDEV, ARCH_NORM_VARIANCE}, {ARCH_NORM_NONE, ARCH_NORM_NONE}},
      {{ARCH_NORM_MAX, ARCH_NORM_MAX}, {ARCH_NORM_INV_SUM_EXP, ARCH_NORM_SUM_EXP}, {ARCH_NORM_NONE, ARCH_NORM_NONE}}};
  return last_j ? passes[st->softmax][st->pass].last : passes[st->softmax][st->pass].before;
}

static uint32_t tile_rows(const cycle_matmul_store *st, const cycle_matmul_geometry *g) {
  return ((uint32_t)st->i * st->end_j + st->j) << g->dim_log2;
}

static uint32_t offset_of(const cycle_matmul_store *st, const cycle_matmul_geometry *g) {
  return (st->i * st->stride + st->j) << g->dim_log2;
}

static uint32_t c_local(const cycle_matmul_store *st, uint32_t norm, uint32_t row) {
  return isa_local_with_norm(isa_local_with_full(isa_local_with_accumulator(row, 1), st->full), norm);
}

static void select_set(const cycle_matmul_store *st, cycle_front_command *command) {
  command->insn = ISA_CONFIG_NORM;
  isa_init_config_norm(&command->rs1, &command->rs2);
  isa_set_config_norm_stats_id(&command->rs1, &command->rs2, st->set & 0xffu);
  isa_set_config_norm_stats_id_only(&command->rs1, &command->rs2, 1);
}

static void store_row(const cycle_matmul_store *st, const cycle_matmul_geometry *g, cycle_front_command *command) {
  group x = group_of(st, g);
  uint32_t row = (uint16_t)(st->group + st->set), local = (st->c_row + tile_rows(st, g) + row) & g->row_mask;
  uint32_t bytes = offset_of(st, g) + row * st->stride;
  command->insn = ISA_MVOUT;
  command->rs1 = st->base + bytes;
  command->rs2 = cycle_matmul_operand(1, x.width, c_local(st, norm_of(st, x.last_j), local));
}

static void store_tiles(const cycle_matmul_store *st, const cycle_matmul_geometry *g, cycle_front_command *command) {
  group x = group_of(st, g);
  uint32_t tile = tile_rows(st, g), offset = offset_of(st, g);
  command->insn = st->to_spad ? ISA_MVOUT_SPAD_R2 : ISA_MVOUT;
  command->rs1 = st->to_spad ? UINT64_C(1) << 32 | ((st->spad_row + tile) & g->row_mask)
                             : st->base + (st->full ? offset << 2 : offset);
  command->rs2 = cycle_matmul_operand(x.height, x.width, c_local(st, ARCH_NORM_NONE, (st->c_row + tile) & g->row_mask));
}

void cycle_matmul_store_command(const cycle_matmul_store *st, const cycle_matmul_geometry *g,
                                cycle_front_command *command) {
  if (!st->norm)
    store_tiles(st, g, command);
  else if (st->config)
    select_set(st, command);
  else
    store_row(st, g, command);
}

// ---- counters

static bool advance_tiles(cycle_matmul_store *st, const group *x) {
  st->i = x->last_i ? 0 : (uint16_t)(st->i + 1);
  if (!x->last_i) return false;
  st->j = x->last_j ? 0 : (uint16_t)(st->j + st->blocks);
  return x->last_j;
}

static bool advance_rows(cycle_matmul_store *st, const cycle_matmul_geometry *g, const group *x) {
  st->j = x->last_j ? 0 : (uint16_t)(st->j + st->blocks);
  if (!x->last_j) return false;
  uint16_t left = (uint16_t)(x->height - st->group), sets = left < g->norm_stats ? left : g->norm_stats;
  bool last_set = st->set == (uint16_t)(sets - 1), last_pass = st->pass == PASSES - 1;
  bool last_group = left <= g->norm_stats;
  st->config = true;
  st->set = last_set ? 0 : (uint16_t)(st->set + 1);
  if (!last_set) return false;
  st->pass = last_pass ? 0 : (uint8_t)(st->pass + 1);
  if (!last_pass) return false;
  st->group = last_group ? 0 : (uint16_t)(st->group + g->norm_stats);
  if (!last_group) return false;
  st->i = x->last_i ? 0 : (uint16_t)(st->i + 1);
  return x->last_i;
}

bool cycle_matmul_store_advance(cycle_matmul_store *st, const cycle_matmul_geometry *g) {
  if (st->norm && st->config) {
    st->config = false;
    return false;
  }
  group x = group_of(st, g);
  return st->norm ? advance_rows(st, g, &x) : advance_tiles(st, &x);
}
