// SPDX-License-Identifier: Apache-2.0
// See search_codesign.h.
#include "cli/search_codesign.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "cli/search_descent.h"
#include "search/layers/network.h"

enum { NETWORKS_MAX = 64 };

const wf_option search_space_rows[] = {
    {"space", WF_TEXT(search_space_options, space), "FILE",
     "search all parameters that the space leaves open, all networks together; default is the shipped one"},
    {"method", WF_TEXT(search_space_options, method), "NAME",
     "--space: who proposes points: gradient (default), neighbours, evolution, random"},
    {"weights", WF_TEXT(search_space_options, weights), "N,..", "--space: of the networks, in their order (default 1)"},
    {"pareto", WF_TEXT(search_space_options, front), "WHAT", "--space: a front of the objective and this one"},
    {"max-latency", WF_TEXT(search_space_options, latency), "MS", "--space: the longest time of all networks together"},
};

typedef struct job {
  codesign_options options;
  codesign_space space;
  layers_network tables[NETWORKS_MAX];
  codesign_network networks[NETWORKS_MAX];
  size_t count;
} job;

static void print_progress(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "weft: %s\n", text);
}

static cli_exit usage_error(const char *text) {
  fprintf(stderr, "weft: error: %s\n  hint: weft search --help\n", text);
  return CLI_USAGE;
}

// "2,1": a weight for each network.
static bool read_weights(const char *text, codesign_network *networks, size_t count) {
  for (size_t n = 0; n < count; n++) networks[n].weight = 1;
  if (text == NULL) return true;
  for (size_t n = 0; n < count; n++) {
    char *end;
    networks[n].weight = strtod(text, &end);
    if (end == text || !isfinite(networks[n].weight) || networks[n].weight <= 0) return false;
    if (*end != (n + 1 < count ? ',' : '\0')) return false;
    text = end + 1;
  }
  return true;
}

// Simulations, or "60s".
static bool read_budget(const char *text, codesign_options *o) {
  char *end;
  o->simulations = 40;
  if (text == NULL) return true;
  if (!isdigit((unsigned char)*text)) return false;
  const double value = strtod(text, &end);
  if (!isfinite(value) || value <= 0) return false;
  o->simulations = *end == '\0' ? value : 0;
  o->seconds = strcmp(end, "s") == 0 ? value : 0;
  return o->simulations > 0 || o->seconds > 0;
}

// NULL, or what is wrong.
static const char *read_options(const search_space_options *s, const search_space_shared *shared, job *j) {
  codesign_options *o = &j->options;
  if (shared->objective != NULL && !codesign_objective_named(shared->objective, &o->objective))
    return "--objective with --space is edap, edp, latency, energy, area or throughput-per-mm2";
  o->front = s->front != NULL;
  if (o->front && !codesign_objective_named(s->front, &o->second))
    return "--pareto is edap, edp, latency, energy, area or throughput-per-mm2";
  if (o->front && o->second == o->objective) return "--pareto is another than --objective";
  if (s->method != NULL && !codesign_method_named(s->method, &o->method))
    return "--method is gradient, neighbours, evolution or random";
  if (!search_parse_positive(shared->area, &o->bounds.area_mm2) ||
      !search_parse_positive(shared->power, &o->bounds.power_mw) ||
      !search_parse_positive(s->latency, &o->bounds.latency_ms))
    return "--max-area, --max-power and --max-latency take numbers above 0";
  if (!read_budget(shared->budget, o)) return "--budget takes a number of simulations, or seconds as 60s";
  return read_weights(s->weights, j->networks, j->count) ? NULL : "--weights takes a number above 0 for each network";
}

// ---- files

static bool write_file(const codesign_answer *a, const char *directory, const char *name,
                       void (*print)(const codesign_answer *a, FILE *out), wf_diag *diag) {
  char *path = wf_format("%s/%s", directory, name);
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) print(a, out);
  const bool good = out != NULL && cli_close(out, path, diag);
  wf_free(path);
  return good;
}

static void print_array(const codesign_answer *a, FILE *out) {
  hw_array array = a->result->sites[a->result->best].array;
  snprintf(array.name, sizeof array.name, "found");
  hw_array_print(&array, out);
}

static bool write_mapping(const codesign_answer *a, const char *folder, size_t layer, wf_diag *diag) {
  const codesign_site *best = &a->result->sites[a->result->best];
  char *name = wf_name_file(a->result->layers[layer].name), *path = wf_format("%s/%s.map", folder, name);
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) map_print(&best->mappings[layer], out);
  const bool good = out != NULL && cli_close(out, path, diag);
  wf_free(name);
  wf_free(path);
  return good;
}

// Mappings that are not the mapper's own: the others follow from the array.
static bool write_mappings(const codesign_answer *a, const char *directory, wf_diag *diag) {
  char *folder = wf_format("%s/mappings", directory);
  bool good = cli_make_directory(folder, diag);
  for (size_t i = 0; i < a->result->layer_count && good; i++)
    if (a->result->sites[a->result->best].mapped[i]) good = write_mapping(a, folder, i, diag);
  wf_free(folder);
  return good;
}

static bool write_all(const codesign_answer *a, const char *directory, wf_diag *diag) {
  if (directory == NULL) return true;
  char *json = wf_format("%s/result.json", directory);
  const bool good = write_file(a, directory, "array.yaml", print_array, diag) &&
                    write_file(a, directory, "report.txt", codesign_answer_print, diag) &&
                    write_file(a, directory, "trace.csv", codesign_answer_trace, diag) &&
                    write_mappings(a, directory, diag) && cli_write_json(json, codesign_answer_json(a), diag);
  wf_free(json);
  return good;
}

// ----

static cli_exit search(job *j, const search_space_shared *shared, const cli_common *common, wf_diag *diag) {
  codesign_result result;
  cli_exit code = CLI_CANNOT_BUILD;
  if (codesign_search(&j->options, &result, diag)) {
    const codesign_answer answer = {.options = &j->options, .result = &result};
    if (cli_prints(common)) codesign_answer_print(&answer, stdout);
    code = write_all(&answer, shared->directory, diag) &&
                   (common->json == NULL || cli_write_json(common->json, codesign_answer_json(&answer), diag))
               ? CLI_OK
               : CLI_BAD_INPUT;
  }
  codesign_release(&result);
  return code;
}

static bool load(job *j, const search_space_options *options, const search_space_shared *shared, int count,
                 char **names, wf_diag *diag) {
  bool good = codesign_space_load(&j->space, options->space, diag);
  for (int n = 0; n < count; n++) {
    layers_network *table = &j->tables[n];
    const bool loaded = layers_load_network(table, names[n], shared->file, diag);
    if (loaded && table->count == 0) wf_error(diag, wf_in_file(names[n]), "no layer of this network runs on the array");
    good = loaded && table->count > 0 && good;
    j->networks[n].table = table;
  }
  return good;
}

cli_exit search_by_space(const search_space_options *options, const search_space_shared *shared,
                         const cli_common *common, int count, char **names, wf_diag *diag) {
  job *j = WF_NEW(job);
  j->count = (size_t)count;
  j->options = (codesign_options){.space = &j->space,
                                  .networks = j->networks,
                                  .network_count = (size_t)count,
                                  .seed = shared->seed,
                                  .jobs = (unsigned)shared->threads,
                                  .tech = common->has_tech ? &common->tech : NULL,
                                  .progress = common->quiet ? NULL : print_progress};
  const char *wrong = read_options(options, shared, j);
  cli_exit code = CLI_BAD_INPUT;
  if (wrong != NULL)
    code = usage_error(wrong);
  else if (load(j, options, shared, count, names, diag))
    code = search(j, shared, common, diag);
  for (int n = 0; n < count && wrong == NULL; n++) layers_release(&j->tables[n]);
  codesign_space_release(&j->space);
  wf_free(j);
  return code;
}
