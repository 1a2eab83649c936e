// Inside the load path: its state, and what load_path.c, load_streams.c and load_whole.c share.
#ifndef SIM_CYCLE_LOAD_PATH_INSIDE_H
#define SIM_CYCLE_LOAD_PATH_INSIDE_H

#include "sim/cycle/load_path.h"

// Bytes for a local row: `count` of them, the first one for lane (int32: byte) `first`.
typedef struct cycle_piece {
  const uint8_t *bytes;
  uint32_t row, first, count;
  bool is_acc, accumulate;
} cycle_piece;

struct cycle_load_path {
  bool whole;             // streams are written burst by burst
  uint32_t streams;       // bursts of the merger's ring, the newest is the one at work
  uint64_t stream_write;  // cycle in which the next row of the oldest stream is written
  uint64_t lag[2];        // int8, int32: cycles from the merger to the write
  uint64_t wide_free;     // while streams are written burst by burst: when the register of int32 rows is free
  cycle_path_end narrow_end, wide_end, zero_end;
  cycle_merger merger;
  cycle_mvin_scale narrow, wide;
  cycle_zero_writer zeros;
  cycle_queue issue;
  cycle_load_row *issued;  // by slot
  uint32_t sp_mask, acc_mask, dim;
  int32_t *extended;  // a narrow row for the accumulator
};

// ---- load_path.c

void path_fill_end(cycle_mvin_scale *from, cycle_path_end *end);
// The next row of a burst leaves the merger in cycle `at`.
void path_enter(struct cycle_load_path *p, cycle_burst_rows *b, uint64_t at);
// All that can be known about rows in the stages is worked out.
void path_settle(struct cycle_load_path *p);
// Sets the wake time.
void path_find_next_write(cycle_engine *c, struct cycle_load_path *p);
// The bytes go to their row.
void path_move_narrow(cycle_engine *c, const cycle_piece *w);
void path_move_wide(cycle_engine *c, const cycle_piece *w);
// What is written of the item at the end of a path: of a copy the lanes that are not shifted out of the row.
cycle_piece path_piece_of(const cycle_path_end *e, uint32_t lanes);
// A write that waits asks again in the next cycle. Always false.
bool path_wait(cycle_path_end *e, uint64_t now);
// To the load controller.
void path_answer(cycle_engine *c, uint16_t bytes, uint8_t cmd);
// A row was written in cycle `at`, and nobody else can have been in its way.
void path_wrote(cycle_engine *c, bool is_acc, uint32_t row, uint64_t at);
// Asks for the bank of a row. While the port lags nobody else does, now or later.
bool path_take_bank(cycle_engine *c, uint64_t now, bool wide, bool is_acc, uint32_t row, bool accumulate);
// Takes the burst on the bus.
void path_open_burst(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

// ---- load_streams.c

cycle_burst_rows *path_oldest_stream(struct cycle_load_path *p);
void path_find_stream_write(struct cycle_load_path *p);
// Streams become rows in the stages that they have reached.
void path_unroll(cycle_engine *c, struct cycle_load_path *p);
void path_await_stream(cycle_engine *c, struct cycle_load_path *p);
bool path_is_plain(const struct cycle_load_path *p, const cycle_burst *b);
bool path_can_stream(struct cycle_load_path *p, const cycle_burst *b);
uint64_t path_gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b);
uint64_t path_banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b);
void path_find_banks(cycle_engine *c, struct cycle_load_path *p);
// The burst that was opened.
void path_start_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The next row of a burst, or a copy of it, goes to its place.
void path_move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy);
void path_catch_up(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The row of this cycle. True: an answer was given.
bool path_write_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

// ---- load_whole.c

// Streams alone are on their way while the port lags, and stay so in this cycle.
bool path_only_streams(const cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The cycle, then. True: an answer was given.
bool path_step_whole(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// Rows of the cycles before `end` are written, or will be caught up; the others are asked for one by one.
void path_end_whole(cycle_engine *c, struct cycle_load_path *p, uint64_t end);

#endif
