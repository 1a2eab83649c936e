// SPDX-License-Identifier: Apache-2.0
// Arrays that can be built for what a model wants: see truth.h.
#include <stdio.h>

#include "search/truth/loop.h"

bool truth_builds(const hw_array *array) {
  wf_diag silent = wf_diag_to(NULL);
  return hw_array_check(array, NULL, &silent);
}

static uint32_t power_of_two(double least) {
  uint32_t value = 1;
  while (value < least) value *= 2;
  return value;
}

// The least power of two, from `least` on, with which the array can be built: memories have no others.
static bool fit(hw_array *array, uint32_t *capacity, double least) {
  enum { KIB_MAX = 65536 };
  for (*capacity = power_of_two(least); *capacity <= KIB_MAX; *capacity *= 2)
    if (truth_builds(array)) return true;
  return false;
}

bool truth_array(const hw_array *base, const paper_hardware *hardware, hw_array *array) {
  *array = *base;
  array->mesh.rows = array->mesh.columns = power_of_two(hardware->side);
  array->mesh.tile_rows = array->mesh.tile_columns = 1;
  hw_array_widen_sums(array);
  snprintf(array->name, sizeof array->name, "found");
  array->description[0] = '\0';
  array->accumulator.capacity_kib = 1024;  // large enough for any side while the scratchpad is looked for
  return fit(array, &array->scratchpad.capacity_kib, hardware->scratchpad_kib) &&
         fit(array, &array->accumulator.capacity_kib, hardware->accumulator_kib);
}

paper_hardware truth_hardware_of(const hw_array *array) {
  return (paper_hardware){.side = hw_derive(array).dim,
                          .scratchpad_kib = array->scratchpad.capacity_kib,
                          .accumulator_kib = array->accumulator.capacity_kib};
}

static bool is_within(double size, double fixed, double most) {
  return fixed > 0 ? size == fixed : most <= 0 || size <= most;
}

bool truth_allows(const truth_loop *l, const hw_array *array) {
  const descent_plain_limits *limits = &l->options->goal.limits;
  const paper_hardware h = truth_hardware_of(array);
  const descent_plain_silicon silicon = descent_plain_silicon_of(&l->options->goal);
  const double area = l->options->goal.area_mm2_max;
  return is_within(h.side, limits->side_fixed, limits->side_max) &&
         is_within(h.scratchpad_kib, limits->scratchpad_kib_fixed, limits->scratchpad_kib_max) &&
         is_within(h.accumulator_kib, limits->accumulator_kib_fixed, limits->accumulator_kib_max) &&
         (area <= 0 || descent_plain_area_mm2(&silicon, &h) <= area);
}
