// A pattern search over the constants: see fit.h.
#include "search/model/fit.h"

#include <math.h>
#include <string.h>

// A constant that hardly matters shall stay near the value that somebody gave it for a reason.
static const double stay = 0.002;
static const double knee = 0.7, first_step = 0.3, least_step = 0.01, most_step = 0.6;

double fit_loss(const fit_sample *samples, size_t count, const machine_constants *constants) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const samples_sample *s = &samples[i].sample;
    const double predicted = machine_predict(&s->layer, &s->mapping, &s->array, constants).cycles;
    const double error = fabs(log(predicted / samples[i].cycles));
    sum += error < knee ? error : knee + (error - knee) / 2;
  }
  return sum / (double)count;
}

static double value_of(const machine_constants *constants, size_t index) {
  double value;
  memcpy(&value, (const char *)constants + index * sizeof value, sizeof value);
  return value;
}

// What is minimised: the loss, and a little for every constant's distance from where it started.
static double objective(const fit_sample *samples, size_t count, const machine_constants *constants,
                        const machine_constants *start) {
  double moved = 0;
  for (size_t i = 0; i < MACHINE_CONSTANTS; i++) {
    const double ratio = log(value_of(constants, i) / value_of(start, i));
    moved += ratio * ratio;
  }
  return fit_loss(samples, count, constants) + stay * moved;
}

typedef struct fit_state {
  const fit_sample *samples;
  size_t count;
  machine_constants start, best;
  double objective;
} fit_state;

// Tries a constant a step lower and a step higher; whether that was better.
static bool try_constant(fit_state *f, size_t index, double step) {
  for (int sign = -1; sign <= 1; sign += 2) {
    machine_constants tried = f->best;
    const double value = value_of(&f->best, index) * (1 + sign * step);
    memcpy((char *)&tried + index * sizeof value, &value, sizeof value);
    const double here = objective(f->samples, f->count, &tried, &f->start);
    if (here >= f->objective) continue;
    f->objective = here;
    f->best = tried;
    return true;
  }
  return false;
}

double fit_constants(const fit_sample *samples, size_t count, unsigned rounds, machine_constants *constants) {
  fit_state f = {.samples = samples, .count = count, .start = *constants, .best = *constants};
  double step[MACHINE_CONSTANTS];
  f.objective = objective(samples, count, &f.best, &f.start);
  for (size_t i = 0; i < MACHINE_CONSTANTS; i++) step[i] = first_step;
  for (unsigned round = 0; round < rounds; round++)
    for (size_t i = 0; i < MACHINE_CONSTANTS; i++) {
      step[i] *= try_constant(&f, i, step[i]) ? 1.3 : 0.5;
      step[i] = fmin(most_step, fmax(least_step, step[i]));
    }
  *constants = f.best;
  return fit_loss(samples, count, constants);
}
