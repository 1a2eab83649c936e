// SPDX-License-Identifier: Apache-2.0
// What a report shows: the contents of a store, gathered once.
#ifndef SEARCH_REPORT_DATA_H
#define SEARCH_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "runner/measure.h"

typedef struct report_layer {
  bool is_program;  // a network program as a whole: its steps are layers, too
  bool is_step;     // of a program: equal steps of some arrays, with figures of all of them; no part of sums
  const char *name;
  size_t unique;  // its place among the layers that differ
  int64_t count, macs;
} report_layer;

typedef struct report_network {
  const char *name, *description;
  int64_t macs;
  report_layer *layers;
  size_t layer_count, layer_room;
} report_network;

typedef struct report_measurement {
  const char *status;  // NULL: there is none
  const char *reason, *bound, *units;
  int64_t cycles, read_bytes, written_bytes;
  double utilisation, energy_pj;
  bool has_energy;            // the array's technology has a table of energies
  double array_pj;            // as models of arrays count
  double part_pj[SIM_PARTS];  // of energy_pj
} report_measurement;

typedef struct report_sum {
  bool good, has_energy;
  double cycles, energy_pj, array_pj, part_pj[SIM_PARTS];
} report_sum;

typedef struct report_point {
  const char *array, *yaml;  // hash; NULL: it cannot be built
  const char *status, *reason;
  const char *parameters;  // JSON
  int64_t dim, scratchpad_kib, accumulator_kib, memory_bits;
  double logic_um2;
  const char *technology;            // of energies and area_um2
  double area_um2;                   // of all, as far as the technology knows it; 0: not at all
  bool area_whole;                   // it knows all of it
  double bus_bytes;                  // per cycle and direction
  report_measurement *measurements;  // one per layer that differs; shared by points with the same array
  report_sum *sums;                  // one per network
  bool front;                        // of some network: nothing is better in cycles, energy and area together
} report_point;

typedef struct report_data {
  wf_arena *arena;
  const char *name, *version, *policy;
  const char *engine;  // of its measurements
  report_network *networks;
  size_t network_count;
  size_t unique_count;
  report_point *points;
  size_t point_count;
  size_t failure_count;
} report_data;

// The measurements of one engine; NULL: the first of run_fidelity that the store has. False after an error was
// reported. Release in any case.
bool report_load(report_data *data, const char *store, const char *engine, wf_diag *diag);
void report_release(report_data *data);

// Whether a layer is one of a point's in tables and figures: a layer of a table, or a step that its array has.
bool report_shows(const report_layer *layer, const report_measurement *m);

// Least cycles that the array could take for a layer: its processing elements all busy, or its bus.
double report_bound_cycles(const report_point *point, const report_layer *layer, const report_measurement *m);

#endif
