// SPDX-License-Identifier: Apache-2.0
// Splits preloads of a transposed B. See preload_unroller.c.
#ifndef SIM_CYCLE_PRELOAD_UNROLLER_H
#define SIM_CYCLE_PRELOAD_UNROLLER_H

#include "sim/cycle/execute_window.h"

typedef struct cycle_preload_unroller {
  cycle_execute_window window;
  uint8_t state;
  bool b_transposed;
  bool splits;  // the array can transpose a stationary operand at all
} cycle_preload_unroller;

// Registers, before the step: a preload waits only for the command behind it; in the middle of a split.
bool cycle_preload_unroller_waiting(const cycle_preload_unroller *u);
bool cycle_preload_unroller_active(const cycle_preload_unroller *u);
// Hands at most one command to `out` if that has room; whether it did.
bool cycle_preload_unroller_step(cycle_preload_unroller *u, uint64_t now, cycle_execute_window *out,
                                 bool both_dataflows);

#endif
