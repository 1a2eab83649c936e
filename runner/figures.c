// SPDX-License-Identifier: Apache-2.0
// See figures.h.
#include "runner/figures.h"

#include <stdio.h>

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

run_step_figures run_step_figures_of(const network *net, const network_step *step, const run_step_result *r) {
  run_step_figures f = {.bound = ""};
  const double dim = hw_derive(net->options.array).dim;
  f.utilisation = ratio((double)r->macs, dim * dim * (double)r->cycles);
  if (step->place == GRAPH_ON_HOST && step->part_count == 0) {
    snprintf(f.bound, sizeof f.bound, "%s", r->timed ? "the hart" : "not timed");
  } else if (r->has_units) {
    sim_figures_bound(&r->units, f.bound);
  }
  if (!r->has_units) return f;
  f.run = sim_figures_of(&r->units, &r->hart, net->options.array);
  f.has_energy = f.run.has_energy;
  f.energy_uj = f.run.energy_pj / 1e6;
  return f;
}
