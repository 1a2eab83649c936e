// SPDX-License-Identifier: Apache-2.0
// `weft bench model`: the model of the machine against engine cycle, on layers and arrays that it was not fitted to.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/spaces.h"
#include "runner/measure.h"
#include "search/model/fit_all.h"
#include "search/model/judge.h"
#include "search/model/machine.h"

typedef struct options {
  uint64_t samples, seed, fit;
  bool fitting_set, spaces;
} options;

typedef struct outcome {
  samples_sample sample;
  machine_prediction model;
  double estimate;  // of the mapper
  run_measured run;
} outcome;

static const char *set_name(const options *o) { return o->fitting_set ? "fit" : "judge"; }

static bool simulate(const samples_sample *s, const cost_constants *constants, run_measured *run) {
  FILE *null = fopen("/dev/null", "w");
  if (null == NULL) return false;
  wf_diag diag = wf_diag_to(null);
  const run_measure_request request = {
      .layer = &s->layer, .array = &s->array, .policy = {.mapping = &s->mapping, .costs = constants}};
  *run = run_measure(&request, &diag);
  fclose(null);
  return run->status == RUN_MEASURE_GOOD;
}

// As many as can be simulated; `failed` counts the others.
static size_t run_samples(const bench_job *job, samples_source *source, outcome *outcomes, size_t *failed) {
  const options *o = job->options;
  size_t count = 0;
  for (uint64_t i = 0; i < o->samples; i++) {
    outcome *x = &outcomes[count];
    samples_draw(source, &x->sample);
    const samples_sample *s = &x->sample;
    const map_footprint f = map_measure(&s->layer, &s->mapping, &s->array);
    x->model = machine_predict(&s->layer, &s->mapping, &s->array, &cost_fitted);
    x->estimate = map_estimate(&s->layer, &s->mapping, &s->array, &f, &cost_fitted, INFINITY);
    if (simulate(s, &cost_fitted, &x->run))
      count++;
    else
      ++*failed;
    if (!job->quiet && (i + 1) % 100 == 0) fprintf(stderr, "%" PRIu64 " of %" PRIu64 "\n", i + 1, o->samples);
  }
  return count;
}

// ---- verdicts

typedef enum { CYCLES, ENERGY, ESTIMATE } quantity;
typedef bool selector(const outcome *x, int which);

static bool every(const outcome *x, int which) { return (void)x, (void)which, true; }
static bool of_bound(const outcome *x, int which) { return (int)x->model.bound == which; }
static bool of_mapper(const outcome *x, int which) { return x->sample.by_default == (which == 1); }
static bool of_l2(const outcome *x, int which) { return x->sample.array.l2.present == (which == 1); }
static bool of_depth(const outcome *x, int which) {
  const uint8_t *depth = x->sample.mapping.depth;
  return (depth[MAP_WEIGHTS] > 1 && depth[MAP_INPUTS] > 1) == (which == 1);
}

static judge_verdict judge(const outcome *outcomes, size_t count, quantity what, selector *select, int which) {
  judge_pair *pairs = WF_NEW_ARRAY(count + 1, judge_pair);
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    const outcome *x = &outcomes[i];
    if (!select(x, which) || (what == ENERGY && !x->model.has_energy)) continue;
    pairs[n].predicted = what == CYCLES ? x->model.cycles : what == ENERGY ? x->model.energy_pj : x->estimate;
    pairs[n++].simulated = what == ENERGY ? x->run.array_pj : (double)x->run.cycles;
  }
  const judge_verdict v = judge_pairs(pairs, n);
  wf_free(pairs);
  return v;
}

static const struct {
  const char *name;
  quantity what;
  selector *select;
  int which;
} rows[] = {
    {"cycles", CYCLES, every, 0},
    {"default mappings", CYCLES, of_mapper, 1},
    {"random mappings", CYCLES, of_mapper, 0},
    {"bound by compute", CYCLES, of_bound, MACHINE_COMPUTE},
    {"bound by bandwidth", CYCLES, of_bound, MACHINE_BANDWIDTH},
    {"bound by latency", CYCLES, of_bound, MACHINE_LATENCY},
    {"bound by issue", CYCLES, of_bound, MACHINE_ISSUE},
    {"with L2", CYCLES, of_l2, 1},
    {"without L2", CYCLES, of_l2, 0},
    {"buffers with turns", CYCLES, of_depth, 1},
    {"energy", ENERGY, every, 0},
    {"mapper's estimate", ESTIMATE, every, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const bench_column head_columns[] = {{.key = "set"}, {.key = "samples"}, {.key = "failed"}, {.key = "seed"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

static const bench_column verdict_columns[] = {
    {.title = "", .key = "of", .width = -20},
    {.title = "count", .key = "count", .width = 6, .text_format = "%.0f"},
    {.title = "pearson", .key = "log_pearson", .width = 8, .text_format = "%.4f"},
    {.title = "spearman", .key = "spearman", .width = 9, .text_format = "%.4f"},
    {.title = "mean %", .key = "mean_error", .width = 8, .text_format = "%.1f", .scale = 100},
    {.title = "median %", .key = "median_error", .width = 8, .text_format = "%.1f", .scale = 100},
    {.title = "p90 %", .key = "p90_error", .width = 8, .text_format = "%.1f", .scale = 100},
    {.title = "max %", .key = "max_error", .width = 8, .text_format = "%.1f", .scale = 100},
    {.title = "bias %", .width = 8, .text_format = "%.1f"},
};
static const bench_form verdict_form = {.list = "rows", BENCH_FORM(verdict_columns)};

static void report_verdicts(const bench_job *job, const outcome *outcomes, size_t count, size_t failed) {
  const options *o = job->options;
  BENCH_ROW(bench_table_open(job->report, &head_form), bench_text(set_name(o)), bench_count(count), bench_count(failed),
            bench_count(o->seed));
  bench_report_say(job->report, "%zu samples of set %s, seed %" PRIu64 "; %zu could not be compiled or run\n", count,
                   set_name(o), o->seed, failed);
  bench_table *table = bench_table_open(job->report, &verdict_form);
  bench_table_heading(table);
  for (size_t i = 0; i < ROWS; i++) {
    const judge_verdict v = judge(outcomes, count, rows[i].what, rows[i].select, rows[i].which);
    BENCH_ROW(table, bench_text(rows[i].name), bench_count(v.count), bench_real(v.pearson), bench_real(v.spearman),
              bench_real(v.mean), bench_real(v.median), bench_real(v.p90), bench_real(v.max),
              bench_real(100 * (exp(v.bias) - 1)));
  }
}

// ---- samples

static const bench_column sample_columns[] = {
    {.csv = "sample"},
    {.csv = "mapping"},
    {.csv = "kind"},
    {.csv = "dim"},
    {.csv = "bound"},
    {.csv = "predicted_cycles", .csv_format = "%.0f"},
    {.csv = "simulated_cycles"},
    {.csv = "predicted_pj", .csv_format = "%.0f"},
    {.csv = "simulated_pj", .csv_format = "%.0f"},
    {.csv = "estimate", .csv_format = "%.0f"},
};
static const bench_form sample_form = {BENCH_FORM(sample_columns)};

static void report_samples(const bench_job *job, const outcome *outcomes, size_t count) {
  bench_table *table = bench_table_open(job->report, &sample_form);
  for (size_t i = 0; i < count; i++) {
    const outcome *x = &outcomes[i];
    BENCH_ROW(table, bench_count(i), bench_text(x->sample.by_default ? "default" : "random"),
              bench_text(map_kind_names[x->sample.layer.kind]), bench_count(hw_derive(&x->sample.array).dim),
              bench_text(machine_bound_names[x->model.bound]), bench_real(x->model.cycles), bench_count(x->run.cycles),
              bench_real(x->model.energy_pj), bench_real(x->run.array_pj), bench_real(x->estimate));
  }
}

// ---- whole spaces

static const bench_column space_columns[] = {
    {.title = "whole spaces, cycles over least", .key = "of", .width = -32},
    {.title = "mappings", .key = "mappings", .width = 9, .text_format = "%.0f"},
    {.title = "model's first", .key = "first", .width = 14, .text_format = "%.3f"},
    {.title = "best of its 10", .key = "best_of_ten", .width = 14, .text_format = "%.3f"},
    {.title = "worst of all", .key = "worst", .width = 14, .text_format = "%.3f"},
};
static const bench_form space_form = {.list = "spaces", BENCH_FORM(space_columns)};

static bool report_spaces(const bench_job *job) {
  const size_t count = bench_spaces_count();
  bench_space_verdict *verdicts = WF_NEW_ARRAY(count, bench_space_verdict);
  const bool good = bench_spaces(verdicts, job->diag);
  if (good) {
    size_t hits = 0;
    bench_table *table = bench_table_open(job->report, &space_form);
    bench_report_say(job->report, "\n");
    bench_table_heading(table);
    for (size_t i = 0; i < count; i++) {
      const bench_space_verdict *v = &verdicts[i];
      BENCH_ROW(table, bench_text(v->name), bench_count(v->count), bench_real(v->first), bench_real(v->top),
                bench_real(v->worst));
      hits += v->top == 1;
    }
    bench_report_say(job->report, "the least is among the model's first ten in %zu of %zu\n", hits, count);
  }
  wf_free(verdicts);
  return good;
}

// ---- fitting

static double simulated_cycles(const samples_sample *s, const cost_constants *constants) {
  run_measured run;
  return simulate(s, constants, &run) ? (double)run.cycles : 0;
}

static bool report_fit(const bench_job *job) {
  const options *o = job->options;
  const fit_options fit = {
      .samples = o->samples, .seed = o->seed, .rounds = (unsigned)o->fit, .simulate = simulated_cycles};
  fit_result result;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  const bool good = out != NULL && fit_all(&fit, &result, job->diag);
  if (good) fit_print(&result, out);
  if (out != NULL) fclose(out);
  if (good) bench_report_say(job->report, "%s", text);
  free(text);
  return good;
}

// ---- the bench

static bench_end run_model(const bench_job *job) {
  const options *o = job->options;
  if (o->samples == 0 || o->samples > 100000) {
    wf_error(job->diag, wf_in_file(NULL), "--samples is 1 to 100000");
    wf_hint(job->diag, "weft bench model --help");
    return BENCH_BAD_USAGE;
  }
  if (o->fit > 0) return report_fit(job) ? BENCH_DONE : BENCH_BAD_INPUT;
  samples_source source;
  bool good = samples_open(&source, o->fitting_set ? SAMPLES_FIT : SAMPLES_JUDGE, o->seed, job->diag);
  if (good) {
    outcome *outcomes = WF_NEW_ARRAY(o->samples, outcome);
    size_t failed = 0;
    const size_t count = run_samples(job, &source, outcomes, &failed);
    report_verdicts(job, outcomes, count, failed);
    report_samples(job, outcomes, count);
    good = !o->spaces || report_spaces(job);
    wf_free(outcomes);
  }
  samples_close(&source);
  return good ? BENCH_DONE : BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"samples", WF_COUNT(options, samples), "N", "how many (default 400)"},
    {"seed", WF_COUNT(options, seed), "N", "of the samples (default 1)"},
    {"fitting-set", WF_FLAG(options, fitting_set), NULL, "the samples that the constants are fitted to"},
    {"fit", WF_COUNT(options, fit), "ROUNDS",
     "fit all constants of the costs and print them as compiler/cost/cost_constants.def"},
    {"spaces", WF_FLAG(options, spaces), NULL,
     "small spaces, simulated whole, and whether the best is among the model's first ten"},
};
static const options defaults = {.samples = 400, .seed = 1};

const bench bench_model = {
    .name = "model",
    .summary = "the model of the machine against engine cycle",
    .synopsis = "",
    .text =
        "Predicts cycles and energy of layers with random and default mappings on random arrays, simulates the\n"
        "compiled layers on engine cycle, and prints how well the two agree.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_model};
