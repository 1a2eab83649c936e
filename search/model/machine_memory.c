// SPDX-License-Identifier: Apache-2.0
// Main memory and L2: which lines of a layer are fetched.
#include <math.h>

#include "search/model/machine_context.h"

// Rows (axis 0) or columns of inputs that the loops from a position on touch: one tap of the window leaves out what a
// stride jumps over.
static double swept_axis(const machine_context *x, int axis, int position) {
  const int64_t results = map_extent(x->layer, x->m, axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, position);
  const int64_t taps = map_extent(x->layer, x->m, axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S, position);
  return (double)(taps == 1 ? results : map_window(x->layer, axis, results, taps));
}

// Bytes of an operand that the loops from a position on sweep.
double machine_swept_bytes(const machine_context *x, map_operand operand, int position) {
  double bytes = operand == MAP_INPUTS ? swept_axis(x, 0, position) * swept_axis(x, 1, position) : 1;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const block_dim_id dim = (block_dim_id)d;
    const bool axis = dim == BLOCK_DIM_P || dim == BLOCK_DIM_Q || dim == BLOCK_DIM_R || dim == BLOCK_DIM_S;
    if (operand == MAP_INPUTS && axis) continue;
    if (map_uses(x->layer->kind, operand, dim)) bytes *= (double)map_extent(x->layer, x->m, dim, position);
  }
  return bytes;
}

// Lines of main memory that they lie in: rows that lie side by side share lines, others have theirs alone.
double machine_swept_lines(const machine_context *x, map_operand operand, int position) {
  const block_dim_id columns = operand == MAP_INPUTS ? input_channels(x->layer) : BLOCK_DIM_K;
  const double row = (double)map_extent(x->layer, x->m, columns, position);
  const double rows = machine_swept_bytes(x, operand, position) / row, stride = (double)x->layer->size[columns];
  const double each = cost_lines_of(&x->cost, row, x->layer->size[columns]);
  return wf_min(rows * each, rows * stride / x->cost.line + 1);
}

// Rows that lie a power of two apart share few of the sets.
double machine_kept_lines(const machine_context *x, map_operand operand, int position) {
  const block_dim_id columns = operand == MAP_INPUTS ? input_channels(x->layer) : BLOCK_DIM_K;
  const int64_t stride = x->layer->size[columns], line = (int64_t)x->cost.line;
  const double apart = stride % line == 0 ? (double)(stride / line & -(stride / line)) : 1;
  const double wide = ceil((double)map_extent(x->layer, x->m, columns, position) / x->cost.line);
  double all = 0;
  for (int o = 0; o < MAP_OPERANDS; o++) all += machine_swept_lines(x, (map_operand)o, position);
  return wf_max(all, machine_swept_lines(x, operand, position) * wf_max(1, apart / wide));
}

// The share of an operand's lines that are no longer in the L2 when the next iteration of the loop in front of
// `position` reads them.
static double lost_share(const machine_context *x, map_operand operand, int position) {
  const hw_array *a = x->cost.array;
  const double capacity = a->l2.present ? 1024.0 * a->l2.capacity_kib / x->cost.line * x->cost.c->cache_share : 0;
  return cost_lost_in_turn(machine_kept_lines(x, operand, position), 0, capacity);
}

// Lines of an operand that come from main memory: what iterations of a loop have in common is fetched once as far as
// the L2 keeps it.
double machine_missed_lines(const machine_context *x, map_operand operand) {
  double lines = machine_swept_lines(x, operand, x->m->residency[operand]);
  for (int p = x->m->residency[operand] - 1; p >= 0; p--) {
    const double trips = (double)map_loop_trips(x->m, p);
    if (trips <= 1) continue;
    const double once = wf_min(lines * trips, machine_swept_lines(x, operand, p));
    lines = once + (lines * trips - once) * lost_share(x, operand, p + 1);
  }
  return lines;
}
