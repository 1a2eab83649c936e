// SPDX-License-Identifier: Apache-2.0
// A pattern search over the constants: see fit.h.
#include "search/model/fit.h"

#include <assert.h>
#include <math.h>

#include "search/model/machine.h"

// A constant with little effect stays near the value that it was given for a reason.
static const double stay = 0.002;
static const double knee = 0.7, first_step = 0.3, least_step = 0.01, most_step = 0.6;

// ---- losses

static double bent(double error) { return error < knee ? error : knee + (error - knee) / 2; }

static double model_loss(const fit_set *set, const cost_constants *constants) {
  double sum = 0;
  for (size_t i = 0; i < set->count; i++) {
    const samples_sample *s = &set->samples[i].sample;
    const double predicted = machine_predict(&s->layer, &s->mapping, &s->array, constants).cycles;
    sum += bent(fabs(log(predicted / set->samples[i].cycles)));
  }
  return sum / (double)set->count;
}

static double estimate_loss(const fit_set *set, const cost_constants *constants) {
  double sum = 0;
  for (size_t first = 0; first < set->count; first += SAMPLES_GROUP) {
    double ratio[SAMPLES_GROUP], common = 0;
    for (size_t i = 0; i < SAMPLES_GROUP; i++) {
      const samples_sample *s = &set->samples[first + i].sample;
      const map_footprint f = map_measure(&s->layer, &s->mapping, &s->array);
      const double estimate = map_estimate(&s->layer, &s->mapping, &s->array, &f, constants, INFINITY);
      ratio[i] = log(estimate / set->samples[first + i].cycles);
      common += ratio[i] / SAMPLES_GROUP;
    }
    for (size_t i = 0; i < SAMPLES_GROUP; i++) sum += bent(fabs(ratio[i] - common));
  }
  return sum / (double)set->count;
}

static double order_loss(const fit_set *set, const cost_constants *constants) {
  double sum = 0;
  for (size_t i = 0; i < set->count; i++) {
    const double cycles = set->simulate(&set->samples[i].sample, constants);
    sum += cycles == 0 ? knee : log(cycles / set->samples[i].cycles);
  }
  return sum / (double)set->count;
}

double fit_loss(cost_judge judge, const fit_set *set, const cost_constants *constants) {
  static double (*const losses[COST_JUDGES])(const fit_set *, const cost_constants *) = {
      [COST_MODEL] = model_loss, [COST_ESTIMATE] = estimate_loss, [COST_ORDER] = order_loss};
  assert(judge != COST_GIVEN && set->count > 0);
  return losses[judge](set, constants);
}

// ---- the search

typedef struct fit_state {
  cost_judge judge;
  const fit_set *set;
  cost_constants start, best;
  double loss, objective;
  bool matters[COST_CONSTANTS];
} fit_state;

// What is minimised: the loss, and a little for every constant's distance from where it started.
static double objective(const fit_state *f, const cost_constants *constants, double loss) {
  double moved = 0;
  for (size_t i = 0; i < COST_CONSTANTS; i++) {
    const double ratio = log(cost_value(constants, i) / cost_value(&f->start, i));
    moved += ratio * ratio;
  }
  return loss + stay * moved;
}

// Tries a constant a step lower and a step higher; whether that was better.
static bool try_constant(fit_state *f, size_t index, double step) {
  for (int sign = -1; sign <= 1; sign += 2) {
    cost_constants tried = f->best;
    cost_set_value(&tried, index, cost_value(&f->best, index) * (1 + sign * step));
    const double loss = fit_loss(f->judge, f->set, &tried), here = objective(f, &tried, loss);
    if (loss != f->loss) f->matters[index] = true;
    if (here >= f->objective) continue;
    f->loss = loss;
    f->objective = here;
    f->best = tried;
    return true;
  }
  return false;
}

double fit_constants(cost_judge judge, const fit_set *set, unsigned rounds, cost_constants *constants, bool *matters) {
  fit_state f = {.judge = judge, .set = set, .start = *constants, .best = *constants};
  double step[COST_CONSTANTS];
  f.loss = f.objective = fit_loss(judge, set, &f.best);
  for (size_t i = 0; i < COST_CONSTANTS; i++) step[i] = first_step;
  for (unsigned round = 0; round < rounds; round++)
    for (size_t i = 0; i < COST_CONSTANTS; i++) {
      if (cost_numbers[i].judge != judge) continue;
      step[i] *= try_constant(&f, i, step[i]) ? 1.3 : 0.5;
      step[i] = fmin(most_step, fmax(least_step, step[i]));
    }
  *constants = f.best;
  for (size_t i = 0; matters != NULL && i < COST_CONSTANTS; i++) matters[i] = f.matters[i];
  return f.loss;
}
