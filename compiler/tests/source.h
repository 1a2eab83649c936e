// SPDX-License-Identifier: Apache-2.0
// Kernels under test: a file of workloads/kernels with values for its parameters, on one array, with the tensors that
// all its compilations share.
#ifndef COMPILER_TESTS_SOURCE_H
#define COMPILER_TESTS_SOURCE_H

#include "runner/oracle.h"

typedef struct test_source {
  char path[256];
  char *text;
  size_t length;
  const char *kernel;  // of the file; NULL: the only one
  wf_arena *arena;
  const char *arguments;  // for the array, as text
  lang_args args;         // and read
  const hw_array *array;
  map_layer layer;  // after test_source_open, if `mapped`
  bool mapped;
  run_oracle expected;
} test_source;

// Reads the kernel, compiles it as the heuristic mapper wants and runs its interpreter. False after an error.
bool test_source_open(test_source *s, const char *file, const char *kernel, const char *arguments,
                      const hw_array *array, wf_diag *diag);
void test_source_close(test_source *s);

typedef enum { TEST_REFUSED, TEST_WRONG, TEST_GOOD } test_outcome;
// Compiles with a mapping (NULL: the heuristic one), runs on the engine, compares with the interpreter.
test_outcome test_source_run(const test_source *s, const map_mapping *mapping, const sim_engine_ops *engine,
                             run_oracle_verdict *verdict, wf_diag *diag);

#endif
