// Shared by the files of the pass fuse.
#ifndef COMPILER_PASSES_FUSE_H
#define COMPILER_PASSES_FUSE_H

#include "compiler/passes/fuse_value.h"

// What became of a load or product: kept as it is (operand, or stored as it came), or part of a sum.
typedef struct fuse_use {
  const block_statement *statement;
  bool kept, scaled;
  float scale;
  int accumulator;         // of the sum, or BLOCK_NONE
  const fuse_term *terms;  // of the sum
} fuse_use;

typedef struct fuser {
  block_program *program;
  fuse_value *value;   // of each buffer
  bool *accumulators;  // buffers that sums were given
  fuse_use *uses;
  size_t use_count, use_room;
  fuse_context c;
} fuser;

bool fuse_refuse(fuser *f, wf_location where, const char *what, const char *hint);
fuse_use *fuse_use_of(fuser *f, const block_statement *statement);
bool fuse_is_same_size(const fuser *f, int a, int b);
// Whether a load may move in front of `to`, both in `list`: nobody stores to its tensor in between.
bool fuse_can_move(const fuser *f, const block_statement *list, const block_statement *load, const block_statement *to);

// Whether any statement stores to the tensor.
bool fuse_is_stored(const fuser *f, int tensor);

// Makes the sum in front of the store; its accumulator, or BLOCK_NONE after an error.
int fuse_make_sum(fuser *f, block_statement **list, block_statement *store, const fuse_sum *sum);
// Loads what the largest is taken of in front of the store, which pools it.
bool fuse_store_largest(fuser *f, block_statement **list, block_statement *store, const fuse_value *value);

#endif
