// SPDX-License-Identifier: Apache-2.0
// Random chains of up to eight layers: the choice costs as little as the best of all choices, each tried.
#include "runner/chain.h"

#include <math.h>

#include "base/random.h"
#include "base/test.h"

enum { CHAINS = 500, LAYERS = 8, PLACES = RUN_CHAIN_PLACES };

static double cost_of(const run_chain_costs *costs, size_t count, const size_t *places) {
  double sum = INFINITY;
  for (size_t before = 0; before < PLACES; before++) sum = fmin(sum, costs[0].cycles[places[0]][before]);
  for (size_t n = 1; n < count; n++) sum += costs[n].cycles[places[n]][places[n - 1]];
  return sum;
}

static double least_of_all(const run_chain_costs *costs, size_t count) {
  size_t choices = 1;
  for (size_t n = 0; n < count; n++) choices *= PLACES;
  double least = INFINITY;
  for (size_t i = 0; i < choices; i++) {
    size_t places[LAYERS], left = i;
    for (size_t n = 0; n < count; n++, left /= PLACES) places[n] = left % PLACES;
    least = fmin(least, cost_of(costs, count, places));
  }
  return least;
}

static void test_best_of_all(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int chain = 0; chain < CHAINS; chain++) {
    run_chain_costs costs[LAYERS];
    const size_t count = 1 + (size_t)wf_random_below(&seed, LAYERS);
    for (size_t n = 0; n < count; n++)
      for (size_t own = 0; own < PLACES; own++)
        for (size_t before = 0; before < PLACES; before++)
          costs[n].cycles[own][before] =
              wf_random_one_in(&seed, 10) && own > 0 ? INFINITY : (double)wf_random_below(&seed, 1000);
    size_t places[LAYERS];
    const double found = run_chain_best(costs, count, places);
    assert_true(found == least_of_all(costs, count));
    assert_true(found == cost_of(costs, count, places));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_of_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
