// SPDX-License-Identifier: Apache-2.0
// What tuning asks: the cycles of a program on the cycle engine.
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include "compiler/command/command.h"

// A compile_judge: the cycles of a second run without data, with what the first run left in the caches.
bool run_judge(const command_program *program, uint64_t *cycles, wf_diag *diag);

#endif
