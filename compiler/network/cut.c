// SPDX-License-Identifier: Apache-2.0
// The best cut of a list of steps: see cut.h.
#include "compiler/network/cut.h"

#include "base/number.h"

static network_cut best_from(const network_cut_problem *problem, const network_cut *cuts, int first) {
  network_cut best = {.saved = cuts[first + 1].saved, .count = 1, .visited = cuts[first + 1].visited};
  const int most = wf_min(problem->most, problem->steps - first);
  for (int count = 2; count <= most; count++) {
    const int64_t gain = problem->saved(problem->context, first, count);
    best.visited++;
    if (gain <= 0 || gain + cuts[first + count].saved <= best.saved) continue;
    best.saved = gain + cuts[first + count].saved;
    best.count = count;
  }
  return best;
}

void network_cut_best(const network_cut_problem *problem, network_cut *cuts) {
  cuts[problem->steps] = (network_cut){.count = 1};
  for (int first = problem->steps; first-- > 0;) cuts[first] = best_from(problem, cuts, first);
}
