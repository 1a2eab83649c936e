// SPDX-License-Identifier: Apache-2.0
// The response channel's queue: answers in the order in which they leave, each with the cycles of its beats.
//
// Counted from the start of the run: `end` answers were given, `head` of them taken by the port. Taken ones stay in the
// ring until `drained` passes them, so that the L2 knows when the places between it and the port became free.
#ifndef SIM_MEMSYS_ANSWERS_H
#define SIM_MEMSYS_ANSWERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/number.h"

typedef struct memsys_answer {
  uint64_t shown;           // the first beat is not there before
  uint64_t ready, spacing;  // beat n is not there before ready + n * spacing
  uint64_t order;           // of the request
  uint64_t taken;           // the cycle of its last beat; UINT64_MAX: not known yet
  unsigned id, beats;
  bool write;
  bool host;  // of a line for the host: the port sees nothing of it
} memsys_answer;

typedef struct memsys_answers {
  memsys_answer *ring;
  uint64_t mask;  // of places: short rings stay in the cache
  uint64_t head, end, drained;
  bool answering;       // the burst at the head is under way
  uint64_t next_beat;   // the channel is free
  unsigned host_lines;  // that the host asked for and that were not answered
  uint64_t host_there;  // the last beat of those that were
  uint64_t host_known;  // the first cycle in which the host may know of it
  uint64_t port_free;   // the cycle behind the last beat that the port took, or will have taken
} memsys_answers;

// For `most` answers at a time.
static inline void memsys_answers_init(memsys_answers *a, uint64_t most) {
  uint64_t places = 1;
  while (places < most) places *= 2;
  *a = (memsys_answers){.ring = WF_NEW_ARRAY(places, memsys_answer), .mask = places - 1};
}

static inline void memsys_answers_free(memsys_answers *a) { wf_free(a->ring); }

static inline memsys_answer *memsys_answer_at(memsys_answers *a, uint64_t number) { return &a->ring[number & a->mask]; }

// A place behind the others: all but `taken` is the caller's to fill in.
static inline memsys_answer *memsys_answers_add(memsys_answers *a) {
  assert(a->end - a->drained <= a->mask);
  memsys_answer *place = memsys_answer_at(a, a->end++);
  place->taken = UINT64_MAX;
  return place;
}

// The port has taken all of the first answer, its last beat in `last`.
static inline void memsys_answers_taken(memsys_answers *a, uint64_t last) {
  memsys_answer_at(a, a->head++)->taken = last;
  a->next_beat = last + 1;
  a->answering = false;
}

// Lines for the host that come next on the channel leave it as soon as they can, if they are shown up to and including
// `cycle`. Where answers keep their order that may be the future. The host knows of a line when the port has taken what
// stands before it, and not when a port that takes bursts as a whole could tell.
static inline void memsys_answers_pass_host(memsys_answers *a, uint64_t cycle) {
  while (!a->answering && a->head != a->end) {
    const memsys_answer *next = memsys_answer_at(a, a->head);
    if (!next->host || next->shown > cycle) return;
    const uint64_t first = wf_max(next->shown, a->next_beat);
    const uint64_t last = wf_max(first + next->beats - 1, next->ready + (next->beats - 1) * next->spacing);
    a->host_there = wf_max(a->host_there, last);
    a->host_known = a->port_free;
    a->host_lines--;
    memsys_answers_taken(a, last);
  }
}

#endif
