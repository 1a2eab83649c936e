// SPDX-License-Identifier: Apache-2.0
// Compiled kernels.
#ifndef API_KERNEL_H
#define API_KERNEL_H

#include <cjson/cJSON.h>

#include "api/private.h"
#include "compiler/compile.h"

struct weft_kernel {
  weft_array array;  // of which the commands are
  compile_result result;
  char *name, *mapping;
  char *file;  // of the source
  uint64_t macs;
  double seconds;  // of the processor, for compilation
  int *tensors;    // tensors of the program that the caller gives
  size_t tensor_count;
};

// Commands of the text in which loops stand.
uint64_t api_kernel_nodes(const weft_kernel *kernel);
// The keys that every report of a kernel begins with (docs/cli.md).
cJSON *api_kernel_json(const weft_kernel *kernel);

#endif
