// `weft bench search` without --throughput: methods against each other.
#ifndef CLI_BENCH_METHODS_H
#define CLI_BENCH_METHODS_H

#include "cli/cli.h"
#include "search/layers/layers.h"

typedef struct bench_methods_options {
  const char *nets;     // "resnet50,bert"
  const char *methods;  // NULL: all
  const char *csv;      // NULL: no file
  uint64_t seeds, budget;
  bool simulate;         // what the methods propose, from the common array on
  uint64_t simulations;  // of the network, for each run of a method
  const char *runs;      // a file for what was simulated; NULL: none
  uint64_t timeout;      // seconds for a layer; 0: none
  uint64_t jobs;         // processes and threads; 0: one per processor
} bench_methods_options;

int bench_methods(const cli_common *common, const bench_methods_options *options, wf_diag *diag);

// Evaluations per second of one core of the model over the tape, forwards and with gradients.
typedef struct bench_tape_speed {
  const char *kernel;
  double forward, gradient;
} bench_tape_speed;
bench_tape_speed bench_tape(const layers_network *network, double seconds);

#endif
