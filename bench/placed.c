// SPDX-License-Identifier: Apache-2.0
// See placed.h.
#include "bench/placed.h"

#include <string.h>

#include "base/alloc.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/tune.h"

enum { COMPILERS = 2 };

static bool run(const graph *placed, network_options lowering, uint64_t seed, run_hart hart, bench_placed *to,
                wf_diag *diag) {
  lowering.jobs = COMPILERS;
  void **inputs = quantise_random_inputs(placed, seed);
  const run_tune_request request = {.placed = placed, .options = &lowering, .inputs = (const void *const *)inputs};
  to->net = run_tune_network(&request, diag);
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {.engine = &sim_cycle_engine,
                                     .options = &engine,
                                     .inputs = (const void *const *)inputs,
                                     .check = true,
                                     .hart = hart};
  const bool good = to->net != NULL && run_network(to->net, &config, &to->result, diag);
  quantise_free_inputs(placed, inputs);
  return good;
}

bool bench_placed_run(const graph *placed, network_options lowering, uint64_t seed, bench_placed *to, wf_diag *diag) {
  return run(placed, lowering, seed, RUN_HART_NATIVE, to, diag);
}

bool bench_placed_run_timed(const graph *placed, network_options lowering, uint64_t seed, bench_placed *to,
                            wf_diag *diag) {
  return run(placed, lowering, seed, RUN_HART_TIMED, to, diag);
}

void bench_placed_release(bench_placed *run) {
  if (run->net == NULL) return;
  run_network_release(run->net, &run->result);
  network_destroy(run->net);
}

static bench_end measure(const bench_job *job, bench_table *table, const bench_network_list *list, const char *name) {
  hw_array array;
  graph *model = bench_load_array(job, &array) ? networks_create(name, &list->made, job->diag) : NULL;
  if (model == NULL) return BENCH_BAD_INPUT;
  const quantise_options quantise = {.seed = list->made.seed, .int8_ends = true, .target = network_target(&array)};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return BENCH_BAD_INPUT;
  const bench_end end = list->measure(job, table, name, &array, placed);
  graph_destroy(placed);
  return end;
}

static bool goes_on(bench_end *end, bench_end one) {
  if (one != BENCH_DONE) *end = one;
  return one != BENCH_CANNOT_BUILD && one != BENCH_BAD_INPUT;
}

static bench_end run_named(const bench_job *job, bench_table *table, const bench_network_list *list, char *names) {
  bench_end end = BENCH_DONE;
  char *rest = names;
  for (const char *name; (name = strtok_r(rest, ",", &rest)) != NULL;)
    if (!goes_on(&end, measure(job, table, list, name))) break;
  return end;
}

bench_end bench_networks_run(const bench_job *job, bench_table *table, const bench_network_list *list) {
  bench_end end = BENCH_DONE;
  if (list->only == NULL) {
    for (size_t n = 0; n < list->count && goes_on(&end, measure(job, table, list, list->names[n])); n++) continue;
    return end;
  }
  char *names = wf_strdup(list->only);
  end = run_named(job, table, list, names);
  wf_free(names);
  return end;
}
