// SPDX-License-Identifier: Apache-2.0
// Random block programs and data for tests: products and convolutions as a front end lowers them, with ragged sizes and
// chains of element-wise operations that the accelerator can do on the way in and out.
#ifndef COMPILER_BLOCK_RANDOM_H
#define COMPILER_BLOCK_RANDOM_H

#include "compiler/block/block.h"

typedef enum {
  BLOCK_RANDOM_GEMM,
  BLOCK_RANDOM_CONV,
  BLOCK_RANDOM_POOL,
  BLOCK_RANDOM_ADD,
  BLOCK_RANDOM_KINDS
} block_random_kind;

typedef struct block_random_options {
  block_random_kind kind;  // BLOCK_RANDOM_KINDS: any
  int64_t dim;             // columns of blocks are multiples of it, or all there are
  int64_t size_max;        // of a dimension of a matrix product
} block_random_options;

// The text of a program; to be freed with free. *seed is the state of the generator, not 0.
char *block_random_text(uint64_t *seed, const block_random_options *options);
block_program *block_random(uint64_t *seed, const block_random_options *options);

// Memory for the tensors of a program, filled at random: int8 over the whole range, int32 mostly small. A table with a
// NULL behind the last; to be freed with block_random_free.
void **block_random_tensors(const block_program *program, uint64_t seed);
void block_random_free(void **tensors);

#endif
