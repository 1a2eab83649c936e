// SPDX-License-Identifier: Apache-2.0
// See predict.h.
#include "search/predict/predict.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/layer/layer.h"
#include "search/predict/private.h"

// The layer as its kernel sees it: with few channels, a row of the window is summed over as one dimension.
static bool takes_mappings(map_layer *layer, const hw_array *array) {
  if (layer_kernel_of(layer, array) != LAYER_CONV2D_NARROW) return true;
  layer->size[BLOCK_DIM_C] *= layer->size[BLOCK_DIM_S];
  layer->size[BLOCK_DIM_S] = 1;
  return false;
}

static size_t kept_of(const predict_request *request) {
  const unsigned kept = request->kept == 0 ? 1 : request->kept;
  return kept < PREDICT_KEPT_MAX ? kept : PREDICT_KEPT_MAX;
}

static const predict_choice *find(const predict_chooser *c, const map_mapping *mapping) {
  for (int s = 0; s < PREDICT_SOURCES; s++)
    for (size_t i = 0; i < c->lists[s].count; i++)
      if (map_equal(&c->lists[s].choices[i].mapping, mapping)) return &c->lists[s].choices[i];
  return NULL;
}

// Whether the model hardly tells two mappings apart.
static bool is_alike(const predict_choice *a, const predict_choice *b) {
  static const double share = 0.005;
  return fabs(a->cycles - b->cycles) < share * a->cycles && fabs(a->energy_pj - b->energy_pj) <= share * a->energy_pj;
}

// Of steps that are alike only the best is kept: a list of neighbours of one mapping would say little. True: the list
// has none that is alike and better.
static bool displace(predict_list *list, const predict_choice *choice) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const bool alike = is_alike(&list->choices[i], choice);
    if (alike && list->choices[i].value <= choice->value) return false;
    if (!alike) list->choices[kept++] = list->choices[i];
  }
  list->count = kept;
  return true;
}

// Behind choices that are as good.
static void insert(predict_list *list, size_t room, const predict_choice *choice) {
  if (choice->source == PREDICT_CLIMBED && !displace(list, choice)) return;
  size_t place = list->count;
  while (place > 0 && choice->value < list->choices[place - 1].value) place--;
  if (place == room) return;
  if (list->count < room) list->count++;
  memmove(&list->choices[place + 1], &list->choices[place], (list->count - place - 1) * sizeof *list->choices);
  list->choices[place] = *choice;
}

static void find_best(predict_chooser *c) {
  c->best = NULL;
  for (int s = 0; s < PREDICT_SOURCES; s++) {
    const predict_list *list = &c->lists[s];
    if (list->count > 0 && (c->best == NULL || list->choices[0].value < c->best->value)) c->best = &list->choices[0];
  }
}

double predict_value(descent_plain_objective objective, double cycles, bool has_energy, double energy_pj) {
  const paper_cost cost = {.cycles = cycles, .energy_uj = 1e-6 * energy_pj};
  return objective == PLAIN_AREA_DELAY || !has_energy ? cycles : descent_value(objective, cost);
}

double predict_try(predict_chooser *c, const map_mapping *mapping, predict_source source) {
  const predict_choice *known = find(c, mapping);
  if (known != NULL) return known->value;
  const machine_prediction p = machine_predict(&c->layer, mapping, c->request->array, &cost_fitted);
  c->evaluations++;
  const predict_choice choice = {.mapping = *mapping,
                                 .source = source,
                                 .cycles = p.cycles,
                                 .has_energy = p.has_energy,
                                 .energy_pj = p.energy_pj,
                                 .value = predict_value(c->request->objective, p.cycles, p.has_energy, p.energy_pj)};
  if (!isfinite(choice.value)) return INFINITY;
  insert(&c->lists[source], c->kept, &choice);
  find_best(c);
  return choice.value;
}

// The best, then the sources in turn.
static void merge(const predict_chooser *c, predict_result *result) {
  size_t next[PREDICT_SOURCES] = {0};
  if (c->best == NULL) return;
  result->choices = WF_NEW_ARRAY(c->kept, predict_choice);
  result->choices[result->count++] = *c->best;
  next[c->best->source] = 1;
  for (bool any = true; any;) {
    any = false;
    for (int s = PREDICT_SOURCES; s-- > 0;) {
      if (next[s] == c->lists[s].count || result->count == c->kept) continue;
      result->choices[result->count++] = c->lists[s].choices[next[s]++];
      any = true;
    }
  }
}

// What is learned of the model moves the figures of choices and not their order: among mappings of one layer it is
// right less often than the model (`weft bench learn`). A correction is at most by four, as far as samples went.
static void correct(const predict_chooser *c, predict_result *result) {
  static const double most = 1.3862943611198906;
  const predict_request *r = c->request;
  for (size_t i = 0; i < result->count && r->learned != NULL; i++) {
    predict_choice *choice = &result->choices[i];
    const machine_prediction p = machine_predict(&c->layer, &choice->mapping, r->array, &cost_fitted);
    float features[LEARN_FEATURES];
    learn_features_of(&c->layer, &choice->mapping, r->array, &p, features);
    choice->cycles *= exp(wf_min(wf_max(learn_trees_say(r->learned, features), -most), most));
    choice->value = predict_value(r->objective, choice->cycles, choice->has_energy, choice->energy_pj);
  }
}

// A layer that the model does not know gets the mapper's mapping, and what the mapper expects of it.
static void estimate(const predict_request *request, predict_result *result) {
  wf_diag silent = wf_diag_to(NULL);
  const layer_desc described = layer_of_table(request->layer);
  layer_call call;
  map_mapping best;
  if (!layer_call_of(&described, request->array, &call, &silent) ||
      map_best(&call.layer, request->array, NULL, BLOCK_STYLE_PRIMITIVE, &best, 1) == 0)
    return;
  const map_footprint footprint = map_measure(&call.layer, &best, request->array);
  const machine_prediction p = machine_estimate(&call.layer, &best, request->array, &footprint);
  result->choices = WF_NEW(predict_choice);
  result->choices[result->count++] =
      (predict_choice){.mapping = best,
                       .source = PREDICT_MAPPER,
                       .cycles = p.cycles,
                       .has_energy = p.has_energy,
                       .energy_pj = p.energy_pj,
                       .value = predict_value(request->objective, p.cycles, p.has_energy, p.energy_pj)};
}

predict_result predict_layer(const predict_request *request) {
  predict_chooser c = {.request = request, .layer = *request->layer, .kept = kept_of(request)};
  predict_result result = {.takes_mappings = takes_mappings(&c.layer, request->array)};
  const bool takes = result.takes_mappings;
  if (!machine_knows(&c.layer)) {
    result.takes_mappings = false;
    estimate(request, &result);
    return result;
  }
  for (int s = 0; s < PREDICT_SOURCES; s++) c.lists[s].choices = WF_NEW_ARRAY(c.kept, predict_choice);
  map_mapping best[MAP_BEST_MAX];
  const unsigned tried = request->tried == 0 && !takes ? 1 : request->tried;
  const size_t room = tried < MAP_BEST_MAX ? tried : MAP_BEST_MAX;
  const size_t count = map_best(&c.layer, request->array, NULL, BLOCK_STYLE_PRIMITIVE, best, room);
  for (size_t i = 0; i < count; i++) predict_try(&c, &best[i], PREDICT_MAPPER);
  for (size_t i = 0; i < request->given_count && takes; i++) predict_try(&c, &request->given[i], PREDICT_GIVEN);
  if (takes) predict_climb(&c, request->climbs);
  merge(&c, &result);
  correct(&c, &result);
  result.evaluations = c.evaluations;
  for (int s = 0; s < PREDICT_SOURCES; s++) wf_free(c.lists[s].choices);
  return result;
}

void predict_release(predict_result *result) {
  wf_free(result->choices);
  *result = (predict_result){0};
}
