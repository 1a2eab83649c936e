// SPDX-License-Identifier: Apache-2.0
// Sparse copy of touched memory: see footprint.h. Pages live in an open-addressing table keyed by page number.
#include "sim/trace/footprint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { PAGE = 4096, FIRST_CAPACITY = 256 };

typedef struct page {
  uint64_t number;
  uint8_t bytes[PAGE];
  uint8_t written[PAGE];  // 1: the accelerator wrote this byte
} page;

struct sim_footprint {
  page **slots;
  size_t capacity;  // a power of two, at least twice the count
  size_t count;
};

sim_footprint *sim_footprint_create(void) {
  sim_footprint *print = WF_NEW(sim_footprint);
  print->capacity = FIRST_CAPACITY;
  print->slots = WF_NEW_ARRAY(print->capacity, page *);
  return print;
}

void sim_footprint_destroy(sim_footprint *print) {
  if (print == NULL) return;
  for (size_t i = 0; i < print->capacity; i++) wf_free(print->slots[i]);
  wf_free(print->slots);
  wf_free(print);
}

static page **slot_of(page **slots, size_t capacity, uint64_t number) {
  size_t i = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (capacity - 1);
  while (slots[i] != NULL && slots[i]->number != number) i = (i + 1) & (capacity - 1);
  return &slots[i];
}

static void grow(sim_footprint *print) {
  size_t capacity = print->capacity * 2;
  page **slots = WF_NEW_ARRAY(capacity, page *);
  for (size_t i = 0; i < print->capacity; i++) {
    page *p = print->slots[i];
    if (p != NULL) *slot_of(slots, capacity, p->number) = p;
  }
  wf_free(print->slots);
  print->slots = slots;
  print->capacity = capacity;
}

static page *page_at(sim_footprint *print, uint64_t number) {
  page **slot = slot_of(print->slots, print->capacity, number);
  if (*slot != NULL) return *slot;
  if (2 * (print->count + 1) > print->capacity) {
    grow(print);
    slot = slot_of(print->slots, print->capacity, number);
  }
  print->count++;
  *slot = WF_NEW(page);
  (*slot)->number = number;
  return *slot;
}

static size_t chunk_length(uint64_t address, size_t length) {
  size_t room = PAGE - (size_t)(address % PAGE);
  return length < room ? length : room;
}

void sim_footprint_read(sim_footprint *print, uint64_t address, const uint8_t *bytes, size_t length,
                        void (*changed)(void *context, uint64_t address, const uint8_t *bytes, size_t length),
                        void *context) {
  size_t run = 0;  // changed bytes just before position i
  for (size_t i = 0; i < length; i++) {
    page *p = page_at(print, (address + i) / PAGE);
    size_t offset = (size_t)((address + i) % PAGE);
    if (p->bytes[offset] != bytes[i]) {
      p->bytes[offset] = bytes[i];
      run++;
    } else if (run != 0) {
      changed(context, address + i - run, bytes + i - run, run);
      run = 0;
    }
  }
  if (run != 0) changed(context, address + length - run, bytes + length - run, run);
}

void sim_footprint_write(sim_footprint *print, uint64_t address, const uint8_t *bytes, size_t length) {
  while (length != 0) {
    size_t part = chunk_length(address, length);
    page *p = page_at(print, address / PAGE);
    size_t offset = (size_t)(address % PAGE);
    memcpy(p->bytes + offset, bytes, part);
    memset(p->written + offset, 1, part);
    address += part;
    bytes += part;
    length -= part;
  }
}

static int by_number(const void *a, const void *b) {
  const page *const *x = a, *const *y = b;
  return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

static page **sorted_pages(const sim_footprint *print) {
  page **pages = WF_NEW_ARRAY(print->count + 1, page *);
  size_t n = 0;
  for (size_t i = 0; i < print->capacity; i++)
    if (print->slots[i] != NULL) pages[n++] = print->slots[i];
  qsort(pages, n, sizeof(page *), by_number);
  return pages;
}

uint64_t sim_footprint_written_bytes(const sim_footprint *print) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < print->capacity; i++) {
    for (size_t k = 0; print->slots[i] != NULL && k < PAGE; k++) bytes += print->slots[i]->written[k];
  }
  return bytes;
}

static uint64_t hash_page(uint64_t state, const page *p) {
  for (size_t k = 0; k < PAGE; k++) {
    if (!p->written[k]) continue;
    uint64_t address = p->number * PAGE + k;
    bool starts_run = k == 0 || !p->written[k - 1];
    if (starts_run) {
      uint8_t little[8];
      for (int b = 0; b < 8; b++) little[b] = (uint8_t)(address >> (8 * b));
      state = wf_hash(state, little, sizeof little);
    }
    state = wf_hash(state, &p->bytes[k], 1);
  }
  return state;
}

uint64_t sim_footprint_digest(const sim_footprint *print) {
  page **pages = sorted_pages(print);
  uint64_t state = WF_HASH_START;
  for (size_t i = 0; i < print->count; i++) state = hash_page(state, pages[i]);
  wf_free(pages);
  return state;
}
