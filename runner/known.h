// SPDX-License-Identifier: Apache-2.0
// Runs that are known: what the cycle engine said of a program, for programs that it cannot tell apart (digest.h).
//
// The table is memory that a process shares with the children it forks. It holds a limited number of runs, of which
// later ones may displace earlier ones. A process that dies while it writes loses one place of the table.
#ifndef RUNNER_KNOWN_H
#define RUNNER_KNOWN_H

#include "runner/digest.h"
#include "sim/cycle/cycle.h"

typedef struct run_known run_known;

typedef struct run_known_run {
  uint64_t cycles, commands;
  sim_cycle_report units;
} run_known_run;

run_known *run_known_create(void);
void run_known_destroy(run_known *known);

// `known` may be NULL: nothing is known then.
bool run_known_find(run_known *known, const run_digest *digest, run_known_run *run);
void run_known_add(run_known *known, const run_digest *digest, const run_known_run *run);

#endif
