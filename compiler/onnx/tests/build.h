// SPDX-License-Identifier: Apache-2.0
// Models made of messages, for tests: forms that the writer does not write, and wrong ones.
#ifndef COMPILER_ONNX_TESTS_BUILD_H
#define COMPILER_ONNX_TESTS_BUILD_H

#include "compiler/onnx/onnx.h"
#include "onnx.pb-c.h"

typedef struct text_node {
  const char *op, *inputs, *output;  // inputs: separated by commas
} text_node;

typedef struct built {
  wf_arena *arena;
  Onnx__ModelProto model;
  Onnx__GraphProto graph;
  Onnx__OperatorSetIdProto opset;
  Onnx__OperatorSetIdProto *opsets[1];
} built;

void build_start(built *b, int64_t opset);
char *build_copy(built *b, const char *text);
// Of f32. A dimension below 0 is open: -1 without a name, -2 named "length".
void build_input(built *b, const char *name, int rank, const int64_t *dim);
void build_output(built *b, const char *name);
Onnx__NodeProto *build_node(built *b, text_node from);
// f32[dim] without data.
Onnx__TensorProto *build_constant(built *b, const char *name, int64_t dim);
void build_set_ints(built *b, Onnx__NodeProto *node, const char *name, const int64_t *list, size_t count);
void build_set_int(built *b, Onnx__NodeProto *node, const char *name, int64_t value);
void build_set_float(built *b, Onnx__NodeProto *node, const char *name, float value);
// A model of one input x[4] and one node.
void build_one_node(built *b, int64_t opset, text_node from);

graph *build_read(built *b, const onnx_options *options, wf_diag *diag);
// Reading fails with this message. Drops the model.
void build_refused(built *b, const char *expected);
// The model's one result for its one input. Drops the model.
void build_expect(built *b, const float *x, const float *expected, size_t count);

#endif
