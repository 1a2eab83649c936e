// SPDX-License-Identifier: Apache-2.0
// Compiled kernels.
#ifndef API_KERNEL_H
#define API_KERNEL_H

#include "api/private.h"
#include "compiler/compile.h"

struct weft_kernel {
  weft_array array;  // of which the commands are
  compile_result result;
  char *name, *mapping;
  uint64_t macs;
  double seconds;  // of the processor, for compilation
  int *tensors;    // tensors of the program that the caller gives
  size_t tensor_count;
};

#endif
