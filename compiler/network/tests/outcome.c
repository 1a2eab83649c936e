// SPDX-License-Identifier: Apache-2.0
// Runs graphs in tests: see outcome.h.
#include "compiler/network/tests/outcome.h"

#include "compiler/network/tests/build.h"
#include "runner/judge.h"

hw_array array_of(const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

network *network_on(const graph *g, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = {.array = array, .jobs = 2};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  return net;
}

int count_steps(const graph *g, const char *array_name, graph_op op) {
  const hw_array array = array_of(array_name);
  network *net = network_on(g, &array);
  int steps = 0;
  for (int s = 0; s < net->step_count; s++) steps += net->steps[s].node->op == op;
  network_destroy(net);
  return steps;
}

outcome run_with(const graph *g, const network_options *options, const char *engine, run_hart hart) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_verify(g, &diag));
  network *net = network_create(g, options, &diag);
  assert_non_null(net);
  void **inputs = build_random_inputs(g);
  const run_network_config config = {
      .engine = sim_engine_find(engine), .inputs = (const void *const *)inputs, .check = true, .hart = hart};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  if (result.wrong != 0)
    fail_msg("%s, %s: step %d (%s), element %llu is %g, not %g", options->array->name, engine, result.first.step,
             net->steps[result.first.step].what, (unsigned long long)result.first.element, result.first.found,
             result.first.expected);
  const outcome o = {result.digest,   result.cycles, result.host_cycles + result.edge_cycles,
                     result.compared, result.wrong,  net->step_count};
  build_free_inputs(g, inputs);
  run_network_release(net, &result);
  network_destroy(net);
  return o;
}

outcome run_fused(const graph *g, const hw_array *array, const char *engine, run_hart hart, network_fuse_mode fuse) {
  const network_options options = {.array = array, .jobs = 2, .tuning.judge = run_judge, .fuse = fuse};
  return run_with(g, &options, engine, hart);
}

outcome run_on(const graph *g, const hw_array *array, const char *engine, run_hart hart) {
  return run_fused(g, array, engine, hart, NETWORK_FUSE_OFF);
}

outcome run(const graph *g, const char *array_name, const char *engine, run_hart hart) {
  const hw_array array = array_of(array_name);
  return run_on(g, &array, engine, hart);
}

outcome run_both(const graph *g, const char *array) {
  const outcome ref = run(g, array, "ref", RUN_HART_NATIVE);
  const outcome cycle = run(g, array, "cycle", RUN_HART_TIMED);
  assert_int_equal(ref.digest, cycle.digest);
  return cycle;
}
