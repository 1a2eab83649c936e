// SPDX-License-Identifier: Apache-2.0
// Mappings for layers of other sizes and other arrays: see map_retarget in mapping.h.
//
// What a tile and the inner loops hold is what made the mapping good, counted in blocks of the array; the outer loops
// are what is left of the dimension. A mapping that does not fit the memories is made smaller, step by step: the larger
// operand of a scratchpad that is too small stays through fewer loops; then the inner loop with the most trips becomes
// shorter, then tiles of rows, columns and depth, then there are fewer slots.
#include <string.h>

#include "base/number.h"
#include "compiler/mapping/mapping.h"

enum { STEPS_MOST = 128 };

static int64_t trips_of(int64_t size, int64_t tile) { return wf_ceil_div(size, tile); }

// The inner trips that there are, and the outer ones that cover the rest.
static void cover(const map_layer *to, map_mapping *m) {
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const int64_t trips = trips_of(to->size[d], m->tile[d]);
    m->sp[d] = wf_min(m->sp[d], trips);
    m->dram[d] = wf_ceil_div(trips, m->sp[d]);
  }
}

// Columns and depth lie DIM to a row: a part of them stays so many blocks, all of them stays all.
static int64_t tile_of(const map_layer *from, const map_mapping *m, int64_t from_dim, const map_layer *to, int d,
                       int64_t to_dim) {
  const bool whole = m->tile[d] >= from->size[d], blocks = d == BLOCK_DIM_K || d == BLOCK_DIM_C;
  if (whole && (blocks || from->size[d] == 1 || to->size[d] <= m->tile[d])) return to->size[d];
  if (!blocks) return wf_min(m->tile[d], to->size[d]);
  return wf_min(wf_ceil_div(m->tile[d], from_dim) * to_dim, to->size[d]);
}

// Tiles that no mapping chooses: of the kernel one element, or the whole window of which the largest is taken.
static void fix_tiles(const map_layer *to, map_mapping *m) {
  const bool window = to->kind == MAP_WINDOW && to->pool_size != 0;
  m->tile[BLOCK_DIM_R] = window ? to->size[BLOCK_DIM_R] : 1;
  m->tile[BLOCK_DIM_S] = window ? to->size[BLOCK_DIM_S] : 1;
  if (map_has_own_weights(to->kind)) m->tile[BLOCK_DIM_N] = 1;
}

static bool is_over(const map_layer *to, const map_mapping *m, const hw_derived *hw) {
  int64_t rows[MAP_OPERANDS];
  map_rows(to, m, hw->dim, rows);
  return rows[MAP_WEIGHTS] * m->depth[MAP_WEIGHTS] + rows[MAP_INPUTS] * m->depth[MAP_INPUTS] +
             map_beside_rows(to, m, hw->dim) >
         hw->sp_rows;
}

// The operand is filled inside of one loop more.
static bool stay_shorter(const map_layer *to, map_mapping *m, map_operand operand) {
  for (int p = m->residency[operand]; p < MAP_POSITIONS; p++) {
    if (map_loop_trips(m, p) == 1 || !map_uses(to->kind, operand, map_loop_dim(m, p))) continue;
    m->residency[operand] = (uint8_t)(p + 1);
    return true;
  }
  return false;
}

static bool shorten(const map_layer *to, map_mapping *m, const hw_derived *hw) {
  int64_t rows[MAP_OPERANDS];
  if (!is_over(to, m, hw)) return false;
  map_rows(to, m, hw->dim, rows);
  const map_operand larger =
      rows[MAP_WEIGHTS] * m->depth[MAP_WEIGHTS] > rows[MAP_INPUTS] * m->depth[MAP_INPUTS] ? MAP_WEIGHTS : MAP_INPUTS;
  return stay_shorter(to, m, larger) || stay_shorter(to, m, MAP_WEIGHTS + MAP_INPUTS - larger);
}

static bool halve_trips(map_mapping *m) {
  int most = 0;
  for (int d = 1; d < BLOCK_DIMS; d++)
    if (m->sp[d] > m->sp[most]) most = d;
  if (m->sp[most] == 1) return false;
  m->sp[most] = wf_ceil_div(m->sp[most], 2);
  return true;
}

static bool halve_tile(map_mapping *m, int64_t dim) {
  static const uint8_t order[] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_K, BLOCK_DIM_C, BLOCK_DIM_Q};
  for (size_t i = 0; i < sizeof order; i++) {
    const int d = order[i];
    const bool blocks = d == BLOCK_DIM_K || d == BLOCK_DIM_C;
    if (m->tile[d] <= (blocks ? dim : 1)) continue;
    m->tile[d] = blocks ? wf_ceil_div(wf_ceil_div(m->tile[d], dim), 2) * dim : wf_ceil_div(m->tile[d], 2);
    return true;
  }
  return false;
}

static bool drop_slot(map_mapping *m) {
  for (int o = MAP_OPERANDS; o-- > 0;)
    if (m->depth[o] > 1) return m->depth[o]--, true;
  return false;
}

map_retargeted map_retarget(const map_layer *from, const map_mapping *mapping, int64_t from_dim, const map_layer *to,
                            const hw_array *array, map_mapping *out) {
  const hw_derived hw = hw_derive(array);
  const int64_t dim = hw.dim;
  if (from->kind != to->kind) return MAP_RETARGET_REJECTED;
  *out = *mapping;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const bool resident = mapping->dram[d] == 1 && mapping->sp[d] > 1;
    out->tile[d] = tile_of(from, mapping, from_dim, to, d, dim);
    if (resident) out->sp[d] = trips_of(to->size[d], out->tile[d]);
  }
  fix_tiles(to, out);
  for (int step = 0; step < STEPS_MOST; step++) {
    cover(to, out);
    if (map_check(to, out, array, NULL)) return step == 0 ? MAP_RETARGET_FITS : MAP_RETARGET_CLAMPED;
    if (!shorten(to, out, &hw) && !halve_trips(out) && !halve_tile(out, dim) && !drop_slot(out)) break;
    fix_tiles(to, out);
  }
  return MAP_RETARGET_REJECTED;
}
