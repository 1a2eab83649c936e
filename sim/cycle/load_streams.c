// SPDX-License-Identifier: Apache-2.0
// Streams of the load path. While nothing keeps rows waiting, each is written a fixed number of cycles after it left
// the merger. A burst of plain rows that finds the path empty, or follows other streams of its sort, is therefore not
// taken apart: a stream is a burst and how far its writes have come. In a cycle that is carried out the stream asks for
// the bank of its row; in cycles that are left out no other unit uses a bank, and the next step catches up with their
// rows. As soon as a row is refused, or other rows come, streams become rows in the stages that they have reached
// (cycle_load_path_unroll).
#include "sim/cycle/load_streams.h"

#include <assert.h>

#include "arch/config.h"
#include "sim/cycle/execute_stream.h"
#include "sim/cycle/local_memory.h"

cycle_burst_rows *cycle_load_path_oldest_stream(struct cycle_load_path *p) {
  return &p->merger.bursts[(p->merger.next_burst - p->streams) & (CYCLE_BURST_RING - 1)];
}

void cycle_load_path_find_stream_write(struct cycle_load_path *p) {
  const cycle_burst_rows *b = cycle_load_path_oldest_stream(p);
  p->stream_write = cycle_merger_row_from(&p->merger, b) + p->lag[b->burst.wide];
}

// Streams become rows in the stages that they have reached. Those of bursts before the one at work have left the
// merger.
void cycle_load_path_unroll(cycle_engine *c, struct cycle_load_path *p) {
  if (p->streams == 0) return;
  c->load_banks = 0;
  for (; p->streams > 1; p->streams--) {
    cycle_burst_rows *b = cycle_load_path_oldest_stream(p);
    while (b->sent < b->burst.bytes) {
      uint64_t at = cycle_merger_row_from(&p->merger, b);
      cycle_load_path_enter(p, b, at);
    }
  }
  p->streams = 0;
  p->merger.open = true;
  cycle_load_path_settle(p);
}

// The engine has to come back for the next answer; the rows before it can be caught up.
void cycle_load_path_await_stream(cycle_engine *c, struct cycle_load_path *p) {
  const cycle_burst_rows *b = cycle_load_path_oldest_stream(p);
  c->load_write = p->stream_write;
  c->wake[CYCLE_LOAD_PATH] = b->burst.is_acc ? p->stream_write : b->last_row + p->lag[b->burst.wide];
}

bool cycle_load_path_is_plain(const struct cycle_load_path *p, const cycle_burst *b) {
  if (b->repeats != 0) return false;
  return b->wide ||
         ((b->pixel_repeats == 1 || !p->narrow_end.repeats) && (b->scale == ARCH_SCALE_ONE || p->narrow.units == 0));
}

bool cycle_load_path_can_stream(struct cycle_load_path *p, const cycle_burst *b) {
  if (p->narrow_end.valid || p->wide_end.valid || p->zero_end.valid) return false;
  return cycle_load_path_is_plain(p, b) && (p->streams == 0 || cycle_load_path_oldest_stream(p)->burst.wide == b->wide);
}

// Rows of whole beats come at regular intervals, when the beats do.
uint64_t cycle_load_path_gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b) {
  if (b->burst.row_offset != 0 || b->row_shift < p->merger.bus_shift) return 0;
  if (b->spacing > 1 && b->first_beat != b->ready) return 0;
  return b->spacing << (b->row_shift - p->merger.bus_shift);
}

// Scratchpad banks of the rows of a burst, which are block_stride apart.
uint64_t cycle_load_path_banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b) {
  if (b->burst.is_acc) return 0;
  uint32_t blocks = (b->burst.row_offset + b->burst.bytes - 1U) >> b->row_shift;
  uint64_t first = b->burst.row & p->sp_mask, last = first + (uint64_t)blocks * b->burst.block_stride;
  if (first >> c->sp_bank_shift != last >> c->sp_bank_shift) return UINT64_MAX;
  return UINT64_C(1) << (first >> c->sp_bank_shift);
}

void cycle_load_path_find_banks(cycle_engine *c, struct cycle_load_path *p) {
  c->load_banks = 0;
  for (uint32_t n = 1; n <= p->streams; n++)
    c->load_banks |= p->merger.bursts[(p->merger.next_burst - n) & (CYCLE_BURST_RING - 1)].banks;
}

// Rows of a stream that goes to a bank that execute reads in every cycle may not be left out: execute is stepped until
// the stream has ended, and with it every cycle.
void cycle_load_path_start_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  cycle_burst_rows *b = p->merger.at_work;
  b->last_row = cycle_merger_last_row(&p->merger, b);
  cycle_merger_close(&p->merger, b->last_row);
  b->gap = cycle_load_path_gap_of(p, b);
  b->free = 0;
  assert(p->streams < CYCLE_BURST_RING);
  if (p->streams++ == 0) cycle_load_path_find_stream_write(p);
  b->banks = cycle_load_path_banks_of(c, p, b);
  c->load_banks |= b->banks;
  if (!c->port.lags && now < c->execute_until && (c->execute_banks & b->banks) != 0 && c->local->sp_single_ported)
    cycle_execute_disturbed(c, now);
}

// Of the next row, or of a copy of it.
static cycle_piece next_piece(const cycle_burst_rows *b, uint32_t copy) {
  return (cycle_piece){.bytes = b->data == NULL ? NULL : b->data + b->sent,
                       .row = b->row + copy,
                       .first = cycle_burst_first(b),
                       .count = cycle_burst_count(b),
                       .is_acc = b->burst.is_acc,
                       .accumulate = b->burst.accumulate};
}

void cycle_load_path_move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy) {
  const cycle_piece w = next_piece(b, copy);
  if (b->burst.wide)
    cycle_load_path_move_wide(c, &w);
  else
    cycle_load_path_move_narrow(c, &w);
}

// The next row of the oldest stream has been written.
static void stream_written(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  if (c->data) cycle_load_path_move_piece(c, b, 0);
  const uint64_t lag = p->lag[b->burst.wide];
  cycle_burst_advance(b, cycle_burst_count(b), p->merger.row_mask);
  b->left = p->stream_write - lag;
  if (b->sent == b->burst.bytes) {
    cycle_load_path_answer(c, b->burst.bytes, b->burst.cmd);
    p->streams--;
    cycle_load_path_find_banks(c, p);
    if (p->streams > 0) cycle_load_path_find_stream_write(p);
  } else if (b->sent + b->row_bytes >= b->burst.bytes) {
    p->stream_write = b->last_row + lag;
  } else if (b->gap != 0) {
    p->stream_write += b->gap;
  } else {
    cycle_load_path_find_stream_write(p);
  }
}

// Rows before the last one of a burst, without data.
static void skip_rows(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  uint32_t offset = b->burst.row_offset, row = (offset + b->sent) >> b->row_shift;
  uint32_t last = (offset + b->burst.bytes - 1U) >> b->row_shift;
  if (row == last) return;
  c->sp_writes += last - row;
  b->sent = (last << b->row_shift) - offset;
  b->row = (b->row + (last - row) * b->burst.block_stride) & p->merger.row_mask;
  b->left = b->last_row - 1;
  p->stream_write = b->last_row + p->lag[b->burst.wide];
}

// Rows that were written in cycles that were left out. An answer is always given in its cycle, and the accumulator sees
// each row in its own, unless the port lagged.
void cycle_load_path_catch_up(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  cycle_burst_rows *b = cycle_load_path_oldest_stream(p);
  if (p->stream_write >= now) return;
  assert(b->last_row + p->lag[b->burst.wide] >= now);
  if (!c->data && !b->burst.is_acc && b->last_row + p->lag[b->burst.wide] == now) skip_rows(c, p, b);
  while (p->stream_write < now) {
    cycle_load_path_wrote(c, b->burst.is_acc, b->row, p->stream_write);
    stream_written(c, p, b);
  }
}

// A row that is refused waits at the end of its path, like those behind it.
bool cycle_load_path_write_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  cycle_burst_rows *b = cycle_load_path_oldest_stream(p);
  const cycle_burst *x = &b->burst;
  if (cycle_load_path_take_bank(c, now, x->wide, x->is_acc, b->row, x->accumulate)) {
    stream_written(c, p, b);
    return c->w.load_answered;
  }
  cycle_load_path_unroll(c, p);
  cycle_load_path_wait(x->wide ? &p->wide_end : &p->narrow_end, now);
  return false;
}
