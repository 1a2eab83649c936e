// SPDX-License-Identifier: Apache-2.0
// The hardware of arrays: its files and what they lose, builds that end early, requests that synthesis refuses, and a
// technology table from results whose coefficients are known.
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"

static bool holds(const char *path) { return access(path, R_OK) == 0; }

static void test_files(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim2");
  uint64_t files = 0;
  assert_int_equal(weft_hardware_write(s, array, "set", &files), WEFT_OK);
  assert_true(files > 10);
  assert_true(holds("set/weft.f") && holds("set/rtl/weft_accel.sv") && holds("set/gemmini_config.scala"));
  assert_int_equal(weft_hardware_write(s, array, "set", NULL), WEFT_OK);  // its own folder again
  assert_int_equal(weft_hardware_write(s, array, ".", NULL), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "not empty");
  assert_int_equal(weft_array_set(s, array, "mesh.rows", "4"), WEFT_OK);
  assert_int_equal(weft_hardware_write(s, array, "other", NULL), WEFT_BAD_INPUT);
  assert_false(holds("other"));
  assert_int_equal(weft_hardware_write(s, NULL, "other", NULL), WEFT_USAGE);
  assert_int_equal(weft_hardware_write(s, array, NULL, NULL), WEFT_USAGE);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// Each limit is a warning of the files, and a value of the array.
static void test_limits(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim64");
  assert_int_equal(weft_hardware_write(s, array, "limited", NULL), WEFT_OK);
  weft_hardware_limit limit = {.size = sizeof limit};
  size_t found = 0;
  for (; weft_hardware_limit_at(array, found, &limit) == WEFT_OK; found++) {
    char value[32];
    assert_non_null(strstr(weft_session_messages(s), limit.parameter));
    assert_true(strlen(limit.reason) > 0);
    weft_session *other = open_session();
    assert_int_equal(weft_array_get_text(other, array, limit.parameter, value, sizeof value), WEFT_OK);
    assert_string_equal(value, limit.value);
    weft_session_destroy(other);
  }
  assert_true(found > 0);
  assert_int_equal(weft_hardware_limit_at(NULL, 0, &limit), WEFT_USAGE);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_build_ends(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim2");
  counting once = {.stop_at = 1};
  setenv("WEFT_CACHE", "cache", 1);
  weft_session_watch(s, count, &once);
  assert_null(weft_hardware_build(s, array, NULL, NULL));
  expect_message(s, WEFT_CANCELLED, "cancelled");
  assert_int_equal(once.calls, 1);
  setenv("PATH", "/nowhere", 1);
  assert_null(weft_hardware_build(s, array, NULL, NULL));
  expect_message(s, WEFT_CANNOT_BUILD, "needs verilator");
  assert_null(weft_hardware_build(s, NULL, NULL, NULL));
  expect(s, WEFT_USAGE);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_synthesis_refuses(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *small = load(s, "dim2"), *large = load(s, "dim64");
  assert_null(weft_synthesis_run(s, large, NULL));
  expect_message(s, WEFT_CANNOT_BUILD, "up to 16");
  assert_null(weft_synthesis_run(s, small, "nosuch"));
  expect_message(s, WEFT_CANNOT_BUILD, "no unit is called");
  assert_null(weft_synthesis_run(s, NULL, NULL));
  expect(s, WEFT_USAGE);
  weft_synthesis_destroy(NULL);
  weft_array_destroy(large);
  weft_array_destroy(small);
  weft_session_destroy(s);
}

// A mesh of 1000 * DIM^2, and a rest of 1000 + 10 * DIM.
static void write_result(const char *path, int dim) {
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fprintf(out,
          "{\"array\":\"dim%d\",\"units\":[{\"unit\":\"pe\",\"part\":\"mesh\",\"instances\":%d,\"area_um2\":1000},",
          dim, dim * dim);
  fprintf(out, "{\"unit\":\"weft_accel\",\"part\":\"rest\",\"instances\":1,\"area_um2\":%d}]}\n", 1000 + 10 * dim);
  fclose(out);
}

static void test_fit(void **state) {
  (void)state;
  static const char *const files[] = {"2.json", "4.json", "8.json"};
  weft_session *s = open_session();
  write_result("2.json", 2);
  write_result("4.json", 4);
  assert_null(weft_synthesis_fit(s, files, 3, NULL));
  expect_message(s, WEFT_BAD_INPUT, "8.json");
  write_result("8.json", 8);
  char *table = weft_synthesis_fit(s, files, 3, "made by hand");
  expect(s, WEFT_OK);
  assert_non_null(strstr(table, "made by hand"));
  assert_non_null(strstr(table, "mesh: {constant: 0, lane: 0, pe: 1000}"));
  assert_non_null(strstr(table, "rest: {constant: 1000, lane: 10, pe: 0}"));
  weft_free(table);
  assert_null(weft_synthesis_fit(s, files, WEFT_FIT_LEAST - 1, NULL));
  expect_message(s, WEFT_USAGE, "3 to 16");
  assert_null(weft_synthesis_fit(s, (const char *const[]){"2.json", NULL, "8.json"}, 3, NULL));
  expect(s, WEFT_USAGE);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_synthesis_refuses), cmocka_unit_test(test_fit),
                                     cmocka_unit_test(test_build_ends)};
  char folder[] = "/tmp/weft-hardware-XXXXXX", remove[64];
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(remove, sizeof remove, "/bin/rm -rf %s", folder);
  return system(remove) == 0 ? failed : 1;
}
