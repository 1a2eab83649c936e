// SPDX-License-Identifier: Apache-2.0
// Inside the load path: its state, and what load_path.c shares with skip/whole.c.
#ifndef SIM_CYCLE_LOAD_PATH_INSIDE_H
#define SIM_CYCLE_LOAD_PATH_INSIDE_H

#include "sim/cycle/beat_merger.h"
#include "sim/cycle/engine.h"
#include "sim/cycle/mvin_scale.h"
#include "sim/cycle/pixel_repeater.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/zero_writer.h"

// Bytes for a local row: `count` of them, the first one for lane (int32: byte) `first`.
typedef struct cycle_piece {
  const uint8_t *bytes;
  uint32_t row, first, count;
  bool is_acc, accumulate;
} cycle_piece;

struct cycle_load_path {
  bool whole;          // bursts are written as a whole
  uint32_t bursts;     // then: of the merger's ring, the newest is the one at work
  uint64_t lag[2];     // int8, int32: cycles from the merger to the write
  uint64_t wide_free;  // while bursts are written as a whole: when the register of int32 rows is free
  cycle_path_end narrow_end, wide_end, zero_end;
  cycle_merger merger;
  cycle_mvin_scale narrow, wide;
  cycle_zero_writer zeros;
  cycle_queue issue;
  cycle_load_row *issued;  // by slot
  uint32_t sp_mask, acc_mask, dim;
  int32_t *extended;  // a narrow row for the accumulator
};

void cycle_load_path_fill_end(cycle_mvin_scale *from, cycle_path_end *end);
// The next row of a burst leaves the merger in cycle `at`.
void cycle_load_path_enter(struct cycle_load_path *p, cycle_burst_rows *b, uint64_t at);
// All that can be known about rows in the stages is worked out.
void cycle_load_path_settle(struct cycle_load_path *p);
// Sets the wake time.
void cycle_load_path_find_next_write(cycle_engine *c, struct cycle_load_path *p);
// The bytes go to their row.
void cycle_load_path_move_narrow(cycle_engine *c, const cycle_piece *w);
void cycle_load_path_move_wide(cycle_engine *c, const cycle_piece *w);
// What is written of the item at the end of a path: of a copy the lanes that are not shifted out of the row.
cycle_piece cycle_load_path_piece_of(const cycle_path_end *e, uint32_t lanes);
// A write that was refused asks again in the next cycle.
void cycle_load_path_wait(cycle_path_end *e, uint64_t now);
// To the load controller.
void cycle_load_path_answer(cycle_engine *c, uint16_t bytes, uint8_t cmd);
// A row was written in cycle `at`, in which no other unit can have asked for its bank.
void cycle_load_path_wrote(cycle_engine *c, bool is_acc, uint32_t row, uint64_t at);
// Asks for the bank of a row; true: it is written in this cycle.
bool cycle_load_path_take_bank(cycle_engine *c, uint64_t now, bool wide, bool is_acc, uint32_t row, bool accumulate);
// Takes the burst on the bus.
void cycle_load_path_open_burst(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

#endif
