// SPDX-License-Identifier: Apache-2.0
// The gradient of the model of the machine (search/model/machine_slope.h) at a site: cycles of all networks by the
// parameters of the array, with the mappings that the model prefers there.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "search/codesign/internal.h"
#include "search/model/machine_slope.h"

// A gradient is asked of one mapping of each layer, the model's rung asks for some twenty.
static const double slopes_cost = 0.005;

static void add_layer(codesign_site *site, const codesign_layer *layer, const map_mapping *mapping, tape_trace *trace) {
  static const double share = 0.05;
  if (!machine_knows(&layer->layer)) return;
  const machine_slope_request q = {
      .layer = &layer->layer, .mapping = mapping, .array = &site->array, .constants = &cost_fitted, .share = share};
  const machine_slope slope = machine_slope_of(&q, trace);
  for (int a = 0; a < MACHINE_AXES; a++) site->slopes[a] += layer->times * slope.by[a];
}

void codesign_find_slopes(codesign_loop *l, codesign_site *site) {
  if (site->slopes != NULL || site->failed || site->rungs == 0) return;
  tape_trace *trace = tape_trace_create();
  site->slopes = WF_NEW_ARRAY(MACHINE_AXES, double);
  for (size_t i = 0; i < l->result->layer_count; i++) add_layer(site, &l->result->layers[i], &site->mappings[i], trace);
  tape_trace_destroy(trace);
  l->result->spent += slopes_cost;
}

static machine_axis axis_of(const hw_param *param) {
  int axis = 0;
  while (axis < MACHINE_AXES && hw_param_find(machine_axis_parameters[axis]) != param) axis++;
  return (machine_axis)axis;
}

bool codesign_has_slope(const codesign_site *site, const hw_param *param) {
  const machine_axis axis = axis_of(param);
  return axis != MACHINE_AXES && machine_axis_counts(&site->array, axis);
}

// What grows with a parameter grows in proportion, what falls is shared out among more of it; what falls faster than
// that, as products with the side, goes with a power.
double codesign_slope_cycles(const codesign_site *site, const hw_param *param, double from, double to) {
  const double all = site->cost[CODESIGN_MODEL].cycles, slope = site->slopes[axis_of(param)];
  const double degree = slope * from / all;
  if (from <= 0 || to <= 0) return slope * (to - from);
  if (degree < -1) return all * (pow(to / from, degree) - 1);
  return degree < 0 ? all * degree * (1 - from / to) : slope * (to - from);
}
