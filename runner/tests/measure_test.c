// SPDX-License-Identifier: Apache-2.0
// Measuring a layer gives what compiling and running it by hand gives, the same again the second time, fewer cycles
// with warm caches, and a reason where a layer cannot be mapped.
#include "runner/measure.h"

#include "base/test.h"

static const map_layer product = {.kind = MAP_GEMM, .size = {1, 64, 1, 64, 64, 1, 1}};

static hw_array array_named(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static run_measured measured(const map_layer *layer, const hw_array *array, unsigned times) {
  wf_diag diag = wf_diag_to(stderr);
  const run_measured m = run_measure(&(run_measure_request){.layer = layer, .array = array, .times = times}, &diag);
  assert_int_equal(m.status, RUN_MEASURE_GOOD);
  return m;
}

static void repeats(void **state) {
  (void)state;
  const hw_array array = array_named("gemmini-default");
  const run_measured cold = measured(&product, &array, 1), again = measured(&product, &array, 1),
                     warm = measured(&product, &array, 2);
  assert_int_equal(cold.macs, 64 * 64 * 64);
  assert_true(cold.cycles >= 64 * 64 * 64 / 256);
  assert_int_equal(cold.cycles, again.cycles);
  assert_int_equal(cold.program_digest, again.program_digest);
  assert_true(warm.cycles < cold.cycles);
  assert_int_equal(warm.commands, cold.commands);
  assert_true(cold.read_bytes >= 2 * 64 * 64 && cold.written_bytes >= 64 * 64);
  assert_true(cold.has_energy && cold.energy_pj > 0);
  assert_true(cold.mapped);
}

static void given_mapping(void **state) {
  (void)state;
  const hw_array array = array_named("dim8");
  map_mapping mapping = measured(&product, &array, 1).mapping;
  mapping.depth[MAP_WEIGHTS] = mapping.depth[MAP_INPUTS] = 1;
  wf_diag diag = wf_diag_to(stderr);
  const run_measured m =
      run_measure(&(run_measure_request){.layer = &product, .array = &array, .policy.mapping = &mapping}, &diag);
  assert_int_equal(m.status, RUN_MEASURE_GOOD);
  assert_int_equal(m.mapping.depth[MAP_INPUTS], 1);
  mapping.tile[BLOCK_DIM_P] = 3;
  wf_diag silent = wf_diag_to(NULL);
  assert_int_equal(
      run_measure(&(run_measure_request){.layer = &product, .array = &array, .policy.mapping = &mapping}, &silent)
          .status,
      RUN_MEASURE_CANNOT_MAP);
  assert_true(silent.errors > 0);
}

// What the cycles of flow depend on adds up to them, and asking for it changes none.
static void account(void **state) {
  (void)state;
  const hw_array array = array_named("dim8");
  sim_flow_account account = {.lost = 0};
  run_measure_request request = {.layer = &product, .array = &array, .fidelity = RUN_FIDELITY_FLOW};
  wf_diag diag = wf_diag_to(stderr);
  const uint64_t cycles = run_measure(&request, &diag).cycles;
  request.account = &account;
  assert_int_equal(run_measure(&request, &diag).cycles, cycles);
  int64_t sum = 0;
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) sum += account.cycles[n];
  assert_int_equal(sum, cycles);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(repeats), cmocka_unit_test(given_mapping),
                                     cmocka_unit_test(account)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
