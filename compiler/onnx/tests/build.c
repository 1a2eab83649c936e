// SPDX-License-Identifier: Apache-2.0
// Models made of messages: see build.h.
#include "compiler/onnx/tests/build.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"

#define MAKE(b, type, init, ...)                      \
  type *__VA_ARGS__ = WF_ARENA_NEW((b)->arena, type); \
  init(__VA_ARGS__)

char *build_copy(built *b, const char *text) { return wf_arena_text(b->arena, text, strlen(text)); }

void build_start(built *b, int64_t opset) {
  b->arena = wf_arena_create();
  onnx__model_proto__init(&b->model);
  onnx__graph_proto__init(&b->graph);
  onnx__operator_set_id_proto__init(&b->opset);
  b->opset.has_version = 1;
  b->opset.version = opset;
  b->opsets[0] = &b->opset;
  b->model.n_opset_import = 1;
  b->model.opset_import = b->opsets;
  b->model.graph = &b->graph;
  b->graph.node = WF_ARENA_ARRAY(b->arena, 16, Onnx__NodeProto *);
  b->graph.input = WF_ARENA_ARRAY(b->arena, 16, Onnx__ValueInfoProto *);
  b->graph.output = WF_ARENA_ARRAY(b->arena, 16, Onnx__ValueInfoProto *);
  b->graph.initializer = WF_ARENA_ARRAY(b->arena, 16, Onnx__TensorProto *);
}

// A dimension below 0 is open: -1 without a name, -2 named "length".
static Onnx__ValueInfoProto *value(built *b, const char *name, int rank, const int64_t *dim) {
  MAKE(b, Onnx__ValueInfoProto, onnx__value_info_proto__init, info);
  MAKE(b, Onnx__TypeProto, onnx__type_proto__init, type);
  MAKE(b, Onnx__TypeProto__Tensor, onnx__type_proto__tensor__init, tensor);
  MAKE(b, Onnx__TensorShapeProto, onnx__tensor_shape_proto__init, shape);
  info->name = build_copy(b, name);
  info->type = type;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = tensor;
  tensor->has_elem_type = 1;
  tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  tensor->shape = shape;
  shape->n_dim = (size_t)rank;
  shape->dim = WF_ARENA_ARRAY(b->arena, (size_t)rank, Onnx__TensorShapeProto__Dimension *);
  for (int d = 0; d < rank; d++) {
    MAKE(b, Onnx__TensorShapeProto__Dimension, onnx__tensor_shape_proto__dimension__init, one);
    if (dim[d] >= 0) one->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE, one->dim_value = dim[d];
    if (dim[d] == -2)
      one->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM, one->dim_param = build_copy(b, "length");
    shape->dim[d] = one;
  }
  return info;
}

void build_input(built *b, const char *name, int rank, const int64_t *dim) {
  b->graph.input[b->graph.n_input++] = value(b, name, rank, dim);
}
void build_output(built *b, const char *name) { b->graph.output[b->graph.n_output++] = value(b, name, 0, NULL); }

Onnx__NodeProto *build_node(built *b, text_node from) {
  MAKE(b, Onnx__NodeProto, onnx__node_proto__init, node);
  node->op_type = build_copy(b, from.op);
  node->input = WF_ARENA_ARRAY(b->arena, 8, char *);
  for (const char *at = from.inputs; *at != '\0'; at += *at == ',') {
    size_t length = strcspn(at, ",");
    node->input[node->n_input++] = wf_arena_text(b->arena, at, length);
    at += length;
  }
  node->output = WF_ARENA_ARRAY(b->arena, 1, char *);
  node->output[node->n_output++] = build_copy(b, from.output);
  node->attribute = WF_ARENA_ARRAY(b->arena, 8, Onnx__AttributeProto *);
  b->graph.node[b->graph.n_node++] = node;
  return node;
}

static Onnx__AttributeProto *add_attribute(built *b, Onnx__NodeProto *node, const char *name) {
  MAKE(b, Onnx__AttributeProto, onnx__attribute_proto__init, a);
  a->name = build_copy(b, name);
  node->attribute[node->n_attribute++] = a;
  return a;
}

Onnx__TensorProto *build_constant(built *b, const char *name, int64_t dim) {
  MAKE(b, Onnx__TensorProto, onnx__tensor_proto__init, t);
  t->name = build_copy(b, name);
  t->has_data_type = 1;
  t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  t->n_dims = 1;
  t->dims = WF_ARENA_ARRAY(b->arena, 1, int64_t);
  t->dims[0] = dim;
  b->graph.initializer[b->graph.n_initializer++] = t;
  return t;
}

graph *build_read(built *b, const onnx_options *options, wf_diag *diag) {
  size_t length = onnx__model_proto__get_packed_size(&b->model);
  uint8_t *bytes = wf_alloc(length + 1, 1);
  onnx__model_proto__pack(&b->model, bytes);
  graph *g = onnx_read_bytes("test.onnx", bytes, length, options, diag);
  wf_free(bytes);
  return g;
}

void build_refused(built *b, const char *expected) {
  char *message;
  size_t length;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  graph *g = build_read(b, NULL, &diag);
  fclose(out);
  assert_null(g);
  if (strstr(message, expected) == NULL) fail_msg("'%s' lacks '%s'", message, expected);
  free(message);
  wf_arena_destroy(b->arena);
}

static const int64_t four[] = {4};

// A model of one input x[4] and one node.
void build_one_node(built *b, int64_t opset, text_node from) {
  build_start(b, opset);
  build_input(b, "x", 1, four);
  build_node(b, from);
  build_output(b, from.output);
}

void build_expect(built *b, const float *x, const float *expected, size_t count) {
  wf_diag diag = wf_diag_to(stderr);
  float y[64];
  graph *g = build_read(b, NULL, &diag);
  assert_non_null(g);
  assert_int_equal(graph_elements(&g->tensors[g->outputs[0]]), count);
  assert_true(graph_run(g, (const void *[]){x}, (void *[]){y}, NULL, &diag));
  for (size_t i = 0; i < count; i++) assert_true(fabsf(y[i] - expected[i]) < 1e-6f);
  graph_destroy(g);
  wf_arena_destroy(b->arena);
}

void build_set_ints(built *b, Onnx__NodeProto *node, const char *name, const int64_t *list, size_t count) {
  Onnx__AttributeProto *a = add_attribute(b, node, name);
  a->n_ints = count;
  a->ints = WF_ARENA_ARRAY(b->arena, count, int64_t);
  memcpy(a->ints, list, count * sizeof list[0]);
}

void build_set_int(built *b, Onnx__NodeProto *node, const char *name, int64_t number) {
  Onnx__AttributeProto *a = add_attribute(b, node, name);
  a->has_i = 1;
  a->i = number;
}

void build_set_float(built *b, Onnx__NodeProto *node, const char *name, float number) {
  Onnx__AttributeProto *a = add_attribute(b, node, name);
  a->has_f = 1;
  a->f = number;
}
