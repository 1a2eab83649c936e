// From row requests of the load controller to writes of local memory. See hw/rtl/load_path.sv.
//
//   request --zeros?--> zero_writer --> pixel_repeater ------------------> zero write
//         \--> issue queue --> dma_reader
//   bus --> beat_merger --int8--> mvin_scale --> pixel_repeater ---------> narrow write
//                       \--int32--> register with repeats ---------------> wide write
//
// At most one answer per cycle: a wide write waits while a narrow one is the last of its request or goes to the
// accumulator; a zero write waits while either of the others is the last of its request.
// Streams. While nothing keeps rows waiting, each is written a fixed number of cycles after it left the merger. Bursts
// of plain rows that find the path empty, or behind other streams of their kind, are therefore not taken apart: a
// stream is a burst and how far its writes have come. Its rows are asked for one by one in the cycles that are carried
// out; in cycles that are left out nobody else uses a bank, and their rows are caught up in the next step. As soon as a
// row is refused, or other rows come, streams become rows in the stages that they have reached (unroll).
//
// Invariants: after a step and after a request everything that can be known about rows on their way has been worked out
// (settle); c->load_write is the first cycle in which a write is asked for; beside streams the stages are empty.
#include "sim/cycle/load_path.h"

#include <assert.h>
#include <string.h>

#include "hw/base/alloc.h"
#include "sim/config.h"
#include "sim/cycle/bus.h"
#include "sim/ref/numeric.h"

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

static void fill_end(cycle_mvin_scale *from, cycle_path_end *end) {
  cycle_item item;
  if (end->valid || !cycle_mvin_scale_next(from, &item)) return;
  uint64_t leaves = cycle_path_end_put(end, &item);
  if (end->repeats) cycle_mvin_scale_pop(from, leaves);
}

// The next row of a burst leaves the merger in cycle `at`.
static void enter(struct cycle_load_path *p, cycle_burst_rows *b, uint64_t at) {
  bool wide = b->burst.wide;
  cycle_mvin_scale *to = wide ? &p->wide : &p->narrow;
  const cycle_row *row = cycle_merger_take(&p->merger, b, at);
  if (row->last && p->merger.open) cycle_merger_close(&p->merger, at);
  cycle_mvin_scale_put(to, row, at);
  fill_end(to, wide ? &p->wide_end : &p->narrow_end);
}

static void settle(struct cycle_load_path *p) {
  fill_end(&p->narrow, &p->narrow_end);
  fill_end(&p->wide, &p->wide_end);
  while (p->merger.open) {
    cycle_burst_rows *b = p->merger.at_work;
    const cycle_mvin_scale *to = b->burst.wide ? &p->wide : &p->narrow;
    if (to->held) return;
    enter(p, b, cycle_later(cycle_merger_row_from(&p->merger, b), to->free_from));
  }
}

static cycle_burst_rows *oldest_stream(struct cycle_load_path *p) {
  return &p->merger.bursts[(p->merger.next_burst - p->streams) & (CYCLE_BURST_RING - 1)];
}

static void find_stream_write(struct cycle_load_path *p) {
  const cycle_burst_rows *b = oldest_stream(p);
  p->stream_write = cycle_merger_row_from(&p->merger, b) + p->lag[b->burst.wide];
}

// Streams become rows in the stages that they have reached. Those of bursts before the one at work have left the
// merger.
static void unroll(cycle_engine *c, struct cycle_load_path *p) {
  if (p->streams == 0) return;
  c->load_banks = 0;
  for (; p->streams > 1; p->streams--) {
    cycle_burst_rows *b = oldest_stream(p);
    while (b->sent < b->burst.bytes) {
      uint64_t at = cycle_merger_row_from(&p->merger, b);
      enter(p, b, at);
    }
  }
  p->streams = 0;
  p->merger.open = true;
  settle(p);
}

// The engine has to come back for the next answer; the rows before it can be caught up.
static void await_stream(cycle_engine *c, struct cycle_load_path *p) {
  const cycle_burst_rows *b = oldest_stream(p);
  c->load_write = p->stream_write;
  c->wake[CYCLE_LOAD_PATH] = b->burst.is_acc ? p->stream_write : b->last_row + p->lag[b->burst.wide];
}

static void find_next_write(cycle_engine *c, struct cycle_load_path *p) {
  if (p->streams > 0) {
    await_stream(c, p);
    return;
  }
  uint64_t next = p->narrow_end.valid ? p->narrow_end.at : CYCLE_NEVER;
  if (p->wide_end.valid && p->wide_end.at < next) next = p->wide_end.at;
  if (p->zero_end.valid && p->zero_end.at < next) next = p->zero_end.at;
  c->load_write = c->wake[CYCLE_LOAD_PATH] = next;
}

// ---- requests

bool cycle_load_path_ready(const cycle_engine *c, bool zeros) {
  const struct cycle_load_path *p = c->load_path;
  return zeros ? !p->zeros.held && p->zeros.free_from <= c->now : cycle_queue_room(&p->issue, c->now);
}

void cycle_load_path_request(cycle_engine *c, const cycle_load_row *row) {
  struct cycle_load_path *p = c->load_path;
  if (!row->zeros) {
    p->issued[cycle_queue_push(&p->issue, c->now)] = *row;
    if (cycle_reader_wants_row(c)) c->wake[CYCLE_DMA_READER] = c->now + 1;
    return;
  }
  unroll(c, p);
  cycle_zero_writer_put(&p->zeros, row, c->now);
  settle_zeros(p);
  find_next_write(c, p);
}

const cycle_load_row *cycle_load_path_offer(const cycle_engine *c) {
  const struct cycle_load_path *p = c->load_path;
  return cycle_queue_valid(&p->issue, c->now) ? &p->issued[cycle_queue_head(&p->issue)] : NULL;
}

bool cycle_load_path_offers(const cycle_engine *c) { return c->load_path->issue.count > 0; }

bool cycle_load_path_whole(const cycle_engine *c) { return c->load_path->whole; }

void cycle_load_path_offer_taken(cycle_engine *c) { cycle_queue_pop(&c->load_path->issue, c->now); }

// ---- data

static void move_narrow(cycle_engine *c, const cycle_piece *w) {
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
static void move_wide(cycle_engine *c, const cycle_piece *w) {
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
static cycle_piece piece_of(const cycle_path_end *e, uint32_t lanes) {
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
static bool wait(cycle_engine *c, cycle_path_end *e) {
  e->at = c->now + 1;
  return false;
}

static void answer(cycle_engine *c, uint16_t bytes, uint8_t cmd) {
  c->w.load_answered = true;
  c->w.load_bytes = bytes;
  c->w.load_cmd = cmd;
}

// Returns whether the item has left the end of its path.
static bool written(cycle_engine *c, cycle_path_end *e) {
  if (cycle_path_end_last(e)) answer(c, e->item.row->answer, e->item.row->cmd);
  return cycle_path_end_taken(e, c->now);
}

// A row that nobody else can have been in the way of.
static void wrote(cycle_engine *c, bool is_acc, uint32_t row, uint64_t at) {
  if (is_acc) {
    cycle_local_past_load(c, row, at);
    return;
  }
  c->sp_writes++;
  if (c->port.lags) cycle_port_wrote(c, row, at);
}

// Asks for the bank of a row. While the port lags nobody else does, now or later.
static bool take_bank(cycle_engine *c, bool wide, bool is_acc, uint32_t row, bool accumulate) {
  if (!c->port.lags && wide) return cycle_local_wide_write(c, row, accumulate);
  if (!c->port.lags) return cycle_local_narrow_write(c, is_acc, row, accumulate);
  assert(!accumulate);
  wrote(c, is_acc, row, c->now);
  return true;
}

static bool write_narrow(cycle_engine *c, struct cycle_load_path *p) {
  cycle_path_end *e = &p->narrow_end;
  const cycle_piece w = piece_of(e, p->dim);
  if (!take_bank(c, false, w.is_acc, w.row, w.accumulate)) return wait(c, e);
  if (c->data) move_narrow(c, &w);
  if (written(c, e) && !e->repeats) cycle_mvin_scale_pop(&p->narrow, c->now);
  return true;
}

static bool write_wide(cycle_engine *c, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->wide_end;
  const cycle_piece w = piece_of(e, p->dim * (uint32_t)sizeof(int32_t));
  if (held_back || !take_bank(c, true, true, w.row, w.accumulate)) return wait(c, e);
  if (c->data) move_wide(c, &w);
  if (written(c, e)) cycle_mvin_scale_pop(&p->wide, c->now);
  return true;
}

// Zeros make room for the next request.
static bool write_zeros(cycle_engine *c, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->zero_end;
  const cycle_piece w = piece_of(e, p->dim);
  if (held_back || !cycle_local_zero_write(c, w.is_acc, w.row, w.accumulate)) return wait(c, e);
  if (c->data) move_zeros(c, &w);
  if (written(c, e) && !e->repeats) cycle_zero_writer_pop(&p->zeros, c->now);
  settle_zeros(p);
  return true;
}

// Returns whether a write was taken.
static bool write_rows(cycle_engine *c, struct cycle_load_path *p) {
  bool narrow = cycle_path_end_offers(&p->narrow_end, c->now), wide = cycle_path_end_offers(&p->wide_end, c->now);
  bool narrow_last = narrow && cycle_path_end_last(&p->narrow_end);
  bool wide_last = wide && cycle_path_end_last(&p->wide_end);
  bool narrow_is_acc = narrow && p->narrow_end.item.row->is_acc, changed = false;
  if (narrow) changed |= write_narrow(c, p);
  if (wide) changed |= write_wide(c, p, narrow_last || narrow_is_acc);
  if (cycle_path_end_offers(&p->zero_end, c->now)) changed |= write_zeros(c, p, narrow_last || wide_last);
  return changed;
}

// ---- streams

static bool is_plain(const struct cycle_load_path *p, const cycle_burst *b) {
  if (b->repeats != 0) return false;
  return b->wide ||
         ((b->pixel_repeats == 1 || !p->narrow_end.repeats) && (b->scale == SIM_SCALE_ONE || p->narrow.units == 0));
}

static bool can_stream(struct cycle_load_path *p, const cycle_burst *b) {
  if (p->narrow_end.valid || p->wide_end.valid || p->zero_end.valid) return false;
  return is_plain(p, b) && (p->streams == 0 || oldest_stream(p)->burst.wide == b->wide);
}

// Rows of whole beats come at regular intervals, when the beats do.
static uint64_t gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b) {
  if (b->burst.row_offset != 0 || b->row_shift < p->merger.bus_shift) return 0;
  if (b->spacing > 1 && b->first_beat != b->ready) return 0;
  return b->spacing << (b->row_shift - p->merger.bus_shift);
}

// Scratchpad banks of the rows of a burst, which are block_stride apart.
static uint64_t banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b) {
  if (b->burst.is_acc) return 0;
  uint32_t blocks = (b->burst.row_offset + b->burst.bytes - 1U) >> b->row_shift;
  uint64_t first = b->burst.row & p->sp_mask, last = first + (uint64_t)blocks * b->burst.block_stride;
  if (first >> c->sp_bank_shift != last >> c->sp_bank_shift) return UINT64_MAX;
  return UINT64_C(1) << (first >> c->sp_bank_shift);
}

static void find_load_banks(cycle_engine *c, struct cycle_load_path *p) {
  c->load_banks = 0;
  for (uint32_t n = 1; n <= p->streams; n++)
    c->load_banks |= p->merger.bursts[(p->merger.next_burst - n) & (CYCLE_BURST_RING - 1)].banks;
}

// Rows of a stream that goes to a bank that execute reads in every cycle may not be left out: execute is stepped until
// the stream has ended, and with it every cycle.
static void start_stream(cycle_engine *c, struct cycle_load_path *p) {
  cycle_burst_rows *b = p->merger.at_work;
  b->last_row = cycle_merger_last_row(&p->merger, b);
  cycle_merger_close(&p->merger, b->last_row);
  b->gap = gap_of(p, b);
  b->free = 0;
  assert(p->streams < CYCLE_BURST_RING);
  if (p->streams++ == 0) find_stream_write(p);
  b->banks = banks_of(c, p, b);
  c->load_banks |= b->banks;
  if (!c->port.lags && c->now < c->execute_until && (c->execute_banks & b->banks) != 0 && c->local->sp_single_ported)
    cycle_execute_disturbed(c);
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

static void move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy) {
  const cycle_piece w = next_piece(b, copy);
  if (b->burst.wide)
    move_wide(c, &w);
  else
    move_narrow(c, &w);
}

// The next row of the oldest stream has been written.
static void stream_written(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  if (c->data) move_piece(c, b, 0);
  const uint64_t lag = p->lag[b->burst.wide];
  cycle_burst_advance(b, cycle_burst_count(b), p->merger.row_mask);
  b->left = p->stream_write - lag;
  if (b->sent == b->burst.bytes) {
    answer(c, b->burst.bytes, b->burst.cmd);
    p->streams--;
    find_load_banks(c, p);
    if (p->streams > 0) find_stream_write(p);
  } else if (b->sent + b->row_bytes >= b->burst.bytes) {
    p->stream_write = b->last_row + lag;
  } else if (b->gap != 0) {
    p->stream_write += b->gap;
  } else {
    find_stream_write(p);
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
static void catch_up(cycle_engine *c, struct cycle_load_path *p) {
  cycle_burst_rows *b = oldest_stream(p);
  if (p->stream_write >= c->now) return;
  assert(b->last_row + p->lag[b->burst.wide] >= c->now);
  if (!c->data && !b->burst.is_acc && b->last_row + p->lag[b->burst.wide] == c->now) skip_rows(c, p, b);
  while (p->stream_write < c->now) {
    wrote(c, b->burst.is_acc, b->row, p->stream_write);
    stream_written(c, p, b);
  }
}

// A row that is refused waits at the end of its path, like those behind it.
static bool write_stream(cycle_engine *c, struct cycle_load_path *p) {
  cycle_burst_rows *b = oldest_stream(p);
  const cycle_burst *x = &b->burst;
  if (take_bank(c, x->wide, x->is_acc, b->row, x->accumulate)) {
    stream_written(c, p, b);
    return c->w.load_answered;
  }
  unroll(c, p);
  return wait(c, x->wide ? &p->wide_end : &p->narrow_end);
}

static void open_burst(cycle_engine *c, struct cycle_load_path *p) {
  cycle_merger_open(c, &p->merger);
  cycle_burst_rows *b = p->merger.at_work;
  b->ends = cycle_load_comes(c, b->burst.cmd, b->burst.bytes);
}

// ---- streams while the port lags: nobody asks for their banks, so a burst is written as a whole, in the cycle of its
// answer or, if that does not end a command, when the path is stepped next. A row that is repeated holds up the next
// one in the register of int32 rows

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

static void write_to_spad(cycle_engine *c, struct cycle_load_path *p, cycle_burst_rows *b) {
  uint32_t last = b->burst.row_offset + b->burst.bytes - 1U, rows = (last >> b->row_shift) + 1;
  if (b->sent != 0) rows -= (b->burst.row_offset + b->sent) >> b->row_shift;
  c->sp_writes += rows;
  cycle_port_wrote(c, b->row + (rows - 1) * b->burst.block_stride, answer_at(p, b));
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
      wrote(c, true, b->row + b->burst.repeats - copy, b->left + lag + copy);
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
  p->streams--;
}

static void write_answered(cycle_engine *c, struct cycle_load_path *p, uint64_t end) {
  while (p->streams > 0 && answer_at(p, oldest_stream(p)) < end) {
    cycle_burst_rows *b = oldest_stream(p);
    assert(!b->ends);
    write_burst(c, p, b);
    cycle_load_answered(c, b->burst.cmd, b->burst.bytes);
  }
}

static cycle_burst_rows *stream_at(struct cycle_load_path *p, uint32_t from_newest) {
  return &p->merger.bursts[(p->merger.next_burst - 1 - from_newest) & (CYCLE_BURST_RING - 1)];
}

static void await_end(cycle_engine *c, struct cycle_load_path *p) {
  c->load_write = c->wake[CYCLE_LOAD_PATH] = CYCLE_NEVER;
  for (uint32_t n = p->streams; n > 0; n--) {
    const cycle_burst_rows *b = stream_at(p, n - 1);
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
    const cycle_piece w = piece_of(e, p->dim * (uint32_t)sizeof(int32_t));
    assert(!cycle_path_end_last(e));
    wrote(c, true, w.row, at);
    if (c->data) move_wide(c, &w);
    cycle_path_end_taken(e, at);
    cycle_mvin_scale_pop(&p->wide, at);
    fill_end(&p->wide, e);
  }
}

// Bursts of repeated rows become rows in the stages that they have reached.
static void end_repeats(cycle_engine *c, struct cycle_load_path *p, uint64_t end) {
  p->wide.free_from = stream_at(p, p->streams - 1)->free;
  for (; p->streams > 0; p->streams--) {
    cycle_burst_rows *b = oldest_stream(p);
    p->merger.open |= p->streams == 1;
    while (b->sent < b->burst.bytes && !p->wide.held) {
      enter(p, b, cycle_later(cycle_merger_row_from(&p->merger, b), p->wide.free_from));
      write_copies(c, p, end);
    }
  }
  settle(p);
}

static bool any_repeats(struct cycle_load_path *p) {
  bool repeats = false;
  for (uint32_t n = 0; n < p->streams; n++) {
    const cycle_burst_rows *b = stream_at(p, n);
    repeats |= b->burst.wide && (b->burst.repeats != 0 || b->free > b->first_beat);
  }
  return repeats;
}

// Rows of the cycles before `end` are written, or will be caught up; the others are asked for one by one.
static void end_whole(cycle_engine *c, struct cycle_load_path *p, uint64_t end) {
  if (!p->whole) return;
  p->whole = false;
  write_answered(c, p, end);
  if (any_repeats(p)) {
    end_repeats(c, p, end);
  } else {
    for (uint32_t n = p->streams; n > 0; n--) {
      cycle_burst_rows *b = stream_at(p, n - 1);
      b->gap = gap_of(p, b);
      b->banks = banks_of(c, p, b);
    }
    find_load_banks(c, p);
    if (p->streams > 0) find_stream_write(p);
  }
  find_next_write(c, p);
}

void cycle_load_path_end_lag(cycle_engine *c, uint64_t end) { end_whole(c, c->load_path, end); }

// Int8 and int32 rows are not on their way together.
static bool goes_whole(struct cycle_load_path *p, const cycle_burst *b, uint64_t now) {
  if (b->repeats != 0 ? !b->wide : !is_plain(p, b)) return false;
  if (p->streams == 0) return true;
  const cycle_burst_rows *newest = stream_at(p, 0);
  return newest->burst.wide == b->wide || answer_at(p, newest) <= now;
}

static bool stages_empty(const struct cycle_load_path *p) {
  return !p->merger.open && !p->narrow_end.valid && !p->wide_end.valid;
}

// Streams alone are on their way, and stay so in this cycle.
static bool only_streams(const cycle_engine *c, struct cycle_load_path *p) {
  if (!c->port.lags || !stages_empty(p)) return false;
  return c->w.beat == NULL || c->w.beat->write || goes_whole(p, cycle_reader_burst(c, c->w.beat->id), c->now);
}

static void start_whole(cycle_engine *c, struct cycle_load_path *p) {
  p->whole = true;
  c->load_banks = 0;
  p->wide_free = p->wide.free_from;
}

void cycle_load_path_lag(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  if (!stages_empty(p)) return;
  start_whole(c, p);
  await_end(c, p);
}

static bool step_whole(cycle_engine *c, struct cycle_load_path *p) {
  if (!p->whole) start_whole(c, p);
  write_answered(c, p, c->now);
  cycle_burst_rows *b = oldest_stream(p);
  bool ended = p->streams > 0 && b->ends && answer_at(p, b) == c->now;
  if (ended) {
    write_burst(c, p, b);
    answer(c, b->burst.bytes, b->burst.cmd);
  }
  if (c->w.beat != NULL && !c->w.beat->write && p->merger.accept_from <= c->now) {
    open_burst(c, p);
    b = p->merger.at_work;
    find_last_row(p, b);
    cycle_merger_close(&p->merger, b->last_row);
    assert(p->streams < CYCLE_BURST_RING);
    p->streams++;
  } else if (c->w.beat != NULL && !c->w.beat->write) {
    cycle_bus_show_from(c, p->merger.accept_from);
  }
  await_end(c, p);
  return ended;
}

// ---- the cycle

static bool accepts(const cycle_engine *c, const struct cycle_load_path *p) {
  return !p->merger.open && p->merger.accept_from <= c->now;
}

static void take_burst(cycle_engine *c, struct cycle_load_path *p) {
  if (c->w.beat == NULL || c->w.beat->write || !accepts(c, p)) return;
  bool stream = can_stream(p, cycle_reader_burst(c, c->w.beat->id));
  if (!stream) unroll(c, p);
  if (!accepts(c, p)) return;
  open_burst(c, p);
  if (stream)
    start_stream(c, p);
  else
    settle(p);
}

// True: an answer was given, or zeros made room.
bool cycle_load_path_step(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  if (only_streams(c, p)) return step_whole(c, p);
  end_whole(c, p, c->now);
  bool writes = c->load_write <= c->now, changed = false;
  if (!writes && (c->w.beat == NULL || c->w.beat->write)) return false;
  if (p->streams > 0) {
    catch_up(c, p);
    if (p->stream_write == c->now) changed = write_stream(c, p);
    // In the middle of a burst.
    if (c->w.beat == NULL && !changed && p->streams > 0) {
      await_stream(c, p);
      return false;
    }
  } else if (writes && write_rows(c, p)) {
    settle(p);
    changed = true;
  }
  take_burst(c, p);
  find_next_write(c, p);
  if (c->port.lags) cycle_load_path_lag(c);
  return changed;
}
