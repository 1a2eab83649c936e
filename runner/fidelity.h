// SPDX-License-Identifier: Apache-2.0
// How exactly cycles are found out: the engines that measure without data. Rows of results name theirs.
#ifndef RUNNER_FIDELITY_H
#define RUNNER_FIDELITY_H

#include "sim/engine.h"

// X(NAME, engine, text): in the order of exactness.
#define RUN_FIDELITIES(X)             \
  X(CYCLE, sim_cycle_engine, "cycle") \
  X(FLOW, sim_flow_engine, "flow") /* a percent or so off, some times as fast */
typedef enum {
#define X(NAME, engine, text) RUN_FIDELITY_##NAME,
  RUN_FIDELITIES(X)
#undef X
      RUN_FIDELITY_COUNT
} run_fidelity;

// Names, and NULL behind the last.
extern const char *const run_fidelity_names[RUN_FIDELITY_COUNT + 1];
const sim_engine_ops *run_fidelity_engine(run_fidelity fidelity);
// False: there is none of the name; reports with the names that there are.
bool run_fidelity_named(const char *name, run_fidelity *fidelity, wf_diag *diag);

#endif
