// SPDX-License-Identifier: Apache-2.0
// The best cut of a list of steps into windows, of all cuts that there are.
//
// A window is some neighbouring steps that become one. What it saves is a number of the window alone, so what a cut
// saves is the sum over its windows; a step in no window saves nothing. With best(s) the most that the steps from s on
// can save,
//
//   best(steps) = 0,   best(s) = max(best(s + 1), max over n of saved(s, n) + best(s + n)),
//
// and each window is looked at once: steps x (most - 1) at most.
#ifndef COMPILER_NETWORK_CUT_H
#define COMPILER_NETWORK_CUT_H

#include <stdint.h>

typedef struct network_cut_problem {
  int steps, most;  // of all; of a window, at least 1
  // What a window of 2 to `most` steps saves; 0 or less: its steps stay apart, as they must or may.
  int64_t (*saved)(const void *context, int first, int count);
  const void *context;
} network_cut_problem;

typedef struct network_cut {
  int64_t saved;     // by the steps from here on, at most
  int count;         // of the window that begins here, if one does; 1: the step is by itself
  uint64_t visited;  // windows that were looked at, from here on
} network_cut;

// Fills `cuts`, which has room for steps + 1: the windows are those met from the first step on, each `count` behind the
// one before. Of equal cuts the one with the shorter windows in front.
void network_cut_best(const network_cut_problem *problem, network_cut *cuts);

#endif
