// SPDX-License-Identifier: Apache-2.0
// Answers of searches as reports and files, proofs, and the joint search.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/session.h"

static const char table[] =
    "name: two\nlayers:\n  - {name: a, K: 32, C: 16, P: 8, Q: 8, R: 3, S: 3}\n"
    "  - {name: b, K: 64, C: 32, P: 4, Q: 4}\n";

static weft_answer *search(weft_session *s, const weft_array *array, weft_search_options options) {
  options.size = sizeof options;
  write_file("two.yaml", table);
  return weft_search(s, array, "two.yaml", &options);
}

static void expect_text(weft_session *s, char *text, const char *part) {
  expect(s, WEFT_OK);
  if (strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  weft_free(text);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static weft_figures figures_of(const weft_answer *answer) {
  weft_figures figures = {.size = sizeof figures};
  assert_int_equal(weft_answer_figures(answer, &figures), WEFT_OK);
  return figures;
}

// No search by gradients is better than the proof.
static void test_proof(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  const weft_run_form json = {.size = sizeof json, .form = "json"};
  weft_answer *exact = search(s, array, (weft_search_options){.exact = true, .side_max = 16, .kib_max = 64});
  expect(s, WEFT_OK);
  weft_answer *found =
      search(s, array, (weft_search_options){.starts = 2, .steps = 10, .threads = 1, .side_max = 16, .kib_max = 64});
  expect(s, WEFT_OK);
  const weft_figures best = figures_of(exact), other = figures_of(found);
  assert_true(best.cycles > 0 && best.cycles * best.energy_uj <= 1.000001 * other.cycles * other.energy_uj);
  expect_text(s, weft_answer_report(s, exact, NULL), "the optimum of the plain model");
  expect_text(s, weft_answer_report(s, exact, &json), "\"method\":\t\"exact\"");
  expect_text(s, weft_answer_report(s, found, NULL), "found by gradients");
  assert_int_equal(weft_answer_write(s, exact, "answer"), WEFT_OK);
  assert_true(is_there("answer/two.txt") && is_there("answer/two.json") && is_there("answer/two.yaml"));
  write_file("no-folder", "");
  assert_int_equal(weft_answer_write(s, exact, "no-folder"), WEFT_BAD_INPUT);
  weft_answer_destroy(found);
  weft_answer_destroy(exact);
  assert_null(search(s, array, (weft_search_options){.exact = true, .simulate = true}));
  expect_message(s, WEFT_USAGE, "exact proves");
  assert_null(search(s, array, (weft_search_options){.simulate = true, .flow = 2}));
  expect_message(s, WEFT_USAGE, "flow is for machine");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_simulated(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  const weft_run_form json = {.size = sizeof json, .form = "json"};
  weft_answer *answer =
      search(s, array, (weft_search_options){.simulate = true, .candidates = 2, .threads = 1, .max_seconds = 0.2});
  expect(s, WEFT_OK);
  expect_text(s, weft_answer_report(s, answer, NULL), "two: 2 candidates simulated");
  expect_text(s, weft_answer_report(s, answer, &json), "\"candidates\":");
  assert_int_equal(weft_answer_write(s, answer, "simulated"), WEFT_OK);
  assert_true(is_there("simulated/two/array.yaml") && is_there("simulated/two/kernels/a.c") &&
              is_there("simulated/two/rtl/README.txt") && is_there("simulated/two/points.sqlite"));
  weft_answer_destroy(answer);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static weft_joint *joint(weft_session *s, weft_joint_options options) {
  static const char *const networks[] = {"two.yaml"};
  options.size = sizeof options;
  write_file("two.yaml", table);
  return weft_joint_search(s, networks, 1, &options);
}

static void test_joint(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_joint *found = joint(s, (weft_joint_options){.simulations = 2, .threads = 1, .seed = 1});
  const weft_run_form json = {.size = sizeof json, .form = "json"}, csv = {.size = sizeof csv, .form = "csv"};
  weft_joint_facts facts = {.size = sizeof facts};
  expect(s, WEFT_OK);
  assert_int_equal(weft_joint_describe(found, &facts), WEFT_OK);
  assert_true(facts.value > 0 && facts.cycles > 0 && facts.area_mm2 > 0 && facts.by_cycle > 0 && !facts.checked);
  weft_array *array = weft_joint_array(found);
  assert_string_equal(weft_array_name(array), "found");
  assert_int_equal(weft_array_check(s, array), WEFT_OK);
  weft_array_destroy(array);
  expect_text(s, weft_joint_report(s, found, NULL), "two: edap ");
  expect_text(s, weft_joint_report(s, found, &json), "\"networks\":");
  expect_text(s, weft_joint_report(s, found, &csv), "\n");
  assert_int_equal(weft_joint_write(s, found, "joint"), WEFT_OK);
  assert_true(is_there("joint/array.yaml") && is_there("joint/trace.csv") && is_there("joint/result.json"));
  weft_joint_destroy(found);
  static const struct {
    weft_joint_options options;
    weft_status status;
    const char *message;
  } cases[] = {{{.objective = "beauty"}, WEFT_USAGE, "objective is edap"},
               {{.second = "edap"}, WEFT_USAGE, "another than objective"},
               {{.method = "luck"}, WEFT_USAGE, "method is gradient"},
               {{.max_area_mm2 = -1}, WEFT_USAGE, "at least 0"},
               {{.check_rtl = 2000}, WEFT_USAGE, "check_rtl is at most"},
               {{.fuse = "all"}, WEFT_USAGE, "fuse"},
               {{.whole = 2}, WEFT_USAGE, "whole is for fuse auto"},
               {{.fuse = "auto", .second = "area"}, WEFT_USAGE, "a front has no mixes"},
               {{.fuse = "auto"}, WEFT_BAD_INPUT, "no steps that could be mixed"},
               {{.space = "no-such-space.yaml"}, WEFT_BAD_INPUT, "no-such-space.yaml"},
               {{.technology = "no-such-table.yaml"}, WEFT_BAD_INPUT, "no-such-table.yaml"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_null(joint(s, cases[i].options));
    expect_message(s, cases[i].status, cases[i].message);
  }
  assert_null(weft_joint_search(s, NULL, 0, NULL));
  expect_message(s, WEFT_USAGE, "networks are 1 to");
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_proof), cmocka_unit_test(test_simulated),
                                     cmocka_unit_test(test_joint)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
