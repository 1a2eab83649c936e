// SPDX-License-Identifier: Apache-2.0
// Tests of random kernels: engines have to leave what the kernel's interpreter says, byte by byte.
#ifndef COMPILER_TESTS_DRAWN_H
#define COMPILER_TESTS_DRAWN_H

#include "runner/oracle.h"

// What main was called with: "rtl": a few programs on that engine, too; a number: so many programs.
typedef struct drawn_options {
  int programs;
  bool rtl;
} drawn_options;
drawn_options drawn_options_of(int argc, char **argv, int programs, int rtl_programs);

// The array of program `number`.
bool drawn_array(const drawn_options *options, int number, hw_array *array);

typedef struct drawn_kernel {
  const char *file, *text;
  uint64_t seed;  // of its tensors
  lang_args arguments;
  const hw_array *array;
  bool rtl;
  // What else holds of the compiled kernel and the interpreter's results; NULL: nothing.
  bool (*holds)(const void *program, const compile_result *compiled, const run_oracle *oracle);
  const void *program;
} drawn_kernel;
// Compiles and runs it on `ref`, `cycle` and, if asked to, `rtl`. False: it prints what is wrong, and the text.
bool drawn_run(const drawn_kernel *kernel);

#endif
