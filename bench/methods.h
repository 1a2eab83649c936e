// SPDX-License-Identifier: Apache-2.0
// `weft bench search`: methods against each other, and the speed of the models that they evaluate.
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "bench/bench.h"
#include "search/layers/layers.h"

typedef struct bench_search_options {
  const char *nets;     // "resnet50,bert"
  const char *methods;  // NULL: all
  uint64_t seeds, budget;
  bool simulate;         // what the methods propose, from the job's array on
  uint64_t simulations;  // of the network, for each run of a method
  const char *runs;      // a file for what was simulated; NULL: none
  uint64_t timeout;      // seconds for a layer; 0: none
  uint64_t jobs;         // processes and threads; 0: one per processor
  bool curve;            // instead: budgets from 10 to `budget`
  // Of the speed of the models instead: whose layers, seconds of measuring, random mappings.
  bool throughput;
  const char *net;
  uint64_t seconds, seed;
} bench_search_options;

bench_end bench_methods(const bench_job *job);
bench_end bench_curve(const bench_job *job);

// The space of all methods.
#define BENCH_SEARCH_LIMITS \
  { .side_max = 128, .scratchpad_kib_max = 2048, .accumulator_kib_max = 2048 }
// Methods by their names, "a,b"; NULL: all. `chosen` has BASELINES places. False after an error was reported.
bool bench_methods_chosen(const char *names, bool *chosen, wf_diag *diag);

// Evaluations per second of one core of the model over the tape, forwards and with gradients.
typedef struct bench_tape_speed {
  const char *kernel;
  double forward, gradient;
} bench_tape_speed;
bench_tape_speed bench_tape(const layers_network *network, double seconds);

#endif
