// SPDX-License-Identifier: Apache-2.0
// Stores that are damaged or made up: writers and readers of stores refuse them with the reason, or read what is legal.
#include "search/sweep/store.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/random.h"
#include "base/test.h"
#include "search/report/data.h"
#include "search/sweep/query.h"

#define STORE "store_test.sqlite"
#define TEXT "base: dim4\nnetworks: [" TINY "]\n"

static sweep_spec spec_of(const char *text) {
  sweep_spec spec;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(sweep_spec_parse(&spec, "s.yaml", text, strlen(text), &diag));
  return spec;
}

static void remove_store(void) {
  static const char *const files[] = {STORE, STORE "-wal", STORE "-shm", STORE "-journal", STORE "-lock"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
}

// A store with so many points of one array, whose layers all have been measured.
static void make_store(size_t points) {
  sweep_spec spec = spec_of(TEXT);
  wf_diag diag = wf_diag_to(stderr);
  remove_store();
  sweep_store *s = sweep_store_open(STORE, &spec, "v1", 0, &diag);
  assert_non_null(s);
  sweep_store_begin(s);
  for (size_t i = 0; i < points; i++) sweep_store_point(s, i, &spec.base, "{\"a.b\":1}", "");
  for (size_t i = 0; i < spec.networks[0].count; i++) {
    const map_layer layer = layers_to_map(&spec.networks[0].layers[i]);
    const sweep_store_key key = {hw_array_hash(&spec.base), map_layer_hash(&layer), "default", RUN_FIDELITY_CYCLE};
    const sweep_work_result result = {
        .status = WORK_GOOD, .cycles = 100, .energy_pj = 5, .has_energy = true, .read_bytes = 10, .written_bytes = 10};
    if (!sweep_store_has(s, &key)) sweep_store_add(s, &key, "v1", &result);
  }
  assert_true(sweep_store_commit(s, &diag));
  sweep_store_close(s);
  sweep_spec_release(&spec);
}

static void change(const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(STORE, &db), SQLITE_OK);
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
  sqlite3_close(db);
}

typedef bool action(wf_diag *diag);

static bool sweeps(wf_diag *diag) {
  sweep_spec spec = spec_of(TEXT);
  sweep_store *s = sweep_store_open(STORE, &spec, "v1", 0, diag);
  if (s != NULL) sweep_store_close(s);
  sweep_spec_release(&spec);
  return s != NULL;
}

static bool queries(wf_diag *diag) {
  sweep_query *q = sweep_query_open(STORE, "", NULL, 0, diag);
  if (q == NULL) return false;
  while (sweep_query_next(q, diag)) continue;
  sweep_query_close(q);
  return diag->errors == 0;
}

static bool reports(wf_diag *diag) {
  report_data data;
  const bool good = report_load(&data, STORE, NULL, diag);
  for (size_t n = 0; good && n < data.network_count; n++)
    for (size_t i = 0; i < data.point_count; i++) assert_true(isfinite(data.points[i].sums[n].cycles));
  report_release(&data);
  return good;
}

// The action fails and says so once.
static void expect_refusal(action *act, const char *what, const char *message) {
  char *said = NULL;
  size_t length = 0;
  wf_diag diag = wf_diag_to(open_memstream(&said, &length));
  const bool good = act(&diag);
  fclose(diag.out);
  if (good || diag.errors != 1 || strstr(said, message) == NULL)
    fail_msg("%s: %d, %u: %s", what, good, diag.errors, said);
  free(said);
}

static void expect_good(action *act, const char *what) {
  wf_diag diag = wf_diag_to(stderr);
  if (!act(&diag)) fail_msg("%s", what);
}

static void what_was_written_is_read(void **state) {
  (void)state;
  make_store(3);
  expect_good(sweeps, "sweep");
  expect_good(queries, "query");
  expect_good(reports, "report");
}

static bool asks_for_cylces(wf_diag *diag) { return sweep_query_open(STORE, "cylces < 3", NULL, 0, diag) != NULL; }
static bool asks_for_a_part(wf_diag *diag) { return sweep_query_open(STORE, "a.d = 1", NULL, 0, diag) != NULL; }

static void misspelt_columns_are_named(void **state) {
  (void)state;
  make_store(1);
  expect_refusal(asks_for_cylces, "cylces", "did you mean cycles?");
  expect_refusal(asks_for_a_part, "a.d", "did you mean \"a.b\"?");
}

static void other_tables_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *sql, *sweep, *read;
  } cases[] = {
      {"UPDATE sweep SET value = '999' WHERE key = 'schema'", "tables of version 999", "tables of version 999"},
      {"DELETE FROM sweep WHERE key = 'schema'", "does not say which version", "does not say which version"},
      {"DROP TABLE sweep; CREATE TABLE sweep(key TEXT, value TEXT); INSERT INTO sweep VALUES ('content', NULL), "
       "('version', NULL), ('schema', NULL)",
       "is not the store of a sweep", "does not say which version"},
      {"DROP TABLE sweep", "is not the store of a sweep", "is not the store of a sweep"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_store(3);
    change(cases[i].sql);
    expect_refusal(sweeps, cases[i].sql, cases[i].sweep);
    expect_refusal(queries, cases[i].sql, cases[i].read);
    expect_refusal(reports, cases[i].sql, cases[i].read);
  }
}

static void values_of_other_kinds_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *sql, *message;
  } cases[] = {
      {"DROP TABLE network; CREATE VIEW network AS SELECT 'a' AS name, '' AS description, random() AS macs",
       "is not the store of a sweep"},
      {"UPDATE measurement SET cycles = 'many'", "table measurement, column cycles: a text where"},
      {"UPDATE measurement SET cycles = NULL", "table measurement, column cycles: nothing where"},
      {"UPDATE measurement SET cycles = 1e300", "table measurement, column cycles: a number where"},
      {"UPDATE measurement SET cycles = -1", "table measurement, column cycles"},
      {"UPDATE measurement SET energy_pj = 9e999", "table measurement, column energy_pj"},
      {"UPDATE measurement SET array_energy_pj = 'x'", "table measurement, column array_energy_pj"},
      {"UPDATE array SET area_um2 = 'x'", "table point, column area_um2"},
      {"UPDATE array SET area_whole = -1", "table point, column area_whole"},
      {"UPDATE measurement SET utilisation = 'x'", "table measurement, column utilisation"},
      {"UPDATE array SET dim = 0", "table point, column dim"},
      {"UPDATE array SET memory_bits = 'x'", "table point, column memory_bits"},
      {"UPDATE layer SET count = 0", "table layer, column count"},
      {"UPDATE network SET macs = 1.5e99", "table network, column macs"},
      {"ALTER TABLE sweep RENAME TO old; CREATE TABLE sweep(key TEXT, value TEXT); INSERT INTO sweep SELECT key, "
       "nullif(value, 's') FROM old",
       "table sweep, column value: nothing where"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_store(3);
    change(cases[i].sql);
    expect_refusal(reports, cases[i].sql, cases[i].message);
  }
}

// Sums of what a store may hold stay finite, and no energy is no error.
static void large_figures_are_added_up(void **state) {
  (void)state;
  make_store(3);
  change(
      "UPDATE measurement SET cycles = 9223372036854775807, read_bytes = 9223372036854775807, written_bytes = "
      "9223372036854775807; UPDATE layer SET count = 9223372036854775807, macs = 9223372036854775807");
  expect_good(reports, "large figures");
  change("UPDATE measurement SET energy = '{\"hart\": 1e308, \"mesh\": \"x\", \"other\": [}'");
  expect_good(reports, "parts that are none");
  change("UPDATE measurement SET energy_pj = NULL");
  expect_good(reports, "no energies");
}

// Bytes over any page: refused, or read; memory stays whole (the sanitizers see it).
static void damaged_pages_are_survived(void **state) {
  (void)state;
  enum { POINTS = 3000, ROUNDS = 40, DAMAGE = 100 };
  uint64_t random = 1;
  char damage[DAMAGE];
  memset(damage, 0xff, sizeof damage);
  unsigned refused = 0;
  wf_diag loud = wf_diag_to(stderr);
  size_t length;
  make_store(POINTS);
  char *whole = wf_read_file(STORE, 0, &length, &loud);
  assert_non_null(whole);
  for (int round = 0; round < ROUNDS; round++) {
    remove_store();
    FILE *file = fopen(STORE, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(whole, 1, length, file), length);
    const size_t from = round == 0 ? length - 4096 : 4096;
    fseek(file, (long)(from + wf_random_next(&random) % (length - from - DAMAGE)), SEEK_SET);
    assert_int_equal(fwrite(damage, 1, DAMAGE, file), DAMAGE);
    fclose(file);
    wf_diag silent = wf_diag_to(NULL);
    if (!reports(&silent)) refused++;
    queries(&silent);
    sweeps(&silent);
  }
  assert_true(refused > 0);
  wf_free(whole);
  remove_store();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_written_is_read),   cmocka_unit_test(misspelt_columns_are_named),
      cmocka_unit_test(other_tables_are_refused),   cmocka_unit_test(values_of_other_kinds_are_refused),
      cmocka_unit_test(large_figures_are_added_up), cmocka_unit_test(damaged_pages_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
