// SPDX-License-Identifier: Apache-2.0
// What follows from the counts of one step of a network, for every report of it.
#ifndef RUNNER_FIGURES_H
#define RUNNER_FIGURES_H

#include "runner/network.h"
#include "sim/figures.h"

typedef struct run_step_figures {
  double utilisation;  // of the mesh in the step's cycles, 0..1
  bool has_energy;
  double energy_uj;  // of everything
  sim_figures run;   // zero of an engine without units
  char bound[SIM_BOUND_TEXT];
} run_step_figures;

run_step_figures run_step_figures_of(const network *net, const network_step *step, const run_step_result *result);

#endif
