// SPDX-License-Identifier: Apache-2.0
// The least energy x delay that a box of hardware can have.
//
// In a box a candidate costs at least what it costs on the smallest hardware of the box that it fits. With these costs
// every layer has a set of points (cycles, energy), and the network takes one of each: (sum of cycles)(sum of
// energies). The product of two sums has its least value at a corner of the convex hull of all sums, and such a corner
// takes from every layer a corner of its own hull, all at the same slope. So the lower hulls' edges, sorted by slope,
// lead through all sums that can be optimal.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"
#include "search/exact/private.h"

exact_bounder exact_bounder_create(const exact_space *space, const exact_set *sets, bool whole_kib) {
  size_t largest = 1;
  for (size_t i = 0; i < space->network->count; i++)
    if (sets[i].count > largest) largest = sets[i].count;
  return (exact_bounder){.space = space,
                         .sets = sets,
                         .whole_kib = whole_kib,
                         .choice = WF_NEW_ARRAY(space->network->count, size_t),
                         .hull = WF_NEW_ARRAY(largest, size_t),
                         .energies = WF_NEW_ARRAY(largest, double)};
}

void exact_bounder_destroy(exact_bounder *bounder) {
  wf_free(bounder->choice);
  wf_free(bounder->hull);
  wf_free(bounder->energies);
  wf_free(bounder->steps);
}

static double energy_in(const exact_bounder *b, const exact_candidate *c, const exact_box *box) {
  const double scratchpad = wf_max(c->scratchpad_kib, box->scratchpad_low);
  const double need = wf_max(c->accumulator_kib, box->accumulator_low);
  return c->base + c->per_scratchpad * scratchpad + c->per_accumulator * (b->whole_kib ? ceil(need) : need);
}

static bool fits(const exact_candidate *c, const exact_box *box) {
  return c->scratchpad_kib <= box->scratchpad_high && c->accumulator_kib <= box->accumulator_high;
}

// Whether the middle one of three points lies on or above the line between the others.
static bool above(const exact_candidate *set, const double *energies, size_t a, size_t b, size_t c) {
  return (energies[b] - energies[a]) * (set[c].cycles - set[a].cycles) >=
         (energies[c] - energies[a]) * (set[b].cycles - set[a].cycles);
}

// The corners of the lower hull from the fewest cycles to the least energy; the candidates come by rising cycles.
static size_t lower_hull(exact_bounder *b, const exact_set *set, const exact_box *box) {
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++) {
    const exact_candidate *c = &set->candidates[i];
    if (!fits(c, box)) continue;
    b->energies[i] = energy_in(b, c, box);
    if (count > 0 && b->energies[i] >= b->energies[b->hull[count - 1]]) continue;
    if (count > 0 && c->cycles == set->candidates[b->hull[count - 1]].cycles) count--;
    while (count > 1 && above(set->candidates, b->energies, b->hull[count - 2], b->hull[count - 1], i)) count--;
    b->hull[count++] = i;
  }
  return count;
}

static void add_steps(exact_bounder *b, size_t layer, size_t corners, size_t *steps) {
  const exact_candidate *set = b->sets[layer].candidates;
  const double count = layers_products(&b->space->network->layers[layer]);
  if (*steps + corners > b->step_room)
    b->steps = wf_realloc(b->steps, b->step_room = 2 * (*steps + corners), sizeof *b->steps);
  for (size_t i = 1; i < corners; i++)
    b->steps[(*steps)++] = (exact_step){
        .cycles = count * (set[b->hull[i]].cycles - set[b->hull[i - 1]].cycles),
        .energy = count * (b->energies[b->hull[i]] - b->energies[b->hull[i - 1]]),
        .layer = layer,
        .candidate = b->hull[i],
    };
}

// The steepest first: the most energy saved for a cycle.
static int by_slope(const void *a, const void *b) {
  const exact_step *x = a, *y = b;
  const double sx = x->energy / x->cycles, sy = y->energy / y->cycles;
  return sx < sy ? -1 : sx > sy;
}

// Walks the sums' hull from the fewest cycles on.
static double walk(exact_bounder *b, double cycles, double energy, size_t steps) {
  double best = cycles * energy;
  size_t best_steps = 0;
  if (steps > 0) qsort(b->steps, steps, sizeof *b->steps, by_slope);
  for (size_t i = 0; i < steps; i++) {
    cycles += b->steps[i].cycles;
    energy += b->steps[i].energy;
    if (cycles * energy >= best) continue;
    best = cycles * energy;
    best_steps = i + 1;
  }
  for (size_t i = 0; i < best_steps; i++) b->choice[b->steps[i].layer] = b->steps[i].candidate;
  return best;
}

double exact_bound(exact_bounder *b, const exact_box *box) {
  double cycles = 0, energy = 0;
  size_t steps = 0;
  for (size_t layer = 0; layer < b->space->network->count; layer++) {
    const double count = layers_products(&b->space->network->layers[layer]);
    const size_t corners = lower_hull(b, &b->sets[layer], box);
    if (corners == 0) return INFINITY;
    b->choice[layer] = b->hull[0];
    cycles += count * b->sets[layer].candidates[b->hull[0]].cycles;
    energy += count * b->energies[b->hull[0]];
    add_steps(b, layer, corners, &steps);
  }
  return walk(b, cycles, energy, steps);
}
