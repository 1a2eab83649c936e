// SPDX-License-Identifier: Apache-2.0
// Inside of machine_work: a layer and its mapping on an array, and what the parts of the work ask of each other.
#ifndef SEARCH_MODEL_MACHINE_CONTEXT_H
#define SEARCH_MODEL_MACHINE_CONTEXT_H

#include "base/number.h"
#include "search/model/machine_work.h"

typedef struct machine_context {
  const map_layer *layer;
  const map_mapping *m;
  cost_model cost;
  map_footprint f;
  uint8_t depth[MAP_OPERANDS];  // slots that are used
  cost_places places;
} machine_context;

static inline block_dim_id input_channels(const map_layer *layer) {
  return layer->kind == MAP_DEPTHWISE ? BLOCK_DIM_K : BLOCK_DIM_C;
}

machine_context machine_context_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                                   const cost_constants *constants);
// The work of the whole.
machine_work machine_work_in(const machine_context *x);

// ---- what comes from main memory (machine_memory.c)

// Lines of an operand that the loops from a position on read; and how many lines have to lie in the L2 together, so
// that the next iteration of the loop in front of that position finds them there.
double machine_swept_lines(const machine_context *x, map_operand operand, int position);
double machine_kept_lines(const machine_context *x, map_operand operand, int position);
double machine_missed_lines(const machine_context *x, map_operand operand);
double machine_swept_bytes(const machine_context *x, map_operand operand, int position);

// ---- loads (machine_load.c)

cost_rows machine_weight_rows(const machine_context *x);
cost_rows machine_input_rows(const machine_context *x);
double machine_portions(const machine_context *x, map_operand operand);
machine_stream machine_stream_of(const machine_context *x, map_operand operand, double *memory);

// ---- stores (machine_work.c)

// Rows of pieces of results of the whole layer.
typedef struct machine_store_rows {
  double count, blocks, pieces;
  cost_requests each;
} machine_store_rows;
machine_store_rows machine_store_rows_of(const machine_context *x);
double machine_store_commands(const machine_context *x);
// Lines of results that are fetched, since a write covers a part of them only.
double machine_fetched_lines(const machine_context *x);

// ---- the mesh (machine_mesh.c)

// How results lie in the accumulator (buffers.c): in tiles of DIM rows if wide stores gain by it and there is room;
// rows of images that such tiles would cut into crumbs start at a tile each.
typedef struct machine_layout {
  bool tiled;
  int64_t pitch;  // from a row of an image to the next
} machine_layout;
machine_layout machine_result_layout(const machine_context *x);

// The rows of a tile as runs that one product each handles (schedule/plan.c): a run has at most DIM rows, crosses no
// tile of the accumulator, and its rows are evenly spaced in the scratchpad. A run of one row takes the next one,
// however far away; another spacing than before has to be configured.
typedef struct machine_runs {
  double count, rows, cycles;  // cycles: with weights that stay
  double last;                 // of them of the longest run
  double changes;              // of the spacing
  double full;                 // runs of DIM rows
  double held;                 // others whose time is that of a product in flight
} machine_runs;
machine_runs machine_runs_of(const machine_context *x);

double machine_mesh_cycles(const machine_context *x, double *pairs, double *products, double *fresh);

#endif
