// SPDX-License-Identifier: Apache-2.0
// A store gives back what was put into it, refuses files that are none, and knows for a layer first its own mapping,
// then the nearest of its class, carried over.
#include "search/schedules/schedules.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/test.h"

static const char path[] = "schedules_test.sqlite";

static schedules_row row_of(int64_t rows, const hw_array *array, const char *objective) {
  schedules_row row = {.layer = {.kind = MAP_GEMM, .size = {1, rows, 1, 256, 256, 1, 1}, .bias = true, .residual = 3},
                       .engine = "cycle",
                       .cycles = 1000,
                       .before = 1100,
                       .energy_pj = 2.5,
                       .origin = "a network",
                       .version = "1"};
  wf_diag diag = wf_diag_to(stderr);
  schedules_set_array(&row, array);
  snprintf(row.objective, sizeof row.objective, "%s", objective);
  assert_true(map_default(&row.layer, array, NULL, BLOCK_STYLE_PRIMITIVE, &row.mapping, &diag));
  return row;
}

static hw_array default_array(void) {
  hw_array array;
  hw_array_default(&array);
  return array;
}

static void test_round_trip(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const hw_array array = default_array();
  unlink(path);
  schedules *s = schedules_create();
  schedules_row row = row_of(64, &array, "cycles"), other = row_of(64, &array, "edp");
  schedules_add(s, &row);
  schedules_add(s, &other);
  row.cycles = 900;
  schedules_add(s, &row);
  assert_int_equal(schedules_count(s), 2);
  assert_true(schedules_save(s, path, &diag));
  schedules_destroy(s);
  s = schedules_open(path, false, &diag);
  assert_non_null(s);
  assert_int_equal(schedules_count(s), 2);
  const schedules_row *back = schedules_at(s, 0);
  assert_int_equal(map_layer_hash(&back->layer), map_layer_hash(&row.layer));
  assert_true(map_equal(&back->mapping, &row.mapping));
  assert_int_equal(back->array, row.array);
  assert_int_equal(back->cycles, 900);
  assert_int_equal(back->before, 1100);
  assert_true(back->energy_pj == 2.5);
  assert_string_equal(back->origin, "a network");
  assert_string_equal(schedules_at(s, 1)->objective, "edp");
  schedules_destroy(s);
}

static bool is_edp(void *context, const schedules_row *row) {
  (void)context;
  return strcmp(row->objective, "edp") == 0;
}

// Removing one row leaves what another process has added meanwhile.
static void test_remove(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const hw_array array = default_array();
  schedules *s = schedules_open(path, false, &diag), *meanwhile = schedules_open(path, false, &diag);
  assert_non_null(s);
  const schedules_row row = row_of(96, &array, "cycles");
  schedules_add(meanwhile, &row);
  assert_true(schedules_save(meanwhile, path, &diag));
  assert_int_equal(schedules_remove(s, is_edp, NULL), 1);
  assert_true(schedules_save(s, path, &diag));
  schedules_destroy(s);
  schedules_destroy(meanwhile);
  s = schedules_open(path, false, &diag);
  assert_int_equal(schedules_count(s), 2);
  for (size_t i = 0; i < 2; i++) assert_string_equal(schedules_at(s, i)->objective, "cycles");
  schedules_destroy(s);
}

static void damage(const char *text) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void refuse(const char *reason) {
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  assert_null(schedules_open(path, false, &diag));
  fclose(out);
  if (strstr(messages, reason) == NULL) fail_msg("%s", messages);
  free(messages);
}

static void test_damaged(void **state) {
  (void)state;
  static const char *const damages[] = {"UPDATE schedule SET kind = 'none'",  "UPDATE schedule SET p = 0",
                                        "UPDATE schedule SET dim = 0",        "UPDATE schedule SET form = 'none'",
                                        "UPDATE schedule SET mapping = 'no'", "UPDATE schedule SET array = 'x'",
                                        "UPDATE schedule SET cycles = -1"};
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    test_round_trip(NULL);
    damage(damages[i]);
    refuse("is no schedule");
  }
  damage("UPDATE schedules SET value = '999'");
  refuse("no schedule store of version 1");
  FILE *out = fopen(path, "w");
  fputs("this is a text", out);
  fclose(out);
  refuse("no schedule store");
  unlink(path);
  refuse("no such store");
}

static void test_known(void **state) {
  (void)state;
  hw_array array = default_array(), half = array;
  half.scratchpad.capacity_kib /= 2;
  schedules *s = schedules_create();
  const schedules_row far = row_of(1024, &array, "cycles"), own = row_of(128, &array, "cycles"),
                      near = row_of(64, &array, "cycles"), edp = row_of(127, &array, "edp");
  schedules_add(s, &far);
  schedules_add(s, &near);
  schedules_add(s, &own);
  schedules_add(s, &edp);
  schedules_lookup lookup = {.store = s, .array = &array, .objective = COMPILE_CYCLES};
  map_mapping list[8];
  size_t count = schedules_known(&lookup, &own.layer, list, 0, 8);
  assert_true(count >= 1 && map_equal(&list[0], &own.mapping));
  assert_int_equal(lookup.exact, 1);
  assert_int_equal(lookup.fitted + lookup.clamped, 2);
  for (size_t i = 0; i < count; i++) assert_true(map_check(&own.layer, &list[i], &array, NULL));
  map_layer plain = own.layer;
  plain.bias = false;
  assert_int_equal(schedules_known(&lookup, &plain, list, 0, 8), 0);
  schedules_lookup other = {.store = s, .array = &half, .objective = COMPILE_CYCLES};
  count = schedules_known(&other, &own.layer, list, 0, 1);
  assert_int_equal(count, 1);
  assert_int_equal(other.exact, 0);
  assert_true(map_check(&own.layer, &list[0], &half, NULL));
  other.exact_only = true;
  assert_int_equal(schedules_known(&other, &own.layer, list, 0, 8), 0);
  lookup.exact_only = true;
  assert_int_equal(schedules_known(&lookup, &own.layer, list, 0, 8), 1);
  schedules_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_remove),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_known),
  };
  return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
