// SPDX-License-Identifier: Apache-2.0
// Engines that measure without data: see fidelity.h.
#include "runner/fidelity.h"

#include <string.h>

#include "sim/cycle/cycle.h"
#include "sim/flow/flow.h"

const char *const run_fidelity_names[RUN_FIDELITY_COUNT + 1] = {
#define X(NAME, engine, text) text,
    RUN_FIDELITIES(X)
#undef X
        NULL};

const sim_engine_ops *run_fidelity_engine(run_fidelity fidelity) {
  static const sim_engine_ops *const engines[RUN_FIDELITY_COUNT] = {
#define X(NAME, engine, text) &engine,
      RUN_FIDELITIES(X)
#undef X
  };
  return engines[fidelity];
}

bool run_fidelity_named(const char *name, run_fidelity *fidelity, wf_diag *diag) {
  for (int f = 0; f < RUN_FIDELITY_COUNT; f++) {
    if (strcmp(name, run_fidelity_names[f]) != 0) continue;
    *fidelity = (run_fidelity)f;
    return true;
  }
  wf_error(diag, wf_in_file(NULL), "no fidelity '%s'", name);
  wf_hint(diag, "one of %s and %s", run_fidelity_names[RUN_FIDELITY_CYCLE], run_fidelity_names[RUN_FIDELITY_FLOW]);
  return false;
}
