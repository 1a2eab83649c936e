// SPDX-License-Identifier: Apache-2.0
// ONNX files. Reading brings a model of opset 1 to 21 to a graph of stage `model`: operators as in opset 17, every
// shape a number, constants folded, glue around shapes gone. The file is not trusted: whatever is wrong with it is an
// error that names the node or tensor; operators that the graph does not know are refused by name.
#ifndef COMPILER_ONNX_ONNX_H
#define COMPILER_ONNX_ONNX_H

#include "compiler/graph/graph.h"

enum { ONNX_OPSET_LEAST = 1, ONNX_OPSET_MOST = 21, ONNX_OPSET_WRITTEN = 17 };

typedef struct onnx_dim {
  const char *name;  // of an open dimension in the file ("sequence"), or INPUT:AXIS ("tokens:1")
  int64_t value;
} onnx_dim;

typedef struct onnx_value {
  const char *input;
  const graph_tensor *tensor;  // with data
} onnx_value;

// All fields may be 0.
typedef struct onnx_options {
  int64_t batch;         // open dimensions at axis 0; 0: 1
  const onnx_dim *dims;  // other open dimensions
  int dim_count;
  const onnx_value *values;  // inputs that are constants from now on
  int value_count;
  // Where the network ends instead of at the file's outputs: names of tensors or nodes. What only the others need is
  // not read.
  const char *const *outputs;
  int output_count;
  size_t fold_bytes;  // larger constants are not computed beforehand; 0: 64 MiB
} onnx_options;

// NULL after the reason was reported.
graph *onnx_read(const char *path, const onnx_options *options, wf_diag *diag);
// The same of a file in memory; `path` is for messages and to find external data (NULL: none is read).
graph *onnx_read_bytes(const char *path, const void *bytes, size_t length, const onnx_options *options, wf_diag *diag);

// One tensor (a .pb file, as published with test models). Its data is in `arena`.
bool onnx_read_tensor(const char *path, wf_arena *arena, graph_tensor *tensor, wf_diag *diag);

// Writes a graph of stage `model` for opset 17. False after the reason was reported.
bool onnx_write(const graph *g, const char *path, wf_diag *diag);

#endif
