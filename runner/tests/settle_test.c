// SPDX-License-Identifier: Apache-2.0
// Mixes that are settled in the network: whatever the judge of single windows says, the network takes no longer than
// without mixes, and leaves the same bytes.
#include "runner/settle.h"

#include "base/test.h"
#include "runner/judge.h"
#include "runner/network.h"
#include "runner/tests/job.h"

// Says of each program that it takes a tenth less than the one before: a window looks better mixed than apart.
static bool judge_that_lies(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  static double next = 1e15;
  (void)program, (void)diag;
  *verdict = (compile_verdict){.cycles = (uint64_t)next};
  next *= 0.9;
  return true;
}

static job_outcome run_settled(const job *j, compile_judge judge) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = {
      .array = &j->array, .tuning.judge = judge, .fuse = NETWORK_FUSE_AUTO, .jobs = judge == run_judge ? 2 : 1};
  return job_run(j, run_settle_network(j->placed, &options, (const void *const *)j->inputs, &diag));
}

static void check(const char *name, const networks_options *made) {
  wf_diag diag = wf_diag_to(stderr);
  job j = job_open(name, made, "gemmini-default", true);
  network_options options = {.array = &j.array, .tuning.judge = run_judge, .jobs = 2};
  const job_outcome apart = job_run(&j, network_create(j.placed, &options, &diag));
  options.fuse = NETWORK_FUSE_ALL;
  const job_outcome all = job_run(&j, network_create(j.placed, &options, &diag));
  const job_outcome best = run_settled(&j, run_judge), lied = run_settled(&j, judge_that_lies);
  print_message("%s: apart %llu, all mixed %llu, settled %llu with %d mixes, by a judge that lies %llu with %d\n", name,
                (unsigned long long)apart.cycles, (unsigned long long)all.cycles, (unsigned long long)best.cycles,
                best.mixes, (unsigned long long)lied.cycles, lied.mixes);
  assert_true(best.cycles <= apart.cycles && lied.cycles <= apart.cycles);
  assert_true(all.cycles > apart.cycles);  // else a lie does no harm here
  assert_int_equal(best.digest, apart.digest);
  assert_int_equal(lied.digest, apart.digest);
  job_close(&j);
}

static void test_settled(void **state) {
  (void)state;
  check("resnet50", &(networks_options){.seed = 1, .size = 48, .divisor = 2});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_settled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
