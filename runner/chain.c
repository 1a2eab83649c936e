// SPDX-License-Identifier: Apache-2.0
// See chain.h.
#include "runner/chain.h"

#include <math.h>

#include "base/alloc.h"

// The best choice for layers up to one, by the place of that one.
typedef struct best_choice {
  double cycles[RUN_CHAIN_PLACES];
  size_t before[RUN_CHAIN_PLACES];  // the place of the layer before
} best_choice;

static void extend(const best_choice *last, const double costs[RUN_CHAIN_PLACES], best_choice *to, size_t own) {
  to->cycles[own] = INFINITY;
  for (size_t before = 0; before < RUN_CHAIN_PLACES; before++) {
    const double cycles = (last == NULL ? 0 : last->cycles[before]) + costs[before];
    if (cycles >= to->cycles[own]) continue;
    to->cycles[own] = cycles;
    to->before[own] = before;
  }
}

double run_chain_best(const run_chain_costs *costs, size_t count, size_t *places) {
  if (count == 0) return 0;
  best_choice *best = WF_NEW_ARRAY(count, best_choice);
  for (size_t n = 0; n < count; n++)
    for (size_t own = 0; own < RUN_CHAIN_PLACES; own++)
      extend(n == 0 ? NULL : &best[n - 1], costs[n].cycles[own], &best[n], own);
  size_t place = 0;
  for (size_t own = 1; own < RUN_CHAIN_PLACES; own++)
    if (best[count - 1].cycles[own] < best[count - 1].cycles[place]) place = own;
  const double cycles = best[count - 1].cycles[place];
  for (size_t n = count; n-- > 0; place = best[n].before[place]) places[n] = place;
  wf_free(best);
  return cycles;
}
