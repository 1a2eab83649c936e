// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the truth loop (truth.h).
#ifndef SEARCH_TRUTH_LOOP_H
#define SEARCH_TRUTH_LOOP_H

#include "search/truth/truth.h"

enum { TRUTH_SIDE_MIN = 4, TRUTH_SIDES = 16 };

// State of the loop over candidates, which are simulated or predicted.
typedef struct truth_loop {
  const truth_options *options;
  truth_result *result;
  truth_runs *runs;
  predict_table *table;
  bool predicts;
  bool thorough;                             // asks the model of the machine for steps from the mappings, too
  size_t limit;                              // of candidates; simulated ones count by what of the network they run
  double spent;                              // of the limit
  const paper_mapping *wanted[TRUTH_SIDES];  // of the plain model for a side of 2^n: mappings of all layers, and again
  size_t sets[TRUTH_SIDES];                  // how often
  paper_mapping *own[TRUTH_SIDES];           // those of them that the loop found itself
  paper_cost rest;                           // of the base array's program, for what is only predicted
  double start;
  size_t room;
} truth_loop;

unsigned truth_place_of(unsigned side);
bool truth_is_full(const truth_loop *l);
bool truth_has_room(const truth_loop *l, double share);  // for a share of the network

// ---- arrays (arrays.c)

// Whether an array has the fixed sizes, and sizes and area within their bounds.
bool truth_allows(const truth_loop *l, const hw_array *array);
bool truth_builds(const hw_array *array);
paper_hardware truth_hardware_of(const hw_array *array);

// ---- candidates (measure.c)

// A candidate with a new array; NULL: the array is known already, or there are enough.
truth_candidate *truth_propose(truth_loop *l, const hw_array *array);
// Measures all candidates from `first` on, in parallel.
void truth_measure(truth_loop *l, size_t first);
// Appends a candidate with this array.
truth_candidate *truth_append(truth_loop *l, const hw_array *array);
// Sets the value of a candidate from its measured cost.
void truth_set_value(const truth_loop *l, truth_candidate *c, paper_cost cost);
// Prints a line of progress about a candidate.
void truth_say(const truth_loop *l, const truth_candidate *c);
// Makes the candidate the best one if it is.
void truth_take_best(truth_loop *l, size_t index);
// The mapping of this rank; false: it is left to the mapper.
bool truth_mapping_of(const predict_result *answer, size_t rank, map_mapping *mapping);

// ---- predicted candidates (truth.c)

// The best of a list of predictions, as the simulations so far correct them, if that is below a value; it is taken.
truth_candidate *truth_next_predicted(const truth_loop *l, truth_result *list, double below);
void truth_simulate_predicted(truth_loop *l, const truth_candidate *predicted);

// ---- engine flow (rung.c)

// What the model of the machine says of all layers on the candidates from `first` on, to be freed.
const predict_result **truth_answers_from(const truth_loop *l, size_t first);

// Runs the best mappings of each layer on an array: their figures, which is best, and the cost of the network with
// these. False: a layer runs with none of them.
bool truth_rung_ask(const truth_loop *l, const hw_array *array, const predict_result *const *answers,
                    truth_flow *figures, size_t *chosen, paper_cost *cost);
// Runs the best arrays that were predicted, as many as the options say; the others leave the list.
void truth_rung_sort(truth_loop *l, truth_loop *listed);

// ---- other mappings (refine.c)

// Until there are `limit` candidates or nothing is left to try. `list`: arrays that were predicted; may be NULL.
void truth_refine(truth_loop *l, truth_result *list);

#endif
