// SPDX-License-Identifier: Apache-2.0
// The loop unrollers as pure data: LOOP_WS and LOOP_CONV_WS turned into primitive commands.
//
// A loop unit has two slots of configuration registers. Configuration commands write the current slot, the run command
// takes a snapshot of it (the plan) and moves on to the other slot. Nothing here executes or touches memory.
//
// A plan has several parts (load A, execute, store C, ...), each a sequence of primitives of its own: `next` walks one
// part with a cursor, so that an engine with timing can interleave the parts as its arbiter does. The `parts` order of
// the enumerations is the functional order: running the parts one after the other gives the result of the loop.
//
// A plan may need rows that the array does not have: `next` then reports ARCH_LOOP_NO_ROW instead of a command whose
// address has wrapped.
#ifndef ARCH_LOOPS_LOOPS_H
#define ARCH_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/command.h"
#include "hw/array.h"
#include "isa/isa_fields.h"

enum { ARCH_LOOP_SLOTS = 2 };

typedef enum {
  ARCH_LOOP_COMMAND,  // *out is the next primitive
  ARCH_LOOP_END,      // the part has no more
  ARCH_LOOP_NO_ROW,   // the next primitive would start at cursor->row of `accumulator`, which does not exist
} arch_loop_result;

// Where a part stands. Zero is its beginning; `index` holds the loop counters, outermost first.
typedef struct arch_loop_cursor {
  bool started, done;
  bool fresh;      // execute: the weights of this block have not been used yet
  unsigned phase;  // of the commands that belong to one position
  int32_t index[7];
  bool accumulator;
  int64_t row;
} arch_loop_cursor;

// --- LOOP_WS ---------------------------------------------------------------------------------------------------------

// The functional order. D comes first so that a D given to a residual addition cannot overwrite its sums, as in
// hardware.
typedef enum {
  ARCH_LOOP_WS_LOAD_D,
  ARCH_LOOP_WS_LOAD_A,
  ARCH_LOOP_WS_LOAD_B,
  ARCH_LOOP_WS_EXECUTE,
  ARCH_LOOP_WS_STORE,
  ARCH_LOOP_WS_PARTS
} arch_loop_ws_part;

typedef struct arch_loop_ws_slot {
  uint32_t i, j, k, pad_i, pad_j, pad_k;
  uint64_t a, b, c, d;
  uint64_t a_stride, b_stride, c_stride, d_stride;  // elements
  uint32_t a_row, b_end;                            // scratchpad rows when no spad id is given
} arch_loop_ws_slot;

typedef struct arch_loop_ws {
  arch_loop_ws_slot slots[ARCH_LOOP_SLOTS];
  unsigned current;
  bool d_half, ex_half, c_half;  // accumulator half of the next loop, kept by each part on its own
} arch_loop_ws;

typedef struct arch_loop_ws_plan {
  const hw_derived *derived;
  arch_command run;
  arch_loop_ws_slot slot;
  bool runs[ARCH_LOOP_WS_PARTS];
  bool ex_accumulate, full_c, low_d, a_transpose, b_transpose, resadd, spad_only;
  uint32_t activation;
  uint32_t c_spad;
  int64_t a_row, b_row, ex_a_row, ex_b_row, d_row, ex_c_row, c_row;
} arch_loop_ws_plan;

void arch_loop_ws_reset(arch_loop_ws *loop, const hw_derived *derived);
// A configuration command of the unit.
void arch_loop_ws_configure(arch_loop_ws *loop, isa_id id, uint64_t rs1, uint64_t rs2);
// The run command (ISA_LOOP_WS_R1 or _R2). The plan borrows `derived`.
void arch_loop_ws_run(arch_loop_ws *loop, const hw_derived *derived, isa_id id, const arch_command *run,
                      arch_loop_ws_plan *plan);
// Why the plan cannot run on any array, NULL if it can: sizes of zero, paddings of a tile or more.
const char *arch_loop_ws_fault(const arch_loop_ws_plan *plan);
arch_loop_result arch_loop_ws_next(const arch_loop_ws_plan *plan, arch_loop_ws_part part, arch_loop_cursor *cursor,
                                   arch_command *out);

// --- LOOP_CONV_WS ----------------------------------------------------------------------------------------------------

typedef enum {
  ARCH_LOOP_CONV_LOAD_BIAS,
  ARCH_LOOP_CONV_LOAD_INPUT,
  ARCH_LOOP_CONV_LOAD_WEIGHTS,
  ARCH_LOOP_CONV_EXECUTE,
  ARCH_LOOP_CONV_STORE,
  ARCH_LOOP_CONV_PARTS
} arch_loop_conv_part;

typedef struct arch_loop_conv_slot {
  uint32_t batch_size, in_rows, in_cols, in_channels, out_channels, out_rows, out_cols, pool_out_rows, pool_out_cols;
  uint32_t in_stride, weight_stride, out_stride;  // elements between two pixels
  uint32_t stride, kernel, kernel_dilation, pool_size, pool_stride;
  uint32_t batches, porows, pocols, pochs, krows, kcols, kchs, orows, ocols;
  uint32_t lpad, rpad, upad, dpad, plpad, pupad;
  uint64_t bias, input, weights, output;
} arch_loop_conv_slot;

typedef struct arch_loop_conv {
  arch_loop_conv_slot slots[ARCH_LOOP_SLOTS];
  unsigned current;
  bool half;
} arch_loop_conv;

typedef struct arch_loop_conv_plan {
  const hw_derived *derived;
  arch_command run;
  arch_loop_conv_slot slot;
  unsigned revision;
  bool no_bias, wrot180, trans_output_1203, trans_weight_1203, trans_weight_0132, trans_input_3120, depthwise;
  bool no_pool, downsample, input_dilated;
  uint32_t activation;
  int32_t pixels;  // kernel columns folded into K
  int64_t a_row, b_row, c_row;
  // Sizes that follow from the slot, in rows of local memory or pixels.
  int32_t irows, icols, irows_unpadded, icols_unpadded, upad, dpad, lpad, rpad;
  int64_t bias_block, input_block, weight_block;
} arch_loop_conv_plan;

void arch_loop_conv_reset(arch_loop_conv *loop);
void arch_loop_conv_configure(arch_loop_conv *loop, isa_id id, uint64_t rs1, uint64_t rs2);
void arch_loop_conv_run(arch_loop_conv *loop, const hw_array *array, const hw_derived *derived, isa_id id,
                        const arch_command *run, arch_loop_conv_plan *plan);
// Why the plan cannot run on any array, NULL if it can.
const char *arch_loop_conv_fault(const arch_loop_conv_plan *plan);
// The config_st around pooled stores: with `pool` it switches pooling on, without it off. Both keep the accumulator
// scale.
void arch_loop_conv_config_st(const arch_loop_conv_slot *slot, uint32_t activation, uint64_t stride_bytes, bool pool,
                              uint64_t *rs1, uint64_t *rs2);
arch_loop_result arch_loop_conv_next(const arch_loop_conv_plan *plan, arch_loop_conv_part part,
                                     arch_loop_cursor *cursor, arch_command *out);

#endif
