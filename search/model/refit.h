// All constants of the costs fitted again, judge by judge: the order of commands first, since it changes what the
// others are fitted to.
#ifndef SEARCH_MODEL_REFIT_H
#define SEARCH_MODEL_REFIT_H

#include <stdio.h>

#include "search/model/fit.h"

typedef struct refit_options {
  size_t samples;  // of each judge; a quarter as many are held out
  uint64_t seed;
  unsigned rounds;
  fit_simulator *simulate;
} refit_options;

// Losses before and after.
typedef struct refit_verdict {
  size_t count, held_count;
  double fitted[2], held[2];  // held: on samples of other layers, which the fit has not seen
} refit_verdict;

typedef struct refit_result {
  cost_constants constants;
  refit_verdict verdicts[COST_JUDGES];
  bool matters[COST_CONSTANTS];  // the samples depend on it
} refit_result;

// False after errors were reported.
bool refit(const refit_options *options, refit_result *result, wf_diag *diag);

// The verdicts as comments above the constants of each judge, in the form of cost_constants.def.
void refit_print(const refit_result *result, FILE *out);

#endif
