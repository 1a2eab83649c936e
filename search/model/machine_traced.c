// SPDX-License-Identifier: Apache-2.0
// The units: what machine_mesh.c, machine_load.c, machine_memory.c and machine_work.c say, over a trace
// (machine_slope.h).
#include "search/model/machine_traced.h"

#include <math.h>

tape_number machine_trace_blocks(const machine_traced *t, double extent, double blocks) {
  const double now = extent / t->x->cost.dim;
  if (now <= 1) return tape_fixed(blocks);
  return scaled(t, at_least(t, 1, over(t, tape_fixed(extent), t->dim)), blocks / now);
}

tape_number machine_trace_beats(const machine_traced *t, const cost_requests *q) {
  const tape_number moved = over(t, tape_fixed(q->beats * t->x->cost.bus), t->bus);
  return q->beats <= q->bursts ? tape_fixed(q->beats) : at_least(t, q->bursts, moved);
}

// ---- the mesh

static tape_number pair_cycles(const machine_traced *t) {
  const double least = (double)cost_product_rows(0, t->x->cost.hw.dim);
  return larger(t, at_least(t, least, t->dim), t->in_flight);
}

// Blocks of DIM in the tiles of a dimension, on average over its tiles.
static tape_number blocks_of(const machine_traced *t, block_dim_id dim) {
  const int64_t size = t->x->layer->size[dim], tile = wf_min(t->x->m->tile[dim], size), side = t->x->cost.hw.dim;
  const double tiles = (double)wf_ceil_div(size, tile);
  const double whole = (double)(size / tile * wf_ceil_div(tile, side)), rest = (double)wf_ceil_div(size % tile, side);
  return scaled(
      t, plus(t, machine_trace_blocks(t, (double)tile, whole), machine_trace_blocks(t, (double)(size % tile), rest)),
      1 / tiles);
}

// Tiles at the end of an image have fewer rows.
static double cut_of(const machine_context *x) {
  static const block_dim_id rows[] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q};
  double cut = 1;
  for (int i = 0; i < 3; i++) {
    const double size = (double)x->layer->size[rows[i]], tile = wf_min((double)x->m->tile[rows[i]], size);
    cut *= size / (tile * ceil(size / tile));
  }
  return cut;
}

// Cycles of the runs of a tile but for the longest: rows of full runs take DIM each, or what a product in flight does.
static tape_number run_cycles(const machine_traced *t, const machine_runs *r) {
  const cost_model *m = &t->x->cost;
  const double pair = cost_pair_cycles(m, m->dim), held = cost_pair_cycles(m, 0);
  const bool longest_is_full = r->full > 0;
  const double full = r->full - longest_is_full;
  const double others = r->cycles - r->last - full * pair, held_others = r->held - (!longest_is_full && r->held > 0);
  const tape_number of_full = by(t, over(t, tape_fixed(full * m->dim), t->dim), pair_cycles(t));
  const tape_number of_held = scaled(t, offset(t, t->in_flight, -held), held_others > 0 ? held_others : 0);
  return plus(t, offset(t, of_full, others), of_held);
}

// Rows that are loaded into banks from which products read, for all stages: what twice the banks or twice the capacity
// would change is taken for the slope.
static tape_number steal_share(const machine_traced *t, double (*share)(const machine_context *x, int operand),
                               int operand) {
  const double now = share(t->x, operand);
  tape_number sum = tape_fixed(now);
  for (int n = 0; n < 2; n++) {
    hw_array twice = *t->x->cost.array;
    if (n == 0) twice.scratchpad.banks *= 2;
    if (n == 1) twice.scratchpad.capacity_kib *= 2;
    const machine_context x = machine_context_of(t->x->layer, t->x->m, &twice, t->x->cost.c);
    const machine_axis axis = n == 0 ? MACHINE_AXIS_BANKS : MACHINE_AXIS_SCRATCHPAD;
    const double from = machine_axis_value(t->x->cost.array, axis);
    sum = plus(t, sum, scaled(t, offset(t, t->axis[axis], -from), (share(&x, operand) - now) / from));
  }
  return sum;
}

static double write_share(const machine_context *x, int operand) {
  return cost_bank_writes(&x->cost, &x->places, operand);
}

static double conflict_share(const machine_context *x, int operand) {
  return (void)operand, cost_bank_conflicts(&x->places);
}

static tape_number written_rows(const machine_traced *t, map_operand operand) {
  const cost_rows r = operand == MAP_WEIGHTS ? machine_weight_rows(t->x) : machine_input_rows(t->x);
  const double rows = (double)t->x->f.fills[operand] * (r.count + r.zeros);
  return scaled(t, machine_trace_blocks(t, r.bytes, ceil(r.bytes / t->x->cost.dim)), rows);
}

static tape_number steals(const machine_traced *t) {
  tape_number rows = tape_fixed(0);
  for (int o = 0; o < MAP_RESULTS; o++)
    rows = plus(t, rows, by(t, written_rows(t, (map_operand)o), steal_share(t, write_share, o)));
  return scaled(t, rows, 1 / t->work->stages);
}

// The product in front of new weights takes as long as these.
static tape_number block_cycles(const machine_traced *t, const machine_runs *r) {
  const machine_context *x = t->x;
  const double depth = (double)wf_min(x->m->tile[BLOCK_DIM_C], x->layer->size[BLOCK_DIM_C]);
  const tape_number deep = machine_trace_blocks(t, depth, ceil(depth / x->cost.dim));
  const tape_number both = over(t, tape_fixed(depth), deep);
  const tape_number last = plus(t, pair_cycles(t), by(t, both, steal_share(t, conflict_share, 0)));
  const tape_number configured = scaled(t, offset(t, t->mesh_latency, x->cost.c->configure), r->changes);
  return plus(t, plus(t, scaled(t, run_cycles(t, r), cut_of(x)), last), configured);
}

tape_number machine_trace_mesh(const machine_traced *t, tape_number *products) {
  const machine_context *x = t->x;
  const machine_runs r = machine_runs_of(x);
  const tape_number blocks = by(t, blocks_of(t, BLOCK_DIM_K), blocks_of(t, BLOCK_DIM_C));
  const tape_number full = over(t, tape_fixed(r.full * x->cost.dim), t->dim);
  const tape_number count = scaled(t, offset(t, full, r.count - r.full), cut_of(x));
  *products = at_least(t, 1, by(t, blocks, count));
  if (x->m->dataflow == BLOCK_OS)
    return plus(t, scaled(t, by(t, by(t, blocks, count), t->dim), x->cost.c->os_pair), steals(t));
  return plus(t, offset(t, by(t, blocks, block_cycles(t, &r)), x->cost.c->stage_cycles), steals(t));
}

// ---- main memory

// The share of lines that are no longer in the L2 (cost_lost_in_turn).
static tape_number lost_share(const machine_traced *t, map_operand operand, int position) {
  enum { ROUNDS = 12 };
  const machine_context *x = t->x;
  tape_number share = tape_fixed(1);
  if (!x->cost.array->l2.present) return share;
  const tape_number capacity =
      scaled(t, t->axis[MACHINE_AXIS_L2_CAPACITY], 1024 / x->cost.line * x->cost.c->cache_share);
  const tape_number turns = over(t, tape_fixed(-machine_kept_lines(x, operand, position)), capacity);
  for (int n = 0; n < ROUNDS; n++) share = minus(t, tape_fixed(1), tape_trace_exp(t->s->trace, by(t, turns, share)));
  return share;
}

static tape_number missed_lines(const machine_traced *t, map_operand operand) {
  const machine_context *x = t->x;
  tape_number lines = tape_fixed(machine_swept_lines(x, operand, x->m->residency[operand]));
  for (int p = x->m->residency[operand] - 1; p >= 0; p--) {
    const double trips = (double)map_loop_trips(x->m, p);
    if (trips <= 1) continue;
    const tape_number all = scaled(t, lines, trips);
    const tape_number once = smaller(t, all, tape_fixed(machine_swept_lines(x, operand, p)));
    lines = plus(t, once, by(t, minus(t, all, once), lost_share(t, operand, p + 1)));
  }
  return lines;
}

// ---- loads (compiler/cost/load.c)

typedef struct traced_load {
  tape_number unit, data, memory, latency;
} traced_load;

// Commands of a fill: those of weights are cut by DIM along C, those of inputs along the image.
static tape_number commands_of(const machine_traced *t, map_operand operand, const cost_rows *r) {
  const machine_context *x = t->x;
  const int position = x->m->residency[operand];
  const int64_t rows = operand == MAP_WEIGHTS            ? map_extent(x->layer, x->m, BLOCK_DIM_C, position)
                       : x->layer->size[BLOCK_DIM_Q] > 1 ? map_extent(x->layer, x->m, BLOCK_DIM_Q, position)
                                                         : map_extent(x->layer, x->m, BLOCK_DIM_P, position);
  return machine_trace_blocks(t, (double)rows, r->commands);
}

// Requests wait for memory: for its rate, and for its latency as far as they are not under way together.
static tape_number waiting_of(const machine_traced *t, tape_number missed, const traced_load *load) {
  const tape_number reads = t->axis[MACHINE_AXIS_READS];
  const tape_number registers =
      t->x->cost.array->l2.present ? smaller(t, t->axis[MACHINE_AXIS_L2_REGISTERS], reads) : reads;
  return larger(t, load->memory, over(t, by(t, missed, t->miss_latency), registers));
}

static traced_load load_of(const machine_traced *t, map_operand operand, const cost_rows *r, tape_number missed) {
  const cost_model *m = &t->x->cost;
  const double piece = wf_min(r->bytes, m->hw.max_cols), pieces = ceil(r->bytes / piece);
  const cost_requests q = cost_requests_of(m, (int64_t)piece, r->stride);
  const double count = r->count * pieces, bursts = count * q.bursts;
  const double alike = m->array->l2.present ? wf_max(0, 1 - (double)r->stride / m->line) : 0;
  const tape_number beats = machine_trace_beats(t, &q);
  const tape_number moving =
      scaled(t, larger(t, beats, tape_fixed(q.bursts * (m->c->burst_cycles + alike * m->c->same_line))), count);
  if (!m->array->l2.present) missed = tape_fixed(bursts);
  traced_load load;
  load.memory = by(t, missed, machine_trace_line(t, scaled(t, by(t, beats, t->bus), 1 / q.bursts)));
  const tape_number part = smaller(t, tape_fixed(1), scaled(t, missed, 1 / bursts));
  const tape_number memory = plus(t, t->hit_latency, by(t, part, minus(t, t->miss_latency, t->hit_latency)));
  load.latency = offset(t, memory, m->c->load_latency);
  const tape_number in_flight = over(t, scaled(t, memory, bursts), t->axis[MACHINE_AXIS_READS]);
  load.data = larger(t, larger(t, moving, waiting_of(t, missed, &load)), in_flight);
  const tape_number commands = commands_of(t, operand, r);
  const tape_number tracked = over(t, plus(t, load.data, by(t, commands, load.latency)), t->tracked);
  const tape_number issued = plus(t, load.data, scaled(t, commands, m->c->command_cycles));
  const tape_number zeros = machine_trace_blocks(t, r->bytes, ceil(r->bytes / m->dim));
  load.unit = plus(t, larger(t, issued, tracked), scaled(t, zeros, r->zeros * m->c->zero_cycles));
  return load;
}

void machine_trace_stream(const machine_traced *t, map_operand operand, machine_traced_terms *terms,
                          tape_number *memory) {
  const machine_context *x = t->x;
  const cost_rows r = operand == MAP_WEIGHTS ? machine_weight_rows(x) : machine_input_rows(x);
  const double fills = (double)x->f.fills[operand], portions = machine_portions(x, operand);
  const double tile_c = (double)x->m->tile[BLOCK_DIM_C], tile_k = (double)x->m->tile[BLOCK_DIM_K];
  const traced_load load = load_of(t, operand, &r, scaled(t, missed_lines(t, operand), 1 / fills));
  const tape_number deep = machine_trace_blocks(t, tile_c, ceil(tile_c / x->cost.dim));
  const tape_number columns = machine_trace_blocks(t, tile_k, ceil(tile_k / x->cost.dim));
  const tape_number all = by(t, deep, columns), one = tape_fixed(1);
  tape_number *of = terms->stream[operand];
  *memory = plus(t, *memory, scaled(t, load.memory, fills));
  of[MACHINE_STREAM_UNIT] = scaled(t, load.unit, 1 / portions);
  of[MACHINE_STREAM_DATA] = scaled(t, load.data, 1 / portions);
  of[MACHINE_STREAM_LATENCY] = load.latency;
  of[MACHINE_STREAM_FIRST] = tape_fixed(1 / ceil(tile_c / x->cost.hw.max_cols));
  of[MACHINE_STREAM_REST] = minus(t, one, over(t, offset(t, deep, -1), all));
  if (operand == MAP_INPUTS) return;
  of[MACHINE_STREAM_FIRST] = over(t, tape_fixed(1 / ceil(tile_k / x->cost.hw.max_cols)), deep);
  of[MACHINE_STREAM_REST] = over(t, one, all);
}

tape_number machine_trace_bias(const machine_traced *t) {
  const machine_context *x = t->x;
  const cost_model *m = &x->cost;
  if (!x->layer->bias) return tape_fixed(0);
  const double rows = (double)(x->m->tile[BLOCK_DIM_N] * x->m->tile[BLOCK_DIM_P] * x->m->tile[BLOCK_DIM_Q]);
  const double columns = wf_min((double)x->m->tile[BLOCK_DIM_K], (double)x->layer->size[BLOCK_DIM_K]);
  const tape_number commands =
      scaled(t, machine_trace_blocks(t, rows, ceil(rows / m->dim)), ceil(columns / m->hw.max_cols_acc));
  const tape_number writes =
      scaled(t, machine_trace_blocks(t, columns, ceil(columns / m->dim)), rows * m->c->zero_cycles);
  const tape_number latency = offset(t, t->hit_latency, m->c->load_latency);
  return larger(t, plus(t, writes, scaled(t, commands, m->c->command_cycles)),
                over(t, by(t, commands, latency), t->tracked));
}

// ---- stores

// Rows of pieces of results, which are as wide as the array where they are not tiled.
typedef struct traced_rows {
  machine_store_rows at;  // the array
  tape_number count, blocks, beats, bursts;
} traced_rows;

static traced_rows store_rows_of(const machine_traced *t) {
  const machine_context *x = t->x;
  traced_rows r = {.at = machine_store_rows_of(x)};
  const double columns = (double)wf_min(x->m->tile[BLOCK_DIM_K], x->layer->size[BLOCK_DIM_K]);
  const bool narrow = !machine_result_layout(x).tiled;
  tape_number share = tape_fixed(1);  // of the pieces that there are at the array
  if (narrow) share = scaled(t, machine_trace_blocks(t, columns, r.at.pieces), 1 / r.at.pieces);
  const double piece = columns / r.at.pieces;
  r.count = scaled(t, share, r.at.count);
  r.blocks = narrow ? tape_fixed(r.at.blocks) : machine_trace_blocks(t, piece, r.at.blocks);
  r.bursts = tape_fixed(r.at.each.bursts);
  r.beats = over(t, machine_trace_beats(t, &r.at.each), share);
  return r;
}

static tape_number row_of(const machine_traced *t, const traced_rows *r) {
  const bool wide = t->x->layer->result_bytes == 4;
  if (r->at.blocks > 1) return offset(t, plus(t, r->blocks, r->beats), -1);
  return larger(t, tape_fixed(wide ? 1 : t->x->cost.c->store_row), r->beats);
}

static tape_number line_of(const machine_traced *t, const traced_rows *r) {
  return machine_trace_line(t, over(t, by(t, r->beats, t->bus), r->bursts));
}

static tape_number bare_cycles(const machine_traced *t, const traced_rows *r) {
  return by(t, by(t, r->count, r->bursts), line_of(t, r));
}

static tape_number write_waits(const machine_traced *t, const traced_rows *r) {
  if (t->x->cost.array->l2.present) return scaled(t, line_of(t, r), machine_fetched_lines(t->x));
  const tape_number latency = by(t, by(t, r->count, r->bursts), t->miss_latency);
  return larger(t, bare_cycles(t, r), over(t, latency, t->axis[MACHINE_AXIS_WRITES]));
}

tape_number machine_trace_store(const machine_traced *t) {
  const machine_context *x = t->x;
  const traced_rows r = store_rows_of(t);
  const tape_number all = larger(t, by(t, r.count, row_of(t, &r)), write_waits(t, &r));
  const double rows = (double)(x->m->tile[BLOCK_DIM_Q] > 1 ? x->m->tile[BLOCK_DIM_Q] : x->m->tile[BLOCK_DIM_P]);
  const tape_number commands =
      by(t, machine_trace_blocks(t, rows, machine_store_commands(x)), scaled(t, r.count, 1 / r.at.count));
  return scaled(t, plus(t, all, scaled(t, commands, x->cost.c->store_command)), 1 / (double)x->f.fills[MAP_RESULTS]);
}

tape_number machine_trace_written(const machine_traced *t) {
  const machine_context *x = t->x;
  const traced_rows r = store_rows_of(t);
  if (!x->cost.array->l2.present) return bare_cycles(t, &r);
  const tape_number kept = scaled(t, t->axis[MACHINE_AXIS_L2_CAPACITY], 512);
  const tape_number lines = minus(t, tape_fixed((double)x->f.dram_bytes[MAP_RESULTS]), kept);
  const tape_number written = scaled(t, t->line_cycles, x->cost.c->write_line / x->cost.line);
  return plus(t, by(t, written, at_least(t, 0, lines)), scaled(t, line_of(t, &r), machine_fetched_lines(x)));
}
