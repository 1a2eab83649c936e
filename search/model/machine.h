// SPDX-License-Identifier: Apache-2.0
// The model of the machine: how many cycles a layer takes with a mapping on an array, from the commands that the
// compiler makes of them and the array's units; engine cycle is its judge (`weft bench model`).
//
// It walks the executions of the product statement (stages) with three clocks, of the load unit, the mesh and the store
// unit. Loads take turns in one unit and wait for a free slot of their buffer; a stage waits for its operands; a tile
// of results waits until the slot's last tile was stored. Inner loops that go on in the same way are not walked to
// their end. docs/search-model.md says what each unit is assumed to take.
#ifndef SEARCH_MODEL_MACHINE_H
#define SEARCH_MODEL_MACHINE_H

#include "compiler/mapping/mapping.h"
#include "hw/array.h"

// What holds a layer up most.
#define MACHINE_BOUNDS(X)   \
  X(COMPUTE, "compute")     \
  X(BANDWIDTH, "bandwidth") \
  X(LATENCY, "latency")     \
  X(ISSUE, "issue")
typedef enum {
#define X(NAME, text) MACHINE_##NAME,
  MACHINE_BOUNDS(X)
#undef X
      MACHINE_BOUND_COUNT
} machine_bound;
extern const char *const machine_bound_names[MACHINE_BOUND_COUNT];

typedef struct machine_prediction {
  double cycles;
  machine_bound bound;
  // Cycles that each would take alone.
  double mesh, load, store, memory;
  // What moves: bytes on the bus, rows read and written.
  double bus_bytes, scratchpad_rows, accumulator_rows;
  bool has_energy;  // the technology's table has it
  double energy_pj;
} machine_prediction;

// Whether the model knows layers of this kind: products, and convolutions without groups, pooling and residual.
bool machine_knows(const map_layer *layer);

// Of a layer that it knows; the mapping must be legal (map_check).
machine_prediction machine_predict(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                                   const cost_constants *constants);

// What the mapper expects of layers of any kind: its estimate, and the bytes and rows of the mapping.
machine_prediction machine_estimate(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                                    const map_footprint *footprint);

#endif
