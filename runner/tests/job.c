// SPDX-License-Identifier: Apache-2.0
// A generated network in tests: see job.h.
#include "runner/tests/job.h"

#include "base/test.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "runner/steps.h"

job job_open(const char *name, const networks_options *options, const char *array, bool int8_ends) {
  job j = {.values = NULL};
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&j.array, array, &diag));
  graph *model = networks_create(name, options, &diag);
  assert_non_null(model);
  const quantise_options quantise = {.seed = 1, .samples = 1, .int8_ends = int8_ends};
  j.placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(j.placed);
  graph_destroy(model);
  j.inputs = quantise_random_inputs(j.placed, 1);
  return j;
}

void job_close(job *j) {
  run_steps_free_values(j->placed, j->values);
  quantise_free_inputs(j->placed, j->inputs);
  graph_destroy(j->placed);
}

job_outcome job_run(const job *j, network *net) {
  wf_diag diag = wf_diag_to(stderr);
  assert_non_null(net);
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = (const void *const *)j->inputs, .check = true};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.wrong, 0);
  job_outcome o = {.cycles = result.cycles, .digest = result.digest};
  for (int s = 0; s < net->step_count; s++) o.mixes += net->steps[s].parts > 1;
  run_network_release(net, &result);
  network_destroy(net);
  return o;
}
