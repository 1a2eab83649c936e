// SPDX-License-Identifier: Apache-2.0
// Options of benches that choose several names of a list.
#include "base/test.h"
#include "bench/bench.h"

static const char *const names[] = {"bert", "bert-base", "conv"};

static bool knows(const char *choice, unsigned errors) {
  wf_diag diag = wf_diag_to(NULL);
  const bool good = bench_knows("nets", choice, names, 3, &diag);
  assert_int_equal(diag.errors, errors);
  return good;
}

static void takes_whole_names(void **state) {
  (void)state;
  assert_true(bench_takes_of(NULL, "bert"));
  assert_true(bench_takes_of("bert", "bert"));
  assert_true(bench_takes_of("conv,bert", "bert"));
  assert_true(bench_takes_of("bert,conv", "bert"));
  assert_false(bench_takes_of("bert-base", "bert"));
  assert_false(bench_takes_of("bert", "bert-base"));
  assert_false(bench_takes_of("conv,bert-base", "bert"));
  assert_false(bench_takes_of("", "bert"));
}

static void reports_each_that_is_none(void **state) {
  (void)state;
  assert_true(knows(NULL, 0));
  assert_true(knows("conv", 0));
  assert_true(knows("bert,conv", 0));
  assert_false(knows("", 1));
  assert_false(knows("conv,", 1));
  assert_false(knows("bart,conv,cnv", 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_whole_names),
      cmocka_unit_test(reports_each_that_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
