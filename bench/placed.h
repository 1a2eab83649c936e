// SPDX-License-Identifier: Apache-2.0
// Whole networks on engine cycle with random inputs, each node compared with the int8 reference.
#ifndef BENCH_PLACED_H
#define BENCH_PLACED_H

#include "bench/bench.h"
#include "runner/network.h"

typedef struct bench_placed {
  network *net;
  run_network_result result;
} bench_placed;

// `lowering` has all that the compiler is told but the number of its processes. False after an error was reported;
// release it in any case.
bool bench_placed_run(const graph *placed, network_options lowering, uint64_t seed, bench_placed *run, wf_diag *diag);
void bench_placed_release(bench_placed *run);

#endif
