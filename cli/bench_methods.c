// Methods of search against each other: the same networks, model and number of evaluations, several seeds, and the
// proven optimum beside them.
#include "cli/bench_methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hw/base/alloc.h"
#include "search/baselines/baselines.h"
#include "search/exact/exact.h"

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

// What the seeds of one method gave on one network.
typedef struct row {
  const char *network;
  baseline_method method;
  double least, median, most;
  double gap;                   // of the median over the optimum, in percent
  paper_hardware hardware;      // of the least
  double evaluations, seconds;  // means
} row;

typedef struct bench {
  const bench_methods_options *options;
  bool print;
  paper_constants constants;
  bool chosen[BASELINES];
  FILE *csv;
  cJSON *rows;
} bench;

// ---- one method

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static row run_method(const bench *b, const layers_network *network, baseline_method method, double optimum) {
  const size_t seeds = (size_t)b->options->seeds;
  double *values = WF_NEW_ARRAY(seeds, double);
  row r = {.network = network->name, .method = method, .least = INFINITY};
  const double start = processor_seconds();
  for (size_t n = 0; n < seeds; n++) {
    const baseline_options o = {
        .goal = {.network = network,
                 .constants = &b->constants,
                 .limits = {.side_max = 128, .scratchpad_kib_max = 2048, .accumulator_kib_max = 2048}},
        .seed = n + 1,
        .max_evaluations = b->options->budget};
    baseline_result found;
    baseline_run(method, &o, &found);
    values[n] = found.value;
    r.evaluations += (double)found.evaluations / (double)seeds;
    if (found.value < r.least) {
      r.least = found.value;
      r.hardware = found.hardware;
    }
    baseline_release(&found);
  }
  r.seconds = (processor_seconds() - start) / (double)seeds;
  qsort(values, seeds, sizeof *values, by_size);
  r.median = seeds % 2 == 1 ? values[seeds / 2] : (values[seeds / 2 - 1] + values[seeds / 2]) / 2;
  r.most = values[seeds - 1];
  r.gap = 100 * (r.median / optimum - 1);
  wf_free(values);
  return r;
}

// ---- tables

static void print_row(const bench *b, const row *r) {
  if (b->print) {
    printf("  %-20s %11.4e %8.1f %% %11.4e %11.4e %5g %6g %6g %9.0f %7.2f\n", baseline_names[r->method], r->median,
           r->gap, r->least, r->most, r->hardware.side, r->hardware.scratchpad_kib, r->hardware.accumulator_kib,
           r->evaluations, r->seconds);
    fflush(stdout);
  }
  if (b->csv != NULL)
    fprintf(b->csv, "%s,%s,%.8e,%.4f,%.8e,%.8e,%g,%g,%g,%.0f,%.3f\n", r->network, baseline_names[r->method], r->median,
            r->gap, r->least, r->most, r->hardware.side, r->hardware.scratchpad_kib, r->hardware.accumulator_kib,
            r->evaluations, r->seconds);
}

static void add_json(const bench *b, const row *r) {
  if (b->rows == NULL) return;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", r->network);
  cJSON_AddStringToObject(object, "method", baseline_names[r->method]);
  cJSON_AddNumberToObject(object, "edp_median", r->median);
  cJSON_AddNumberToObject(object, "gap_percent", r->gap);
  cJSON_AddNumberToObject(object, "edp_min", r->least);
  cJSON_AddNumberToObject(object, "edp_max", r->most);
  cJSON_AddNumberToObject(object, "side", r->hardware.side);
  cJSON_AddNumberToObject(object, "scratchpad_kib", r->hardware.scratchpad_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", r->hardware.accumulator_kib);
  cJSON_AddNumberToObject(object, "evaluations", r->evaluations);
  cJSON_AddNumberToObject(object, "seconds", r->seconds);
  cJSON_AddItemToArray(b->rows, object);
}

static bool run_network(const bench *b, const char *name, double products[BASELINES], wf_diag *diag) {
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
    for (int m = 0; m < BASELINES; m++) {
      if (!b->chosen[m]) continue;
      const row r = run_method(b, &network, (baseline_method)m, value);
      print_row(b, &r);
      add_json(b, &r);
      products[m] += log(r.median / value);
    }
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

static bool run_networks(const bench *b, wf_diag *diag) {
  char *text = wf_strdup(b->options->nets), *rest = text;
  double products[BASELINES] = {0};
  unsigned count = 0;
  bool good = true;
  for (char *name; good && (name = strsep(&rest, ",")) != NULL; count++) good = run_network(b, name, products, diag);
  wf_free(text);
  if (!good || !b->print) return good;
  printf("geometric mean of median / optimum over %u networks, %llu seeds, %llu evaluations:\n", count,
         (unsigned long long)b->options->seeds, (unsigned long long)b->options->budget);
  for (int m = 0; m < BASELINES; m++)
    if (b->chosen[m]) printf("  %-20s %7.3f  %s\n", baseline_names[m], exp(products[m] / count), baseline_texts[m]);
  return true;
}

int bench_methods(const cli_common *common, const bench_methods_options *options, wf_diag *diag) {
  bench b = {.options = options, .print = !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0)};
  paper_constants_named(&b.constants, "dosa");
  if (!choose_methods(&b, diag)) return CLI_BAD_INPUT;
  if (options->csv != NULL && (b.csv = cli_open_output(options->csv, diag)) == NULL) return CLI_BAD_INPUT;
  if (b.csv != NULL)
    fprintf(b.csv,
            "network,method,edp_median,gap_percent,edp_min,edp_max,side,scratchpad_kib,accumulator_kib,evaluations,"
            "seconds\n");
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateObject();
  if (document != NULL) {
    cJSON_AddStringToObject(document, "bench", "search");
    cli_json_count(document, "seeds", options->seeds);
    cli_json_count(document, "budget", options->budget);
    b.rows = cJSON_AddArrayToObject(document, "rows");
  }
  bool good = run_networks(&b, diag);
  if (b.csv != NULL) good = cli_close(b.csv, options->csv, diag) && good;
  if (document != NULL && !good) cJSON_Delete(document);
  if (document != NULL && good) good = cli_write_json(common->json, document, diag);
  return good ? CLI_OK : CLI_BAD_INPUT;
}
