// SPDX-License-Identifier: Apache-2.0
// Address translation that is off: a request for another page than the requester's last one asks a shared buffer, which
// answers one of the two clients per cycle. See hw/rtl/weft_page_filter.sv.
//
// The registers change by themselves in at most two cycles after a lookup, and are brought to a cycle when a client
// asks. What arrives in a cycle (lookups, flush) is kept until its clock edge.
#include "sim/cycle/page_filter.h"

#include "base/alloc.h"
#include "isa/isa_fields.h"

enum { WRITER = 1, READER = 2, BOTH = WRITER | READER };  // bits of the clients

void cycle_pages_create(cycle_engine *c) { c->pages = WF_NEW(struct cycle_page_filter); }
void cycle_pages_destroy(cycle_engine *c) { wf_free(c->pages); }

static uint8_t answered(const struct cycle_page_filter *p) {
  if (p->asks != BOTH) return p->asks;
  return p->last_answered ? WRITER : READER;
}

static void clock_edge(struct cycle_page_filter *p) {
  uint8_t done = answered(p);
  if (done != 0) p->last_answered = (done & READER) != 0;
  p->asks &= (uint8_t)~done;
  for (unsigned i = 0; i < 2; i++) {
    uint8_t bit = (uint8_t)(1U << i);
    if ((done & bit) != 0) {
      p->known |= bit;
      p->last[i] = p->page[i];
    }
    if ((p->looks & bit) == 0) continue;
    p->page[i] = p->look_page[i];
    p->asks |= bit;
  }
  if (p->flush) p->known = 0;
  p->looks = 0;
  p->flush = false;
  p->time++;
}

static void bring_to(struct cycle_page_filter *p, uint64_t now) {
  while (p->time < now && (p->asks != 0 || p->looks != 0 || p->flush)) clock_edge(p);
  p->time = now;
}

bool cycle_pages_missing(const cycle_engine *c, uint64_t now, unsigned client) {
  struct cycle_page_filter *p = c->pages;
  bring_to(p, now);
  return ((p->asks & ~answered(p)) >> client & 1) != 0;
}

// A lookup of the page that is known changes nothing.
void cycle_pages_look(cycle_engine *c, uint64_t now, unsigned client, uint64_t page) {
  struct cycle_page_filter *p = c->pages;
  bring_to(p, now);
  if ((p->known >> client & 1) != 0 && p->last[client] == page) return;
  p->looks |= (uint8_t)(1U << client);
  p->look_page[client] = page;
  p->quiet_from = now + 3;
}

void cycle_pages_flush(cycle_engine *c, uint64_t now) {
  bring_to(c->pages, now);
  c->pages->flush = true;
}

void cycle_pages_report(cycle_engine *c, uint64_t now) {
  bring_to(c->pages, now);
  if (c->pages->asks == 0) return;
  cycle_event(c, ISA_EVENT_PAGE_HIT);
  cycle_event(c, ISA_EVENT_PAGE_REQUEST);
}
