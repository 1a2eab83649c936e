// SPDX-License-Identifier: Apache-2.0
// Network programs (compiler/network) on an engine: every step in order on one memory, with the array's hart for steps
// of the host, and every node's results against the graph's interpreter if that is wanted.
#ifndef RUNNER_NETWORK_H
#define RUNNER_NETWORK_H

#include "base/stop.h"
#include "compiler/network/network.h"
#include "sim/cycle/cycle.h"
#include "sim/engine.h"
#include "sim/host/host.h"

typedef struct run_step_result {
  uint64_t start, cycles;  // of the engine's clock; 0 of an engine without time
  bool timed;              // the cycles are known
  uint64_t commands, macs;
  bool has_units;
  sim_cycle_report units;    // of this step
  host_counts hart;          // of this step; of a step of the array its commands alone
  uint64_t compared, wrong;  // bytes
} run_step_result;

typedef struct run_mismatch {
  int step, tensor;
  uint64_t element;
  double expected, found;
} run_mismatch;

typedef struct run_network_result {
  run_step_result *steps;  // step_count; run_network_release frees them
  // host_cycles without, edge_cycles those of edge steps; both_cycles: in which hart and array had steps
  uint64_t cycles, array_cycles, host_cycles, edge_cycles, both_cycles;
  uint64_t commands, macs;
  uint64_t compared, wrong;  // bytes of int8 and other integers, floats that are too far off
  run_mismatch first;        // if wrong
  uint64_t digest;           // of the digests of the outputs
  bool has_units;
  sim_cycle_report units;  // of all steps
  host_counts hart;
  bool stopped;                       // before its end
  double run_seconds, check_seconds;  // of the processor
  void **outputs;                     // per output of the graph, as its tensor says
  uint64_t *digests;                  // per output (weft_digest, as programs of the hart print it)
} run_network_result;

typedef enum {
  RUN_HART_TIMED,   // host steps run on the hart of the array, at its speed
  RUN_HART_NATIVE,  // by this machine: right results, no cycles
} run_hart;

typedef struct run_network_config {
  const sim_engine_ops *engine;
  const sim_engine_options *options;  // NULL: defaults
  const void *const *inputs;          // per input of the graph
  bool check;                         // every node against the graph's interpreter
  run_hart hart;
  const sim_events *events;  // of an engine that has them; NULL: none
  // Called with the engine before the first step; may be NULL. The engine is gone when the run returns.
  void (*watch)(void *context, const sim_engine *engine);
  // With the engine, as soon as a step is over, with the cycle it came to; may be NULL.
  void (*ended)(void *context, int step, const sim_engine *engine, uint64_t cycle);
  // After each step; may be NULL.
  void (*progress)(void *context, const network *net, int step, const run_step_result *result);
  void *context;
  const wf_stop *stop;  // ends the run early; NULL: nothing does
} run_network_config;

// False after it was stopped, or after an error was reported; wrong results are no error. Release the result in any
// case.
bool run_network(const network *net, const run_network_config *config, run_network_result *result, wf_diag *diag);
void run_network_release(const network *net, run_network_result *result);

#endif
