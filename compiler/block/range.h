// SPDX-License-Identifier: Apache-2.0
// What values indexes take, and whether iterations of a loop touch different elements.
#ifndef COMPILER_BLOCK_RANGE_H
#define COMPILER_BLOCK_RANGE_H

#include "compiler/block/build.h"

typedef struct block_range {
  int64_t min, max;
} block_range;

// Sums and products that stop at BLOCK_FAR instead of overflowing. No index of a verified program is that far.
#define BLOCK_FAR (INT64_C(1) << 60)

static inline int64_t block_near(int64_t value) {
  return value > BLOCK_FAR ? BLOCK_FAR : value < -BLOCK_FAR ? -BLOCK_FAR : value;
}
static inline int64_t block_plus(int64_t a, int64_t b) { return block_near(block_near(a) + block_near(b)); }
static inline int64_t block_times(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? -BLOCK_FAR : BLOCK_FAR;
  return block_near(product);
}

// Over all iterations that run of all loops.
block_range block_affine_range(const block_program *program, const block_affine *affine);

// Whether two accesses, or two views of one buffer, touch no common element in two different iterations of `loop`.
// `outside` are the loops around it (a bit each): both run in the same iteration of those. False: perhaps not.
bool block_accesses_disjoint(const block_program *program, int loop, uint32_t outside, const block_access *a,
                             const block_access *b);
bool block_views_disjoint(const block_program *program, int loop, uint32_t outside, const block_view *a,
                          const block_view *b);

#endif
