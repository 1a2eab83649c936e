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
  const char *known_tensor;  // whose contents the compiler knows; NULL: none
  const int8_t *known;
} test_source;

// Zeros in a tensor: a matrix of so many columns, of whose DIM x DIM blocks `percent` of 100 are zeros.
typedef struct test_zeros {
  const char *tensor;
  int64_t columns;
  unsigned percent;
  uint64_t seed;
} test_zeros;

// Reads the kernel, compiles it as the heuristic mapper wants and runs its interpreter. False after an error.
bool test_source_open(test_source *s, const char *file, const char *kernel, const char *arguments,
                      const hw_array *array, wf_diag *diag);
// The same with zeros that the compiler knows of when test_source_run is called.
bool test_source_open_pruned(test_source *s, const char *file, const char *arguments, const hw_array *array,
                             const test_zeros *zeros, wf_diag *diag);
void test_source_close(test_source *s);

typedef enum { TEST_REFUSED, TEST_WRONG, TEST_GOOD } test_outcome;
// Compiles with a mapping (NULL: the heuristic one), runs on the engine, compares with the interpreter.
test_outcome test_source_run(const test_source *s, const map_mapping *mapping, const sim_engine_ops *engine,
                             run_oracle_verdict *verdict, wf_diag *diag);
// The same with the heuristic mapping and known weights that are not packed.
test_outcome test_source_run_unpacked(const test_source *s, const sim_engine_ops *engine, run_oracle_verdict *verdict,
                                      wf_diag *diag);

#endif
