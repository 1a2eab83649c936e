// SPDX-License-Identifier: Apache-2.0
// The flow engine: times as equations over commands and bursts instead of cycles, within a percent or so of the cycle
// engine and several times as fast. It moves no data: main memory keeps its contents. docs/flow-engine.md says what
// each equation is, how far results are off, and what the engine refuses.
#ifndef SIM_FLOW_FLOW_H
#define SIM_FLOW_FLOW_H

#include "sim/cycle/cycle.h"
#include "sim/engine.h"

extern SIM_CYCLE_VISIBLE const sim_engine_ops sim_flow_engine;

// The same engine, with the same cycles, which also notes of each event which edge was the last: what a run's cycles
// depend on.
extern SIM_CYCLE_VISIBLE const sim_engine_ops sim_flow_recording_engine;

// Ways to work out several things in one go, bits of `without_skips`: the usual operations of the mesh.
enum { SIM_FLOW_USUAL_OPERATIONS = 1 };

// A named weight (weights.def). Of a time 10 % less saves a tenth of its cycles, at first order; of a depth its cycles
// are registers', and one more of it releases `released`.
typedef struct sim_flow_weight {
  const char *key, *what;
  const char *parameters;  // of the array description
  bool depth;
} sim_flow_weight;

enum { SIM_FLOW_WEIGHTS = 64 };

// The chain of last edges up to a cycle, by weight: `cycles` add up to that cycle. A weight may have less than nothing
// where what held a pipe is known only roughly.
typedef struct sim_flow_account {
  int64_t cycles[SIM_FLOW_WEIGHTS];
  uint64_t edges[SIM_FLOW_WEIGHTS], released[SIM_FLOW_WEIGHTS];
  uint64_t lost;  // edges of all that was recorded whose start was forgotten: they lead to another event
} sim_flow_account;

// NULL past the end.
SIM_CYCLE_VISIBLE const sim_flow_weight *sim_flow_weight_at(unsigned n);
// Of a recording engine that has come to an end before `cycle` or at it; between the two it is the host that works. The
// sum is `cycle`.
SIM_CYCLE_VISIBLE void sim_flow_account_to(const sim_engine *engine, uint64_t cycle, sim_flow_account *account);
// What the run computed and moved, for its energy; of a flow engine only. No unit accounts for its cycles.
SIM_CYCLE_VISIBLE void sim_flow_report_of(const sim_engine *engine, sim_cycle_report *report);
SIM_CYCLE_VISIBLE void sim_flow_recording_report_of(const sim_engine *engine, sim_cycle_report *report);  // likewise

#endif
