// SPDX-License-Identifier: Apache-2.0
// Programs for the tests: a matrix product written straight, and random ones.
#ifndef COMPILER_COMMAND_TESTS_SAMPLE_H
#define COMPILER_COMMAND_TESTS_SAMPLE_H

#include "compiler/command/command.h"

typedef struct sample_gemm {
  unsigned m, n, k;
  float scale;
  bool stray_config;  // repeat configuration that is in force already
} sample_gemm;

// C[m][n] = int8(scale * A[m][k] B[k][n]), straight: every tile of A and B is loaded for every product, in turns into
// one of four places. Tensors a, b and c.
command_program *sample_gemm_program(const hw_array *array, const sample_gemm *gemm);

// The same in plain C.
void sample_gemm_plain(const sample_gemm *gemm, const int8_t *a, const int8_t *b, int8_t *c);

// A program with random nested loops, random steps and ragged edges, of commands that only look like ones. Not legal.
command_program *sample_random_program(const hw_array *array, uint64_t seed);

uint64_t sample_random(uint64_t *state);
// Whether both give the same sequence of commands and fences.
bool sample_same(const command_program *a, const command_program *b);

#endif
