// SPDX-License-Identifier: Apache-2.0
// Programs in parts that follow each other: a part loads what an earlier one stored, so that a fence stands between.
#ifndef COMPILER_BLOCK_PART_H
#define COMPILER_BLOCK_PART_H

#include "compiler/block/block.h"

typedef struct block_part {
  block_program program;  // that of the whole, with the statements of the part
  const bool *buffers;    // by number: whether a statement of the part names the buffer
  struct block_part *next;
} block_part;

// At least one. Constants that stay for all parts are loaded in each.
block_part *block_parts_of(const block_program *program, wf_arena *arena);

#endif
