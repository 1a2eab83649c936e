// SPDX-License-Identifier: Apache-2.0
// Layers measured: compiled for an array and run without data, on the cycle engine or on one that is nearly as exact.
// What sweeps, the search and the judge of the model know of the real machine comes from here.
#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "compiler/layer/layer.h"
#include "runner/fidelity.h"
#include "runner/known.h"
#include "runner/programs.h"
#include "runner/waits.h"
#include "sim/figures.h"
#include "sim/flow/flow.h"

typedef struct run_measure_request {
  const map_layer *layer;
  const hw_array *array;
  layer_policy policy;
  run_known *known;        // runs that need not be made again, and where this one is added; may be NULL
  run_programs *programs;  // that need not be compiled again; may be NULL
  unsigned times;          // runs in a row, of which the last counts: 2 has warm caches; 0 is 1
  run_fidelity fidelity;
  run_waits *waits;  // if not NULL: where the cycles of all runs went; such runs are always made
  // If not NULL: what the cycles depend on. Such runs are always made, and on engine flow, which has the same cycles
  // with the account and without.
  sim_flow_account *account;
} run_measure_request;

typedef enum {
  RUN_MEASURE_GOOD,
  RUN_MEASURE_CANNOT_MAP,  // no kernel, no mapping, or it does not fit
  RUN_MEASURE_FAULT,       // the accelerator stopped
  RUN_MEASURE_STATUSES
} run_measure_status;
extern const char *const run_measure_status_names[RUN_MEASURE_STATUSES];  // "good", "cannot map", "fault"

typedef struct run_measured {
  run_measure_status status;
  uint64_t cycles, macs;  // macs: of the layer
  uint64_t commands;
  uint64_t read_bytes, written_bytes;  // on the bus, of the run that counts
  uint64_t mesh_cycles;                // of the run that counts: the mesh takes a row in each
  double utilisation;                  // macs / (cycles x processing elements)
  bool has_energy;
  double part_pj[SIM_PARTS];
  double energy_pj, array_pj;  // of the whole (sim/figures.h), without a hart but for its commands; what models count
  uint64_t program_digest;     // of the commands
  bool known;                  // the run was, and was not made
  bool shared;                 // the program was compiled before
  bool mapped;
  map_mapping mapping;
  double compile_seconds, simulate_seconds;  // of the processor
  char bound[SIM_BOUND_TEXT];
  sim_cycle_report units;  // of all runs; accounts of units are those of the cycle engine alone
} run_measured;

// Status other than RUN_MEASURE_GOOD: the reasons were reported.
run_measured run_measure(const run_measure_request *request, wf_diag *diag);

#endif
