// SPDX-License-Identifier: Apache-2.0
// The arguments of --dims (values of the dimensions that an ONNX file leaves open), --outputs (where the network ends)
// and --values (inputs that are constants).
#ifndef CLI_ONNX_DIMS_H
#define CLI_ONNX_DIMS_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_DIMS_MAX = 32 };
typedef struct cli_dims {
  char *text;  // a copy of the argument, to which the names point
  const char *names[CLI_DIMS_MAX];
  int64_t values[CLI_DIMS_MAX];
  int count;
} cli_dims;

// "NAME=N,INPUT:AXIS=N"; NULL: none. False after the reason was reported. Release it in any case.
bool cli_dims_parse(cli_dims *d, const char *argument);
void cli_dims_release(cli_dims *d);

enum { CLI_NAMES_MAX = 256 };
typedef struct cli_names {
  char *text;
  const char *names[CLI_NAMES_MAX];
  int count;
} cli_names;

// "NAME,NAME" as the argument of `option`; the rest as above.
bool cli_names_parse(cli_names *n, const char *option, const char *argument);
void cli_names_release(cli_names *n);

typedef struct cli_values {
  cli_names entries;
  const char *inputs[CLI_NAMES_MAX];  // NULL: the file says which it is
  const char *files[CLI_NAMES_MAX];
} cli_values;

// "FILE.pb,INPUT=FILE.pb"; NULL: none. The rest as above.
bool cli_values_parse(cli_values *v, const char *argument);
void cli_values_release(cli_values *v);

#endif
