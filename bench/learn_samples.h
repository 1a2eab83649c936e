// SPDX-License-Identifier: Apache-2.0
// Samples for `weft bench learn`: layers on arrays at random, several mappings of each, simulated on all processors.
#ifndef BENCH_LEARN_SAMPLES_H
#define BENCH_LEARN_SAMPLES_H

#include "runner/fidelity.h"
#include "search/learn/set.h"
#include "search/model/samples.h"

typedef struct bench_learn_request {
  samples_set of;
  run_fidelity engine;
  size_t groups, mappings;
  uint64_t seed;
  bool quiet;
} bench_learn_request;

// The same for a request on every machine. Adds to `failed` what cannot be compiled or run, and is left out. False
// after an error was reported.
bool bench_learn_collect(const bench_learn_request *request, learn_set *set, size_t *failed, wf_diag *diag);

#endif
