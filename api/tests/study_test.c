// SPDX-License-Identifier: Apache-2.0
// A study of one layer, whole and with half of its channels: what it says before, its rows in every form, and that a
// second run measures nothing.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/session.h"

static const char study_text[] =
    "arrays: [dim4]\nnetworks: [layers.yaml]\ncompress: [{channel: [0.5]}]\nmapping: [default]\n";
static const char layers_text[] = "name: one\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n";

static weft_study *load_study(weft_session *s, const char *engine, weft_study_facts *facts) {
  weft_study *study = weft_study_load(s, "small.yaml", engine);
  expect(s, WEFT_OK);
  *facts = (weft_study_facts){.size = sizeof *facts};
  assert_int_equal(weft_study_describe(study, facts), WEFT_OK);
  return study;
}

static void test_facts(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_study_facts facts;
  weft_study_destroy(load_study(s, "cycle", &facts));
  assert_string_equal(facts.name, "small");
  assert_string_equal(facts.directory, "small-study");
  assert_string_equal(facts.engine, "cycle");
  assert_int_equal(facts.configurations,
                   facts.networks * facts.compressions * facts.lowerings * facts.mappings * facts.arrays);
  assert_int_equal(facts.compressions, 2);
  assert_null(weft_study_load(s, "small.yaml", "rtl"));
  expect_message(s, WEFT_BAD_INPUT, "no fidelity 'rtl'");
  assert_null(weft_study_load(s, "nowhere.yaml", NULL));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.yaml");
  weft_session_destroy(s);
}

static size_t lines_of(const char *text) {
  size_t lines = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++) lines++;
  return lines;
}

static void expect_form(weft_session *s, const weft_study *study, const char *form, const char *part, size_t lines) {
  char *text = weft_study_table(s, study, "stores", form);
  expect(s, WEFT_OK);
  if (strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  if (lines != 0) assert_int_equal(lines_of(text), lines);
  weft_free(text);
}

static bool look(void *context, const weft_progress *progress) {
  weft_progress *last = context;
  *last = *progress;
  return true;
}

static void test_run(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_study_facts facts;
  weft_study *study = load_study(s, NULL, &facts);
  weft_progress last = {0};
  weft_sweep_options options = {.size = sizeof options, .jobs = 1};
  weft_sweep_result result = {.size = sizeof result};
  assert_null(weft_study_table(s, study, "stores", "csv"));  // nothing is measured yet
  expect(s, WEFT_BAD_INPUT);
  weft_session_watch(s, look, &last);
  assert_int_equal(weft_study_run(s, study, "stores", &options, &result), WEFT_OK);
  assert_true(result.finished && result.fresh > 0 && result.fresh == result.measurements);
  assert_string_equal(last.what, "study");
  assert_true(last.part == last.parts && last.done == last.total && last.workers == 1);
  assert_int_equal(weft_study_run(s, study, "stores", &options, &result), WEFT_OK);
  assert_int_equal(result.fresh, 0);
  expect_form(s, study, "csv", "channel 0.5", (size_t)facts.configurations + 1);
  expect_form(s, study, "text", "channel 0.5", 0);
  expect_form(s, study, "json", "\"study\":\t\"small\"", 0);
  expect_form(s, study, "page", "</html>", 0);
  assert_null(weft_study_table(s, study, "stores", "picture"));
  expect_message(s, WEFT_USAGE, "text, csv, json, page");
  options.store = "s.sqlite";
  assert_int_equal(weft_study_run(s, study, "stores", &options, NULL), WEFT_USAGE);
  weft_study_destroy(study);
  weft_study_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts), cmocka_unit_test(test_run)};
  char folder[] = "/tmp/weft-study-XXXXXX", remove[64];
  if (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("stores", 0777) != 0) return 1;
  write_file("small.yaml", study_text);
  write_file("layers.yaml", layers_text);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(remove, sizeof remove, "/bin/rm -rf %s", folder);
  return system(remove) == 0 ? failed : 1;
}
