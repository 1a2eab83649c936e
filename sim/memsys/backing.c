// Memory behind the L2: see backing.h for the rules this file implements.
#include "sim/memsys/backing.h"

#include <assert.h>
#include <stddef.h>

#include "hw/base/alloc.h"
#include "sim/memsys/dram.h"

struct backing {
  uint64_t bytes_per_cycle, spacing, latency, path;
  dram *dram;                     // NULL: fixed latency
  uint64_t next;                  // decision
  uint64_t channel_free;          // requests
  uint64_t bus_free;              // words read
  unsigned bytes_of[DRAM_READS];  // under way, by tag
  uint64_t asked_of[DRAM_READS];
};

backing *backing_create(const hw_array *array) {
  backing *b = WF_NEW(backing);
  unsigned beat = array->dma.bus_bits / 8;
  b->bytes_per_cycle = array->memory.bytes_per_cycle;
  b->spacing = beat > b->bytes_per_cycle ? beat / b->bytes_per_cycle : 1;
  b->latency = array->memory.latency_cycles;
  b->path = array->memory.path_cycles;
  b->next = UINT64_MAX;
  if (array->memory.model != HW_MEMORY_FIXED) b->dram = dram_create(array);
  return b;
}

void backing_destroy(backing *b) {
  if (b == NULL) return;
  dram_destroy(b->dram);
  wf_free(b);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t backing_spacing(const backing *b) { return b->spacing; }

uint64_t backing_cycles(const backing *b, unsigned bytes) {
  return (bytes + b->bytes_per_cycle - 1) / b->bytes_per_cycle;
}

// A request of so many beats on the channel: the cycle in which it starts.
static uint64_t ask(backing *b, uint64_t cycle, uint64_t beats) {
  uint64_t start = later(cycle, b->channel_free);
  b->channel_free = start + beats;
  return start;
}

// The bus brings `bytes` from the first cycle on, not before `from`, in which it is free; returns that cycle.
static uint64_t bring(backing *b, uint64_t from, unsigned bytes) {
  uint64_t start = later(from, b->bus_free);
  b->bus_free = start + backing_cycles(b, bytes);
  return start;
}

static uint64_t shortened(const backing *b, uint64_t cycles) { return cycles > b->spacing ? cycles - b->spacing : 0; }

// A beat is there with its last word, so its first word came before.
static uint64_t less_spacing(const backing *b, uint64_t cycle, uint64_t asked) {
  return later(shortened(b, cycle), asked + 1);
}

uint64_t backing_soonest(const backing *b) {
  return later(1, shortened(b, b->dram == NULL ? b->latency : dram_soonest(b->dram) + b->path));
}

uint64_t backing_decided_soonest(const backing *b) {
  return b->dram == NULL ? 0 : shortened(b, dram_decided_soonest(b->dram) + b->path);
}

uint64_t backing_read(backing *b, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  uint64_t start = ask(b, cycle, 1);
  if (b->dram == NULL) return bring(b, less_spacing(b, start + b->latency, start), bytes);
  assert(tag < DRAM_READS);
  b->bytes_of[tag] = bytes;
  b->asked_of[tag] = start;
  dram_read(b->dram, start, address, bytes, tag);
  b->next = dram_next(b->dram);
  return BACKING_UNKNOWN;
}

uint64_t backing_read_first(backing *b, uint64_t cycle, uint64_t address, unsigned bytes) {
  uint64_t there = cycle + b->latency;
  if (b->dram != NULL) {
    there = dram_read_first(b->dram, cycle, address, bytes) + b->path;
    b->next = dram_next(b->dram);
  }
  return bring(b, less_spacing(b, there, cycle), bytes);
}

uint64_t backing_write(backing *b, uint64_t cycle, uint64_t address, unsigned bytes) {
  uint64_t beats = backing_cycles(b, bytes), end = ask(b, cycle, beats) + beats;
  if (b->dram == NULL) return end + b->latency;
  uint64_t there = dram_write(b->dram, end, address, bytes);
  b->next = dram_next(b->dram);
  return there + b->path;
}

bool backing_decide(backing *b, uint64_t cycle, unsigned *tag, uint64_t *first) {
  uint64_t complete;
  if (b->next > cycle) return false;
  bool read = dram_decide(b->dram, cycle, tag, &complete);
  b->next = dram_next(b->dram);
  if (!read) return false;
  *first = bring(b, less_spacing(b, complete + b->path, b->asked_of[*tag]), b->bytes_of[*tag]);
  return true;
}

uint64_t backing_next(const backing *b) { return b->next; }
