// SPDX-License-Identifier: Apache-2.0
// Bytes of main memory that commands have touched since the last fence, by page.
#ifndef SIM_RACES_BYTES_H
#define SIM_RACES_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct races_range {
  uint64_t first, end;
  uint32_t record;  // whose it is
  uint32_t next;    // of the page; 0: none
} races_range;

typedef struct races_pages {
  uint32_t *head[2];  // by page: the last range that is read, or written; 0: none
  uint32_t *since;    // by page: the round in which the heads were set
  uint32_t round;
  size_t pages;
  races_range *ranges;  // from 1
  size_t count, room;
} races_pages;

races_pages races_pages_begin(uint64_t memory_bytes);
void races_pages_end(races_pages *p);
void races_pages_forget(races_pages *p);
void races_pages_add(races_pages *p, uint64_t address, uint64_t bytes, bool writes, uint32_t record);
// Calls `meets` for each range, read or written, that shares bytes with these.
void races_pages_meet(const races_pages *p, uint64_t address, uint64_t bytes, bool written,
                      void (*meets)(void *context, uint32_t record, uint64_t first, uint64_t end), void *context);

#endif
