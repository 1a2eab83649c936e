// What values indexes take, and whether iterations of a loop touch different elements.
#ifndef COMPILER_BLOCK_RANGE_H
#define COMPILER_BLOCK_RANGE_H

#include "compiler/block/build.h"

typedef struct block_range {
  int64_t min, max;
} block_range;

// Over all iterations that run of all loops.
block_range block_affine_range(const block_program *program, const block_affine *affine);

// Whether two accesses, or two views of one buffer, touch no common element in two different iterations of `loop`.
// `outside` are the loops around it (a bit each): both run in the same iteration of those. False: perhaps not.
bool block_accesses_disjoint(const block_program *program, int loop, uint32_t outside, const block_access *a,
                             const block_access *b);
bool block_views_disjoint(const block_program *program, int loop, uint32_t outside, const block_view *a,
                          const block_view *b);

#endif
