// SPDX-License-Identifier: Apache-2.0
// Plans of sweeps: what one says before anything is measured, the same one run twice, one that ends early, and ranks of
// a process that is alone.
#include <unistd.h>

#include "api/tests/session.h"

static const char sweep_text[] =
    "name: two sizes\nbase: dim4\nparameters:\n  scratchpad.capacity_kib: [16, 32]\nnetworks: [layers.yaml]\n";
static const char layers_text[] =
    "name: one\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n  - {name: b, P: 8, K: 24, C: 16}\n";

static weft_plan *plan_of(weft_session *s, const char *engine, weft_plan_facts *facts) {
  weft_plan *plan = weft_plan_load(s, "sweep.yaml", engine);
  expect(s, WEFT_OK);
  *facts = (weft_plan_facts){.size = sizeof *facts};
  assert_int_equal(weft_plan_describe(plan, facts), WEFT_OK);
  return plan;
}

static void test_facts(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_plan_facts facts;
  weft_plan_destroy(plan_of(s, NULL, &facts));
  assert_string_equal(facts.name, "two sizes");
  assert_string_equal(facts.engine, "cycle");
  assert_non_null(strstr(facts.store, ".sqlite"));
  assert_null(strchr(facts.store, ' '));
  assert_int_equal(facts.points, 2);
  assert_int_equal(facts.networks, 1);
  assert_int_equal(facts.layers, 2);
  weft_plan_destroy(plan_of(s, "flow", &facts));
  assert_string_equal(facts.engine, "flow");
  assert_null(weft_plan_load(s, "sweep.yaml", "rtl"));
  expect_message(s, WEFT_BAD_INPUT, "no fidelity 'rtl'");
  assert_null(weft_plan_load(s, "nowhere.yaml", NULL));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.yaml");
  weft_session_destroy(s);
}

// What progress says last.
typedef struct seen {
  weft_progress last;
  bool goes_on;
} seen;

static bool look(void *context, const weft_progress *progress) {
  seen *all = context;
  all->last = *progress;
  return all->goes_on;
}

static weft_sweep_result run(weft_session *s, const weft_plan *plan, const char *store, weft_status status) {
  const weft_sweep_options options = {.size = sizeof options, .store = store, .jobs = 1};
  weft_sweep_result result = {.size = sizeof result};
  assert_int_equal(weft_plan_run(s, plan, &options, &result), status);
  return result;
}

static void test_runs(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_plan_facts facts;
  weft_plan *plan = plan_of(s, NULL, &facts);
  seen all = {.goes_on = false};
  weft_session_watch(s, look, &all);
  weft_sweep_result r = run(s, plan, "s.sqlite", WEFT_CANCELLED);
  assert_true(r.opened && !r.finished && r.done < r.measurements);
  all.goes_on = true;
  r = run(s, plan, "s.sqlite", WEFT_OK);
  assert_true(r.opened && r.finished);
  assert_int_equal(r.measurements, 4);
  assert_int_equal(r.done, 4);
  assert_true(r.fresh > 0 && r.compile_seconds > 0);
  assert_string_equal(all.last.what, "sweep");
  assert_int_equal(all.last.done, 4);
  assert_int_equal(all.last.fresh, r.fresh);
  assert_int_equal(all.last.workers, 1);
  r = run(s, plan, "s.sqlite", WEFT_OK);
  assert_int_equal(r.fresh, 0);
  r = run(s, plan, "nowhere/s.sqlite", WEFT_BAD_INPUT);
  assert_false(r.opened);
  weft_plan_destroy(plan);
  weft_session_destroy(s);
}

static void test_ranks(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_plan_facts facts;
  weft_plan *plan = plan_of(s, NULL, &facts);
  weft_ranks *ranks = weft_ranks_join(s);
  expect(s, WEFT_OK);
  weft_ranks_facts alone = {.size = sizeof alone};
  assert_int_equal(weft_ranks_describe(ranks, &alone), WEFT_OK);
  assert_false(alone.launched);
  assert_int_equal(alone.rank, 0);
  assert_int_equal(weft_ranks_serve(s, ranks, plan), WEFT_USAGE);
  const weft_sweep_options options = {.size = sizeof options, .store = "r.sqlite", .ranks = ranks};
  assert_int_equal(weft_plan_run(s, plan, &options, NULL), WEFT_OK);  // one process per processor
  weft_ranks_leave(ranks);
  weft_ranks_leave(NULL);
  weft_plan_destroy(plan);
  weft_session_destroy(s);
}

int main(void) {
  static const char *const files[] = {"sweep.yaml",    "layers.yaml", "s.sqlite",
                                      "s.sqlite-lock", "r.sqlite",    "r.sqlite-lock"};
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts), cmocka_unit_test(test_runs),
                                     cmocka_unit_test(test_ranks)};
  char folder[] = "/tmp/weft-plan-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  write_file("sweep.yaml", sweep_text);
  write_file("layers.yaml", layers_text);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
  return rmdir(folder) == 0 ? failed : 1;
}
