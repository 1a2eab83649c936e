// SPDX-License-Identifier: Apache-2.0
// See state.h. Costs are kept for the hardware in force; sums over occurrences are kept beside them.
#include "search/descent/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"

double descent_value(descent_plain_objective objective, paper_cost cost) {
  assert(objective != PLAIN_AREA_DELAY);
  switch (objective) {
    case PLAIN_LATENCY:
      return cost.cycles;
    case PLAIN_ENERGY:
      return cost.energy_uj;
    default:
      return paper_edp(cost);
  }
}

static double objective_of(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost) {
  if (goal->objective != PLAIN_AREA_DELAY) return descent_value(goal->objective, cost);
  const descent_plain_silicon silicon = descent_plain_silicon_of(goal);
  return descent_plain_area_mm2(&silicon, hardware) * cost.cycles;
}

// By which factors area and power are above their bounds; 1: below.
static double excess_of(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost) {
  const descent_plain_silicon silicon = descent_plain_silicon_of(goal);
  double excess = 1;
  if (goal->area_mm2_max > 0) excess *= fmax(1, descent_plain_area_mm2(&silicon, hardware) / goal->area_mm2_max);
  if (goal->power_mw_max > 0) excess *= fmax(1, descent_plain_power_mw(&silicon, cost) / goal->power_mw_max);
  return excess;
}

double descent_goal_value(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost) {
  static const double steepness = 24;
  const double value = objective_of(goal, hardware, cost);
  if (goal->area_mm2_max <= 0 && goal->power_mw_max <= 0) return value;
  return value * pow(excess_of(goal, hardware, cost), steepness);
}

bool descent_within_bounds(const descent_goal *goal, const paper_hardware *hardware, paper_cost cost) {
  return excess_of(goal, hardware, cost) <= 1 + 1e-9;
}

static bool settle(double *size, double fixed, double limit) {
  if (fixed > 0) {
    const bool fits = *size <= fixed;
    *size = fixed;
    return fits;
  }
  return limit <= 0 || *size <= limit;
}

bool descent_size(const descent_plain_limits *limits, const paper_need *most, paper_hardware *hardware) {
  double side = fmax(2, most->side);
  if (!settle(&side, limits->side_fixed, limits->side_max)) return false;
  *hardware = (paper_hardware){.side = side,
                               .scratchpad_kib = ceil(most->scratchpad_words / 1024),
                               .accumulator_kib = ceil(side * most->column_words * 4 / 1024)};
  return settle(&hardware->scratchpad_kib, limits->scratchpad_kib_fixed, limits->scratchpad_kib_max) &&
         settle(&hardware->accumulator_kib, limits->accumulator_kib_fixed, limits->accumulator_kib_max);
}

static void widen(paper_need *most, const paper_need *need) {
  most->side = fmax(most->side, need->side);
  most->scratchpad_words = fmax(most->scratchpad_words, need->scratchpad_words);
  most->column_words = fmax(most->column_words, need->column_words);
}

static void add_cost(paper_cost *sum, paper_cost cost, double count) {
  sum->cycles += cost.cycles * count;
  sum->energy_uj += cost.energy_uj * count;
}

static double count_of(const descent_state *s, size_t i) { return layers_products(&s->goal.network->layers[i]); }

descent_state *descent_state_create(const descent_goal *goal) {
  descent_state *s = WF_NEW(descent_state);
  s->goal = *goal;
  s->layers = WF_NEW_ARRAY(goal->network->count, descent_layer);
  for (size_t i = 0; i < goal->network->count; i++)
    s->layers[i].mapping = paper_mapping_start(&goal->network->layers[i]);
  descent_state_refresh(s);
  return s;
}

void descent_state_destroy(descent_state *s) {
  if (!s) return;
  wf_free(s->layers);
  wf_free(s);
}

void descent_state_copy(descent_state *to, const descent_state *from) {
  descent_layer *layers = to->layers;
  const uint64_t evaluations = to->evaluations;
  memcpy(layers, from->layers, from->goal.network->count * sizeof *layers);
  *to = *from;
  to->layers = layers;
  to->evaluations = evaluations;
}

void descent_state_resize(descent_state *s) {
  s->total = s->goal.rest;
  s->value = INFINITY;
  if (!descent_size(&s->goal.limits, &s->most, &s->hardware)) return;
  for (size_t i = 0; i < s->goal.network->count; i++) {
    s->layers[i].cost = paper_cost_of(&s->layers[i].traffic, &s->hardware, s->goal.constants);
    add_cost(&s->total, s->layers[i].cost, count_of(s, i));
  }
  s->value = descent_goal_value(&s->goal, &s->hardware, s->total);
}

void descent_state_refresh(descent_state *s) {
  s->most = (paper_need){0};
  for (size_t i = 0; i < s->goal.network->count; i++) {
    descent_layer *l = &s->layers[i];
    l->need = paper_need_of(&s->goal.network->layers[i], &l->mapping);
    l->traffic = paper_traffic_of(&s->goal.network->layers[i], &l->mapping);
    widen(&s->most, &l->need);
  }
  s->evaluations += s->goal.network->count;
  descent_state_resize(s);
}

descent_others descent_others_of(const descent_state *s, size_t layer) {
  descent_others o = {.layer = layer, .total = s->goal.rest};
  for (size_t i = 0; i < s->goal.network->count; i++) {
    if (i == layer) continue;
    widen(&o.most, &s->layers[i].need);
    add_cost(&o.total, s->layers[i].cost, count_of(s, i));
  }
  return o;
}

static bool same_hardware(const paper_hardware *a, const paper_hardware *b) {
  return a->side == b->side && a->scratchpad_kib == b->scratchpad_kib && a->accumulator_kib == b->accumulator_kib;
}

double descent_try(descent_state *s, const descent_others *o, const paper_mapping *mapping, descent_layer *candidate) {
  const layers_layer *layer = &s->goal.network->layers[o->layer];
  s->evaluations++;
  candidate->mapping = *mapping;
  candidate->need = paper_need_of(layer, mapping);
  paper_need most = o->most;
  widen(&most, &candidate->need);
  paper_hardware hardware;
  if (!descent_size(&s->goal.limits, &most, &hardware)) return INFINITY;
  candidate->traffic = paper_traffic_of(layer, mapping);
  candidate->cost = paper_cost_of(&candidate->traffic, &hardware, s->goal.constants);
  paper_cost total = o->total;
  if (!isfinite(s->value) || !same_hardware(&hardware, &s->hardware)) {
    total = s->goal.rest;
    for (size_t i = 0; i < s->goal.network->count; i++)
      if (i != o->layer)
        add_cost(&total, paper_cost_of(&s->layers[i].traffic, &hardware, s->goal.constants), count_of(s, i));
  }
  add_cost(&total, candidate->cost, count_of(s, o->layer));
  return descent_goal_value(&s->goal, &hardware, total);
}

void descent_accept(descent_state *s, const descent_others *o, const descent_layer *candidate) {
  s->layers[o->layer] = *candidate;
  s->most = o->most;
  widen(&s->most, &candidate->need);
  descent_state_resize(s);
}
