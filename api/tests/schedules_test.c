// SPDX-License-Identifier: Apache-2.0
// Stores of tuned mappings through libweft: rows as they were put into a store, joined, cleared and saved.
#include "search/schedules/schedules.h"

#include <unistd.h>
#include <weft/weft.h>

#include "base/test.h"

// Fails with the messages of the session.
static void expect(weft_session *s, weft_status status) {
  if (weft_session_status(s) != status)
    fail_msg("status %d, not %d: %s", (int)weft_session_status(s), (int)status, weft_session_messages(s));
}

static void expect_message(weft_session *s, weft_status status, const char *part) {
  expect(s, status);
  if (strstr(weft_session_messages(s), part) == NULL) fail_msg("no \"%s\" in: %s", part, weft_session_messages(s));
}

static schedules_row row_of(int64_t rows, uint64_t cycles, const char *origin) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  schedules_row row = {.layer = {.kind = MAP_GEMM, .size = {1, rows, 1, 64, 96, 1, 1}, .bias = true},
                       .engine = "cycle",
                       .objective = "cycles",
                       .cycles = cycles,
                       .before = 1000,
                       .version = "of another version"};
  hw_array_default(&array);
  schedules_set_array(&row, &array);
  snprintf(row.origin, sizeof row.origin, "%s", origin);
  assert_true(map_default(&row.layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, &row.mapping, &diag));
  return row;
}

// A store of one row, or of two.
static void write_store(const char *path, schedules_row first, const schedules_row *second) {
  wf_diag diag = wf_diag_to(stderr);
  schedules *s = schedules_create();
  schedules_add(s, &first);
  if (second != NULL) schedules_add(s, second);
  assert_true(schedules_save(s, path, &diag));
  schedules_destroy(s);
}

static weft_schedules *open_store(weft_session *s, const char *path, bool may_be_new) {
  weft_schedules *store = weft_schedules_open(s, path, may_be_new);
  expect(s, WEFT_OK);
  return store;
}

static void test_rows(void **state) {
  (void)state;
  weft_session *s = weft_session_create();
  write_store("a", row_of(32, 900, "net"), NULL);
  weft_schedules *store = open_store(s, "a", false);
  weft_array *array = weft_array_load(s, "gemmini-default");
  weft_schedule row = {.size = sizeof row};
  assert_int_equal(weft_schedules_count(store), 1);
  assert_int_equal(weft_schedules_at(store, 0, &row), WEFT_OK);
  assert_int_equal(weft_schedules_at(store, 1, &row), WEFT_USAGE);
  assert_memory_equal(row.dim, ((const int64_t[]){1, 32, 1, 64, 96, 1, 1}), sizeof row.dim);
  assert_ptr_equal(strstr(row.layer, "gemm "), row.layer);
  assert_string_equal(row.array, "gemmini-default");
  assert_true(row.array_hash == weft_array_hash(array));
  assert_string_equal(row.engine, "cycle");
  assert_string_equal(row.objective, "cycles");
  assert_string_equal(row.origin, "net");
  assert_int_equal(row.cycles, 900);
  assert_int_equal(row.before, 1000);
  weft_array_destroy(array);
  weft_schedules_destroy(store);
  weft_session_destroy(s);
}

// A kernel of the layer takes the text of a row's mapping.
static void test_mapping(void **state) {
  (void)state;
  weft_session *s = weft_session_create();
  weft_schedules *store = open_store(s, "a", false);
  char *mapping = weft_schedules_mapping(s, store, 0), *want = NULL;
  expect(s, WEFT_OK);
  const schedules_row row = row_of(32, 900, "net");
  size_t length;
  FILE *out = open_memstream(&want, &length);
  map_print(&row.mapping, out);
  fclose(out);
  assert_string_equal(mapping, want);
  free(want);
  weft_free(mapping);
  assert_null(weft_schedules_mapping(s, store, 1));
  expect_message(s, WEFT_USAGE, "there are 1 schedules");
  weft_schedules_destroy(store);
  weft_session_destroy(s);
}

static uint64_t take(weft_session *s, weft_schedules *into, const char *path) {
  weft_schedules *from = open_store(s, path, false);
  uint64_t taken = 1000;
  assert_int_equal(weft_schedules_import(s, into, from, &taken), WEFT_OK);
  weft_schedules_destroy(from);
  return taken;
}

// Fewer cycles of the same network replace a row, those of another network do not, and other layers are added.
static void test_import(void **state) {
  (void)state;
  weft_session *s = weft_session_create();
  const schedules_row more = row_of(48, 700, "net");
  write_store("better", row_of(32, 800, "net"), &more);
  write_store("other", row_of(32, 100, "another net"), NULL);
  weft_schedules *into = open_store(s, "new", true);
  weft_schedule row = {.size = sizeof row};
  assert_int_equal(take(s, into, "a"), 1);
  assert_int_equal(take(s, into, "a"), 0);
  assert_int_equal(take(s, into, "better"), 2);
  assert_int_equal(take(s, into, "a"), 0);
  assert_int_equal(take(s, into, "other"), 0);
  assert_int_equal(weft_schedules_save(s, into, "new"), WEFT_OK);
  weft_schedules_destroy(into);
  into = open_store(s, "new", false);
  assert_int_equal(weft_schedules_count(into), 2);
  uint64_t cycles = 0;
  for (size_t i = 0; weft_schedules_at(into, i, &row) == WEFT_OK; i++) cycles += row.cycles;
  assert_int_equal(cycles, 800 + 700);
  weft_schedules_destroy(into);
  weft_session_destroy(s);
}

static void test_prune(void **state) {
  (void)state;
  weft_session *s = weft_session_create();
  const schedules_row slow = row_of(48, 1000, "net");
  write_store("slow", row_of(32, 999, "net"), &slow);
  weft_schedules *store = open_store(s, "slow", false);
  uint64_t removed = 0;
  assert_int_equal(weft_schedules_prune(s, store, false, &removed), WEFT_OK);
  assert_int_equal(removed, 1);
  assert_int_equal(weft_schedules_prune(s, store, true, &removed), WEFT_OK);
  assert_int_equal(removed, 1);
  assert_int_equal(weft_schedules_count(store), 0);
  weft_schedules_destroy(store);
  weft_session_destroy(s);
}

static void test_bad_calls(void **state) {
  (void)state;
  weft_session *s = weft_session_create();
  weft_schedule row = {.size = sizeof row};
  assert_null(weft_schedules_open(s, "nosuch", false));
  expect_message(s, WEFT_BAD_INPUT, "nosuch: error:");
  assert_null(weft_schedules_open(s, NULL, true));
  expect(s, WEFT_USAGE);
  assert_null(weft_schedules_open(NULL, "a", false));
  weft_schedules *store = open_store(s, "nosuch", true);
  assert_int_equal(weft_schedules_save(s, store, "/nonexistent/store"), WEFT_BAD_INPUT);
  assert_int_equal(weft_schedules_save(s, NULL, "a"), WEFT_USAGE);
  assert_int_equal(weft_schedules_import(s, store, NULL, NULL), WEFT_USAGE);
  assert_int_equal(weft_schedules_prune(s, NULL, false, NULL), WEFT_USAGE);
  assert_null(weft_schedules_mapping(s, NULL, 0));
  assert_int_equal(weft_schedules_count(NULL), 0);
  assert_int_equal(weft_schedules_at(NULL, 0, &row), WEFT_USAGE);
  weft_schedules_destroy(store);
  weft_schedules_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  static const char *const files[] = {"a", "better", "other", "new", "slow"};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),  cmocka_unit_test(test_mapping),   cmocka_unit_test(test_import),
      cmocka_unit_test(test_prune), cmocka_unit_test(test_bad_calls),
  };
  char folder[] = "/tmp/weft-schedules-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
  return chdir("/") != 0 || rmdir(folder) != 0 ? 1 : failed;
}
