// What stages take of the units: see machine_private.h. Memory, loads and mesh have files of their own; here are
// stores, what the compiler assumes of the order, and the sum.
#include <math.h>

#include "search/model/machine_context.h"

// ---- stores

static double result_tiles(const context *x) { return (double)x->f.fills[MAP_RESULTS]; }

// Columns of one row that a store writes at a time.
static double store_width(const context *x) { return machine_result_layout(x).tiled ? x->hw.max_cols : x->dim; }

// Rows of pieces of results of the whole layer.
typedef struct store_rows {
  double count, blocks;
  requests each;
} store_rows;

static store_rows store_rows_of(const context *x, int64_t element) {
  const map_layer *l = x->layer;
  const double columns = (double)wf_min(x->m->tile[BLOCK_DIM_K], l->size[BLOCK_DIM_K]);
  const double pieces = ceil(columns / store_width(x)), piece = columns / pieces;
  const double pixels = (double)x->f.dram_bytes[MAP_RESULTS] / (double)(element * l->size[BLOCK_DIM_K]);
  return (store_rows){
      .count = pixels * (double)l->size[BLOCK_DIM_K] / columns * pieces,
      .blocks = ceil(piece / x->dim),
      .each = machine_requests_of(x, (int64_t)ceil(piece) * element, l->size[BLOCK_DIM_K] * element),
  };
}

// Commands are counted as those of wide stores.
static double store_commands(const context *x) {
  const double columns = (double)wf_min(x->m->tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
  const double wide = x->layer->result_bytes == 4 ? x->dim : x->hw.max_cols;
  return (double)x->f.stores * ceil(columns / store_width(x)) / ceil(columns / wide);
}

// Lines of results that are fetched, since a write covers a part of them only.
static double fetched_lines(const context *x, int64_t element) {
  const int64_t line = (int64_t)x->line, all = x->layer->size[BLOCK_DIM_K] * element;
  const int64_t row = wf_min(x->m->tile[BLOCK_DIM_K] * element, all);
  return row % line == 0 ? 0 : (double)x->f.dram_bytes[MAP_RESULTS] / x->line;
}

// Cycles that the writes of the layer wait for main memory: as many at a time as may be in flight.
static double write_waits(const context *x, const requests *q, double rows, int64_t element) {
  const hw_array *a = x->array;
  if (a->l2.present) return fetched_lines(x, element) * x->line_cycles * x->c->miss_line;
  const double request = machine_request_cycles(x, q->beats / q->bursts * x->bus) * x->c->bare_line;
  return rows * q->bursts * wf_max(request, x->miss_latency / a->dma.writes_in_flight);
}

static double store_cycles(const context *x) {
  const int64_t element = x->layer->result_bytes == 4 ? 4 : 1;
  const store_rows s = store_rows_of(x, element);
  const double beats = s.each.beats;
  const double row = s.blocks > 1 ? s.blocks + beats - 1 : wf_max(element == 4 ? 1 : x->c->store_row, beats);
  const double all = wf_max(s.count * row, write_waits(x, &s.each, s.count, element));
  return (all + store_commands(x) * x->c->store_command) / result_tiles(x);
}

// Cycles of main memory for results: lines that are written back, and those fetched for parts of a line. Without L2
// every piece of a row.
static double written_cycles(const context *x) {
  const map_layer *l = x->layer;
  const int64_t element = l->result_bytes == 4 ? 4 : 1;
  const double bytes = (double)x->f.dram_bytes[MAP_RESULTS];
  if (!x->array->l2.present) {
    const store_rows s = store_rows_of(x, element);
    const requests *q = &s.each;
    return s.count * q->bursts * machine_request_cycles(x, q->beats / q->bursts * x->bus) * x->c->bare_line;
  }
  const double fetched = fetched_lines(x, element);
  const double kept = 512.0 * x->array->l2.capacity_kib;
  return x->line_cycles * (wf_max(0, bytes - kept) / x->line * x->c->write_line + fetched * x->c->miss_line);
}

static double bias_cycles(const context *x) {
  if (!x->layer->bias) return 0;
  const double rows = (double)(x->m->tile[BLOCK_DIM_N] * x->m->tile[BLOCK_DIM_P] * x->m->tile[BLOCK_DIM_Q]);
  const double columns = wf_min((double)x->m->tile[BLOCK_DIM_K], (double)x->layer->size[BLOCK_DIM_K]);
  const double commands = ceil(rows / x->dim) * ceil(columns / x->hw.max_cols_acc);
  const double writes = rows * ceil(columns / x->dim) * x->c->zero_cycles;
  const double latency = commands * (x->hit_latency + x->c->load_latency) / x->hw.load_commands_tracked;
  return wf_max(writes + commands * x->c->command_cycles, latency);
}

// ---- what the compiler assumes

// The order of the commands comes from the time that each would take if all loads missed (interleave.c). If by that
// memory is slower than the mesh, loads fall behind, and once they have lost the turn that they were ahead each stands
// in front of the product that needs it. The share of the products of which that is so.
static double late_share(const context *x, const machine_work *w) {
  const double mesh = w->mesh * w->stages;
  double loads = 0, fills = 1;
  for (int o = 0; o < MAP_RESULTS; o++) {
    loads += (double)x->f.dram_bytes[o] * 4 / (3.0 * (double)x->array->memory.bytes_per_cycle) +
             4 * (double)x->f.fills[o] * w->load[o].portions * w->load[o].commands;
    fills = wf_max(fills, (double)x->f.fills[o]);
  }
  const double behind = loads - mesh;
  return behind <= 0 || x->m->style != BLOCK_STYLE_PRIMITIVE ? 0 : wf_max(0, 1 - mesh / fills / behind);
}

// ---- what moves

static void count_loads(const context *x, const row_set *r, map_operand operand, machine_work *w) {
  const double fills = (double)x->f.fills[operand];
  const double piece = wf_min(r->bytes, x->hw.max_cols), pieces = ceil(r->bytes / piece);
  w->bus_bytes += fills * r->count * pieces * machine_requests_of(x, (int64_t)piece, r->stride).beats * x->bus;
  const double written = fills * (r->count + r->zeros) * ceil(r->bytes / x->dim);
  w->scratchpad_rows += written;
  w->mesh += written * machine_bank_writes(x, &x->places, operand) / w->stages;
}

// Rows of products and stores. A product reads its rows of inputs and new weights, adds to its rows of results.
static void count_rows(const context *x, machine_work *w) {
  const map_layer *l = x->layer;
  const double deep =
      (double)wf_ceil_div(l->size[BLOCK_DIM_C], x->hw.dim) * (double)(l->size[BLOCK_DIM_R] * l->size[BLOCK_DIM_S]);
  const double columns = (double)wf_ceil_div(l->size[BLOCK_DIM_K], x->hw.dim);
  const double results = (double)(l->size[BLOCK_DIM_N] * l->size[BLOCK_DIM_P] * l->size[BLOCK_DIM_Q]) * columns;
  w->scratchpad_rows += results * deep + w->stages * w->fresh_rows;
  w->accumulator_rows += results * (2 * deep - (l->bias ? 0 : 1)) + results + (l->bias ? results : 0);
  const store_rows s = store_rows_of(x, l->result_bytes == 4 ? 4 : 1);
  w->bus_bytes += s.count * s.each.beats * x->bus;
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

machine_work machine_work_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                             const machine_constants *constants) {
  context x = {.layer = layer, .m = mapping, .array = array, .c = constants, .hw = hw_derive(array)};
  x.f = map_measure(layer, mapping, array);
  x.dim = x.hw.dim;
  x.bus = (double)array->dma.bus_bits / 8;
  x.line = array->l2.present ? array->l2.line_bytes : array->dma.max_burst_bytes;
  x.line_cycles = machine_request_cycles(&x, x.line);
  x.hit_latency = array->l2.present ? array->l2.hit_latency : 1 + machine_dram_latency(&x);
  x.miss_latency = x.hit_latency + (array->l2.present ? machine_dram_latency(&x) + constants->miss_latency : 0);
  x.places = machine_places_of(&x);
  machine_work w = {.dim = x.dim, .stages = 1};
  for (int p = 0; p < MAP_POSITIONS; p++) w.stages *= (double)map_loop_trips(mapping, p);
  w.mesh = machine_mesh_cycles(&x, &w.pairs, &w.products, &w.fresh_rows);
  w.memory = written_cycles(&x);
  for (int o = 0; o < MAP_RESULTS; o++) {
    double memory = 0;
    w.load[o] = machine_stream_of(&x, (map_operand)o, &memory);
    w.memory += memory;
  }
  w.bias = bias_cycles(&x);
  const row_set weights = machine_weight_rows(&x), inputs = machine_input_rows(&x);
  count_loads(&x, &weights, MAP_WEIGHTS, &w);
  count_loads(&x, &inputs, MAP_INPUTS, &w);
  count_rows(&x, &w);
  w.store = store_cycles(&x);
  w.load_latency = constants->load_latency + x.hit_latency;
  w.late = late_share(&x, &w);
  w.entries = (double)array->execute.reservation_entries / 2 / w.products;
  w.free_after[MAP_WEIGHTS] = x.hw.mesh_latency + constants->weights_free;
  w.free_after[MAP_INPUTS] = constants->inputs_free;
  w.drain = x.hw.mesh_latency + constants->store_latency;
  return w;
}
