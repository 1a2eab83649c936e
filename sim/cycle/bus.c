// SPDX-License-Identifier: Apache-2.0
// The memory port: timing from memsys, data from main memory. The counterpart of sim/rtl/bus.c.
//
// One request beat per cycle, of the reader or of the writer; one answer beat per cycle, which stays until it is taken.
// Read data is what memory holds when the request is taken; write data is in memory when its beat is taken (the writer
// moves it). Buffers of read data belong to ids; the load path, when it takes a burst's first beat, exchanges the id's
// buffer for a spare one, so an id can be used again while rows of its last burst are still on their way.
//
// Invariants: memsys has an answer in cycle answer_at at the earliest; answer_at changes only with requests and
// answers.
#include "sim/cycle/bus.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/page_filter.h"

struct cycle_bus {
  uint64_t answer_at;  // no answer is there before
  uint64_t ask_at;     // an offer that was turned away is made again; CYCLE_NEVER: there is none
  // the read burst that was taken last
  uint64_t first_beat;
  memsys_burst burst;
  uint64_t written_at, written_before;  // the cycle of the last write beat; the bytes before it
  uint32_t bus_bytes, ids;
  uint8_t **data;  // by read id; NULL in timing-only mode
};

void cycle_bus_create(cycle_engine *c) {
  struct cycle_bus *b = c->bus = WF_NEW(struct cycle_bus);
  b->answer_at = b->ask_at = CYCLE_NEVER;
  b->bus_bytes = c->array->dma.bus_bits / 8;
  b->ids = c->array->dma.reads_in_flight;
  if (!c->data) return;
  b->data = WF_NEW_ARRAY(b->ids, uint8_t *);
  for (uint32_t id = 0; id < b->ids; id++) b->data[id] = wf_alloc(c->array->dma.max_burst_bytes, 1);
}

void cycle_bus_destroy(cycle_engine *c) {
  struct cycle_bus *b = c->bus;
  if (b == NULL) return;
  for (uint32_t id = 0; b->data != NULL && id < b->ids; id++) wf_free(b->data[id]);
  wf_free(b->data);
  wf_free(b);
}

uint8_t *cycle_bus_exchange(cycle_engine *c, unsigned id, uint8_t *spare) {
  uint8_t *data = c->bus->data[id];
  c->bus->data[id] = spare;
  return data;
}

// ---- requests

static bool inside(cycle_engine *c, const memsys_request *r, const char *verb) {
  if (arch_memory_at(c->memory, r->address, r->bytes) != NULL) return true;
  c->fault.kind = ARCH_FAULT_MEMORY;
  snprintf(c->fault.text, sizeof c->fault.text,
           "the hardware %s bytes 0x%" PRIx64 "..0x%" PRIx64 " outside main memory 0x%" PRIx64 "..0x%" PRIx64, verb,
           r->address, r->address + r->bytes - 1, ARCH_MEMORY_BASE, ARCH_MEMORY_BASE + c->memory->size - 1);
  return false;
}

static void grant_read(cycle_engine *c, uint64_t now, const memsys_request *r) {
  if (!inside(c, r, "reads")) return;
  if (c->data) arch_memory_read(c->memory, r->address, c->bus->data[r->id], r->bytes);
  memsys_read(c->timing, now, r);
  c->w.read_granted = true;
}

static void grant_write(cycle_engine *c, uint64_t now, const memsys_request *r) {
  if (!inside(c, r, "writes")) return;
  struct cycle_bus *b = c->bus;
  memsys_write(c->timing, now, r);
  b->written_at = now;
  b->written_before = c->bus_written_bytes;
  c->bus_written_bytes += b->bus_bytes;
  c->w.write_granted = true;
}

// True: something was granted.
static bool arbitrate(cycle_engine *c, uint64_t now) {
  struct cycle_bus *b = c->bus;
  const memsys_request *read = cycle_reader_offer(c, now), *write = cycle_writer_offer(c, now);
  if (read == NULL && write == NULL) {
    b->ask_at = CYCLE_NEVER;
    return false;
  }
  memsys_grant grant = memsys_arbitrate(c->timing, now, read, write);
  if (grant == MEMSYS_NOBODY) {
    b->ask_at = memsys_next_grant(c->timing, now);
    return false;
  }
  b->ask_at = read != NULL && write != NULL ? now + 1 : CYCLE_NEVER;
  if (grant == MEMSYS_READ)
    grant_read(c, now, read);
  else
    grant_write(c, now, write);
  return true;
}

// ---- the cycle

static uint64_t beat_at(const struct cycle_bus *b, uint64_t beat) {
  uint64_t at = b->first_beat + beat, there = b->burst.ready + beat * b->burst.spacing;
  return at > there ? at : there;
}

static void set_wake(cycle_engine *c) {
  const struct cycle_bus *b = c->bus;
  c->wake[CYCLE_BUS] = b->answer_at < b->ask_at ? b->answer_at : b->ask_at;
}

// The bus shows an answer in every cycle until the load path or the writer takes it.
bool cycle_bus_step(cycle_engine *c, uint64_t now) {
  struct cycle_bus *b = c->bus;
  if (b->answer_at <= now) {
    c->w.beat = memsys_response(c->timing, now);
    b->answer_at = c->w.beat != NULL ? now + 1 : memsys_next_response(c->timing, now + 1);
  }
  bool granted = arbitrate(c, now);
  if (cycle_pages_contended(c, now)) b->ask_at = now + 1;
  if (granted && c->w.beat == NULL) b->answer_at = memsys_next_response_with(c->timing, now, b->answer_at);
  set_wake(c);
  return granted || c->w.beat != NULL;
}

static void taken(cycle_engine *c, uint64_t now) {
  c->bus->answer_at = memsys_next_response(c->timing, now + 1);
  set_wake(c);
}

void cycle_bus_take(cycle_engine *c, uint64_t now) {
  memsys_take(c->timing, now);
  taken(c, now);
}

void cycle_bus_show_from(cycle_engine *c, uint64_t cycle) {
  c->bus->answer_at = cycle;
  set_wake(c);
}

memsys_burst cycle_bus_take_burst(cycle_engine *c, uint64_t now) {
  struct cycle_bus *b = c->bus;
  b->burst = memsys_take_burst(c->timing, now);
  b->first_beat = now;
  c->bus_read_bytes += (uint64_t)b->burst.beats * b->bus_bytes;
  taken(c, now);
  return b->burst;
}

uint64_t cycle_bus_read_bytes(const cycle_engine *c, uint64_t cycle) {
  const struct cycle_bus *b = c->bus;
  unsigned coming = 0;
  while (coming < b->burst.beats && beat_at(b, b->burst.beats - coming - 1) >= cycle) coming++;
  return c->bus_read_bytes - (uint64_t)coming * b->bus_bytes;
}

uint64_t cycle_bus_written_bytes(const cycle_engine *c, uint64_t cycle) {
  return c->bus->written_at < cycle ? c->bus_written_bytes : c->bus->written_before;
}

uint64_t cycle_bus_answer_at(const cycle_engine *c) { return c->bus->answer_at; }
