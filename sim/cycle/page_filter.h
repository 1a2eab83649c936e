// SPDX-License-Identifier: Apache-2.0
// The page filter: client 0 is the DMA writer, 1 the DMA reader. Its registers stand here for the question that is
// asked in every cycle with a request. See page_filter.c.
#ifndef SIM_CYCLE_PAGE_FILTER_H
#define SIM_CYCLE_PAGE_FILTER_H

#include "sim/cycle/engine.h"

struct cycle_page_filter {
  uint64_t quiet_from;  // no client waits from this cycle on
  uint64_t time;        // of the registers
  // registers, client i at bit i
  uint8_t known, asks;
  bool last_answered;
  uint64_t last[2], page[2];
  // inputs of cycle `time`
  uint8_t looks;
  bool flush;
  uint64_t look_page[2];
};

void cycle_pages_create(cycle_engine *c);
void cycle_pages_destroy(cycle_engine *c);
// look_valid_i in this cycle.
void cycle_pages_look(cycle_engine *c, uint64_t now, unsigned client, uint64_t page);
// flush_i, after all looks of this cycle.
void cycle_pages_flush(cycle_engine *c, uint64_t now);
// The events of this cycle.
void cycle_pages_report(cycle_engine *c, uint64_t now);
bool cycle_pages_missing(const cycle_engine *c, uint64_t now, unsigned client);

// miss_o of this cycle.
static inline bool cycle_pages_miss(const cycle_engine *c, uint64_t now, unsigned client) {
  return now < c->pages->quiet_from && cycle_pages_missing(c, now, client);
}

// Some client has to wait for its page in this cycle.
static inline bool cycle_pages_contended(const cycle_engine *c, uint64_t now) {
  return now < c->pages->quiet_from && (cycle_pages_missing(c, now, 0) || cycle_pages_missing(c, now, 1));
}

#endif
