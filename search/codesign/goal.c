// SPDX-License-Identifier: Apache-2.0
// Objectives and bounds: see codesign.h.
#include <math.h>
#include <string.h>

#include "search/codesign/internal.h"

const char *const codesign_objective_names[CODESIGN_OBJECTIVE_COUNT] = {
#define X(NAME, name, ...) name,
    CODESIGN_OBJECTIVES(X)
#undef X
};

const char *const codesign_objective_units[CODESIGN_OBJECTIVE_COUNT] = {
#define X(NAME, name, latency, energy, area, unit) unit,
    CODESIGN_OBJECTIVES(X)
#undef X
};

static const double exponents[CODESIGN_OBJECTIVE_COUNT][3] = {
#define X(NAME, name, latency, energy, area, unit) {latency, energy, area},
    CODESIGN_OBJECTIVES(X)
#undef X
};

const char *const codesign_method_names[CODESIGN_METHOD_COUNT] = {
#define X(NAME, name) name,
    CODESIGN_METHODS(X)
#undef X
};

const char *const codesign_rung_names[CODESIGN_RUNGS] = {"model", "flow", "cycle"};

static bool find(const char *const *names, size_t count, const char *name, size_t *place) {
  for (*place = 0; *place < count; (*place)++)
    if (strcmp(names[*place], name) == 0) return true;
  return false;
}

bool codesign_objective_named(const char *name, codesign_objective *objective) {
  size_t place;
  if (!find(codesign_objective_names, CODESIGN_OBJECTIVE_COUNT, name, &place)) return false;
  *objective = (codesign_objective)place;
  return true;
}

bool codesign_method_named(const char *name, codesign_method *method) {
  size_t place;
  if (!find(codesign_method_names, CODESIGN_METHOD_COUNT, name, &place)) return false;
  *method = (codesign_method)place;
  return true;
}

double codesign_exponent(codesign_objective objective, unsigned of) { return exponents[objective][of]; }

static double log_value(codesign_objective objective, codesign_cost cost) {
  const double *e = exponents[objective];
  return e[0] * log(cost.ms) + e[1] * log(cost.energy_uj) + e[2] * log(cost.area_mm2);
}

double codesign_value(codesign_objective objective, codesign_cost cost) { return exp(log_value(objective, cost)); }

static double excess(double value, double bound) { return bound > 0 && value > bound ? log(value / bound) : 0; }

// Of all bounds together, as a logarithm. uJ / ms are mW.
static double all_excess(const codesign_bounds *bounds, codesign_cost cost) {
  return excess(cost.area_mm2, bounds->area_mm2) + excess(cost.ms, bounds->latency_ms) +
         excess(cost.energy_uj / cost.ms, bounds->power_mw);
}

bool codesign_within(const codesign_bounds *bounds, codesign_cost cost) { return all_excess(bounds, cost) <= 0; }

// A point beyond the bounds is worse than every one within, and the worse the further it is.
double codesign_goal(const codesign_loop *l, codesign_cost cost) {
  static const double beyond = 20, steepness = 20;
  const codesign_options *o = l->options;
  const double over = all_excess(&o->bounds, cost);
  double value = log_value(o->objective, cost);
  if (o->front) value = (1 - l->share) * value + l->share * log_value(o->second, cost);
  return over > 0 ? value + beyond + steepness * over : value;
}
