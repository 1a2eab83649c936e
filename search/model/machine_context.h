// SPDX-License-Identifier: Apache-2.0
// Inside of machine_work: a layer and its mapping on an array, and what the parts of the work ask of each other.
#ifndef SEARCH_MODEL_MACHINE_CONTEXT_H
#define SEARCH_MODEL_MACHINE_CONTEXT_H

#include "base/number.h"
#include "search/model/machine_private.h"

typedef struct machine_context {
  const map_layer *layer;
  const map_mapping *m;
  cost_model cost;
  map_footprint f;
  cost_places places;
} machine_context;

static inline block_dim_id input_channels(const map_layer *layer) {
  return layer->kind == MAP_DEPTHWISE ? BLOCK_DIM_K : BLOCK_DIM_C;
}

// ---- what comes from main memory (machine_memory.c)

double machine_missed_lines(const machine_context *x, map_operand operand);
double machine_swept_bytes(const machine_context *x, map_operand operand, int position);

// ---- loads (machine_load.c)

cost_rows machine_weight_rows(const machine_context *x);
cost_rows machine_input_rows(const machine_context *x);
machine_stream machine_stream_of(const machine_context *x, map_operand operand, double *memory);

// ---- the mesh (machine_mesh.c)

// How results lie in the accumulator (buffers.c): in tiles of DIM rows if wide stores gain by it and there is room;
// rows of images that such tiles would cut into crumbs start at a tile each.
typedef struct machine_layout {
  bool tiled;
  int64_t pitch;  // from a row of an image to the next
} machine_layout;
machine_layout machine_result_layout(const machine_context *x);

double machine_mesh_cycles(const machine_context *x, double *pairs, double *products, double *fresh);

#endif
