// SPDX-License-Identifier: Apache-2.0
// Fits the constants of the costs to simulated samples, those of one judge at a time (cost_constants.def).
#ifndef SEARCH_MODEL_FIT_H
#define SEARCH_MODEL_FIT_H

#include "compiler/cost/cost.h"
#include "search/model/samples.h"

// Cycles of a sample on engine cycle, its commands placed by the constants; 0: it cannot be run.
typedef double fit_simulator(const samples_sample *sample, const cost_constants *constants);

typedef struct fit_sample {
  samples_sample sample;
  double cycles;  // simulated
} fit_sample;

typedef struct fit_set {
  fit_sample *samples;  // for COST_ESTIMATE: groups of SAMPLES_GROUP mappings of a layer
  size_t count;
  fit_simulator *simulate;  // for COST_ORDER
} fit_set;

// What the judge says against the constants:
//   COST_MODEL     the mean of |log(predicted / simulated)|
//   COST_ESTIMATE  the same of estimates, apart from what all estimates of a group have in common: they rank mappings
//   COST_ORDER     the mean of log(simulated / cycles), which is 0 with the constants that the samples were run with
// From 0.7 on errors count at half their slope: an error that no constant explains must not move all constants.
double fit_loss(cost_judge judge, const fit_set *set, const cost_constants *constants);

// Changes one constant of the judge after the other, `rounds` times, as long as that lowers the loss by more than it
// moves them away; all are above 0. `matters[i]`: the loss depends on constant i; may be NULL. Returns the loss.
double fit_constants(cost_judge judge, const fit_set *set, unsigned rounds, cost_constants *constants, bool *matters);

#endif
