// SPDX-License-Identifier: Apache-2.0
// Main memory and L2: how rows are cut into requests, what a request takes, and what the L2 keeps.
#include <math.h>

#include "base/number.h"
#include "compiler/cost/cost.h"

static int64_t burst_of(const cost_model *m, int64_t at, int64_t left) {
  int64_t best = 0, covered = 0;
  for (int64_t size = (int64_t)m->bus; size <= m->array->dma.max_burst_bytes; size *= 2) {
    const int64_t room = size - at % size, here = wf_min(room, left);
    if (here <= covered) continue;
    covered = here;
    best = size;
  }
  return best;
}

cost_requests cost_requests_of(const cost_model *m, int64_t bytes, int64_t stride) {
  const int64_t largest = m->array->dma.max_burst_bytes, step = wf_common_factor(stride, largest);
  cost_requests r = {0};
  for (int64_t offset = 0; offset < largest; offset += step) {
    int64_t at = offset;
    for (int64_t left = bytes; left > 0; r.bursts++) {
      const int64_t size = burst_of(m, at, left), taken = size - at % size;
      r.beats += (double)size / m->bus;
      at += taken;
      left -= taken;
    }
  }
  const double places = (double)(largest / step);
  r.bursts /= places;
  r.beats /= places;
  return r;
}

double cost_lines_of(const cost_model *m, double bytes, int64_t stride) {
  const int64_t line = (int64_t)m->line;
  const double grain = (double)wf_common_factor(stride, line);  // of the places in a line at which rows begin
  return (ceil(bytes / grain) * grain + m->line - grain) / m->line;
}

// A DRAM opens a row for nearly each request.
double cost_request_cycles(const cost_model *m, double bytes) {
  const hw_array *a = m->array;
  const double moving = bytes / m->peak;
  if (a->memory.model == HW_MEMORY_FIXED) return moving;
  const double opening = (a->memory.model == HW_MEMORY_DDR3 ? m->c->ddr3_four_rows_ns : m->c->ddr4_four_rows_ns) / 4;
  return wf_max(moving, opening * a->memory.clock_mhz / 1000);
}

double cost_missed_line_cycles(const cost_model *m, const cost_requests *q) {
  if (m->array->l2.present) return m->line_cycles * m->c->miss_line;
  return cost_request_cycles(m, q->beats / q->bursts * m->bus) * m->c->bare_line;
}

double cost_written_line_cycles(const cost_model *m) { return m->line_cycles * m->c->write_line; }

double cost_missed_cycles(const cost_model *m, double bytes) { return bytes / (m->c->missed_share * m->peak); }

double cost_fill_cycles(const cost_model *m, double bytes, double share) {
  return bytes / m->peak / share + m->c->fill_latency;
}

// ---- what the L2 keeps

double cost_lost(double others, double capacity) { return capacity == 0 ? 1 : 1 - exp(-others / capacity); }

double cost_lost_in_turn(double swept, double others, double capacity) {
  enum { ROUNDS = 12 };
  double share = 1;
  for (int n = 0; n < ROUNDS; n++) share = cost_lost(swept * share + others, capacity);
  return share;
}

double cost_written_back(double written, double all, double capacity) {
  if (capacity == 0) return written;
  const double turns = all / capacity;
  return turns < 1e-3 ? 0 : written * (1 - (1 - exp(-turns)) / turns);
}
