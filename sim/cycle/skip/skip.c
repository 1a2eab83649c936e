// SPDX-License-Identifier: Apache-2.0
// The table of the ways to leave out cycles (skip.def). The units enter, catch up and leave where it concerns them, by
// name; what is for all of them is here.
#include "sim/cycle/skip/skip.h"

#include "sim/cycle/skip/feed.h"
#include "sim/cycle/skip/fetch.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/skip/pass.h"
#include "sim/cycle/skip/results.h"
#include "sim/cycle/skip/whole.h"

const cycle_skip cycle_skips_known[SIM_CYCLE_SKIPS] = {
#define CYCLE_SKIP(ID, NAME, TEXT)                          \
  [CYCLE_SKIP_##ID] = {.name = #NAME,                       \
                       .text = (TEXT),                      \
                       .enter = cycle_##NAME##_enter,       \
                       .catch_up = cycle_##NAME##_catch_up, \
                       .leave = cycle_##NAME##_leave},
#include "sim/cycle/skip/skip.def"
#undef CYCLE_SKIP
};

const char *sim_cycle_skip_name(unsigned skip) { return cycle_skips_known[skip].name; }

void cycle_skip_count(cycle_engine *c, uint64_t at) {
  if (c->counting == (c->skips == 0)) return;
  c->skips = c->counting ? 0 : c->may_skip;
  for (unsigned n = 0; n < SIM_CYCLE_SKIPS && c->counting; n++) cycle_skips_known[n].leave(c, at);
}
