// SPDX-License-Identifier: Apache-2.0
// Runs a sweep: what its store does not have yet is measured by a pool of processes.
#ifndef SEARCH_SWEEP_SWEEP_H
#define SEARCH_SWEEP_SWEEP_H

#include "base/stop.h"
#include "search/sweep/pool.h"
#include "search/sweep/spec.h"
#include "search/sweep/store.h"

typedef struct sweep_progress {
  uint64_t done, total;  // measurements: those of earlier runs count
  uint64_t fresh;        // of this run
  uint64_t failed;
  uint64_t spared;                           // of those of this run: needed no run of the engine
  uint64_t shared;                           // and these were not compiled
  double compile_seconds, simulate_seconds;  // of the processors, in this run
  unsigned workers;
  double seconds;  // of this run
} sweep_progress;

typedef struct sweep_options {
  const char *version;
  run_fidelity fidelity;
  unsigned jobs;        // children; 0: none, all work is elsewhere
  const wf_stop *stop;  // wanted: what is under way is finished, nothing more is given out; may be NULL
  // Called when something was done, and twice a second; may be NULL.
  void (*progress)(void *context, const sweep_progress *progress);
  // Workers elsewhere that want to join: called when `join_socket` can be read; returns their socket or -1.
  int join_socket;  // -1: none
  int (*join)(void *context);
  void *context;
} sweep_options;

typedef enum { SWEEP_FINISHED, SWEEP_STOPPED, SWEEP_FAILED } sweep_outcome;

// SWEEP_FAILED after an error was reported: the store cannot be written, or there are no workers.
sweep_outcome sweep_run(const sweep_spec *spec, sweep_store *s, const sweep_options *options, sweep_progress *progress,
                        wf_diag *diag);

#endif
