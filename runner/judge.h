// SPDX-License-Identifier: Apache-2.0
// What tuning asks: what a program takes on an engine without data.
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include "compiler/compile.h"
#include "runner/fidelity.h"

// Tries `count` mappings: on the cycle engine, or all on one that is quicker and the best of them on the cycle engine.
compile_tuning run_tuning(unsigned count, run_fidelity with, compile_objective objective);

// A compile_judge: the cycles of a second run without data, with what the first run left in the caches, and the energy
// of both in the mean.
bool run_judge(const command_program *program, compile_verdict *verdict, wf_diag *diag);
// The same of one run with cold caches, for a caller that times the whole network afterwards.
bool run_judge_once(const command_program *program, compile_verdict *verdict, wf_diag *diag);
// Likewise, with the energy of the array alone as models of arrays count it: every byte of its port from main memory.
bool run_judge_array(const command_program *program, compile_verdict *verdict, wf_diag *diag);
// For a screen: one run with cold caches, which says enough to choose those that are left to the other.
bool run_judge_flow(const command_program *program, compile_verdict *verdict, wf_diag *diag);

#endif
