// SPDX-License-Identifier: Apache-2.0
// What stages take of the units: see machine_work.h. Memory, loads and mesh have files of their own; here are
// stores, what the compiler assumes of the order, and the sum.
#include <math.h>
#include <string.h>

#include "search/model/machine_context.h"

// ---- stores

static double result_tiles(const machine_context *x) { return (double)x->f.fills[MAP_RESULTS]; }

// Columns of one row that a store writes at a time.
static double store_width(const machine_context *x) {
  return machine_result_layout(x).tiled ? x->cost.hw.max_cols : x->cost.dim;
}

static int64_t element_of(const machine_context *x) { return x->layer->result_bytes == 4 ? 4 : 1; }

machine_store_rows machine_store_rows_of(const machine_context *x) {
  const map_layer *l = x->layer;
  const int64_t element = element_of(x);
  const double columns = (double)wf_min(x->m->tile[BLOCK_DIM_K], l->size[BLOCK_DIM_K]);
  const double pieces = ceil(columns / store_width(x)), piece = columns / pieces;
  const double pixels = (double)x->f.dram_bytes[MAP_RESULTS] / (double)(element * l->size[BLOCK_DIM_K]);
  return (machine_store_rows){
      .count = pixels * (double)l->size[BLOCK_DIM_K] / columns * pieces,
      .blocks = ceil(piece / x->cost.dim),
      .pieces = pieces,
      .each = cost_requests_of(&x->cost, (int64_t)ceil(piece) * element, l->size[BLOCK_DIM_K] * element),
  };
}

// Commands are counted as those of wide stores.
double machine_store_commands(const machine_context *x) {
  const double columns = (double)wf_min(x->m->tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
  const double wide = x->layer->result_bytes == 4 ? x->cost.dim : x->cost.hw.max_cols;
  return (double)x->f.stores * ceil(columns / store_width(x)) / ceil(columns / wide);
}

double machine_fetched_lines(const machine_context *x) {
  const int64_t element = element_of(x), line = (int64_t)x->cost.line, all = x->layer->size[BLOCK_DIM_K] * element;
  const int64_t row = wf_min(x->m->tile[BLOCK_DIM_K] * element, all);
  return row % line == 0 ? 0 : (double)x->f.dram_bytes[MAP_RESULTS] / x->cost.line;
}

// Cycles of main memory for the requests of all rows, without L2.
static double bare_cycles(const machine_context *x, const machine_store_rows *s) {
  return s->count * s->each.bursts * cost_missed_line_cycles(&x->cost, &s->each);
}

// Cycles that the writes of the layer wait for main memory: as many at a time as may be in flight.
static double write_waits(const machine_context *x, const machine_store_rows *s) {
  const hw_array *a = x->cost.array;
  if (a->l2.present) return machine_fetched_lines(x) * cost_missed_line_cycles(&x->cost, &s->each);
  return wf_max(bare_cycles(x, s), s->count * s->each.bursts * x->cost.miss_latency / a->dma.writes_in_flight);
}

static double store_cycles(const machine_context *x) {
  const machine_store_rows s = machine_store_rows_of(x);
  const double row = cost_store_row(&x->cost, s.blocks, s.each.beats, element_of(x) == 4);
  const double all = wf_max(s.count * row, write_waits(x, &s));
  return (all + machine_store_commands(x) * x->cost.c->store_command) / result_tiles(x);
}

// Cycles of main memory for results: lines that are written back, and those fetched for parts of a line. Without L2
// every piece of a row.
static double written_cycles(const machine_context *x) {
  const hw_array *a = x->cost.array;
  const machine_store_rows s = machine_store_rows_of(x);
  if (!a->l2.present) return bare_cycles(x, &s);
  const double kept = 512.0 * a->l2.capacity_kib, lines = (double)x->f.dram_bytes[MAP_RESULTS] - kept;
  return cost_written_line_cycles(&x->cost) * wf_max(0, lines / x->cost.line) +
         cost_missed_line_cycles(&x->cost, &s.each) * machine_fetched_lines(x);
}

static double bias_cycles(const machine_context *x) {
  if (!x->layer->bias) return 0;
  const double rows = (double)(x->m->tile[BLOCK_DIM_N] * x->m->tile[BLOCK_DIM_P] * x->m->tile[BLOCK_DIM_Q]);
  const double columns = wf_min((double)x->m->tile[BLOCK_DIM_K], (double)x->layer->size[BLOCK_DIM_K]);
  return cost_bias_cycles(&x->cost, rows, columns);
}

// ---- what the compiler assumes

// The order of the commands comes from the time that each would take if all loads missed (interleave.c). If by that
// memory is slower than the mesh, loads fall behind, and once they have lost the turn that they were ahead each stands
// in front of the product that needs it. The share of the products of which that is so.
static double late_share(const machine_context *x, const machine_work *w) {
  const double mesh = w->mesh * w->stages;
  double loads = 0, fills = 1;
  for (int o = 0; o < MAP_RESULTS; o++) {
    const double commands = (double)x->f.fills[o] * w->load[o].portions * w->load[o].commands;
    loads += cost_missed_cycles(&x->cost, (double)x->f.dram_bytes[o]) + x->cost.c->load_command * commands;
    fills = wf_max(fills, (double)x->f.fills[o]);
  }
  const double behind = loads - mesh;
  return behind <= 0 || x->m->style != BLOCK_STYLE_PRIMITIVE ? 0 : wf_max(0, 1 - mesh / fills / behind);
}

// ---- what moves

static void count_loads(const machine_context *x, const cost_rows *r, map_operand operand, machine_work *w) {
  const double fills = (double)x->f.fills[operand];
  const double piece = wf_min(r->bytes, x->cost.hw.max_cols), pieces = ceil(r->bytes / piece);
  w->bus_bytes += fills * r->count * pieces * cost_requests_of(&x->cost, (int64_t)piece, r->stride).beats * x->cost.bus;
  const double written = fills * (r->count + r->zeros) * ceil(r->bytes / x->cost.dim);
  w->scratchpad_rows += written;
  w->mesh += written * cost_bank_writes(&x->cost, &x->places, (int)operand) / w->stages;
}

// Rows of products and stores. A product reads its rows of inputs and new weights, adds to its rows of results.
static void count_rows(const machine_context *x, machine_work *w) {
  const map_layer *l = x->layer;
  const double deep =
      (double)wf_ceil_div(l->size[BLOCK_DIM_C], x->cost.hw.dim) * (double)(l->size[BLOCK_DIM_R] * l->size[BLOCK_DIM_S]);
  const double columns = (double)wf_ceil_div(l->size[BLOCK_DIM_K], x->cost.hw.dim);
  const double results = (double)(l->size[BLOCK_DIM_N] * l->size[BLOCK_DIM_P] * l->size[BLOCK_DIM_Q]) * columns;
  w->scratchpad_rows += results * deep + w->stages * w->fresh_rows;
  w->accumulator_rows += results * (2 * deep - (l->bias ? 0 : 1)) + results + (l->bias ? results : 0);
  const machine_store_rows s = machine_store_rows_of(x);
  w->bus_bytes += s.count * s.each.beats * x->cost.bus;
}

// ---- all of it

// Trips of the inner loops that are there: behind the end of a dimension nothing runs.
map_mapping machine_trimmed(const map_layer *layer, const map_mapping *mapping) {
  map_mapping m = *mapping;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    const int64_t tiles = wf_ceil_div(layer->size[d], m.tile[d]);
    const int64_t trips = (tiles + m.dram[d] / 2) / m.dram[d];
    if (m.sp[d] > trips) m.sp[d] = trips > 1 ? trips : 1;
  }
  return m;
}

machine_context machine_context_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                                   const cost_constants *constants) {
  machine_context x = {
      .layer = layer, .m = mapping, .cost = cost_model_of(array, constants), .f = map_measure(layer, mapping, array)};
  cost_slots slots = map_slots(mapping, &x.f);
  cost_limit_slots(&x.cost, &slots);
  x.depth[MAP_WEIGHTS] = (uint8_t)slots.depth[COST_WEIGHTS];
  x.depth[MAP_INPUTS] = (uint8_t)slots.depth[COST_INPUTS];
  x.depth[MAP_RESULTS] = mapping->depth[MAP_RESULTS] < 2 ? 1 : 2;
  x.places = cost_places_of(&x.cost, &slots);
  return x;
}

machine_work machine_work_in(const machine_context *x) {
  const cost_constants *constants = x->cost.c;
  machine_work w = {.dim = x->cost.dim, .stages = 1};
  for (int p = 0; p < MAP_POSITIONS; p++) w.stages *= (double)map_loop_trips(x->m, p);
  memcpy(w.depth, x->depth, sizeof w.depth);
  w.mesh = machine_mesh_cycles(x, &w.pairs, &w.products, &w.fresh_rows);
  w.memory = written_cycles(x);
  for (int o = 0; o < MAP_RESULTS; o++) {
    double memory = 0;
    w.load[o] = machine_stream_of(x, (map_operand)o, &memory);
    w.memory += memory;
  }
  w.bias = bias_cycles(x);
  const cost_rows weights = machine_weight_rows(x), inputs = machine_input_rows(x);
  count_loads(x, &weights, MAP_WEIGHTS, &w);
  count_loads(x, &inputs, MAP_INPUTS, &w);
  count_rows(x, &w);
  w.store = store_cycles(x);
  w.load_latency = constants->load_latency + x->cost.hit_latency;
  w.late = late_share(x, &w);
  w.entries = (double)x->cost.array->execute.reservation_entries / 2 / w.products;
  w.free_after[MAP_WEIGHTS] = x->cost.hw.mesh_latency + constants->weights_free;
  w.free_after[MAP_INPUTS] = constants->inputs_free;
  w.drain = x->cost.hw.mesh_latency + constants->store_latency;
  return w;
}

machine_work machine_work_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                             const cost_constants *constants) {
  const machine_context x = machine_context_of(layer, mapping, array, constants);
  return machine_work_in(&x);
}
