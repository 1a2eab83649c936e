// SPDX-License-Identifier: Apache-2.0
// Searches: hardware for a network, by the plain model or simulated. See weft.h.
#include <math.h>
#include <time.h>

#include "api/answer.h"
#include "api/graph.h"
#include "api/report.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/number.h"
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/network.h"

enum { SIDE_MOST = 128, KIB_MOST = 2048, MODEL_SECONDS = 2 };

// ---- options

static bool within(weft_session *s, const weft_search_options *o) {
  const struct {
    const char *name;
    uint32_t value, most;
  } counts[] = {{"starts", o->starts, 65536},    {"steps", o->steps, 100000},
                {"threads", o->threads, 1024},   {"candidates", o->candidates, 10000},
                {"flow", o->flow, 10000},        {"tune", o->tune, MAP_BEST_MAX},
                {"side", o->side, 4096},         {"side_max", o->side_max, 4096},
                {"kib_max", o->kib_max, 1 << 20}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i].value > counts[i].most)
      return api_refuse(s, "%s is at most %u", counts[i].name, counts[i].most), false;
  if (o->side_max % 2 != 0) return api_refuse(s, "side_max is even"), false;
  const double bounds[] = {o->max_area_mm2, o->max_power_mw, o->clock_mhz, o->max_seconds};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (!(bounds[i] >= 0 && isfinite(bounds[i])))
      return api_refuse(s, "bounds, clock and seconds are numbers of at least 0"), false;
  return true;
}

static bool agree(weft_session *s, const weft_search_options *o) {
  if (o->exact && (o->simulate || o->max_seconds > 0 || o->max_evaluations > 0 || o->objective != NULL ||
                   o->starts + o->steps + o->threads > 0))
    return api_refuse(s, "exact proves: it takes no simulate, budget, objective, starts, steps and threads"), false;
  if (o->flow > 0 && !o->machine) return api_refuse(s, "flow is for machine"), false;
  if (o->simulate && o->starts + o->steps > 0) return api_refuse(s, "starts and steps exclude simulate"), false;
  if (!o->simulate && (o->candidates + o->tune + o->flow > 0 || o->machine || o->whole_energy))
    return api_refuse(s, "candidates, tune, machine and whole_energy are for simulate"), false;
  return true;
}

static bool set_goal(weft_session *s, const weft_search_options *o, weft_answer *a) {
  static const char *const tables[] = {"dosa", "40nm"};
  const int objective = api_choice(s, "objective", o->objective, descent_plain_objective_names, PLAIN_OBJECTIVES);
  const int table = objective < 0 ? -1 : api_choice(s, "table of constants", o->constants, tables, 2);
  if (table < 0) return false;
  paper_constants_named(&a->constants, tables[table]);
  a->constants_name = tables[table];
  const double kib_max = o->kib_max > 0 ? o->kib_max : KIB_MOST;
  a->goal = (descent_goal){.network = &a->table,
                           .constants = &a->constants,
                           .objective = (descent_plain_objective)objective,
                           .limits = {.side_fixed = o->side,
                                      .scratchpad_kib_fixed = o->scratchpad_kib,
                                      .accumulator_kib_fixed = o->accumulator_kib,
                                      .side_max = o->side_max > 0 ? o->side_max : SIDE_MOST,
                                      .scratchpad_kib_max = kib_max,
                                      .accumulator_kib_max = kib_max},
                           .silicon = PLAIN_SILICON_DEFAULTS,
                           .area_mm2_max = o->max_area_mm2,
                           .power_mw_max = o->max_power_mw};
  if (o->simulate) a->goal.silicon.clock_mhz = a->base.array.chip.clock_mhz;
  if (o->clock_mhz > 0) a->goal.silicon.clock_mhz = o->clock_mhz;
  return true;
}

// ---- the network

// What is left open of a file, as the compiler takes it.
static onnx_dim *dims_of(const weft_search_options *o) {
  onnx_dim *dims = WF_NEW_ARRAY((size_t)o->dims + 1, onnx_dim);
  for (uint32_t i = 0; i < o->dims; i++) dims[i] = (onnx_dim){o->dim_names[i], o->dim_values[i]};
  return dims;
}

// As `weft sim` runs it, and the table of its layers.
static bool load_program(weft_answer *a, const weft_search_options *o, const onnx_dim *dims, wf_diag *diag) {
  const layers_program_options options = {.array = &a->base.array,
                                          .dims = dims,
                                          .dim_count = (int)o->dims,
                                          .outputs = o->outputs,
                                          .output_count = (int)o->output_count};
  if (!layers_program_load(&a->program, a->name, a->name, &options, diag)) return false;
  layers_of_graph(&a->table, a->program.placed);
  a->table.name = layers_lines_base_name(a->table.arena, a->name);
  a->is_program = true;
  if (a->table.count > 0) return true;
  wf_error(diag, wf_in_file(a->name), "no layer of this network runs on the array");
  return false;
}

static bool load(weft_answer *a, const weft_search_options *o, wf_diag *diag) {
  onnx_dim *dims = dims_of(o);
  const onnx_options file = {
      .dims = dims, .dim_count = (int)o->dims, .outputs = o->outputs, .output_count = (int)o->output_count};
  const bool good = o->simulate && layers_is_network(a->name) ? load_program(a, o, dims, diag)
                                                              : layers_load_network(&a->table, a->name, &file, diag);
  wf_free(dims);
  return good;
}

// ---- both searches

static void tell(void *context, const char *text) { api_progress(context, 0, 0, text); }

static uint64_t seed_of(const weft_search_options *o) { return o->seed == 0 && !o->seed_is_given ? 1 : o->seed; }

static bool descend(weft_session *s, const weft_search_options *o, weft_answer *a) {
  a->options = (descent_options){.goal = a->goal,
                                 .seed = seed_of(o),
                                 .starts = o->starts,
                                 .steps = o->steps,
                                 .threads = o->threads,
                                 .max_evaluations = o->max_evaluations,
                                 .max_seconds = o->max_seconds,
                                 .stop = &s->stop,
                                 .progress = tell,
                                 .context = s};
  const bool found = descent_search(&a->options, &a->found);
  a->seconds = a->found.seconds;
  if (!found)
    wf_error(&s->diag, wf_in_file(a->table.name),
             "no mapping of some layer fits the hardware that --fix gives, or the bounds on area and power");
  return found;
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static bool prove(weft_session *s, const weft_search_options *o, weft_answer *a) {
  const exact_options options = {.constants = &a->constants,
                                 .side_max = o->side_max,
                                 .kib_max = o->kib_max,
                                 .side = o->side,
                                 .scratchpad_kib = o->scratchpad_kib,
                                 .accumulator_kib = o->accumulator_kib};
  const double start = processor_seconds();
  a->is_exact = true;
  const bool found = exact_solve(&a->table, &options, &a->exact);
  a->seconds = processor_seconds() - start;
  if (!found)
    wf_error(&s->diag, wf_in_file(a->table.name), "no mapping of some layer fits the hardware that --fix gives");
  return found;
}

static bool simulate(weft_session *s, const weft_search_options *o, weft_answer *a) {
  a->how = (truth_options){.goal = a->goal,
                           .base = &a->base.array,
                           .program = a->is_program ? &a->program : NULL,
                           .machine = o->machine,
                           .whole_energy = o->whole_energy,
                           .seed = seed_of(o),
                           .model_seconds = o->max_seconds > 0 ? o->max_seconds : MODEL_SECONDS,
                           .candidates = o->candidates,
                           .flow = o->flow,
                           .tune = o->tune,
                           .jobs = o->threads,
                           .stop = &s->stop,
                           .progress = tell,
                           .context = s};
  a->simulated = true;
  if (!truth_search(&a->how, &a->truth, &s->diag)) return false;
  return !a->is_program || wf_stop_wanted(&s->stop) || truth_run_program(&a->how, &a->truth, &a->whole, &s->diag);
}

static bool search(weft_session *s, const weft_search_options *o, weft_answer *a) {
  return o->simulate ? simulate(s, o, a) : o->exact ? prove(s, o, a) : descend(s, o, a);
}

static bool lists_good(weft_session *s, const weft_search_options *o) {
  const weft_graph_options file = {.dim_names = o->dim_names,
                                   .dim_values = o->dim_values,
                                   .outputs = o->outputs,
                                   .dims = o->dims,
                                   .output_count = o->output_count};
  return api_graph_options(s, &file);
}

weft_answer *weft_search(weft_session *s, const weft_array *base, const char *name,
                         const weft_search_options *options) {
  weft_search_options o = {0};
  if (!api_begin(s, "search") || !api_given(s, base, "the array") || !api_given(s, name, "the network") ||
      !api_take(s, options, &o, sizeof o) || !within(s, &o) || !agree(s, &o) || !lists_good(s, &o))
    return NULL;
  weft_answer *a = WF_NEW(weft_answer);
  a->base = *base;
  api_array_own(&a->base);
  a->name = wf_strdup(name);
  if (!set_goal(s, &o, a)) return weft_answer_destroy(a), NULL;
  const bool loaded = hw_array_check(&a->base.array, a->base.array.name, &s->diag) && load(a, &o, &s->diag);
  bool good = loaded && search(s, &o, a);
  if (wf_stop_wanted(&s->stop)) good = false;
  if (api_end(s, good, loaded ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return a;
  weft_answer_destroy(a);
  return NULL;
}

void weft_answer_destroy(weft_answer *a) {
  if (a == NULL) return;
  truth_release_program(&a->whole);
  truth_release(&a->truth);
  exact_release(&a->exact);
  descent_release(&a->found);
  layers_program_release(&a->program);
  layers_release(&a->table);
  wf_free(a->name);
  wf_free(a);
}

// ---- the answer

static double objective_of(const weft_answer *a, const truth_candidate *c) {
  return truth_objective(&a->goal, &c->array, (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj});
}

static weft_candidate candidate_of(const weft_answer *a, const truth_candidate *c) {
  return (weft_candidate){.origin = c->origin,
                          .reason = c->good ? "" : c->reason,
                          .good = c->good,
                          .within_bounds = c->within,
                          .side = hw_derive(&c->array).dim,
                          .scratchpad_kib = c->array.scratchpad.capacity_kib,
                          .accumulator_kib = c->array.accumulator.capacity_kib,
                          .cycles = c->cycles,
                          .energy_uj = c->energy_uj,
                          .gain = c->good ? objective_of(a, &a->truth.candidates[0]) / objective_of(a, c) : 0};
}

static weft_figures simulated_figures(const weft_answer *a) {
  const weft_candidate best = candidate_of(a, &a->truth.candidates[a->truth.best]);
  return (weft_figures){.side = best.side,
                        .scratchpad_kib = best.scratchpad_kib,
                        .accumulator_kib = best.accumulator_kib,
                        .cycles = best.cycles,
                        .energy_uj = best.energy_uj,
                        .gain = best.gain,
                        .seconds = a->truth.seconds};
}

weft_status weft_answer_figures(const weft_answer *a, weft_figures *figures) {
  if (a == NULL) return WEFT_USAGE;
  const weft_figures full = a->simulated ? simulated_figures(a)
                                         : (weft_figures){.side = api_answer_hardware(a).side,
                                                          .scratchpad_kib = api_answer_hardware(a).scratchpad_kib,
                                                          .accumulator_kib = api_answer_hardware(a).accumulator_kib,
                                                          .cycles = api_answer_cost(a).cycles,
                                                          .energy_uj = api_answer_cost(a).energy_uj,
                                                          .seconds = a->seconds};
  return api_give(&full, sizeof full, figures);
}

weft_array *weft_answer_array(weft_session *s, const weft_answer *a) {
  if (!api_begin(s, "search") || !api_given(s, a, "the answer")) return NULL;
  weft_array *array = WF_NEW(weft_array);
  const paper_hardware hardware = api_answer_hardware(a);
  bool good = true;
  if (a->simulated)
    array->array = a->truth.candidates[a->truth.best].array;
  else
    good = truth_array(&a->base.array, &hardware, &array->array);
  if (!good)
    wf_error(&s->diag, wf_in_file(a->name), "no array can be built for side %.0f, %.0f + %.0f KiB",
             api_answer_hardware(a).side, api_answer_hardware(a).scratchpad_kib,
             api_answer_hardware(a).accumulator_kib);
  if (good) api_array_own(array);
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) return array;
  wf_free(array);
  return NULL;
}

size_t weft_answer_candidates(const weft_answer *a) { return a == NULL ? 0 : a->truth.count; }

weft_status weft_answer_candidate(const weft_answer *a, size_t index, weft_candidate *candidate) {
  if (index >= weft_answer_candidates(a)) return WEFT_USAGE;
  const weft_candidate full = candidate_of(a, &a->truth.candidates[index]);
  return api_give(&full, sizeof full, candidate);
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const weft_answer *a = thing;
  (void)form;
  if (a->simulated)
    api_truth_print(a, out);
  else
    api_answer_print(a, out);
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  const weft_answer *a = thing;
  (void)form;
  wf_json_write(a->simulated ? api_truth_json(a) : api_answer_json(a), out);
}

char *weft_answer_report(weft_session *s, const weft_answer *a, const weft_run_form *form) {
  static const api_form forms[] = {{"text", print}, {"json", print_json}, {NULL, NULL}};
  return api_report(s, "search", a, forms, form);
}

weft_status weft_answer_write(weft_session *s, const weft_answer *a, const char *directory) {
  if (!api_begin(s, "search") || !api_given(s, a, "the answer") || !api_given(s, directory, "the folder"))
    return WEFT_USAGE;
  const bool good = a->simulated ? api_truth_write(a, directory, &s->diag) : api_answer_write(a, directory, &s->diag);
  return api_end(s, good, WEFT_BAD_INPUT);
}
