// Main memory and L2: what a request takes, which lines are fetched, and how rows are cut into bursts.
#include <math.h>

#include "search/model/machine_context.h"

// Units of `unit` bytes that a row touches on average, rows being `stride` bytes apart.
static double touched_units(double bytes, int64_t stride, int64_t unit) {
  const double grain = (double)common_factor(stride, unit);  // of the places in a unit at which rows begin
  return (ceil(bytes / grain) * grain + (double)unit - grain) / (double)unit;
}

double machine_dram_latency(const context *x) {
  const hw_array *a = x->array;
  if (a->memory.model == HW_MEMORY_FIXED) return a->memory.latency_cycles;
  const double nanoseconds = a->memory.model == HW_MEMORY_DDR3 ? 36 : 31.7;  // row, column and burst
  return (nanoseconds + a->memory.controller_ns) * a->memory.clock_mhz / 1000 + a->memory.path_cycles;
}

// Cycles of main memory for a request. A DRAM opens a row for nearly each: four in tFAW.
double machine_request_cycles(const context *x, double bytes) {
  const hw_array *a = x->array;
  const double moving = bytes / (double)a->memory.bytes_per_cycle;
  if (a->memory.model == HW_MEMORY_FIXED) return moving;
  const double opening = (a->memory.model == HW_MEMORY_DDR3 ? 30000 : 21000) / 4e3;  // ns
  return wf_max(moving, opening * a->memory.clock_mhz / 1000);
}

// Rows (axis 0) or columns of inputs that the loops from a position on touch: one tap of the window leaves out what a
// stride jumps over.
static double swept_axis(const context *x, int axis, int position) {
  const int64_t results = map_extent(x->layer, x->m, axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, position);
  const int64_t taps = map_extent(x->layer, x->m, axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S, position);
  return (double)(taps == 1 ? results : map_window(x->layer, axis, results, taps));
}

// Bytes of an operand that the loops from a position on sweep.
double machine_swept_bytes(const context *x, map_operand operand, int position) {
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
static double swept_lines(const context *x, map_operand operand, int position) {
  const block_dim_id columns = operand == MAP_INPUTS ? input_channels(x->layer) : BLOCK_DIM_K;
  const double row = (double)map_extent(x->layer, x->m, columns, position);
  const double rows = machine_swept_bytes(x, operand, position) / row, stride = (double)x->layer->size[columns];
  const double each = touched_units(row, x->layer->size[columns], (int64_t)x->line);
  return wf_min(rows * each, rows * stride / x->line + 1);
}

// The share of an operand's lines that are still in the L2 when the next iteration of the loop in front of `position`
// reads them: victims are drawn at random, so a line of a cyclic walk survives with exp(-misses / capacity). Rows that
// lie a power of two apart share few of the sets.
static double kept_share(const context *x, map_operand operand, int position) {
  if (!x->array->l2.present) return 0;
  const double capacity = 1024.0 * x->array->l2.capacity_kib / x->line * x->c->cache_share;
  const block_dim_id columns = operand == MAP_INPUTS ? input_channels(x->layer) : BLOCK_DIM_K;
  const int64_t stride = x->layer->size[columns], line = (int64_t)x->line;
  const double apart = stride % line == 0 ? (double)(stride / line & -(stride / line)) : 1;
  const double wide = ceil((double)map_extent(x->layer, x->m, columns, position) / x->line);
  double all = 0;
  for (int o = 0; o < MAP_OPERANDS; o++) all += swept_lines(x, (map_operand)o, position);
  const double own = swept_lines(x, operand, position) * wf_max(1, apart / wide);
  const double ratio = wf_max(all, own) / capacity;
  double kept = 0;
  for (int i = 0; i < 12; i++) kept = exp((kept - 1) * ratio);
  return kept;
}

// Lines of an operand that come from main memory: what iterations of a loop have in common is fetched once as far as
// the L2 keeps it.
double machine_missed_lines(const context *x, map_operand operand) {
  double lines = swept_lines(x, operand, x->m->residency[operand]);
  for (int p = x->m->residency[operand] - 1; p >= 0; p--) {
    const double trips = (double)map_loop_trips(x->m, p);
    if (trips <= 1) continue;
    const double once = wf_min(lines * trips, swept_lines(x, operand, p));
    lines = once + (lines * trips - once) * (1 - kept_share(x, operand, p + 1));
  }
  return lines;
}

static int64_t burst_of(const context *x, int64_t at, int64_t left) {
  int64_t best = 0, covered = 0;
  for (int64_t size = (int64_t)x->bus; size <= x->array->dma.max_burst_bytes; size *= 2) {
    const int64_t room = size - at % size, here = room < left ? room : left;
    if (here <= covered) continue;
    covered = here;
    best = size;
  }
  return best;
}

// On average over the places in a line at which rows begin that are `stride` bytes apart.
requests machine_requests_of(const context *x, int64_t bytes, int64_t stride) {
  const int64_t largest = x->array->dma.max_burst_bytes, step = common_factor(stride, largest);
  requests r = {0};
  for (int64_t offset = 0; offset < largest; offset += step) {
    int64_t at = offset;
    for (int64_t left = bytes; left > 0; r.bursts++) {
      const int64_t size = burst_of(x, at, left), taken = size - at % size;
      r.beats += (double)size / x->bus;
      at += taken;
      left -= taken;
    }
  }
  const double places = (double)(largest / step);
  r.bursts /= places;
  r.beats /= places;
  return r;
}
