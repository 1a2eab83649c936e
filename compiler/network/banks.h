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

enum { NETWORK_BANKS_MAX = 64 };

// Gives every scratchpad buffer of the layers its rows. The last `taken` rows of each bank are somebody else's. False:
// the banks have no room for them.
bool network_place_in_banks(const network_banked *all, const int64_t taken[NETWORK_BANKS_MAX], const hw_array *array);

#endif
