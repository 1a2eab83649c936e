// SPDX-License-Identifier: Apache-2.0
// All constants of the costs fitted again, judge by judge: the order of commands first, since it changes what the
// others are fitted to.
#ifndef SEARCH_MODEL_FIT_ALL_H
#define SEARCH_MODEL_FIT_ALL_H

#include <stdio.h>

#include "search/model/fit.h"

typedef struct fit_options {
  size_t samples;  // of each judge; a quarter as many are held out
  uint64_t seed;
  unsigned rounds;
  fit_simulator *simulate;
} fit_options;

// Losses before and after.
typedef struct fit_verdict {
  size_t count, held_count;
  double fitted[2], held[2];  // held: on samples of other layers, which the fit has not seen
} fit_verdict;

typedef struct fit_result {
  cost_constants constants;
  fit_verdict verdicts[COST_JUDGES];
  bool matters[COST_CONSTANTS];  // the samples depend on it
} fit_result;

// False after errors were reported.
bool fit_all(const fit_options *options, fit_result *result, wf_diag *diag);

// The verdicts as comments above the constants of each judge, in the form of cost_constants.def.
void fit_print(const fit_result *result, FILE *out);

#endif
