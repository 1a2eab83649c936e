// Cycles of a mapping, roughly; see mapping.h.
//
// Mesh, loads, stores and main memory work at the same time, so the slowest of their totals counts. On top of it come
//   - the first fills, before which there are no products, and the stores of the last tile, behind them;
//   - stalls: a slot is filled while the products of the other slots run. A fill that takes longer than these, with its
//     latency, holds the mesh up, however low the average rate is. Fills of rows that are not in the cache take the
//     time of their lines, also where they use a part of a line;
//   - switches from slot to slot, a few cycles each, breaks between product statements, and short runs of kept weights;
//   - conflicts: writes into a single-ported bank take cycles from the reads of a slot in the same bank.
// The constants are measured on engine cycle with the default array; they rank mappings, they predict nothing.
#include "compiler/mapping/mapping.h"

static const double latency_cycles = 70;       // from the end of a product to the first row of its successor's operands
static const double load_overhead_cycles = 2;  // of each load
static const double miss_factor = 2;           // a burst of missed lines against the peak rate of main memory
static const double narrow_store_factor = 1.7;  // rows of the accumulator pass the scale units, 5 in 8 cycles
static const double read_line_factor = 1.25, written_line_factor = 2;  // of lines at the peak rate of main memory
static const double conflict_share = 0.3;                              // of the loads, when slots share banks
static const double interference = 0.03;                               // of loads and main memory, in any case
static const double statement_cycles = 0.7;                            // of each product statement
static const double short_run_share = 0.005;   // of the products, when each tile of weights meets one tile of rows
static const double first_fill_factor = 1.5;   // of the rate of main memory: a part is in the cache
static const double fill_overhead_cycles = 5;  // of the mesh, each time that it goes on to another slot

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double least(double a, double b) { return a < b ? a : b; }

typedef struct machine {
  const map_layer *layer;
  const map_mapping *mapping;
  const hw_array *array;
  const map_footprint *f;
  double bus, memory, line, cache;  // bytes per cycle, bytes
  double mesh;                      // cycles of all products
} machine;

// ---- loads of one operand

typedef struct stream {
  double fills, cycles;  // cycles of all its loads at the rate of the bus
  double lines, missed;  // of one fill; share of the fills that find nothing in the cache
  double missed_bytes;   // of all fills
} stream;

// Bytes of an operand as a whole: what the cache may keep.
static double bytes_once(const map_layer *layer, map_operand operand) {
  const block_dim_id channels = layer->kind == MAP_DEPTHWISE ? BLOCK_DIM_K : BLOCK_DIM_C;
  double bytes = 1;
  for (int d = 0; d < BLOCK_DIMS && operand == MAP_WEIGHTS; d++)
    if (map_uses(layer->kind, MAP_WEIGHTS, (block_dim_id)d)) bytes *= (double)layer->size[d];
  if (operand == MAP_WEIGHTS) return bytes;
  bytes = (double)(layer->size[BLOCK_DIM_N] * layer->size[channels]);
  bytes *= (double)map_window(layer, 0, layer->size[BLOCK_DIM_P], layer->size[BLOCK_DIM_R]);
  return bytes * (double)map_window(layer, 1, layer->size[BLOCK_DIM_Q], layer->size[BLOCK_DIM_S]);
}

// Contiguous bytes of a row of a fill.
static double row_bytes(const machine *x, map_operand operand) {
  const bool deep = x->layer->kind == MAP_DEPTHWISE;
  const block_dim_id columns = operand == MAP_WEIGHTS || deep ? BLOCK_DIM_K : BLOCK_DIM_C;
  return (double)map_extent(x->layer, x->mapping, columns, x->mapping->residency[operand]);
}

static stream stream_of(const machine *x, map_operand operand) {
  const double dim = hw_derive(x->array).dim, row = row_bytes(x, operand);
  const double read = (double)x->f->dram_bytes[operand], once = bytes_once(x->layer, operand);
  stream s = {.fills = (double)x->f->fills[operand]};
  s.cycles = read / x->bus + load_overhead_cycles * (double)x->f->loads_of[operand];
  const double rows = (double)x->f->slot_rows[operand] * dim / most(row, dim);
  s.lines = rows * most(1, row / x->line);
  s.missed = once <= x->cache / 2 ? least(1, once / read) : 1;
  s.missed_bytes = read * s.missed;
  s.missed *= least(1, row / x->line);  // the others use what is left of its lines
  return s;
}

static double stall_of(const machine *x, const stream *s, int depth, double others) {
  if (s->fills <= 1) return 0;
  const double switches = fill_overhead_cycles * s->fills;
  const double room = (depth - 1) * x->mesh / s->fills * (1 - least(0.9, others / x->mesh));
  const double missed = s->lines * x->line / x->memory * miss_factor + latency_cycles;
  const double hit = s->cycles / s->fills + latency_cycles;
  return switches + s->fills * (s->missed * most(0, missed - room) + (1 - s->missed) * most(0, hit - room));
}

// ---- stores

static double store_cycles(const machine *x, double bytes) {
  return bytes / x->bus * (x->layer->result_bytes == 4 ? 1.05 : narrow_store_factor);
}

// Lines of results that reach main memory. A row that covers no whole line costs its fetch, too.
static double stored_lines(const machine *x) {
  const int64_t element = x->layer->result_bytes == 4 ? 4 : 1, line = (int64_t)x->line;
  const int64_t all = x->layer->size[BLOCK_DIM_K], row = smaller(x->mapping->tile[BLOCK_DIM_K], all);
  const bool whole = row * element % line == 0 || (row == all && x->mapping->tile[BLOCK_DIM_P] > 1);
  return (double)x->f->dram_bytes[MAP_RESULTS] / x->line * (whole ? 1 : 2);
}

// Missed lines take longer than the peak rate says, written ones above all: they leave the cache in no order. Long runs
// of stores are kinder to it.
static double memory_cycles(const machine *x, double read_bytes) {
  const int64_t *tile = x->mapping->tile;
  const double rows = (double)(tile[BLOCK_DIM_N] * tile[BLOCK_DIM_P] * tile[BLOCK_DIM_Q]);
  const double line = x->line / x->memory;
  return (read_line_factor * read_bytes / x->line + written_line_factor * stored_lines(x)) * line *
         (1 + 0.3 * 64 / (rows + 64));
}

static double store_stalls(const machine *x, double store) {
  const double tiles = (double)x->f->fills[MAP_RESULTS];
  const double room = (x->mapping->depth[MAP_RESULTS] - 1) * x->mesh / tiles;
  return tiles * most(0, store / tiles + latency_cycles - room);
}

// ---- all of it

// What the mesh loses between product statements and where weights change often.
static double breaks(const machine *x) {
  const map_mapping *m = x->mapping;
  double statements = 1;
  for (int p = 0; p < MAP_POSITIONS; p++) statements *= (double)map_loop_trips(m, p);
  const double rows = (double)(m->tile[BLOCK_DIM_N] * m->tile[BLOCK_DIM_P] * m->tile[BLOCK_DIM_Q]);
  const double runs = most(1, rows / hw_derive(x->array).dim);
  return statement_cycles * statements + short_run_share * x->mesh / runs;
}

static bool banks_are_shared(const machine *x) {
  const hw_derived hw = hw_derive(x->array);
  int64_t banks = 0;
  for (int o = 0; o < MAP_RESULTS; o++) banks += x->mapping->depth[o] * ceil_div(x->f->slot_rows[o], hw.sp_bank_rows);
  return banks > x->array->scratchpad.banks;
}

double map_estimate(const map_layer *layer, const map_mapping *m, const hw_array *array, const map_footprint *f) {
  const bool cached = array->l2.present;
  const hw_derived hw = hw_derive(array);
  machine x = {.layer = layer,
               .mapping = m,
               .array = array,
               .f = f,
               .bus = (double)array->dma.bus_bits / 8,
               .memory = (double)array->memory.bytes_per_cycle,
               .line = cached ? (double)array->l2.line_bytes : (double)array->dma.bus_bits / 8,
               .cache = cached ? 1024.0 * array->l2.capacity_kib : 0,
               .mesh = (double)(f->products * hw.dim)};
  const stream weights = stream_of(&x, MAP_WEIGHTS), inputs = stream_of(&x, MAP_INPUTS);
  const double load = weights.cycles + inputs.cycles + (double)f->bias_bytes / x.bus;
  const double store = store_cycles(&x, (double)f->dram_bytes[MAP_RESULTS]);
  const double memory = memory_cycles(&x, weights.missed_bytes + inputs.missed_bytes);
  const double first = (weights.lines + inputs.lines) * x.line / least(x.bus, first_fill_factor * x.memory);
  const double last = store / (double)f->fills[MAP_RESULTS];
  const double stalls = stall_of(&x, &weights, m->depth[MAP_WEIGHTS], inputs.cycles) +
                        stall_of(&x, &inputs, m->depth[MAP_INPUTS], weights.cycles) + store_stalls(&x, store);
  const double conflicts = banks_are_shared(&x) ? conflict_share * load : 0;
  return most(most(x.mesh + stalls, load), most(store, memory)) + breaks(&x) + first + last + conflicts +
         interference * (load + memory);
}
