// The registers of the page filter, for the question that is asked in every cycle with a request. See page_filter.c.
// Included by weft_accel.h.
#ifndef SIM_CYCLE_PAGE_FILTER_H
#define SIM_CYCLE_PAGE_FILTER_H

#include "sim/cycle/weft_accel.h"

struct cycle_page_filter {
  uint64_t quiet_from;  // nobody asks from this cycle on
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

bool cycle_pages_missing(const cycle_engine *c, uint64_t now, unsigned client);

// miss_o of this cycle.
static inline bool cycle_pages_miss(const cycle_engine *c, uint64_t now, unsigned client) {
  return now < c->pages->quiet_from && cycle_pages_missing(c, now, client);
}

// A lookup of this page in this cycle or the next changes nothing, unless there is a flush.
static inline bool cycle_pages_knows(const cycle_engine *c, uint64_t now, unsigned client, uint64_t page) {
  const struct cycle_page_filter *p = c->pages;
  return now >= p->quiet_from && (p->known >> client & 1) != 0 && p->last[client] == page &&
         (p->asks | p->looks) == 0 && !p->flush;
}

// Some client has to wait for its page in this cycle.
static inline bool cycle_pages_contended(const cycle_engine *c, uint64_t now) {
  return now < c->pages->quiet_from && (cycle_pages_missing(c, now, 0) || cycle_pages_missing(c, now, 1));
}

#endif
