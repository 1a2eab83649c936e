// SPDX-License-Identifier: Apache-2.0
// Commands in flight of a memory controller: the work each has left, and its tag.
// An allocation takes the lowest free entry; an entry with nothing left completes, the lowest first, one per cycle.
//
// Invariants: finished is a subset of valid; left[i] == 0 for a valid entry exactly when it is finished.
#include "sim/cycle/command_tracker.h"

#include <assert.h>

#include "base/alloc.h"

enum { WORD_BITS = 64 };

void cycle_tracker_init(cycle_tracker *t, uint32_t entries) {
  assert(entries >= 1 && entries <= CYCLE_TRACKER_WORDS * WORD_BITS);
  *t = (cycle_tracker){.entries = entries, .words = (entries + WORD_BITS - 1) / WORD_BITS};
  t->left = WF_NEW_ARRAY(entries, uint32_t);
  t->tag = WF_NEW_ARRAY(entries, uint8_t);
}

void cycle_tracker_free(cycle_tracker *t) {
  wf_free(t->left);
  wf_free(t->tag);
}

void cycle_tracker_show(cycle_tracker *t, uint8_t *tag) {
  uint32_t w = 0;
  while (t->finished[w] == 0) w++;
  t->shown = w * WORD_BITS + (uint32_t)__builtin_ctzll(t->finished[w]);
  *tag = t->tag[t->shown];
}

void cycle_tracker_done_taken(cycle_tracker *t) {
  uint32_t w = t->shown / WORD_BITS;
  uint64_t bit = UINT64_C(1) << t->shown % WORD_BITS;
  assert((t->finished[w] & bit) != 0);
  t->finished[w] &= ~bit;
  t->valid[w] &= ~bit;
  t->occupied--;
  t->complete--;
}

static void finish(cycle_tracker *t, uint32_t id) {
  t->finished[id / WORD_BITS] |= UINT64_C(1) << id % WORD_BITS;
  t->complete++;
}

uint8_t cycle_tracker_alloc(cycle_tracker *t, uint8_t tag, uint32_t count) {
  assert(cycle_tracker_room(t));
  uint32_t w = 0;
  while (t->valid[w] == UINT64_MAX) w++;
  uint64_t bit = ~t->valid[w] & (t->valid[w] + 1);
  uint32_t id = w * WORD_BITS + (uint32_t)__builtin_ctzll(bit);
  t->valid[w] |= bit;
  if (count == 0) finish(t, id);
  t->occupied++;
  t->left[id] = count;
  t->tag[id] = tag;
  return (uint8_t)id;
}

void cycle_tracker_return(cycle_tracker *t, uint8_t id, uint32_t count) {
  assert(id < t->entries && (t->valid[id / WORD_BITS] >> id % WORD_BITS & 1) != 0 && t->left[id] >= count);
  t->left[id] -= count;
  if (t->left[id] == 0) finish(t, id);
}
