// SPDX-License-Identifier: Apache-2.0
// Inside of the exact solver: candidates of a layer, and the bound over a box of hardware.
#ifndef SEARCH_EXACT_PRIVATE_H
#define SEARCH_EXACT_PRIVATE_H

#include "search/exact/exact.h"

// A mapping of a layer on an array of a certain side: what it needs and what it costs there. Its energy on memories of
// s and a KiB is base + per_scratchpad * s + per_accumulator * a.
typedef struct exact_candidate {
  double cycles;
  double base, per_scratchpad, per_accumulator;  // uJ
  double scratchpad_kib;                         // whole
  double accumulator_kib;                        // before rounding up
  int32_t tile[BLOCK_DIMS];                      // extents inside of the scratchpad
  uint8_t order;                                 // paper_order
} exact_candidate;

// Of one layer, by rising cycles.
typedef struct exact_set {
  exact_candidate *candidates;
  size_t count;
} exact_set;

typedef struct exact_space {
  const layers_network *network;
  const paper_constants *constants;
  double side, scratchpad_max, accumulator_max;  // KiB
} exact_space;

// All mappings of a layer that fit the largest memories, except mappings that another one beats wherever they fit.
exact_set exact_candidates(const exact_space *space, const layers_layer *layer, uint64_t *evaluations);
paper_mapping exact_mapping_of(const layers_layer *layer, const exact_candidate *candidate, double side);

// Hardware from `low` to `high` (KiB each).
typedef struct exact_box {
  double scratchpad_low, scratchpad_high, accumulator_low, accumulator_high;
} exact_box;

// A place on the lower hull of a layer's candidates: going there from the one before adds `cycles` and saves energy.
typedef struct exact_step {
  double cycles, energy;  // differences, of all occurrences
  size_t layer, candidate;
} exact_step;

typedef struct exact_bounder {
  const exact_space *space;
  const exact_set *sets;
  bool whole_kib;    // accumulators are whole KiB
  size_t *choice;    // of each layer: the candidate that attains the bound
  size_t *hull;      // room for the largest set
  double *energies;  // the same
  exact_step *steps;
  size_t step_room;
} exact_bounder;

exact_bounder exact_bounder_create(const exact_space *space, const exact_set *sets, bool whole_kib);
void exact_bounder_destroy(exact_bounder *bounder);

// No hardware of the box and no mappings have a smaller energy x delay; INFINITY: some layer fits nowhere. Where the
// box is a single point it is the optimum there. Sets the choice that attains it.
double exact_bound(exact_bounder *bounder, const exact_box *box);

#endif
