// SPDX-License-Identifier: Apache-2.0
// What the blocks of a kernel stand for, in terms of what the accelerator can do on the way in and out; for fuse.c.
//
// A value is a number, what a load brings (perhaps scaled and rounded), or a sum of products and loads, perhaps with
// relu, scaling and rounding after it. Operations on values give values or a reason why the hardware has no such thing.
#ifndef COMPILER_PASSES_FUSE_VALUE_H
#define COMPILER_PASSES_FUSE_VALUE_H

#include "compiler/block/build.h"

typedef enum {
  FUSE_NOTHING,  // not written here, or in a way that leaves nothing to name
  FUSE_NUMBER,
  FUSE_LOADED,
  FUSE_CARRIED,  // what a buffer has at the start of an iteration of a loop that writes it
  FUSE_SUM,
  FUSE_LARGEST,  // of the elements that some loads bring in all iterations of some loops
} fuse_kind;

// A product or load whose results are added up. One inside loops stays where it is; a load outside of them is free to
// move to the front of the sum.
typedef struct fuse_term {
  block_statement *statement;
  block_statement *top;  // what holds it in the list of the sum: itself or a loop
  uint32_t loops;        // between the two
  bool scaled;           // a load of int8, scaled and rounded
  float scale;
  bool narrow;     // a load of int8
  int64_t factor;  // of a load of int8, outside of loops; 1 if it is added as it is
} fuse_term;

// A factor becomes products with numbers that int8 holds, FUSE_FACTOR_PARTS at most.
enum { FUSE_FACTOR_PART = INT8_MAX, FUSE_FACTOR_PARTS = 32, FUSE_FACTOR_MAX = FUSE_FACTOR_PART * FUSE_FACTOR_PARTS };

typedef struct fuse_sum {
  fuse_term *terms;
  int count;
  int carried;          // and what this buffer has at the start of the iteration, or BLOCK_NONE
  uint32_t overwrites;  // but not in the first iteration of these loops
} fuse_sum;

typedef struct fuse_value {
  fuse_kind kind;
  block_type type;
  double number;
  block_statement *load;    // FUSE_LOADED
  block_statement **loads;  // FUSE_LARGEST
  int load_count;
  uint32_t loops;  // FUSE_LARGEST
  int carried;     // FUSE_CARRIED, FUSE_LARGEST: buffer or BLOCK_NONE
  fuse_sum sum;
  bool relu, scaled, clamped;  // clamped: minimum or maximum that saturation does anyway, if that comes next
  float scale;
  // FUSE_SUM that was rounded to int8: times the int8 that a load brings, the product perhaps scaled.
  block_statement *gate;
  bool gate_scaled;
  float gate_scale;
  bool widened;  // FUSE_SUM that was rounded to int8 and is int32 again: all that can be is multiplied by a load
} fuse_value;

// What operations report to.
typedef struct fuse_context {
  wf_arena *arena;
  wf_diag *diag;
  wf_location where;
  bool gate;  // the array multiplies by rows of the scratchpad (units.gate)
} fuse_context;

fuse_value fuse_number(double number, block_type type);
fuse_value fuse_loaded(block_statement *load, block_type type);
fuse_value fuse_product(fuse_context *c, block_statement *dot);
fuse_value fuse_carried(int buffer, block_type type);

// Reports what a widened value cannot be; false.
bool fuse_refuse_widened(fuse_context *c);
// Each replaces `value` by the result, or reports why it cannot.
bool fuse_to_sum(fuse_context *c, fuse_value *value);
// A loaded int8 block as a sum that leaves as int8.
void fuse_to_i8_sum(fuse_context *c, fuse_value *value);
bool fuse_add(fuse_context *c, fuse_value *value, const fuse_value *other);
bool fuse_apply(fuse_context *c, block_op op, block_type result, fuse_value *value, const fuse_value *other);
// A sum that overwrites the buffer in the first iteration of the loops, and adds to it in others.
bool fuse_overwrite(fuse_context *c, uint32_t loops, int buffer, const fuse_value *before, fuse_value *value);
// What a buffer has after a loop over whose body it went from `before` (or what it carries) to `value`.
bool fuse_after_loop(fuse_context *c, block_statement *loop, const fuse_value *before, fuse_value *value);

#endif
