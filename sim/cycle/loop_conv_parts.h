// SPDX-License-Identifier: Apache-2.0
// Inside loop_conv: the registers of a tile and the five parts that work on it.
//
// A part is the body of one RTL module weft_loop_conv_X: called once for every command that enters its two-stage
// pipeline (and for every position that passes without one), it writes the command at its counters and moves them on.
// Counters and sizes are numbers of 16 bits, kept in 32: what the hardware cuts off is cut off with cycle_conv_cut.
#ifndef SIM_CYCLE_LOOP_CONV_PARTS_H
#define SIM_CYCLE_LOOP_CONV_PARTS_H

#include "arch/config.h"
#include "arch/loops/loops.h"
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/queue.h"

// In the order of their priority at the output.
typedef enum {
  CYCLE_CONV_STORE,
  CYCLE_CONV_EXECUTE,
  CYCLE_CONV_BIAS,
  CYCLE_CONV_WEIGHTS,
  CYCLE_CONV_INPUT,
  CYCLE_CONV_PARTS
} cycle_conv_part_id;

// What the parts know of the array.
typedef struct cycle_conv_shape {
  uint32_t dim, dim_log2;
  uint32_t widest, widest_acc;  // elements of the widest load
  uint32_t row_mask;            // row numbers wrap
  uint32_t sp_rows, acc_rows;
  bool later;  // ISA revision 2
} cycle_conv_shape;

// A slot: its registers, and what cycle_conv_derive makes of them when the tile is run.
typedef struct cycle_conv_tile {
  arch_loop_conv_slot r;
  bool no_bias, wrot180, trans_output_1203, trans_weight_1203, trans_weight_0132, trans_input_3120, depthwise;
  bool no_pool, downsample, input_dilated;
  uint8_t activation, a_half, b_half;
  bool half;                                                                      // of the accumulator
  uint32_t pixels;                                                                // kernel columns folded into K
  uint32_t irows, icols, irows_unpadded, icols_unpadded, upad, dpad, lpad, rpad;  // of the input as it is stored
  uint32_t plane;  // local rows of one image, one block of channels
  uint32_t bias_block, input_block, weight_block;
  uint32_t a_row, a_rows, b_row, b_rows, c_row;
} cycle_conv_tile;

typedef struct cycle_conv_command {
  uint64_t rs1, rs2;
  uint8_t insn;  // isa_id
} cycle_conv_command;

typedef struct cycle_conv_part {
  cycle_queue pipe;
  cycle_conv_command commands[2];
  const cycle_conv_tile *tile;  // of the slot being worked on
  uint32_t och, krow, kcol, kch, b, row, col;
  bool silent;   // the part moves on without a command: nothing to load or store, or between the pixels of its input
  bool config;   // the configuration command in front is due
  bool after;    // stores: the configuration command at the end is due
  bool compute;  // products: the preload of this position was emitted
  bool fresh;    // products: the weights of this block are not in the array yet
} cycle_conv_part;

static inline uint32_t cycle_conv_cut(uint32_t x) { return x & UINT16_MAX; }

static inline uint64_t cycle_conv_operand(uint32_t rows, uint32_t cols, uint32_t local) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | local;
}

// Moves a counter on; true when it starts over.
static inline bool cycle_conv_wraps(uint32_t *counter, bool last, uint32_t step) {
  *counter = last ? 0 : cycle_conv_cut(*counter + step);
  return last;
}

void cycle_conv_derive(const cycle_conv_shape *shape, cycle_conv_tile *tile);

// config_ld of a load state.
void cycle_conv_config_ld(uint32_t state, uint64_t stride, uint32_t block_stride, uint32_t pixel_repeats,
                          cycle_conv_command *out);

// The part begins with the tile; its counters are zero, `config` and `fresh` set. Whether it is silent is told here.
typedef void cycle_conv_begin(const cycle_conv_shape *shape, cycle_conv_part *part);
// One step of the part, true while it has another one. `out` is NULL if and only if it is silent.
typedef bool cycle_conv_step(const cycle_conv_shape *shape, cycle_conv_part *part, cycle_conv_command *out);

cycle_conv_begin cycle_conv_bias_begin, cycle_conv_input_begin, cycle_conv_weights_begin, cycle_conv_execute_begin,
    cycle_conv_store_begin;
cycle_conv_step cycle_conv_bias_step, cycle_conv_input_step, cycle_conv_weights_step, cycle_conv_execute_step,
    cycle_conv_store_step;

#endif
