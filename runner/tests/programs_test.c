// SPDX-License-Identifier: Apache-2.0
// Programs that are kept are those that would be compiled: arrays that differ in timing alone share them and are
// measured as without, others do not.
#include "runner/programs.h"

#include "base/test.h"
#include "runner/measure.h"

static const map_layer layer = {.kind = MAP_GEMM, .size = {1, 60, 1, 48, 72, 1, 1}, .result_bytes = 1};
static const map_layer other = {.kind = MAP_GEMV, .size = {1, 1, 1, 96, 200, 1, 1}, .result_bytes = 1};

static run_measured measured(const map_layer *of, const hw_array *array, run_programs *programs,
                             run_fidelity fidelity) {
  wf_diag diag = wf_diag_to(stderr);
  return run_measure(&(run_measure_request){.layer = of, .array = array, .programs = programs, .fidelity = fidelity},
                     &diag);
}

static void arrays_that_differ_in_timing_share_programs(void **state) {
  (void)state;
  run_programs *programs = run_programs_create();
  hw_array array;
  hw_array_default(&array);
  for (uint32_t queue = 2; queue <= 32; queue *= 2) {
    array.load.queue = queue;
    array.memory.latency_cycles = 10 * queue;
    for (int fidelity = 0; fidelity < RUN_FIDELITY_COUNT; fidelity++) {
      const run_measured with = measured(&layer, &array, programs, (run_fidelity)fidelity);
      const run_measured without = measured(&layer, &array, NULL, (run_fidelity)fidelity);
      assert_int_equal(with.shared, queue > 2 || fidelity > 0);
      assert_false(without.shared);
      assert_int_equal(with.cycles, without.cycles);
      assert_int_equal(with.program_digest, without.program_digest);
      assert_memory_equal(&with.energy_pj, &without.energy_pj, sizeof with.energy_pj);
    }
  }
  run_programs_destroy(programs);
}

static void others_are_compiled(void **state) {
  (void)state;
  run_programs *programs = run_programs_create();
  hw_array array;
  hw_array_default(&array);
  assert_false(measured(&layer, &array, programs, RUN_FIDELITY_FLOW).shared);
  assert_false(measured(&other, &array, programs, RUN_FIDELITY_FLOW).shared);
  array.accumulator.capacity_kib *= 2;
  assert_false(measured(&layer, &array, programs, RUN_FIDELITY_FLOW).shared);
  assert_true(measured(&layer, &array, programs, RUN_FIDELITY_FLOW).shared);
  run_programs_destroy(programs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_that_differ_in_timing_share_programs),
      cmocka_unit_test(others_are_compiled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
