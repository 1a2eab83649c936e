// SPDX-License-Identifier: Apache-2.0
// What libweft says of arrays: against the formulas of their parameters, and sums against their terms.
#include <math.h>

#include "api/tests/session.h"

static uint32_t value(weft_session *s, const weft_array *array, const char *parameter) {
  uint32_t got = 0;
  assert_int_equal(weft_array_get(s, array, parameter, &got), WEFT_OK);
  return got;
}

static void check_facts(weft_session *s, const weft_array *array) {
  weft_array_facts f = {.size = sizeof f};
  assert_int_equal(weft_array_describe(array, &f), WEFT_OK);
  assert_int_equal(f.dim, value(s, array, "mesh.rows") * value(s, array, "mesh.tile_rows"));
  assert_int_equal(f.sp_row_bytes, f.dim);
  assert_int_equal(f.acc_row_bytes, 4 * f.dim);
  assert_int_equal(f.sp_rows * f.sp_row_bytes, 1024 * value(s, array, "scratchpad.capacity_kib"));
  assert_int_equal(f.acc_rows * f.acc_row_bytes, 1024 * value(s, array, "accumulator.capacity_kib"));
  assert_int_equal(f.sp_bank_rows * value(s, array, "scratchpad.banks"), f.sp_rows);
  assert_int_equal(f.acc_bank_rows * value(s, array, "accumulator.banks"), f.acc_rows);
  assert_true(UINT64_C(1) << f.row_bits >= f.sp_rows && UINT64_C(1) << f.row_bits >= f.acc_rows);
  assert_int_equal(f.max_cols, f.max_block_len * f.dim);
  assert_int_equal(f.max_cols_acc, f.max_block_len_acc * f.dim);
  assert_true(f.mesh_latency >= f.dim && f.max_matmuls > 0);
  assert_int_equal(f.load_commands_tracked, value(s, array, "dma.reads_in_flight") / f.dim + 1);
  assert_int_equal(f.store_commands_tracked, value(s, array, "dma.writes_in_flight") / f.dim + 1);
}

static void test_facts(void **state) {
  (void)state;
  weft_session *s = open_session();
  for (size_t i = 0; weft_array_shipped(i) != NULL; i++) {
    weft_array *array = load(s, weft_array_shipped(i));
    check_facts(s, array);
    assert_true(strlen(weft_array_description(array)) > 0);
    weft_array_destroy(array);
  }
  weft_session_destroy(s);
}

static double area_of_terms(const weft_array *array, const char *part) {
  weft_area_term term = {.size = sizeof term};
  double sum = 0;
  for (size_t i = 0; weft_array_area_term(array, i, &term) == WEFT_OK; i++) {
    assert_true(strlen(term.what) > 0 && strlen(term.source) > 0);
    if (part == NULL || strcmp(term.part, part) == 0) sum += term.um2 * term.number;
  }
  return sum;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void check_area(const weft_array *array) {
  weft_area all = {.size = sizeof all}, part = {.size = sizeof part};
  double um2 = 0, low = 0, high = 0;
  assert_int_equal(weft_array_area(array, 0, &all), WEFT_OK);
  assert_string_equal(all.part, "all");
  assert_true(near(all.um2, area_of_terms(array, NULL)));
  for (size_t i = 1; weft_array_area(array, i, &part) == WEFT_OK; i++) {
    assert_true(part.low_um2 <= part.um2 && part.um2 <= part.high_um2);
    assert_true(near(part.um2, area_of_terms(array, part.part)));
    um2 += part.um2, low += part.low_um2, high += part.high_um2;
  }
  assert_true(um2 > 0 && near(all.um2, um2) && near(all.low_um2, low) && near(all.high_um2, high));
}

static void test_area(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_area_unknown unknown = {.size = sizeof unknown};
  weft_area one = {.size = sizeof one}, two = one;
  weft_array *array = load(s, "gemmini-default");
  check_area(array);
  weft_array_area(array, 0, &one);
  assert_int_equal(weft_array_set(s, array, "scratchpad.capacity_kib", "512"), WEFT_OK);
  check_area(array);
  weft_array_area(array, 0, &two);
  assert_true(two.um2 > one.um2);
  assert_int_equal(weft_array_area_unknown(0, &unknown), WEFT_OK);
  assert_true(strlen(unknown.what) > 0 && strlen(unknown.parameters) > 0);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// Every parameter has its row.
static void test_reference(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_parameter p = {.size = sizeof p};
  char *page = weft_parameter_reference(s);
  expect(s, WEFT_OK);
  for (size_t i = 0; weft_parameter_at(i, &p) == WEFT_OK; i++) {
    char row[80];
    snprintf(row, sizeof row, "| `%s` |", strchr(p.name, '.') + 1);
    if (strstr(page, row) == NULL) fail_msg("no %s", row);
  }
  weft_free(page);
  weft_session_destroy(s);
}

static void test_ends(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_array_facts facts = {.size = sizeof facts};
  weft_area area = {.size = sizeof area};
  weft_area_term term = {.size = sizeof term};
  weft_area_unknown unknown = {.size = sizeof unknown};
  assert_int_equal(weft_array_describe(NULL, &facts), WEFT_USAGE);
  assert_int_equal(weft_array_describe(array, NULL), WEFT_USAGE);
  assert_int_equal(weft_array_area(array, 10000, &area), WEFT_USAGE);
  assert_int_equal(weft_array_area(NULL, 0, &area), WEFT_USAGE);
  assert_int_equal(weft_array_area(array, 0, NULL), WEFT_USAGE);
  assert_int_equal(weft_array_area_term(array, 10000, &term), WEFT_USAGE);
  assert_int_equal(weft_array_area_term(NULL, 0, &term), WEFT_USAGE);
  assert_int_equal(weft_array_area_unknown(10000, &unknown), WEFT_USAGE);
  assert_string_equal(weft_array_description(NULL), "");
  assert_null(weft_parameter_reference(NULL));
  weft_array_destroy(array);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_area),
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
