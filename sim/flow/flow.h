// SPDX-License-Identifier: Apache-2.0
// The flow engine: times as equations over commands and bursts instead of cycles, within a percent or so of the cycle
// engine and several times as fast. It moves no data: main memory keeps its contents. docs/flow-engine.md says what
// each equation is, how far results are off, and what the engine refuses.
#ifndef SIM_FLOW_FLOW_H
#define SIM_FLOW_FLOW_H

#include "sim/cycle/cycle.h"
#include "sim/engine.h"

extern SIM_CYCLE_VISIBLE const sim_engine_ops sim_flow_engine;

#endif
