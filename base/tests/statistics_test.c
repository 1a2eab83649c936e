// SPDX-License-Identifier: Apache-2.0
// Figures of values whose figures are known.
#include "base/statistics.h"

#include <math.h>

#include "base/test.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

static void a_summary_has_means_and_extremes(void **state) {
  (void)state;
  wf_summary s = {0};
  assert_true(wf_summary_mean(&s) == 0 && wf_summary_geometric(&s) == 0);
  const double values[] = {2, 8, 0.5, 4};
  for (size_t i = 0; i < 4; i++) wf_summary_add(&s, values[i]);
  assert_int_equal(s.count, 4);
  assert_true(s.least == 0.5 && s.most == 8);
  assert_true(near(wf_summary_mean(&s), 14.5 / 4));
  assert_true(near(wf_summary_geometric(&s), pow(2 * 8 * 0.5 * 4, 0.25)));
  assert_true(near(wf_mean(values, 4), 14.5 / 4));
  assert_true(wf_mean(values, 0) == 0);
}

static void a_summary_of_negative_values_has_extremes(void **state) {
  (void)state;
  wf_summary s = {0};
  wf_summary_add(&s, -3);
  wf_summary_add(&s, -1);
  assert_true(s.least == -3 && s.most == -1 && wf_summary_mean(&s) == -2);
}

static void order_gives_median_and_percentiles(void **state) {
  (void)state;
  double values[] = {9, 1, 7, 3, 5, 0, 8, 2, 6, 4};
  wf_sort(values, 10);
  for (size_t i = 0; i < 10; i++) assert_true(values[i] == (double)i);
  assert_true(wf_median(values, 10) == 4.5 && wf_median(values, 9) == 4 && wf_median(values, 1) == 0);
  assert_true(wf_percentile(values, 10, 50) == 5 && wf_percentile(values, 10, 90) == 9);
  assert_true(wf_percentile(values, 10, 0) == 0 && wf_percentile(values, 10, 99) == 9);
}

static void correlation_is_of_lines(void **state) {
  (void)state;
  const double x[] = {1, 2, 3, 4}, line[] = {5, 3, 1, -1}, bent[] = {1, 8, 27, 64}, flat[] = {2, 2, 2, 2};
  assert_true(near(wf_correlation(x, line, 4), -1));
  assert_true(wf_correlation(x, bent, 4) < 0.96 && wf_correlation(x, bent, 4) > 0.94);
  assert_true(wf_correlation(x, flat, 4) == 0 && wf_correlation(x, line, 2) == 0);
  assert_true(near(wf_rank_correlation(x, bent, 4), 1));
  assert_true(wf_rank_correlation(x, flat, 4) == 0 && wf_rank_correlation(x, bent, 2) == 0);
}

// Ranks 0, 1.5, 1.5, 3 beside 0, 1, 2, 3: sums of squares 4.5 and 5, of products 4.5.
static void equal_values_share_their_rank(void **state) {
  (void)state;
  const double x[] = {1, 2, 2, 3}, y[] = {10, 20, 30, 40};
  assert_true(near(wf_rank_correlation(x, y, 4), 4.5 / sqrt(4.5 * 5)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_summary_has_means_and_extremes), cmocka_unit_test(a_summary_of_negative_values_has_extremes),
      cmocka_unit_test(order_gives_median_and_percentiles), cmocka_unit_test(correlation_is_of_lines),
      cmocka_unit_test(equal_values_share_their_rank)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
