// SPDX-License-Identifier: Apache-2.0
// Cycles of a mapping, roughly; see mapping.h.
//
// Mesh, loads, stores and main memory work at the same time. The slowest of their totals counts, and a little of what
// comes close to it: the totals are added in a norm of high degree. On top of it come
//   - the first fills, before which there are no products, and the stores of the last tile, behind them;
//   - stalls: a slot is filled while the products of the other slots run. A fill that takes longer than these, with its
//     latency, holds the mesh up, however low the average rate is;
//   - switches from slot to slot and breaks between product statements, a few cycles each;
//   - conflicts: writes into a single-ported bank take cycles from the reads of a slot in the same bank.
//
// Main memory sees what the cache does not keep. Its victims are drawn at random, so what was read is still there after
// n other lines came with the probability exp(-n / lines of the cache). Rows that lie a multiple of all banks' lines
// apart come from one bank, which alone is slower than the channel; results that lie so are written back as slowly. At
// the beginning the cache is full of results, which the lines of the first fills push out.
//
// What each unit takes, and every constant, is in compiler/cost. The sum ranks mappings; it predicts nothing.
#include <math.h>

#include "base/number.h"
#include "compiler/cost/cost.h"
#include "compiler/mapping/mapping.h"

typedef struct machine {
  const map_layer *layer;
  const map_mapping *mapping;
  const map_footprint *f;
  cost_slots slots;  // that are used
  cost_model cost;
  const cost_constants *c;
  double dim, peak, line, cache;  // columns, bytes of main memory per cycle, bytes
  double mesh;                    // cycles of all products
} machine;

// ---- what the cache keeps

// Bytes of an operand that miss, `others` being what else comes into the cache during the whole layer. A loop that does
// not change the operand reads again what the loops inside of it sweep.
static double missed_bytes(const machine *x, map_operand operand, double others) {
  const map_mapping *m = x->mapping;
  const int end = m->residency[operand];
  double outside = 1;
  for (int p = 0; p < end; p++) outside *= (double)map_loop_trips(m, p);
  double swept = (double)x->f->dram_bytes[operand] / outside, missed = swept;  // of one fill
  for (int p = end; p-- > 0;) {
    const double trips = (double)map_loop_trips(m, p);
    outside /= trips;
    if (map_uses(x->layer->kind, operand, map_loop_dim(m, p))) {
      swept *= trips;
      missed *= trips;
    } else {
      missed *= 1 + (trips - 1) * cost_lost_in_turn(swept, others / (outside * trips), x->cache);
    }
  }
  return missed;
}

// ---- loads of one operand

typedef struct stream {
  double fills, cycles;  // cycles of all its loads on the bus
  double lines;          // of one fill
  double missed;         // bytes from main memory
  double share;          // of the peak rate of main memory
  double turns;          // how often all of it is loaded
} stream;

// Contiguous bytes of a row of a fill, and from row to row in memory.
static double row_bytes(const machine *x, map_operand operand, double *stride) {
  const bool deep = map_keeps_channels(x->layer->kind);
  const block_dim_id columns = operand == MAP_WEIGHTS || deep ? BLOCK_DIM_K : BLOCK_DIM_C;
  if (deep && operand == MAP_WEIGHTS) return *stride = x->dim;  // matrices one behind the other
  *stride = (double)x->layer->size[columns];
  return (double)map_extent(x->layer, x->mapping, columns, x->mapping->residency[operand]);
}

static stream stream_of(const machine *x, map_operand operand, double missed) {
  const map_mapping *m = x->mapping;
  double stride;
  const double row = row_bytes(x, operand, &stride);
  stream s = {.fills = (double)x->f->fills[operand], .missed = missed};
  s.turns = 1;
  for (int p = 0; p < m->residency[operand]; p++)
    if (!map_uses(x->layer->kind, operand, map_loop_dim(m, p))) s.turns *= (double)map_loop_trips(m, p);
  s.cycles = cost_bus_cycles(&x->cost, (double)x->f->dram_bytes[operand], row);
  const double rows = (double)x->f->slot_rows[operand] * x->dim / wf_max(row, x->dim);
  s.lines = rows * wf_max(1, row / x->line);
  s.share = cost_read_share(&x->cost, row, stride);
  if (stride > row && fmod(stride, x->line) != 0) s.missed *= 1 + x->c->unaligned_share * x->line / row;
  return s;
}

// Blocks of results at the end of a dimension of rows may be smaller, and so is the time that hides what they need.
typedef struct ragged {
  double share, size;  // of the blocks; of a whole one
} ragged;

static ragged ragged_of(const machine *x) {
  const block_dim_id dim = x->layer->size[BLOCK_DIM_P] > 1 ? BLOCK_DIM_P : BLOCK_DIM_Q;
  const int64_t tile = x->mapping->tile[dim], rest = x->layer->size[dim] % tile;
  if (rest == 0) return (ragged){.share = 0, .size = 1};
  return (ragged){1 / (double)wf_ceil_div(x->layer->size[dim], tile), (double)rest / (double)tile};
}

// Fills from main memory and from the cache take turns at random. Rows that are not aligned miss more than they read.
static double stall_of(const machine *x, const stream *s, double read, int depth, double others) {
  if (s->fills <= 1) return 0;
  const double room = (depth - 1) * x->mesh / s->fills * (1 - wf_min(x->c->most_hidden, others / x->mesh));
  const double share = wf_min(1, s->missed / read),
               missed = cost_fill_cycles(&x->cost, wf_max(read, s->missed) / s->fills, s->share);
  const double hit = s->cycles / s->fills + x->c->fill_latency;
  const ragged last = ragged_of(x);
  const double whole = share * wf_max(0, missed - room) + (1 - share) * wf_max(0, hit - room);
  const double rest = share * wf_max(0, missed - room * last.size) + (1 - share) * wf_max(0, hit - room * last.size);
  return s->fills * (x->c->switch_cycles + whole * (1 - last.share) + rest * last.share);
}

// ---- stores

static double row_of_results(const machine *x) {
  return (double)wf_min(x->mapping->tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
}

// A pooled store reads each element of its windows.
static double store_cycles(const machine *x) {
  const double bytes = (double)x->f->dram_bytes[MAP_RESULTS];
  if (x->layer->pool_stride != 0) return bytes / x->dim * x->layer->pool_size * x->layer->pool_size;
  return cost_store_cycles(&x->cost, bytes, row_of_results(x), x->layer->result_bytes == 4);
}

// Rows of results lie one behind the other, in tiles of columns, which commands store in pieces. The share of their
// lines that no piece covers as a whole.
static double ragged_share(int64_t row, int64_t tile, int64_t widest, int64_t line) {
  const int64_t rows = line / wf_common_factor(row, line);  // until one begins with a line again
  int64_t whole = 0;
  for (int64_t start = 0; start < rows * row; start += row)
    for (int64_t first = 0; first < row; first += tile)
      for (int64_t at = first, end = wf_min(first + tile, row); at < end; at += widest)
        whole += wf_max(0, (start + wf_min(at + widest, end)) / line - wf_ceil_div(start + at, line));
  return 1 - (double)(whole * line) / (double)(rows * row);
}

// Whether a command writes whole rows of results, and those that follow it the rows behind.
static bool stores_whole_rows(const machine *x) {
  const int64_t *tile = x->mapping->tile;
  return x->layer->pool_stride == 0 && tile[BLOCK_DIM_K] >= x->layer->size[BLOCK_DIM_K] && tile[BLOCK_DIM_P] > 1;
}

// The share of the lines of results that no command writes as a whole, where commands write at least a line of a row.
static double ragged_results(const machine *x) {
  const int64_t element = x->layer->result_bytes == 4 ? 4 : 1, size = x->layer->size[BLOCK_DIM_K];
  const int64_t tile = wf_min(x->mapping->tile[BLOCK_DIM_K], size), line = (int64_t)x->line;
  const int64_t widest = element == 4 ? (int64_t)x->dim : (int64_t)x->cost.hw.max_cols;
  if (x->layer->pool_stride != 0 || tile * element < line || (stores_whole_rows(x) && size <= widest)) return 0;
  return ragged_share(size * element, tile * element, widest * element, line);
}

// Bytes that are written, in whole lines. A row that covers no whole line costs its fetch, too.
static double stored_bytes(const machine *x) {
  const int64_t element = x->layer->result_bytes == 4 ? 4 : 1, line = (int64_t)x->line;
  const int64_t row = wf_min(x->mapping->tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
  const bool pooled = x->layer->pool_stride != 0;  // a block of columns at a time
  const bool whole = pooled ? (int64_t)x->dim * element % line == 0 : row * element % line == 0 || stores_whole_rows(x);
  return (double)x->f->dram_bytes[MAP_RESULTS] * (whole ? 1 : 2);
}

static double tile_rows(const machine *x) {
  const int64_t *tile = x->mapping->tile;
  return (double)(tile[BLOCK_DIM_N] * map_sums(x->layer, tile[BLOCK_DIM_P]) * map_sums(x->layer, tile[BLOCK_DIM_Q]));
}

static cost_bank_rows stored_rows(const machine *x) {
  const int64_t element = x->layer->result_bytes == 4 ? 4 : 1, all = x->layer->size[BLOCK_DIM_K];
  const int64_t tile = wf_min(x->mapping->tile[BLOCK_DIM_K], all);
  const int64_t piece =
      wf_min(tile, element == 4 || x->layer->pool_stride != 0 ? (int64_t)x->dim : x->cost.hw.max_cols);
  const int64_t groups = x->layer->groups == 0 ? 1 : x->layer->groups;
  return (cost_bank_rows){
      .bytes = piece * element, .stride = all * groups * element, .pieces = wf_ceil_div(tile, piece)};
}

// Cycles of the product statement that completes a tile: a residual's, if it is multiplied.
static double last_statement_cycles(const machine *x) {
  const map_layer *layer = x->layer;
  const int64_t *tile = x->mapping->tile, dim = (int64_t)x->dim;
  const int64_t blocks = wf_ceil_div(wf_min(tile[BLOCK_DIM_K], layer->size[BLOCK_DIM_K]), dim);
  const int64_t depth = map_multiplies(x->mapping, layer->residual, map_adds_alone(layer))
                            ? wf_ceil_div(layer->residual, MAP_RESIDUAL_PART)
                            : wf_ceil_div(wf_min(tile[BLOCK_DIM_C], layer->size[BLOCK_DIM_C]), dim);
  return tile_rows(x) * (double)(blocks * depth);
}

// With one slot the next tile's products wait until the stores have read it. The columns of a command's width are
// complete one after the other, and their stores run while the next ones are.
static double store_stalls(const machine *x, double store) {
  const double tiles = (double)x->f->fills[MAP_RESULTS], pieces = (double)stored_rows(x).pieces;
  const double all = x->c->burst_store * store / tiles;
  if (x->mapping->depth[MAP_RESULTS] == 1)
    return tiles *
           (all / pieces + wf_max(0, all - last_statement_cycles(x)) * (pieces - 1) / pieces + x->c->tile_latency);
  const double room = (x->mapping->depth[MAP_RESULTS] - 1) * x->mesh / tiles;
  return tiles * wf_max(0, all + x->c->tile_latency - room);
}

// Cycles of main memory for results that are written back.
static double write_back_cycles(const machine *x, double stored, double back) {
  const cost_bank_rows rows = stored_rows(x);
  const double lines = stored / x->line;
  const bool turns = cost_store_rows(&x->cost, &rows, x->mesh / lines) < (int64_t)x->dim;
  const int64_t banks = turns ? cost_banks_of_pieces(&x->cost, &rows) : cost_banks_of_command(&x->cost, &rows);
  return back / x->line * cost_write_cycles(&x->cost, banks);
}

// ---- the beginning

// Cycles of a line, which pushes out a result with the probability `dirty`. The layer runs again on the same tensors:
// what it reads time and again the cache still has.
static double first_line_cycles(const machine *x, map_operand operand, const stream *s, double dirty, double all) {
  double stride;
  const double row = row_bytes(x, operand, &stride);
  const cost_bank_rows rows = {
      .bytes = (int64_t)wf_min(row, x->cost.hw.max_cols), .stride = (int64_t)stride, .pieces = 1};
  const double kept = 1 - cost_lost(all / s->turns, x->cache);
  return x->line / wf_min(x->cost.bus, x->c->first_fill_share * x->peak) +
         (1 - kept) * dirty * cost_first_write_cycles(&x->cost, cost_banks_of_command(&x->cost, &rows));
}

// Products wait for the first fill of an operand. What the first statement does not need of a single slot comes just in
// time under the statements before its own.
static double first_fill_cycles(const machine *x, map_operand operand, double cycles) {
  const map_mapping *m = x->mapping;
  if (m->depth[operand] > 1) return cycles;
  double parts = 1, sweep = 1, statements = 1;
  for (int p = 0; p < MAP_POSITIONS; p++) {
    const double trips = (double)map_loop_trips(m, p);
    const bool inside = p >= m->residency[operand], used = map_uses(x->layer->kind, operand, map_loop_dim(m, p));
    statements *= trips;
    if (inside && used) parts *= trips;
    if (inside && (used || parts > 1)) sweep *= trips;
  }
  const double hidden = wf_min(cycles, x->mesh * sweep / statements) * (1 - 1 / parts);
  return cycles - x->c->hidden_share * hidden;
}

// Cycles of the first fills.
static double beginning(const machine *x, const stream *weights, const stream *inputs, double stored) {
  const double all = weights->missed + inputs->missed + stored, dirty = stored / all;
  const double of_weights = weights->lines * first_line_cycles(x, MAP_WEIGHTS, weights, dirty, all);
  const double of_inputs = inputs->lines * first_line_cycles(x, MAP_INPUTS, inputs, dirty, all);
  return first_fill_cycles(x, MAP_WEIGHTS, of_weights) + first_fill_cycles(x, MAP_INPUTS, of_inputs);
}

// ---- all of it

// What loads and main memory take from the products while they go on: the closer they come to their time, the more.
static double interference(const machine *x, double load, double memory) {
  return x->c->load_interference * load * pow(wf_min(1, load / x->mesh), x->c->load_power) +
         x->c->memory_interference * memory * pow(wf_min(1, memory / x->mesh), x->c->memory_power);
}

// Loads of a residual that is multiplied are spread over the product statements of a tile, if there are several.
static double residual_stalls(const machine *x, double bytes) {
  const int64_t *size = x->layer->size;
  const int64_t steps =
      wf_ceil_div(size[BLOCK_DIM_C], x->mapping->tile[BLOCK_DIM_C]) * size[BLOCK_DIM_R] * size[BLOCK_DIM_S];
  if (!map_multiplies(x->mapping, x->layer->residual, map_adds_alone(x->layer))) return 0;
  return x->c->lone_residual * bytes / x->peak / pow((double)steps, x->c->residual_power);
}

// What the mesh loses between product statements.
static double breaks(const machine *x) {
  double statements = 1;
  for (int p = 0; p < MAP_POSITIONS; p++) statements *= (double)map_loop_trips(x->mapping, p);
  return x->c->statement_cycles * statements + x->c->single_run_share * x->mesh / wf_max(1, tile_rows(x) / x->dim);
}

// What loads take from the reads of slots in the same banks.
static double conflict_cycles(const machine *x, double load) {
  return cost_has_own_banks(&x->cost, &x->slots) ? 0 : x->c->conflict_share * load;
}

static double norm(const machine *x, const double *totals, int count) {
  double largest = 1, sum = 0;
  for (int i = 0; i < count; i++) largest = wf_max(largest, totals[i]);
  for (int i = 0; i < count; i++) sum += pow(totals[i] / largest, x->c->norm_degree);
  return largest * pow(sum, 1 / x->c->norm_degree);
}

// The misses of both operands; each depends on what the other one brings into the cache.
static void find_misses(const machine *x, double missed[MAP_RESULTS]) {
  enum { ROUNDS = 3 };
  const double written = (double)(x->f->dram_bytes[MAP_RESULTS] + x->f->bias_bytes);
  for (int o = 0; o < MAP_RESULTS; o++) missed[o] = (double)x->f->dram_bytes[o];
  for (int n = 0; n < ROUNDS; n++) {
    const double weights = missed_bytes(x, MAP_WEIGHTS, missed[MAP_INPUTS] + written);
    missed[MAP_INPUTS] = missed_bytes(x, MAP_INPUTS, missed[MAP_WEIGHTS] + written);
    missed[MAP_WEIGHTS] = weights;
  }
}

// Bytes of the inputs of a layer without products.
static double bytes_once(const machine *x) {
  const map_layer *layer = x->layer;
  const int64_t rows = map_window(layer, 0, layer->size[BLOCK_DIM_P], layer->size[BLOCK_DIM_R]);
  const int64_t columns = map_window(layer, 1, layer->size[BLOCK_DIM_Q], layer->size[BLOCK_DIM_S]);
  return (double)(layer->size[BLOCK_DIM_N] * layer->size[BLOCK_DIM_K] * rows * columns);
}

// Layers without products: rows of inputs into the accumulator, each command on its own; what a pooled store reads.
static double window_estimate(const machine *x) {
  const map_layer *layer = x->layer;
  const map_mapping *m = x->mapping;
  const double tiles = (double)x->f->fills[MAP_RESULTS], inputs = 1 + (double)layer->residual;
  const double piece = wf_min(row_of_results(x), x->cost.hw.max_cols);
  const double columns = (double)map_loaded(layer, 1, m->tile[BLOCK_DIM_Q], m->tile[BLOCK_DIM_S]);
  const double read = (double)x->f->dram_bytes[MAP_INPUTS] * inputs, run = columns == 1 ? x->dim : columns;
  const double commands = read / piece / run * ceil(run / x->dim);
  const double load = cost_bus_cycles(&x->cost, read, piece) + x->c->window_load * commands;
  const double taps = (double)(m->tile[BLOCK_DIM_R] * m->tile[BLOCK_DIM_S]);
  const double stored = stored_bytes(x), written = (double)x->f->dram_bytes[MAP_RESULTS];
  const double store = taps > 1 ? written * taps / x->cost.bus * x->c->narrow_store : store_cycles(x);
  const double once = bytes_once(x) * inputs;
  // Parts of rows had better follow each other.
  const bool whole = m->tile[BLOCK_DIM_K] >= layer->size[BLOCK_DIM_K];
  const bool last = map_position(m, BLOCK_DIM_K, false) > map_position(m, BLOCK_DIM_P, false);
  const double strided = whole ? 1 : last ? x->c->partial_rows : x->c->strided_rows;
  const double filled = (double)x->f->rows[MAP_RESULTS] / x->cost.hw.acc_rows;
  const double memory =
      (once / x->c->read_share + stored / x->c->window_write) / x->peak * strided * (1 + x->c->window_size * filled);
  return norm(x, (const double[]){load, store, memory}, 3) + x->c->window_tile * tiles;
}

static double commands(const machine *x) {
  return x->c->host_command * (double)(x->f->loads + 2 * x->f->products + x->f->stores);
}

// What costs no exponentials: no mapping takes fewer cycles. The sums are those of the estimate in another order.
static double least_cycles(const machine *x) {
  static const double rounding = 1 - 1e-9;
  double stride, load = (double)x->f->bias_bytes / x->cost.bus, mesh = x->mesh;
  for (int o = 0; o < MAP_RESULTS; o++) {
    load += cost_bus_cycles(&x->cost, (double)x->f->dram_bytes[o], row_bytes(x, (map_operand)o, &stride));
    if (x->f->fills[o] > 1) mesh += x->c->switch_cycles * (double)x->f->fills[o];
  }
  return rounding * (wf_max(wf_max(mesh, load), store_cycles(x)) + breaks(x) + commands(x) + conflict_cycles(x, load));
}

double map_estimate(const map_layer *layer, const map_mapping *m, const hw_array *array, const map_footprint *f,
                    const cost_constants *constants, double limit) {
  machine x = {.layer = layer,
               .mapping = m,
               .slots = map_slots(m, f),
               .f = f,
               .cost = cost_model_of(array, constants),
               .c = constants,
               .line = (double)cost_line_bytes(array),
               .cache = array->l2.present ? 1024.0 * array->l2.capacity_kib : 0,
               .mesh = (double)f->mesh_cycles};
  cost_limit_slots(&x.cost, &x.slots);
  x.dim = x.cost.dim;
  x.peak = x.cost.peak;
  if (layer->kind == MAP_WINDOW) return window_estimate(&x);
  if (least_cycles(&x) >= limit) return limit;
  double missed[MAP_RESULTS];
  find_misses(&x, missed);
  const stream weights = stream_of(&x, MAP_WEIGHTS, missed[MAP_WEIGHTS]);
  const stream inputs = stream_of(&x, MAP_INPUTS, missed[MAP_INPUTS]);
  const double residual = layer->residual != 0 ? (double)f->dram_bytes[MAP_RESULTS] : 0;
  const double stored = stored_bytes(&x), load = weights.cycles + inputs.cycles + (double)f->bias_bytes / x.cost.bus;
  const double back = cost_written_back(stored, weights.missed + inputs.missed + residual + stored, x.cache);
  // A line that is fetched holds up the store of the other part.
  const double store = store_cycles(&x) * (1 + x.c->ragged_line * ragged_results(&x) * back / stored);
  const double lines = weights.missed / weights.share + inputs.missed / inputs.share + residual / constants->read_share;
  const double memory = (lines / x.peak + write_back_cycles(&x, stored, back)) *
                        (1 + constants->short_runs * constants->short_rows / (tile_rows(&x) + constants->short_rows));
  const double stalls =
      stall_of(&x, &weights, (double)f->dram_bytes[MAP_WEIGHTS], x.slots.depth[COST_WEIGHTS], inputs.cycles) +
      stall_of(&x, &inputs, (double)f->dram_bytes[MAP_INPUTS], x.slots.depth[COST_INPUTS], weights.cycles) +
      store_stalls(&x, store) + residual_stalls(&x, residual);
  const double first = beginning(&x, &weights, &inputs, stored);
  // The columns of a tile are complete one after the other: only the last ones are stored behind all products.
  const double last = store / (double)(f->fills[MAP_RESULTS] * stored_rows(&x).pieces);
  return norm(&x, (const double[]){x.mesh + stalls, load, store, memory}, 4) + breaks(&x) + first + last +
         conflict_cycles(&x, load) + interference(&x, load, memory) + commands(&x);
}
