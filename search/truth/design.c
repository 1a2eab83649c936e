// See design.h.
#include "search/truth/design.h"

#include <math.h>

#include "hw/base/alloc.h"
#include "search/truth/predict.h"
#include "search/truth/realise.h"
#include "search/truth/truth.h"

static void add_layer(const descent_goal *goal, const paper_mapping *proposed, unsigned tried, size_t i, design *d) {
  const layers_layer *layer = &goal->network->layers[i];
  const map_layer mapped = layers_to_map(layer);
  map_mapping own[REALISE_MAX];
  const size_t count = realise_mappings(layer, proposed, &d->array, own);
  const unsigned others = tried > 0 || count > 0 ? tried : 1;
  const predict_result p = predict_layer(&mapped, &d->array, own, count, others, goal->objective);
  d->mappings[i] = p.mapping;
  d->mapped[i] = p.good && p.takes_mappings;
  d->own += p.good && p.given;
  d->predicted = d->predicted && p.good && p.has_energy;
  d->prediction.cycles += (double)layer->count * p.cycles;
  d->prediction.energy_uj += (double)layer->count * p.energy_pj * 1e-6;
}

static void add_layers(const descent_goal *goal, const hw_array *array, const paper_mapping *mappings, unsigned tried,
                       design *d) {
  const size_t count = goal->network->count;
  *d = (design){.array = *array, .predicted = true};
  d->mappings = WF_NEW_ARRAY(count, map_mapping);
  d->mapped = WF_NEW_ARRAY(count, bool);
  for (size_t i = 0; i < count; i++) add_layer(goal, &mappings[i], tried, i, d);
}

// An array and its mappings take the place of what there is if the model of the machine thinks them better.
static void offer(const descent_goal *goal, const hw_array *array, const paper_mapping *mappings, unsigned tried,
                  double *value, design *d) {
  design next;
  add_layers(goal, array, mappings, tried, &next);
  const double here = next.predicted ? truth_objective(goal, array, next.prediction) : INFINITY;
  if (d->mappings != NULL && here >= *value) {
    design_release(&next);
    return;
  }
  design_release(d);
  *d = next;
  *value = here;
}

bool design_create(const descent_goal *goal, const hw_array *base, const paper_hardware *hardware,
                   const paper_mapping *mappings, unsigned tried, design *d) {
  enum { SIDE_MIN = 4 };
  double value = INFINITY;
  *d = (design){0};
  if (hardware == NULL) {
    offer(goal, base, mappings, tried, &value, d);
    return true;
  }
  for (int twice = 0; twice < 4; twice++) {
    const paper_hardware larger = {.side = fmax(SIDE_MIN, hardware->side),
                                   .scratchpad_kib = hardware->scratchpad_kib * (1 + (twice & 1)),
                                   .accumulator_kib = hardware->accumulator_kib * (1 + (twice >> 1))};
    hw_array array;
    if (truth_array(base, &larger, &array)) offer(goal, &array, mappings, tried, &value, d);
  }
  return d->mappings != NULL;
}

void design_release(design *d) {
  wf_free(d->mappings);
  wf_free(d->mapped);
  *d = (design){0};
}
