// SPDX-License-Identifier: Apache-2.0
// The argument of --dims: values of the dimensions that an ONNX file leaves open.
#ifndef CLI_ONNX_DIMS_H
#define CLI_ONNX_DIMS_H

#include "compiler/onnx/onnx.h"

enum { CLI_DIMS_MAX = 32 };
typedef struct cli_dims {
  char *text;  // a copy of the argument, to which the names point
  onnx_dim dims[CLI_DIMS_MAX];
  int count;
} cli_dims;

// "NAME=N,INPUT:AXIS=N"; NULL: none. False after the reason was reported. Release it in any case.
bool cli_dims_parse(cli_dims *d, const char *argument, wf_diag *diag);
void cli_dims_release(cli_dims *d);

#endif
