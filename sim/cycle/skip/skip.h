// SPDX-License-Identifier: Apache-2.0
// The ways to leave out cycles, as a table. See skip.c.
#ifndef SIM_CYCLE_SKIP_SKIP_H
#define SIM_CYCLE_SKIP_SKIP_H

#include "sim/cycle/engine.h"

typedef struct cycle_skip {
  const char *name, *text;
  // Cycles from `from` on are left out, if they may be; called after the cycle before.
  bool (*enter)(cycle_engine *c, uint64_t from);
  // The cycles before this one are carried out.
  void (*catch_up)(cycle_engine *c, uint64_t now);
  // From cycle `at` on none is left out; called after the cycle before, or in a turn of this one.
  void (*leave)(cycle_engine *c, uint64_t at);
} cycle_skip;

extern const cycle_skip cycle_skips_known[SIM_CYCLE_SKIPS];

// At the end of a cycle: while counters count, from the next cycle `at` on, none is left out.
void cycle_skip_count(cycle_engine *c, uint64_t at);

#endif
