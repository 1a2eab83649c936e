// SPDX-License-Identifier: Apache-2.0
// The pairs that were found: see pairs.h.
#include "sim/races/pairs.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"

enum { SLOTS = 2 * RACES_KEPT, FIRST_ROOM = 64 };

// Accesses of the hart are known by their instruction.
static uint64_t name_of(const races_access *a) { return a->unit == RACES_HART ? a->command.pc : a->number; }

static uint64_t hash_of(const races_pair *p) {
  const uint64_t words[] = {name_of(&p->earlier), name_of(&p->later), p->earlier.unit, p->later.unit, p->place};
  return wf_hash(WF_HASH_START, words, sizeof words);
}

static bool same(const races_pair *a, const races_pair *b) {
  return a->place == b->place && a->earlier.unit == b->earlier.unit && a->later.unit == b->later.unit &&
         name_of(&a->earlier) == name_of(&b->earlier) && name_of(&a->later) == name_of(&b->later);
}

void races_pairs_end(races_pairs *p) {
  wf_free(p->item);
  wf_free(p->slots);
  *p = (races_pairs){0};
}

static void append(races_pairs *p, const races_pair *pair) {
  if (p->count == p->room) {
    p->room = wf_max(2 * p->room, (size_t)FIRST_ROOM);
    p->item = wf_realloc(p->item, p->room, sizeof *p->item);
  }
  p->item[p->count++] = *pair;
}

void races_pairs_add(races_pairs *p, const races_pair *pair) {
  if (p->slots == NULL) {
    p->slots = WF_NEW_ARRAY((size_t)SLOTS, uint32_t);
    p->slot_count = SLOTS;
  }
  size_t at = (size_t)(hash_of(pair) % p->slot_count);
  for (; p->slots[at] != 0; at = (at + 1) % p->slot_count) {
    races_pair *known = &p->item[p->slots[at] - 1];
    if (!same(known, pair)) continue;
    known->first = wf_min(known->first, pair->first);
    known->end = wf_max(known->end, pair->end);
    known->earlier.writes |= pair->earlier.writes;
    known->later.writes |= pair->later.writes;
    return;
  }
  p->races++;
  if (p->count == RACES_KEPT) return;
  append(p, pair);
  p->slots[at] = (uint32_t)p->count;
}
