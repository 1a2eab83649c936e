// SPDX-License-Identifier: Apache-2.0
// The joint search of the whole machine. See weft.h.
#include "api/joint.h"

#include <math.h>

#include "api/graph.h"
#include "api/output.h"
#include "api/report.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/name.h"
#include "base/output.h"
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/network.h"

enum { NETWORKS_MAX = 64, CHECKED_MAX = 1000, THREADS_MAX = 1024, WHOLE_MAX = 10000 };

struct weft_joint {
  codesign_options options;
  codesign_space space;
  layers_network tables[NETWORKS_MAX];
  layers_program programs[NETWORKS_MAX];
  codesign_network networks[NETWORKS_MAX];
  size_t count;
  unsigned checked;  // layers that the hardware of the answer runs
  codesign_result result;
  bool has_hardware;  // which could be built
  api_joint_hardware hardware;
  hw_tech tech;
};
typedef weft_joint job;

// ---- options

// What stands for nothing or for a positive number.
static bool bounds_good(weft_session *s, const weft_joint_options *o) {
  const double values[] = {o->max_area_mm2, o->max_power_mw, o->max_latency_ms, o->simulations, o->seconds};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (!(values[i] >= 0 && isfinite(values[i])))
      return api_refuse(s, "bounds and budgets are numbers of at least 0"), false;
  if (o->check_rtl > CHECKED_MAX) return api_refuse(s, "check_rtl is at most %d", CHECKED_MAX), false;
  if (o->threads > THREADS_MAX) return api_refuse(s, "threads are at most %d", THREADS_MAX), false;
  return true;
}

static bool names_good(weft_session *s, const weft_joint_options *o, weft_joint *j) {
  codesign_options *to = &j->options;
  if (o->objective != NULL && !codesign_objective_named(o->objective, &to->objective))
    return api_refuse(s, "objective is edap, edp, latency, energy, area or throughput-per-mm2"), false;
  to->front = o->second != NULL;
  if (to->front && !codesign_objective_named(o->second, &to->second))
    return api_refuse(s, "second is edap, edp, latency, energy, area or throughput-per-mm2"), false;
  if (to->front && to->second == to->objective) return api_refuse(s, "second is another than objective"), false;
  if (o->method != NULL && !codesign_method_named(o->method, &to->method))
    return api_refuse(s, "method is gradient, machine, neighbours, evolution or random"), false;
  return true;
}

// Mixes, and on how many points.
static bool set_mixes(weft_session *s, const weft_joint_options *o, weft_joint *j) {
  static const char *const modes[] = {"off", "auto"};
  enum { WHOLE = 12 };
  const int mode = api_choice(s, "fuse", o->fuse, modes, sizeof modes / sizeof *modes);
  if (mode < 0) return false;
  if (o->whole > WHOLE_MAX) return api_refuse(s, "whole is at most %d", WHOLE_MAX), false;
  if (mode == 0 && o->whole > 0) return api_refuse(s, "whole is for fuse auto"), false;
  if (mode == 1 && o->second != NULL) return api_refuse(s, "a front has no mixes: fuse is off with second"), false;
  j->options.fuse = mode == 0 ? NETWORK_FUSE_OFF : NETWORK_FUSE_AUTO;
  j->options.whole = o->whole == 0 ? WHOLE : o->whole;
  return true;
}

static bool set_options(weft_session *s, const weft_joint_options *o, weft_joint *j) {
  enum { SIMULATIONS = 40 };
  if (!bounds_good(s, o) || !names_good(s, o, j) || !set_mixes(s, o, j)) return false;
  codesign_options *to = &j->options;
  to->bounds.area_mm2 = o->max_area_mm2;
  to->bounds.power_mw = o->max_power_mw;
  to->bounds.latency_ms = o->max_latency_ms;
  to->seconds = o->seconds;
  to->simulations = o->seconds > 0 ? 0 : o->simulations > 0 ? o->simulations : SIMULATIONS;
  to->seed = o->seed;
  to->jobs = o->threads;
  j->checked = o->check_rtl;
  for (size_t n = 0; n < j->count; n++) {
    const double weight = o->weights == NULL ? 1 : o->weights[n];
    if (!(weight > 0 && isfinite(weight))) return api_refuse(s, "weights are numbers above 0"), false;
    j->networks[n].weight = weight;
  }
  return true;
}

// ---- files

static bool write_file(const api_joint_answer *a, const char *directory, const char *name,
                       void (*print)(const api_joint_answer *a, FILE *out), wf_diag *diag) {
  char *path = wf_format("%s/%s", directory, name);
  FILE *out = wf_output_open(path, diag);
  if (out != NULL) print(a, out);
  const bool good = out != NULL && wf_output_close(out, path, diag);
  wf_free(path);
  return good;
}

static void print_array(const api_joint_answer *a, FILE *out) {
  hw_array array = a->result->sites[a->result->best].array;
  snprintf(array.name, sizeof array.name, "found");
  hw_array_print(&array, out);
}

static bool write_mapping(const api_joint_answer *a, const char *folder, size_t layer, wf_diag *diag) {
  const codesign_site *best = &a->result->sites[a->result->best];
  char *name = wf_name_file(a->result->layers[layer].name), *path = wf_format("%s/%s.map", folder, name);
  FILE *out = wf_output_open(path, diag);
  if (out != NULL) map_print(&best->mappings[layer], out);
  const bool good = out != NULL && wf_output_close(out, path, diag);
  wf_free(name);
  wf_free(path);
  return good;
}

// Mappings that are not the mapper's own: the others follow from the array.
static bool write_mappings(const api_joint_answer *a, const char *directory, wf_diag *diag) {
  char *folder = wf_format("%s/mappings", directory);
  bool good = api_output_folder(folder, diag);
  for (size_t i = 0; i < a->result->layer_count && good; i++)
    if (a->result->sites[a->result->best].mapped[i]) good = write_mapping(a, folder, i, diag);
  wf_free(folder);
  return good;
}

static bool write_maps(const api_joint_answer *a, const char *directory, wf_diag *diag) {
  bool good = true;
  for (size_t n = 0; n < a->options->network_count && good; n++) {
    const codesign_whole *whole = api_joint_whole(a, n);
    if (whole == NULL) continue;
    char *name = wf_name_file(a->options->networks[n].table->name), *path = wf_format("%s/%s.maps", directory, name);
    FILE *out = wf_output_open(path, diag);
    if (out != NULL) network_mappings_print(&whole->run.mappings, out);
    good = out != NULL && wf_output_close(out, path, diag);
    wf_free(name);
    wf_free(path);
  }
  return good;
}

static bool write_all(const api_joint_answer *a, const char *directory, wf_diag *diag) {
  char *json = wf_format("%s/result.json", directory);
  const bool good = write_file(a, directory, "array.yaml", print_array, diag) &&
                    write_file(a, directory, "report.txt", api_joint_print, diag) &&
                    write_file(a, directory, "trace.csv", api_joint_trace, diag) &&
                    write_mappings(a, directory, diag) && write_maps(a, directory, diag) &&
                    api_output_json(json, api_joint_json(a), diag);
  wf_free(json);
  return good;
}

// ---- the networks

// A network as `weft sim` runs it, and the table of its layers.
static bool load_program(job *j, size_t n, const char *path, const layers_program_options *file, wf_diag *diag) {
  if (!layers_program_load(&j->programs[n], path, path, file, diag)) return false;
  layers_of_graph(&j->tables[n], j->programs[n].placed);
  j->tables[n].name = layers_lines_base_name(j->tables[n].arena, path);
  return true;
}

// Mixes are of programs, so with them a generated network goes before the shipped table of its name.
static bool is_program(const job *j, const char *name) {
  return j->options.fuse == NETWORK_FUSE_OFF ? layers_is_network(name) : layers_is_program(name);
}

static bool load_networks(job *j, const char *const *names, const layers_program_options *file, wf_diag *diag) {
  bool good = true;
  for (size_t n = 0; n < j->count; n++) {
    layers_network *table = &j->tables[n];
    const bool loaded =
        is_program(j, names[n]) ? load_program(j, n, names[n], file, diag) : layers_load(table, names[n], diag);
    if (loaded && table->count == 0) wf_error(diag, wf_in_file(names[n]), "no layer of this network runs on the array");
    good = loaded && table->count > 0 && good;
    j->networks[n].table = table;
    j->networks[n].program = j->programs[n].placed == NULL ? NULL : &j->programs[n];
  }
  return good;
}

static bool load_tech(job *j, const char *path, wf_diag *diag) {
  if (path == NULL) return true;
  hw_tech *tech = hw_tech_load(path, diag);
  if (tech != NULL) j->tech = *tech;
  j->options.tech = &j->tech;
  wf_free(tech);
  return tech != NULL;
}

static bool can_mix(const job *j, wf_diag *diag) {
  bool any = j->options.fuse == NETWORK_FUSE_OFF;
  for (size_t n = 0; n < j->count; n++) any |= j->programs[n].placed != NULL;
  if (any) return true;
  wf_error(diag, wf_in_file(j->tables[0].name), "fuse auto: a table has no steps that could be mixed");
  wf_hint(diag, "an ONNX file has, and a generated network (weft net --list)");
  return false;
}

static bool load(job *j, const char *const *names, const weft_joint_options *o, wf_diag *diag) {
  onnx_dim *dims = WF_NEW_ARRAY((size_t)o->dims + 1, onnx_dim);
  for (uint32_t i = 0; i < o->dims; i++) dims[i] = (onnx_dim){o->dim_names[i], o->dim_values[i]};
  const layers_program_options file = {
      .dims = dims, .dim_count = (int)o->dims, .outputs = o->outputs, .output_count = (int)o->output_count};
  bool good = load_tech(j, o->technology, diag);
  good = codesign_space_load(&j->space, o->space == NULL ? "default" : o->space, diag) && good;
  good = load_networks(j, names, &file, diag) && good;
  wf_free(dims);
  return good && can_mix(j, diag);
}

// ---- the search

static void tell(void *context, const char *text) { api_progress(context, 0, 0, text); }

static bool run(weft_session *s, job *j) {
  if (!codesign_search(&j->options, &j->result, &s->diag) || wf_stop_wanted(&s->stop)) return false;
  if (j->checked > 0) j->has_hardware = api_joint_hardware_check(&j->result, j->checked, s, &j->hardware);
  return true;
}

static bool given(weft_session *s, const char *const *names, size_t count, const weft_joint_options *o) {
  const weft_graph_options file = {.dim_names = o->dim_names,
                                   .dim_values = o->dim_values,
                                   .outputs = o->outputs,
                                   .dims = o->dims,
                                   .output_count = o->output_count};
  if (count == 0 || count > NETWORKS_MAX) return api_refuse(s, "networks are 1 to %d", NETWORKS_MAX), false;
  return api_given(s, names, "the networks") && api_names(s, names, (uint32_t)count, "a network") &&
         api_graph_options(s, &file);
}

weft_joint *weft_joint_search(weft_session *s, const char *const *networks, size_t count,
                              const weft_joint_options *options) {
  weft_joint_options o = {0};
  if (!api_begin(s, "search") || !api_take(s, options, &o, sizeof o) || !given(s, networks, count, &o)) return NULL;
  job *j = WF_NEW(job);
  j->count = count;
  j->options = (codesign_options){.space = &j->space,
                                  .networks = j->networks,
                                  .network_count = count,
                                  .stop = &s->stop,
                                  .progress = tell,
                                  .context = s};
  if (!set_options(s, &o, j)) return weft_joint_destroy(j), NULL;
  const bool loaded = load(j, networks, &o, &s->diag), good = loaded && run(s, j);
  if (api_end(s, good, loaded ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return j;
  weft_joint_destroy(j);
  return NULL;
}

void weft_joint_destroy(weft_joint *j) {
  if (j == NULL) return;
  api_joint_hardware_release(&j->hardware);
  codesign_release(&j->result);
  for (size_t n = 0; n < j->count; n++) {
    if (j->tables[n].arena != NULL) layers_release(&j->tables[n]);
    layers_program_release(&j->programs[n]);
  }
  codesign_space_release(&j->space);
  wf_free(j);
}

// ---- the answer

static api_joint_answer answer_of(const job *j) {
  return (api_joint_answer){
      .options = &j->options, .result = &j->result, .hardware = j->has_hardware ? &j->hardware : NULL};
}

static const codesign_site *best_of(const job *j) { return &j->result.sites[j->result.best]; }

weft_status weft_joint_describe(const weft_joint *j, weft_joint_facts *facts) {
  if (j == NULL) return WEFT_USAGE;
  const codesign_cost *cost = &best_of(j)->cost[CODESIGN_CYCLE];
  const weft_joint_facts full = {.value = codesign_value(j->options.objective, *cost),
                                 .cycles = cost->cycles,
                                 .ms = cost->ms,
                                 .energy_uj = cost->energy_uj,
                                 .area_mm2 = cost->area_mm2,
                                 .seconds = j->result.seconds,
                                 .by_model = j->result.tried[CODESIGN_MODEL],
                                 .by_flow = j->result.tried[CODESIGN_FLOW],
                                 .by_cycle = j->result.tried[CODESIGN_CYCLE],
                                 .by_network = j->result.whole_tried,
                                 .settled = j->result.settled,
                                 .checked = j->has_hardware,
                                 .agrees = j->has_hardware && api_joint_hardware_agrees(&j->hardware)};
  return api_give(&full, sizeof full, facts);
}

weft_array *weft_joint_array(const weft_joint *j) {
  if (j == NULL) return NULL;
  weft_array *array = WF_NEW(weft_array);
  array->array = best_of(j)->array;
  snprintf(array->array.name, sizeof array->array.name, "found");
  api_array_own(array);
  return array;
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const api_joint_answer answer = answer_of(thing);
  (void)form;
  api_joint_print(&answer, out);
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  const api_joint_answer answer = answer_of(thing);
  (void)form;
  wf_json_write(api_joint_json(&answer), out);
}

static void print_trace(const void *thing, const weft_run_form *form, FILE *out) {
  const api_joint_answer answer = answer_of(thing);
  (void)form;
  api_joint_trace(&answer, out);
}

char *weft_joint_report(weft_session *s, const weft_joint *j, const weft_run_form *form) {
  static const api_form forms[] = {{"text", print}, {"json", print_json}, {"csv", print_trace}, {NULL, NULL}};
  return api_report(s, "search", j, forms, form);
}

weft_status weft_joint_write(weft_session *s, const weft_joint *j, const char *directory) {
  if (!api_begin(s, "search") || !api_given(s, j, "the answer") || !api_given(s, directory, "the folder"))
    return WEFT_USAGE;
  const api_joint_answer answer = answer_of(j);
  const bool good = api_output_folder(directory, &s->diag) && write_all(&answer, directory, &s->diag);
  return api_end(s, good, WEFT_BAD_INPUT);
}
