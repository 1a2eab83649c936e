// SPDX-License-Identifier: Apache-2.0
// One simulation from file to result: an ELF program on host and engine, or a command trace on the engine alone.
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "hw/array.h"
#include "sim/cycle/cycle.h"
#include "sim/engine.h"
#include "sim/host/host.h"
#include "sim/port.h"

typedef struct sim_run_config {
  const hw_array *array;
  const sim_engine_ops *engine;
  const sim_engine_options *engine_options;  // NULL: defaults
  uint64_t max_instructions;                 // 0: no limit
  bool at_recorded_times;                    // a replay does in each cycle what the hart did in it, or later
  bool any_array;                            // run even if the file was made for another array
  FILE *console, *console_error;
  FILE *trace;               // NULL: none
  const sim_events *events;  // of a timed engine; NULL: none
  // Called with the engine before the first command; may be NULL. The engine is gone when the run returns.
  void (*watch)(void *context, const sim_engine *engine);
  void *watch_context;  // of both
  // Called with the engine when the run is over, with the cycle it came to; may be NULL.
  void (*ended)(void *context, const sim_engine *engine, uint64_t cycle);
  bool (*progress)(void *context, uint64_t instructions, uint64_t cycles);  // may be NULL; false stops the run
  void *progress_context;
} sim_run_config;

typedef enum {
  SIM_RUN_OK,            // ran to its end: exit_code, or a replay whose digest agrees
  SIM_RUN_BAD_INPUT,     // reported: file, array, or their combination
  SIM_RUN_MISMATCH,      // a replay left other memory contents than the recorded run
  SIM_RUN_TRAP,          // a trap that the program does not handle
  SIM_RUN_ILLEGAL,       // a custom instruction that does not exist or must not be given like this
  SIM_RUN_LOCAL,         // a local address that does not exist
  SIM_RUN_MEMORY,        // the accelerator reached outside main memory
  SIM_RUN_LIMIT,         // instruction limit, or the program can never end
  SIM_RUN_STUCK,         // the accelerator makes no progress
  SIM_RUN_CANNOT_BUILD,  // reported: the engine for this array
} sim_run_status;

typedef struct sim_run_result {
  sim_run_status status;
  bool hosted;  // an ELF: `host` is valid; of a trace only host.cycles is
  host_result host;
  arch_fault fault;
  sim_port port;        // counts only
  uint64_t read_bytes;  // moved by the accelerator
  uint64_t written_bytes;
  uint64_t replay_digest, trace_digest;  // of a trace
  bool compared;                         // a replay with what was recorded
  double wall_seconds;
  bool has_memory;
  memsys_counts memory;    // of an engine that has them, like `units`
  bool has_units;          // of the engines cycle and flow; the accounts of units are those of cycle alone
  sim_cycle_report units;  // up to the end of the run, or to where a fault stopped the engine
} sim_run_result;

sim_run_result sim_run_elf(const sim_run_config *config, const char *path, wf_diag *diag);
sim_run_result sim_run_trace(const sim_run_config *config, const char *path, wf_diag *diag);
// Whichever of them the file is.
sim_run_result sim_run_file(const sim_run_config *config, const char *path, wf_diag *diag);

#endif
