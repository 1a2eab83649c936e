// SPDX-License-Identifier: Apache-2.0
// Runs a command program on an engine, without a host: commands enter as fast as the engine takes them.
#ifndef RUNNER_PROGRAM_H
#define RUNNER_PROGRAM_H

#include "base/stop.h"
#include "compiler/command/command.h"
#include "sim/cycle/cycle.h"
#include "sim/engine.h"

typedef struct run_config {
  const sim_engine_ops *engine;
  const sim_engine_options *options;  // NULL: defaults
  unsigned times;                     // how often the program runs, one after the other; 0 counts as 1
  const sim_events *events;           // of an engine that has them; NULL: none
  // With the engine, when the last run is over and before it is gone; may be NULL.
  void (*ended)(void *context, const sim_engine *engine, uint64_t cycle);
  const wf_stop *stop;  // ends it early; NULL: nothing does
  // Told now and then how many commands were given; may be NULL.
  void (*progress)(void *context, uint64_t commands);
  void *context;
} run_config;

typedef struct run_result {
  uint64_t cycles;    // of the last time, from its first command to idle; 0 of an engine without time
  uint64_t commands;  // of all times
  arch_fault fault;   // ARCH_FAULT_NONE: it ran to its end, or was stopped
  bool stopped;
  bool has_units;          // of the engines cycle and flow; the accounts of units are those of cycle alone
  sim_cycle_report units;  // of all times
} run_result;

// On a memory whose tensors lie as the layout says; constants are written there. False after it was
// stopped, or after an error was reported: a fault, or no such engine.
bool run_commands(const command_program *program, const run_config *config, arch_memory *memory,
                  const command_layout *layout, run_result *result, wf_diag *diag);

// On a memory of its own: tensors[t] holds tensor t, NULL stands for zeros (of a constant it is not used); what the
// program wrote is there afterwards (an engine that only times leaves it as it is).
bool run_commands_on(const command_program *program, const run_config *config, void *const *tensors, run_result *result,
                     wf_diag *diag);

#endif
