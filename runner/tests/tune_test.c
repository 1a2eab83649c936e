// SPDX-License-Identifier: Apache-2.0
// Tuning in the network: its cycles are those of a run of the network with its mappings, for each objective the answer
// is no worse than the mapper's first, and mappings that are given, or known from elsewhere, have their places.
#include "runner/tune.h"

#include <string.h>

#include "base/test.h"
#include "runner/judge.h"
#include "runner/steps.h"
#include "runner/tests/job.h"
#include "sim/figures.h"

static network_options tuned_options(const job *j, unsigned count, run_fidelity with, compile_objective objective) {
  return (network_options){.array = &j->array, .tuning = run_tuning(count, with, objective), .jobs = 2};
}

static run_tune_request request_of(const job *j, const network_options *options) {
  return (run_tune_request){.placed = j->placed, .options = options, .inputs = (const void *const *)j->inputs};
}

// Cycles, and cycles times energy, of a whole run on the cycle engine.
static double run(const job *j, const network_mappings *mappings, uint64_t *cycles) {
  wf_diag diag = wf_diag_to(stderr);
  network_mappings list = *mappings;
  network *net = network_create(
      j->placed, &(network_options){.array = &j->array, .mapping = network_mappings_find, .context = &list}, &diag);
  assert_non_null(net);
  const sim_engine_options engine = {.timing_only = true, .quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = (const void *const *)j->inputs};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  const double energy_pj = sim_figures_of(&result.units, &result.hart, &j->array).energy_pj;
  *cycles = result.cycles;
  run_network_release(net, &result);
  network_destroy(net);
  return energy_pj * (double)*cycles;
}

typedef struct elsewhere {
  uint64_t shape, layer;
  map_mapping mapping;
  int asked;
} elsewhere;

// The first shape that tuning changes, and its mapping.
static elsewhere first_changed(const run_tune_result *tuned) {
  elsewhere e = {.shape = tuned->mappings.items[0].shape, .mapping = tuned->mappings.items[0].mapping};
  for (size_t s = 0; s < tuned->shape_count; s++)
    if (network_shape_of(tuned->shapes[s].call) == e.shape) e.layer = map_layer_hash(&tuned->shapes[s].call->layer);
  return e;
}

static elsewhere check(const job *j, unsigned count, run_fidelity with, compile_objective objective) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = tuned_options(j, count, with, objective);
  const run_tune_request request = request_of(j, &options);
  run_tune_result tuned;
  uint64_t cycles, before;
  assert_true(run_tune(&request, &tuned, &diag));
  const double edp = run(j, &tuned.mappings, &cycles), edp_before = run(j, &(network_mappings){0}, &before);
  printf("%s: %llu cycles, %llu tuned, %.4g and %.4g pJ cycles, %llu runs\n", compile_objective_names[objective],
         (unsigned long long)before, (unsigned long long)cycles, edp_before, edp, (unsigned long long)tuned.runs);
  assert_int_equal(cycles, tuned.cycles);
  assert_int_equal(before, tuned.before);
  if (objective == COMPILE_CYCLES) assert_true(cycles < before);
  if (objective == COMPILE_EDP) assert_true(edp < edp_before);
  size_t changed = 0;
  for (size_t s = 0; s < tuned.shape_count; s++) changed += tuned.shapes[s].changed ? 1 : 0;
  assert_int_equal(changed, tuned.mappings.count);
  assert_true(changed > 0);
  const elsewhere e = first_changed(&tuned);
  run_tune_release(&tuned);
  return e;
}

// Leaves a mapping for test_elsewhere.
static void test_objectives(void **state) {
  job j = job_open("resnet18", &(networks_options){.seed = 1, .size = 64, .divisor = 4}, "gemmini-default", true);
  *(elsewhere *)*state = check(&j, 6, RUN_FIDELITY_CYCLE, COMPILE_CYCLES);
  check(&j, 6, RUN_FIDELITY_CYCLE, COMPILE_EDP);
  check(&j, 12, RUN_FIDELITY_FLOW, COMPILE_CYCLES);
  job_close(&j);
}

// Steps of the hart between those of the array, with numbers that they read.
static void test_hart(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  job j = job_open("bert-base", &(networks_options){.seed = 1, .sequence = 16, .divisor = 4, .layers = 1},
                   "gemmini-default", true);
  const network_options options = tuned_options(&j, 3, RUN_FIDELITY_CYCLE, COMPILE_CYCLES);
  const run_tune_request request = request_of(&j, &options);
  run_tune_result tuned;
  assert_true(run_tune(&request, &tuned, &diag));
  assert_true(tuned.cycles <= tuned.before);
  run_tune_release(&tuned);
  job_close(&j);
}

// ---- mappings from elsewhere

static const map_mapping *give(void *context, const layer_call *call) {
  elsewhere *e = context;
  return network_shape_of(call) == e->shape ? &e->mapping : NULL;
}

static size_t know(void *context, const map_layer *layer, map_mapping *list, size_t count, size_t room) {
  elsewhere *e = context;
  assert_true(count == 1 && room == 2);
  if (map_layer_hash(layer) != e->layer) return count;
  e->asked++;
  list[count++] = e->mapping;
  return count;
}

static void test_elsewhere(void **state) {
  wf_diag diag = wf_diag_to(stderr);
  job j = job_open("resnet18", &(networks_options){.seed = 1, .size = 64, .divisor = 4}, "gemmini-default", true);
  elsewhere e = *(const elsewhere *)*state;
  assert_int_not_equal(e.layer, 0);
  network_options options = tuned_options(&j, 2, RUN_FIDELITY_CYCLE, COMPILE_CYCLES);
  run_tune_request request = request_of(&j, &options);
  options.tuning.known = know;
  options.tuning.known_context = &e;
  run_tune_result tuned;
  assert_true(run_tune(&request, &tuned, &diag));
  assert_int_equal(e.asked, 1);
  size_t found = 0;
  for (size_t i = 0; i < tuned.mappings.count; i++)
    found += tuned.mappings.items[i].shape == e.shape && map_equal(&tuned.mappings.items[i].mapping, &e.mapping);
  assert_int_equal(found, 1);
  run_tune_release(&tuned);
  options.mapping = give;
  options.context = &e;
  options.tuning.known = NULL;
  network *net = run_tune_network(&request, &diag);
  assert_non_null(net);
  for (int k = 0; k < net->kernel_count; k++)
    if (net->kernels[k].call != NULL && network_shape_of(net->kernels[k].call) == e.shape)
      assert_true(map_equal(&net->kernels[k].mapping, &e.mapping));
  network_destroy(net);
  job_close(&j);
}

int main(void) {
  elsewhere e = {0};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_objectives, &e),
      cmocka_unit_test(test_hart),
      cmocka_unit_test_prestate(test_elsewhere, &e),
  };
  return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
