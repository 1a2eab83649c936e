// SPDX-License-Identifier: Apache-2.0
// Bytes of main memory that commands have touched: see bytes.h. A page that was not touched since the last fence costs
// one look, so the hart's own data costs little.
#include "sim/races/bytes.h"

#include "arch/memory.h"
#include "base/alloc.h"
#include "base/number.h"

enum { PAGE_BITS = 10, ROOM = 1024 };

races_pages races_pages_begin(uint64_t memory_bytes) {
  const size_t pages = (size_t)(memory_bytes >> PAGE_BITS) + 1;
  races_pages p = {.round = 1, .pages = pages, .count = 1, .room = ROOM, .since = WF_NEW_ARRAY(pages, uint32_t)};
  for (int w = 0; w < 2; w++) p.head[w] = WF_NEW_ARRAY(pages, uint32_t);
  p.ranges = WF_NEW_ARRAY((size_t)ROOM, races_range);
  return p;
}

void races_pages_end(races_pages *p) {
  wf_free(p->head[0]);
  wf_free(p->head[1]);
  wf_free(p->since);
  wf_free(p->ranges);
  *p = (races_pages){0};
}

void races_pages_forget(races_pages *p) {
  p->round++;
  p->count = 1;
}

static size_t page_of(uint64_t address) { return (size_t)((address - ARCH_MEMORY_BASE) >> PAGE_BITS); }

static void add_to_page(races_pages *p, size_t page, races_range range, bool writes) {
  if (p->since[page] != p->round) {
    p->head[0][page] = p->head[1][page] = 0;
    p->since[page] = p->round;
  }
  if (p->count == p->room) {
    p->room *= 2;
    p->ranges = wf_realloc(p->ranges, p->room, sizeof *p->ranges);
  }
  range.next = p->head[writes][page];
  p->head[writes][page] = (uint32_t)p->count;
  p->ranges[p->count++] = range;
}

// The last page of bytes inside the memory; others belong to no access that happens.
static bool pages_of(const races_pages *p, uint64_t address, uint64_t bytes, size_t *first, size_t *last) {
  if (bytes == 0 || address < ARCH_MEMORY_BASE) return false;
  *first = page_of(address);
  *last = page_of(address + bytes - 1);
  return *last < p->pages;
}

void races_pages_add(races_pages *p, uint64_t address, uint64_t bytes, bool writes, uint32_t record) {
  size_t first, last;
  if (!pages_of(p, address, bytes, &first, &last)) return;
  for (size_t page = first; page <= last; page++) {
    const uint64_t start = ARCH_MEMORY_BASE + ((uint64_t)page << PAGE_BITS), end = start + (UINT64_C(1) << PAGE_BITS);
    add_to_page(p, page,
                (races_range){.first = wf_max(address, start), .end = wf_min(address + bytes, end), .record = record},
                writes);
  }
}

void races_pages_meet(const races_pages *p, uint64_t address, uint64_t bytes, bool written,
                      void (*meets)(void *context, uint32_t record, uint64_t first, uint64_t end), void *context) {
  size_t first, last;
  if (!pages_of(p, address, bytes, &first, &last)) return;
  for (size_t page = first; page <= last; page++) {
    if (p->since[page] != p->round) continue;
    for (uint32_t at = p->head[written][page]; at != 0; at = p->ranges[at].next) {
      const races_range *r = &p->ranges[at];
      const uint64_t from = wf_max(address, r->first), to = wf_min(address + bytes, r->end);
      if (from < to) meets(context, r->record, from, to);
    }
  }
}
