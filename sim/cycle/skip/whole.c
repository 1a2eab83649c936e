// SPDX-License-Identifier: Apache-2.0
// While the port lags, no other unit asks for the banks that loads write: a burst of plain rows that finds the stages
// empty is written as a whole, in the cycle of its answer or, if that does not end a command, when the path is stepped
// next. Each row is written a fixed number of cycles after it left the merger; a row that is repeated holds up the next
// one in the register of int32 rows. When the port stops to lag, or other rows come, the rows whose cycles have passed
// are written, and the others stand in the stages that they have reached (cycle_whole_leave).
//
// enter     the port lags, and the stages are empty
// catch up  with the next step of the path
// leave     the port stops to lag; rows come that are not plain
#include "sim/cycle/skip/whole.h"

#include <assert.h>

#include "arch/config.h"
#include "base/number.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/port.h"
#include "sim/cycle/skip/lag.h"

// Burst `number` from the newest, which is 0, on.
static cycle_burst_rows *burst_at(struct cycle_load_path *p, uint32_t number) {
  return &p->merger.bursts[(p->merger.next_burst - 1 - number) & (CYCLE_BURST_RING - 1)];
}

static cycle_burst_rows *oldest(struct cycle_load_path *p) { return burst_at(p, p->bursts - 1); }

static uint64_t answer_at(const struct cycle_load_path *p, const cycle_burst_rows *b) {
  return b->last_row + p->lag[b->burst.wide] + b->burst.repeats;
}

// When the next row of the burst leaves the merger, if those before it were not kept waiting; the register of int32
// rows is free from cycle `*free` on.
static uint64_t row_leaves(const struct cycle_load_path *p, cycle_burst_rows *b, uint64_t *free) {
  uint64_t at = cycle_merger_row_from(&p->merger, b);
  if (!b->burst.wide) return at;
  if (at < *free) at = *free;
  *free = at + 1U + b->burst.repeats;
  return at;
}

static void find_last_row(struct cycle_load_path *p, cycle_burst_rows *b) {
  b->free = p->wide_free;
  if (b->burst.repeats == 0 && (!b->burst.wide || b->free <= b->first_beat)) {
    b->last_row = cycle_merger_last_row(&p->merger, b);
    if (b->burst.wide) p->wide_free = b->last_row + 1;
    return;
  }
  cycle_burst_rows rest = *b;
  for (; rest.sent < rest.burst.bytes; rest.sent += cycle_burst_count(&rest))
    rest.left = row_leaves(p, &rest, &p->wide_free);
  b->last_row = rest.left;
}

// The next row of the burst, or a copy of it, goes to its place.
static void move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy) {
  cycle_piece w = {.bytes = b->data == NULL ? NULL : b->data + b->sent,
                   .row = b->row + copy,
                   .first = cycle_burst_first(b) << b->burst.packed,
                   .count = cycle_burst_count(b) << b->burst.packed,
                   .is_acc = b->burst.is_acc,
                   .accumulate = b->burst.accumulate};
  if (b->burst.packed) w.bytes = cycle_merger_widen(&c->load_path->merger, w.bytes, w.count);
  if (b->burst.wide)
    cycle_load_path_move_wide(c, &w);
  else
    cycle_load_path_move_narrow(c, &w);
}

static void write_to_spad(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  uint32_t last = b->burst.row_offset + b->burst.bytes - 1U, rows = (last >> b->row_shift) + 1;
  if (b->sent != 0) rows -= (b->burst.row_offset + b->sent) >> b->row_shift;
  c->sp_writes += rows;
  cycle_lag_wrote(c, b->row + (rows - 1) * b->burst.block_stride, answer_at(p, b));
  while (c->data && b->sent < b->burst.bytes) {
    move_piece(c, b, 0);
    cycle_burst_advance(b, cycle_burst_count(b), p->merger.row_mask);
  }
}

// The accumulator's banks know which rows came last, and when.
static void write_to_acc(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  const uint64_t lag = p->lag[b->burst.wide];
  while (b->sent < b->burst.bytes) {
    b->left = row_leaves(p, b, &b->free);
    for (uint32_t copy = 0; copy <= b->burst.repeats; copy++) {
      cycle_load_path_wrote(c, true, b->row + b->burst.repeats - copy, b->left + lag + copy);
      if (c->data) move_piece(c, b, copy);
    }
    cycle_burst_advance(b, cycle_burst_count(b), p->merger.row_mask);
  }
}

static void write_burst(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  if (b->burst.is_acc)
    write_to_acc(c, p, b);
  else
    write_to_spad(c, p, b);
  p->bursts--;
}

static void write_answered(cycle_engine *c, struct cycle_load_path *p, uint64_t end) {
  while (p->bursts > 0 && answer_at(p, oldest(p)) < end) {
    cycle_burst_rows *b = oldest(p);
    assert(!b->ends);
    write_burst(c, p, b);
    cycle_load_answered(c, b->burst.cmd, b->burst.bytes);
  }
}

static void await_end(cycle_engine *c, struct cycle_load_path *p) {
  c->load_write = c->wake[CYCLE_LOAD_PATH] = CYCLE_NEVER;
  for (uint32_t n = p->bursts; n > 0; n--) {
    const cycle_burst_rows *b = burst_at(p, n - 1);
    if (!b->ends) continue;
    c->wake[CYCLE_LOAD_PATH] = answer_at(p, b);
    return;
  }
}

// Copies of the row in the register of int32 rows that were written before cycle `end`.
static void write_copies(cycle_engine *c, struct cycle_load_path *p, uint64_t end) {
  cycle_path_end *e = &p->wide_end;
  while (e->valid && e->at < end) {
    const uint64_t at = e->at;
    const cycle_piece w = cycle_load_path_piece_of(e, p->dim * (uint32_t)sizeof(int32_t));
    assert(!cycle_path_end_last(e));
    cycle_load_path_wrote(c, true, w.row, at);
    if (c->data) cycle_load_path_move_wide(c, &w);
    cycle_path_end_taken(e, at);
    cycle_mvin_scale_pop(&p->wide, at);
    cycle_load_path_fill_end(&p->wide, e);
  }
}

// Rows of the burst that were written before cycle `end`, if none of them had to wait or is repeated.
static void write_past(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b, uint64_t end) {
  const uint64_t lag = p->lag[b->burst.wide];
  for (uint64_t at; (at = cycle_merger_row_from(&p->merger, b)) + lag < end; b->left = at) {
    cycle_load_path_wrote(c, b->burst.is_acc, b->row, at + lag);
    if (!b->burst.is_acc) cycle_lag_wrote(c, b->row, at + lag);
    if (c->data) move_piece(c, b, 0);
    cycle_burst_advance(b, cycle_burst_count(b), p->merger.row_mask);
  }
}

static bool any_waits(struct cycle_load_path *p) {
  bool waits = false;
  for (uint32_t n = 0; n < p->bursts; n++) {
    const cycle_burst_rows *b = burst_at(p, n);
    waits |= b->burst.wide && (b->burst.repeats != 0 || b->free > b->first_beat);
  }
  return waits;
}

// The rows of the oldest burst enter the stages in their cycles; those of a burst before the newest have left the
// merger.
static void enter_stages(cycle_engine *c, struct cycle_load_path *p, uint64_t end, bool waits) {
  cycle_burst_rows *b = oldest(p);
  const cycle_mvin_scale *to = b->burst.wide ? &p->wide : &p->narrow;
  if (!waits) write_past(c, p, b, end);
  while (b->sent < b->burst.bytes && !to->held) {
    cycle_load_path_enter(p, b, wf_max(cycle_merger_row_from(&p->merger, b), to->free_from));
    if (waits) write_copies(c, p, end);
  }
}

void cycle_whole_leave(cycle_engine *c, uint64_t at) {
  struct cycle_load_path *p = c->load_path;
  if (!p->whole) return;
  p->whole = false;
  write_answered(c, p, at);
  const bool waits = p->bursts > 0 && any_waits(p);
  if (waits) p->wide.free_from = oldest(p)->free;
  for (; p->bursts > 0; p->bursts--) {
    p->merger.open |= p->bursts == 1;
    enter_stages(c, p, at, waits);
  }
  cycle_load_path_settle(p);
  cycle_load_path_find_next_write(c, p);
}

static bool is_plain(const struct cycle_load_path *p, const cycle_burst *b) {
  return b->wide ||
         ((b->pixel_repeats == 1 || !p->narrow_end.repeats) && (b->scale == ARCH_SCALE_ONE || p->narrow.units == 0));
}

// Int8 and int32 rows are not on their way together.
static bool goes_whole(struct cycle_load_path *p, const cycle_burst *b, uint64_t now) {
  if (b->repeats != 0 ? !b->wide : !is_plain(p, b)) return false;
  if (p->bursts == 0) return true;
  const cycle_burst_rows *newest = burst_at(p, 0);
  return newest->burst.wide == b->wide || answer_at(p, newest) <= now;
}

static bool stages_empty(const struct cycle_load_path *p) {
  return !p->merger.open && !p->narrow_end.valid && !p->wide_end.valid;
}

// Bursts alone are on their way, and stay so in this cycle.
bool cycle_whole_stays(const cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  if (!cycle_skips(c, WHOLE) || !c->port.lags || !stages_empty(p)) return false;
  return c->w.beat == NULL || c->w.beat->write || goes_whole(p, cycle_reader_burst(c, c->w.beat->id), now);
}

static void start_whole(struct cycle_load_path *p) {
  p->whole = true;
  p->wide_free = p->wide.free_from;
}

bool cycle_whole_enter(cycle_engine *c, uint64_t from) {
  struct cycle_load_path *p = c->load_path;
  (void)from;
  if (!cycle_skips(c, WHOLE) || !stages_empty(p)) return false;
  start_whole(p);
  await_end(c, p);
  return true;
}

void cycle_whole_catch_up(cycle_engine *c, uint64_t now) {
  if (c->load_path->whole) write_answered(c, c->load_path, now);
}

bool cycle_whole_step(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  if (!p->whole) start_whole(p);
  write_answered(c, p, now);
  cycle_burst_rows *b = oldest(p);
  bool ended = p->bursts > 0 && b->ends && answer_at(p, b) == now;
  if (ended) {
    write_burst(c, p, b);
    cycle_load_path_answer(c, b->burst.bytes, b->burst.cmd);
  }
  if (c->w.beat != NULL && !c->w.beat->write && p->merger.accept_from <= now) {
    cycle_load_path_open_burst(c, now, p);
    b = p->merger.at_work;
    find_last_row(p, b);
    cycle_merger_close(&p->merger, b->last_row);
    assert(p->bursts < CYCLE_BURST_RING);
    p->bursts++;
  } else if (c->w.beat != NULL && !c->w.beat->write) {
    cycle_bus_show_from(c, p->merger.accept_from);
  }
  await_end(c, p);
  return ended;
}
