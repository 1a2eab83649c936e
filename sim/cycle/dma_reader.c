// SPDX-License-Identifier: Apache-2.0
// Cuts row requests into naturally aligned bursts and sends them, one per cycle. See hw/rtl/weft_dma_reader.sv; its
// beat_merger belongs to the load path here.
//
//   row request -> burst (choose, take an id) -> page lookup -> address channel
// Invariants: send is offered from the cycle after its lookup on, unless the page filter holds it back; an id is
// free from the cycle after its last beat on.
#include "sim/cycle/dma_reader.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/page_filter.h"

enum { ID_WORDS = 4, PAGE_SHIFT = 12, CLIENT = 1 };

enum { WAITS_ID = CYCLE_WORKING + 1, WAITS_PAGE, WAITS_BUS, WAITS_ANSWERS };
const char *const cycle_dma_reader_causes[CYCLE_CAUSES] = {
    "idle", "working", "waiting: all requests in flight", "waiting: page lookup", "waiting: bus", "waiting: answers",
};

struct cycle_dma_reader {
  bool row_valid, look_valid, send_valid;
  bool releasing;
  uint32_t in_flight, limit;
  // of the last burst taken by the load path: its id is free from the cycle after `release_at` on
  unsigned release_id;
  uint64_t release_at;
  // the row request at work
  uint64_t address;
  uint32_t left, done;  // bytes still to ask for, asked for
  cycle_load_row row;
  memsys_request look, send;
  uint64_t used[ID_WORDS];  // by id
  cycle_burst *bursts;      // by id
  uint32_t beat_bytes, max_bytes, row_mask, narrow_shift;
};

void cycle_reader_create(cycle_engine *c) {
  struct cycle_dma_reader *r = c->reader = WF_NEW(struct cycle_dma_reader);
  const hw_array *a = c->array;
  r->limit = a->dma.reads_in_flight;
  assert(r->limit <= ID_WORDS * 64);
  r->bursts = WF_NEW_ARRAY(r->limit, cycle_burst);
  r->beat_bytes = a->dma.bus_bits / 8;
  r->max_bytes = a->dma.max_burst_bytes < 256 * r->beat_bytes ? a->dma.max_burst_bytes : 256 * r->beat_bytes;
  r->row_mask = (UINT32_C(1) << c->d.row_bits) - 1;
  r->narrow_shift = (uint32_t)__builtin_ctz(c->d.dim);
}

void cycle_reader_destroy(cycle_engine *c) {
  if (c->reader == NULL) return;
  wf_free(c->reader->bursts);
  wf_free(c->reader);
}

const memsys_request *cycle_reader_offer(const cycle_engine *c, uint64_t now) {
  const struct cycle_dma_reader *r = c->reader;
  if (!r->send_valid || cycle_pages_miss(c, now, CLIENT)) return NULL;
  return &r->send;
}

const cycle_burst *cycle_reader_burst(const cycle_engine *c, unsigned id) { return &c->reader->bursts[id]; }

bool cycle_reader_wants_row(const cycle_engine *c) { return !c->reader->row_valid; }

bool cycle_reader_busy(const cycle_engine *c, uint64_t now) {
  const struct cycle_dma_reader *r = c->reader;
  return r->in_flight > (r->releasing && r->release_at < now);
}

bool cycle_reader_full(const cycle_engine *c) {
  const struct cycle_dma_reader *r = c->reader;
  return r->in_flight == r->limit && !r->releasing && !r->look_valid && !r->send_valid;
}

// ---- ids

static unsigned take_id(cycle_engine *c, uint64_t now) {
  struct cycle_dma_reader *r = c->reader;
  unsigned w = 0;
  while (r->used[w] == UINT64_MAX) w++;
  unsigned bit = (unsigned)__builtin_ctzll(~r->used[w]);
  r->used[w] |= UINT64_C(1) << bit;
  r->in_flight++;
  cycle_level_add(&c->reads_in_flight, now, 1);
  return w * 64 + bit;
}

// The register changed at the end of the cycle before this one.
static void free_released(cycle_engine *c) {
  struct cycle_dma_reader *r = c->reader;
  r->used[r->release_id / 64] &= ~(UINT64_C(1) << r->release_id % 64);
  r->in_flight--;
  r->releasing = false;
  cycle_level_add(&c->reads_in_flight, r->release_at, -1);
}

void cycle_reader_release(cycle_engine *c, unsigned id, uint64_t at) {
  struct cycle_dma_reader *r = c->reader;
  if (r->releasing) free_released(c);
  r->releasing = true;
  r->release_id = id;
  r->release_at = at;
  c->wake[CYCLE_DMA_READER] = at + 1;
}

// ---- bursts

typedef struct choice {
  uint32_t size, bytes, offset;
} choice;

// The size that brings most of the bytes left, the smallest of equals.
static choice choose(const struct cycle_dma_reader *r) {
  if (((uint32_t)r->address & (r->max_bytes - 1)) == 0 && r->left >= r->max_bytes)
    return (choice){.size = r->max_bytes, .bytes = r->max_bytes};
  choice best = {0};
  for (uint32_t size = r->beat_bytes; size <= r->max_bytes && best.bytes < r->left; size *= 2) {
    uint32_t offset = (uint32_t)r->address & (size - 1), bytes = size - offset;
    if (bytes > r->left) bytes = r->left;
    if (bytes > best.bytes) best = (choice){.size = size, .bytes = bytes, .offset = offset};
  }
  return best;
}

// Moves a burst of the row into the lookup stage; returns whether it was the row's last.
static bool start_burst(cycle_engine *c, uint64_t now) {
  struct cycle_dma_reader *r = c->reader;
  const choice best = choose(r);
  const cycle_load_row *row = &r->row;
  uint32_t shift = r->narrow_shift + (row->acc_width ? 2 : 0) - row->packed;
  unsigned id = take_id(c, now);
  r->look = (memsys_request){.id = id, .address = r->address - best.offset, .bytes = best.size};
  r->look_valid = true;
  r->bursts[id] = (cycle_burst){
      .row = (row->laddr + row->block_stride * (r->done >> shift)) & r->row_mask,
      .scale = row->scale,
      .length = (uint16_t)best.size,
      .shift = (uint16_t)best.offset,
      .bytes = (uint16_t)best.bytes,
      .row_offset = (uint16_t)(r->done & ((UINT32_C(1) << shift) - 1)),
      .block_stride = row->block_stride,
      .repeats = row->repeats,
      .cols = row->cols,
      .pixel_repeats = row->pixel_repeats,
      .cmd = row->cmd,
      .wide = row->acc_width,
      .packed = row->packed,
      .is_acc = isa_local_accumulator(row->laddr) != 0,
      .accumulate = isa_local_accumulate(row->laddr) != 0,
  };
  r->address += best.bytes;
  r->left -= best.bytes;
  r->done += best.bytes;
  return r->left == 0;
}

static void accept_row(struct cycle_dma_reader *r, const cycle_load_row *row) {
  r->row_valid = true;
  r->row = *row;
  r->address = row->address;
  r->left = row->acc_width ? row->cols * 4U : (uint32_t)row->cols >> row->packed;
  r->done = 0;
}

// ---- the cycle

static void report(cycle_engine *c, uint64_t now) {
  const struct cycle_dma_reader *r = c->reader;
  if (r->row_valid) cycle_event(c, ISA_EVENT_READER_ACTIVE);
  if (r->send_valid && cycle_pages_miss(c, now, CLIENT))
    cycle_event(c, ISA_EVENT_READER_PAGE_WAIT);
  else if (r->send_valid && !c->w.read_granted)
    cycle_event(c, ISA_EVENT_READER_BUS_WAIT);
  cycle_pages_report(c, now);
}

static unsigned waits_for(const cycle_engine *c, uint64_t now) {
  const struct cycle_dma_reader *r = c->reader;
  if (r->send_valid) return cycle_pages_miss(c, now, CLIENT) ? WAITS_PAGE : WAITS_BUS;
  if (r->row_valid && r->in_flight == r->limit) return WAITS_ID;
  return r->in_flight > 0 ? WAITS_ANSWERS : CYCLE_IDLE;
}

// Something can move on in the next cycle without anybody else.
static bool moves_on(const cycle_engine *c) {
  const struct cycle_dma_reader *r = c->reader;
  if (r->look_valid) return !r->send_valid;
  return r->row_valid ? r->in_flight < r->limit : cycle_load_path_offers(c);
}

static void set_wake(cycle_engine *c, uint64_t now) {
  const struct cycle_dma_reader *r = c->reader;
  uint64_t freed = r->releasing ? r->release_at + 1 : CYCLE_NEVER;
  c->wake[CYCLE_DMA_READER] = moves_on(c) ? now + 1 : freed;
}

// The burst in the lookup stage is offered from the next cycle on.
static void look(cycle_engine *c, uint64_t now, struct cycle_dma_reader *r) {
  r->send = r->look;
  r->send_valid = true;
  r->look_valid = false;
  if (now + 1 < c->wake[CYCLE_BUS]) c->wake[CYCLE_BUS] = now + 1;
  cycle_pages_look(c, now, CLIENT, r->send.address >> PAGE_SHIFT);
}

// True: the load controller can go on. The bus and the reader itself are woken.
bool cycle_reader_step(cycle_engine *c, uint64_t now) {
  struct cycle_dma_reader *r = c->reader;
  if (r->releasing && r->release_at < now) free_released(c);
  if (c->counting) report(c, now);
  unsigned cause = c->w.read_granted ? CYCLE_WORKING : waits_for(c, now);
  bool gave_room = false;
  if (c->w.read_granted) r->send_valid = false;
  if (r->look_valid && !r->send_valid) look(c, now, r);
  if (r->row_valid && r->in_flight < r->limit && !r->look_valid) {
    cause = CYCLE_WORKING;
    r->row_valid = !start_burst(c, now);
  }
  const cycle_load_row *row = r->row_valid ? NULL : cycle_load_path_offer(c, now);
  if (row != NULL) {
    accept_row(r, row);
    cycle_load_path_offer_taken(c, now);
    gave_room = cycle_load_waits(c);
  }
  set_wake(c, now);
  cycle_spend(c, now, CYCLE_DMA_READER, cause);
  if (!moves_on(c)) cycle_spend(c, now + 1, CYCLE_DMA_READER, waits_for(c, now));
  return gave_room;
}
