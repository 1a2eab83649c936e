// SPDX-License-Identifier: Apache-2.0
// Kernels by cost: the network is never slower than by the rules, here it is faster, leaves the same bytes, and the
// account of what was chosen says what the engine finds.
#include "runner/kernels.h"

#include <string.h>

#include "base/test.h"
#include "runner/judge.h"
#include "runner/tests/job.h"

static void check_account(const run_kernels_result *r, job_outcome rules, job_outcome chosen) {
  size_t changed = 0;
  assert_true(r->kept && r->layer_count > 10 && r->shapes > 5);
  assert_true(r->schemes_judged < r->schemes_listed && r->runs > 10);
  assert_int_equal(r->before, rules.cycles);
  assert_int_equal(r->cycles, chosen.cycles);
  uint64_t before = 0, cycles = 0;
  for (size_t l = 0; l < r->layer_count; l++) {
    const run_kernels_layer *layer = &r->layers[l];
    before += layer->before, cycles += layer->cycles;
    changed += strcmp(layer->scheme, "rules") != 0;
    assert_true((strcmp(layer->scheme, "rules") == 0) == (r->schemes[layer->node - r->nodes] == NULL));
    assert_string_equal(layer->tries[0].text, "rules");
    assert_true(layer->tries[0].cycles > 0 && layer->tries[0].estimate > 0);
  }
  assert_true(changed > 0);
  // Every step belongs to a layer here, up to rounding; equal steps of the cycle engine share their mean.
  assert_in_range(before, rules.cycles - r->layer_count, rules.cycles + r->layer_count);
  assert_in_range(cycles, chosen.cycles - r->layer_count, chosen.cycles + r->layer_count);
}

static void check(const char *name, const networks_options *made) {
  wf_diag diag = wf_diag_to(stderr);
  job j = job_open(name, made, "gemmini-default", true);
  const network_options options = {.array = &j.array, .tuning.judge = run_judge, .jobs = 2};
  const run_tune_request request = {.placed = j.placed, .options = &options, .inputs = (const void *const *)j.inputs};
  run_kernels_result result;
  const job_outcome rules = job_run(&j, network_create(j.placed, &options, &diag));
  const job_outcome chosen = job_run(&j, run_kernels_network(&request, &result, &diag));
  print_message("%s: by the rules %llu, by cost %llu\n", name, (unsigned long long)rules.cycles,
                (unsigned long long)chosen.cycles);
  assert_true(chosen.cycles < rules.cycles);
  assert_int_equal(chosen.digest, rules.digest);
  check_account(&result, rules, chosen);
  run_kernels_release(&result);
  job_close(&j);
}

static void test_mobile(void **state) {
  (void)state;
  check("mobilenetv2", &(networks_options){.seed = 1, .size = 64});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mobile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
