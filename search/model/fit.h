// Fits the constants of the machine's model to simulated samples.
#ifndef SEARCH_MODEL_FIT_H
#define SEARCH_MODEL_FIT_H

#include "search/model/machine.h"
#include "search/model/samples.h"

typedef struct fit_sample {
  samples_sample sample;
  double cycles;  // simulated
} fit_sample;

// The mean of |log(predicted / simulated)|, from 0.7 on at half its slope: few that the model cannot explain must not
// move all others.
double fit_loss(const fit_sample *samples, size_t count, const cost_constants *constants);

// Changes one constant after the other, `rounds` times, as long as that lowers the loss by more than it moves them
// away. All are above 0. Returns the loss.
double fit_constants(const fit_sample *samples, size_t count, unsigned rounds, cost_constants *constants);

#endif
