// SPDX-License-Identifier: Apache-2.0
// `weft bench operators`: single operators, each with hardware of its own, under the plain model: the default array,
// the same tuned, the gradient search as published, and the joint search, beside the proven optimum.
#include "bench/operators.h"

#include <math.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/statistics.h"
#include "bench/bench.h"
#include "bench/methods.h"
#include "search/baselines/baselines.h"
#include "search/exact/exact.h"

typedef struct options {
  const char *table;
  uint64_t every, seed, seeds, budget;
} options;

enum { DEFAULT, TUNED, PUBLISHED, JOINT, METHODS, OPTIMUM = METHODS, VALUES };
static const baseline_method methods[METHODS] = {[DEFAULT] = BASELINE_default_heuristic,
                                                 [TUNED] = BASELINE_default_tuned,
                                                 [PUBLISHED] = BASELINE_published,
                                                 [JOINT] = BASELINE_descent};

typedef struct result {
  const bench_operator *of;
  double value[VALUES];  // medians over seeds; OPTIMUM: proven
} result;

static const bench_column text_columns[] = {
    {.title = "cases of", .key = "of", .width = -37},
    {.title = "number", .key = "cases", .width = 6},
    {.title = "ratio", .key = "ratio", .width = -21},
    {.title = "mean", .key = "mean", .width = 7, .text_format = "%.3f"},
    {.title = "least", .key = "least", .width = 7, .text_format = "%.3f"},
    {.title = "most", .key = "most", .width = 8, .text_format = "%.3f"},
    {.title = "below", .key = "below", .width = 5},
    {.title = "published", .key = "published", .width = 9, .text_format = "%.2f"},
};
static const bench_form text_form = {.list = "groups", BENCH_FORM(text_columns)};
// Both tables are in JSON; in CSV the cases alone.
static const bench_column case_columns[] = {
    {BENCH_DATA("name")},      {BENCH_DATA("group")},   {BENCH_DATA("class")},
    {BENCH_DATA("macs")},      {BENCH_DATA("default")}, {BENCH_DATA("default_tuned")},
    {BENCH_DATA("published")}, {BENCH_DATA("descent")}, {BENCH_DATA("optimum")},
};
static const bench_form case_form = {.list = "cases", BENCH_FORM(case_columns)};

typedef struct operators_bench {
  const options *options;
  bench_report *report;
  paper_constants constants;
  result *results;
  size_t count;
} operators_bench;

// ---- cases

static double median_of(const operators_bench *b, const layers_network *network, baseline_method method) {
  const size_t seeds = (size_t)b->options->seeds;
  double *values = WF_NEW_ARRAY(seeds, double);
  for (size_t n = 0; n < seeds; n++) {
    const baseline_options o = {.goal = {.network = network, .constants = &b->constants, .limits = BENCH_SEARCH_LIMITS},
                                .seed = n + 1,
                                .max_evaluations = b->options->budget};
    baseline_result found;
    baseline_run(method, &o, &found);
    values[n] = found.value;
    baseline_release(&found);
  }
  wf_sort(values, seeds);
  const double median = wf_median(values, seeds);
  wf_free(values);
  return median;
}

static double optimum_of(const operators_bench *b, const layers_network *network) {
  const exact_options exact = {.constants = &b->constants};
  exact_result optimum;
  const double value = exact_solve(network, &exact, &optimum) ? paper_edp(optimum.cost) : NAN;
  exact_release(&optimum);
  return value;
}

static void run_case(operators_bench *b, const bench_operator *one) {
  layers_layer layer = one->layer;
  const layers_network network = {.name = one->network, .description = "", .layers = &layer, .count = 1};
  result *r = &b->results[b->count++];
  r->of = one;
  for (int m = 0; m < METHODS; m++) r->value[m] = median_of(b, &network, methods[m]);
  r->value[OPTIMUM] = optimum_of(b, &network);
}

static void add_case(bench_table *table, const result *r) {
  const double *v = r->value;
  BENCH_ROW(table, bench_text(r->of->name), bench_text(bench_operator_groups[r->of->group].name),
            bench_text(bench_operator_class(r->of->group, r->of->in_class)), bench_real(layers_macs(&r->of->layer)),
            bench_real(v[DEFAULT]), bench_real(v[TUNED]), bench_real(v[PUBLISHED]), bench_real(v[JOINT]),
            bench_if(isfinite(v[OPTIMUM]), bench_real(v[OPTIMUM])));
}

// ---- groups and classes

// Of one group (BENCH_OPERATOR_GROUP_COUNT: all), and of one of its classes (negative: all).
typedef struct part {
  const char *name;
  int group, in_class;
} part;

static bool is_of(const result *r, const part *p) {
  return (p->group == BENCH_OPERATOR_GROUP_COUNT || (int)r->of->group == p->group) &&
         (p->in_class < 0 || (int)r->of->in_class == p->in_class);
}

// The authors' figure for a ratio; they have it of whole groups.
static bench_cell published_of(const part *p, int above, int below) {
  if (p->group == BENCH_OPERATOR_GROUP_COUNT || p->in_class >= 0 || below != JOINT) return bench_none();
  const bench_operator_row *g = &bench_operator_groups[p->group];
  if (above == DEFAULT) return bench_real(g->over_default);
  return bench_if(above == PUBLISHED, bench_real(g->over_search));
}

// X / Y over the cases of a part, above 1 where Y is the better.
typedef struct ratio {
  const char *text;
  int above, below;
} ratio;
static const ratio ratios[] = {{"default / joint", DEFAULT, JOINT},
                               {"default-tuned / joint", TUNED, JOINT},
                               {"published / joint", PUBLISHED, JOINT},
                               {"joint / optimum", JOINT, OPTIMUM},
                               {"published / optimum", PUBLISHED, OPTIMUM}};
enum { RATIOS = sizeof ratios / sizeof *ratios };

static void add_line(const operators_bench *b, bench_table *table, const part *p, const ratio *x) {
  wf_summary s = {0};
  uint64_t lost = 0;
  for (size_t i = 0; i < b->count; i++) {
    const double *v = b->results[i].value;
    if (!is_of(&b->results[i], p) || !isfinite(v[x->above]) || !isfinite(v[x->below])) continue;
    wf_summary_add(&s, v[x->above] / v[x->below]);
    lost += v[x->above] < v[x->below] * (1 - 1e-9);
  }
  if (s.count == 0) return;
  BENCH_ROW(table, bench_text(p->name), bench_count(s.count), bench_text(x->text), bench_real(wf_summary_geometric(&s)),
            bench_real(s.least), bench_real(s.most), bench_count(lost), published_of(p, x->above, x->below));
}

static void say_groups(const operators_bench *b, bench_table *table) {
  bench_report_say(
      b->report,
      "EDP of one method over another's, each case on hardware of its own, under the plain model: geometric\n"
      "mean, least and most over the cases, how many are below 1, and the authors' mean:\n");
  bench_table_heading(table);
  for (int g = 0; g <= BENCH_OPERATOR_GROUP_COUNT; g++) {
    const bool all = g == BENCH_OPERATOR_GROUP_COUNT;
    const part p = {.name = all ? "all" : bench_operator_groups[g].name, .group = g, .in_class = -1};
    for (int i = 0; i < RATIOS; i++) add_line(b, table, &p, &ratios[i]);
  }
}

static void say_classes(const operators_bench *b, bench_table *table) {
  for (int g = 0; g < BENCH_OPERATOR_GROUP_COUNT; g++)
    for (unsigned c = 0; c < bench_operator_classes((bench_operator_group)g); c++) {
      char *name = wf_format("%s %s", bench_operator_groups[g].name, bench_operator_class((bench_operator_group)g, c));
      const part p = {.name = name, .group = g, .in_class = (int)c};
      for (int i = 0; i < RATIOS; i++)
        if (ratios[i].below == JOINT && ratios[i].above != TUNED) add_line(b, table, &p, &ratios[i]);
      wf_free(name);
    }
}

// ---- the bench

static void run_cases(operators_bench *b, const bench_operator *cases, bool quiet) {
  bench_table *table = bench_table_open(b->report, &case_form);
  wf_progress line = wf_progress_begin(quiet, 2, 2);
  for (size_t i = 0; i < BENCH_OPERATOR_CASES; i += b->options->every) {
    if (wf_progress_due(&line))
      wf_progress_line(&line, "case %zu of %d: %s", i + 1, (int)BENCH_OPERATOR_CASES, cases[i].name);
    run_case(b, &cases[i]);
    add_case(table, &b->results[b->count - 1]);
  }
  wf_progress_end(&line, false);
}

static bool write_table(const char *path, bench_operator *cases, wf_diag *diag) {
  FILE *out = fopen(path, "w");
  layers_layer *layers = WF_NEW_ARRAY((size_t)BENCH_OPERATOR_CASES, layers_layer);
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++) layers[i] = cases[i].layer;
  const layers_network network = {.name = "operators",
                                  .description = "cases of weft bench operators",
                                  .layers = layers,
                                  .count = BENCH_OPERATOR_CASES};
  if (out != NULL) layers_print_yaml(&network, out);
  const bool good = out != NULL && !ferror(out) && fclose(out) == 0;
  if (!good) wf_error(diag, wf_in_file(path), "cannot be written");
  wf_free(layers);
  return good;
}

static bench_end run_operators(const bench_job *job) {
  const options *o = job->options;
  bench_operator *cases = WF_NEW_ARRAY((size_t)BENCH_OPERATOR_CASES, bench_operator);
  bench_operators_draw(o->seed, cases);
  bench_end end = BENCH_DONE;
  if (o->table != NULL) {
    if (!write_table(o->table, cases, job->diag)) end = BENCH_BAD_INPUT;
  } else {
    operators_bench b = {
        .options = o, .report = job->report, .results = WF_NEW_ARRAY((size_t)BENCH_OPERATOR_CASES, result)};
    paper_constants_named(&b.constants, "dosa");
    run_cases(&b, cases, job->quiet);
    bench_table *table = bench_table_open(job->report, &text_form);
    say_groups(&b, table);
    say_classes(&b, table);
    wf_free(b.results);
  }
  wf_free(cases);
  return end;
}

static const wf_option option_rows[] = {
    {"every", WF_POSITIVE(options, every), "N", "only every N-th case (default 1: all 540)"},
    {"seeds", WF_POSITIVE(options, seeds), "N", "runs of a method, whose median counts (default 3)"},
    {"budget", WF_POSITIVE(options, budget), "N",
     "evaluations of a run (default 10500: seven starts of 1,490 steps, the published search)"},
    {"seed", WF_COUNT(options, seed), "N", "of the cases (default 1)"},
    {"table", WF_TEXT(options, table), "FILE", "run nothing: write the cases as a layer table"},
};
static const options defaults = {.every = 1, .seeds = 3, .budget = 10500, .seed = 1};

const bench bench_operators = {
    .name = "operators",
    .summary = "540 single operators: default, tuned, published search, joint search",
    .synopsis = "",
    .text =
        "Searches hardware and mapping of single operators, one by one, under the plain model, and compares the joint\n"
        "search with the default array, the same tuned, and the gradient search as published (docs/search.md).",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_operators};
