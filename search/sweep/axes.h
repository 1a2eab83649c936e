// SPDX-License-Identifier: Apache-2.0
// Axes of a design space: parameters of the array and the values they take, as texts of sweeps and spaces have them.
#ifndef SEARCH_SWEEP_AXES_H
#define SEARCH_SWEEP_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "hw/array.h"
#include "hw/yaml_tree.h"

enum { SWEEP_TOGETHER_MAX = 8 };

// Parameters that change together, and the values they take.
typedef struct sweep_axis {
  const hw_param *params[SWEEP_TOGETHER_MAX];
  int param_count;
  uint32_t *values;  // value v of parameter p: values[v * param_count + p]
  size_t value_count;
  wf_location where;
} sweep_axis;

// Reads the map `parameters` of a text into the arena; everything wrong is reported, up to some errors. A parameter is
// in one axis at most.
bool sweep_axes_read(wf_arena *arena, const hw_yaml_node *parameters, sweep_axis **axes, size_t *count, wf_diag *diag);

// Gives an array value `at` of an axis.
void sweep_axis_set(const sweep_axis *axis, size_t at, hw_array *array);

#endif
