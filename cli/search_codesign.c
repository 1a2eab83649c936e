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
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/network.h"
#include "search/truth/program.h"

enum { NETWORKS_MAX = 64, CHECKED_MAX = 1000 };

const wf_option search_space_rows[] = {
    {"space", WF_TEXT(search_space_options, space), "FILE",
     "search all parameters that the space leaves open, all networks together; default is the shipped one"},
    {"method", WF_TEXT(search_space_options, method), "NAME",
     "--space: who proposes points: gradient (default), machine, neighbours, evolution, random"},
    {"weights", WF_TEXT(search_space_options, weights), "N,..", "--space: of the networks, in their order (default 1)"},
    {"pareto", WF_TEXT(search_space_options, front), "WHAT", "--space: a front of the objective and this one"},
    {"max-latency", WF_TEXT(search_space_options, latency), "MS", "--space: the longest time of all networks together"},
    {"check-rtl", WF_POSITIVE(search_space_options, check_rtl), "N",
     "--space: build the answer's hardware with Verilator and compare the cycles of N layers"},
};

typedef struct job {
  codesign_options options;
  codesign_space space;
  layers_network tables[NETWORKS_MAX];
  layers_program programs[NETWORKS_MAX];
  codesign_whole wholes[NETWORKS_MAX];
  network_mappings mappings[NETWORKS_MAX];  // of these
  codesign_network networks[NETWORKS_MAX];
  size_t count;
  unsigned checked;  // layers that the hardware of the answer runs
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
    return "--method is gradient, machine, neighbours, evolution or random";
  if (!search_parse_positive(shared->area, &o->bounds.area_mm2) ||
      !search_parse_positive(shared->power, &o->bounds.power_mw) ||
      !search_parse_positive(s->latency, &o->bounds.latency_ms))
    return "--max-area, --max-power and --max-latency take numbers above 0";
  if (s->check_rtl > CHECKED_MAX) return "--check-rtl takes at most 1000 layers";
  j->checked = (unsigned)s->check_rtl;
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

static bool write_maps(const codesign_answer *a, const network_mappings *mappings, const char *directory,
                       wf_diag *diag) {
  bool good = true;
  for (size_t n = 0; n < a->options->network_count && good; n++) {
    if (!a->wholes[n].known) continue;
    char *name = wf_name_file(a->options->networks[n].table->name), *path = wf_format("%s/%s.maps", directory, name);
    FILE *out = cli_open_output(path, diag);
    if (out != NULL) network_mappings_print(&mappings[n], out);
    good = out != NULL && cli_close(out, path, diag);
    wf_free(name);
    wf_free(path);
  }
  return good;
}

static bool write_all(const codesign_answer *a, const network_mappings *mappings, const char *directory,
                      wf_diag *diag) {
  if (directory == NULL) return true;
  char *json = wf_format("%s/result.json", directory);
  const bool good = write_file(a, directory, "array.yaml", print_array, diag) &&
                    write_file(a, directory, "report.txt", codesign_answer_print, diag) &&
                    write_file(a, directory, "trace.csv", codesign_answer_trace, diag) &&
                    write_mappings(a, directory, diag) && write_maps(a, mappings, directory, diag) &&
                    cli_write_json(json, codesign_answer_json(a), diag);
  wf_free(json);
  return good;
}

// ---- whole networks

static double whole_value(const void *context, truth_program_cost cost) {
  const job *j = context;
  const codesign_cost as = {.cycles = cost.cycles, .ms = cost.cycles, .energy_uj = cost.energy_uj, .area_mm2 = 1};
  return codesign_value(j->options.objective, as);
}

static size_t place_of(const codesign_result *r, const layers_layer *layer) {
  const map_layer map = layers_to_map(layer);
  size_t i = 0;
  while (map_layer_hash(&r->layers[i].layer) != map_layer_hash(&map)) i++;
  return i;
}

// Every step of a network on the array of the answer.
static bool run_whole(job *j, const codesign_result *r, size_t which, wf_diag *diag) {
  const layers_network *table = &j->tables[which];
  const codesign_site *best = &r->sites[r->best];
  map_mapping *mappings = WF_NEW_ARRAY(table->count + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(table->count + 1, bool);
  for (size_t i = 0; i < table->count; i++) {
    const size_t place = place_of(r, &table->layers[i]);
    mapped[i] = best->mapped[place];
    mappings[i] = best->mappings[place];
  }
  const truth_program_found found = {.program = &j->programs[which],
                                     .table = table,
                                     .array = &best->array,
                                     .mappings = mappings,
                                     .mapped = mapped,
                                     .value = whole_value,
                                     .context = j};
  truth_program_cost cost;
  const bool good = truth_run_found(&found, &cost, &j->mappings[which], diag);
  if (good)
    j->wholes[which] = (codesign_whole){
        .known = true, .cycles = cost.cycles, .energy_uj = cost.energy_uj, .mappings = j->mappings[which].count};
  wf_free(mappings);
  wf_free(mapped);
  return good;
}

static bool run_wholes(job *j, const codesign_result *r, wf_diag *diag) {
  bool good = true;
  for (size_t n = 0; n < j->count && good; n++)
    if (j->programs[n].placed != NULL) good = run_whole(j, r, n, diag);
  return good;
}

// ----

// The answer as far as it is known: without the hardware where that could not be built.
static cli_exit give(const job *j, const codesign_answer *answer, const search_space_shared *shared,
                     const cli_common *common, wf_diag *diag) {
  if (cli_prints(common)) codesign_answer_print(answer, stdout);
  const bool good = write_all(answer, j->mappings, shared->directory, diag) &&
                    (common->json == NULL || cli_write_json(common->json, codesign_answer_json(answer), diag));
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit answer(const job *j, const codesign_result *r, const search_space_shared *shared,
                       const cli_common *common, wf_diag *diag) {
  enum { COMPILERS = 2 };
  codesign_hardware hardware = {0};
  const bool checked =
      j->checked > 0 && codesign_hardware_check(r, j->checked, COMPILERS, common->quiet, &hardware, diag);
  const codesign_answer all = {
      .options = &j->options, .result = r, .wholes = j->wholes, .hardware = checked ? &hardware : NULL};
  cli_exit code = give(j, &all, shared, common, diag);
  if (code == CLI_OK && j->checked > 0)
    code = !checked ? CLI_CANNOT_BUILD : codesign_hardware_agrees(&hardware) ? CLI_OK : CLI_MISMATCH;
  codesign_hardware_release(&hardware);
  return code;
}

static cli_exit search(job *j, const search_space_shared *shared, const cli_common *common, wf_diag *diag) {
  codesign_result result;
  cli_exit code = CLI_CANNOT_BUILD;
  if (codesign_search(&j->options, &result, diag) && run_wholes(j, &result, diag))
    code = answer(j, &result, shared, common, diag);
  codesign_release(&result);
  return code;
}

// A network as `weft sim` runs it, and the table of its layers.
static bool load_program(job *j, int n, const char *path, const search_space_shared *shared, wf_diag *diag) {
  if (!layers_program_load(&j->programs[n], path, path, shared->file, diag)) return false;
  layers_of_graph(&j->tables[n], j->programs[n].placed);
  j->tables[n].name = layers_lines_base_name(j->tables[n].arena, path);
  return true;
}

static bool load(job *j, const search_space_options *options, const search_space_shared *shared, int count,
                 char **names, wf_diag *diag) {
  bool good = codesign_space_load(&j->space, options->space, diag);
  for (int n = 0; n < count; n++) {
    layers_network *table = &j->tables[n];
    const bool loaded =
        layers_is_network(names[n]) ? load_program(j, n, names[n], shared, diag) : layers_load(table, names[n], diag);
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
  for (int n = 0; n < count; n++) {
    if (j->tables[n].arena != NULL) layers_release(&j->tables[n]);
    network_mappings_release(&j->mappings[n]);
    layers_program_release(&j->programs[n]);
  }
  codesign_space_release(&j->space);
  wf_free(j);
  return code;
}
