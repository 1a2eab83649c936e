// SPDX-License-Identifier: Apache-2.0
// Writes rows to main memory: collects the blocks of a row, takes the maximum of pooled rows, and sends the bytes as
// naturally aligned bursts. See hw/rtl/weft_dma_writer.sv.
//
//   row -> beat (choose, shift) -> look stage: page lookup -> send stage: address and data channels -> answer
//
// The bus grants the address and the first data beat of a burst together, so the send stage need not remember which of
// them has left. The row is one buffer where the RTL has two: a row of a single block overwrites block 0, which later
// blocks of the same row do not use.
// Invariants: a beat in the look or send stage belongs to an id in use; `row` is free for the next row once its last
// beat is in the look stage.
#include "sim/cycle/dma_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/page_filter.h"
#include "sim/cycle/port.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/weft_accel.h"

enum { BEAT_BYTES_MAX = 128, BEATS_MAX = 256, IDS_MAX = 256, WORD_BITS = 64 };
enum { PAGE_SHIFT = 12 };

typedef enum { IDLE, FIRST, BEATS } writer_state;

enum { WAIT_BUS = CYCLE_WORKING + 1, WAIT_PAGE, WAIT_IDS, WAIT_ANSWERS };
const char *const cycle_dma_writer_causes[CYCLE_CAUSES] = {
    [CYCLE_IDLE] = "idle",
    [CYCLE_WORKING] = "working",
    [WAIT_BUS] = "bus taken by others",
    [WAIT_PAGE] = "page lookup",
    [WAIT_IDS] = "too many writes in flight",
    [WAIT_ANSWERS] = "waits for answers",
};

typedef struct write_beat {
  memsys_request burst;
  uint64_t address;  // of the first byte to write
  uint16_t bytes;    // to write; the others of the beat have no strobe
  bool first;
  uint8_t data[BEAT_BYTES_MAX];
} write_beat;

struct cycle_dma_writer {
  writer_state state;
  bool looking, sending;  // a beat is in the stage
  uint8_t send;           // which of `stage` is the send stage; the other one is the look stage

  // The row.
  uint64_t address;  // of what no burst has been chosen for
  uint32_t length, sent;
  uint8_t *row;

  // The burst under way.
  memsys_request burst;
  uint32_t beat, beats, offset, total;  // total: bytes of the row in it

  uint32_t beat_bytes, max_bytes, row_bytes, ids, used_count;
  uint64_t used[IDS_MAX / WORD_BITS];
  write_beat stage[2];
};

typedef struct cycle_dma_writer writer;

void cycle_writer_create(cycle_engine *c) {
  writer *w = c->writer = WF_NEW(writer);
  w->beat_bytes = c->array->dma.bus_bits / 8;
  uint32_t longest = BEATS_MAX * w->beat_bytes;
  w->max_bytes = c->array->dma.max_burst_bytes < longest ? c->array->dma.max_burst_bytes : longest;
  w->ids = c->array->dma.writes_in_flight;
  uint32_t blocks = c->d.max_cols * c->d.input_bytes;
  w->row_bytes = blocks > c->d.acc_row_bytes ? blocks : c->d.acc_row_bytes;
  w->row = wf_calloc(w->row_bytes, 1);
  assert(w->beat_bytes <= BEAT_BYTES_MAX && w->ids <= IDS_MAX);
}

void cycle_writer_destroy(cycle_engine *c) {
  if (c->writer == NULL) return;
  wf_free(c->writer->row);
  wf_free(c->writer);
}

bool cycle_writer_busy(const cycle_engine *c) {
  const writer *w = c->writer;
  return w->used_count > 0 || w->state == FIRST || w->state == BEATS;
}

const memsys_request *cycle_writer_offer(cycle_engine *c, uint64_t now) {
  const writer *w = c->writer;
  return w->sending && !cycle_pages_miss(c, now, 0) ? &w->stage[w->send].burst : NULL;
}

// ---- ids

static uint32_t lowest_free_id(const writer *w) {
  uint32_t word = 0;
  while (w->used[word] == UINT64_MAX) word++;
  return word * WORD_BITS + (uint32_t)__builtin_ctzll(~w->used[word]);
}

static void use_id(cycle_engine *c, uint64_t now, writer *w, uint32_t id) {
  w->used[id / WORD_BITS] |= UINT64_C(1) << id % WORD_BITS;
  w->used_count++;
  cycle_level_add(&c->writes_in_flight, now, 1);
}

static void free_id(cycle_engine *c, uint64_t now, writer *w, uint32_t id) {
  assert((w->used[id / WORD_BITS] >> id % WORD_BITS & 1) != 0);
  w->used[id / WORD_BITS] &= ~(UINT64_C(1) << id % WORD_BITS);
  w->used_count--;
  cycle_level_add(&c->writes_in_flight, now, -1);
}

// ---- from the row to beats

// Of the burst sizes the one that carries most of the bytes left, the smallest of equals.
static void choose_burst(cycle_engine *c, uint64_t now, writer *w) {
  uint32_t left = w->length - w->sent;
  w->total = 0;
  for (uint32_t size = w->beat_bytes; size <= w->max_bytes && w->total < left; size *= 2) {
    uint32_t offset = (uint32_t)w->address & (size - 1);
    uint32_t bytes = size - offset < left ? size - offset : left;
    if (bytes <= w->total) continue;
    w->total = bytes;
    w->offset = offset;
    w->burst.bytes = size;
  }
  w->burst.address = w->address - w->offset;
  w->burst.partial = w->total != w->burst.bytes;
  w->burst.id = lowest_free_id(w);
  use_id(c, now, w, w->burst.id);
  w->beat = 0;
  w->beats = w->burst.bytes / w->beat_bytes;
  w->address += w->total;
}

// The next beat of the row, `first` of its burst, enters the look stage.
static void fire_beat(cycle_engine *c, writer *w, bool first) {
  uint32_t start = w->beat * w->beat_bytes, end = start + w->beat_bytes, to = w->offset + w->total;
  uint32_t low = w->offset > start ? w->offset : start, high = to < end ? to : end;
  write_beat *b = &w->stage[!w->send];
  b->burst = w->burst;
  b->first = first;
  b->address = w->burst.address + low;
  b->bytes = high > low ? (uint16_t)(high - low) : 0;
  if (c->data) memcpy(b->data, w->row + w->sent, b->bytes);
  w->sent += b->bytes;
  w->looking = true;
  w->beat++;
  w->state = w->beat < w->beats ? BEATS : w->sent < w->length ? FIRST : IDLE;
}

// ---- a cycle

static void write_granted(cycle_engine *c, writer *w) {
  const write_beat *b = &w->stage[w->send];
  w->sending = false;
  if (!c->data || b->bytes == 0) return;
  if (!arch_memory_write(c->memory, b->address, b->data, b->bytes))
    cycle_fail(c, "the hardware writes bytes 0x%" PRIx64 "..0x%" PRIx64 " outside main memory", b->address,
               b->address + b->bytes - 1);
}

static void look(cycle_engine *c, uint64_t now, writer *w) {
  w->looking = false;
  w->sending = true;
  w->send = !w->send;
  const write_beat *b = &w->stage[w->send];
  // The other beats of a burst lie in the page of the first.
  if (b->first) cycle_pages_look(c, now, 0, b->burst.address >> PAGE_SHIFT);
}

// What the cycle is seen as, before anything moves.
static void report(cycle_engine *c, uint64_t now, const writer *w) {
  bool miss = w->sending && cycle_pages_miss(c, now, 0);
  if (w->state != IDLE) cycle_event(c, ISA_EVENT_WRITER_ACTIVE);
  if (miss) cycle_event(c, ISA_EVENT_WRITER_PAGE_WAIT);
  if (w->sending && !miss && !c->w.write_granted) cycle_event(c, ISA_EVENT_WRITER_BUS_WAIT);
}

static unsigned cause_of(cycle_engine *c, uint64_t now, const writer *w, bool moved) {
  if (moved) return CYCLE_WORKING;
  if (w->sending) return cycle_pages_miss(c, now, 0) ? WAIT_PAGE : WAIT_BUS;
  return w->state == FIRST ? WAIT_IDS : w->used_count > 0 ? WAIT_ANSWERS : CYCLE_IDLE;
}

// True: it goes on in the next cycle.
static bool move(cycle_engine *c, uint64_t now, writer *w) {
  bool moved = false;
  if (c->w.write_granted && w->sending) {
    write_granted(c, w);
    moved = true;
  }
  if (w->looking && !w->sending) {
    look(c, now, w);
    moved = true;
  }
  if (w->looking || w->state == IDLE || (w->state == FIRST && w->used_count >= w->ids)) return moved;
  const bool first = w->state == FIRST;
  if (first) choose_burst(c, now, w);
  fire_beat(c, w, first);
  return true;
}

// A beat that has just been looked up may miss its page in the next cycle and be free to go in the one after.
static void set_wake(cycle_engine *c, uint64_t now, const writer *w, bool moved) {
  const bool misses = w->sending && !moved && cycle_pages_miss(c, now, 0);
  c->wake[CYCLE_DMA_WRITER] = misses ? now + 1 : CYCLE_NEVER;
}

static bool work(cycle_engine *c, uint64_t now, writer *w) {
  if (c->counting) report(c, now, w);
  bool answered = c->w.beat != NULL && c->w.beat->write;
  const bool moved = move(c, now, w);
  cycle_spend(c, now, CYCLE_DMA_WRITER, cause_of(c, now, w, moved));
  set_wake(c, now, w, moved);
  if (!answered) return moved;
  // An id is free from the cycle after its answer.
  free_id(c, now, w, c->w.beat->id);
  cycle_bus_take(c, now);
  if (!moved && !cycle_writer_busy(c)) cycle_spend(c, now + 1, CYCLE_DMA_WRITER, CYCLE_IDLE);
  return moved || w->state == FIRST;
}

bool cycle_writer_step(cycle_engine *c, uint64_t now) {
  writer *w = c->writer;
  bool changed = false;
  c->wake[CYCLE_DMA_WRITER] = CYCLE_NEVER;
  if (cycle_writer_busy(c))
    changed = work(c, now, w);
  else
    cycle_spend(c, now, CYCLE_DMA_WRITER, CYCLE_IDLE);
  return changed;
}

bool cycle_writer_idle(const cycle_engine *c) { return c->writer->state == IDLE; }

bool cycle_writer_ready(cycle_engine *c, uint64_t now) {
  cycle_lag_through(c, now);
  if (cycle_writer_idle(c)) return true;
  cycle_port_wants_writer(c);
  return false;
}

// ---- rows

// The lane-wise maximum of the new row and the one before.
static void pool(writer *w, const cycle_write_row *row) {
  int8_t *best = (int8_t *)w->row;
  const int8_t *lanes = (const int8_t *)row->bytes;
  for (uint32_t i = 0; i < row->len; i++) best[i] = lanes[i] > best[i] ? lanes[i] : best[i];
}

// A burst of the row does, perhaps.
static bool leaves_memory(const cycle_engine *c, uint64_t address, uint32_t bytes) {
  uint32_t most = c->writer->max_bytes;
  return arch_memory_at(c->memory, address & ~(uint64_t)(most - 1), bytes + 2 * most) == NULL;
}

void cycle_writer_take(cycle_engine *c, uint64_t now, const cycle_write_row *row) {
  writer *w = c->writer;
  assert(cycle_writer_idle(c));
  w->address = row->address;
  w->length = row->block * c->d.dim + row->len;
  w->sent = 0;
  w->state = row->store ? FIRST : IDLE;
  if (leaves_memory(c, row->address, w->length)) {
    c->port.never_lags = true;
    cycle_lag_leave(c, now + 1);
  }
  if (row->store) cycle_port_given(c, now, CYCLE_DMA_WRITER);
  if (!c->data) return;
  assert(w->length <= w->row_bytes);
  if (row->pool && c->array->units.max_pool)
    pool(w, row);
  else
    memcpy(w->row + row->block * c->d.dim, row->bytes, row->len);
}
