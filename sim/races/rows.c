// SPDX-License-Identifier: Apache-2.0
// The local rows that a primitive touches: see rows.h. They follow docs/ref-engine.md, not the reservation station.
#include "sim/races/rows.h"

#include "arch/local.h"

static void add(races_touched *to, const arch_local *at, races_rows rows) {
  if (at->garbage || rows.count == 0) return;
  rows.place = at->accumulator ? RACES_ACCUMULATOR : RACES_SCRATCHPAD;
  rows.first += at->row;
  if (rows.blocks == 0) rows.blocks = 1;
  to->rows[to->count++] = rows;
}

static uint32_t blocks_of(const hw_derived *d, uint64_t cols) { return (uint32_t)((cols + d->dim - 1) / d->dim); }

static races_touched loaded(const hw_derived *d, const arch_load_config *state, const arch_command *p) {
  races_touched t = {0};
  const arch_local to = arch_local_decode(d, isa_get_mvin_local(p->rs1, p->rs2));
  const uint64_t cols = isa_get_mvin_cols(p->rs1, p->rs2);
  const int64_t half = d->sp_rows / 2, top = to.row < half ? 0 : half;
  int64_t below = 0;  // copies of repeated pixels
  if (!to.accumulator && state->pixel_repeats > 1) below = (int64_t)state->pixel_repeats - 1;
  if (below > to.row - top) below = to.row - top;
  const uint32_t rows = (uint32_t)isa_get_mvin_rows(p->rs1, p->rs2);
  if (cols != 0 && rows != 0)
    add(&t, &to,
        (races_rows){.writes = true,
                     .first = -below,
                     .stride = 1,
                     .count = rows + (uint32_t)below,
                     .blocks = blocks_of(d, cols),
                     .block_stride = state->block_stride_rows});
  return t;
}

static uint32_t stored_count(const arch_store_config *s, uint32_t rows) {
  return arch_config_store_mode(s) == ARCH_STORE_ROWS ? rows : s->orows * s->ocols;
}

static races_touched stored(const hw_derived *d, const arch_store_config *state, const arch_command *p) {
  races_touched t = {0};
  const arch_local from = arch_local_decode(d, isa_get_mvout_local(p->rs1, p->rs2));
  const uint64_t cols = isa_get_mvout_cols(p->rs1, p->rs2);
  if (cols != 0)
    add(&t, &from,
        (races_rows){.stride = 1,
                     .count = stored_count(state, (uint32_t)isa_get_mvout_rows(p->rs1, p->rs2)),
                     .blocks = blocks_of(d, cols),
                     .block_stride = d->dim});
  if (cols == 0 || !state->gate || !arch_local_narrows(&from) || arch_config_store_mode(state) != ARCH_STORE_ROWS)
    return t;
  const arch_local factors = {.row = from.row};
  add(&t, &factors,
      (races_rows){.first = state->gate_offset,
                   .stride = 1,
                   .count = (uint32_t)isa_get_mvout_rows(p->rs1, p->rs2),
                   .blocks = blocks_of(d, cols),
                   .block_stride = d->dim});
  return t;
}

static races_touched moved(const hw_derived *d, const arch_command *p) {
  races_touched t = {0};
  const arch_local from = arch_local_decode(d, isa_get_mvout_spad_r2_local(p->rs1, p->rs2)),
                   to = arch_local_decode(d, isa_get_mvout_spad_r2_dest(p->rs1, p->rs2));
  const uint32_t rows = (uint32_t)isa_get_mvout_spad_r2_rows(p->rs1, p->rs2);
  const uint64_t cols = isa_get_mvout_spad_r2_cols(p->rs1, p->rs2);
  if (cols == 0) return t;
  add(&t, &from, (races_rows){.stride = 1, .count = rows, .blocks = blocks_of(d, cols), .block_stride = d->dim});
  add(&t, &to,
      (races_rows){.writes = true,
                   .stride = (int64_t)isa_get_mvout_spad_r2_stride(p->rs1, p->rs2),
                   .count = rows,
                   .blocks = blocks_of(d, cols),
                   .block_stride = (int64_t)isa_get_mvout_spad_r2_block_stride(p->rs1, p->rs2)});
  return t;
}

// Rows of output-stationary results leave from the last one, each c_stride rows before the one that left earlier.
static races_touched preloaded(const hw_derived *d, const arch_execute_config *c, const arch_command *p) {
  races_touched t = {0};
  const arch_local operand = arch_local_decode(d, isa_get_preload_local(p->rs1, p->rs2)),
                   dest = arch_local_decode(d, isa_get_preload_dest(p->rs1, p->rs2));
  uint32_t rows = (uint32_t)isa_get_preload_rows(p->rs1, p->rs2), cols = (uint32_t)isa_get_preload_cols(p->rs1, p->rs2);
  if (rows != 0 && cols != 0)
    add(&t, &operand, (races_rows){.stride = 1, .count = c->weight_stationary && c->b_transpose ? cols : rows});
  const int64_t stride = c->c_stride_rows;
  if (isa_get_preload_dest_cols(p->rs1, p->rs2) != 0)
    add(&t, &dest,
        (races_rows){.writes = true,
                     .first = c->weight_stationary ? 0 : ((int64_t)d->dim - 1) * (1 - stride),
                     .stride = stride,
                     .count = (uint32_t)isa_get_preload_dest_rows(p->rs1, p->rs2)});
  return t;
}

static races_touched multiplied(const hw_array *array, const hw_derived *d, const arch_execute_config *c,
                                const arch_command *p) {
  races_touched t = {0};
  const arch_local a = arch_local_decode(d, isa_get_compute_preloaded_a(p->rs1, p->rs2)),
                   bd = arch_local_decode(d, isa_get_compute_preloaded_bd(p->rs1, p->rs2));
  const uint32_t a_rows = (uint32_t)isa_get_compute_preloaded_a_rows(p->rs1, p->rs2),
                 a_cols = (uint32_t)isa_get_compute_preloaded_a_cols(p->rs1, p->rs2),
                 rows = (uint32_t)isa_get_compute_preloaded_bd_rows(p->rs1, p->rs2),
                 cols = (uint32_t)isa_get_compute_preloaded_bd_cols(p->rs1, p->rs2);
  if (a_rows != 0 && a_cols != 0)
    add(&t, &a, (races_rows){.stride = c->a_stride_rows, .count = c->a_transpose ? a_cols : a_rows});
  const bool unread = c->weight_stationary && array->mesh.bias_garbage;
  if (!unread && rows != 0 && cols != 0)
    add(&t, &bd, (races_rows){.stride = 1, .count = !c->weight_stationary && c->b_transpose ? cols : rows});
  return t;
}

races_touched races_touched_by(const hw_array *array, const hw_derived *derived, const arch_config *config,
                               const arch_command *primitive) {
  switch (primitive->insn->id) {
    case ISA_MVIN:
      return loaded(derived, &config->load[0], primitive);
    case ISA_MVIN2:
      return loaded(derived, &config->load[1], primitive);
    case ISA_MVIN3:
      return loaded(derived, &config->load[2], primitive);
    case ISA_MVOUT:
      return stored(derived, &config->store, primitive);
    case ISA_MVOUT_SPAD_R2:
      return moved(derived, primitive);
    case ISA_PRELOAD:
      return preloaded(derived, &config->execute, primitive);
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return multiplied(array, derived, &config->execute, primitive);
    default:
      return (races_touched){0};
  }
}

// ---- meeting

static int64_t last_of(const races_rows *r) {
  return r->first + (int64_t)(r->count - 1) * r->stride + (int64_t)(r->blocks - 1) * r->block_stride;
}

static bool has_row(const races_rows *r, int64_t row) {
  for (uint32_t b = 0; b < r->blocks; b++) {
    const int64_t from = row - r->first - (int64_t)b * r->block_stride;
    if (from == 0) return true;
    if (r->stride == 0 || from < 0 || from % r->stride != 0) continue;
    if (from / r->stride < (int64_t)r->count) return true;
  }
  return false;
}

bool races_rows_meet(const races_rows *a, const races_rows *b, uint64_t *first, uint64_t *end) {
  if (a->place != b->place || a->first > last_of(b) || b->first > last_of(a)) return false;
  *first = UINT64_MAX;
  *end = 0;
  for (uint32_t block = 0; block < a->blocks; block++)
    for (uint32_t i = 0; i < a->count; i++) {
      const int64_t row = a->first + (int64_t)i * a->stride + (int64_t)block * a->block_stride;
      if (!has_row(b, row)) continue;
      if ((uint64_t)row < *first) *first = (uint64_t)row;
      if ((uint64_t)row + 1 > *end) *end = (uint64_t)row + 1;
    }
  return *end != 0;
}
