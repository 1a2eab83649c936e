// `weft bench model`: the model of the machine against engine cycle, on layers and arrays that it was not fitted to.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/bench_spaces.h"
#include "runner/measure.h"
#include "search/model/fit.h"
#include "search/model/judge.h"

typedef struct bench_options {
  uint64_t samples, seed, fit;
  bool fitting_set, spaces;
  const char *csv;
} bench_options;

typedef struct outcome {
  samples_sample sample;
  machine_prediction model;
  double estimate;  // of the mapper
  run_measured run;
} outcome;

static const char *set_name(const bench_options *o) { return o->fitting_set ? "fit" : "judge"; }

static bool simulate(const samples_sample *s, run_measured *run) {
  FILE *null = fopen("/dev/null", "w");
  if (null == NULL) return false;
  wf_diag diag = wf_diag_to(null);
  const run_measure_request request = {.layer = &s->layer, .array = &s->array, .policy = {.mapping = &s->mapping}};
  *run = run_measure(&request, &diag);
  fclose(null);
  return run->status == RUN_MEASURE_GOOD;
}

// As many as can be simulated; `failed` counts the others.
static size_t run_samples(const cli_common *common, const bench_options *o, samples_source *source, outcome *outcomes,
                          size_t *failed) {
  size_t count = 0;
  for (uint64_t i = 0; i < o->samples; i++) {
    outcome *x = &outcomes[count];
    samples_draw(source, &x->sample);
    const samples_sample *s = &x->sample;
    const map_footprint f = map_measure(&s->layer, &s->mapping, &s->array);
    x->model = machine_predict(&s->layer, &s->mapping, &s->array, &cost_fitted);
    x->estimate = map_estimate(&s->layer, &s->mapping, &s->array, &f, &cost_fitted, INFINITY);
    if (simulate(s, &x->run))
      count++;
    else
      ++*failed;
    if (!common->quiet && (i + 1) % 100 == 0) fprintf(stderr, "%" PRIu64 " of %" PRIu64 "\n", i + 1, o->samples);
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
    pairs[n++].simulated = what == ENERGY ? x->run.energy_pj : (double)x->run.cycles;
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

static void print_rows(const outcome *outcomes, size_t count, FILE *out) {
  fprintf(out, "%-20s %6s %8s %9s %8s %8s %8s %8s %8s\n", "", "count", "pearson", "spearman", "mean %", "median %",
          "p90 %", "max %", "bias %");
  for (size_t i = 0; i < ROWS; i++) {
    const judge_verdict v = judge(outcomes, count, rows[i].what, rows[i].select, rows[i].which);
    fprintf(out, "%-20s %6zu %8.4f %9.4f %8.1f %8.1f %8.1f %8.1f %8.1f\n", rows[i].name, v.count, v.pearson, v.spearman,
            100 * v.mean, 100 * v.median, 100 * v.p90, 100 * v.max, 100 * (exp(v.bias) - 1));
  }
}

static cJSON *rows_json(const outcome *outcomes, size_t count) {
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; i < ROWS; i++) {
    const judge_verdict v = judge(outcomes, count, rows[i].what, rows[i].select, rows[i].which);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "of", rows[i].name);
    cli_json_count(object, "count", v.count);
    cJSON_AddNumberToObject(object, "log_pearson", v.pearson);
    cJSON_AddNumberToObject(object, "spearman", v.spearman);
    cJSON_AddNumberToObject(object, "mean_error", v.mean);
    cJSON_AddNumberToObject(object, "median_error", v.median);
    cJSON_AddNumberToObject(object, "p90_error", v.p90);
    cJSON_AddNumberToObject(object, "max_error", v.max);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static bool write_csv(const char *path, const outcome *outcomes, size_t count, wf_diag *diag) {
  FILE *out = cli_open_output(path, diag);
  if (out == NULL) return false;
  fputs("sample,mapping,kind,dim,bound,predicted_cycles,simulated_cycles,predicted_pj,simulated_pj,estimate\n", out);
  for (size_t i = 0; i < count; i++) {
    const outcome *x = &outcomes[i];
    fprintf(out, "%zu,%s,%s,%u,%s,%.0f,%" PRIu64 ",%.0f,%.0f,%.0f\n", i, x->sample.by_default ? "default" : "random",
            map_kind_names[x->sample.layer.kind], hw_derive(&x->sample.array).dim, machine_bound_names[x->model.bound],
            x->model.cycles, x->run.cycles, x->model.energy_pj, x->run.energy_pj, x->estimate);
  }
  return cli_close(out, path, diag);
}

// ---- whole spaces

static bool judge_spaces(bool prints, cJSON *document, wf_diag *diag) {
  space_verdict *verdicts = WF_NEW_ARRAY(bench_spaces_count(), space_verdict);
  const bool good = bench_spaces(verdicts, diag);
  if (good && prints) bench_spaces_print(verdicts);
  cJSON *list = !good || document == NULL ? NULL : cJSON_AddArrayToObject(document, "spaces");
  for (size_t i = 0; list != NULL && i < bench_spaces_count(); i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "of", verdicts[i].name);
    cli_json_count(object, "mappings", verdicts[i].count);
    cJSON_AddNumberToObject(object, "first", verdicts[i].first);
    cJSON_AddNumberToObject(object, "best_of_ten", verdicts[i].top);
    cJSON_AddNumberToObject(object, "worst", verdicts[i].worst);
    cJSON_AddItemToArray(list, object);
  }
  wf_free(verdicts);
  return good;
}

// ---- fitting

static void fit(const bench_options *o, const outcome *outcomes, size_t count) {
  fit_sample *samples = WF_NEW_ARRAY(count, fit_sample);
  for (size_t i = 0; i < count; i++) samples[i] = (fit_sample){outcomes[i].sample, (double)outcomes[i].run.cycles};
  cost_constants constants = cost_fitted;
  const double before = fit_loss(samples, count, &constants);
  const double after = fit_constants(samples, count, (unsigned)o->fit, &constants);
  printf("loss %.4f before, %.4f after %" PRIu64 " rounds\n", before, after, o->fit);
  cost_print(&constants, COST_MODEL, stdout);
  wf_free(samples);
}

static cJSON *document_of(const bench_options *o, const outcome *outcomes, size_t count, size_t failed) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "bench", "model");
  cJSON_AddStringToObject(document, "set", set_name(o));
  cli_json_count(document, "samples", count);
  cli_json_count(document, "failed", failed);
  cli_json_count(document, "seed", o->seed);
  cJSON_AddItemToObject(document, "rows", rows_json(outcomes, count));
  return document;
}

static int report(const cli_common *common, const bench_options *o, const outcome *outcomes, size_t count,
                  size_t failed, wf_diag *diag) {
  const bool prints = !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0);
  if (prints) {
    printf("%zu samples of set %s, seed %" PRIu64 "; %zu could not be compiled or run\n", count, set_name(o), o->seed,
           failed);
    print_rows(outcomes, count, stdout);
  }
  if (o->csv != NULL && !write_csv(o->csv, outcomes, count, diag)) return CLI_BAD_INPUT;
  if (o->fit > 0 && count > 0) fit(o, outcomes, count);
  cJSON *document = common->json == NULL ? NULL : document_of(o, outcomes, count, failed);
  bool good = !o->spaces || judge_spaces(prints, document, diag);
  if (!good) cJSON_Delete(document);
  if (good && document != NULL) good = cli_write_json(common->json, document, diag);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

int cli_bench_model(int argc, char **argv) {
  bench_options options = {.samples = 400, .seed = 1};
  const cli_option table[] = {
      {"samples", CLI_OPTION_COUNT, &options.samples, "N", "how many (default 400)"},
      {"seed", CLI_OPTION_COUNT, &options.seed, "N", "of the samples (default 1)"},
      {"fitting-set", CLI_OPTION_FLAG, &options.fitting_set, NULL, "the samples that the constants are fitted to"},
      {"fit", CLI_OPTION_COUNT, &options.fit, "ROUNDS", "fit the constants to these samples and print them"},
      {"spaces", CLI_OPTION_FLAG, &options.spaces, NULL,
       "small spaces, simulated whole, and whether the best is among the model's first ten"},
      {"csv", CLI_OPTION_TEXT, &options.csv, "FILE|-", "write the samples"},
  };
  const cli_usage usage = {
      .verb = "bench model",
      .synopsis = "",
      .text =
          "Predicts cycles and energy of layers with random and default mappings on random arrays, simulates the\n"
          "compiled layers on engine cycle, and prints how well the two agree.",
      .options = table,
      .option_count = sizeof table / sizeof table[0]};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (options.samples == 0 || options.samples > 100000) {
    fputs("weft: error: --samples is 1 to 100000\n  hint: weft bench model --help\n", stderr);
    return CLI_USAGE;
  }
  wf_diag diag = wf_diag_to(stderr);
  samples_source source;
  code = CLI_BAD_INPUT;
  if (samples_open(&source, options.fitting_set ? SAMPLES_FIT : SAMPLES_JUDGE, options.seed, &diag)) {
    outcome *outcomes = WF_NEW_ARRAY(options.samples, outcome);
    size_t failed = 0;
    const size_t count = run_samples(&common, &options, &source, outcomes, &failed);
    code = report(&common, &options, outcomes, count, failed, &diag);
    wf_free(outcomes);
  }
  samples_close(&source);
  return code;
}
