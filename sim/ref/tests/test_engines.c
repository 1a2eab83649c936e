// SPDX-License-Identifier: Apache-2.0
// The list of engines of this build.
#include "sim/ref/ref.h"
#include "sim/ref/tests/machine.h"

static void test_engines_are_found_by_name(void **state) {
  (void)state;
  size_t count = 0;
  for (const sim_engine_ops *ops; (ops = sim_engine_at(count)) != NULL; count++)
    assert_ptr_equal(sim_engine_find(ops->name), ops);
  assert_true(count >= 1);
  assert_ptr_equal(sim_engine_find("ref"), &sim_ref_engine);
  assert_null(sim_engine_find("none such"));
  assert_null(sim_engine_at(count + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines_are_found_by_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
