// SPDX-License-Identifier: Apache-2.0
// Models that the writer does not write: older and newer forms of operators, wrong graphs and wrong data, data in other
// files, open dimensions and bound inputs.
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/names.h"
#include "compiler/onnx/tests/build.h"

static char *temporary(const char *name) { return wf_format("onnx_forms_test.%d.%s", (int)getpid(), name); }

static void refuses_wrong_graphs(void **state) {
  (void)state;
  built b;
  build_one_node(&b, ONNX_OPSET_MOST + 1, (text_node){"Relu", "x", "y"});
  build_refused(&b, "test.onnx: error: opset 22 is not supported");
  build_one_node(&b, 17, (text_node){"NonMaxSuppression", "x,x", "y"});
  build_refused(&b, "node 'NonMaxSuppression_0' (NonMaxSuppression): the size of its result depends on data");
  build_one_node(&b, 17, (text_node){"QConv", "x,x", "y"});
  build_refused(&b, "operator QConv is not supported");
  build_one_node(&b, 13, (text_node){"Add", "x,w", "y"});  // its size is looked for before it is allocated
  Onnx__TensorProto *far = build_constant(&b, "w", INT64_C(1) << 39);
  far->has_data_location = 1;
  far->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  build_refused(&b, "its data is elsewhere");
  build_one_node(&b, 13, (text_node){"Neg", "x", "y"});
  b.graph.n_output = 0;
  build_refused(&b, "it has no outputs");
  build_one_node(&b, 17, (text_node){"Relu", "z", "y"});
  build_refused(&b, "it reads 'z', which nothing before it makes");
  build_one_node(&b, 17, (text_node){"Add", "x,z", "y"});  // a cycle
  build_node(&b, (text_node){"Relu", "y", "z"});
  build_refused(&b, "it reads 'z', which nothing before it makes");
  build_one_node(&b, 17, (text_node){"Relu", "x", "x"});
  build_refused(&b, "tensor 'x' is made a second time");
  build_one_node(&b, 17, (text_node){"Relu", "x,x", "y"});
  build_refused(&b, "it has 2 inputs instead of 1 to 1");
  build_one_node(&b, 17, (text_node){"Relu", "x", "y"});
  build_output(&b, "nothing");
  build_refused(&b, "output 'nothing' is made by nothing");
  build_one_node(&b, 17, (text_node){"Relu", "x", "y"});
  b.graph.node[0]->output[0] = build_copy(&b, "");
  b.graph.n_output = 0;
  build_refused(&b, "its result is left out");
  build_one_node(&b, 17, (text_node){"Reshape", "x,x", "y"});
  build_refused(&b, "decides a shape and has to be constant");
  build_one_node(&b, 17, (text_node){"Relu", "x", "y"});
  b.graph.node[0]->domain = build_copy(&b, "com.acme");
  build_refused(&b, "operators of the domain 'com.acme' are not supported");
  build_one_node(&b, 17, (text_node){"Relu", "x", "y"});
  b.model.graph = NULL;
  build_refused(&b, "it has no graph");
}

static void refuses_wrong_data(void **state) {
  (void)state;
  built b;
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  build_constant(&b, "w", INT64_MAX);
  build_refused(&b, "tensor 'w': its shape is impossible");
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  build_constant(&b, "w", 1 << 30);
  build_refused(&b, "tensor 'w': it does not have 1073741824 elements");
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  build_constant(&b, "w", -4);
  build_refused(&b, "tensor 'w': its shape is impossible");
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  Onnx__TensorProto *t = build_constant(&b, "w", 4);
  t->has_raw_data = 1;
  t->raw_data = (ProtobufCBinaryData){15, (uint8_t *)build_copy(&b, "fifteen bytes..")};
  build_refused(&b, "tensor 'w': it has 15 bytes instead of 16");
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  build_constant(&b, "w", 4)->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64;
  build_refused(&b, "tensor 'w': its type COMPLEX64 is not supported");
  build_one_node(&b, 17, (text_node){"Relu", "x", "y"});
  build_input(&b, "z", 2, (const int64_t[]){-1, -2});
  build_refused(&b, "input 'z': dimension 1 (length) is open");
}

static bool write_bytes(const char *path, const void *bytes, size_t length) {
  FILE *out = fopen(path, "wb");
  return out != NULL && fwrite(bytes, 1, length, out) == length && fclose(out) == 0;
}

static void set_external(built *b, Onnx__TensorProto *t, const char *location, const char *offset) {
  const char *const pairs[][2] = {{"location", location}, {"offset", offset}};
  t->has_data_location = 1;
  t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  t->external_data = WF_ARENA_ARRAY(b->arena, 2, Onnx__StringStringEntryProto *);
  for (int i = 0; i < 2; i++) {
    Onnx__StringStringEntryProto *entry = WF_ARENA_NEW(b->arena, Onnx__StringStringEntryProto);
    onnx__string_string_entry_proto__init(entry);
    entry->key = build_copy(b, pairs[i][0]);
    entry->value = build_copy(b, pairs[i][1]);
    t->external_data[t->n_external_data++] = entry;
  }
}

static graph *read_external(const char *location, const char *offset, wf_diag *diag) {
  built b;
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  set_external(&b, build_constant(&b, "w", 4), location, offset);
  size_t length = onnx__model_proto__get_packed_size(&b.model);
  uint8_t *bytes = wf_alloc(length, 1);
  onnx__model_proto__pack(&b.model, bytes);
  char *path = temporary("external.onnx");
  assert_true(write_bytes(path, bytes, length));
  graph *g = onnx_read(path, NULL, diag);
  unlink(path);
  wf_free(path);
  wf_free(bytes);
  wf_arena_destroy(b.arena);
  return g;
}

static void reads_data_beside_the_file(void **state) {
  (void)state;
  const float numbers[] = {0, 1, 2, 3, 4};
  char *path = temporary("weights");
  assert_true(write_bytes(path, numbers, sizeof numbers));
  wf_diag diag = wf_diag_to(stderr), quiet = wf_diag_to(NULL);
  graph *g = read_external(path, "4", &diag);
  assert_non_null(g);
  assert_true(((const float *)g->tensors[graph_find_tensor(g, "w")].data)[3] == 4.0f);
  graph_destroy(g);
  assert_null(read_external(path, "8", &quiet));  // beyond the end
  assert_null(read_external(path, "-4", &quiet));
  assert_null(read_external("/etc/passwd", "0", &quiet));
  char *outside = wf_format("../%s", path);
  assert_null(read_external(outside, "0", &quiet));
  assert_null(read_external("nosuch", "0", &quiet));
  wf_free(outside);
  unlink(path);
  wf_free(path);
}

// ---- names

static void knows_counted_names(void **state) {
  (void)state;
  static const char *const counted[] = {"3356", "3356.i8", "12_2", "onnx::Conv_17", "input.2", "input.2.i8", "x.31_4"};
  static const char *const good[] = {"conv1", "layer1.0.conv1", "/a/b.0/Conv", "block.0.conv", "input", "2x", "Conv_3"};
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) assert_true(graph_names_may_be_counted(counted[i]));
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_false(graph_names_may_be_counted(good[i]));
  assert_false(graph_names_is_number("features.3"));
  assert_true(graph_names_is_number("onnx::Conv_17"));
}

// Nodes keep their names unless these are numbers; a result that has one, too, is called as its node is. Ends keep
// what the file calls them.
static void names_after_nodes(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  built b;
  build_start(&b, 17);
  build_input(&b, "0", 1, (const int64_t[]){4});
  build_node(&b, (text_node){"Neg", "0", "3356"})->name = build_copy(&b, "/body/Neg");
  build_node(&b, (text_node){"Abs", "3356", "input.2"})->name = build_copy(&b, "7");
  build_node(&b, (text_node){"Exp", "input.2", "x.3"})->name = build_copy(&b, "/body/Exp");
  build_node(&b, (text_node){"Abs", "x.3", "kept"});
  build_node(&b, (text_node){"Neg", "kept", "9"});
  build_output(&b, "9");
  graph *g = build_read(&b, NULL, &diag);
  assert_non_null(g);
  static const char *const nodes[] = {"/body/Neg", "Abs_1", "/body/Exp", "Abs_3", "Neg_4"};
  static const char *const results[] = {"/body/Neg", "input.2", "/body/Exp", "kept", "9"};
  assert_int_equal(g->node_count, 5);
  for (int n = 0; n < 5; n++) {
    assert_string_equal(g->nodes[n].name, nodes[n]);
    assert_string_equal(g->tensors[g->nodes[n].outputs[0]].name, results[n]);
  }
  assert_string_equal(g->tensors[g->inputs[0]].name, "0");
  graph_destroy(g);
  wf_arena_destroy(b.arena);
}

// ---- options

static int64_t dim_of(const onnx_options *options, int axis) {
  built b;
  build_start(&b, 17);
  build_input(&b, "x", 3, (const int64_t[]){-1, -2, -1});
  build_node(&b, (text_node){"Relu", "x", "y"});
  build_output(&b, "y");
  wf_diag quiet = wf_diag_to(NULL);
  graph *g = build_read(&b, options, &quiet);
  int64_t dim = g != NULL ? g->tensors[g->outputs[0]].dim[axis] : -1;
  graph_destroy(g);
  wf_arena_destroy(b.arena);
  return dim;
}

static void sets_open_dimensions(void **state) {
  (void)state;
  const onnx_dim dims[] = {{"length", 7}, {"x:2", 9}, {"x:0", 5}};
  assert_int_equal(dim_of(NULL, 0), -1);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 1}, 0), -1);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 2}, 0), 1);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 2, .batch = 3}, 0), 3);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 3, .batch = 3}, 0), 5);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 2}, 1), 7);
  assert_int_equal(dim_of(&(onnx_options){.dims = dims, .dim_count = 2}, 2), 9);
}

static void binds_inputs(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr), quiet = wf_diag_to(NULL);
  built b;
  build_one_node(&b, 17, (text_node){"Neg", "x", "y"});
  const float numbers[] = {1, 2, 3, 4};
  graph_tensor t = {.type = GRAPH_F32, .rank = 1, .dim = {4}, .data = numbers};
  const onnx_value bound = {"x", &t};
  const onnx_options options = {.values = &bound, .value_count = 1};
  graph *g = build_read(&b, &options, &diag);
  assert_non_null(g);
  assert_int_equal(g->node_count, 0);
  assert_int_equal(g->input_count, 0);
  assert_true(((const float *)g->tensors[g->outputs[0]].data)[3] == -4.0f);
  graph_destroy(g);
  t.type = GRAPH_I32;
  assert_null(build_read(&b, &options, &quiet));
  wf_arena_destroy(b.arena);
}

// ---- older and newer forms

static void brings_older_forms_to_the_present(void **state) {
  (void)state;
  const float x[] = {-1, 2, 3, 10};
  built b;
  build_one_node(&b, 6, (text_node){"Clip", "x", "y"});
  build_set_float(&b, b.graph.node[0], "max", 2.5f);
  build_expect(&b, x, (const float[]){-1, 2, 2.5f, 2.5f}, 4);
  build_one_node(&b, 9, (text_node){"Slice", "x", "y"});
  build_set_ints(&b, b.graph.node[0], "starts", (const int64_t[]){1}, 1);
  build_set_ints(&b, b.graph.node[0], "ends", (const int64_t[]){-1}, 1);
  build_expect(&b, x, (const float[]){2, 3}, 2);
  build_one_node(&b, 2, (text_node){"Pad", "x", "y"});
  build_set_ints(&b, b.graph.node[0], "pads", (const int64_t[]){1, 0}, 2);
  build_set_float(&b, b.graph.node[0], "value", 7);
  build_expect(&b, x, (const float[]){7, -1, 2, 3, 10}, 5);
  build_one_node(&b, 11, (text_node){"Unsqueeze", "x", "y"});
  build_set_ints(&b, b.graph.node[0], "axes", (const int64_t[]){0}, 1);
  build_expect(&b, x, x, 4);
  build_one_node(&b, 11, (text_node){"ReduceSum", "x", "y"});
  build_set_ints(&b, b.graph.node[0], "axes", (const int64_t[]){0}, 1);
  build_expect(&b, x, (const float[]){14}, 1);
}

static void takes_newer_forms_back(void **state) {
  (void)state;
  const float x[] = {-1, 2, 3, 10};
  built b;
  build_one_node(&b, 18, (text_node){"ReduceMean", "x,axes", "y"});
  Onnx__TensorProto *t = build_constant(&b, "axes", 1);
  t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  t->n_int64_data = 1;
  t->int64_data = WF_ARENA_ARRAY(b.arena, 1, int64_t);
  build_expect(&b, x, (const float[]){3.5f}, 1);
  build_one_node(&b, 18, (text_node){"Split", "x", "y"});
  Onnx__NodeProto *node = b.graph.node[0];
  build_set_int(&b, node, "num_outputs", 2);
  build_refused(&b, "num_outputs is 2 of 1");
  build_one_node(&b, 19, (text_node){"Pad", "x,pads,,axes", "y"});
  for (int i = 0; i < 2; i++) {
    t = build_constant(&b, i == 0 ? "pads" : "axes", 2 - i);
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    t->n_int64_data = (size_t)(2 - i);
    t->int64_data = WF_ARENA_ARRAY(b.arena, 2, int64_t);
    t->int64_data[0] = i == 0 ? 1 : -1;
  }
  build_expect(&b, x, (const float[]){0, -1, 2, 3, 10}, 5);
  build_one_node(&b, 18, (text_node){"Resize", "x,,scales", "y"});
  build_set_ints(&b, b.graph.node[0], "axes", (const int64_t[]){0}, 1);
  t = build_constant(&b, "scales", 1);
  t->n_float_data = 1;
  t->float_data = WF_ARENA_ARRAY(b.arena, 1, float);
  t->float_data[0] = 0.5f;
  build_expect(&b, x, (const float[]){-1, 3}, 2);
  build_one_node(&b, 18, (text_node){"Resize", "x,,scales", "y"});
  build_set_int(&b, b.graph.node[0], "antialias", 1);
  build_constant(&b, "scales", 0);
  build_refused(&b, "antialias = 1 is not supported");
}

// One model with a [2, 2] input and the attribute `axis` before the change of Softmax: all of a row's values are one.
static void flattens_old_softmax(void **state) {
  (void)state;
  built b;
  build_start(&b, 11);
  build_input(&b, "x", 3, (const int64_t[]){1, 2, 2});
  build_node(&b, (text_node){"Softmax", "x", "y"});
  build_output(&b, "y");
  build_expect(&b, (const float[]){0, 0, 0, 0}, (const float[]){0.25f, 0.25f, 0.25f, 0.25f}, 4);
  build_start(&b, 6);  // broadcasting along an axis
  build_input(&b, "x", 2, (const int64_t[]){2, 2});
  Onnx__TensorProto *t = build_constant(&b, "w", 2);
  t->n_float_data = 2;
  t->float_data = WF_ARENA_ARRAY(b.arena, 2, float);
  t->float_data[1] = 10;
  Onnx__NodeProto *node = build_node(&b, (text_node){"Add", "x,w", "y"});
  build_set_int(&b, node, "broadcast", 1);
  build_set_int(&b, node, "axis", 0);
  build_output(&b, "y");
  build_expect(&b, (const float[]){1, 2, 3, 4}, (const float[]){1, 2, 13, 14}, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_wrong_graphs),
      cmocka_unit_test(refuses_wrong_data),
      cmocka_unit_test(reads_data_beside_the_file),
      cmocka_unit_test(knows_counted_names),
      cmocka_unit_test(names_after_nodes),
      cmocka_unit_test(sets_open_dimensions),
      cmocka_unit_test(binds_inputs),
      cmocka_unit_test(brings_older_forms_to_the_present),
      cmocka_unit_test(takes_newer_forms_back),
      cmocka_unit_test(flattens_old_softmax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
