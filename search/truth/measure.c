// SPDX-License-Identifier: Apache-2.0
// Candidates and what they cost, simulated or predicted; mappings are tried one after the other. See loop.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "search/truth/loop.h"
#include "search/truth/realise.h"

enum { CANDIDATES = 16 };
enum { MAPPINGS_TRIED = 16 };  // of the mapper's best, of which the model of the machine chooses
enum { CLIMBS = 200 };         // steps from there, for arrays that are simulated

static const layers_network *network_of(const truth_loop *l) { return l->options->goal.network; }

bool truth_has_room(const truth_loop *l, double share) {
  static const double rounding = 1e-9;
  return !wf_stop_wanted(l->options->stop) && l->spent + share <= (double)l->limit + rounding;
}

bool truth_is_full(const truth_loop *l) { return !truth_has_room(l, 1); }

unsigned truth_place_of(unsigned side) {
  unsigned place = 0;
  while (side >> place > 1 && place < TRUTH_SIDES - 1) place++;
  return place;
}

static bool is_known(const truth_loop *l, const hw_array *array) {
  const uint64_t hash = hw_array_hash(array);
  for (size_t i = 0; i < l->result->count; i++)
    if (hw_array_hash(&l->result->candidates[i].array) == hash) return true;
  return false;
}

truth_candidate *truth_append(truth_loop *l, const hw_array *array) {
  truth_result *r = l->result;
  if (r->count == l->room) {
    l->room = l->room == 0 ? CANDIDATES : 2 * l->room;
    r->candidates = wf_realloc(r->candidates, l->room, sizeof *r->candidates);
  }
  truth_candidate *c = &r->candidates[r->count++];
  l->spent++;
  *c = (truth_candidate){.array = *array, .value = INFINITY};
  if (!l->predicts) c->layers = wf_calloc(network_of(l)->count, sizeof *c->layers);
  return c;
}

truth_candidate *truth_propose(truth_loop *l, const hw_array *array) {
  return truth_is_full(l) || is_known(l, array) ? NULL : truth_append(l, array);
}

// ---- values

double truth_objective(const descent_goal *goal, const hw_array *array, paper_cost cost) {
  descent_goal free = *goal;
  free.area_mm2_max = free.power_mw_max = 0;
  const paper_hardware hardware = truth_hardware_of(array);
  return descent_goal_value(&free, &hardware, cost);
}

void truth_set_value(const truth_loop *l, truth_candidate *c, paper_cost cost) {
  const paper_hardware hardware = truth_hardware_of(&c->array);
  c->seconds = wf_seconds() - l->start;
  c->good = true;
  c->cycles = cost.cycles;
  c->energy_uj = cost.energy_uj;
  c->within = descent_within_bounds(&l->options->goal, &hardware, cost);
  c->value = descent_goal_value(&l->options->goal, &hardware, cost);
}

void truth_say(const truth_loop *l, const truth_candidate *c) {
  if (l->options->progress == NULL || l->predicts) return;
  char text[1024];
  if (c->good) {
    snprintf(text, sizeof text, "%s: side %u, %u + %u KiB: %.4g cycles, %.4g uJ, %.4g uJ x cycles%s", c->origin,
             hw_derive(&c->array).dim, c->array.scratchpad.capacity_kib, c->array.accumulator.capacity_kib, c->cycles,
             c->energy_uj, c->cycles * c->energy_uj, c->within ? "" : ", beyond the bounds");
  } else {
    snprintf(text, sizeof text, "%s: %s", c->origin, c->reason);
  }
  l->options->progress(l->options->context, text);
}

void truth_take_best(truth_loop *l, size_t index) {
  truth_result *r = l->result;
  if (r->candidates[index].value < r->candidates[r->best].value) r->best = index;  // far more beyond the bounds
}

// ---- what the model of the machine says

// What the plain model's mappings of a layer become on an array.
static size_t realise_all(const truth_loop *l, const hw_array *array, size_t layer, map_mapping *given) {
  const unsigned place = truth_place_of(hw_derive(array).dim);
  const size_t layers = network_of(l)->count;
  size_t count = 0;
  for (size_t set = 0; set < l->sets[place]; set++)
    count += truth_realise_mappings(&network_of(l)->layers[layer], &l->wanted[place][set * layers + layer], array,
                                    &given[count]);
  return count;
}

// Of the mapper's mappings and the plain model's for an array of this side, for all layers of all
// arrays. A thorough loop also wants steps from there, and as many mappings as can be tried.
static void ask(const truth_loop *l, const hw_array *const *arrays, size_t count, const predict_result **answers) {
  const size_t layers = network_of(l)->count, all = count * layers;
  predict_request *requests = WF_NEW_ARRAY(all + 1, predict_request);
  map_layer *mapped = WF_NEW_ARRAY(layers + 1, map_layer);
  map_mapping(*given)[DESCENT_SETS * TRUTH_REALISE_MAX] = wf_calloc(all + 1, sizeof *given);
  for (size_t i = 0; i < layers; i++) mapped[i] = layers_to_map(&network_of(l)->layers[i]);
  for (size_t n = 0; n < all; n++) {
    const hw_array *array = arrays[n / layers];
    requests[n] = (predict_request){.layer = &mapped[n % layers],
                                    .array = array,
                                    .objective = l->options->goal.objective,
                                    .given = given[n],
                                    .given_count = realise_all(l, array, n % layers, given[n]),
                                    .tried = MAPPINGS_TRIED,
                                    .climbs = l->thorough ? CLIMBS : 0,
                                    .kept = l->thorough ? PREDICT_KEPT_MAX / 2 : 1};
  }
  predict_table_ask(l->table, requests, all, answers);
  wf_free(requests);
  wf_free(mapped);
  wf_free(given);
}

// The sum over the layers. False: the model does not know all of them, or their energy.
static bool add_up(const truth_loop *l, const predict_result *const *answers, paper_cost *cost) {
  *cost = l->rest;
  for (size_t i = 0; i < network_of(l)->count; i++) {
    if (answers[i]->count == 0 || !answers[i]->choices[0].has_energy) return false;
    const double times = (double)network_of(l)->layers[i].count;
    cost->cycles += times * answers[i]->choices[0].cycles;
    cost->energy_uj += times * answers[i]->choices[0].energy_pj * 1e-6;
  }
  return true;
}

// What the model says of all layers on the candidates from `first` on.
const predict_result **truth_answers_from(const truth_loop *l, size_t first) {
  const truth_result *r = l->result;
  const size_t count = r->count - first;
  const hw_array **arrays = WF_NEW_ARRAY(count + 1, const hw_array *);
  for (size_t i = 0; i < count; i++) arrays[i] = &r->candidates[first + i].array;
  const predict_result **answers = WF_NEW_ARRAY(count * network_of(l)->count + 1, const predict_result *);
  ask(l, arrays, count, answers);
  wf_free(arrays);
  return answers;
}

static void predict(truth_loop *l, size_t first) {
  truth_result *r = l->result;
  const size_t layers = network_of(l)->count;
  const predict_result **answers = truth_answers_from(l, first);
  for (size_t i = first; i < r->count; i++) {
    truth_candidate *c = &r->candidates[i];
    paper_cost cost;
    if (add_up(l, &answers[(i - first) * layers], &cost))
      truth_set_value(l, c, cost);
    else
      snprintf(c->reason, sizeof c->reason, "a layer that the model of the machine does not know, or cannot map");
    truth_take_best(l, i);
  }
  wf_free(answers);
}

// ---- simulation

// By engine flow: the best mapping of each layer.
static void choose_by_flow(const truth_loop *l, truth_candidate *c) {
  paper_cost cost;
  c->flow = WF_NEW_ARRAY(network_of(l)->count * PREDICT_KEPT_MAX + 1, truth_flow);
  if (truth_rung_ask(l, &c->array, c->answers, c->flow, c->chosen, &cost)) c->predicted = paper_edp(cost);
}

static void choose(const truth_loop *l, size_t first) {
  truth_result *r = l->result;
  const size_t layers = network_of(l)->count;
  const predict_result **answers = truth_answers_from(l, first);
  for (size_t i = first; i < r->count; i++) {
    truth_candidate *c = &r->candidates[i];
    c->answers = WF_NEW_ARRAY(layers, const predict_result *);
    c->chosen = WF_NEW_ARRAY(layers, size_t);
    memcpy(c->answers, &answers[(i - first) * layers], layers * sizeof *answers);
    paper_cost cost;
    for (size_t n = 0; n < layers && c->by_mapper; n++) c->chosen[n] = SIZE_MAX;
    if (!c->by_mapper && add_up(l, c->answers, &cost)) c->predicted = paper_edp(cost);
    if (!c->by_mapper && l->options->flow > 0) choose_by_flow(l, c);
  }
  wf_free(answers);
}

// The mapping of rank `rank` of a layer; false: it is left to the mapper.
bool truth_mapping_of(const predict_result *answer, size_t rank, map_mapping *mapping) {
  if (!answer->takes_mappings || rank >= answer->count) return false;
  *mapping = answer->choices[rank].mapping;
  return true;
}

static void simulate(truth_loop *l, size_t first) {
  truth_result *r = l->result;
  const size_t count = r->count - first, layers = network_of(l)->count;
  const bool chooses = l->options->machine && l->options->tune < 2;
  truth_runs_network *list = WF_NEW_ARRAY(count + 1, truth_runs_network);
  map_mapping *mappings = WF_NEW_ARRAY(count * layers + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(count * layers + 1, bool);
  if (chooses) choose(l, first);
  for (size_t c = 0; c < count; c++) {
    const truth_candidate *candidate = &r->candidates[first + c];
    list[c] = (truth_runs_network){
        .array = candidate->array, .layers = candidate->layers, .whole_energy = l->options->whole_energy};
    if (!chooses) continue;
    list[c].mappings = &mappings[c * layers];
    list[c].mapped = &mapped[c * layers];
    for (size_t i = 0; i < layers; i++)
      mapped[c * layers + i] = truth_mapping_of(candidate->answers[i], candidate->chosen[i], &mappings[c * layers + i]);
  }
  truth_runs_measure(l->runs, network_of(l), l->options->tune, list, count);
  for (size_t c = 0; c < count; c++) {
    truth_candidate *candidate = &r->candidates[first + c];
    if (list[c].good) {
      candidate->rest = list[c].rest;
      truth_set_value(l, candidate, list[c].cost);
    } else {
      candidate->seconds = wf_seconds() - l->start;
      snprintf(candidate->reason, sizeof candidate->reason, "layer %s: %s", list[c].failed, list[c].reason);
    }
    truth_say(l, candidate);
    truth_take_best(l, first + c);
  }
  wf_free(list);
  wf_free(mappings);
  wf_free(mapped);
}

void truth_measure(truth_loop *l, size_t first) {
  if (l->predicts)
    predict(l, first);
  else
    simulate(l, first);
}
