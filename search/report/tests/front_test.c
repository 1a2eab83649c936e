// SPDX-License-Identifier: Apache-2.0
// The front against its definition, and on points that are all on it.
#include "search/report/front.h"

#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/test.h"

static bool beats(const report_rival *b, const report_rival *a) {
  return b->cycles <= a->cycles && b->energy_pj <= a->energy_pj && b->logic_um2 <= a->logic_um2 &&
         b->memory_bits <= a->memory_bits &&
         (b->cycles < a->cycles || b->energy_pj < a->energy_pj || b->logic_um2 < a->logic_um2 ||
          b->memory_bits < a->memory_bits);
}

static void agrees_with_the_definition(void **state) {
  (void)state;
  enum { MOST = 60, ROUNDS = 2000 };
  report_rival rivals[MOST];
  uint64_t random = 1;
  for (int round = 0; round < ROUNDS; round++) {
    const size_t count = wf_random_next(&random) % (MOST + 1);
    const uint64_t values = 1 + wf_random_next(&random) % 12;
    for (size_t i = 0; i < count; i++) {
      const uint64_t energy = wf_random_next(&random) % values;
      rivals[i] = (report_rival){.cycles = (double)(wf_random_next(&random) % values),
                                 .energy_pj = energy == 0 ? INFINITY : (double)energy,
                                 .logic_um2 = (double)(wf_random_next(&random) % values),
                                 .memory_bits = (int64_t)(wf_random_next(&random) % values)};
    }
    report_find_front(rivals, count);
    for (size_t i = 0; i < count; i++) {
      bool beaten = false;
      for (size_t k = 0; k < count; k++) beaten = beaten || beats(&rivals[k], &rivals[i]);
      assert_int_equal(rivals[i].beaten, beaten);
    }
  }
}

// What grew with the square took hours here.
static void many_points_on_the_front_are_quick(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  report_rival *rivals = wf_calloc(COUNT, sizeof *rivals);
  const double start = wf_process_seconds();
  for (int same = 0; same < 2; same++) {
    for (int i = 0; i < COUNT; i++)
      rivals[i] = (report_rival){.cycles = same ? 1 : i, .energy_pj = same ? 1 : COUNT - i, .logic_um2 = 1};
    report_find_front(rivals, COUNT);
    for (int i = 0; i < COUNT; i++) assert_false(rivals[i].beaten);
  }
  assert_true(wf_process_seconds() - start < 20);
  wf_free(rivals);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_definition),
                                     cmocka_unit_test(many_points_on_the_front_are_quick)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
