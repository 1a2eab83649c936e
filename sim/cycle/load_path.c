// SPDX-License-Identifier: Apache-2.0
// From row requests of the load controller to writes of local memory. See hw/rtl/weft_load_path.sv.
//
//   request --zeros?--> zero_writer --> pixel_repeater ------------------> zero write
//         \--> issue queue --> dma_reader
//   bus --> beat_merger --int8--> mvin_scale --> pixel_repeater ---------> narrow write
//                       \--int32--> register with repeats ---------------> wide write
//
// At most one answer per cycle: a wide write waits while a narrow one is the last of its request or goes to the
// accumulator; a zero write waits while either of the others is the last of its request.
// While the port lags, bursts of plain rows are not taken apart: skip/whole.c.
//
// Invariants: after a step and after a request everything that can be known about rows on their way has been worked out
// (cycle_load_path_settle); c->load_write is the earliest cycle in which a write is asked for.
#include "sim/cycle/load_path.h"

#include <assert.h>
#include <string.h>

#include "arch/config.h"
#include "base/alloc.h"
#include "base/number.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/skip/whole.h"
#include "sim/ref/numeric.h"

void cycle_load_path_create(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path = WF_NEW(struct cycle_load_path);
  const hw_array *a = c->array;
  c->load_write = CYCLE_NEVER;
  p->lag[false] = 1U + (a->load.scale_units != 0) + a->units.pixel_repeat;
  p->lag[true] = 1;
  p->dim = c->d.dim;
  p->sp_mask = c->d.sp_rows - 1;
  p->acc_mask = c->d.acc_rows - 1;
  cycle_merger_init(c, &p->merger);
  cycle_mvin_scale_init(c, &p->narrow, a->load.scale_units, a->load.scale_latency);
  cycle_mvin_scale_init(c, &p->wide, 0, 0);
  cycle_path_end_init(c, &p->narrow_end, a->units.pixel_repeat);
  cycle_path_end_init(c, &p->wide_end, false);
  cycle_path_end_init(c, &p->zero_end, a->units.pixel_repeat);
  cycle_zero_writer_init(c, &p->zeros);
  cycle_queue_init(&p->issue, a->scratchpad.read_delay + 1, 1, true);
  p->issued = WF_NEW_ARRAY(cycle_queue_slots(&p->issue), cycle_load_row);
  p->extended = WF_NEW_ARRAY(p->dim, int32_t);
}

void cycle_load_path_destroy(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  if (p == NULL) return;
  cycle_merger_free(&p->merger);
  cycle_mvin_scale_free(&p->narrow);
  cycle_mvin_scale_free(&p->wide);
  cycle_queue_free(&p->issue);
  wf_free(p->issued);
  wf_free(p->extended);
  wf_free(p);
}

// ---- rows move on as far as their cycles are known

static void settle_zeros(struct cycle_load_path *p) {
  cycle_item item;
  if (p->zero_end.valid || !cycle_zero_writer_next(&p->zeros, &item)) return;
  uint64_t leaves = cycle_path_end_put(&p->zero_end, &item);
  if (p->zero_end.repeats) cycle_zero_writer_pop(&p->zeros, leaves);
}

void cycle_load_path_fill_end(cycle_mvin_scale *from, cycle_path_end *end) {
  cycle_item item;
  if (end->valid || !cycle_mvin_scale_next(from, &item)) return;
  uint64_t leaves = cycle_path_end_put(end, &item);
  if (end->repeats) cycle_mvin_scale_pop(from, leaves);
}

// The next row of a burst leaves the merger in cycle `at`.
void cycle_load_path_enter(struct cycle_load_path *p, cycle_burst_rows *b, uint64_t at) {
  bool wide = b->burst.wide;
  cycle_mvin_scale *to = wide ? &p->wide : &p->narrow;
  const cycle_row *row = cycle_merger_take(&p->merger, b, at);
  if (row->last && p->merger.open) cycle_merger_close(&p->merger, at);
  cycle_mvin_scale_put(to, row, at);
  cycle_load_path_fill_end(to, wide ? &p->wide_end : &p->narrow_end);
}

void cycle_load_path_settle(struct cycle_load_path *p) {
  cycle_load_path_fill_end(&p->narrow, &p->narrow_end);
  cycle_load_path_fill_end(&p->wide, &p->wide_end);
  while (p->merger.open) {
    cycle_burst_rows *b = p->merger.at_work;
    const cycle_mvin_scale *to = b->burst.wide ? &p->wide : &p->narrow;
    if (to->held) return;
    cycle_load_path_enter(p, b, wf_max(cycle_merger_row_from(&p->merger, b), to->free_from));
  }
}

void cycle_load_path_find_next_write(cycle_engine *c, struct cycle_load_path *p) {
  uint64_t next = p->narrow_end.valid ? p->narrow_end.at : CYCLE_NEVER;
  if (p->wide_end.valid && p->wide_end.at < next) next = p->wide_end.at;
  if (p->zero_end.valid && p->zero_end.at < next) next = p->zero_end.at;
  c->load_write = c->wake[CYCLE_LOAD_PATH] = next;
}

// ---- requests

bool cycle_load_path_ready(const cycle_engine *c, uint64_t now, bool zeros) {
  const struct cycle_load_path *p = c->load_path;
  return zeros ? !p->zeros.held && p->zeros.free_from <= now : cycle_queue_room(&p->issue, now);
}

void cycle_load_path_request(cycle_engine *c, uint64_t now, const cycle_load_row *row) {
  struct cycle_load_path *p = c->load_path;
  if (!row->zeros) {
    p->issued[cycle_queue_push(&p->issue, now)] = *row;
    if (cycle_reader_wants_row(c)) c->wake[CYCLE_DMA_READER] = now + 1;
    return;
  }
  assert(!p->whole);
  cycle_zero_writer_put(&p->zeros, row, now);
  settle_zeros(p);
  cycle_load_path_find_next_write(c, p);
}

const cycle_load_row *cycle_load_path_offer(const cycle_engine *c, uint64_t now) {
  const struct cycle_load_path *p = c->load_path;
  return cycle_queue_valid(&p->issue, now) ? &p->issued[cycle_queue_head(&p->issue)] : NULL;
}

bool cycle_load_path_offers(const cycle_engine *c) { return c->load_path->issue.count > 0; }

bool cycle_load_path_whole(const cycle_engine *c) { return c->load_path->whole; }

void cycle_load_path_offer_taken(cycle_engine *c, uint64_t now) { cycle_queue_pop(&c->load_path->issue, now); }

// ---- data

void cycle_load_path_move_narrow(cycle_engine *c, const cycle_piece *w) {
  struct cycle_load_path *p = c->load_path;
  const int8_t *bytes = (const int8_t *)w->bytes;
  if (!w->is_acc) {
    memcpy(cycle_sp_row(c, w->row & p->sp_mask) + w->first, bytes, w->count);
    return;
  }
  int32_t *to = cycle_acc_row(c, w->row & p->acc_mask) + w->first;
  for (uint32_t i = 0; i < w->count; i++) p->extended[i] = bytes[i];
  if (w->accumulate)
    ref_add_row(w->count, p->extended, to);
  else
    memcpy(to, p->extended, w->count * sizeof *to);
}

// A row of int32 that is not accumulated may start and end inside an element.
void cycle_load_path_move_wide(cycle_engine *c, const cycle_piece *w) {
  struct cycle_load_path *p = c->load_path;
  int32_t *to = cycle_acc_row(c, w->row & p->acc_mask);
  if (!w->accumulate) {
    memcpy((uint8_t *)to + w->first, w->bytes, w->count);
    return;
  }
  uint32_t elements = w->count / sizeof *to;
  memcpy(p->extended, w->bytes, elements * sizeof *to);
  ref_add_row(elements, p->extended, to + w->first / sizeof *to);
}

static void move_zeros(cycle_engine *c, const cycle_piece *w) {
  struct cycle_load_path *p = c->load_path;
  if (!w->is_acc)
    memset(cycle_sp_row(c, w->row & p->sp_mask) + w->first, 0, w->count);
  else if (!w->accumulate)
    memset(cycle_acc_row(c, w->row & p->acc_mask) + w->first, 0, w->count * sizeof *c->acc);
}

// What is written of the item at the end of a path: of a copy the lanes that are not shifted out of the row.
cycle_piece cycle_load_path_piece_of(const cycle_path_end *e, uint32_t lanes) {
  const cycle_row *r = e->item.row;
  uint32_t first = r->first + (uint32_t)e->copy * r->cols, room = first < lanes ? lanes - first : 0;
  return (cycle_piece){.bytes = e->item.bytes,
                       .row = cycle_path_end_row(e),
                       .first = first,
                       .count = r->count < room ? r->count : room,
                       .is_acc = r->is_acc,
                       .accumulate = r->accumulate};
}

// ---- writes

// A write that waits asks again in the next cycle.
void cycle_load_path_wait(cycle_path_end *e, uint64_t now) { e->at = now + 1; }

void cycle_load_path_answer(cycle_engine *c, uint16_t bytes, uint8_t cmd) {
  c->w.load_answered = true;
  c->w.load_bytes = bytes;
  c->w.load_cmd = cmd;
}

// Returns whether the item has left the end of its path.
static bool written(cycle_engine *c, uint64_t now, cycle_path_end *e) {
  if (cycle_path_end_last(e)) cycle_load_path_answer(c, e->item.row->answer, e->item.row->cmd);
  return cycle_path_end_taken(e, now);
}

// No other unit can have asked for the row's bank in cycle `at`.
void cycle_load_path_wrote(cycle_engine *c, bool is_acc, uint32_t row, uint64_t at) {
  if (is_acc) {
    cycle_local_past_load(c, row, at);
    return;
  }
  c->sp_writes++;
  if (c->port.lags) cycle_lag_wrote(c, row, at);
}

// Asks for the bank of a row. While the port lags, no other unit asks for it in this cycle or a later one.
bool cycle_load_path_take_bank(cycle_engine *c, uint64_t now, bool wide, bool is_acc, uint32_t row, bool accumulate) {
  if (!c->port.lags && wide) return cycle_local_wide_write(c, now, row, accumulate);
  if (!c->port.lags) return cycle_local_narrow_write(c, now, is_acc, row, accumulate);
  assert(!accumulate);
  cycle_load_path_wrote(c, is_acc, row, now);
  return true;
}

static bool write_narrow(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  cycle_path_end *e = &p->narrow_end;
  const cycle_piece w = cycle_load_path_piece_of(e, p->dim);
  if (!cycle_load_path_take_bank(c, now, false, w.is_acc, w.row, w.accumulate)) {
    cycle_load_path_wait(e, now);
    return false;
  }
  if (c->data) cycle_load_path_move_narrow(c, &w);
  if (written(c, now, e) && !e->repeats) cycle_mvin_scale_pop(&p->narrow, now);
  return true;
}

static bool write_wide(cycle_engine *c, uint64_t now, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->wide_end;
  const cycle_piece w = cycle_load_path_piece_of(e, p->dim * (uint32_t)sizeof(int32_t));
  if (held_back || !cycle_load_path_take_bank(c, now, true, true, w.row, w.accumulate)) {
    cycle_load_path_wait(e, now);
    return false;
  }
  if (c->data) cycle_load_path_move_wide(c, &w);
  if (written(c, now, e)) cycle_mvin_scale_pop(&p->wide, now);
  return true;
}

// Zeros make room for the next request.
static bool write_zeros(cycle_engine *c, uint64_t now, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->zero_end;
  const cycle_piece w = cycle_load_path_piece_of(e, p->dim);
  if (held_back || !cycle_local_zero_write(c, now, w.is_acc, w.row, w.accumulate)) {
    cycle_load_path_wait(e, now);
    return false;
  }
  if (c->data) move_zeros(c, &w);
  if (written(c, now, e) && !e->repeats) cycle_zero_writer_pop(&p->zeros, now);
  settle_zeros(p);
  return true;
}

// Returns whether a write was taken.
static bool write_rows(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  bool narrow = cycle_path_end_offers(&p->narrow_end, now), wide = cycle_path_end_offers(&p->wide_end, now);
  bool narrow_last = narrow && cycle_path_end_last(&p->narrow_end);
  bool wide_last = wide && cycle_path_end_last(&p->wide_end);
  bool narrow_is_acc = narrow && p->narrow_end.item.row->is_acc, changed = false;
  if (narrow) changed |= write_narrow(c, now, p);
  if (wide) changed |= write_wide(c, now, p, narrow_last || narrow_is_acc);
  if (cycle_path_end_offers(&p->zero_end, now)) changed |= write_zeros(c, now, p, narrow_last || wide_last);
  return changed;
}

void cycle_load_path_open_burst(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  cycle_merger_open(c, now, &p->merger);
  cycle_burst_rows *b = p->merger.at_work;
  b->ends = cycle_load_comes(c, b->burst.cmd, b->burst.bytes);
}

// ---- the cycle

static bool accepts(const struct cycle_load_path *p, uint64_t now) {
  return !p->merger.open && p->merger.accept_from <= now;
}

static void take_burst(cycle_engine *c, uint64_t now, struct cycle_load_path *p) {
  if (c->w.beat == NULL || c->w.beat->write || !accepts(p, now)) return;
  cycle_load_path_open_burst(c, now, p);
  cycle_load_path_settle(p);
}

// True: an answer was given, or zeros made room.
bool cycle_load_path_step(cycle_engine *c, uint64_t now) {
  struct cycle_load_path *p = c->load_path;
  if (cycle_whole_stays(c, now, p)) return cycle_whole_step(c, now, p);
  cycle_whole_leave(c, now);
  bool writes = c->load_write <= now, changed = false;
  if (!writes && (c->w.beat == NULL || c->w.beat->write)) return false;
  if (writes && write_rows(c, now, p)) {
    cycle_load_path_settle(p);
    changed = true;
  }
  take_burst(c, now, p);
  cycle_load_path_find_next_write(c, p);
  if (c->port.lags) cycle_whole_enter(c, now + 1);
  return changed;
}
