// SPDX-License-Identifier: Apache-2.0
// Bounds of layers: see floors.h.
//
// The mesh takes a row of D elements in a cycle. With weights that stay, each of the M = N P Q results goes through all
// matrices of D x D that the weights fill: ceil(C R S / D) ceil(K / D) where taps share a matrix, as layer_passes says
// where groups do. With results that stay, each of ceil(M / D) ceil(K / D) matrices takes C R S rows. The least of the
// three is the bound.
#include "search/study/floors.h"

#include <math.h>

#include "base/number.h"
#include "compiler/layer/layer.h"

const char *const study_bound_names[STUDY_BOUND_COUNT] = {
#define X(NAME, name, what) name,
    STUDY_BOUNDS(X)
#undef X
};
const char *const study_bound_texts[STUDY_BOUND_COUNT] = {
#define X(NAME, name, what) what,
    STUDY_BOUNDS(X)
#undef X
};

// ---- the mesh

static double results_of(const layers_layer *layer) {
  return (double)layer->size[BLOCK_DIM_N] * (double)layer->size[BLOCK_DIM_P] * (double)layer->size[BLOCK_DIM_Q];
}

static double mesh_cycles(const layers_layer *layer, const hw_array *array) {
  const double side = hw_derive(array).dim, rows = results_of(layer), groups = (double)layers_groups(layer);
  const bool deep = layer->depthwise;
  const double columns = ceil((deep ? 1 : (double)layer->size[BLOCK_DIM_K]) / side);
  const double depth =
      (double)layer->size[BLOCK_DIM_C] * (double)layer->size[BLOCK_DIM_R] * (double)layer->size[BLOCK_DIM_S];
  const map_layer map = layers_to_map(layer);
  const double taps = groups * ceil(depth / side) * columns * rows,
               results = groups * ceil(rows / side) * columns * depth,
               packed = groups == 1 ? taps : (double)layer_passes(&map, array) * rows;
  return fmin(packed, fmin(taps, results));
}

// ---- memory

// Different rows or columns of an image that results need.
static double touched(const layers_layer *layer, int axis) {
  const double results = (double)layer->size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q],
               window = (double)layer->size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S];
  if (layer->dilation[axis] > 1) return fmax(results, window);
  return fmin(results * window, (results - 1) * (double)layer->stride[axis] + window);
}

double study_input_bytes(const layers_layer *layer) {
  return (double)layer->size[BLOCK_DIM_N] * (double)layers_whole_size(layer, BLOCK_DIM_C) * touched(layer, 0) *
         touched(layer, 1);
}

double study_bus_cycles(double read_bytes, double written_bytes, const hw_array *array) {
  return fmax(read_bytes, written_bytes) / (array->dma.bus_bits / 8.0);
}

double study_memory_cycles(double read_bytes, double written_bytes, const hw_array *array) {
  return fmax(study_bus_cycles(read_bytes, written_bytes, array), read_bytes / array->memory.bytes_per_cycle);
}

static double memory_cycles(const layers_layer *layer, const hw_array *array) {
  const double macs = layers_macs(layer), weights = macs / results_of(layer),
               results = results_of(layer) * (double)layers_whole_size(layer, BLOCK_DIM_K);
  return study_memory_cycles(study_input_bytes(layer) + weights, results, array);
}

// ---- both

study_floors study_floors_of(const layers_layer *layer, const hw_array *array) {
  const double side = hw_derive(array).dim;
  return (study_floors){.ideal = layers_macs(layer) / (side * side),
                        .mesh = mesh_cycles(layer, array),
                        .memory = memory_cycles(layer, array)};
}

double study_roof(const study_floors *floors) { return fmax(floors->ideal, floors->memory); }

study_bound study_bound_of(const study_floors *floors, double cycles, double bus_cycles) {
  static const double accounted = 2.0 / 3, full = 1.1;
  const double memory = fmax(floors->memory, bus_cycles);
  if (fmax(floors->mesh, memory) < accounted * cycles) return STUDY_BY_WAITS;
  if (memory > floors->mesh) return STUDY_BY_MEMORY;
  return floors->mesh > full * floors->ideal ? STUDY_BY_EDGES : STUDY_BY_ARRAY;
}
