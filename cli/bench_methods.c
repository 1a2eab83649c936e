// Methods of search against each other: the same networks, model and number of evaluations, several seeds, and the
// proven optimum beside them; with --simulate what they propose runs on the cycle engine.
#include "cli/bench_methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/bench_simulated.h"
#include "search/baselines/baselines.h"
#include "search/exact/exact.h"

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

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
  simulated_row simulated;
} row;

typedef struct bench {
  const bench_methods_options *options;
  bool print;
  paper_constants constants;
  bool chosen[ROWS];
  FILE *csv;
  cJSON *rows;
  hw_array base;
  simulated_means means;  // runs NULL: nothing is simulated
} bench;

// Over the networks: logarithms of figures over those that they are compared with.
typedef struct means {
  double plain[ROWS];                                    // median over optimum
  double gain[ROWS], gain_least[ROWS], gain_most[ROWS];  // the best on the default array over median; of all seeds
  unsigned networks, simulated[ROWS];
} means;

// ---- one method

static bool is_default(baseline_method method) {
  return method == BASELINE_default_heuristic || method == BASELINE_default_tuned;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static descent_goal goal_of(const bench *b, const layers_network *network) {
  return (descent_goal){.network = network,
                        .constants = &b->constants,
                        .limits = {.side_max = 128, .scratchpad_kib_max = 2048, .accumulator_kib_max = 2048}};
}

static row run_method(const bench *b, const layers_network *network, baseline_method method, double optimum,
                      simulated *designs) {
  const size_t seeds = (size_t)b->options->seeds;
  double *values = WF_NEW_ARRAY(seeds, double);
  row r = {.network = network->name, .method = method, .least = INFINITY};
  double searched = 0;
  for (size_t n = 0; n < seeds; n++) {
    const double start = processor_seconds();
    const baseline_options o = {.goal = goal_of(b, network), .seed = n + 1, .max_evaluations = b->options->budget};
    baseline_result found;
    baseline_run(method, &o, &found);
    values[n] = found.value;
    r.evaluations += (double)found.evaluations / (double)seeds;
    if (found.value < r.least) {
      r.least = found.value;
      r.hardware = found.hardware;
    }
    searched += processor_seconds() - start;
    if (designs != NULL) simulated_add(designs, method, &found, is_default(method));
    baseline_release(&found);
  }
  r.seconds = searched / (double)seeds;
  qsort(values, seeds, sizeof *values, by_size);
  r.median = seeds % 2 == 1 ? values[seeds / 2] : (values[seeds / 2 - 1] + values[seeds / 2]) / 2;
  r.most = values[seeds - 1];
  r.gap = 100 * (r.median / optimum - 1);
  wf_free(values);
  return r;
}

// ---- tables

static void print_simulated(const bench *b, const row *r, double fixed) {
  const simulated_row *s = &r->simulated;
  if (b->print && s->count == 0) printf("  %-20s %s\n", name_of(r->method), s->reason);
  if (b->print && s->count > 0)
    printf("  %-20s %11.4e %11.4e %11.4e %7.2f %6.0f %7.0f %5g %6g %6g%s\n", name_of(r->method), s->median, s->least,
           s->most, fixed / s->median, 100 * s->own, 100 * s->error, s->hardware.side, s->hardware.scratchpad_kib,
           s->hardware.accumulator_kib, s->reason[0] == '\0' ? "" : "  not all ran");
  fflush(stdout);
}

static void print_row(const bench *b, const row *r) {
  if (b->print) {
    printf("  %-20s %11.4e %8.1f %% %11.4e %11.4e %5g %6g %6g %9.0f %7.2f\n", name_of(r->method), r->median, r->gap,
           r->least, r->most, r->hardware.side, r->hardware.scratchpad_kib, r->hardware.accumulator_kib, r->evaluations,
           r->seconds);
    fflush(stdout);
  }
}

static void write_row(const bench *b, const row *r) {
  if (b->csv == NULL) return;
  fprintf(b->csv, "%s,%s,%.8e,%.4f,%.8e,%.8e,%g,%g,%g,%.0f,%.3f", r->network, name_of(r->method), r->median, r->gap,
          r->least, r->most, r->hardware.side, r->hardware.scratchpad_kib, r->hardware.accumulator_kib, r->evaluations,
          r->seconds);
  const simulated_row *s = &r->simulated;
  if (b->means.runs != NULL)
    fprintf(b->csv, ",%.8e,%.8e,%.8e,%g,%g,%g,%.3f", s->median, s->least, s->most, s->hardware.side,
            s->hardware.scratchpad_kib, s->hardware.accumulator_kib, s->own);
  fputc('\n', b->csv);
}

static void add_simulated_json(const simulated_row *s, cJSON *object) {
  if (s->count == 0) return;
  cJSON_AddNumberToObject(object, "simulated_edp_median", s->median);
  cJSON_AddNumberToObject(object, "simulated_edp_min", s->least);
  cJSON_AddNumberToObject(object, "simulated_edp_max", s->most);
  cJSON_AddNumberToObject(object, "simulated_side", s->hardware.side);
  cJSON_AddNumberToObject(object, "simulated_scratchpad_kib", s->hardware.scratchpad_kib);
  cJSON_AddNumberToObject(object, "simulated_accumulator_kib", s->hardware.accumulator_kib);
  cJSON_AddNumberToObject(object, "own_mappings", s->own);
}

static void add_json(const bench *b, const row *r) {
  if (b->rows == NULL) return;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", r->network);
  cJSON_AddStringToObject(object, "method", name_of(r->method));
  cJSON_AddNumberToObject(object, "edp_median", r->median);
  cJSON_AddNumberToObject(object, "gap_percent", r->gap);
  cJSON_AddNumberToObject(object, "edp_min", r->least);
  cJSON_AddNumberToObject(object, "edp_max", r->most);
  cJSON_AddNumberToObject(object, "side", r->hardware.side);
  cJSON_AddNumberToObject(object, "scratchpad_kib", r->hardware.scratchpad_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", r->hardware.accumulator_kib);
  cJSON_AddNumberToObject(object, "evaluations", r->evaluations);
  cJSON_AddNumberToObject(object, "seconds", r->seconds);
  add_simulated_json(&r->simulated, object);
  cJSON_AddItemToArray(b->rows, object);
}

// The rows of the simulation alone.
static void simulate_machine(const bench *b, simulated *s) {
  const unsigned arrays = (unsigned)b->options->simulations;
  for (unsigned n = 0; n < b->options->seeds && arrays > 1; n++)
    simulated_search(s, ROW_MACHINE, ROW_MACHINE_SIMULATED, n + 1);
}

static void add_gains(means *m, const row *r, double fixed) {
  if (!(r->simulated.median > 0)) return;
  const double least = log(fixed / r->simulated.most), most = log(fixed / r->simulated.least);
  m->gain[r->method] += log(fixed / r->simulated.median);
  m->gain_least[r->method] = m->simulated[r->method] == 0 ? least : fmin(m->gain_least[r->method], least);
  m->gain_most[r->method] = m->simulated[r->method] == 0 ? most : fmax(m->gain_most[r->method], most);
  m->simulated[r->method]++;
}

// What all rows gave on one network, simulated; compared with the best that the default array came to.
static void run_simulated(const bench *b, simulated *s, row rows[ROWS], means *m) {
  simulate_machine(b, s);
  double fixed = INFINITY;
  for (unsigned n = 0; n < ROWS; n++) {
    rows[n].simulated = simulated_row_of(s, n);
    if (is_default((baseline_method)n) && rows[n].simulated.count > 0) fixed = fmin(fixed, rows[n].simulated.least);
  }
  if (b->print)
    printf("  %-20s %11s %11s %11s %7s %6s %7s %5s %6s %6s\n", "simulated", "median", "min", "max", "gain", "own %",
           "error %", "side", "spad", "acc");
  for (unsigned n = 0; n < ROWS; n++) {
    if (!b->chosen[n]) continue;
    print_simulated(b, &rows[n], fixed);
    add_gains(m, &rows[n], fixed);
  }
}

static void run_methods(const bench *b, const layers_network *network, double optimum, means *m) {
  row rows[ROWS];
  const descent_goal goal = goal_of(b, network);
  simulated *s = b->means.runs == NULL ? NULL : simulated_create(&goal, &b->means);
  for (unsigned n = 0; n < ROWS; n++) {
    rows[n] = (row){.network = network->name, .method = n, .median = NAN, .least = NAN, .most = NAN, .gap = NAN};
    if (n >= BASELINES || !b->chosen[n]) continue;
    rows[n] = run_method(b, network, (baseline_method)n, optimum, s);
    print_row(b, &rows[n]);
    m->plain[n] += log(rows[n].median / optimum);
  }
  if (s != NULL) {
    run_simulated(b, s, rows, m);
    simulated_destroy(s);
  }
  for (unsigned n = 0; n < ROWS; n++) {
    if (!b->chosen[n]) continue;
    write_row(b, &rows[n]);
    add_json(b, &rows[n]);
  }
  m->networks++;
}

static bool simulate_network(const bench *b, const char *name, means *m, wf_diag *diag) {
  layers_network network;
  const bool loaded = layers_load(&network, name, diag);
  if (loaded) {
    const exact_options exact = {.constants = &b->constants};
    exact_result optimum;
    const bool solved = exact_solve(&network, &exact, &optimum);
    const double value = solved ? paper_edp(optimum.cost) : NAN;
    if (b->print)
      printf("%s: proven optimum %.4e uJ x cycles\n  %-20s %11s %10s %11s %11s %5s %6s %6s %9s %7s\n", network.name,
             value, "method", "median", "gap", "min", "max", "side", "spad", "acc", "evals", "cpu s");
    run_methods(b, &network, value, m);
    exact_release(&optimum);
  }
  layers_release(&network);
  return loaded;
}

// ---- the bench

static bool choose_methods(bench *b, wf_diag *diag) {
  if (b->options->methods == NULL) {
    for (int m = 0; m < BASELINES; m++) b->chosen[m] = true;
    return true;
  }
  char *text = wf_strdup(b->options->methods), *rest = text;
  bool good = true;
  for (char *name; (name = strsep(&rest, ",")) != NULL;) {
    int m = 0;
    while (m < BASELINES && strcmp(baseline_names[m], name) != 0) m++;
    if (m < BASELINES) {
      b->chosen[m] = true;
      continue;
    }
    wf_error(diag, (wf_location){0}, "no method is named \"%s\"", name);
    for (int k = 0; k < BASELINES; k++) wf_hint(diag, "%s: %s", baseline_names[k], baseline_texts[k]);
    good = false;
  }
  wf_free(text);
  return good;
}

static void print_plain_means(const bench *b, const means *m) {
  printf("geometric mean of median / optimum over %u networks, %llu seeds, %llu evaluations:\n", m->networks,
         (unsigned long long)b->options->seeds, (unsigned long long)b->options->budget);
  for (unsigned n = 0; n < BASELINES; n++)
    if (b->chosen[n]) printf("  %-20s %7.3f  %s\n", name_of(n), exp(m->plain[n] / m->networks), text_of(n));
}

static void print_gains(const bench *b, const means *m) {
  printf(
      "simulated: how many times better than the best on %s; over %u networks the geometric mean of medians, the\n"
      "least and the most of any seed:\n",
      b->base.name, m->networks);
  for (unsigned n = 0; n < ROWS; n++)
    if (b->chosen[n] && m->simulated[n] > 0)
      printf("  %-20s %7.2f %7.2f %7.2f  %s\n", name_of(n), exp(m->gain[n] / m->simulated[n]), exp(m->gain_least[n]),
             exp(m->gain_most[n]), text_of(n));
}

static bool run_networks(const bench *b, wf_diag *diag) {
  char *text = wf_strdup(b->options->nets), *rest = text;
  means m = {0};
  bool good = true;
  for (char *name; good && (name = strsep(&rest, ",")) != NULL;) good = simulate_network(b, name, &m, diag);
  wf_free(text);
  if (!good || !b->print) return good;
  print_plain_means(b, &m);
  if (b->means.runs != NULL) print_gains(b, &m);
  return true;
}

int bench_methods(const cli_common *common, const bench_methods_options *options, wf_diag *diag) {
  bench b = {.options = options, .print = !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0)};
  paper_constants_named(&b.constants, "dosa");
  if (!choose_methods(&b, diag)) return CLI_BAD_INPUT;
  if (options->simulate) {
    if (!cli_load_array(common, &b.base, diag)) return CLI_BAD_INPUT;
    for (unsigned n = BASELINES; n < ROWS; n++) b.chosen[n] = options->simulations > 1;
  }
  if (options->csv != NULL && (b.csv = cli_open_output(options->csv, diag)) == NULL) return CLI_BAD_INPUT;
  if (b.csv != NULL)
    fprintf(b.csv,
            "network,method,edp_median,gap_percent,edp_min,edp_max,side,scratchpad_kib,accumulator_kib,evaluations,"
            "seconds%s\n",
            options->simulate ? ",simulated_edp_median,simulated_edp_min,simulated_edp_max,simulated_side,"
                                "simulated_scratchpad_kib,simulated_accumulator_kib,own_mappings"
                              : "");
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateObject();
  if (document != NULL) {
    cJSON_AddStringToObject(document, "bench", "search");
    cli_json_count(document, "seeds", options->seeds);
    cli_json_count(document, "budget", options->budget);
    b.rows = cJSON_AddArrayToObject(document, "rows");
  }
  if (options->simulate)
    b.means = (simulated_means){
        .base = &b.base,
        .runs = truth_runs_create((unsigned)options->jobs, (double)options->timeout, sweep_work_measure),
        .table = predict_table_create((unsigned)options->jobs),
        .jobs = (unsigned)options->jobs,
        .simulations = (unsigned)options->simulations,
        .evaluations = options->budget};
  bool good = options->runs == NULL || b.means.runs == NULL || truth_runs_keep(b.means.runs, options->runs, diag);
  good = good && run_networks(&b, diag);
  if (b.means.runs != NULL) {
    truth_runs_destroy(b.means.runs);
    predict_table_destroy(b.means.table);
  }
  if (b.csv != NULL) good = cli_close(b.csv, options->csv, diag) && good;
  if (document != NULL && !good) cJSON_Delete(document);
  if (document != NULL && good) good = cli_write_json(common->json, document, diag);
  return good ? CLI_OK : CLI_BAD_INPUT;
}
