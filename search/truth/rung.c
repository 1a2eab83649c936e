// SPDX-License-Identifier: Apache-2.0
// The rung between the model of the machine and the cycle engine: see loop.h. Engine flow runs what the model proposes,
// arrays and mappings, and what it says takes the place of the model's figures. Nothing of it is in an answer.
#include <math.h>

#include "base/alloc.h"
#include "search/truth/loop.h"

enum { MAPPINGS_ASKED = 4 };  // of each layer, the model's best

static const layers_network *network_of(const truth_loop *l) { return l->options->goal.network; }

static size_t asked_of(const predict_result *answer) {
  if (!answer->takes_mappings || answer->count == 0) return 1;  // the mapper's
  return answer->count < MAPPINGS_ASKED ? answer->count : MAPPINGS_ASKED;
}

static sweep_work_request request_of(const truth_loop *l, const hw_array *array, size_t layer,
                                     const predict_result *answer, size_t rank) {
  sweep_work_request q = {.array = *array,
                          .layer = layers_to_map(&network_of(l)->layers[layer]),
                          .array_energy = !l->options->whole_energy,
                          .fidelity = RUN_FIDELITY_FLOW};
  q.mapped = truth_mapping_of(answer, rank, &q.mapping);
  return q;
}

// The best mapping of a layer, and what it adds to the network; false: none of them runs.
static bool take_layer(const truth_loop *l, size_t layer, size_t count, const sweep_work_result *const *results,
                       truth_flow *figures, size_t *chosen, paper_cost *cost) {
  double least = INFINITY;
  size_t best = 0;
  for (size_t rank = 0; rank < count; rank++) {
    const sweep_work_result *r = results[rank];
    if (r->status != WORK_GOOD || !r->has_energy) continue;
    figures[rank] = (truth_flow){.cycles = (double)r->cycles, .energy_pj = r->energy_pj};
    const double value = predict_value(l->options->goal.objective, figures[rank].cycles, true, r->energy_pj);
    if (value < least) least = value, best = rank;
  }
  if (least == INFINITY) return false;
  const double times = (double)network_of(l)->layers[layer].count;
  *chosen = best;
  cost->cycles += times * figures[best].cycles;
  cost->energy_uj += times * figures[best].energy_pj * 1e-6;
  return true;
}

bool truth_rung_ask(const truth_loop *l, const hw_array *array, const predict_result *const *answers,
                    truth_flow *figures, size_t *chosen, paper_cost *cost) {
  const size_t layers = network_of(l)->count;
  sweep_work_request *requests = WF_NEW_ARRAY(layers * MAPPINGS_ASKED + 1, sweep_work_request);
  const sweep_work_result **results = WF_NEW_ARRAY(layers * MAPPINGS_ASKED + 1, const sweep_work_result *);
  size_t count = 0, at = 0;
  for (size_t i = 0; i < layers; i++)
    for (size_t rank = 0; rank < asked_of(answers[i]); rank++)
      requests[count++] = request_of(l, array, i, answers[i], rank);
  truth_runs_ask(l->runs, requests, count, results);
  bool good = true;
  *cost = l->rest;
  for (size_t i = 0; i < layers; i++) {
    const size_t asked = asked_of(answers[i]);
    good &= take_layer(l, i, asked, &results[at], &figures[i * PREDICT_KEPT_MAX], &chosen[i], cost);
    at += asked;
  }
  wf_free(requests);
  wf_free(results);
  return good;
}

// The best of the list that has not been asked.
static truth_candidate *next_of(truth_result *list, const bool *asked) {
  truth_candidate *best = NULL;
  for (size_t i = 0; i < list->count; i++) {
    truth_candidate *c = &list->candidates[i];
    if (!asked[i] && c->within && (best == NULL || c->value < best->value)) best = c;
  }
  return best;
}

void truth_rung_sort(truth_loop *l, truth_loop *listed) {
  truth_result *list = listed->result;
  const size_t layers = network_of(l)->count;
  bool *asked = WF_NEW_ARRAY(list->count + 1, bool);
  truth_flow *figures = WF_NEW_ARRAY(layers * PREDICT_KEPT_MAX + 1, truth_flow);
  size_t *chosen = WF_NEW_ARRAY(layers + 1, size_t);
  const predict_result **answers = list->count == 0 ? NULL : truth_answers_from(listed, 0);
  for (unsigned n = 0; n < l->options->flow; n++) {
    truth_candidate *c = next_of(list, asked);
    paper_cost cost;
    if (c == NULL) break;
    const size_t place = (size_t)(c - list->candidates);
    asked[place] = true;
    if (truth_rung_ask(l, &c->array, &answers[place * layers], figures, chosen, &cost))
      truth_set_value(l, c, cost);
    else
      c->within = false;
  }
  for (size_t i = 0; i < list->count; i++) list->candidates[i].within &= asked[i];
  wf_free(answers);
  wf_free(figures);
  wf_free(chosen);
  wf_free(asked);
}
