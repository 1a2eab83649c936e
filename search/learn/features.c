// SPDX-License-Identifier: Apache-2.0
// See features.h.
#include "search/learn/features.h"

#include <math.h>

#include "search/model/machine_work.h"

const char *const learn_feature_names[LEARN_FEATURES] = {
#define X(SITE, name, value) #name,
#include "search/learn/features.def"
#undef X
};

static const uint8_t sites[LEARN_FEATURES] = {
#define X(SITE, name, value) LEARN_##SITE,
#include "search/learn/features.def"
#undef X
};

learn_places learn_places_of(void) {
  learn_places places = {{0}};
  for (int i = 0; i < LEARN_FEATURES; i++) places.first[sites[i] + 1] = i + 1;
  return places;
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
static double logarithm(double x) { return x > 0 ? log(x) : 0; }

void learn_features_of(const map_layer *l, const map_mapping *mapping, const hw_array *a, const machine_prediction *p,
                       float features[LEARN_FEATURES]) {
  const map_mapping trimmed = machine_trimmed(l, mapping), *m = &trimmed;
  const machine_work work = machine_work_of(l, m, a, &cost_fitted), *w = &work;
  const map_footprint f = map_measure(l, m, a);
  const double estimate = map_estimate(l, m, a, &f, &cost_fitted, INFINITY);
#define LN(x) logarithm((double)(x))
#define SHARE(part, whole) share((double)(part), (double)(whole))
#define X(SITE, name, value) features[LEARN_FEATURE_##name] = (float)(value);
#include "search/learn/features.def"
#undef X
#undef LN
#undef SHARE
}
