// SPDX-License-Identifier: Apache-2.0
// `weft bench learn`: corrections of the model of the machine that are learned from engine flow, judged by engine cycle
// on layers and arrays that they have not seen: boosted trees, a small transformer, and none.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/output.h"
#include "base/statistics.h"
#include "base/tasks.h"
#include "bench/bench.h"
#include "bench/learn_samples.h"
#include "search/learn/net.h"
#include "search/learn/trees.h"
#include "search/model/judge.h"

enum { NETS = 3, MAPPINGS = 8, JUDGED_MAPPINGS = 20, BEST = 10 };

typedef struct options {
  uint64_t groups, judged, seed, trees, epochs;
  const char *data, *judges, *collect, *collect_judges, *write;
  bool no_network;
} options;

// Corrections of all rows of the judged set by one method.
typedef struct said {
  const char *method;
  float *of;
} said;

// ---- verdicts

typedef struct group_verdict {
  double first, three, ten, tau;  // cycles of the best of so many over the group's least; means over groups
  size_t groups;
} group_verdict;

// Cycles over the group's least, of the best of the first `count` rows in the order of what is said.
static double best_of(const double *expected, const double *cycles, size_t rows, size_t count) {
  double best = INFINITY, least = INFINITY;
  for (size_t i = 0; i < rows; i++) {
    size_t before = 0;
    for (size_t j = 0; j < rows; j++) before += expected[j] < expected[i] || (expected[j] == expected[i] && j < i);
    least = fmin(least, cycles[i]);
    if (before < count) best = fmin(best, cycles[i]);
  }
  return best / least;
}

static double tau_of(const double *expected, const double *cycles, size_t rows) {
  double sum = 0;
  size_t pairs = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < i; j++) {
      const double a = expected[i] - expected[j], b = cycles[i] - cycles[j];
      if (b == 0) continue;
      sum += a == 0 ? 0 : (a > 0) == (b > 0) ? 1 : -1;
      pairs++;
    }
  return pairs == 0 ? 1 : sum / (double)pairs;
}

static group_verdict judge_groups(const learn_set *set, const float *of) {
  double *expected = WF_NEW_ARRAY(set->count + 1, double), *cycles = WF_NEW_ARRAY(set->count + 1, double);
  double logarithms[3] = {0};
  group_verdict v = {0};
  for (size_t at = 0, end; at < set->count; at = end) {
    end = learn_group_end(set, at);
    const size_t rows = end - at;
    if (rows < 3) continue;
    for (size_t i = 0; i < rows; i++) {
      const learn_row *r = &set->rows[at + i];
      expected[i] = r->model + of[at + i];
      cycles[i] = exp((double)r->model + r->target);
    }
    logarithms[0] += log(best_of(expected, cycles, rows, 1));
    logarithms[1] += log(best_of(expected, cycles, rows, 3));
    logarithms[2] += log(best_of(expected, cycles, rows, BEST));
    v.tau += tau_of(expected, cycles, rows);
    v.groups++;
  }
  wf_free(expected);
  wf_free(cycles);
  const double n = v.groups == 0 ? 1 : (double)v.groups;
  v.first = exp(logarithms[0] / n);
  v.three = exp(logarithms[1] / n);
  v.ten = exp(logarithms[2] / n);
  v.tau /= n;
  return v;
}

static judge_verdict judge_rows(const learn_set *set, const float *of) {
  judge_pair *pairs = WF_NEW_ARRAY(set->count + 1, judge_pair);
  for (size_t i = 0; i < set->count; i++) {
    const learn_row *r = &set->rows[i];
    pairs[i] = (judge_pair){exp((double)r->model + of[i]), exp((double)r->model + r->target)};
  }
  const judge_verdict v = judge_pairs(pairs, set->count);
  wf_free(pairs);
  return v;
}

// ---- methods

static float *say_nothing(const learn_set *judged) { return WF_NEW_ARRAY(judged->count + 1, float); }

static float *say_by_trees(const learn_trees *trees, const learn_set *judged) {
  float *of = say_nothing(judged);
  for (size_t i = 0; i < judged->count; i++) of[i] = (float)learn_trees_say(trees, judged->rows[i].features);
  return of;
}

static learn_trees fit_trees(const options *o, const learn_set *set) {
  learn_trees_options how = learn_trees_usual;
  how.trees = (unsigned)o->trees;
  return learn_trees_fit(set, &how);
}

typedef struct net_work {
  const options *o;
  const learn_set *set, *judged;
  float *of[NETS];
} net_work;

static void fit_net(void *context, size_t n) {
  net_work *w = context;
  learn_net *net = learn_net_create(w->set, n + 1);
  learn_net_options how = learn_net_usual;
  how.epochs = (unsigned)w->o->epochs;
  how.seed = n + 1;
  learn_net_fit(net, w->set, &how);
  w->of[n] = say_nothing(w->judged);
  for (size_t at = 0; at < w->judged->count; at++) learn_net_say(net, w->judged, at, 1, &w->of[n][at]);
  learn_net_destroy(net);
}

// The mean of several networks; `one`: the first of them, if not NULL.
static float *say_by_nets(const options *o, const learn_set *set, const learn_set *judged, float **one) {
  net_work w = {.o = o, .set = set, .judged = judged};
  wf_run_tasks(NETS, 0, fit_net, &w);
  float *mean = say_nothing(judged);
  for (int n = 0; n < NETS; n++)
    for (size_t i = 0; i < judged->count; i++) mean[i] += w.of[n][i] / NETS;
  for (int n = 1; n < NETS; n++) wf_free(w.of[n]);
  *one = w.of[0];
  return mean;
}

// ---- tables

#define REAL(name, column, form, times) \
  { BENCH_DATA(name), .title = (column), .width = 9, .text_format = (form), .csv_format = "%.6g", .scale = (times) }
static const bench_column columns[] = {
    {BENCH_DATA("method"), .title = "correction", .width = -22},
    {BENCH_DATA("samples"), .title = "learned of", .width = 10},
    REAL("mean_error", "mean %", "%.1f", 100),
    REAL("median_error", "median %", "%.1f", 100),
    REAL("p90_error", "p90 %", "%.1f", 100),
    REAL("log_pearson", "pearson", "%.4f", 1),
    REAL("spearman", "spearman", "%.4f", 1),
    REAL("tau", "tau", "%.3f", 1),
    REAL("first", "first", "%.3f", 1),
    REAL("best_of_three", "of 3", "%.3f", 1),
    REAL("best_of_ten", "of 10", "%.3f", 1),
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static void add_row(bench_table *table, const char *method, const learn_set *judged, const float *of, size_t samples) {
  const judge_verdict v = judge_rows(judged, of);
  const group_verdict g = judge_groups(judged, of);
  BENCH_ROW(table, bench_text(method), bench_count(samples), bench_real(v.mean), bench_real(v.median),
            bench_real(v.p90), bench_real(v.pearson), bench_real(v.spearman), bench_real(g.tau), bench_real(g.first),
            bench_real(g.three), bench_real(g.ten));
}

// The mapper's own order, in place of the model's: its estimate is a feature.
static float *say_by_mapper(const learn_set *judged) {
  float *of = say_nothing(judged);
  for (size_t i = 0; i < judged->count; i++) of[i] = judged->rows[i].features[LEARN_FEATURE_estimate];
  return of;
}

static bool is_early(const learn_row *row, const void *limit) { return row->group < *(const uint32_t *)limit; }

static void add_trees_of(bench_table *table, const options *o, const learn_set *set, const learn_set *judged,
                         uint32_t groups) {
  const learn_set some = learn_set_select(set, is_early, &groups);
  learn_trees trees = fit_trees(o, &some);
  float *of = say_by_trees(&trees, judged);
  add_row(table, "boosted trees", judged, of, some.count);
  wf_free(of);
  learn_trees_release(&trees);
  wf_free(some.rows);
}

static uint32_t groups_of(const learn_set *set) { return set->count == 0 ? 0 : set->rows[set->count - 1].group + 1; }

static void report_methods(const bench_job *job, const learn_set *set, const learn_set *judged) {
  const options *o = job->options;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  float *of = say_by_mapper(judged);
  add_row(table, "none: mapper's estimate", judged, of, 0);
  wf_free(of);
  of = say_nothing(judged);
  add_row(table, "none: model", judged, of, 0);
  wf_free(of);
  const uint32_t groups = groups_of(set);
  for (uint32_t part = 16; part > 0; part /= 2) add_trees_of(table, o, set, judged, groups / part);
  if (o->no_network) return;
  float *one, *mean = say_by_nets(o, set, judged, &one);
  add_row(table, "transformer", judged, one, set->count);
  add_row(table, "three transformers", judged, mean, set->count);
  of = say_nothing(judged);
  learn_trees trees = fit_trees(o, set);
  for (size_t i = 0; i < judged->count; i++)
    of[i] = (mean[i] + (float)learn_trees_say(&trees, judged->rows[i].features)) / 2;
  add_row(table, "trees and transformers", judged, of, set->count);
  learn_trees_release(&trees);
  wf_free(of);
  wf_free(mean);
  wf_free(one);
}

// ---- what carries over

// Rows of one kind of array, which the others do not teach.
typedef struct kind {
  const char *name;
  int feature;
  double from, below;
  uint32_t limit;  // at most so many rows of it, as is_some counts
} kind;

static const kind kinds[] = {
    {"side 32", LEARN_FEATURE_side, 3.3, 4, 0},
    {"side 4", LEARN_FEATURE_side, 0, 1.5, 0},
    {"no L2", LEARN_FEATURE_l2, -1, 0.5, 0},
    {"fixed latency", LEARN_FEATURE_fixed_latency, 0.5, 2, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_of(const learn_row *row, const void *context) {
  const kind *k = context;
  const double value = row->features[k->feature];
  return value >= k->from && value < k->below;
}
static bool is_not_of(const learn_row *row, const void *context) { return !is_of(row, context); }

#define KEY(name, column) \
  { .key = (name), .title = (column), .width = 9, .text_format = "%.1f", .scale = 100 }
static const bench_column kind_columns[] = {
    {.key = "unseen", .title = "unseen", .width = -14},
    {.key = "taught", .title = "of others", .width = 9},
    {.key = "own", .title = "of it", .width = 6},
    KEY("none", "none %"),
    KEY("scratch", "alone %"),
    KEY("others", "others %"),
    KEY("carried", "both %"),
};
static const bench_form kind_form = {.list = "unseen", BENCH_FORM(kind_columns)};

static double error_of(const learn_trees *trees, const learn_set *judged) {
  float *of = say_by_trees(trees, judged);
  const double error = judge_rows(judged, of).mean;
  wf_free(of);
  return error;
}

// Trees of the other arrays, then a few more for what they leave of the new ones.
static double carried(const options *o, const learn_set *others, const learn_set *own, const learn_set *judged) {
  learn_trees trees = fit_trees(o, others);
  learn_trees_options more = learn_trees_usual;
  more.trees = (unsigned)o->trees / 4;
  learn_trees_grow(&trees, own, &more);
  const double error = error_of(&trees, judged);
  learn_trees_release(&trees);
  return error;
}

static void report_kind(const options *o, bench_table *table, const kind *k, const learn_set *set,
                        const learn_set *judged) {
  learn_set others = learn_set_select(set, is_not_of, k), own = learn_set_select(set, is_of, k);
  learn_set seen = learn_set_select(judged, is_of, k);
  const learn_trees none = {0};
  learn_trees taught = fit_trees(o, &others);
  for (size_t n = 50; n <= 200; n *= 2) {
    learn_set some = {.rows = own.rows, .count = own.count < n ? own.count : n};
    learn_trees alone = fit_trees(o, &some);
    BENCH_ROW(table, bench_text(k->name), bench_count(others.count), bench_count(some.count),
              bench_real(error_of(&none, &seen)), bench_real(error_of(&alone, &seen)),
              bench_real(error_of(&taught, &seen)), bench_real(carried(o, &others, &some, &seen)));
    learn_trees_release(&alone);
  }
  learn_trees_release(&taught);
  learn_set_release(&others);
  learn_set_release(&own);
  learn_set_release(&seen);
}

static void report_kinds(const bench_job *job, const learn_set *set, const learn_set *judged) {
  bench_report_say(job->report,
                   "\nmean error on arrays of a kind that the others are not: by trees of samples of it alone, of the\n"
                   "others, and of the others with some of it\n\n");
  bench_table *table = bench_table_open(job->report, &kind_form);
  bench_table_heading(table);
  for (int n = 0; n < KINDS; n++) report_kind(job->options, table, &kinds[n], set, judged);
}

// ---- the bench

static bool write_set(const learn_set *set, const char *path, wf_diag *diag) {
  FILE *out = wf_output_open(path, diag);
  if (out == NULL) return false;
  learn_set_write(set, out);
  return wf_output_close(out, path, diag);
}

static bool write_trees(const options *o, const learn_set *set, wf_diag *diag) {
  FILE *out = wf_output_open(o->write, diag);
  if (out == NULL) return false;
  learn_trees trees = fit_trees(o, set);
  learn_trees_write(&trees, out);
  learn_trees_release(&trees);
  return wf_output_close(out, o->write, diag);
}

// Before the minutes of work that they are written after.
static bool outputs_can_be_written(const options *o, wf_diag *diag) {
  const char *const paths[] = {o->collect, o->collect_judges, o->write};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (paths[i] != NULL && !wf_output_check(paths[i], diag)) return false;
  return true;
}

static bool collect(const bench_job *job, samples_set of, learn_set *set, size_t *failed) {
  const options *o = job->options;
  const bool judges = of == SAMPLES_JUDGE;
  const char *from = judges ? o->judges : o->data, *to = judges ? o->collect_judges : o->collect;
  if (from != NULL) return learn_set_read(set, from, job->diag);
  const bench_learn_request request = {.of = of,
                                       .engine = judges ? RUN_FIDELITY_CYCLE : RUN_FIDELITY_FLOW,
                                       .groups = judges ? o->judged : o->groups,
                                       .mappings = judges ? JUDGED_MAPPINGS : MAPPINGS,
                                       .seed = o->seed,
                                       .quiet = job->quiet};
  if (!bench_learn_collect(&request, set, failed, job->diag)) return false;
  return to == NULL || write_set(set, to, job->diag);
}

static bench_end run_learn(const bench_job *job) {
  const options *o = job->options;
  learn_set set = {0}, judged = {0};
  size_t failed = 0;
  if (o->groups == 0 || o->groups > 100000 || o->judged > 10000 || o->trees == 0 || o->trees > 10000) {
    wf_error(job->diag, wf_in_file(NULL), "numbers are out of range");
    wf_hint(job->diag, "at most 100,000 groups, 10,000 judged ones and 10,000 trees");
    return BENCH_BAD_USAGE;
  }
  if (!outputs_can_be_written(o, job->diag)) return BENCH_BAD_INPUT;
  bool good = collect(job, SAMPLES_FIT, &set, &failed);
  if (good && o->write != NULL) good = write_trees(o, &set, job->diag);
  if (good && o->judged > 0) good = collect(job, SAMPLES_JUDGE, &judged, &failed);
  if (good && judged.count > 0) {
    bench_report_say(
        job->report,
        "%zu samples of engine flow to learn from; judged by engine cycle on %zu of other layers and arrays; %zu "
        "others could not be compiled or run\n\n",
        set.count, judged.count, failed);
    report_methods(job, &set, &judged);
    report_kinds(job, &set, &judged);
  }
  learn_set_release(&set);
  learn_set_release(&judged);
  return good ? BENCH_DONE : BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"groups", WF_COUNT(options, groups), "N", "layers on arrays to learn from, eight mappings of each (default 2000)"},
    {"judged", WF_COUNT(options, judged), "N", "layers on arrays to judge by, twenty mappings of each (default 60)"},
    {"seed", WF_COUNT(options, seed), "N", "of both (default 1)"},
    {"trees", WF_COUNT(options, trees), "N", "boosted trees (default 400)"},
    {"epochs", WF_COUNT(options, epochs), "N", "passes of the networks over the samples (default 20)"},
    {"no-network", WF_FLAG(options, no_network), NULL, "leave out the networks, which take minutes"},
    {"collect", WF_TEXT(options, collect), "FILE", "write the samples to learn from"},
    {"data", WF_TEXT(options, data), "FILE", "learn from those of a file"},
    {"collect-judges", WF_TEXT(options, collect_judges), "FILE", "write the samples to judge by"},
    {"judges", WF_TEXT(options, judges), "FILE", "judge by those of a file"},
    {"write", WF_TEXT(options, write), "FILE", "write the trees (search/learn/shipped.trees)"},
};
static const options defaults = {.groups = 2000, .judged = 60, .seed = 1, .trees = 400, .epochs = 20};

const bench bench_learn = {
    .name = "learn",
    .summary = "learned corrections of the model of the machine",
    .synopsis = "",
    .text =
        "Simulates layers on arrays at random on engine flow, fits boosted trees and small transformers to what the\n"
        "model of the machine is off, and judges them by engine cycle on layers of the shipped tables, on other "
        "arrays:\n"
        "errors, the order of the mappings of one layer (tau), and cycles of the best of the first so many over the\n"
        "least of the group.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_learn};
