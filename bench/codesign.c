// SPDX-License-Identifier: Apache-2.0
// `weft bench codesign`: the joint search of the whole machine on spaces that are simulated whole, so that its answers
// have an optimum to be compared with; and on the default space, where the best that any method found stands for it.
// All methods climb the same ladder with the same budget.
#include "search/codesign/codesign.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/statistics.h"
#include "bench/bench.h"
#include "search/layers/network.h"
#include "search/predict/table.h"

typedef struct options {
  const char *spaces, *networks, *methods, *objective;
  uint64_t seeds, budget, large, jobs;
  bool quick, plain_model;
} options;

#define REAL(name, column, form) \
  { BENCH_DATA(name), .title = (column), .width = 9, .text_format = (form), .csv_format = "%.6g" }
static const bench_column columns[] = {
    {BENCH_DATA("space"), .title = "space", .width = -14},
    {BENCH_DATA("network"), .title = "network", .width = -9},
    {BENCH_DATA("points"), .title = "points", .width = 10, .text_format = "%.4g", .csv_format = "%.9g"},
    {BENCH_DATA("method"), .title = "method", .width = -11},
    REAL("gap_median_percent", "median %", "%.2f"),
    REAL("gap_worst_percent", "worst %", "%.2f"),
    {BENCH_DATA("within_1_percent"), .title = "within 1 %", .width = 10, .text_format = "%.0f"},
    REAL("cycle_runs", "on cycle", "%.1f"),
    REAL("flow_runs", "on flow", "%.1f"),
    REAL("share_percent", "of space %", "%.2f"),
    {BENCH_DATA("optimum"), .title = "optimum", .width = 11, .text_format = "%.4e", .csv_format = "%.9g"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static const char *const small_spaces[] = {"small-memory", "small-bus",      "small-queues", "small-whole",
                                           "small-l2",     "small-far",      "small-banks",  "small-side",
                                           "small-store",  "small-dataflow", "small-wide",   "small-area"};
static const char *const small_networks[] = {"bert", "conv_1d", "dlrm"};
static const char *const large_networks[] = {"bert",        "conv_1d",    "dlrm", "resnet50",
                                             "mobilenetv2", "gpt2-block", "unet", "retinanet"};
enum {
  SPACES = sizeof small_spaces / sizeof *small_spaces,
  SMALL_NETWORKS = sizeof small_networks / sizeof *small_networks,
  LARGE_NETWORKS = sizeof large_networks / sizeof *large_networks,
  SEEDS_MAX = 100
};

typedef struct bench_state {
  const bench_job *job;
  bench_table *table;
  truth_runs *runs;
  predict_table *predicted;
  codesign_objective objective;
  double logarithms[2][CODESIGN_METHOD_COUNT];  // 1 + gap of the median: of the default space, of the small ones
  unsigned whole[CODESIGN_METHOD_COUNT];        // small spaces in which all seeds are within 1 %
  unsigned cases[2], rows;                      // likewise
} bench_state;

typedef struct found {
  double value[SEEDS_MAX], cycle, flow;  // runs, in the mean
} found;

static codesign_options options_of(const bench_state *s, const codesign_space *space, const codesign_network *of) {
  const options *o = s->job->options;
  return (codesign_options){.space = space,
                            .networks = of,
                            .network_count = 1,
                            .objective = s->objective,
                            .runs = s->runs,
                            .predicted = s->predicted,
                            .jobs = (unsigned)o->jobs,
                            .plain_model = o->plain_model,
                            .tech = s->job->tech};
}

static bool run_method(const bench_state *s, const codesign_space *space, const codesign_network *of,
                       codesign_method method, double budget, found *to) {
  const options *o = s->job->options;
  codesign_options search = options_of(s, space, of);
  search.method = method;
  search.simulations = budget;
  *to = (found){.cycle = 0};
  for (uint64_t n = 0; n < o->seeds; n++) {
    codesign_result result;
    search.seed = n + 1;
    const bool good = codesign_search(&search, &result, s->job->diag);
    if (good) {
      to->value[n] = codesign_value(s->objective, result.sites[result.best].cost[CODESIGN_CYCLE]);
      to->cycle += (double)result.tried[CODESIGN_CYCLE] / (double)o->seeds;
      to->flow += (double)result.tried[CODESIGN_FLOW] / (double)o->seeds;
    }
    codesign_release(&result);
    if (!good) return false;
  }
  wf_sort(to->value, o->seeds);
  return true;
}

static void add_row(bench_state *s, const codesign_space *space, const codesign_network *of, codesign_method method,
                    const found *f, double points, double optimum, bool is_whole) {
  const size_t seeds = (size_t)((const options *)s->job->options)->seeds;
  const double median = wf_median(f->value, seeds) / optimum - 1, worst = f->value[seeds - 1] / optimum - 1;
  unsigned within = 0;
  s->rows++;
  for (size_t n = 0; n < seeds; n++) within += f->value[n] <= 1.01 * optimum;
  s->logarithms[is_whole][method] += log1p(median);
  s->whole[method] += is_whole && within == seeds;
  BENCH_ROW(s->table, bench_text(space->name), bench_text(of->table->name), bench_real(points),
            bench_text(codesign_method_names[method]), bench_real(100 * median), bench_real(100 * worst),
            bench_count(within), bench_real(f->cycle), bench_real(f->flow), bench_real(100 * f->cycle / points),
            bench_real(optimum));
}

// The least value of all points, and how many can be built.
static double enumerate(const bench_state *s, const codesign_space *space, const codesign_network *of, double *points) {
  const size_t count = (size_t)codesign_space_points(space);
  double *values = WF_NEW_ARRAY(count + 1, double), least = INFINITY;
  const codesign_options search = options_of(s, space, of);
  codesign_enumerate(&search, values);
  *points = 0;
  for (size_t n = 0; n < count; n++) {
    least = fmin(least, values[n]);
    *points += isfinite(values[n]);
  }
  wf_free(values);
  return least;
}

// A space is small where it is simulated whole.
static bool compare(bench_state *s, const codesign_space *space, const codesign_network *of, bool small) {
  const options *o = s->job->options;
  found all[CODESIGN_METHOD_COUNT];
  bool good = true;
  double points = codesign_space_points(space), optimum = small ? enumerate(s, space, of, &points) : INFINITY;
  for (int m = 0; m < CODESIGN_METHOD_COUNT && good; m++) {
    if (!bench_takes_of(o->methods, codesign_method_names[m])) continue;
    good = run_method(s, space, of, (codesign_method)m, (double)(small ? o->budget : o->large), &all[m]);
    if (good) optimum = fmin(optimum, all[m].value[0]);
  }
  for (int m = 0; m < CODESIGN_METHOD_COUNT && good; m++)
    if (bench_takes_of(o->methods, codesign_method_names[m]))
      add_row(s, space, of, (codesign_method)m, &all[m], points, optimum, small);
  s->cases[small] += good;
  return good;
}

static bool compare_named(bench_state *s, const char *space_name, const char *network_name, bool small) {
  codesign_space space;
  layers_network table = {0};
  codesign_network of = {.table = &table, .weight = 1};
  const bool good = codesign_space_load(&space, space_name, s->job->diag) &&
                    layers_load_network(&table, network_name, NULL, s->job->diag) && compare(s, &space, &of, small);
  if (table.arena != NULL) layers_release(&table);
  codesign_space_release(&space);
  return good;
}

static bool compare_small(bench_state *s) {
  const options *o = s->job->options;
  bool good = true;
  for (size_t i = 0; i < SPACES && good; i++)
    for (size_t n = 0; n < SMALL_NETWORKS && good; n++)
      if (bench_takes_of(o->spaces, small_spaces[i]) && bench_takes_of(o->networks, small_networks[n]) &&
          (!o->quick || s->rows == 0))
        good = compare_named(s, small_spaces[i], small_networks[n], true);
  return good;
}

static bool compare_large(bench_state *s) {
  const options *o = s->job->options;
  bool good = true;
  if (o->large == 0 || o->quick || !bench_takes_of(o->spaces, "default")) return true;
  for (size_t n = 0; n < LARGE_NETWORKS && good; n++)
    if (bench_takes_of(o->networks, large_networks[n])) good = compare_named(s, "default", large_networks[n], false);
  return good;
}

static void say_means(const bench_state *s) {
  const options *o = s->job->options;
  for (int whole = 1; whole >= 0; whole--)
    for (int m = 0; m < CODESIGN_METHOD_COUNT && s->cases[whole] > 0; m++) {
      if (!bench_takes_of(o->methods, codesign_method_names[m])) continue;
      const double over = 100 * expm1(s->logarithms[whole][m] / s->cases[whole]);
      if (whole)
        bench_report_say(s->job->report,
                         "%-11s %.2f %% over the optimum in the geometric mean of %u spaces simulated "
                         "whole; all %u seeds within 1 %% in %u\n",
                         codesign_method_names[m], over, s->cases[whole], (unsigned)o->seeds, s->whole[m]);
      else
        bench_report_say(s->job->report,
                         "%-11s %.2f %% over the best that is known in the geometric mean of %u networks in the "
                         "default space\n",
                         codesign_method_names[m], over, s->cases[whole]);
    }
}

static bool knows_all(const options *o, wf_diag *diag) {
  const char *spaces[SPACES + 1] = {"default"};
  for (size_t i = 0; i < SPACES; i++) spaces[i + 1] = small_spaces[i];
  bool good = bench_knows("spaces", o->spaces, spaces, SPACES + 1, diag);
  good &= bench_knows("nets", o->networks, large_networks, LARGE_NETWORKS, diag);
  return bench_knows("methods", o->methods, codesign_method_names, CODESIGN_METHOD_COUNT, diag) && good;
}

static bench_end run_codesign(const bench_job *job) {
  const options *o = job->options;
  bench_state s = {.job = job};
  if (!knows_all(o, job->diag)) return BENCH_BAD_USAGE;
  if (o->seeds == 0 || o->seeds > SEEDS_MAX || o->budget == 0 || o->budget > 100000 || o->large > 100000 ||
      o->jobs > 1024 || !codesign_objective_named(o->objective, &s.objective)) {
    wf_error(job->diag, wf_in_file(NULL), "1 to %d seeds, budgets up to 100000, at most 1024 jobs, a known objective",
             SEEDS_MAX);
    wf_hint(job->diag, "weft bench codesign --help");
    return BENCH_BAD_USAGE;
  }
  s.table = bench_table_open(job->report, &form);
  s.runs = truth_runs_create((unsigned)o->jobs, 0, sweep_work_measure, NULL);
  s.predicted = predict_table_create((unsigned)o->jobs, !o->plain_model);
  bench_table_heading(s.table);
  const bool good = compare_small(&s) && compare_large(&s);
  say_means(&s);
  if (good && s.rows == 0) wf_error(job->diag, wf_in_file(NULL), "none of these networks is searched in these spaces");
  truth_runs_destroy(s.runs);
  predict_table_destroy(s.predicted);
  return good && s.rows > 0 ? BENCH_DONE : BENCH_BAD_INPUT;
}

static const wf_option codesign_rows[] = {
    {"spaces", WF_TEXT(options, spaces), "NAME,..", "the shipped ones: small-memory to small-store, default"},
    {"nets", WF_TEXT(options, networks), "NAME,..", "bert, conv_1d, dlrm; in the default space resnet50, .. as well"},
    {"methods", WF_TEXT(options, methods), "NAME,..", "gradient, machine, neighbours, evolution, random"},
    {"objective", WF_TEXT(options, objective), "NAME", "as weft search --space (default edap)"},
    {"seeds", WF_COUNT(options, seeds), "N", "of each method (default 5)"},
    {"budget", WF_COUNT(options, budget), "N", "simulations in a small space (default 16)"},
    {"large", WF_COUNT(options, large), "N", "in the default space (default 20; 0: leave it out)"},
    {"jobs", WF_COUNT(options, jobs), "N", "processes (default: one for each processor)"},
    {"plain-model", WF_FLAG(options, plain_model), NULL, "without what is learned of the model (weft bench learn)"},
    {"quick", WF_FLAG(options, quick), NULL, "one small space"},
};
static const options defaults = {.seeds = 5, .budget = 16, .large = 20, .objective = "edap"};

const bench bench_codesign = {
    .name = "codesign",
    .summary = "joint search of the whole machine, on spaces that are simulated whole",
    .synopsis = "",
    .text =
        "Simulates every point of small spaces, then searches them by each method with the same ladder and budget:\n"
        "how far the answers of all seeds are from the optimum, and what of the space was simulated. In the default\n"
        "space the best answer of all methods and seeds stands for the optimum; its networks are those of the small\n"
        "spaces and resnet50, mobilenetv2, gpt2-block, unet and retinanet (minutes for each seed of the last two).",
    BENCH_OPTIONS(codesign_rows, defaults),
    .run = run_codesign};
