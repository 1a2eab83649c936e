// SPDX-License-Identifier: Apache-2.0
// The rungs of the ladder: what the model of the machine, engine flow and engine cycle say of a point (codesign.h).
//
// The model chooses a mapping of each layer among the mapper's best. Engine flow runs this one and the mapper's own and
// keeps the better; engine cycle runs what flow kept. So what a point comes to depends on the point alone.
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "hw/cost.h"
#include "search/codesign/internal.h"

enum { TRIED = 16 };  // of the mapper's best mappings, by the model

const double codesign_rung_cost[CODESIGN_RUNGS] = CODESIGN_RUNG_COSTS;

static size_t layers_of(const codesign_loop *l) { return l->result->layer_count; }

double codesign_spent_seconds(const codesign_loop *l) {
  return (double)clock() / CLOCKS_PER_SEC - l->start_clock + l->own_seconds;
}

static bool is_known(const codesign_result *r, const codesign_point *point) {
  for (size_t i = 0; i < r->count; i++)
    if (codesign_point_equal(&r->sites[i].point, point)) return true;
  return false;
}

codesign_site *codesign_add(codesign_loop *l, const codesign_point *point) {
  codesign_result *r = l->result;
  hw_array array;
  if (is_known(r, point) || !codesign_space_array(l->options->space, point, &array)) return NULL;
  if (l->options->tech != NULL) array.tech = l->options->tech;
  if (r->count == r->room) {
    r->room = r->room == 0 ? 64 : 2 * r->room;
    r->sites = wf_realloc(r->sites, r->room, sizeof *r->sites);
  }
  codesign_site *site = &r->sites[r->count++];
  *site = (codesign_site){.point = *point, .array = array, .mean = INFINITY};
  site->area_mm2 = hw_cost_of(&array).total.value * 1e-6;
  return site;
}

codesign_cost codesign_sum(const codesign_result *r, const codesign_site *site, const codesign_figure *layers) {
  codesign_cost cost = {.area_mm2 = site->area_mm2};
  for (size_t i = 0; i < r->layer_count; i++) {
    cost.cycles += r->layers[i].times * layers[i].cycles;
    cost.energy_uj += r->layers[i].times * layers[i].energy_uj;
  }
  cost.ms = cost.cycles / (1e3 * site->array.chip.clock_mhz);
  return cost;
}

static void fail(codesign_site *site, const char *layer, const char *reason) {
  site->failed = true;
  snprintf(site->reason, sizeof site->reason, "%.60s: %s", layer, reason);
}

static codesign_figure *new_rung(codesign_loop *l, codesign_site *site, codesign_rung rung) {
  site->layers[rung] = WF_NEW_ARRAY(layers_of(l) + 1, codesign_figure);
  return site->layers[rung];
}

static void finish_rung(codesign_loop *l, codesign_site *site, codesign_rung rung) {
  l->result->tried[rung]++;
  l->result->spent += codesign_rung_cost[rung];
  if (site->failed) return;
  site->cost[rung] = codesign_sum(l->result, site, site->layers[rung]);
  site->rungs = (unsigned)rung + 1;
}

// ---- the model of the machine

static void take_prediction(codesign_loop *l, codesign_site *site, const predict_result *const *answers) {
  codesign_figure *figures = new_rung(l, site, CODESIGN_MODEL);
  site->mappings = WF_NEW_ARRAY(layers_of(l) + 1, map_mapping);
  site->mapped = WF_NEW_ARRAY(layers_of(l) + 1, bool);
  for (size_t i = 0; i < layers_of(l) && !site->failed; i++) {
    if (answers[i]->count == 0) {
      fail(site, l->result->layers[i].name, "no mapping fits");
      break;
    }
    const predict_choice *best = &answers[i]->choices[0];
    figures[i] = (codesign_figure){.cycles = best->cycles, .energy_uj = best->energy_pj * 1e-6};
    site->mappings[i] = best->mapping;
    site->mapped[i] = answers[i]->takes_mappings;
    if (!best->has_energy) fail(site, l->result->layers[i].name, "the array's technology has no energies");
  }
  finish_rung(l, site, CODESIGN_MODEL);
}

static descent_plain_objective objective_of(const codesign_loop *l) {
  const double latency = codesign_exponent(l->options->objective, 0),
               energy = codesign_exponent(l->options->objective, 1);
  return energy == 0 ? PLAIN_LATENCY : latency == 0 ? PLAIN_ENERGY : PLAIN_EDP;
}

void codesign_predict(codesign_loop *l, size_t first) {
  const size_t layers = layers_of(l), count = (l->result->count - first) * layers;
  predict_request *requests = WF_NEW_ARRAY(count + 1, predict_request);
  const predict_result **answers = WF_NEW_ARRAY(count + 1, const predict_result *);
  for (size_t n = 0; n < count; n++)
    requests[n] = (predict_request){.layer = &l->result->layers[n % layers].layer,
                                    .array = &l->result->sites[first + n / layers].array,
                                    .objective = objective_of(l),
                                    .tried = TRIED,
                                    .kept = 1};
  predict_table_ask(l->predicted, requests, count, answers);
  for (size_t n = 0; n < count; n += layers) take_prediction(l, &l->result->sites[first + n / layers], &answers[n]);
  wf_free(requests);
  wf_free(answers);
}

// ---- engines

static sweep_work_request request_of(const codesign_loop *l, const codesign_site *site, size_t layer, bool mapped,
                                     codesign_rung rung) {
  sweep_work_request q = {.array = site->array,
                          .layer = l->result->layers[layer].layer,
                          .mapped = mapped,
                          .fidelity = rung == CODESIGN_FLOW ? RUN_FIDELITY_FLOW : RUN_FIDELITY_CYCLE,
                          .accounted = rung == CODESIGN_FLOW};
  if (mapped) q.mapping = site->mappings[layer];
  return q;
}

static bool is_good(const sweep_work_result *r) { return r->status == WORK_GOOD && r->has_energy; }

static codesign_figure figure_of(const sweep_work_result *r) {
  return (codesign_figure){.cycles = (double)r->cycles, .energy_uj = r->energy_pj * 1e-6};
}

// What a layer with a mapping is worth: where energy or latency do not count, or both do not, by what there is.
static double worth(const codesign_loop *l, const sweep_work_result *r) {
  if (!is_good(r)) return INFINITY;
  return predict_value(objective_of(l), (double)r->cycles, true, r->energy_pj);
}

static void add_account(codesign_account *to, const sim_flow_account *from, double times) {
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) {
    to->cycles[n] += times * (double)from->cycles[n];
    to->saves[n] += times * (double)from->released[n];
  }
}

static void ask(codesign_loop *l, sweep_work_request *requests, size_t count, const sweep_work_result **results) {
  truth_runs_ask(l->runs, requests, count, results);
  for (size_t n = 0; n < count; n++) l->own_seconds += results[n]->compile_seconds + results[n]->simulate_seconds;
}

// Both mappings of a layer: the mapper's, then the model's where it has one.
static void take_flow(codesign_loop *l, codesign_site *site, size_t layer, const sweep_work_result *own,
                      const sweep_work_result *models) {
  const bool other = models != NULL && worth(l, models) < worth(l, own);
  const sweep_work_result *r = other ? models : own;
  site->mapped[layer] = other;
  if (!is_good(r)) return fail(site, l->result->layers[layer].name, r->reason);
  site->layers[CODESIGN_FLOW][layer] = figure_of(r);
  add_account(&site->account, &r->account, l->result->layers[layer].times);
}

static void run_flow(codesign_loop *l, codesign_site *site) {
  const size_t layers = layers_of(l);
  sweep_work_request *requests = WF_NEW_ARRAY(2 * layers + 1, sweep_work_request);
  const sweep_work_result **results = WF_NEW_ARRAY(2 * layers + 1, const sweep_work_result *);
  size_t count = 0, at = 0;
  new_rung(l, site, CODESIGN_FLOW);
  for (size_t i = 0; i < layers; i++) {
    requests[count++] = request_of(l, site, i, false, CODESIGN_FLOW);
    if (site->mapped[i]) requests[count++] = request_of(l, site, i, true, CODESIGN_FLOW);
  }
  ask(l, requests, count, results);
  for (size_t i = 0; i < layers && !site->failed; i++) {
    const bool both = site->mapped[i];
    take_flow(l, site, i, results[at], both ? results[at + 1] : NULL);
    at += both ? 2 : 1;
  }
  wf_free(requests);
  wf_free(results);
  finish_rung(l, site, CODESIGN_FLOW);
}

static void run_cycle(codesign_loop *l, codesign_site *site) {
  const size_t layers = layers_of(l);
  sweep_work_request *requests = WF_NEW_ARRAY(layers + 1, sweep_work_request);
  const sweep_work_result **results = WF_NEW_ARRAY(layers + 1, const sweep_work_result *);
  codesign_figure *figures = new_rung(l, site, CODESIGN_CYCLE);
  for (size_t i = 0; i < layers; i++) requests[i] = request_of(l, site, i, site->mapped[i], CODESIGN_CYCLE);
  ask(l, requests, layers, results);
  for (size_t i = 0; i < layers && !site->failed; i++) {
    if (is_good(results[i]))
      figures[i] = figure_of(results[i]);
    else
      fail(site, l->result->layers[i].name, results[i]->reason);
  }
  wf_free(requests);
  wf_free(results);
  finish_rung(l, site, CODESIGN_CYCLE);
}

void codesign_climb(codesign_loop *l, codesign_site *site) {
  if (site->rungs == CODESIGN_FLOW)
    run_flow(l, site);
  else
    run_cycle(l, site);
}
