// SPDX-License-Identifier: Apache-2.0
// A design space: an array, parameters of it that are open with the values they may take, and constraints between them
// (docs/codesign.md). A point is a value for each axis.
#ifndef SEARCH_CODESIGN_SPACE_H
#define SEARCH_CODESIGN_SPACE_H

#include "search/codesign/rule.h"
#include "search/sweep/axes.h"

enum { CODESIGN_AXES_MAX = 32 };

typedef struct codesign_space {
  wf_arena *arena;
  const char *name;
  hw_array base;
  sweep_axis *axes;
  size_t axis_count;
  const codesign_rule **rules;
  size_t rule_count;
} codesign_space;

typedef struct codesign_point {
  uint16_t at[CODESIGN_AXES_MAX];  // places of values; 0 behind the last axis
} codesign_point;

// A file, or "default" and the other spaces that are shipped, by their names (workloads/spaces). False after errors
// were reported; release in any case.
bool codesign_space_load(codesign_space *space, const char *name_or_path, wf_diag *diag);
bool codesign_space_parse(codesign_space *space, const char *file, const char *text, size_t length, wf_diag *diag);
void codesign_space_release(codesign_space *space);

// How many points there are, whether or not they can be built.
double codesign_space_points(const codesign_space *space);
// The point of a number below that, the last axis changing fastest.
codesign_point codesign_space_point(const codesign_space *space, uint64_t number);

// Whether the point can be built and holds all constraints; the array in any case.
bool codesign_space_array(const codesign_space *space, const codesign_point *point, hw_array *array);

// The point of the space that is nearest to its base: each axis has the base's value, or else the one next to it.
codesign_point codesign_space_base(const codesign_space *space);

static inline bool codesign_point_equal(const codesign_point *a, const codesign_point *b) {
  for (size_t i = 0; i < CODESIGN_AXES_MAX; i++)
    if (a->at[i] != b->at[i]) return false;
  return true;
}

// How far two points are apart, each axis having length 1.
double codesign_point_distance(const codesign_space *space, const codesign_point *a, const codesign_point *b);

// "mesh.rows, mesh.columns" and "32" (or "32, 16") in a text.
void codesign_axis_name(const sweep_axis *axis, char *text, size_t size);
void codesign_axis_value(const sweep_axis *axis, size_t at, char *text, size_t size);

#endif
