// SPDX-License-Identifier: Apache-2.0
// See placed.h.
#include "bench/placed.h"

#include "compiler/quantise/quantise.h"
#include "runner/tune.h"

enum { COMPILERS = 2 };

bool bench_placed_run(const graph *placed, network_options lowering, uint64_t seed, bench_placed *run, wf_diag *diag) {
  lowering.jobs = COMPILERS;
  void **inputs = quantise_random_inputs(placed, seed);
  const run_tune_request request = {.placed = placed, .options = &lowering, .inputs = (const void *const *)inputs};
  run->net = run_tune_network(&request, diag);
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {.engine = &sim_cycle_engine,
                                     .options = &engine,
                                     .inputs = (const void *const *)inputs,
                                     .check = true,
                                     .hart = RUN_HART_NATIVE};
  const bool good = run->net != NULL && run_network(run->net, &config, &run->result, diag);
  quantise_free_inputs(placed, inputs);
  return good;
}

void bench_placed_release(bench_placed *run) {
  if (run->net == NULL) return;
  run_network_release(run->net, &run->result);
  network_destroy(run->net);
}
