// SPDX-License-Identifier: Apache-2.0
// Samples that corrections are learned from and judged by: features, what the model said and what an engine took. Rows
// of one group are mappings of one layer on one array and stand together.
#ifndef SEARCH_LEARN_SET_H
#define SEARCH_LEARN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "search/learn/features.h"

typedef struct learn_row {
  float features[LEARN_FEATURES];
  float model;   // logarithm of the model's cycles
  float target;  // logarithm of the simulated cycles over the model's
  uint32_t group;
} learn_row;

typedef struct learn_set {
  learn_row *rows;
  size_t count;
} learn_set;

learn_row learn_row_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array, double cycles,
                       uint32_t group);

// Those of `from` for which `keep` holds; release the set. Rows of a group stay together.
learn_set learn_set_select(const learn_set *from, bool (*keep)(const learn_row *row, const void *context),
                           const void *context);
// The rows behind the group that begins at `first`.
size_t learn_group_end(const learn_set *set, size_t first);
void learn_set_release(learn_set *set);

// As text: a line of names, then a row a line. Reading refuses features of another version.
void learn_set_write(const learn_set *set, FILE *out);
bool learn_set_read(learn_set *set, const char *path, wf_diag *diag);

#endif
