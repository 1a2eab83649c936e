// SPDX-License-Identifier: Apache-2.0
// Where the buffers of mixed programs lie in the scratchpad.
#ifndef COMPILER_NETWORK_BANKS_H
#define COMPILER_NETWORK_BANKS_H

#include "compiler/block/block.h"
#include "compiler/mapping/mapping.h"
#include "hw/array.h"

// Gives every scratchpad buffer of the programs its rows. False: the banks have no room for them.
bool network_place_in_banks(block_program *const *programs, const map_layer *const *layers, const map_mapping *mappings,
                            int count, const hw_array *array);

#endif
