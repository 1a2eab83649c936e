// SPDX-License-Identifier: Apache-2.0
// Generated networks as models: what the rows promise, the same bytes for the same seed, and files that read back.
#include <unistd.h>

#include "api/tests/session.h"

// A small network of the row: as the row says, but narrow.
static weft_model *generate(weft_session *s, const char *name, uint64_t image, uint64_t seed) {
  const weft_model_options options = {.size = sizeof options, .image = image, .divisor = 8, .seed = seed};
  weft_model *model = weft_model_generate(s, name, &options);
  expect(s, WEFT_OK);
  return model;
}

static void test_rows(void **state) {
  (void)state;
  weft_model_row row = {.size = sizeof row};
  size_t count = 0, images = 0, sequences = 0;
  for (; weft_model_at(count, &row) == WEFT_OK; count++) {
    assert_string_equal(row.name, weft_network_generated(count));
    assert_true(strlen(row.description) > 0);
    images += row.image > 0;
    sequences += row.sequence > 0;
  }
  assert_true(count > 5 && images > 2 && sequences > 2);
  assert_null(weft_network_generated(count));
}

static void write_as(weft_session *s, uint64_t seed, bool with_layers, const char *file) {
  weft_model *model = generate(s, "resnet18", 64, seed);
  if (with_layers) weft_free(weft_model_layers(s, model));  // which changes nothing
  assert_int_equal(weft_model_write(s, model, file), WEFT_OK);
  weft_model_destroy(model);
}

static bool same_files(const char *a, const char *b) {
  FILE *in[2] = {fopen(a, "rb"), fopen(b, "rb")};
  assert_non_null(in[0]);
  assert_non_null(in[1]);
  int x, y;
  do x = getc(in[0]), y = getc(in[1]);
  while (x == y && x != EOF);
  fclose(in[0]);
  fclose(in[1]);
  return x == y;
}

static void test_files(void **state) {
  (void)state;
  char folder[] = "/tmp/weft-model-XXXXXX";
  weft_session *s = open_session();
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_as(s, 1, false, "a.onnx");
  write_as(s, 1, true, "b.onnx");
  write_as(s, 2, false, "c.onnx");
  assert_true(same_files("a.onnx", "b.onnx"));
  assert_false(same_files("a.onnx", "c.onnx"));
  weft_array *array = load(s, "dim4");
  const weft_network_options options = {.size = sizeof options};
  weft_network *network = weft_network_compile(s, array, "a.onnx", &options);
  expect(s, WEFT_OK);
  weft_network_destroy(network);
  weft_array_destroy(array);
  weft_session_destroy(s);
  for (const char *const *file = (const char *const[]){"a.onnx", "b.onnx", "c.onnx", NULL}; *file != NULL; file++)
    unlink(*file);
  assert_int_equal(chdir("/"), 0);
  assert_int_equal(rmdir(folder), 0);
}

// Twice as wide and high: four times the products of convolutions, and no more parameters.
static void test_facts(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_model *small = generate(s, "resnet18", 64, 1), *large = generate(s, "resnet18", 128, 1);
  weft_model_facts a = {.size = sizeof a}, b = a;
  assert_int_equal(weft_model_describe(small, &a), WEFT_OK);
  assert_int_equal(weft_model_describe(large, &b), WEFT_OK);
  assert_true(a.macs > 0 && b.macs > 3.5 * a.macs && b.macs <= 4 * a.macs);
  assert_true(a.parameters > 0 && a.parameters == b.parameters);
  assert_true(a.nodes > 0 && a.nodes == b.nodes);
  char *layers = weft_model_layers(s, small);
  expect(s, WEFT_OK);
  assert_non_null(strstr(layers, "layers:"));
  weft_free(layers);
  weft_model_destroy(small);
  weft_model_destroy(large);
  weft_session_destroy(s);
}

static void test_bad_calls(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_model_facts facts = {.size = sizeof facts};
  const weft_model_options bad = {.size = sizeof bad, .prune = "nonsense"};
  assert_null(weft_model_generate(s, "no such network", NULL));
  expect(s, WEFT_BAD_INPUT);
  assert_null(weft_model_generate(s, "resnet18", &bad));
  expect(s, WEFT_BAD_INPUT);
  assert_null(weft_model_generate(s, NULL, NULL));
  expect(s, WEFT_USAGE);
  assert_null(weft_model_generate(NULL, "resnet18", NULL));
  weft_model *model = generate(s, "resnet18", 64, 1);
  assert_int_equal(weft_model_write(s, model, "/nonexistent/a.onnx"), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "/nonexistent/a.onnx: error:");
  assert_int_equal(weft_model_write(s, model, NULL), WEFT_USAGE);
  assert_int_equal(weft_model_write(s, NULL, "a.onnx"), WEFT_USAGE);
  assert_null(weft_model_layers(s, NULL));
  assert_int_equal(weft_model_describe(NULL, &facts), WEFT_USAGE);
  assert_int_equal(weft_model_at(0, NULL), WEFT_USAGE);
  weft_model_destroy(model);
  weft_model_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_bad_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
