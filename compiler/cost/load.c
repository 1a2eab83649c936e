// SPDX-License-Identifier: Apache-2.0
// Loads: what rows take of the load unit, of the bus and of main memory.
//
// A row is cut into bursts at lines; a burst takes its beats. A command takes at least its latency over the number of
// commands that the load unit tracks; a missed line takes main memory's time, and its latency over the number of lines
// under way.
#include <math.h>

#include "base/number.h"
#include "compiler/cost/cost.h"

cost_load cost_load_of(const cost_model *m, const cost_rows *r, double missed) {
  const hw_array *a = m->array;
  const double piece = wf_min(r->bytes, m->hw.max_cols), pieces = ceil(r->bytes / piece);
  const cost_requests q = cost_requests_of(m, (int64_t)piece, r->stride);
  const double count = r->count * pieces, bursts = count * q.bursts;
  // Requests for one line follow each other in the L2.
  const double alike = a->l2.present ? wf_max(0, 1 - (double)r->stride / m->line) : 0;
  const double each = m->c->burst_cycles + alike * m->c->same_line;
  const double moving = count * wf_max(q.beats, q.bursts * each);
  if (!a->l2.present) missed = bursts;
  const double registers = a->l2.present ? a->l2.misses_in_flight : a->dma.reads_in_flight;
  const double in_flight = wf_min(registers, a->dma.reads_in_flight);
  cost_load load = {.memory = missed * cost_missed_line_cycles(m, &q)};
  const double waiting = wf_max(load.memory, missed * m->miss_latency / in_flight);
  const double memory = m->hit_latency + wf_min(1, missed / bursts) * (m->miss_latency - m->hit_latency);
  load.latency = m->c->load_latency + memory;
  load.data = wf_max(wf_max(moving, waiting), bursts * memory / a->dma.reads_in_flight);
  const double tracked = (load.data + r->commands * load.latency) / m->hw.load_commands_tracked;
  load.unit = wf_max(load.data + r->commands * m->c->command_cycles, tracked) +
              r->zeros * ceil(r->bytes / m->dim) * m->c->zero_cycles;
  return load;
}

double cost_bias_cycles(const cost_model *m, double rows, double columns) {
  const double commands = ceil(rows / m->dim) * ceil(columns / m->hw.max_cols_acc);
  const double writes = rows * ceil(columns / m->dim) * m->c->zero_cycles;
  const double latency = commands * (m->hit_latency + m->c->load_latency) / m->hw.load_commands_tracked;
  return wf_max(writes + commands * m->c->command_cycles, latency);
}

double cost_bus_cycles(const cost_model *m, double bytes, double row_bytes) {
  return bytes / m->bus + m->c->row_cycles * bytes / wf_min(row_bytes, m->hw.max_cols);
}

int64_t cost_planned_load(const cost_model *m, const cost_command *load) {
  const int64_t bytes = load->rows * load->columns * load->element_bytes;
  if (load->constant)
    return (int64_t)((double)(load->rows * wf_ceil_div(load->columns, m->hw.dim)) * m->c->zero_cycles);
  if (load->cached) return (int64_t)((double)bytes / m->bus) + load->rows;
  return (int64_t)(cost_missed_cycles(m, (double)bytes) + m->c->load_command);
}
