// SPDX-License-Identifier: Apache-2.0
// Layers of networks and what other simulators say of them: sizes, texts that read back, and rows whose parts add up.
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"

// Two products, the second one twice; a dilated convolution, which SCALE-Sim cannot say.
static const char table[] =
    "layer,R,S,P,Q,C,K,N,Wstride,Hstride,Wdilation,Hdilation,count,macs\n"
    "small,1,1,64,1,32,48,1,1,1,1,1,1,98304\n"
    "twice,1,1,24,1,16,20,1,1,1,1,1,2,7680\n";
static const char dilated[] = "wide,3,3,8,8,4,4,1,1,1,2,2,1,9216\n";

static weft_layers *load_table(weft_session *s, bool with_dilated) {
  FILE *out = fopen("table.csv", "w");
  assert_non_null(out);
  fprintf(out, "%s%s", table, with_dilated ? dilated : "");
  fclose(out);
  weft_layers *layers = weft_layers_load(s, "table.csv");
  expect(s, WEFT_OK);
  unlink("table.csv");
  return layers;
}

static void test_layers(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_layers *layers = load_table(s, true);
  weft_layer layer = {.size = sizeof layer};
  assert_string_equal(weft_layers_name(layers), "table");
  assert_int_equal(weft_layers_at(layers, 1, &layer), WEFT_OK);
  assert_string_equal(layer.name, "twice");
  assert_int_equal(layer.count, 2);
  assert_int_equal(layer.groups, 1);
  const int64_t dim[WEFT_LAYER_DIMS] = {1, 24, 1, 20, 16, 1, 1};
  assert_memory_equal(layer.dim, dim, sizeof dim);
  assert_true(layer.macs == 24 * 20 * 16);
  assert_int_equal(weft_layers_at(layers, 3, &layer), WEFT_USAGE);
  weft_layers_destroy(layers);
  assert_null(weft_layers_load(s, "nosuch"));
  expect_message(s, WEFT_BAD_INPUT, "nosuch");
  weft_session_destroy(s);
}

static void expect_text(char *text, const char *part) {
  assert_non_null(text);
  if (strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  weft_free(text);
}

static void test_texts(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_layers *layers = load_table(s, true);
  expect_text(weft_layers_topology(s, layers), "twice, 24, 1, 1, 1, 16, 20, 1,");
  expect_message(s, WEFT_BAD_INPUT, "wide");
  expect_text(weft_layers_problem(s, layers, 2), "Wdilation: 2");
  expect(s, WEFT_OK);
  char *problem, *mapping;
  assert_int_equal(weft_layers_mapping(s, layers, 0, array, &problem, &mapping), WEFT_OK);
  expect_text(problem, "P: 64");
  expect_text(mapping, "PEColumns");
  assert_null(weft_layers_problem(s, layers, 3));
  expect(s, WEFT_USAGE);
  assert_int_equal(weft_layers_mapping(s, layers, 0, array, NULL, &mapping), WEFT_USAGE);
  expect_text(weft_hardware_file(s, array, "timeloop-v4.yaml"), "PEColumns");
  assert_null(weft_hardware_file(s, array, "nosuch.yaml"));
  expect_message(s, WEFT_USAGE, "nosuch.yaml");
  weft_layers_destroy(layers);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static size_t cause_count(void) {
  weft_cause cause = {.size = sizeof cause};
  size_t count = 0;
  for (; weft_crosscheck_cause(count, &cause) == WEFT_OK; count++) assert_true(strlen(cause.meaning) > 0);
  assert_in_range(count, 1, WEFT_CAUSES_MAX);
  return count;
}

// The cycles of the causes add up to the difference, and every cause has a name.
static void expect_sum(const weft_crosscheck_row *row) {
  int64_t sum = 0;
  for (size_t c = 0; c < WEFT_CAUSES_MAX; c++) {
    sum += row->difference[c];
    if (c >= cause_count()) assert_int_equal(row->difference[c], 0);
  }
  assert_true(row->cycles > 0 && row->cycles >= row->mesh_cycles && row->mesh_cycles >= row->ideal);
  assert_int_equal(row->cycles, row->closed_form + sum);
}

static void test_rows(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_layers *layers = load_table(s, false);
  counting calls = {0};
  weft_session_watch(s, count, &calls);
  weft_crosscheck *rows = weft_crosscheck_run(s, layers, array, NULL);
  expect(s, WEFT_OK);
  weft_layers_destroy(layers);  // rows stand by themselves
  assert_int_equal(calls.calls, 2);
  weft_crosscheck_row small = {.size = sizeof small}, twice = {.size = sizeof twice}, sum = {.size = sizeof sum};
  assert_int_equal(weft_crosscheck_at(rows, 0, &small), WEFT_OK);
  assert_int_equal(weft_crosscheck_at(rows, 1, &twice), WEFT_OK);
  assert_int_equal(weft_crosscheck_at(rows, 2, &sum), WEFT_USAGE);
  assert_int_equal(weft_crosscheck_sum(rows, &sum), WEFT_OK);
  assert_string_equal(small.name, "small");
  assert_string_equal(small.status, "good");
  // Weights stay: 8 x 12 folds of 64 rows, and 3 * 4 - 2 cycles for each, but for one.
  assert_int_equal(small.closed_form, 8 * 12 * (64 + 3 * 4 - 2) - 1);
  expect_sum(&small);
  expect_sum(&twice);
  expect_sum(&sum);
  assert_int_equal(sum.cycles, small.cycles + 2 * twice.cycles);
  assert_int_equal(sum.closed_form, small.closed_form + 2 * twice.closed_form);
  weft_crosscheck_destroy(rows);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_refused(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_layers *layers = load_table(s, false);
  counting once = {.stop_at = 2};
  assert_null(weft_crosscheck_run(s, layers, array, "ideal"));
  expect_message(s, WEFT_USAGE, weft_crosscheck_form(0));
  weft_session_watch(s, count, &once);
  assert_null(weft_crosscheck_run(s, layers, array, weft_crosscheck_form(1)));
  expect(s, WEFT_CANCELLED);
  assert_int_equal(once.calls, 2);
  assert_null(weft_crosscheck_run(s, layers, NULL, NULL));
  expect(s, WEFT_USAGE);
  weft_crosscheck_destroy(NULL);
  weft_layers_destroy(layers);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_rows), cmocka_unit_test(test_refused)};
  char folder[] = "/tmp/weft-layers-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(folder) == 0 ? failed : 1;
}
