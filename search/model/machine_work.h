// SPDX-License-Identifier: Apache-2.0
// Under the machine's model: what one stage takes of each unit (work), before they get in each other's way (walk).
#ifndef SEARCH_MODEL_MACHINE_WORK_H
#define SEARCH_MODEL_MACHINE_WORK_H

#include "search/model/machine.h"

// Loads of one operand. A fill comes in portions, one for each stage that touches something new of it.
typedef struct machine_stream {
  double portions;  // of a fill
  double unit;      // cycles of the load unit for a portion
  double data;      // of them moving data
  double latency;   // from the last request of a portion to its data
  double first;     // share of a portion that the first product needs
  double commands;  // of a portion
  bool spread;      // a load's columns lie in several blocks: its range of rows covers the rows of others
  double rest;      // share of a stage that follows when the last of the portion has come
} machine_stream;

typedef struct machine_work {
  double dim;
  double stages;
  uint8_t depth[MAP_OPERANDS];  // slots that are used
  double mesh;                  // cycles of a stage
  double products;              // of a stage
  double fresh_rows;            // of weights that products of a stage read
  double pairs;                 // of them issuing more than computing
  machine_stream load[MAP_RESULTS];
  double bias;                                          // of the load unit for a tile
  double store;                                         // of the store unit for a tile
  double memory;                                        // cycles of main memory for the whole layer
  double late;                                          // share of the products whose loads stand just in front of them
  double entries;                                       // stages that the reservation station holds
  double free_after[MAP_RESULTS];                       // from the end of a stage to a load into the rows that it read
  double load_latency, drain;                           // of a load; from the last product to the last byte
  double bus_bytes, scratchpad_rows, accumulator_rows;  // of the whole layer
} machine_work;

map_mapping machine_trimmed(const map_layer *layer, const map_mapping *mapping);

// Of a trimmed mapping.
machine_work machine_work_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                             const cost_constants *constants);

#endif
