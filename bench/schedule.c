// SPDX-License-Identifier: Apache-2.0
// `weft bench schedule`: what mixing neighbouring steps brings, inside of whole networks.
//
// A network is run twice, step by step and with the mixes that `--fuse auto` chooses, with `--tune N` of mappings that
// are tuned in the network before; every node of both is compared with the int8 reference. A row is a mix beside the
// same steps of the first run, so that both have the caches that the network leaves; the last row of a network is all
// of it, with what the mixes do to their neighbours.
#include <string.h>

#include "bench/bench.h"
#include "bench/placed.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/network.h"
#include "runner/tune.h"
#include "sim/figures.h"

static const char *const names[] = {"resnet18", "resnet50", "mobilenetv2", "efficientnet-b0", "vit-b16"};
enum { NETWORKS = sizeof names / sizeof *names, QUICK_SIZE = 56 };

typedef struct options {
  const char *nets;
  uint64_t seed, tune;
  bool quick;
} options;

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -15},
    {.title = "layers", BENCH_DATA("layers"), .width = -44},
    {.title = "steps", BENCH_DATA("steps"), .width = 5},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 10},
    {.title = "mixed", BENCH_DATA("mixed_cycles"), .width = 10},
    {.title = "saved %", BENCH_DATA("saved"), .width = 7, .text_format = "%.2f", .scale = 100, .csv_format = "%.4f"},
    {.title = "main memory", BENCH_DATA("memory_bytes"), .width = 11},
    {.title = "mixed", BENCH_DATA("mixed_memory_bytes"), .width = 11},
    {.title = "energy uJ", BENCH_DATA("energy_uj"), .width = 9, .text_format = "%.1f"},
    {.title = "mixed", BENCH_DATA("mixed_energy_uj"), .width = 9, .text_format = "%.1f"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

// ---- runs

// `tune`: mappings of each layer that are tried, 0: the mapper's first is taken.
static bool run_placed(const bench_job *job, const hw_array *array, const graph *placed, network_fuse_mode fuse,
                       uint64_t tune, bench_placed *r) {
  const options *o = job->options;
  network_options lowering = {.array = array, .fuse = fuse};
  lowering.tuning = run_tuning((unsigned)tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES);
  lowering.tuning.judge = run_judge;
  return bench_placed_run(placed, lowering, o->seed, r, job->diag);
}

// ---- rows

typedef struct sums {
  uint64_t cycles, bytes;
  double energy_uj;
} sums;

static void add_step(sums *s, const run_step_result *step, const hw_array *array) {
  s->cycles += step->cycles;
  if (!step->has_units) return;
  s->bytes += step->units.memory.fetched_bytes + step->units.memory.written_back_bytes;
  s->energy_uj += sim_figures_of(&step->units, &step->hart, array).energy_pj / 1e6;
}

static double saved_of(const sums *alone, const sums *mixed) {
  return alone->cycles == 0 ? 0 : 1 - (double)mixed->cycles / (double)alone->cycles;
}

static void add_row(bench_table *table, const char *name, const char *layers, int steps, const sums *alone,
                    const sums *mixed) {
  BENCH_ROW(table, bench_text(name), bench_text(layers), bench_count((uint64_t)steps), bench_count(alone->cycles),
            bench_count(mixed->cycles), bench_real(saved_of(alone, mixed)), bench_count(alone->bytes),
            bench_count(mixed->bytes), bench_real(alone->energy_uj), bench_real(mixed->energy_uj));
}

// The mixes of a network, then all of it. False: it takes more than a hundredth longer.
static bool add_rows(bench_table *table, const char *name, const hw_array *array, const bench_placed *alone,
                     const bench_placed *mixed) {
  sums all = {0}, all_mixed = {0};
  for (int s = 0, from = 0; s < mixed->net->step_count; s++) {
    const network_step *step = &mixed->net->steps[s];
    sums before = {0}, after = {0};
    add_step(&after, &mixed->result.steps[s], array);
    add_step(&all_mixed, &mixed->result.steps[s], array);
    const int end = from + (step->parts == 0 ? 1 : step->parts);
    for (; from < end; from++) {
      add_step(&before, &alone->result.steps[from], array);
      add_step(&all, &alone->result.steps[from], array);
    }
    if (step->parts > 1) add_row(table, name, step->name, step->parts, &before, &after);
  }
  add_row(table, name, "all", alone->net->step_count, &all, &all_mixed);
  return saved_of(&all, &all_mixed) > -0.01;
}

static bench_end measure(const bench_job *job, bench_table *table, const char *name, const hw_array *array,
                         const graph *placed) {
  const options *o = job->options;
  bench_placed alone = {0}, mixed = {0};
  bench_end end = BENCH_CANNOT_BUILD;
  if (run_placed(job, array, placed, NETWORK_FUSE_OFF, 0, &alone) &&
      run_placed(job, array, placed, NETWORK_FUSE_AUTO, o->tune, &mixed)) {
    const bool good = add_rows(table, name, array, &alone, &mixed);
    end = good && alone.result.wrong + mixed.result.wrong == 0 ? BENCH_DONE : BENCH_MISMATCH;
  }
  bench_placed_release(&alone);
  bench_placed_release(&mixed);
  return end;
}

static bench_end run_schedule(const bench_job *job) {
  const options *o = job->options;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  const bench_network_list list = {.only = o->nets,
                                   .names = names,
                                   .count = NETWORKS,
                                   .made = {.seed = o->seed, .size = o->quick ? QUICK_SIZE : 0},
                                   .measure = measure};
  return bench_networks_run(job, table, &list);
}

static const wf_option option_rows[] = {
    {"nets", WF_TEXT(options, nets), "NAME,..", "only these generated networks"},
    {"quick", WF_FLAG(options, quick), NULL, "images of 56 x 56"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
    {"tune", WF_COUNT(options, tune), "N", "try N mappings of each layer before layers are mixed"},
};
static const options defaults = {.seed = 1};

const bench bench_schedule = {
    .name = "schedule",
    .summary = "layers of networks mixed into one stream of commands, and by themselves",
    .synopsis = "",
    .text =
        "Runs networks step by step and with the mixes that --fuse auto chooses, on engine cycle, and compares both\n"
        "with the int8 reference. Ends with 4 if a byte is wrong or a network takes more than 1 % longer mixed.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_schedule};
