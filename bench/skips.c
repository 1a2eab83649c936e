// SPDX-License-Identifier: Apache-2.0
// `weft bench skips`: what the ways in which engine cycle leaves out cycles are worth (sim/cycle/skip/skip.def). Each
// is left off alone, and all together, on the programs of `weft bench engines` and on ResNet-50, without data. A figure
// is processor time as a multiple of that with all of them; the cycles must be the same.
#include "bench/bench.h"
#include "bench/run.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "sim/cycle/cycle.h"
#include "workloads/networks/networks.h"

enum { PROGRAMS = 4, WORKS = PROGRAMS + 1, ROWS = SIM_CYCLE_SKIPS + 2, DEFAULT_REPEATS = 5, COMPILERS = 2 };

typedef struct options {
  bool quick, no_net;
  uint64_t repeats;
} options;

// Of one piece of work.
typedef struct taken {
  double seconds;
  uint64_t cycles;
} taken;

typedef struct bench_state {
  const bench_job *job;
  const options *options;
  hw_array array;
  taken taken[ROWS][WORKS];
  bench_end end;
} bench_state;

// ---- rows: all ways are taken, one of them is not, none is

static uint32_t without(unsigned row) {
  return row == 0 ? 0 : row <= SIM_CYCLE_SKIPS ? UINT32_C(1) << (row - 1) : UINT32_MAX;
}

static const char *name_of(unsigned row) {
  return row == 0 ? "none" : row <= SIM_CYCLE_SKIPS ? sim_cycle_skip_name(row - 1) : "all";
}

static void note(bench_state *b, unsigned row, unsigned work, const char *name, taken took) {
  b->taken[row][work] = took;
  if (took.cycles == b->taken[0][work].cycles) return;
  wf_error(b->job->diag, wf_in_file(NULL), "%s takes other cycles without %s", name, name_of(row));
  b->end = BENCH_MISMATCH;
}

// ---- programs

static void run_program(bench_state *b, unsigned work, const bench_program *p) {
  for (unsigned row = 0; row < ROWS && b->end == BENCH_DONE; row++) {
    const sim_engine_options chosen = {.timing_only = true, .without_skips = without(row)};
    const bench_run run = {.program = p,
                           .array = &b->array,
                           .engine = &sim_cycle_engine,
                           .options = &chosen,
                           .repeats = (unsigned)b->options->repeats};
    const bench_measured m = bench_run_program(&run);
    if (m.status != BENCH_RUN_GOOD) b->end = BENCH_MISMATCH;
    note(b, row, work, p->name, (taken){.seconds = m.cpu_seconds, .cycles = m.cycles});
  }
}

static void run_programs(bench_state *b) {
  for (unsigned n = 0; n < PROGRAMS && b->end == BENCH_DONE; n++) {
    bench_program *p = bench_program_create(n, b->options->quick);
    run_program(b, n, p);
    bench_program_destroy(p);
  }
}

// ---- the network

static bool run_once(const bench_state *b, const network *net, void **inputs, unsigned row, taken *took) {
  const sim_engine_options chosen = {.timing_only = true, .quiet = true, .without_skips = without(row)};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &chosen, .inputs = (const void *const *)inputs};
  run_network_result result = {0};
  const bool good = run_network(net, &config, &result, b->job->diag);
  *took = (taken){.seconds = result.run_seconds, .cycles = result.array_cycles};
  run_network_release(net, &result);
  return good;
}

static bool run_row(bench_state *b, const network *net, void **inputs, unsigned row) {
  taken best = {0};
  for (uint64_t n = 0; n < b->options->repeats; n++) {
    taken next;
    if (!run_once(b, net, inputs, row, &next)) return false;
    if (n == 0 || next.seconds < best.seconds) best = next;
  }
  note(b, row, PROGRAMS, "resnet50", best);
  return true;
}

static bool run_rows(bench_state *b, const network *net, const graph *placed) {
  void **inputs = quantise_random_inputs(placed, 1);
  bool good = true;
  for (unsigned row = 0; good && row < ROWS && b->end == BENCH_DONE; row++) good = run_row(b, net, inputs, row);
  quantise_free_inputs(placed, inputs);
  return good;
}

static bool run_net(bench_state *b) {
  const networks_options made = {.seed = 1, .size = b->options->quick ? 32 : 0, .divisor = b->options->quick ? 4 : 1};
  graph *model = networks_create("resnet50", &made, b->job->diag);
  if (model == NULL) return false;
  const quantise_options quantise = {.seed = 1, .int8_ends = true, .target = network_target(&b->array)};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, b->job->diag);
  graph_destroy(model);
  if (placed == NULL) return false;
  const network_options lowering = {.array = &b->array, .jobs = COMPILERS};
  network *net = network_create(placed, &lowering, b->job->diag);
  const bool good = net != NULL && run_rows(b, net, placed);
  network_destroy(net);
  graph_destroy(placed);
  return good;
}

// ---- the table

#define TIMES(name) \
  { .title = name, BENCH_DATA(name), .width = 9, .text_format = "%.2f", .csv_format = "%.4f", .none = "-" }
static const bench_column columns[] = {
    {.title = "without", BENCH_DATA("without"), .width = -8},
    TIMES("gemm"),
    TIMES("gemm-insn"),
    TIMES("conv3x3"),
    TIMES("conv1x1"),
    TIMES("resnet50"),
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static bench_cell times(const bench_state *b, unsigned row, unsigned work) {
  const taken *all = &b->taken[0][work];
  return bench_if(all->seconds > 0, bench_real(all->seconds > 0 ? b->taken[row][work].seconds / all->seconds : 0));
}

static void show(const bench_state *b) {
  bench_table *table = bench_table_open(b->job->report, &form);
  bench_table_heading(table);
  for (unsigned row = 0; row < ROWS; row++)
    BENCH_ROW(table, bench_text(name_of(row)), times(b, row, 0), times(b, row, 1), times(b, row, 2), times(b, row, 3),
              times(b, row, PROGRAMS));
}

static bench_end run_skips(const bench_job *job) {
  const options *o = job->options;
  bench_state b = {.job = job, .options = o, .end = BENCH_DONE};
  if (o->repeats == 0 || bench_program_count() != PROGRAMS) return BENCH_BAD_USAGE;
  if (!hw_array_load(&b.array, BENCH_ARRAY, job->diag)) return BENCH_BAD_INPUT;
  run_programs(&b);
  if (!o->no_net && b.end == BENCH_DONE && !run_net(&b)) return BENCH_CANNOT_BUILD;
  if (b.end == BENCH_DONE) show(&b);
  return b.end;
}

static const wf_option option_rows[] = {
    {"quick", WF_FLAG(options, quick), NULL, "small programs, a small network"},
    {"no-net", WF_FLAG(options, no_net), NULL, "the programs alone"},
    {"repeat", WF_COUNT(options, repeats), "N", "runs, of which the fastest counts (default 5)"},
};
static const options defaults = {.repeats = DEFAULT_REPEATS};

const bench bench_skips = {
    .name = "skips",
    .summary = "what cycles that engine cycle leaves out are worth",
    .synopsis = "",
    .text =
        "Runs the programs of weft bench engines and ResNet-50 on engine cycle, without data, and leaves off the\n"
        "ways in which it leaves out cycles (docs/cycle-engine.md): each alone, and all of them. Figures are\n"
        "processor time as a multiple of that with all. Exit code: 0 good, 4 cycles differ.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_skips};
