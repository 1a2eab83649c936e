// SPDX-License-Identifier: Apache-2.0
// Operators that the reader composes of others, numbers of 16 bits, If on a condition of run time, and networks that
// end in front of what is refused.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/onnx/tests/build.h"

static void set_floats(built *b, const char *name, const float *values, size_t count) {
  Onnx__TensorProto *t = build_constant(b, name, (int64_t)count);
  t->n_float_data = count;
  t->float_data = WF_ARENA_ARRAY(b->arena, count, float);
  memcpy(t->float_data, values, count * sizeof *values);
}

static void set_bytes(built *b, const char *name, int type, const int32_t *values, size_t count) {
  Onnx__TensorProto *t = build_constant(b, name, (int64_t)count);
  t->data_type = type;
  t->n_int32_data = count;
  t->int32_data = WF_ARENA_ARRAY(b->arena, count, int32_t);
  memcpy(t->int32_data, values, count * sizeof *values);
}

// ---- numbers of 16 bits

static void add_halves(int type, const uint16_t *halves, const float *expected, bool raw) {
  built b;
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  Onnx__TensorProto *t = build_constant(&b, "w", 4);
  t->data_type = type;
  if (raw) {
    t->has_raw_data = 1;
    t->raw_data = (ProtobufCBinaryData){8, wf_arena_alloc(b.arena, 8, 1)};
    memcpy(t->raw_data.data, halves, 8);
  } else {
    t->n_int32_data = 4;
    t->int32_data = WF_ARENA_ARRAY(b.arena, 4, int32_t);
    for (int i = 0; i < 4; i++) t->int32_data[i] = halves[i];
  }
  build_expect(&b, (const float[]){0, 0, 0, 0}, expected, 4);
}

static void reads_numbers_of_16_bits(void **state) {
  (void)state;
  const uint16_t f16[] = {0x3c00, 0xc100, 0x0001, 0x7bff}, bf16[] = {0x3f80, 0xc020, 0x3e00, 0x4480};
  const float of_f16[] = {1, -2.5f, 0x1p-24f, 65504}, of_bf16[] = {1, -2.5f, 0.125f, 1024};
  for (int raw = 0; raw < 2; raw++) {
    add_halves(ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, f16, of_f16, raw);
    add_halves(ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, bf16, of_bf16, raw);
  }
  built b;
  build_one_node(&b, 17, (text_node){"Add", "x,w", "y"});
  Onnx__TensorProto *t = build_constant(&b, "w", 4);
  t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
  t->has_raw_data = 1;
  t->raw_data = (ProtobufCBinaryData){16, (uint8_t *)build_copy(&b, "sixteen bytes...")};
  build_refused(&b, "tensor 'w': it has 16 bytes instead of 8");
}

// ---- com.microsoft

// x is quantised with scale 0.5 and zero point 10, goes through the operator, and becomes real numbers again.
static void contrib(const char *op, const char *inputs, const float *x, const float *expected) {
  built b;
  build_start(&b, 17);
  build_input(&b, "x", 4, (const int64_t[]){1, 1, 2, 2});
  set_floats(&b, "s", (const float[]){0.5f}, 1);
  set_floats(&b, "t", (const float[]){0.25f}, 1);
  set_bytes(&b, "z", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, (const int32_t[]){100}, 1);
  build_node(&b, (text_node){"QuantizeLinear", "x,s,z", "q"});
  Onnx__NodeProto *node = build_node(&b, (text_node){op, inputs, "r"});
  node->domain = build_copy(&b, "com.microsoft");
  if (strcmp(op, "QLinearAveragePool") == 0) build_set_ints(&b, node, "kernel_shape", (const int64_t[]){2, 2}, 2);
  if (strcmp(op, "QLinearConcat") == 0) build_set_int(&b, node, "axis", 0);
  if (strcmp(op, "QLinearLeakyRelu") == 0) build_set_float(&b, node, "alpha", 0.5f);
  build_node(&b, (text_node){"DequantizeLinear", "r,t,z", "y"});
  build_output(&b, "y");
  const bool pools = strstr(op, "Pool") != NULL;
  build_expect(&b, x, expected, pools ? 1 : 4);
}

static void composes_qlinear_operators(void **state) {
  (void)state;
  const float x[] = {1, -2, 3, 0};
  contrib("QLinearAdd", "q,s,z,q,s,z,t,z", x, (const float[]){2, -4, 6, 0});
  contrib("QLinearMul", "q,s,z,q,s,z,t,z", x, (const float[]){1, 4, 9, 0});
  contrib("QLinearLeakyRelu", "q,s,z,t,z", x, (const float[]){1, -1, 3, 0});
  contrib("QLinearSigmoid", "q,s,z,t,z", x, (const float[]){0.75f, 0, 1, 0.5f});
  contrib("QLinearSoftmax", "q,s,z,t,z", x, (const float[]){1, 0, 1, 0});
  contrib("QLinearConcat", "t,z,q,s,z", x, x);
  contrib("QLinearAveragePool", "q,s,z,t,z", x, (const float[]){0.5f});
  contrib("QLinearGlobalAveragePool", "q,s,z,t,z", x, (const float[]){0.5f});
}

static void composes_products(void **state) {
  (void)state;
  built b;
  build_start(&b, 17);
  build_input(&b, "x", 2, (const int64_t[]){2, 2});
  set_floats(&b, "s", (const float[]){0.5f}, 1);
  set_floats(&b, "u", (const float[]){2}, 1);
  set_bytes(&b, "z", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, (const int32_t[]){0}, 1);
  const int32_t weights[] = {1, 2, 3, 4};
  set_bytes(&b, "w", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, weights, 4);
  b.graph.initializer[b.graph.n_initializer - 1]->n_dims = 2;
  b.graph.initializer[b.graph.n_initializer - 1]->dims = (int64_t[]){2, 2};
  set_bytes(&b, "c", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, (const int32_t[]){3, -1}, 2);
  build_node(&b, (text_node){"QuantizeLinear", "x,s,z", "q"});
  Onnx__NodeProto *node = build_node(&b, (text_node){"QGemm", "q,s,z,w,u,z,c", "y"});
  node->domain = build_copy(&b, "com.microsoft");
  build_set_float(&b, node, "alpha", 1);
  build_output(&b, "y");
  // [1 2; 3 4] x 2 [1 2; 3 4] + 0.5 * 2 * [3 -1]
  build_expect(&b, (const float[]){1, 2, 3, 4}, (const float[]){17, 19, 33, 43}, 4);
  build_one_node(&b, 17, (text_node){"QLinearAdd", "x,x", "y"});
  b.graph.node[0]->domain = build_copy(&b, "com.microsoft");
  build_refused(&b, "node 'QLinearAdd_0' (QLinearAdd): it has 2 inputs instead of 7 to 8");
  build_one_node(&b, 17, (text_node){"QLinearReduceMean", "x,x", "y"});
  b.graph.node[0]->domain = build_copy(&b, "com.microsoft");
  build_refused(&b, "operator QLinearReduceMean is not supported");
}

// ---- groups

static void normalises_groups(void **state) {
  (void)state;
  const float x[] = {1, 3, 5, 7, -1, -1, 1, 1};
  for (int per_channel = 0; per_channel < 2; per_channel++) {
    built b;
    build_start(&b, per_channel ? 21 : 18);
    build_input(&b, "x", 3, (const int64_t[]){1, 4, 2});
    set_floats(&b, "g", (const float[]){1, 2, 3, 4}, per_channel ? 4 : 2);
    set_floats(&b, "b", (const float[]){0, 1, 0, 1}, per_channel ? 4 : 2);
    Onnx__NodeProto *node = build_node(&b, (text_node){"GroupNormalization", "x,g,b", "y"});
    build_set_int(&b, node, "num_groups", 2);
    build_set_float(&b, node, "epsilon", 0);
    build_output(&b, "y");
    const float n = sqrtf(5), of_group[] = {-3 / n, -1 / n, 1 / n, 3 / n, -1, -1, 3, 3};
    const float of_channel[] = {-3 / n, -1 / n, 1 + 2 / n, 1 + 6 / n, -3, -3, 5, 5};
    build_expect(&b, x, per_channel ? of_channel : of_group, 8);
  }
}

// ---- losses

static void loss(int type, int64_t target, int64_t ignore, float expected) {
  built b;
  build_start(&b, 17);
  build_input(&b, "x", 2, (const int64_t[]){2, 2});
  Onnx__TensorProto *t = build_constant(&b, "t", 2);
  t->data_type = type;
  t->has_raw_data = 1;
  const bool wide = type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  t->raw_data = (ProtobufCBinaryData){wide ? 16 : 8, wf_arena_alloc(b.arena, 16, 8)};
  for (int i = 0; i < 2; i++) {
    const int64_t value = i == 0 ? target : 1;
    memcpy(t->raw_data.data + (wide ? 8 * i : 4 * i), &value, wide ? 8 : 4);
  }
  Onnx__NodeProto *node = build_node(&b, (text_node){"NegativeLogLikelihoodLoss", "x,t", "y"});
  build_set_int(&b, node, "ignore_index", ignore);
  build_output(&b, "y");
  build_expect(&b, (const float[]){1, 2, 3, 5}, &expected, 1);
}

// Of the two targets, the second one is 1 and its loss -5.
static void ignores_one_class(void **state) {
  (void)state;
  const int i32 = ONNX__TENSOR_PROTO__DATA_TYPE__INT32, i64 = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  const int64_t far[] = {INT64_MAX, INT64_MIN, INT64_C(0x100000001), -100};
  for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) loss(i64, far[i], far[i], -5);
  loss(i64, 0, INT64_MAX, -3);
  loss(i32, -100, -100, -5);
  loss(i32, 0, INT64_C(0x100000000), -3);  // its low half is 0, yet no target of 32 bits is equal
}

// ---- If

// The last node becomes a branch with that one result.
static void take_branch(built *b, Onnx__NodeProto *node, const char *name) {
  Onnx__GraphProto *inner = WF_ARENA_NEW(b->arena, Onnx__GraphProto);
  onnx__graph_proto__init(inner);
  inner->node = WF_ARENA_ARRAY(b->arena, 1, Onnx__NodeProto *);
  inner->node[inner->n_node++] = b->graph.node[--b->graph.n_node];
  build_output(b, "inner");
  inner->output = WF_ARENA_ARRAY(b->arena, 1, Onnx__ValueInfoProto *);
  inner->output[inner->n_output++] = b->graph.output[--b->graph.n_output];
  build_set_int(b, node, name, 0);
  Onnx__AttributeProto *a = node->attribute[node->n_attribute - 1];
  a->has_i = 0;
  a->has_type = 1;
  a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
  a->g = inner;
}

static void start_branches(built *b, text_node then, text_node other) {
  build_start(b, 13);
  build_input(b, "x", 1, (const int64_t[]){4});
  set_floats(b, "zero", (const float[]){0}, 1);
  build_node(b, (text_node){"ReduceSum", "x", "sum"});
  build_node(b, (text_node){"Greater", "sum,zero", "positive"});
  Onnx__NodeProto *node = build_node(b, (text_node){"If", "positive", "y"});
  build_node(b, then);
  take_branch(b, node, "then_branch");
  build_node(b, other);
  take_branch(b, node, "else_branch");
  build_output(b, "y");
}

static void chooses_while_it_runs(void **state) {
  (void)state;
  const float up[] = {1, -2, 3, 4}, down[] = {-1, 2, -3, -4};
  for (int i = 0; i < 2; i++) {
    built b;
    start_branches(&b, (text_node){"Neg", "x", "inner"}, (text_node){"Relu", "x", "inner"});
    build_expect(&b, i == 0 ? up : down, i == 0 ? down : (const float[]){0, 2, 0, 0}, 4);
  }
  built b;
  start_branches(&b, (text_node){"Neg", "x", "inner"}, (text_node){"Neg", "sum", "inner"});
  build_refused(&b, "its branches give results of different types or shapes");
  start_branches(&b, (text_node){"Neg", "inner", "inner"}, (text_node){"Neg", "sum", "inner"});
  build_refused(&b, "it reads 'inner', which nothing before it makes");
}

// ---- where a network ends

static void ends_in_front_of_what_is_refused(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr), quiet = wf_diag_to(NULL);
  built b;
  build_one_node(&b, 17, (text_node){"Neg", "x", "n"});
  b.graph.node[0]->name = build_copy(&b, "negate");
  b.graph.n_output = 0;
  build_input(&b, "unused", 2, (const int64_t[]){3, -1});  // open, but what is left does not read it
  build_node(&b, (text_node){"NonMaxSuppression", "n,unused", "y"});
  build_output(&b, "y");
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {i == 0 ? "n" : i == 1 ? "negate" : "nothing"};
    const onnx_options options = {.outputs = names, .output_count = 1};
    graph *g = build_read(&b, &options, i < 2 ? &diag : &quiet);
    assert_int_equal(g != NULL, i < 2);
    if (g == NULL) continue;
    assert_int_equal(g->node_count, 1);
    assert_int_equal(g->input_count, 1);
    assert_string_equal(g->tensors[g->outputs[0]].name, "n");
    graph_destroy(g);
  }
  build_set_int(&b, b.graph.node[1], "center_point_box", 0);
  b.graph.n_input = 1;
  b.graph.node[1]->n_input = 1;
  build_refused(&b, "hint: --outputs n ends the network in front of it");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_numbers_of_16_bits), cmocka_unit_test(composes_qlinear_operators),
      cmocka_unit_test(composes_products),        cmocka_unit_test(normalises_groups),
      cmocka_unit_test(chooses_while_it_runs),    cmocka_unit_test(ends_in_front_of_what_is_refused),
      cmocka_unit_test(ignores_one_class),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
