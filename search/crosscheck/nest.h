// SPDX-License-Identifier: Apache-2.0
// The mapping that the compiler chose for a layer, as the levels of Timeloop's architecture (hw/export/timeloop_v4.c).
//
// Timeloop has one nest of loops: DRAM, Scratchpad, columns, Accumulator, rows, Registers. Of a mapping here
//   DRAM         has the loops inside of which weights or inputs are loaded, whichever is further in: what Timeloop
//                keeps in the scratchpad is then never more than what lies there
//   Scratchpad   the other loops
//   PEColumns    the columns of a block of weights, PERows its rows
//   Accumulator  the blocks of a tile: its sums stay there
//   Registers    the rows of results that go by while a block of weights stays
// Factors multiply to `size`, which is the layer's, or more where the last block is smaller than the others: Timeloop's
// front end takes whole factors alone.
#ifndef SEARCH_CROSSCHECK_NEST_H
#define SEARCH_CROSSCHECK_NEST_H

#include "base/diag.h"
#include "compiler/mapping/mapping.h"
#include "search/layers/layers.h"

typedef enum {
  NEST_DRAM,
  NEST_SCRATCHPAD,
  NEST_COLUMNS,
  NEST_ACCUMULATOR,
  NEST_ROWS,
  NEST_REGISTERS,
  NEST_LEVELS,
} crosscheck_nest_level;

typedef struct crosscheck_nest {
  int64_t size[BLOCK_DIMS];  // in whole blocks
  int64_t factor[NEST_LEVELS][BLOCK_DIMS];
  uint8_t order[NEST_LEVELS][BLOCK_DIMS];  // block_dim_id, innermost first
  map_mapping mapping;                     // what it was made from
  bool merged;  // a dimension has two loops in one level: they stand where the outer one does
  bool stays;   // weights or inputs stay longer in the scratchpad than Timeloop keeps them
} crosscheck_nest;

// Compiles the layer. False after the reason was reported: no kernel, or one that computes no product with weights that
// stay in the mesh, of the layer's own dimensions (groups, depthwise and batched products).
bool crosscheck_nest_of(const layers_layer *layer, const hw_array *array, crosscheck_nest *nest, wf_diag *diag);

// As a mapping of Timeloop 0.4.
void crosscheck_write_nest(const crosscheck_nest *nest, FILE *out);

#endif
