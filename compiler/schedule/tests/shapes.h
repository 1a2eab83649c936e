// SPDX-License-Identifier: Apache-2.0
// Block programs for the tests of expansion: matrix products and convolutions with their mappings.
#ifndef COMPILER_SCHEDULE_TESTS_SHAPES_H
#define COMPILER_SCHEDULE_TESTS_SHAPES_H

#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"

typedef struct shapes_gemm {
  int64_t m, n, k;        // sizes
  int64_t tile[3];        // of m, n, k
  bool n_outside;         // the loop over n around the one over m
  bool bias, relu, full;  // full: int32 results
  bool a_transposed, b_transposed;
  int inputs_outside;  // loops outside of the load of inputs: 0 (whole layer) ... 3 (every product)
  int weights_outside;
  int depth[3];  // weights, inputs, results
  float scale;
  bool output_stationary;
  bool loop;  // the hardware's loop unroller
} shapes_gemm;

typedef struct shapes_conv {
  int64_t n, p, q, k, c, window, stride, padding;
  int64_t tile_p, tile_k, tile_c;
  bool k_outside;      // the loop over k around the one over rows
  int inputs_outside;  // of 6 loops: (n, p, k) or (n, k, p) in that order, then r, s, c
  int weights_outside;
  int depth[3];
  float scale;
} shapes_conv;

// Unplaced block programs and the mapping that places them.
block_program *shapes_make_gemm(const shapes_gemm *shape, map_mapping *mapping, wf_diag *diag);
block_program *shapes_make_conv(const shapes_conv *shape, map_mapping *mapping, wf_diag *diag);

// Hoists, places and expands; NULL after an error was reported. The program is changed.
command_program *shapes_compile(block_program *program, const map_mapping *mapping, const hw_array *array,
                                wf_diag *diag);

#endif
