// See design.h.
#include "search/truth/design.h"

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

bool design_create(const descent_goal *goal, const hw_array *base, const paper_hardware *hardware,
                   const paper_mapping *mappings, unsigned tried, design *d) {
  enum { SIDE_MIN = 4 };
  const size_t count = goal->network->count;
  *d = (design){.predicted = true};
  paper_hardware least = *hardware;
  if (least.side < SIDE_MIN) least.side = SIDE_MIN;
  if (!truth_array(base, &least, &d->array)) return false;
  d->mappings = WF_NEW_ARRAY(count, map_mapping);
  d->mapped = WF_NEW_ARRAY(count, bool);
  for (size_t i = 0; i < count; i++) add_layer(goal, &mappings[i], tried, i, d);
  return true;
}

void design_release(design *d) {
  wf_free(d->mappings);
  wf_free(d->mapped);
  *d = (design){0};
}
