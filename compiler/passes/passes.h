// SPDX-License-Identifier: Apache-2.0
// The passes that change a kernel's block program in place, in the order in which they run. Each keeps the program's
// meaning (block_run) and leaves a program that block_verify accepts. False after the reason was reported.
#ifndef COMPILER_PASSES_PASSES_H
#define COMPILER_PASSES_PASSES_H

#include <stdbool.h>

#include "base/diag.h"
#include "compiler/block/block.h"
#include "compiler/mapping/mapping.h"
#include "hw/array.h"

typedef bool pass_function(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag);

pass_function pass_fuse;     // element-wise chains around products become loads, overwrite-first products and epilogues
pass_function pass_tile;     // splits and reorders loops as the mapping says
pass_function pass_scope;    // operands of products into the scratchpad, results into the accumulator
pass_function pass_hoist;    // moves loads out of the loops that their buffer outlives
pass_function pass_buffers;  // depth, layout and place of each buffer

#endif
