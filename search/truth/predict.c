// See predict.h.
#include "search/truth/predict.h"

#include <math.h>
#include <string.h>

#include "compiler/layer/layer.h"

// The layer as its kernel sees it: with few channels, a row of the window is summed over as one dimension.
static bool takes_mappings(map_layer *layer, const hw_array *array) {
  layer_call call;
  wf_diag silent = wf_diag_to(NULL);
  if (!layer_call_of(layer, array, &call, &silent) || strcmp(call.kernel, "conv2d_narrow") != 0) return true;
  layer->size[BLOCK_DIM_C] *= layer->size[BLOCK_DIM_S];
  layer->size[BLOCK_DIM_S] = 1;
  return false;
}

typedef struct chooser {
  const map_layer *layer;
  const hw_array *array;
  plain_objective objective;
  predict_result best;
  double value;
} chooser;

static bool try_mapping(chooser *c, const map_mapping *mapping) {
  const machine_prediction p = machine_predict(c->layer, mapping, c->array, &machine_fitted);
  c->best.evaluations++;
  const bool delay = c->objective == PLAIN_AREA_DELAY || !p.has_energy;
  const paper_cost cost = {.cycles = p.cycles, .energy_uj = 1e-6 * p.energy_pj};
  const double value = delay ? p.cycles : descent_value(c->objective, cost);
  if (value >= c->value) return false;
  c->value = value;
  c->best.good = true;
  c->best.mapping = *mapping;
  c->best.cycles = p.cycles;
  c->best.has_energy = p.has_energy;
  c->best.energy_pj = p.energy_pj;
  return true;
}

predict_result predict_layer(const map_layer *layer, const hw_array *array, const map_mapping *given,
                             size_t given_count, unsigned tried, plain_objective objective) {
  map_layer seen = *layer;
  chooser c = {.layer = &seen, .array = array, .objective = objective, .value = INFINITY};
  c.best.takes_mappings = takes_mappings(&seen, array);
  if (!machine_knows(&seen)) return c.best;
  map_mapping best[MAP_BEST_MAX];
  if (tried == 0 && !c.best.takes_mappings) tried = 1;
  const size_t room = tried < MAP_BEST_MAX ? tried : MAP_BEST_MAX;
  const size_t count = map_best(&seen, array, NULL, BLOCK_STYLE_PRIMITIVE, best, room);
  for (size_t i = 0; i < count; i++) try_mapping(&c, &best[i]);
  for (size_t i = 0; i < given_count && c.best.takes_mappings; i++) c.best.given |= try_mapping(&c, &given[i]);
  return c.best;
}

static void predict_for(plain_objective objective, const work_request *request, work_result *result) {
  const predict_result p = predict_layer(&request->layer, &request->array, NULL, 0, request->tune, objective);
  if (!p.good) {
    work_fail(result, request->id, WORK_CANNOT_MAP, "no mapping fits, or the model of the machine does not know it");
    return;
  }
  work_fail(result, request->id, WORK_GOOD, "");
  result->cycles = (uint64_t)p.cycles;
  result->has_energy = p.has_energy;
  result->energy_pj = p.energy_pj;
  result->macs = (uint64_t)map_macs(&request->layer);
}

static void for_edp(measure_known *known, const work_request *request, work_result *result) {
  (void)known;
  predict_for(PLAIN_EDP, request, result);
}
static void for_latency(measure_known *known, const work_request *request, work_result *result) {
  (void)known;
  predict_for(PLAIN_LATENCY, request, result);
}
static void for_energy(measure_known *known, const work_request *request, work_result *result) {
  (void)known;
  predict_for(PLAIN_ENERGY, request, result);
}

pool_work *predict_work_for(plain_objective objective) {
  static pool_work *const works[PLAIN_OBJECTIVES] = {[PLAIN_EDP] = for_edp,
                                                     [PLAIN_LATENCY] = for_latency,
                                                     [PLAIN_ENERGY] = for_energy,
                                                     [PLAIN_AREA_DELAY] = for_latency};
  return works[objective];
}
