// SPDX-License-Identifier: Apache-2.0
// Judging a mapping: what the rules look at, and how they refuse.
#ifndef COMPILER_MAPPING_CHECK_H
#define COMPILER_MAPPING_CHECK_H

#include "compiler/mapping/mapping.h"

typedef struct map_checker {
  const map_layer *layer;
  const map_mapping *mapping;
  const hw_array *array;
  hw_derived hw;
  wf_diag *diag;  // NULL: silent
  bool good;
} map_checker;

#define REFUSE(c, ...)                                                              \
  do {                                                                              \
    (c)->good = false;                                                              \
    if ((c)->diag != NULL) wf_error((c)->diag, wf_in_file("mapping"), __VA_ARGS__); \
  } while (false)

#endif
