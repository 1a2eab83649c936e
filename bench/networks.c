// SPDX-License-Identifier: Apache-2.0
// `weft bench networks`: whole networks end to end, each compared layer by layer with the int8 reference.
//
// Every row names the command that repeats it. All cycles and the use of the mesh in them come first; those on the
// array, of the host's operators between its layers, and of the conversions at the ends stand behind them. Energy is
// that of the whole (sim/energy.def), with the hart's part and, as models of arrays count, the array's.
#include "workloads/networks/networks.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/network.h"
#include "runner/tune.h"
#include "sim/figures.h"

typedef struct bench_row {
  const char *name;  // of the row; the network's, where `net` is NULL
  networks_options full, quick;
  const char *net;
  bool float_ends, uint8_images;
} bench_row;

static const bench_row rows[] = {
    {"resnet18", .quick = {.size = 32, .divisor = 4}},
    {"resnet50", .quick = {.size = 32, .divisor = 4}},
    {"resnet50-float", .quick = {.size = 32, .divisor = 4}, .net = "resnet50", .float_ends = true},
    {"resnet50-uint8", .quick = {.size = 32, .divisor = 4}, .net = "resnet50", .uint8_images = true},
    {"mobilenetv2", .quick = {.size = 32, .divisor = 4}},
    {"mobilenetv3-small", .quick = {.size = 32, .divisor = 4}},
    {"efficientnet-b0", .quick = {.size = 32, .divisor = 8}},
    {"shufflenetv2", .quick = {.size = 32, .divisor = 4}},
    {"resnext50-32x4d", .quick = {.size = 32, .divisor = 4}},
    {"densenet-121", .quick = {.size = 32, .divisor = 8}},
    {"convnext-t", .quick = {.size = 32, .divisor = 8}},
    {"swin-t", .quick = {.size = 64, .divisor = 3}},
    {"vgg16", .quick = {.size = 32, .divisor = 8}},
    {"unet", .quick = {.size = 32, .divisor = 8}},
    {"retinanet", .quick = {.size = 64, .divisor = 8}},
    {"bert-base", .full = {.sequence = 128}, .quick = {.sequence = 16, .divisor = 4, .layers = 1}},
    {"bert-base-512", .full = {.sequence = 512}, .quick = {.sequence = 32, .divisor = 4, .layers = 1},
     .net = "bert-base"},
    {"vit-b16", .quick = {.size = 32, .divisor = 4, .layers = 1}},
    {"gpt2-block", .quick = {.sequence = 16, .divisor = 4}},
    {"llama2-7b-block", .quick = {.sequence = 8, .divisor = 32}},
    {"llama3-8b-block", .quick = {.sequence = 8, .divisor = 8}},
    {"lstm", .quick = {.sequence = 2, .divisor = 8, .layers = 1}},
    {"deepbench", .quick = {.divisor = 16}},
};
enum { ROWS = sizeof rows / sizeof rows[0], COMMAND_MAX = 256, COMPILERS = 2 };

typedef struct options {
  const char *net;
  uint64_t seed, tune;
  bool quick, no_check;
} options;

typedef struct measured {
  bool ran;
  char command[COMMAND_MAX];
  run_network_result result;
  double utilisation, array_utilisation, compile_seconds;
  sim_figures figures;
  uint64_t weight_bytes, arena_bytes;
} measured;

// ---- one row

static void add_option(char *command, const char *name, int64_t value) {
  const size_t used = strlen(command);
  if (value != 0) snprintf(command + used, COMMAND_MAX - used, " --%s %" PRId64, name, value);
}

static const char *network_of(const bench_row *row) { return row->net == NULL ? row->name : row->net; }

static void write_command(const bench_job *job, const bench_row *row, const networks_options *made, char *command) {
  const options *o = job->options;
  snprintf(command, COMMAND_MAX, "weft sim %s%s%s", network_of(row), row->float_ends ? " --float-ends" : "",
           row->uint8_images ? " --input-type uint8" : "");
  const size_t used = strlen(command);
  if (job->array != NULL) snprintf(command + used, COMMAND_MAX - used, " --array %s", job->array);
  add_option(command, "size", made->size);
  add_option(command, "seq", made->sequence);
  add_option(command, "divisor", made->divisor);
  add_option(command, "depth", made->layers);
  add_option(command, "seed", (int64_t)o->seed);
  add_option(command, "tune", (int64_t)o->tune);
}

static void take_figures(const hw_array *array, const network *net, measured *m) {
  const double dim = hw_derive(array).dim, macs = (double)m->result.macs / (dim * dim);
  m->utilisation = m->result.cycles > 0 ? macs / (double)m->result.cycles : 0;
  m->array_utilisation = m->result.array_cycles > 0 ? macs / (double)m->result.array_cycles : 0;
  m->figures = sim_figures_of(&m->result.units, &m->result.hart, array);
  m->compile_seconds = net->compile_seconds;
  m->weight_bytes = net->weight_bytes;
  m->arena_bytes = net->arena_bytes;
}

static void run_placed(const bench_job *job, const hw_array *array, const graph *placed, measured *m) {
  const options *o = job->options;
  const network_options lowering = {
      .array = array, .tuning = run_tuning((unsigned)o->tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES), .jobs = COMPILERS};
  void **inputs = quantise_random_inputs(placed, o->seed);
  network *net = run_tune_network(
      &(run_tune_request){.placed = placed, .options = &lowering, .inputs = (const void *const *)inputs}, job->diag);
  if (net == NULL) {
    quantise_free_inputs(placed, inputs);
    return;
  }
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = (const void *const *)inputs, .check = !o->no_check};
  m->ran = run_network(net, &config, &m->result, job->diag);
  if (m->ran) take_figures(array, net, m);
  run_network_release(
      net, &(run_network_result){.steps = m->result.steps, .outputs = m->result.outputs, .digests = m->result.digests});
  quantise_free_inputs(placed, inputs);
  network_destroy(net);
}

static void measure(const bench_job *job, const bench_row *row, measured *m) {
  const options *o = job->options;
  networks_options made = o->quick ? row->quick : row->full;
  write_command(job, row, &made, m->command);
  if (made.seed == 0) made.seed = o->seed;
  hw_array array;
  graph *model = bench_load_array(job, &array) ? networks_create(network_of(row), &made, job->diag) : NULL;
  if (model == NULL) return;
  const quantise_options quantise = {.seed = o->seed,
                                     .int8_ends = !row->float_ends,
                                     .uint8_images = row->uint8_images,
                                     .target = network_target(&array)};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return;
  run_placed(job, &array, placed, m);
  graph_destroy(placed);
}

// ---- the table, which is Markdown

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -17},
    {.title = "macs", BENCH_DATA("macs"), .width = 14},
    {.title = "all cycles", BENCH_DATA("cycles"), .width = 13},
    {.title = "util %",
     BENCH_DATA("utilisation"),
     .width = 6,
     .text_format = "%.2f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "array cycles", BENCH_DATA("array_cycles"), .width = 13},
    {.title = "array %",
     BENCH_DATA("array_utilisation"),
     .width = 7,
     .text_format = "%.2f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "host cycles", BENCH_DATA("host_cycles"), .width = 13},
    {.title = "end cycles", BENCH_DATA("edge_cycles"), .width = 13},
    {.title = "energy uJ", BENCH_DATA("energy_uj"), .width = 11, .text_format = "%.1f", .csv_format = "%.1f"},
    {.title = "hart uJ", BENCH_DATA("hart_uj"), .width = 9, .text_format = "%.1f", .csv_format = "%.1f"},
    {.title = "array uJ", BENCH_DATA("array_energy_uj"), .width = 10, .text_format = "%.1f", .csv_format = "%.1f"},
    {BENCH_DATA("mesh_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("local_memory_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("l2_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("bus_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("main_memory_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("clock_uj"), .csv_format = "%.3f"},
    {BENCH_DATA("leakage_uj"), .csv_format = "%.3f"},
    {.csv = "commands"},
    {.title = "MiB", .width = 8, .text_format = "%.1f", .scale = 1.0 / (1 << 20)},
    {BENCH_DATA("weight_bytes")},
    {BENCH_DATA("arena_bytes")},
    {.title = "compile s", BENCH_DATA("compile_seconds"), .width = 9, .text_format = "%.2f", .csv_format = "%.3f"},
    {BENCH_DATA("run_seconds"), .csv_format = "%.3f"},
    {.title = "digest", BENCH_DATA("digest"), .width = -16},
    {.title = "result", BENCH_DATA("result")},
    {BENCH_DATA("command")},
};
static const bench_form form = {.list = "rows", .begin = "| ", .between = " | ", .end = " |", BENCH_FORM(columns)};

static bench_cell energy_of(const measured *m, double pj) {
  return bench_if(m->ran && m->figures.has_energy, bench_real(pj / 1e6));
}

static bench_cell part_of(const measured *m, sim_part part) { return energy_of(m, m->figures.part_pj[part]); }

static void add_row(bench_table *table, const options *o, const bench_row *row, const measured *m) {
  const run_network_result *r = &m->result;
  const char *verdict = !m->ran ? "failed" : r->wrong != 0 ? "WRONG" : o->no_check ? "not checked" : "as the reference";
  BENCH_ROW(table, bench_text(row->name), bench_if(m->ran, bench_count(r->macs)),
            bench_if(m->ran, bench_count(r->cycles)), bench_if(m->ran, bench_real(m->utilisation)),
            bench_if(m->ran, bench_count(r->array_cycles)), bench_if(m->ran, bench_real(m->array_utilisation)),
            bench_if(m->ran, bench_count(r->host_cycles)), bench_if(m->ran, bench_count(r->edge_cycles)),
            energy_of(m, m->figures.energy_pj), part_of(m, SIM_PART_HART), energy_of(m, m->figures.array_pj),
            part_of(m, SIM_PART_MESH), part_of(m, SIM_PART_LOCAL), part_of(m, SIM_PART_L2), part_of(m, SIM_PART_BUS),
            part_of(m, SIM_PART_MEMORY), part_of(m, SIM_PART_CLOCK), part_of(m, SIM_PART_LEAKAGE),
            bench_if(m->ran, bench_count(r->commands)), bench_if(m->ran, bench_count(m->weight_bytes + m->arena_bytes)),
            bench_if(m->ran, bench_count(m->weight_bytes)), bench_if(m->ran, bench_count(m->arena_bytes)),
            bench_if(m->ran, bench_real(m->compile_seconds)), bench_if(m->ran, bench_real(r->run_seconds)),
            bench_if(m->ran, bench_hash(r->digest)), bench_text(verdict), bench_text(m->command));
}

// ---- the bench

static bench_end run_networks(const bench_job *job) {
  const options *o = job->options;
  unsigned failed = 0, wrong = 0, count = 0;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bench_report_say(job->report, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int n = 0; n < ROWS; n++) {
    if (!bench_takes(o->net, rows[n].name)) continue;
    measured m = {0};
    measure(job, &rows[n], &m);
    count++;
    failed += !m.ran;
    wrong += m.result.wrong != 0;
    add_row(table, o, &rows[n], &m);
  }
  if (count > 0) return wrong != 0 ? BENCH_MISMATCH : failed != 0 ? BENCH_CANNOT_BUILD : BENCH_DONE;
  wf_error(job->diag, wf_in_file(NULL), "no row %s in this bench", o->net);
  return BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"net", WF_TEXT(options, net), "NAME", "only the row of this name"},
    {"quick", WF_FLAG(options, quick), NULL, "small variants: a few seconds for all"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
    {"tune", WF_COUNT(options, tune), "N", "simulate N mappings of each layer, take the fastest"},
    {"no-check", WF_FLAG(options, no_check), NULL, "compare nothing: faster"},
};
static const options defaults = {.seed = 1};

const bench bench_networks = {
    .name = "networks",
    .summary = "whole networks, compared layer by layer with the int8 reference",
    .synopsis = "",
    .text =
        "Generates the networks, quantises them to int8, compiles and runs them on engine cycle, and compares every\n"
        "layer with the int8 reference. The table is Markdown.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_networks};
