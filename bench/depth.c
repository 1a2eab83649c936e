// SPDX-License-Identifier: Apache-2.0
// `weft bench depth`: what slots bring: the same blocks of the same operator with 1 to 4 slots of each operand, on
// arrays of several banks and latencies of main memory.
//
// All operands are loaded for each product statement, so that nothing but slots hides a load; the blocks are the same
// in a row. The arrays have no L2, and so many loads and requests in flight that their number is no bound: what is left
// is latency, which slots hide. A row has one kind of slots from 1 to 4, all others at 2.
#include "base/number.h"
#include "bench/bench.h"
#include "runner/measure.h"
#include "search/model/machine.h"

enum { DEPTHS = 4, EVEN = 2, REQUESTS = 256, ENTRIES = 32, RATE = 16, ALL = MAP_OPERANDS };

typedef struct options {
  uint64_t most;
  bool quick;
} options;

typedef struct operator_row {
  const char *name;
  map_kind kind;
  int64_t size[BLOCK_DIMS], tile[BLOCK_DIMS];  // N P Q K C R S
} operator_row;

static const operator_row operators[] = {
    {"long sum", MAP_GEMM, {1, 32, 1, 32, 4096, 1, 1}, {1, 32, 1, 32, 64, 1, 1}},
    {"long sum, few rows", MAP_GEMM, {1, 16, 1, 64, 4096, 1, 1}, {1, 16, 1, 64, 64, 1, 1}},
    {"long sum, wide", MAP_GEMM, {1, 64, 1, 64, 4096, 1, 1}, {1, 64, 1, 64, 64, 1, 1}},
    {"product", MAP_GEMM, {1, 128, 1, 128, 512, 1, 1}, {1, 64, 1, 64, 64, 1, 1}},
    {"small blocks", MAP_GEMM, {1, 96, 1, 96, 512, 1, 1}, {1, 32, 1, 32, 32, 1, 1}},
    {"attention", MAP_BATCHED, {4, 64, 1, 64, 512, 1, 1}, {1, 32, 1, 32, 64, 1, 1}},
    {"1 x 1", MAP_CONV, {1, 14, 14, 64, 512, 1, 1}, {1, 4, 14, 32, 64, 1, 1}},
    {"3 x 3", MAP_CONV, {1, 7, 7, 64, 256, 3, 3}, {1, 7, 7, 32, 64, 1, 1}},
};
static const uint32_t latencies[] = {20, 100, 400}, bank_counts[] = {4, 16};
enum {
  OPERATORS = sizeof operators / sizeof *operators,
  LATENCIES = sizeof latencies / sizeof *latencies,
  BANKS = sizeof bank_counts / sizeof *bank_counts
};

#define CYCLES(n) \
  { .title = n " slots", BENCH_DATA("cycles_" n), .width = 9, .none = "-" }
#define SHARE(heading, key) \
  { .title = (heading), BENCH_DATA(key), .width = 7, .text_format = "%.3f", .csv_format = "%.4f", .none = "-" }
static const bench_column columns[] = {
    {.title = "operator", BENCH_DATA("operator"), .width = -18},
    {.title = "banks", BENCH_DATA("banks"), .width = 5},
    {.title = "latency", BENCH_DATA("latency"), .width = 7},
    {.title = "slots of", BENCH_DATA("operand"), .width = -8},
    CYCLES("1"),
    CYCLES("2"),
    CYCLES("3"),
    CYCLES("4"),
    SHARE("1 / 2", "share_1"),
    SHARE("3 / 2", "share_3"),
    SHARE("4 / 2", "share_4"),
    SHARE("model 1", "model_1"),
    SHARE("model 3", "model_3"),
    SHARE("model 4", "model_4"),
    SHARE("model/2", "model_error_2"),
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static map_layer layer_of(const operator_row *o) {
  map_layer layer = {.kind = o->kind, .stride = {1, 1}, .dilation = {1, 1}, .groups = 1, .result_bytes = 1};
  for (int d = 0; d < BLOCK_DIMS; d++) layer.size[d] = o->size[d];
  for (int side = 0; side < 4; side++) layer.padding[side] = o->size[BLOCK_DIM_R] / 2;
  return layer;
}

static map_mapping mapping_of(const operator_row *o, int operand, int depth) {
  map_mapping m = map_none();
  for (int d = 0; d < BLOCK_DIMS; d++) {
    m.tile[d] = o->tile[d];
    m.sp[d] = 1;
    m.dram[d] = wf_ceil_div(o->size[d], o->tile[d]);
    m.outer[d] = m.inner[d] = (uint8_t)d;
  }
  for (int n = 0; n < MAP_OPERANDS; n++) m.depth[n] = (uint8_t)(operand == ALL || operand == n ? depth : EVEN);
  return m;
}

// Cycles of a mapping; none where it does not fit.
typedef struct point {
  bool fits;
  double cycles, predicted;
} point;

static bool measure(const bench_job *job, const hw_array *array, const operator_row *o, const map_mapping *mapping,
                    point *p) {
  const map_layer layer = layer_of(o);
  p->fits = map_check(&layer, mapping, array, NULL);
  if (!p->fits) return true;
  const run_measure_request request = {.layer = &layer, .array = array, .policy.mapping = mapping};
  const run_measured m = run_measure(&request, job->diag);
  p->cycles = (double)m.cycles;
  p->predicted = machine_predict(&layer, mapping, array, &cost_fitted).cycles;
  return m.status == RUN_MEASURE_GOOD;
}

static bench_cell cycles_of(const point *p) { return bench_if(p->fits, bench_count((uint64_t)p->cycles)); }

static bench_cell share_of(const point *p, const point *even) {
  return bench_if(p->fits && even->fits, bench_real(p->cycles / even->cycles));
}

static bench_cell model_of(const point *p, const point *even) {
  return bench_if(p->fits && even->fits, bench_real(p->predicted / even->predicted));
}

// Whether more slots than two take longer than the option allows.
static bool loses(const bench_job *job, const point *p, const point *even) {
  const options *o = job->options;
  return o->most != 0 && p->fits && even->fits && 100 * p->cycles > (double)(100 + o->most) * even->cycles;
}

static bench_end add_row(const bench_job *job, bench_table *table, const hw_array *array, const operator_row *o,
                         int operand, const point *even) {
  point p[DEPTHS + 1] = {[EVEN] = *even};
  for (int depth = 1; depth <= DEPTHS; depth++) {
    const map_mapping m = mapping_of(o, operand, depth);
    if (depth != EVEN && !measure(job, array, o, &m, &p[depth])) return BENCH_CANNOT_BUILD;
  }
  BENCH_ROW(table, bench_text(o->name), bench_count(array->scratchpad.banks), bench_count(array->memory.latency_cycles),
            bench_text(operand == ALL ? "all" : map_operand_names[operand]), cycles_of(&p[1]), cycles_of(&p[2]),
            cycles_of(&p[3]), cycles_of(&p[4]), share_of(&p[1], even), share_of(&p[3], even), share_of(&p[4], even),
            model_of(&p[1], even), model_of(&p[3], even), model_of(&p[4], even),
            bench_if(even->fits, bench_real(even->predicted / even->cycles)));
  return loses(job, &p[3], even) || loses(job, &p[4], even) ? BENCH_MISMATCH : BENCH_DONE;
}

static bench_end add_rows(const bench_job *job, bench_table *table, const hw_array *array, const operator_row *o) {
  const options *chosen = job->options;
  const map_mapping m = mapping_of(o, ALL, EVEN);
  point even;
  bench_end end = BENCH_DONE;
  if (!measure(job, array, o, &m, &even)) return BENCH_CANNOT_BUILD;
  for (int n = chosen->quick ? ALL : 0; n <= ALL && end != BENCH_CANNOT_BUILD; n++) {
    const bench_end row = add_row(job, table, array, o, n, &even);
    if (row != BENCH_DONE) end = row;
  }
  return end;
}

static void shape(hw_array *array, uint32_t banks, uint32_t latency) {
  array->scratchpad.banks = banks;
  array->memory.model = HW_MEMORY_FIXED;
  array->memory.latency_cycles = latency;
  array->memory.bytes_per_cycle = RATE;
  array->l2.present = false;
  array->dma.reads_in_flight = REQUESTS;
  array->load.reservation_entries = ENTRIES;
}

static bench_end run_depth(const bench_job *job) {
  const options *o = job->options;
  const int step = o->quick ? 2 : 1;  // of operators: half of them, with the shortest and the longest latency
  hw_array array;
  bench_table *table = bench_table_open(job->report, &form);
  bench_end end = BENCH_DONE;
  bench_table_heading(table);
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  for (int n = 0; n < OPERATORS * BANKS * LATENCIES && end != BENCH_CANNOT_BUILD; n++) {
    const int latency = n % LATENCIES, banks = n / LATENCIES % BANKS, of = n / LATENCIES / BANKS;
    if (of % step != 0 || latency % step != 0) continue;
    shape(&array, bank_counts[banks], latencies[latency]);
    const bench_end rows = add_rows(job, table, &array, &operators[of]);
    if (rows != BENCH_DONE) end = rows;
  }
  return end;
}

static const wf_option option_rows[] = {
    {"most", WF_COUNT(options, most), "PERCENT",
     "end with 4 if 3 or 4 slots take so much longer than 2 (default: 0, never)"},
    {"quick", WF_FLAG(options, quick), NULL, "half of the operators, two latencies, all operands alike"},
};
static const options defaults = {0};

const bench bench_depth = {
    .name = "depth",
    .summary = "blocks with 1 to 4 slots of each operand",
    .synopsis = "",
    .text =
        "Measures eight operators whose blocks have 1 to 4 slots of weights, inputs, results or all, with 4 and 16 "
        "banks\n"
        "of the scratchpad and three latencies of main memory, on engine cycle, beside what the model predicts.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_depth};
