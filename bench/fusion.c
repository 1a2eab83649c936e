// SPDX-License-Identifier: Apache-2.0
// `weft bench fusion`: arrays chosen by whole networks with mixed steps (search/codesign/whole.c), beside the array
// that is best layer by layer, with and without mixes.
#include <math.h>

#include "bench/bench.h"
#include "search/codesign/codesign.h"
#include "search/layers/graph.h"
#include "search/layers/program.h"

typedef struct options {
  const char *spaces, *networks, *objectives;
  uint64_t whole, budget, seed, jobs, size, divisor;
} options;

#define REAL(name, column, form) \
  { BENCH_DATA(name), .title = (column), .width = 11, .text_format = (form), .csv_format = "%.6g" }
#define COUNT(name, column) \
  { BENCH_DATA(name), .title = (column), .width = 6 }
static const bench_column columns[] = {
    {BENCH_DATA("space"), .title = "space", .width = -12},
    {BENCH_DATA("network"), .title = "network", .width = -11},
    {BENCH_DATA("objective"), .title = "least", .width = -7},
    REAL("first", "by layers", "%.4e"),
    REAL("first_mixed", "mixed", "%.4e"),
    REAL("answer_apart", "answer", "%.4e"),
    REAL("answer", "mixed", "%.4e"),
    {BENCH_DATA("gain"), .title = "gain", .width = 5, .text_format = "%.2f"},
    COUNT("side", "side"),
    COUNT("scratchpad_kib", "spad"),
    COUNT("accumulator_kib", "acc"),
    COUNT("l2_kib", "L2"),
    COUNT("mixes", "mixes"),
    {BENCH_DATA("kept_mb"), .title = "kept", .width = 6, .text_format = "%.2f"},
    REAL("cycles", "cycles", "%.0f"),
    REAL("energy_uj", "uJ", "%.1f"),
    COUNT("points", "points"),
    {BENCH_DATA("seconds"), .title = "s", .width = 7, .text_format = "%.0f"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static const char *const networks[] = {"resnet50", "mobilenetv2", "efficientnet-b0", "unet", "bert-base", "resnet18"};
static const char *const spaces[] = {"fusion-small", "fusion"};
enum { NETWORKS = sizeof networks / sizeof *networks, SPACES = sizeof spaces / sizeof *spaces };

typedef struct fusion {
  const bench_job *job;
  bench_table *table;
  double logarithms;     // of gains
  unsigned rows, worse;  // answers that are worse than the first point, or than themselves without mixes
} fusion;

static void add_row(fusion *f, const codesign_options *o, const codesign_result *r) {
  const codesign_site *best = &r->sites[r->best], *first = &r->sites[r->whole_first];
  const truth_program_run *run = &r->wholes[0].run;
  const hw_array *a = &best->array;
  const double before = codesign_value(o->objective, first->apart), now = codesign_value(o->objective, best->whole);
  BENCH_ROW(f->table, bench_text(o->space->name), bench_text(o->networks[0].table->name),
            bench_text(codesign_objective_names[o->objective]), bench_real(before),
            bench_real(codesign_value(o->objective, first->whole)),
            bench_real(codesign_value(o->objective, best->apart)), bench_real(now), bench_real(before / now),
            bench_count(hw_derive(a).dim), bench_count(a->scratchpad.capacity_kib),
            bench_count(a->accumulator.capacity_kib), bench_count(a->l2.present ? a->l2.capacity_kib : 0),
            bench_count(run->mixes), bench_real((double)run->kept_bytes * 1e-6), bench_real(run->cost.cycles),
            bench_real(run->cost.energy_uj), bench_count(r->whole_tried), bench_real(r->seconds));
  f->logarithms += log(before / now);
  f->worse += now > codesign_value(o->objective, first->whole) || now > codesign_value(o->objective, best->apart);
  f->rows++;
}

static bool search_for(fusion *f, const codesign_space *space, const codesign_network *of,
                       codesign_objective objective) {
  const options *o = f->job->options;
  const codesign_options search = {.space = space,
                                   .networks = of,
                                   .network_count = 1,
                                   .objective = objective,
                                   .simulations = (double)o->budget,
                                   .seed = o->seed,
                                   .jobs = (unsigned)o->jobs,
                                   .fuse = NETWORK_FUSE_AUTO,
                                   .whole = (unsigned)o->whole};
  codesign_result result;
  const bool good = codesign_search(&search, &result, f->job->diag);
  if (good) add_row(f, &search, &result);
  codesign_release(&result);
  return good;
}

static bool search_space(fusion *f, const char *name, const codesign_network *of) {
  const options *o = f->job->options;
  codesign_space space;
  bool good = codesign_space_load(&space, name, f->job->diag);
  for (int c = 0; c < CODESIGN_OBJECTIVE_COUNT && good; c++)
    if (bench_takes_of(o->objectives, codesign_objective_names[c]))
      good = search_for(f, &space, of, (codesign_objective)c);
  codesign_space_release(&space);
  return good;
}

static bool search_network(fusion *f, const char *name) {
  const options *o = f->job->options;
  const layers_program_options how = {.network = {.size = (int64_t)o->size, .divisor = (int64_t)o->divisor}};
  layers_program program;
  layers_network table = {0};
  bool good = layers_program_load(&program, name, name, &how, f->job->diag);
  if (good) {
    layers_of_graph(&table, program.placed);
    table.name = name;
    const codesign_network of = {.table = &table, .program = &program, .weight = 1};
    for (int s = 0; s < SPACES && good; s++)
      if (bench_takes_of(o->spaces, spaces[s])) good = search_space(f, spaces[s], &of);
    layers_release(&table);
  }
  layers_program_release(&program);
  return good;
}

static bool knows_all(const options *o, wf_diag *diag) {
  bool good = bench_knows("spaces", o->spaces, spaces, SPACES, diag);
  good &= bench_knows("nets", o->networks, networks, NETWORKS, diag);
  return bench_knows("objectives", o->objectives, codesign_objective_names, CODESIGN_OBJECTIVE_COUNT, diag) && good;
}

static bench_end run_fusion(const bench_job *job) {
  const options *o = job->options;
  fusion f = {.job = job};
  if (!knows_all(o, job->diag)) return BENCH_BAD_USAGE;
  if (o->budget == 0 || o->budget > 100000 || o->whole == 0 || o->whole > 10000 || o->jobs > 1024) {
    wf_error(job->diag, wf_in_file(NULL), "budgets up to 100000, 1 to 10000 whole runs, at most 1024 jobs");
    wf_hint(job->diag, "weft bench fusion --help");
    return BENCH_BAD_USAGE;
  }
  f.table = bench_table_open(job->report, &form);
  bench_table_heading(f.table);
  bool good = true;
  for (int n = 0; n < NETWORKS && good; n++)
    if (bench_takes_of(o->networks, networks[n])) good = search_network(&f, networks[n]);
  if (good)
    bench_report_say(job->report, "gain %.2f in the geometric mean of %u\n", exp(f.logarithms / f.rows), f.rows);
  return !good ? BENCH_BAD_INPUT : f.worse > 0 ? BENCH_MISMATCH : BENCH_DONE;
}

static const wf_option fusion_rows[] = {
    {"spaces", WF_TEXT(options, spaces), "NAME,..", "fusion-small (side and both memories), fusion"},
    {"nets", WF_TEXT(options, networks), "NAME,..",
     "resnet50, mobilenetv2, efficientnet-b0, unet, bert-base, resnet18"},
    {"objectives", WF_TEXT(options, objectives), "NAME,..", "as weft search --space (default edp,edap)"},
    {"whole", WF_COUNT(options, whole), "N", "points on which the network runs whole, at most (default 6)"},
    {"budget", WF_COUNT(options, budget), "N", "simulations of all layers before (default 16)"},
    {"seed", WF_COUNT(options, seed), "N", "of the search (default 0)"},
    {"size", WF_COUNT(options, size), "N", "rows and columns of images (default: the network's)"},
    {"divisor", WF_COUNT(options, divisor), "N", "of the networks' widths (default 1)"},
    {"jobs", WF_COUNT(options, jobs), "N", "processes (default: one for each processor)"},
};
static const options defaults = {.objectives = "edp,edap", .whole = 6, .budget = 16};

const bench bench_fusion = {.name = "fusion",
                            .summary = "arrays chosen by whole networks with mixed steps",
                            .synopsis = "",
                            .text =
                                "Searches spaces of arrays that can keep tensors between mixed steps in the "
                                "scratchpad, by whole networks as they\n"
                                "run. Columns: the objective on the array that is best layer by layer, without mixes "
                                "and with them, and on the\n"
                                "answer, likewise; the gain is the first over the last. Ends with 4 where the answer "
                                "is worse than one of them.",
                            BENCH_OPTIONS(fusion_rows, defaults),
                            .run = run_fusion};
