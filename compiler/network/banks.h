// SPDX-License-Identifier: Apache-2.0
// Where the buffers of mixed programs lie in the scratchpad.
#ifndef COMPILER_NETWORK_BANKS_H
#define COMPILER_NETWORK_BANKS_H

#include "compiler/block/block.h"
#include "compiler/mapping/mapping.h"
#include "hw/array.h"

// Layers that are placed together.
typedef struct network_banked {
  block_program *const *programs;
  const map_layer *const *layers;  // NULL: something else, whose buffers have their places
  const map_mapping *mappings;
  int count;
} network_banked;

typedef struct network_rows {
  int64_t first, count;
} network_rows;

// Rows of the scratchpad that rows (curves, the normaliser) or buffers placed before have.
enum { NETWORK_TAKEN_MAX = 64 };
typedef struct network_taken {
  network_rows rows[NETWORK_TAKEN_MAX];
  int count;
} network_taken;

// The first `count` rows from `at` on that are not taken; -1: they would reach beyond row `end`.
int64_t network_free_rows(const network_taken *taken, int64_t at, int64_t count, int64_t end);
// Gives every scratchpad buffer of the layers rows that are not taken. False: there is no room for them.
bool network_place_in_banks(const network_banked *all, const network_taken *taken, const hw_array *array);

#endif
