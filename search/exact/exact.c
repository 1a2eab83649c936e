// SPDX-License-Identifier: Apache-2.0
// Branch and bound over the hardware, from the largest array side down.
//
// For a side the hardware is a box of scratchpad x accumulator; only sizes that some candidate needs matter. A box
// whose bound is no better than the best network so far is done; others are halved. The choice that attains a bound is
// a network itself, on the hardware that it needs, and may become the best.
//
// Smaller sides are ruled out together: what a side can do, a larger one with columns of the same size does with no
// more cycles and energy. So if a side, with columns as large as the smallest array's could be and without rounding,
// has no better network, then no smaller side has one.
#include "search/exact/exact.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"
#include "search/exact/private.h"

// Products of sums in another order differ in their last bits; a bound must be better by more than that.
#define ROUNDING 1e-12

typedef struct solver {
  const layers_network *network;
  const exact_options *options;
  double kib_max;
  double best;  // energy x delay
  exact_result *result;
} solver;

// The sizes of one memory that matter, rising.
typedef struct sizes {
  double *kib;
  size_t count;
} sizes;

// The search of one side. `relaxed`: only whether there is something better, in columns of any size.
typedef struct search {
  solver *s;
  exact_space space;
  exact_set *sets;
  exact_bounder bounder;
  sizes scratchpads, accumulators;
  bool relaxed, better;
} search;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// What candidates need; one size alone if it is fixed.
static sizes sizes_of(const search *f, bool accumulator, unsigned fixed) {
  size_t room = 1, count = 0;
  for (size_t l = 0; l < f->s->network->count; l++) room += f->sets[l].count;
  sizes all = {.kib = WF_NEW_ARRAY(room, double), .count = 1};
  if (fixed != 0) return all.kib[0] = fixed, all;
  for (size_t l = 0; l < f->s->network->count; l++)
    for (size_t i = 0; i < f->sets[l].count; i++) {
      const exact_candidate *c = &f->sets[l].candidates[i];
      all.kib[count++] = accumulator ? c->accumulator_kib : c->scratchpad_kib;
    }
  qsort(all.kib, count, sizeof *all.kib, by_value);
  for (size_t i = 1; i < count; i++)
    if (all.kib[i] != all.kib[all.count - 1]) all.kib[all.count++] = all.kib[i];
  return all;
}

// The choice of the bounder as a network of its own.
static void try_choice(search *f) {
  solver *s = f->s;
  const exact_options *o = s->options;
  double scratchpad = o->scratchpad_kib, accumulator = o->accumulator_kib;
  for (size_t l = 0; l < s->network->count; l++) {
    const exact_candidate *c = &f->sets[l].candidates[f->bounder.choice[l]];
    scratchpad = wf_max(scratchpad, c->scratchpad_kib);
    accumulator = wf_max(accumulator, ceil(c->accumulator_kib));
  }
  if (accumulator > s->kib_max) return;
  const paper_hardware hardware = {f->space.side, scratchpad, accumulator};
  paper_mapping *mappings = WF_NEW_ARRAY(s->network->count, paper_mapping);
  for (size_t l = 0; l < s->network->count; l++)
    mappings[l] = exact_mapping_of(&s->network->layers[l], &f->sets[l].candidates[f->bounder.choice[l]], hardware.side);
  const paper_cost cost = paper_network(s->network, mappings, &hardware, o->constants);
  if (paper_edp(cost) < s->best) {
    s->best = paper_edp(cost);
    s->result->hardware = hardware;
    s->result->cost = cost;
    wf_free(s->result->mappings);
    s->result->mappings = mappings;
  } else {
    wf_free(mappings);
  }
}

// A box as the places of its smallest and largest sizes.
typedef struct range {
  size_t low, high;
} range;

static exact_box box_of(const search *f, range scratchpad, range accumulator) {
  return (exact_box){f->scratchpads.kib[scratchpad.low], f->scratchpads.kib[scratchpad.high],
                     f->accumulators.kib[accumulator.low], f->accumulators.kib[accumulator.high]};
}

// Which of the two to halve: that of the larger ratio between its ends, as energy grows with size.
static bool halve_scratchpad(const exact_box *box, range scratchpad, range accumulator) {
  if (scratchpad.low == scratchpad.high || accumulator.low == accumulator.high)
    return scratchpad.low != scratchpad.high;
  return box->scratchpad_high * box->accumulator_low >= box->accumulator_high * box->scratchpad_low;
}

// The place of the last size up to the geometric middle; it leaves something on both sides.
static size_t middle(const sizes *all, range r) {
  const double limit = sqrt(wf_max(all->kib[r.low], 0.5) * all->kib[r.high]);
  size_t at = r.low;
  while (at + 1 < r.high && all->kib[at + 1] <= limit) at++;
  return at;
}

static void search_box(search *f, range scratchpad, range accumulator) {
  if (f->relaxed && f->better) return;
  const exact_box box = box_of(f, scratchpad, accumulator);
  f->s->result->boxes++;
  if (exact_bound(&f->bounder, &box) >= f->s->best * (1 - ROUNDING)) return;
  const bool point = scratchpad.low == scratchpad.high && accumulator.low == accumulator.high;
  if (!f->relaxed) try_choice(f);
  if (point) {
    f->better = true;
    return;
  }
  if (halve_scratchpad(&box, scratchpad, accumulator)) {
    const size_t at = middle(&f->scratchpads, scratchpad);
    search_box(f, (range){scratchpad.low, at}, accumulator);
    search_box(f, (range){at + 1, scratchpad.high}, accumulator);
  } else {
    const size_t at = middle(&f->accumulators, accumulator);
    search_box(f, scratchpad, (range){accumulator.low, at});
    search_box(f, scratchpad, (range){at + 1, accumulator.high});
  }
}

static void gather(search *f) {
  solver *s = f->s;
  f->sets = WF_NEW_ARRAY(s->network->count, exact_set);
  for (size_t l = 0; l < s->network->count; l++) {
    f->sets[l] = exact_candidates(&f->space, &s->network->layers[l], &s->result->evaluations);
    s->result->kept += f->sets[l].count;
  }
  f->scratchpads = sizes_of(f, false, s->options->scratchpad_kib);
  f->accumulators = sizes_of(f, true, s->options->accumulator_kib);
  f->bounder = exact_bounder_create(&f->space, f->sets, !f->relaxed);
}

static void drop(search *f) {
  exact_bounder_destroy(&f->bounder);
  wf_free(f->scratchpads.kib);
  wf_free(f->accumulators.kib);
  for (size_t l = 0; l < f->s->network->count; l++) wf_free(f->sets[l].candidates);
  wf_free(f->sets);
}

// Whether it found something better than there was.
static bool search_side(solver *s, double side, double accumulator_max, bool relaxed) {
  const exact_options *o = s->options;
  search f = {.s = s, .relaxed = relaxed};
  f.space = (exact_space){.network = s->network,
                          .constants = o->constants,
                          .side = side,
                          .scratchpad_max = o->scratchpad_kib != 0 ? o->scratchpad_kib : s->kib_max,
                          .accumulator_max = accumulator_max};
  gather(&f);
  search_box(&f, (range){0, f.scratchpads.count - 1}, (range){0, f.accumulators.count - 1});
  drop(&f);
  return f.better;
}

bool exact_solve(const layers_network *network, const exact_options *options, exact_result *result) {
  assert(options->constants->vector_words.dram == 0 && options->constants->vector_words.scratchpad_per_row == 0);
  *result = (exact_result){0};
  solver s = {.network = network, .options = options, .best = INFINITY, .result = result};
  s.kib_max = options->kib_max != 0 ? options->kib_max : EXACT_KIB_MAX;
  const unsigned largest = options->side_max != 0 ? options->side_max : EXACT_SIDE_MAX;
  const double accumulator = options->accumulator_kib != 0 ? options->accumulator_kib : s.kib_max;
  for (unsigned side = options->side != 0 ? options->side : largest; side >= 2; side -= 2) {
    search_side(&s, side, accumulator, false);
    result->sides++;
    if (options->progress != NULL) options->progress(options->context, side, s.best);
    if (options->side != 0 || side == 2) break;
    // An accumulator of a fixed size has larger columns in a smaller array: each side is searched.
    if (options->accumulator_kib == 0 && !search_side(&s, side - 2, accumulator * (side - 2) / 2, true)) break;
  }
  return result->mappings != NULL;
}

void exact_release(exact_result *result) { wf_free(result->mappings); }
