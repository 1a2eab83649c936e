// A pattern search over the constants: see fit.h.
#include "search/model/fit.h"

#include <math.h>

// A constant with little effect stays near the value that it was given for a reason.
static const double stay = 0.002;
static const double knee = 0.7, first_step = 0.3, least_step = 0.01, most_step = 0.6;

double fit_loss(const fit_sample *samples, size_t count, const cost_constants *constants) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const samples_sample *s = &samples[i].sample;
    const double predicted = machine_predict(&s->layer, &s->mapping, &s->array, constants).cycles;
    const double error = fabs(log(predicted / samples[i].cycles));
    sum += error < knee ? error : knee + (error - knee) / 2;
  }
  return sum / (double)count;
}

// What is minimised: the loss, and a little for every constant's distance from where it started.
static double objective(const fit_sample *samples, size_t count, const cost_constants *constants,
                        const cost_constants *start) {
  double moved = 0;
  for (size_t i = 0; i < COST_CONSTANTS; i++) {
    const double ratio = log(cost_value(constants, i) / cost_value(start, i));
    moved += ratio * ratio;
  }
  return fit_loss(samples, count, constants) + stay * moved;
}

typedef struct fit_state {
  const fit_sample *samples;
  size_t count;
  cost_constants start, best;
  double objective;
} fit_state;

// Tries a constant a step lower and a step higher; whether that was better.
static bool try_constant(fit_state *f, size_t index, double step) {
  for (int sign = -1; sign <= 1; sign += 2) {
    cost_constants tried = f->best;
    cost_set_value(&tried, index, cost_value(&f->best, index) * (1 + sign * step));
    const double here = objective(f->samples, f->count, &tried, &f->start);
    if (here >= f->objective) continue;
    f->objective = here;
    f->best = tried;
    return true;
  }
  return false;
}

double fit_constants(const fit_sample *samples, size_t count, unsigned rounds, cost_constants *constants) {
  fit_state f = {.samples = samples, .count = count, .start = *constants, .best = *constants};
  double step[COST_CONSTANTS];
  f.objective = objective(samples, count, &f.best, &f.start);
  for (size_t i = 0; i < COST_CONSTANTS; i++) step[i] = first_step;
  for (unsigned round = 0; round < rounds; round++)
    for (size_t i = 0; i < COST_CONSTANTS; i++) {
      if (cost_numbers[i].judge != COST_MODEL) continue;
      step[i] *= try_constant(&f, i, step[i]) ? 1.3 : 0.5;
      step[i] = fmin(most_step, fmax(least_step, step[i]));
    }
  *constants = f.best;
  return fit_loss(samples, count, constants);
}
