// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the pass fuse.
#ifndef COMPILER_PASSES_FUSE_H
#define COMPILER_PASSES_FUSE_H

#include "compiler/mapping/mapping.h"
#include "compiler/passes/fuse_value.h"

// What became of a load or product: kept as it is (operand, or stored as it came), or part of a sum.
typedef struct fuse_use {
  const block_statement *statement;
  bool kept, scaled;
  float scale;
  int accumulator;         // of the sum, or BLOCK_NONE
  const fuse_term *terms;  // of the sum
} fuse_use;

// A constant: DIM x DIM, a number on its diagonal, zeros beside it.
typedef struct fuse_unit {
  int64_t number;
  int buffer;
  block_statement *load;
} fuse_unit;

typedef struct fuse_pass {
  block_program *program;
  const hw_array *array;
  const map_mapping *mapping;  // or NULL
  fuse_value *value;           // of each buffer
  bool *accumulators;          // buffers that sums were given
  fuse_use *uses;
  size_t use_count, use_room;
  fuse_unit *units;
  size_t unit_count, unit_room;
  fuse_context c;
} fuse_pass;

bool fuse_refuse(fuse_pass *f, wf_location where, const char *what, const char *hint);
fuse_use *fuse_use_of(fuse_pass *f, const block_statement *statement);
bool fuse_is_same_size(const fuse_pass *f, int a, int b);
// Whether a load may move in front of `to`, both in `list`: no statement in between stores to its tensor.
bool fuse_can_move(const fuse_pass *f, const block_statement *list, const block_statement *load,
                   const block_statement *to);

// Whether any statement stores to the tensor.
bool fuse_is_stored(const fuse_pass *f, int tensor);

// Makes the sum in front of the store; its accumulator, or BLOCK_NONE after an error.
int fuse_make_sum(fuse_pass *f, block_statement **list, block_statement *store, const fuse_sum *sum);
// Whether a term of a sum becomes products with constants: see map_multiplies.
bool fuse_is_multiplied(const fuse_pass *f, const fuse_sum *sum, const fuse_term *term);
// Adds the loads of a sum that are multiplied, in front of the store; `overwrite`: nothing has set the accumulator yet.
bool fuse_put_multiples(fuse_pass *f, block_statement **list, const block_statement *store, const fuse_sum *sum,
                        bool overwrite, int accumulator);
// The access of a block with size 1 in a dimension where the buffer has more: the element is repeated.
bool fuse_spread(fuse_pass *f, const block_statement *load, const block_buffer *to, block_access *access);
// Loads what the largest is taken of in front of the store, which pools it.
bool fuse_store_largest(fuse_pass *f, block_statement **list, block_statement *store, const fuse_value *value);

#endif
