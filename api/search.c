// SPDX-License-Identifier: Apache-2.0
// Searches: hardware for a network, by the plain model or simulated. See weft.h.
#include <math.h>

#include "api/private.h"
#include "base/alloc.h"
#include "base/number.h"
#include "search/descent/descent.h"
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/network.h"
#include "search/layers/program.h"
#include "search/truth/truth.h"

struct weft_answer {
  weft_array base;
  char *name;
  layers_network table;
  layers_program program;
  bool is_program;  // which the search simulates whole
  paper_constants constants;
  descent_goal goal;
  descent_result found;
  bool simulated;
  truth_result truth;
};

enum { SIDE_MOST = 128, KIB_MOST = 2048, MODEL_SECONDS = 2 };

// ---- options

static bool within(weft_session *s, const weft_search_options *o) {
  const struct {
    const char *name;
    uint32_t value, most;
  } counts[] = {{"starts", o->starts, 65536},         {"steps", o->steps, 100000},     {"threads", o->threads, 1024},
                {"candidates", o->candidates, 10000}, {"tune", o->tune, MAP_BEST_MAX}, {"side", o->side, 4096},
                {"side_max", o->side_max, 4096},      {"kib_max", o->kib_max, 1 << 20}};
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
  if (o->simulate && o->starts + o->steps > 0) return api_refuse(s, "starts and steps exclude simulate"), false;
  if (!o->simulate && (o->candidates + o->tune > 0 || o->machine || o->whole_energy))
    return api_refuse(s, "candidates, tune, machine and whole_energy are for simulate"), false;
  return true;
}

static bool set_goal(weft_session *s, const weft_search_options *o, weft_answer *a) {
  static const char *const tables[] = {"dosa", "40nm"};
  const int objective = api_choice(s, "objective", o->objective, descent_plain_objective_names, PLAIN_OBJECTIVES);
  const int table = objective < 0 ? -1 : api_choice(s, "table of constants", o->constants, tables, 2);
  if (table < 0) return false;
  paper_constants_named(&a->constants, tables[table]);
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

// As `weft sim` runs it, and the table of its layers.
static bool load_program(weft_answer *a, wf_diag *diag) {
  const layers_program_options options = {.array = &a->base.array};
  if (!layers_program_load(&a->program, a->name, a->name, &options, diag)) return false;
  layers_of_graph(&a->table, a->program.placed);
  a->table.name = layers_lines_base_name(a->table.arena, a->name);
  a->is_program = true;
  if (a->table.count > 0) return true;
  wf_error(diag, wf_in_file(a->name), "no layer of this network runs on the array");
  return false;
}

static bool load(weft_answer *a, const weft_search_options *o, wf_diag *diag) {
  if (o->simulate && layers_is_network(a->name)) return load_program(a, diag);
  return layers_load_network(&a->table, a->name, &(onnx_options){0}, diag);
}

// ---- both searches

static void tell(void *context, const char *text) { api_progress(context, 0, 0, text); }

static bool descend(weft_session *s, const weft_search_options *o, weft_answer *a) {
  const descent_options options = {.goal = a->goal,
                                   .seed = o->seed == 0 ? 1 : o->seed,
                                   .starts = o->starts,
                                   .steps = o->steps,
                                   .threads = o->threads,
                                   .max_seconds = o->max_seconds,
                                   .stop = &s->stop,
                                   .progress = tell,
                                   .context = s};
  if (descent_search(&options, &a->found)) return true;
  wf_error(&s->diag, wf_in_file(a->name), "no mapping of some layer fits the sizes that are given, or the bounds");
  return false;
}

static bool simulate(weft_session *s, const weft_search_options *o, weft_answer *a) {
  const truth_options options = {.goal = a->goal,
                                 .base = &a->base.array,
                                 .program = a->is_program ? &a->program : NULL,
                                 .machine = o->machine,
                                 .whole_energy = o->whole_energy,
                                 .seed = o->seed == 0 ? 1 : o->seed,
                                 .model_seconds = o->max_seconds > 0 ? o->max_seconds : MODEL_SECONDS,
                                 .candidates = o->candidates,
                                 .tune = o->tune,
                                 .jobs = o->threads,
                                 .stop = &s->stop,
                                 .progress = tell,
                                 .context = s};
  a->simulated = true;
  return truth_search(&options, &a->truth, &s->diag);
}

weft_answer *weft_search(weft_session *s, const weft_array *base, const char *network,
                         const weft_search_options *options) {
  weft_search_options o = {0};
  if (!api_begin(s, "search") || !api_given(s, base, "the array") || !api_given(s, network, "the network") ||
      !api_take(s, options, &o, sizeof o) || !within(s, &o) || !agree(s, &o))
    return NULL;
  weft_answer *a = WF_NEW(weft_answer);
  a->base = *base;
  api_array_own(&a->base);
  a->name = wf_strdup(network);
  if (!set_goal(s, &o, a)) return weft_answer_destroy(a), NULL;
  const bool loaded = hw_array_check(&a->base.array, a->base.array.name, &s->diag) && load(a, &o, &s->diag);
  bool good = loaded && (o.simulate ? simulate(s, &o, a) : descend(s, &o, a));
  if (wf_stop_wanted(&s->stop)) good = false;
  if (api_end(s, good, loaded ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return a;
  weft_answer_destroy(a);
  return NULL;
}

void weft_answer_destroy(weft_answer *a) {
  if (a == NULL) return;
  truth_release(&a->truth);
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
                                         : (weft_figures){.side = a->found.hardware.side,
                                                          .scratchpad_kib = a->found.hardware.scratchpad_kib,
                                                          .accumulator_kib = a->found.hardware.accumulator_kib,
                                                          .cycles = a->found.cost.cycles,
                                                          .energy_uj = a->found.cost.energy_uj,
                                                          .seconds = a->found.seconds};
  return api_give(&full, sizeof full, figures);
}

weft_array *weft_answer_array(weft_session *s, const weft_answer *a) {
  if (!api_begin(s, "search") || !api_given(s, a, "the answer")) return NULL;
  weft_array *array = WF_NEW(weft_array);
  bool good = true;
  if (a->simulated)
    array->array = a->truth.candidates[a->truth.best].array;
  else
    good = truth_array(&a->base.array, &a->found.hardware, &array->array);
  if (!good)
    wf_error(&s->diag, wf_in_file(a->name), "no array can be built for side %.0f, %.0f + %.0f KiB",
             a->found.hardware.side, a->found.hardware.scratchpad_kib, a->found.hardware.accumulator_kib);
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
