// SPDX-License-Identifier: Apache-2.0
// Graphs of ONNX files: open dimensions, ends and constants that options give, stages, and what each graph says of
// itself. The file is x[batch, length] + b[4] = y, whose positive values are z.
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"
#include "base/alloc.h"
#include "compiler/onnx/tests/build.h"

// model.onnx, and b.pb for its second input.
static void write_files(void) {
  built b;
  uint8_t bytes[1024];
  build_start(&b, 17);
  Onnx__TensorProto *constant = build_constant(&b, "b", 4);
  b.graph.n_initializer = 0;  // it is in a file of its own
  constant->n_float_data = 4;
  constant->float_data = (float[]){1, 2, 3, 4};
  assert_true(onnx__tensor_proto__get_packed_size(constant) <= sizeof bytes);
  write_bytes("b.pb", bytes, onnx__tensor_proto__pack(constant, bytes));
  build_input(&b, "x", 2, (const int64_t[]){-1, -2});
  build_input(&b, "b", 1, (const int64_t[]){4});
  build_node(&b, (text_node){"Add", "x,b", "y"});
  build_node(&b, (text_node){"Relu", "y", "z"});
  build_output(&b, "z");
  assert_true(onnx__model_proto__get_packed_size(&b.model) <= sizeof bytes);
  write_bytes("model.onnx", bytes, onnx__model_proto__pack(&b.model, bytes));
  wf_arena_destroy(b.arena);
}

static const char *const names[] = {"length"};
static const int64_t four[] = {4};

static weft_graph_options with_length(void) {
  return (weft_graph_options){.size = sizeof(weft_graph_options), .dims = 1, .dim_names = names, .dim_values = four};
}

static weft_graph *read_with(weft_session *s, const weft_graph_options *options) {
  weft_graph *g = weft_graph_read(s, "model.onnx", options);
  expect(s, WEFT_OK);
  return g;
}

static weft_graph_facts facts_of(const weft_graph *g) {
  weft_graph_facts facts = {.size = sizeof facts};
  assert_int_equal(weft_graph_describe(g, &facts), WEFT_OK);
  return facts;
}

static void expect_operators(const weft_graph *g, const char *const *expected, size_t count) {
  weft_operator row = {.size = sizeof row};
  uint64_t nodes = 0;
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(weft_graph_operator(g, i, &row), WEFT_OK);
    assert_string_equal(row.name, expected[i]);
    nodes += row.count;
  }
  assert_int_equal(weft_graph_operator(g, count, &row), WEFT_USAGE);
  assert_int_equal(nodes, facts_of(g).nodes);
}

static void test_dimensions(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_graph_options options = with_length();
  options.batch = 3;
  weft_graph *g = read_with(s, &options);
  weft_tensor t = {.size = sizeof t};
  assert_int_equal(weft_graph_input(g, 0, &t), WEFT_OK);
  assert_string_equal(t.name, "x");
  assert_string_equal(t.type, "f32");
  assert_int_equal(t.rank, 2);
  assert_int_equal(t.dim[0], 3);
  assert_int_equal(t.dim[1], 4);
  assert_int_equal(weft_graph_input(g, 1, &t), WEFT_OK);
  assert_int_equal(weft_graph_input(g, 2, &t), WEFT_USAGE);
  assert_int_equal(weft_graph_output(g, 0, &t), WEFT_OK);
  assert_string_equal(t.name, "z");
  assert_int_equal(t.bytes, 3 * 4 * sizeof(float));
  assert_int_equal(weft_graph_output(g, 1, &t), WEFT_USAGE);
  expect_operators(g, (const char *const[]){"Relu", "Add"}, 2);
  weft_graph_destroy(g);
  weft_session_destroy(s);
}

static void test_ends_and_constants(void **state) {
  (void)state;
  static const char *const ends[] = {"y"}, *const files[] = {"b.pb"};
  weft_session *s = open_session();
  weft_graph_options options = with_length();
  options.outputs = ends;
  options.output_count = 1;
  options.constants = files;
  options.constant_count = 1;
  weft_graph *g = read_with(s, &options);
  weft_tensor t = {.size = sizeof t};
  assert_int_equal(weft_graph_input(g, 1, &t), WEFT_USAGE);
  assert_int_equal(weft_graph_output(g, 0, &t), WEFT_OK);
  assert_string_equal(t.name, "y");
  assert_int_equal(t.dim[0], 1);  // the batch
  expect_operators(g, (const char *const[]){"Add"}, 1);
  assert_int_equal(facts_of(g).constant_bytes, 4 * sizeof(float));
  weft_graph_destroy(g);
  static const char *const other[] = {"nobody"};
  options.constants_for = other;
  assert_null(weft_graph_read(s, "model.onnx", &options));
  expect_message(s, WEFT_BAD_INPUT, "nobody");
  weft_session_destroy(s);
}

static void expect_text(weft_session *s, const weft_graph *g, bool constants, const char *part) {
  char *text = weft_graph_text(s, g, constants);
  expect(s, WEFT_OK);
  if (strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  weft_free(text);
}

static void test_stages(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_graph_options options = with_length();
  weft_graph *g = read_with(s, &options);
  expect_text(s, g, false, "Relu(y) -> z f32[1, 4]");
  weft_graph_destroy(g);
  options.stage = "placed";
  g = read_with(s, &options);
  expect_text(s, g, true, "i8[1, 4]");
  weft_graph_destroy(g);
  weft_session_destroy(s);
}

static void test_refused(void **state) {
  (void)state;
  weft_session *s = open_session();
  assert_null(weft_graph_read(s, "nowhere.onnx", NULL));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.onnx");
  assert_null(weft_graph_read(s, NULL, NULL));
  expect(s, WEFT_USAGE);
  weft_graph_options options = with_length();
  options.stage = "best";
  assert_null(weft_graph_read(s, "model.onnx", &options));
  expect_message(s, WEFT_USAGE, "model, quantised, placed");
  options = with_length();
  options.dim_values = NULL;
  assert_null(weft_graph_read(s, "model.onnx", &options));
  expect_message(s, WEFT_USAGE, "dimensions");
  options = with_length();
  options.output_count = 1;
  options.outputs = (const char *const[]){NULL};
  assert_null(weft_graph_read(s, "model.onnx", &options));
  expect_message(s, WEFT_USAGE, "outputs");
  weft_graph_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_dimensions), cmocka_unit_test(test_ends_and_constants),
                                     cmocka_unit_test(test_stages), cmocka_unit_test(test_refused)};
  char folder[] = "/tmp/weft-graph-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  write_files();
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink("model.onnx");
  unlink("b.pb");
  rmdir(folder);
  return failed;
}
