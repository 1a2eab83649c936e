// SPDX-License-Identifier: Apache-2.0
// An operation of the execute unit, and the steps of it that wait in the control queue. Vectors of three are A, B, D
// from element (and bit) 0 up.
#ifndef SIM_CYCLE_EXECUTE_OPERATION_H
#define SIM_CYCLE_EXECUTE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_EXECUTE_OPERANDS = 3, CYCLE_EXECUTE_ALL = 7, CYCLE_EXECUTE_CONTROL = 32 };

typedef enum { CYCLE_OP_NONE, CYCLE_OP_PRELOAD, CYCLE_OP_BOTH, CYCLE_OP_COMPUTE } cycle_execute_op_kind;

typedef struct cycle_execute_tag {
  uint32_t base;
  uint8_t id;
  bool valid;  // names a product
  bool acc, accumulate;
  uint8_t rows, cols;
} cycle_execute_tag;

// What fired in one cycle; `row` is the step of the walk, the same for all that fired together. Steps of a plain
// operation in consecutive cycles are one entry, of which only the first can be the first of the operation.
typedef struct cycle_execute_control {
  uint64_t ready;  // from this cycle on the scratchpad rows of the first step are there
  uint32_t steps;
  uint8_t op;
  bool first, uneven;             // uneven: not a step of a plain operation in which all fire
  uint8_t fire, waits, from_acc;  // `waits` have a row, `from_acc` out of the accumulator
  uint8_t row;
} cycle_execute_control;

// All that an operation needs from its start until its last row is in the mesh. Steps are those of the walk over its
// rows.
typedef struct cycle_execute_operation {
  // What every step of the walk needs. Plain: all operands that are read come from the scratchpad, each from one bank
  // and from another one. The steps before run_end: the same operands have a row, given in `control.waits`.
  bool plain;
  uint8_t total;
  uint8_t run_end;
  uint8_t rows_read;              // operands that have a row
  uint64_t all_banks;             // theirs
  cycle_execute_control control;  // of a step in which all fire together; ready: from the cycle of the step on
  int8_t *tile[3];                // rows as they were read, each cut to its columns; NULL in timing-only mode
  uint32_t first[3];              // row number in step 0
  uint32_t step[3];
  uint8_t rows[3], cols[3];  // as they lie in local memory, rows at most dim
  uint8_t kind;
  uint8_t read, acc, via;
  bool os, swaps;
  bool spread;  // a scratchpad operand crosses banks, so `banks` and `fires` change from step to step
  bool even;    // every operand that is read has a row in every step
  uint8_t shift;
  bool has_conflicts;        // `fires` is there
  uint8_t fires[8];          // which of the operands that wait fire; the others conflict with one of these
  uint64_t banks[3];         // scratchpad bank, as a mask; 0: not read from there
  uint8_t from[3], past[3];  // steps in which the operand has a row
  cycle_execute_tag tag;
} cycle_execute_operation;

#endif
