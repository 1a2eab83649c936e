// Layers measured: compiled for an array and run on the cycle engine without data. What sweeps, the search and the
// judge of the model know of the real machine comes from here.
#ifndef SEARCH_MEASURE_MEASURE_H
#define SEARCH_MEASURE_MEASURE_H

#include "compiler/layer/layer.h"
#include "search/measure/known.h"
#include "sim/figures.h"

typedef struct measure_request {
  const map_layer *layer;
  const hw_array *array;
  layer_policy policy;
  measure_known *known;  // runs that need not be made again, and where this one is added; may be NULL
  unsigned times;        // runs in a row, of which the last counts: 2 has warm caches; 0 is 1
} measure_request;

typedef enum {
  MEASURE_GOOD,
  MEASURE_CANNOT_MAP,  // no kernel, no mapping, or it does not fit
  MEASURE_FAULT,       // the accelerator stopped
  MEASURE_STATUSES
} measure_status;
extern const char *const measure_status_names[MEASURE_STATUSES];  // "good", "cannot map", "fault"

typedef struct measure_result {
  measure_status status;
  uint64_t cycles, macs;  // macs: of the layer
  uint64_t commands;
  uint64_t read_bytes, written_bytes;  // on the bus, of the run that counts
  double utilisation;                  // macs / (cycles x processing elements)
  bool has_energy;
  double energy_pj;
  uint64_t program_digest;  // of the commands
  bool known;               // the run was, and was not made
  bool mapped;
  map_mapping mapping;
  double compile_seconds, simulate_seconds;  // of the processor
  char bound[SIM_BOUND_TEXT];
  sim_cycle_report units;  // of all runs
} measure_result;

// Status other than MEASURE_GOOD: the reasons were reported.
measure_result measure_layer(const measure_request *request, wf_diag *diag);

#endif
