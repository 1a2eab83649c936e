// SPDX-License-Identifier: Apache-2.0
// One trace on two engines with cycles: the same engine agrees with itself, and with other delays of memory the first
// record that differs is where both lists part.
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"

static void write_trace(const weft_array *array) {
  FILE *out = fopen("load.trace", "w");
  assert_non_null(out);
  fprintf(out, "weft-trace 1\narray %s %016" PRIx64 "\nisa 1\n", weft_array_name(array), weft_array_hash(array));
  fputs("config_ld stride=64 scale=1\n", out);
  for (unsigned i = 0; i < 8; i++)
    fprintf(out, "mvin dram=0x%x local=sp:0x%x cols=4 rows=4\n", 0x80100000 + 256 * i, 4 * i);
  fputs("end commands=9 unrecorded\n", out);
  fclose(out);
}

static weft_contrast *run(weft_session *s, const weft_array *array, uint64_t second_disturb,
                          weft_contrast_facts *facts) {
  const weft_contrast_options options = {.size = sizeof options, .second = "cycle", .second_disturb = second_disturb};
  weft_contrast *c = weft_contrast_run(s, "load.trace", array, &options);
  expect(s, WEFT_OK);
  *facts = (weft_contrast_facts){.size = sizeof *facts};
  assert_int_equal(weft_contrast_describe(c, facts), WEFT_OK);
  return c;
}

static weft_record record_of(const weft_contrast *c, bool second, size_t index) {
  weft_record record = {.size = sizeof record};
  assert_int_equal(weft_contrast_record(c, second, index, &record), WEFT_OK);
  return record;
}

static bool same(const weft_record *a, const weft_record *b) {
  return a->cycle == b->cycle && a->number == b->number && strcmp(a->kind, b->kind) == 0;
}

static void test_equal(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_contrast_facts facts;
  weft_contrast_side side = {.size = sizeof side};
  weft_record record = {.size = sizeof record};
  weft_contrast *c = run(s, array, 0, &facts);
  assert_true(facts.equal && !facts.records_differ);
  assert_int_equal(weft_contrast_side_of(c, true, &side), WEFT_OK);
  assert_string_equal(side.engine, "cycle");
  assert_true(side.records >= 2 * 9 && side.cycles > 0);  // each command is allocated, and something more
  assert_string_equal(record_of(c, false, 0).kind, "alloc");
  assert_non_null(strstr(record_of(c, false, 0).command, "config_ld"));
  assert_int_equal(weft_contrast_record(c, true, (size_t)side.records, &record), WEFT_USAGE);
  assert_int_equal(weft_contrast_first(c, &record), WEFT_USAGE);
  weft_contrast_destroy(c);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_different(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_contrast_facts facts;
  weft_contrast *c = run(s, array, 7, &facts);
  assert_true(!facts.equal && facts.records_differ);
  assert_int_not_equal(facts.text[0], '\0');
  for (size_t i = 0; i <= facts.at; i++) {
    const weft_record a = record_of(c, false, i), b = record_of(c, true, i);
    assert_int_equal(same(&a, &b), i < facts.at);
  }
  weft_record first = {.size = sizeof first};
  assert_int_equal(weft_contrast_first(c, &first), WEFT_OK);
  const weft_record a = record_of(c, false, (size_t)facts.at), b = record_of(c, true, (size_t)facts.at);
  assert_true(same(&first, &a) || same(&first, &b));
  assert_int_equal(first.cycle, a.cycle < b.cycle ? a.cycle : b.cycle);
  weft_contrast_side side = {.size = sizeof side};
  assert_int_equal(weft_contrast_side_of(c, same(&first, &b), &side), WEFT_OK);
  assert_true(side.found);
  assert_int_equal(side.cycle, first.cycle);
  weft_contrast_destroy(c);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_refused(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_contrast_options options = {.size = sizeof options, .second = "ref"};
  assert_null(weft_contrast_run(s, "load.trace", array, &options));
  expect_message(s, WEFT_USAGE, "ref has no cycles");
  options.second = "nosuch";
  assert_null(weft_contrast_run(s, "load.trace", array, &options));
  expect_message(s, WEFT_USAGE, "no engine nosuch");
  options.second = "cycle";
  assert_null(weft_contrast_run(s, "nowhere.trace", array, &options));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.trace");
  assert_null(weft_contrast_run(s, NULL, array, &options));
  expect(s, WEFT_USAGE);
  weft_contrast_destroy(NULL);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_engines(void **state) {
  (void)state;
  unsigned with_cycles = 0, without = 0;
  bool timed;
  for (size_t i = 0; weft_engine_at(i, &timed) != NULL; i++) timed ? with_cycles++ : without++;
  assert_true(with_cycles >= 2 && without >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equal), cmocka_unit_test(test_different),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_engines)};
  char folder[] = "/tmp/weft-contrast-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  weft_session *s = weft_session_create();
  weft_array *array = weft_array_load(s, "dim4");
  write_trace(array);
  weft_array_destroy(array);
  weft_session_destroy(s);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return unlink("load.trace") == 0 && rmdir(folder) == 0 ? failed : 1;
}
