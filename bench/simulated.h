// SPDX-License-Identifier: Apache-2.0
// What methods of search propose, simulated: `weft bench search --simulate`.
#ifndef BENCH_SIMULATED_H
#define BENCH_SIMULATED_H

#include "search/baselines/baselines.h"
#include "search/truth/truth.h"

// Energy x delay of the designs of one method on one network.
typedef struct bench_simulated_row {
  size_t count;  // designs that ran
  double least, median, most;
  paper_hardware hardware;   // of the least
  double own;                // share of the layers with mappings of the method, of all designs
  double error;              // mean of |predicted / simulated - 1|
  char reason[WORK_REASON];  // of the first design that did not
} bench_simulated_row;

// Designs of one network, simulated.
typedef struct bench_simulated bench_simulated;

// All designs share runs, predictions, and what may be spent on each.
typedef struct bench_simulated_means {
  const hw_array *base;
  truth_runs *runs;
  predict_table *table;
  unsigned jobs, simulations;
  uint64_t evaluations;
} bench_simulated_means;

bench_simulated *bench_simulated_create(const descent_goal *goal, const bench_simulated_means *means);
void bench_simulated_destroy(bench_simulated *s);

// What a method found: the best of as many simulations as the joint search has. The default array's stays as it is.
void bench_simulated_add(bench_simulated *s, unsigned row, const baseline_result *found, bool keeps_array);
bench_simulated_row bench_simulated_row_of(const bench_simulated *s, unsigned row);

// The joint search with the model of the machine, for one seed: what it proposes first, and the best that it simulates.
void bench_simulated_search(bench_simulated *s, unsigned first_row, unsigned best_row, uint64_t seed);

#endif
