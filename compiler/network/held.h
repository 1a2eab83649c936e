// SPDX-License-Identifier: Apache-2.0
// Products whose sums stay in the accumulator until the hart has them stored, each row with a scale of its own.
//
// A store has one scale, and the hart can give every row a store: what is left of a softmax (QShare) is a division by
// one sum per row. The program multiplies pairs of matrices and stores nothing; the step behind it is the hart's,
// WEFT_HOST_QLEAVE. Whole blocks of rows of all pairs lie one behind the other, then what is left of each pair's rows.
#ifndef COMPILER_NETWORK_HELD_H
#define COMPILER_NETWORK_HELD_H

#include "compiler/network/unit.h"
#include "weft/host_ops.h"

#define NETWORK_HELD_WEIGHTS "w_ptr"

// Elements from one matrix to the next, and from row to row.
typedef struct network_held_lie {
  int64_t step, pitch;
} network_held_lie;

typedef struct network_held {
  int64_t pairs, rows, cols, depth;  // of the result, and of the sums
  network_held_lie x, weights;
} network_held;

// Whether the array can, with matrices of this depth and so many columns.
bool network_held_fits(int64_t depth, int64_t cols, const hw_array *array);
// Blocks of rows that the accumulator holds at one time.
int64_t network_held_blocks(int64_t cols, const hw_array *array);
command_program *network_held_program(const network_unit *unit, const hw_array *array);

// What QLEAVE says of the accumulator in integer[1].
int64_t network_held_shape(int64_t cols, const hw_array *array);
// The commands that a call of QLEAVE gives. Its data lie in the memory of this machine; results are the one tensor of
// the program, counted from the first one on.
command_program *network_held_leave(const struct weft_host_call *call, const hw_array *array);

#endif
