// SPDX-License-Identifier: Apache-2.0
// `weft bench decode`: one token of decoders behind a cache of keys and values, beside tokens taken together.
//
// The cache lies in main memory, an input of the network, and is read there. What a token costs is what its bytes cost:
// weights once for all sequences of a batch, the cache of each sequence. So beside cycles stand bytes, and the rate at
// which products with weights take them, of the rate that main memory has. Rows that say how the cache is kept, as int8
// or int4, have the new token's part of it as results too, and run on arrays that widen int4.
#include "base/alloc.h"
#include "bench/bench.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "sim/figures.h"
#include "workloads/networks/networks.h"

typedef struct options {
  const char *net;
  uint64_t seed;
  bool quick;
} options;

static const struct {
  const char *net;
  networks_options full, quick;
  quantise_cache cache;
} rows[] = {
    {"gpt2-block", {.sequence = 128, .layers = 12}, {.sequence = 16, .divisor = 4}, QUANTISE_CACHE_AS_ALL},
    {"gpt2-block", {.past = 128, .layers = 12}, {.past = 16, .divisor = 4}, QUANTISE_CACHE_AS_ALL},
    {"gpt2-block", {.past = 1024, .layers = 12}, {.past = 64, .divisor = 4}, QUANTISE_CACHE_AS_ALL},
    {"gpt2-block",
     {.past = 1024, .layers = 12, .batch = 4},
     {.past = 64, .divisor = 4, .batch = 4},
     QUANTISE_CACHE_AS_ALL},
    {"llama2-7b-block", {.sequence = 128}, {.sequence = 8, .divisor = 32}, QUANTISE_CACHE_AS_ALL},
    {"llama2-7b-block", {.past = 512}, {.past = 32, .divisor = 32}, QUANTISE_CACHE_AS_ALL},
    {"llama2-7b-block", {.past = 512, .batch = 4}, {.past = 32, .divisor = 32, .batch = 4}, QUANTISE_CACHE_AS_ALL},
    {"llama3-8b-block", {.past = 512}, {.past = 32, .divisor = 8}, QUANTISE_CACHE_AS_ALL},
    {"llama3-8b-block", {.past = 4096, .batch = 4}, {.past = 64, .divisor = 8, .batch = 4}, QUANTISE_CACHE_AS_ALL},
    {"gpt2-block", {.past = 128, .layers = 12}, {.past = 16, .divisor = 4}, QUANTISE_CACHE_INT8},
    {"gpt2-block", {.past = 128, .layers = 12}, {.past = 16, .divisor = 4}, QUANTISE_CACHE_INT4},
    {"gpt2-block", {.past = 1024, .layers = 12}, {.past = 64, .divisor = 4}, QUANTISE_CACHE_INT8},
    {"gpt2-block", {.past = 1024, .layers = 12}, {.past = 64, .divisor = 4}, QUANTISE_CACHE_INT4},
    {"gpt2-block", {.past = 8192, .layers = 12}, {.past = 256, .divisor = 4}, QUANTISE_CACHE_INT8},
    {"gpt2-block", {.past = 8192, .layers = 12}, {.past = 256, .divisor = 4}, QUANTISE_CACHE_INT4},
    {"llama2-7b-block", {.past = 4096, .batch = 4}, {.past = 64, .divisor = 32, .batch = 4}, QUANTISE_CACHE_INT8},
    {"llama2-7b-block", {.past = 4096, .batch = 4}, {.past = 64, .divisor = 32, .batch = 4}, QUANTISE_CACHE_INT4},
};
enum { ROWS = sizeof rows / sizeof *rows, COMPILERS = 2 };

// What stands between memory and array: as it is, with more requests at a time, and these without the L2.
enum { AS_IT_IS, MORE_REQUESTS, NO_L2, VARIANTS, MORE_READS = 64, MORE_MISSES = 32 };
static const char *const variant_names[VARIANTS] = {"as it is", "64 reads", "no L2"};

static hw_array variant_of(const hw_array *array, quantise_cache cache, int variant) {
  hw_array a = *array;
  if (cache != QUANTISE_CACHE_AS_ALL) a.load.packed_int4 = true;
  if (variant == AS_IT_IS) return a;
  a.dma.reads_in_flight = MORE_READS;
  a.l2.misses_in_flight = MORE_MISSES;
  a.l2.present = variant != NO_L2;
  return a;
}

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -15},
    {.title = "layers", BENCH_DATA("layers"), .width = 6},
    {.title = "tokens", BENCH_DATA("tokens"), .width = 6},
    {.title = "past", BENCH_DATA("past"), .width = 5},
    {.title = "batch", BENCH_DATA("batch"), .width = 5},
    {.title = "cache", BENCH_DATA("cache"), .width = -5},
    {.title = "memory", BENCH_DATA("memory"), .width = -8},
    {.title = "cycles/token", BENCH_DATA("token_cycles"), .width = 12},
    {.title = "hart %", BENCH_DATA("hart"), .width = 6, .text_format = "%.1f", .scale = 100, .csv_format = "%.4f"},
    {.title = "tokens/s", BENCH_DATA("tokens_per_second"), .width = 9, .text_format = "%.1f"},
    {.title = "bytes/token", BENCH_DATA("token_bytes"), .width = 12},
    {.title = "uJ/token", BENCH_DATA("token_uj"), .width = 9, .text_format = "%.1f"},
    {.title = "weights B/cycle", BENCH_DATA("weight_rate"), .width = 15, .text_format = "%.2f"},
    {.title = "of peak %", BENCH_DATA("of_peak"), .width = 9, .text_format = "%.1f", .scale = 100},
    {.title = "dB", BENCH_DATA("sqnr_db"), .width = 5, .text_format = "%.1f"},
    {.title = "wrong", BENCH_DATA("wrong"), .width = 5},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

// ---- figures

static bool has_weights(const graph *g, const graph_node *node) {
  return node != NULL && node->op == GRAPH_OP_QMAT_MUL && g->tensors[node->inputs[1]].data != NULL;
}

// Bytes from main memory per cycle of the products with weights.
static double weight_rate(const network *net, const run_network_result *r) {
  uint64_t bytes = 0, cycles = 0;
  for (int s = 0; s < net->step_count; s++) {
    if (!has_weights(net->graph, net->steps[s].node) || !r->steps[s].has_units) continue;
    bytes += r->steps[s].units.memory.fetched_bytes;
    cycles += r->steps[s].cycles;
  }
  return cycles == 0 ? 0 : (double)bytes / (double)cycles;
}

// What a row is of, besides its network.
typedef struct of_row {
  const networks_options *made;
  quantise_cache cache;
  const quantise_cache_quality *quality;  // of a cache of int4, and of int8
  int variant;
} of_row;

static const char *cache_name(quantise_cache cache) {
  return cache == QUANTISE_CACHE_AS_ALL ? "" : cache == QUANTISE_CACHE_INT4 ? "int4" : "int8";
}

static void add_row(bench_table *table, const of_row *row, const network *net, const run_network_result *r) {
  const networks_options *made = row->made;
  const hw_array *array = net->options.array;
  const int64_t batch = made->batch == 0 ? 1 : made->batch, each = made->past != 0 ? 1 : made->sequence;
  const double tokens = (double)(batch * each), rate = weight_rate(net, r);
  const double bytes = (double)(r->units.memory.fetched_bytes + r->units.memory.written_back_bytes);
  const sim_figures figures = sim_figures_of(&r->units, &r->hart, array);
  BENCH_ROW(table, bench_text(net->graph->name), bench_count((uint64_t)(made->layers == 0 ? 1 : made->layers)),
            bench_count((uint64_t)each), bench_count((uint64_t)made->past), bench_count((uint64_t)batch),
            bench_text(cache_name(row->cache)), bench_text(variant_names[row->variant]),
            bench_count((uint64_t)((double)r->cycles / tokens)), bench_real((double)r->host_cycles / (double)r->cycles),
            bench_real(1e6 * array->memory.clock_mhz * tokens / (double)r->cycles),
            bench_count((uint64_t)(bytes / tokens)),
            bench_if(figures.has_energy, bench_real(figures.energy_pj / 1e6 / tokens)), bench_real(rate),
            bench_real(rate / array->memory.bytes_per_cycle),
            bench_if(row->quality->measured,
                     bench_real(row->cache == QUANTISE_CACHE_INT4 ? row->quality->int4_db : row->quality->int8_db)),
            bench_count(r->wrong));
}

// ---- runs

static bench_end run_on(const bench_job *job, bench_table *table, const graph *placed, const of_row *row,
                        const hw_array *base) {
  const hw_array array = variant_of(base, row->cache, row->variant);
  const network_options lowering = {.array = &array, .jobs = COMPILERS};
  network *net = network_create(placed, &lowering, job->diag);
  if (net == NULL) return BENCH_CANNOT_BUILD;
  void **inputs = quantise_random_inputs(placed, row->made->seed);
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = (const void *const *)inputs, .check = true};
  run_network_result result;
  bench_end end = BENCH_CANNOT_BUILD;
  if (run_network(net, &config, &result, job->diag)) {
    add_row(table, row, net, &result);
    end = result.wrong == 0 ? BENCH_DONE : BENCH_MISMATCH;
  }
  run_network_release(net, &result);
  quantise_free_inputs(placed, inputs);
  network_destroy(net);
  return end;
}

static bench_end run_row(const bench_job *job, bench_table *table, const hw_array *array, int row) {
  const options *o = job->options;
  networks_options made = o->quick ? rows[row].quick : rows[row].full;
  const quantise_cache cache = rows[row].cache;
  quantise_cache_quality quality = {.measured = false};
  made.seed = o->seed;
  made.present = cache != QUANTISE_CACHE_AS_ALL;
  graph *model = networks_create(rows[row].net, &made, job->diag);
  if (model == NULL) return BENCH_BAD_INPUT;
  const quantise_options how = {
      .seed = o->seed, .int8_ends = true, .target = network_target(array), .cache = cache, .cache_quality = &quality};
  graph *placed = quantise_network(model, &how, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return BENCH_BAD_INPUT;
  bench_end end = BENCH_DONE;
  for (int v = 0; v < (made.past != 0 ? VARIANTS : 1) && end == BENCH_DONE; v++) {
    if (v == MORE_REQUESTS && cache != QUANTISE_CACHE_AS_ALL) continue;
    end = run_on(job, table, placed, &(of_row){&made, cache, &quality, v}, array);
  }
  graph_destroy(placed);
  return end;
}

static bench_end run_decode(const bench_job *job) {
  const options *o = job->options;
  hw_array array;
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bench_end end = BENCH_DONE;
  unsigned count = 0;
  for (int n = 0; n < ROWS && end == BENCH_DONE; n++) {
    if (!bench_takes(o->net, rows[n].net)) continue;
    end = run_row(job, table, &array, n);
    count++;
  }
  if (count > 0) return end;
  wf_error(job->diag, wf_in_file(NULL), "no row %s in this bench", o->net);
  return BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"net", WF_TEXT(options, net), "NAME", "only this generated network"},
    {"quick", WF_FLAG(options, quick), NULL, "small variants: seconds"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
};
static const options defaults = {.seed = 1};

const bench bench_decode = {
    .name = "decode",
    .summary = "one token behind a cache of keys and values, and tokens taken together",
    .synopsis = "",
    .text =
        "Runs decoders on engine cycle, compares every layer with the int8 reference, and prints tokens per second,\n"
        "bytes of main memory and energy per token, and the rate at which weights come. Rows with a cache stand there\n"
        "three times: on the array as it is, with 64 reads and 32 misses in flight, and with these but no L2. Rows of "
        "a\n"
        "cache of int8 or int4 (on the array with load.packed_int4) leave the second out; dB is signal to noise.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_decode};
