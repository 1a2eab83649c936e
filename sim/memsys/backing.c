// SPDX-License-Identifier: Apache-2.0
// Memory behind the L2: see backing.h for the rules this file implements.
#include "sim/memsys/backing.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/number.h"
#include "sim/memsys/dram.h"

enum {
  COMING = 8,
  POSTED_CYCLES = 3,  // a DRAM controller takes reads before a write that comes, for so long
};

// A write whose first word is on its way to the channel.
typedef struct coming_write {
  uint64_t from, address;
  unsigned bytes, tag;
} coming_write;

struct memsys_backing {
  uint64_t bytes_per_cycle, spacing, latency, path;
  dram *dram;                   // NULL: fixed latency
  coming_write writes[COMING];  // a ring, by time
  unsigned first, coming;
  uint64_t next;          // decision
  uint64_t channel_free;  // requests
  uint64_t bus_free;      // words read
  unsigned *bytes_of;     // reads under way, by tag
  uint64_t *asked_of;
};

memsys_backing *memsys_backing_create(const hw_array *array, unsigned most) {
  memsys_backing *b = WF_NEW(memsys_backing);
  unsigned beat = array->dma.bus_bits / 8;
  b->bytes_per_cycle = array->memory.bytes_per_cycle;
  b->spacing = beat > b->bytes_per_cycle ? beat / b->bytes_per_cycle : 1;
  b->latency = array->memory.latency_cycles;
  b->path = array->memory.path_cycles;
  b->next = UINT64_MAX;
  if (array->memory.model == HW_MEMORY_FIXED) return b;
  b->dram = dram_create(array, most);
  b->bytes_of = WF_NEW_ARRAY(most, unsigned);
  b->asked_of = WF_NEW_ARRAY(most, uint64_t);
  return b;
}

void memsys_backing_destroy(memsys_backing *b) {
  if (b == NULL) return;
  dram_destroy(b->dram);
  wf_free(b->bytes_of);
  wf_free(b->asked_of);
  wf_free(b);
}

uint64_t memsys_backing_spacing(const memsys_backing *b) { return b->spacing; }

uint64_t memsys_backing_cycles(const memsys_backing *b, unsigned bytes) {
  return (bytes + b->bytes_per_cycle - 1) / b->bytes_per_cycle;
}

// A request of `beats` beats on the channel: the cycle in which it starts.
static uint64_t ask(memsys_backing *b, uint64_t cycle, uint64_t beats) {
  uint64_t start = wf_max(cycle, b->channel_free);
  b->channel_free = start + beats;
  return start;
}

// The bus brings `bytes` from its first free cycle on, at the earliest from `from`; returns that cycle.
static uint64_t bring(memsys_backing *b, uint64_t from, unsigned bytes) {
  uint64_t start = wf_max(from, b->bus_free);
  b->bus_free = start + memsys_backing_cycles(b, bytes);
  return start;
}

static uint64_t shortened(const memsys_backing *b, uint64_t cycles) {
  return cycles > b->spacing ? cycles - b->spacing : 0;
}

// A beat is there with its last word, so its first word came before.
static uint64_t less_spacing(const memsys_backing *b, uint64_t cycle, uint64_t asked) {
  return wf_max(shortened(b, cycle), asked + 1);
}

uint64_t memsys_backing_soonest(const memsys_backing *b) {
  return wf_max(1, shortened(b, b->dram == NULL ? b->latency : dram_soonest(b->dram) + b->path));
}

uint64_t memsys_backing_decided_soonest(const memsys_backing *b) {
  if (b->dram == NULL) return 0;
  return wf_min(shortened(b, dram_decided_soonest(b->dram, false) + b->path),
                dram_decided_soonest(b->dram, true) + b->path);
}

static void look_ahead(memsys_backing *b) {
  b->next = b->dram == NULL ? UINT64_MAX : dram_next(b->dram);
  if (b->coming != 0) b->next = wf_min(b->next, b->writes[b->first].from);
}

uint64_t memsys_backing_read(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  uint64_t start = ask(b, cycle, 1);
  if (b->dram == NULL) return bring(b, less_spacing(b, start + b->latency, start), bytes);
  b->bytes_of[tag] = bytes;
  b->asked_of[tag] = start;
  dram_ask(b->dram, start, address, bytes, false, tag);
  look_ahead(b);
  return BACKING_UNKNOWN;
}

// A write takes the channel for all of its words.
uint64_t memsys_backing_write(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  const uint64_t words = memsys_backing_cycles(b, bytes), sent = ask(b, cycle, words) + words;
  if (b->dram == NULL) return sent + b->latency;
  dram_ask(b->dram, sent, address, bytes, true, tag);
  look_ahead(b);
  return BACKING_UNKNOWN;
}

void memsys_backing_write_behind(memsys_backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  assert(b->coming < COMING);
  if (b->dram != NULL) cycle += POSTED_CYCLES;
  b->writes[(b->first + b->coming++) % COMING] =
      (coming_write){.from = cycle, .address = address, .bytes = bytes, .tag = tag};
  look_ahead(b);
}

// The first write that comes reaches the channel. True: memory has decided on it.
static bool arrive(memsys_backing *b, memsys_backing_decision *decision) {
  const coming_write *w = &b->writes[b->first];
  b->first = (b->first + 1) % COMING;
  b->coming--;
  const uint64_t there = memsys_backing_write(b, w->from, w->address, w->bytes, w->tag);
  *decision = (memsys_backing_decision){.tag = w->tag, .write = true, .cycle = there};
  look_ahead(b);
  return there != BACKING_UNKNOWN;
}

bool memsys_backing_decide(memsys_backing *b, uint64_t cycle, memsys_backing_decision *decision) {
  dram_decision decided;
  if (b->next > cycle) return false;
  if (b->coming != 0 && b->writes[b->first].from <= cycle) return arrive(b, decision);
  const bool any = dram_decide(b->dram, cycle, &decided);
  look_ahead(b);
  if (!any) return false;
  const unsigned tag = decided.tag;
  *decision = (memsys_backing_decision){.tag = tag, .write = decided.write, .cycle = decided.complete + b->path};
  if (!decided.write) decision->cycle = bring(b, less_spacing(b, decision->cycle, b->asked_of[tag]), b->bytes_of[tag]);
  return true;
}

uint64_t memsys_backing_next(const memsys_backing *b) { return b->next; }
