// SPDX-License-Identifier: Apache-2.0
// The arguments of onnx_dims.h as the reader of ONNX files takes them.
#ifndef CLI_ONNX_FILE_H
#define CLI_ONNX_FILE_H

#include "cli/onnx_dims.h"
#include "compiler/onnx/onnx.h"

// `d` has the names, and must stay.
void cli_file_dims(const cli_dims *d, onnx_dim dims[CLI_DIMS_MAX]);

typedef struct cli_constants {
  wf_arena *arena;
  graph_tensor tensors[CLI_NAMES_MAX];
  onnx_value values[CLI_NAMES_MAX];
  int count;
} cli_constants;

// Reads the files of `v`, which must stay. False after the reason was reported. Release it in any case.
bool cli_file_values(const cli_values *v, cli_constants *c, wf_diag *diag);
void cli_file_release(cli_constants *c);

#endif
