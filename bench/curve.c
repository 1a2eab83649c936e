// SPDX-License-Identifier: Apache-2.0
// `weft bench search --curve`: what each method has found after so many evaluations, from few to many, beside the
// proven optimum. Every budget is a search of its own, as a user would ask for it; what it really took stands beside
// it, since the least that a method does may be more.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/statistics.h"
#include "bench/methods.h"
#include "search/baselines/baselines.h"
#include "search/exact/exact.h"

typedef struct curve {
  const bench_search_options *options;
  bench_report *report;
  paper_constants constants;
  bool chosen[BASELINES];
  bench_table *table;
} curve;

#define REAL(name, column, form) \
  { BENCH_DATA(name), .title = (column), .width = 11, .text_format = (form), .csv_format = "%.8e" }
static const bench_column columns[] = {
    {BENCH_DATA("network"), .title = "network", .width = -10},
    {BENCH_DATA("budget"), .title = "budget", .width = 8},
    {BENCH_DATA("method"), .title = "method", .width = -15},
    {BENCH_DATA("evaluations"), .title = "evaluations", .width = 11, .text_format = "%.0f", .csv_format = "%.0f"},
    {BENCH_DATA("gap_percent"), .title = "gap %", .width = 12, .text_format = "%.1f", .csv_format = "%.4f"},
    REAL("edp_median", "median", "%.4e"),
    REAL("edp_min", "min", "%.4e"),
    REAL("edp_max", "max", "%.4e"),
};
static const bench_form form = {.list = "rows", .begin = "  ", BENCH_FORM(columns)};

static const bench_column head_columns[] = {{.key = "seeds"}, {.key = "budget"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

static void run_point(const curve *c, const layers_network *network, uint64_t budget, baseline_method method,
                      double optimum) {
  const size_t seeds = (size_t)c->options->seeds;
  double *values = WF_NEW_ARRAY(seeds, double), evaluations = 0;
  for (size_t n = 0; n < seeds; n++) {
    const baseline_options o = {.goal = {.network = network, .constants = &c->constants, .limits = BENCH_SEARCH_LIMITS},
                                .seed = n + 1,
                                .max_evaluations = budget};
    baseline_result found;
    baseline_run(method, &o, &found);
    values[n] = found.value;
    evaluations += (double)found.evaluations / (double)seeds;
    baseline_release(&found);
  }
  wf_sort(values, seeds);
  const double median = wf_median(values, seeds);
  BENCH_ROW(c->table, bench_text(network->name), bench_count(budget), bench_text(baseline_names[method]),
            bench_real(evaluations), bench_real(100 * (median / optimum - 1)), bench_real(median),
            bench_real(values[0]), bench_real(values[seeds - 1]));
  wf_free(values);
}

// 10, 30, 100, 300, .. and the largest budget.
static uint64_t next_budget(uint64_t budget, uint64_t most) {
  uint64_t power = 1;
  while (10 * power <= budget) power *= 10;
  const uint64_t next = budget < 3 * power ? 3 * power : 10 * power;
  return budget < most && next > most ? most : next;
}

static bool run_network(const curve *c, const char *name, wf_diag *diag) {
  layers_network network;
  const bool loaded = layers_load(&network, name, diag);
  if (loaded) {
    const exact_options exact = {.constants = &c->constants};
    exact_result optimum;
    const double value = exact_solve(&network, &exact, &optimum) ? paper_edp(optimum.cost) : NAN;
    bench_report_say(c->report, "%s: proven optimum %.4e uJ x cycles\n", network.name, value);
    bench_table_heading(c->table);
    for (uint64_t budget = 10; budget <= c->options->budget; budget = next_budget(budget, c->options->budget))
      for (unsigned method = 0; method < BASELINES; method++)
        if (c->chosen[method]) run_point(c, &network, budget, (baseline_method)method, value);
    exact_release(&optimum);
  }
  layers_release(&network);
  return loaded;
}

bench_end bench_curve(const bench_job *job) {
  curve c = {.options = job->options, .report = job->report};
  paper_constants_named(&c.constants, "dosa");
  if (!bench_methods_chosen(c.options->methods, c.chosen, job->diag)) return BENCH_BAD_INPUT;
  BENCH_ROW(bench_table_open(c.report, &head_form), bench_count(c.options->seeds), bench_count(c.options->budget));
  c.table = bench_table_open(c.report, &form);
  char *text = wf_strdup(c.options->nets), *rest = text;
  bool good = true;
  for (char *name; good && (name = strsep(&rest, ",")) != NULL;) good = run_network(&c, name, job->diag);
  wf_free(text);
  return good ? BENCH_DONE : BENCH_BAD_INPUT;
}
