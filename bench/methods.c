// SPDX-License-Identifier: Apache-2.0
// Methods of search against each other: the same networks, model and number of evaluations, several seeds, and the
// proven optimum beside them; with --simulate what they propose runs on the cycle engine.
#include "bench/methods.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "bench/simulated.h"
#include "search/baselines/baselines.h"
#include "search/exact/exact.h"

// Rows of the simulation alone, behind those of the methods.
enum { ROW_MACHINE = BASELINES, ROW_MACHINE_SIMULATED, ROWS };
static const char *const machine_rows[ROWS - BASELINES][2] = {
    {"machine", "the joint search with the model of the machine: its first proposal"},
    {"machine-simulated", "... the best of what it simulates"},
};

static const char *name_of(unsigned row) {
  return row < BASELINES ? baseline_names[row] : machine_rows[row - BASELINES][0];
}

static const char *text_of(unsigned row) {
  return row < BASELINES ? baseline_texts[row] : machine_rows[row - BASELINES][1];
}

// What the seeds of one method gave on one network.
typedef struct row {
  const char *network;
  unsigned method;  // of `ROWS`
  double least, median, most;
  double gap;                   // of the median over the optimum, in percent
  paper_hardware hardware;      // of the least
  double evaluations, seconds;  // means
  bench_simulated_row simulated;
} row;

typedef struct methods_bench {
  const bench_search_options *options;
  bench_report *report;
  paper_constants constants;
  bool chosen[ROWS];
  hw_array base;
  bench_simulated_means means;            // runs NULL: nothing is simulated
  bench_table *plain, *simulated, *rows;  // of the text, of the text, of CSV and JSON
  // Over the networks: median over optimum; the best on the default array over the median, the worst and the best seed.
  unsigned networks;
  wf_summary over[ROWS], gain[ROWS], gain_least[ROWS], gain_most[ROWS];
} methods_bench;

// ---- one method

static bool is_default(baseline_method method) {
  return method == BASELINE_default_heuristic || method == BASELINE_default_tuned;
}

static descent_goal goal_of(const methods_bench *b, const layers_network *network) {
  return (descent_goal){.network = network, .constants = &b->constants, .limits = BENCH_SEARCH_LIMITS};
}

static row run_method(const methods_bench *b, const layers_network *network, baseline_method method, double optimum,
                      bench_simulated *designs) {
  const size_t seeds = (size_t)b->options->seeds;
  double *values = WF_NEW_ARRAY(seeds, double);
  row r = {.network = network->name, .method = method, .least = INFINITY};
  double searched = 0;
  for (size_t n = 0; n < seeds; n++) {
    const double start = wf_process_seconds();
    const baseline_options o = {.goal = goal_of(b, network), .seed = n + 1, .max_evaluations = b->options->budget};
    baseline_result found;
    baseline_run(method, &o, &found);
    values[n] = found.value;
    r.evaluations += (double)found.evaluations / (double)seeds;
    if (found.value < r.least) {
      r.least = found.value;
      r.hardware = found.hardware;
    }
    searched += wf_process_seconds() - start;
    if (designs != NULL) bench_simulated_add(designs, method, &found, is_default(method));
    baseline_release(&found);
  }
  r.seconds = searched / (double)seeds;
  wf_sort(values, seeds);
  r.median = wf_median(values, seeds);
  r.most = values[seeds - 1];
  r.gap = 100 * (r.median / optimum - 1);
  wf_free(values);
  return r;
}

// ---- tables

#define REAL(name, form) \
  { .title = (name), .width = 11, .text_format = (form) }
static const bench_column plain_columns[] = {
    {.title = "method", .width = -20},
    REAL("median", "%.4e"),
    {.title = "gap", .width = 10, .text_format = "%.1f %%"},
    REAL("min", "%.4e"),
    REAL("max", "%.4e"),
    {.title = "side", .width = 5, .text_format = "%g"},
    {.title = "spad", .width = 6, .text_format = "%g"},
    {.title = "acc", .width = 6, .text_format = "%g"},
    {.title = "evals", .width = 9, .text_format = "%.0f"},
    {.title = "cpu s", .width = 7, .text_format = "%.2f"},
};
static const bench_form plain_form = {.begin = "  ", BENCH_FORM(plain_columns)};

static const bench_column simulated_columns[] = {
    {.title = "simulated", .width = -20},
    REAL("median", "%.4e"),
    REAL("min", "%.4e"),
    REAL("max", "%.4e"),
    {.title = "gain", .width = 7, .text_format = "%.2f"},
    {.title = "own %", .width = 6, .text_format = "%.0f", .scale = 100},
    {.title = "error %", .width = 7, .text_format = "%.0f", .scale = 100},
    {.title = "side", .width = 5, .text_format = "%g"},
    {.title = "spad", .width = 6, .text_format = "%g"},
    {.title = "acc", .width = 6, .text_format = "%g"},
    {.title = "", .gap = ""},
};
static const bench_form simulated_form = {.begin = "  ", BENCH_FORM(simulated_columns)};

#define DATA(name, format) \
  { .key = (name), .csv = (name), .csv_format = (format) }
static const bench_column row_columns[] = {
    DATA("network", NULL), DATA("method", NULL), DATA("edp_median", "%.8e"), DATA("gap_percent", "%.4f"),
    DATA("edp_min", "%.8e"), DATA("edp_max", "%.8e"), DATA("side", "%g"), DATA("scratchpad_kib", "%g"),
    DATA("accumulator_kib", "%g"), DATA("evaluations", "%.0f"), DATA("seconds", "%.3f"),
    // Of the simulation.
    DATA("simulated_edp_median", "%.8e"), DATA("simulated_edp_min", "%.8e"), DATA("simulated_edp_max", "%.8e"),
    DATA("simulated_side", "%g"), DATA("simulated_scratchpad_kib", "%g"), DATA("simulated_accumulator_kib", "%g"),
    DATA("own_mappings", "%.3f")};
enum { COLUMNS = sizeof row_columns / sizeof *row_columns, PLAIN_COLUMNS = 11 };
static const bench_form row_forms[2] = {
    {.list = "rows", .columns = row_columns, .column_count = PLAIN_COLUMNS},
    {.list = "rows", .columns = row_columns, .column_count = COLUMNS},
};

static const bench_column head_columns[] = {{.key = "seeds"}, {.key = "budget"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

static void open_tables(methods_bench *b) {
  BENCH_ROW(bench_table_open(b->report, &head_form), bench_count(b->options->seeds), bench_count(b->options->budget));
  b->plain = bench_table_open(b->report, &plain_form);
  b->simulated = bench_table_open(b->report, &simulated_form);
  b->rows = bench_table_open(b->report, &row_forms[b->options->simulate]);
}

// The cells of a method under the plain model, and of its simulation.
#define PLAIN(r)                                                                                           \
  bench_text(name_of((r)->method)), bench_real((r)->median), bench_real((r)->gap), bench_real((r)->least), \
      bench_real((r)->most), bench_real((r)->hardware.side), bench_real((r)->hardware.scratchpad_kib),     \
      bench_real((r)->hardware.accumulator_kib), bench_real((r)->evaluations), bench_real((r)->seconds)
#define SIMULATED(s)                                                                                      \
  bench_real((s)->median), bench_real((s)->least), bench_real((s)->most), bench_real((s)->hardware.side), \
      bench_real((s)->hardware.scratchpad_kib), bench_real((s)->hardware.accumulator_kib), bench_real((s)->own)

static void add_plain(const methods_bench *b, const row *r) { BENCH_ROW(b->plain, PLAIN(r)); }

static void add_simulated(const methods_bench *b, const row *r, double fixed) {
  const bench_simulated_row *s = &r->simulated;
  bench_table_add(
      b->simulated, s->count == 0 ? s->reason : NULL,
      BENCH_CELLS(bench_text(name_of(r->method)), bench_real(s->median), bench_real(s->least), bench_real(s->most),
                  bench_real(fixed / s->median), bench_real(s->own), bench_real(s->error), bench_real(s->hardware.side),
                  bench_real(s->hardware.scratchpad_kib), bench_real(s->hardware.accumulator_kib),
                  bench_text(s->reason[0] == '\0' ? "" : "  not all ran")));
}

static void add_row(const methods_bench *b, const row *r) {
  const bench_simulated_row *s = &r->simulated;
  const bench_cell none = bench_none(), network = bench_text(r->network);
  if (!b->options->simulate)
    BENCH_ROW(b->rows, network, PLAIN(r));
  else if (s->count > 0)
    BENCH_ROW(b->rows, network, PLAIN(r), SIMULATED(s));
  else
    BENCH_ROW(b->rows, network, PLAIN(r), none, none, none, none, none, none, none);
}

// ---- one network

// The rows of the simulation alone.
static void run_machine(const methods_bench *b, bench_simulated *s) {
  const unsigned arrays = (unsigned)b->options->simulations;
  for (unsigned n = 0; n < b->options->seeds && arrays > 1; n++)
    bench_simulated_search(s, ROW_MACHINE, ROW_MACHINE_SIMULATED, n + 1);
}

static void add_gains(methods_bench *b, const row *r, double fixed) {
  if (!(r->simulated.median > 0)) return;
  wf_summary_add(&b->gain[r->method], fixed / r->simulated.median);
  wf_summary_add(&b->gain_least[r->method], fixed / r->simulated.most);
  wf_summary_add(&b->gain_most[r->method], fixed / r->simulated.least);
}

// What all rows gave on one network, simulated; compared with the best that the default array came to.
static void run_simulated(methods_bench *b, bench_simulated *s, row rows[ROWS]) {
  run_machine(b, s);
  double fixed = INFINITY;
  for (unsigned n = 0; n < ROWS; n++) {
    rows[n].simulated = bench_simulated_row_of(s, n);
    if (is_default((baseline_method)n) && rows[n].simulated.count > 0) fixed = fmin(fixed, rows[n].simulated.least);
  }
  bench_table_heading(b->simulated);
  for (unsigned n = 0; n < ROWS; n++) {
    if (!b->chosen[n]) continue;
    add_simulated(b, &rows[n], fixed);
    add_gains(b, &rows[n], fixed);
  }
}

static void run_methods(methods_bench *b, const layers_network *network, double optimum) {
  row rows[ROWS];
  const descent_goal goal = goal_of(b, network);
  bench_simulated *s = b->means.runs == NULL ? NULL : bench_simulated_create(&goal, &b->means);
  for (unsigned n = 0; n < ROWS; n++) {
    rows[n] = (row){.network = network->name, .method = n, .median = NAN, .least = NAN, .most = NAN, .gap = NAN};
    if (n >= BASELINES || !b->chosen[n]) continue;
    rows[n] = run_method(b, network, (baseline_method)n, optimum, s);
    add_plain(b, &rows[n]);
    wf_summary_add(&b->over[n], rows[n].median / optimum);
  }
  if (s != NULL) {
    run_simulated(b, s, rows);
    bench_simulated_destroy(s);
  }
  for (unsigned n = 0; n < ROWS; n++)
    if (b->chosen[n]) add_row(b, &rows[n]);
  b->networks++;
}

static bool run_network(methods_bench *b, const char *name, wf_diag *diag) {
  layers_network network;
  const bool loaded = layers_load(&network, name, diag);
  if (loaded) {
    const exact_options exact = {.constants = &b->constants};
    exact_result optimum;
    const bool solved = exact_solve(&network, &exact, &optimum);
    const double value = solved ? paper_edp(optimum.cost) : NAN;
    bench_report_say(b->report, "%s: proven optimum %.4e uJ x cycles\n", network.name, value);
    bench_table_heading(b->plain);
    run_methods(b, &network, value);
    exact_release(&optimum);
  }
  layers_release(&network);
  return loaded;
}

// ---- the bench

static bool choose_method(const char *name, bool *chosen, wf_diag *diag) {
  for (int m = 0; m < BASELINES; m++)
    if (strcmp(baseline_names[m], name) == 0) return chosen[m] = true;
  wf_error(diag, (wf_location){0}, "no method is named \"%s\"", name);
  for (int m = 0; m < BASELINES; m++) wf_hint(diag, "%s: %s", baseline_names[m], baseline_texts[m]);
  return false;
}

bool bench_methods_chosen(const char *names, bool *chosen, wf_diag *diag) {
  bool good = true;
  for (unsigned m = 0; m < BASELINES; m++) chosen[m] = names == NULL;
  char *text = wf_strdup(names == NULL ? "" : names), *rest = names == NULL ? NULL : text;
  for (char *name; (name = strsep(&rest, ",")) != NULL;) good = choose_method(name, chosen, diag) && good;
  wf_free(text);
  return good;
}

static bool choose_methods(methods_bench *b, wf_diag *diag) {
  for (unsigned m = BASELINES; m < ROWS; m++) b->chosen[m] = b->options->simulate && b->options->simulations > 1;
  return bench_methods_chosen(b->options->methods, b->chosen, diag);
}

static void say_plain_means(const methods_bench *b) {
  bench_report_say(b->report, "geometric mean of median / optimum over %u networks, %llu seeds, %llu evaluations:\n",
                   b->networks, (unsigned long long)b->options->seeds, (unsigned long long)b->options->budget);
  for (unsigned n = 0; n < BASELINES; n++)
    if (b->chosen[n])
      bench_report_say(b->report, "  %-20s %7.3f  %s\n", name_of(n), wf_summary_geometric(&b->over[n]), text_of(n));
}

static void say_gains(const methods_bench *b) {
  bench_report_say(
      b->report,
      "simulated: how many times better than the best on %s; over %u networks the geometric mean of medians, the\n"
      "least and the most of any seed:\n",
      b->base.name, b->networks);
  for (unsigned n = 0; n < ROWS; n++)
    if (b->chosen[n] && b->gain[n].count > 0)
      bench_report_say(b->report, "  %-20s %7.2f %7.2f %7.2f  %s\n", name_of(n), wf_summary_geometric(&b->gain[n]),
                       b->gain_least[n].least, b->gain_most[n].most, text_of(n));
}

static bool run_networks(methods_bench *b, wf_diag *diag) {
  char *text = wf_strdup(b->options->nets), *rest = text;
  bool good = true;
  for (char *name; good && (name = strsep(&rest, ",")) != NULL;) good = run_network(b, name, diag);
  wf_free(text);
  if (!good) return false;
  say_plain_means(b);
  if (b->means.runs != NULL) say_gains(b);
  return true;
}

static bool run_all(methods_bench *b, wf_diag *diag) {
  const bench_search_options *o = b->options;
  if (o->simulate)
    b->means = (bench_simulated_means){
        .base = &b->base,
        .runs = truth_runs_create((unsigned)o->jobs, (double)o->timeout, sweep_work_measure, NULL),
        .table = predict_table_create((unsigned)o->jobs, false),
        .jobs = (unsigned)o->jobs,
        .simulations = (unsigned)o->simulations,
        .evaluations = o->budget};
  bool good = o->runs == NULL || b->means.runs == NULL || truth_runs_keep(b->means.runs, o->runs, diag);
  if (good) open_tables(b);
  good = good && run_networks(b, diag);
  if (b->means.runs != NULL) {
    truth_runs_destroy(b->means.runs);
    predict_table_destroy(b->means.table);
  }
  return good;
}

bench_end bench_methods(const bench_job *job) {
  methods_bench b = {.options = job->options, .report = job->report};
  paper_constants_named(&b.constants, "dosa");
  if (!choose_methods(&b, job->diag)) return BENCH_BAD_INPUT;
  if (b.options->simulate && !bench_load_array(job, &b.base)) return BENCH_BAD_INPUT;
  return run_all(&b, job->diag) ? BENCH_DONE : BENCH_BAD_INPUT;
}
