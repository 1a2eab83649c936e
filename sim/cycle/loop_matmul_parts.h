// SPDX-License-Identifier: Apache-2.0
// The parts of loop_matmul: each walks the tiles of one slot and says what its next command is.
//
// A part is started with a filled-in struct, whose counters the start sets. Which parts are busy, and on which slot, is
// loop_matmul's business; advance says whether the command that was taken was the last. 16-bit counters wrap as the
// hardware's do.
#ifndef SIM_CYCLE_LOOP_MATMUL_PARTS_H
#define SIM_CYCLE_LOOP_MATMUL_PARTS_H

#include "sim/cycle/engine.h"

// What all parts of an array have in common.
typedef struct cycle_matmul_geometry {
  uint32_t dim, dim_log2;
  uint32_t row_mask;  // of a local row number
  uint32_t sp_half, acc_half, sp_rows;
  bool later;  // ISA revision 2
  uint16_t blocks, blocks_acc, norm_stats;
} cycle_matmul_geometry;

// By the priority of their commands, but for A and B.
typedef enum {
  CYCLE_MATMUL_STORE,
  CYCLE_MATMUL_EXECUTE,
  CYCLE_MATMUL_D,
  CYCLE_MATMUL_B,
  CYCLE_MATMUL_A,
  CYCLE_MATMUL_PARTS
} cycle_matmul_part;
enum {
  CYCLE_MATMUL_ALL = (1 << CYCLE_MATMUL_PARTS) - 1,
  CYCLE_MATMUL_LOADS = 1 << CYCLE_MATMUL_D | 1 << CYCLE_MATMUL_B | 1 << CYCLE_MATMUL_A
};

// The registers of a loop.
typedef struct cycle_matmul_slot {
  bool configured;
  uint8_t started, done;  // by part
  bool accumulate, full_c, low_d, a_transpose, b_transpose, resadd, to_spad, norm, softmax;
  uint8_t a_id, b_id;
  uint8_t d_half, ex_half, c_half;  // accumulator half of each part
  uint16_t i, j, k, pad_i, pad_j, pad_k;
  uint32_t a_stride, b_stride, c_stride, d_stride, a_row, b_end, c_spad;
  uint64_t a, b, c, d;
  // Rows of the operands, from the start of the slot on.
  uint32_t lda_row, ldb_row, ex_a_row, ex_b_row, a_rows, b_rows;
} cycle_matmul_slot;

typedef struct cycle_matmul_slots {
  cycle_matmul_slot of[2];
  uint8_t next_d_half, next_ex_half, next_c_half;
} cycle_matmul_slots;

void cycle_matmul_slots_reset(cycle_matmul_slots *slots, const cycle_matmul_geometry *g);
// A loop command; true if it starts the loop.
bool cycle_matmul_slot_write(cycle_matmul_slots *slots, unsigned number, const cycle_matmul_geometry *g,
                             const cycle_front_command *command);

static inline bool cycle_matmul_has(unsigned parts, cycle_matmul_part which) { return (parts >> which & 1) != 0; }

// Loads of A, B or D: a rectangle of rows x cols tiles, with up to `blocks` tiles side by side in a command.
typedef struct cycle_matmul_load {
  bool wide;                    // elements of 4 bytes rather than 1
  bool row_is_outer;            // which counter is the tile row
  bool full_height;             // the last row of tiles is not cut
  uint16_t outer, inner;        // the next group; zero when idle
  uint16_t rows, cols, blocks;  // tiles
  uint16_t pad_rows, pad_cols;  // elements
  uint16_t outer_step, inner_step, outer_end, inner_end;
  uint32_t first, stride;
  uint32_t flags;  // of the local address: accumulator, accumulate
  uint64_t base;
} cycle_matmul_load;

void cycle_matmul_load_start(cycle_matmul_load *load, const cycle_matmul_load *start);
void cycle_matmul_load_command(const cycle_matmul_load *load, const cycle_matmul_geometry *g,
                               cycle_front_command *command);
bool cycle_matmul_load_advance(cycle_matmul_load *load);

// Products: for k, j, i (i innermost) a preload and a compute per tile.
typedef struct cycle_matmul_execute {
  bool compute;  // the next command is the compute of the tile
  bool a_transpose, b_transpose, accumulate;
  uint16_t i, j, k;  // the next tile; zero when idle
  uint16_t end_i, end_j, end_k, pad_i, pad_j, pad_k;
  uint32_t a_row, b_row, c_row;
} cycle_matmul_execute;

void cycle_matmul_execute_start(cycle_matmul_execute *x, const cycle_matmul_execute *start);
void cycle_matmul_execute_command(const cycle_matmul_execute *x, const cycle_matmul_geometry *g,
                                  cycle_front_command *command);
bool cycle_matmul_execute_advance(cycle_matmul_execute *x);

// Stores of C, with statistics in three passes over every row where the activation needs them.
typedef struct cycle_matmul_store {
  bool full;     // int32 rather than scaled int8
  bool to_spad;  // C stays in the scratchpad
  bool whole;    // waits until the products of the slot are all emitted
  bool norm, softmax;
  bool config;  // statistics: the next command selects the row's set
  uint8_t pass;
  uint16_t i, j, group, set;  // group: first row of the statistics group
  uint16_t end_i, end_j, last_k, pad_i, pad_j, blocks;
  uint32_t c_row, spad_row, stride;
  uint64_t base;
} cycle_matmul_store;

// How far what produces C has come.
typedef struct cycle_matmul_made {
  bool done, by_rows;  // by_rows: a residual addition, i outer and j inner
  uint16_t k, j, i;
} cycle_matmul_made;

void cycle_matmul_store_start(cycle_matmul_store *st, const cycle_matmul_geometry *g, const cycle_matmul_store *start);
bool cycle_matmul_store_may(const cycle_matmul_store *st, const cycle_matmul_made *made);
void cycle_matmul_store_command(const cycle_matmul_store *st, const cycle_matmul_geometry *g,
                                cycle_front_command *command);
bool cycle_matmul_store_advance(cycle_matmul_store *st, const cycle_matmul_geometry *g);

// rows, columns and local address of a command on local memory
static inline uint64_t cycle_matmul_operand(uint16_t rows, uint16_t cols, uint32_t local) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | local;
}

#endif
