// SPDX-License-Identifier: Apache-2.0
// The lowest free place: see places.h.
//
// Pieces are kept by address, and by their first step where the address is the same, in groups. A sweep over them
// raises `at` to the end of each piece that lives at the same time, until there is room before the next piece. A group
// says of all its pieces when they live and how large the gaps between them are, so that one of which no piece is met,
// or every piece and no gap is large enough, is a single step of the sweep: n pieces take n * n / GROUP steps.
#include "compiler/network/places.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { GROUP = 256 };

typedef struct piece {
  uint64_t address, end;
  int first, until;
} piece;

typedef struct group {
  piece pieces[GROUP];
  int count;
  int least_first, most_first, least_until, most_until;
  uint64_t end, gap;  // of all pieces; the largest gap between one and those before it
} group;

struct network_places {
  wf_arena *arena;
  group **groups;
  size_t count, room;
};

network_places *network_places_create(wf_arena *arena) {
  network_places *places = WF_ARENA_NEW(arena, network_places);
  places->arena = arena;
  return places;
}

// ---- groups

static void sum_up(group *g) {
  g->least_first = g->least_until = INT_MAX;
  g->most_first = g->most_until = INT_MIN;
  g->end = g->pieces[0].end;
  g->gap = 0;
  for (int i = 0; i < g->count; i++) {
    const piece *p = &g->pieces[i];
    if (p->first < g->least_first) g->least_first = p->first;
    if (p->first > g->most_first) g->most_first = p->first;
    if (p->until < g->least_until) g->least_until = p->until;
    if (p->until > g->most_until) g->most_until = p->until;
    if (p->address > g->end && p->address - g->end > g->gap) g->gap = p->address - g->end;
    if (p->end > g->end) g->end = p->end;
  }
}

static bool is_before(const piece *a, const piece *b) {
  return a->address != b->address ? a->address < b->address : a->first < b->first;
}

// The upper half of a full group becomes the next one.
static void split(network_places *places, size_t at) {
  group *low = places->groups[at], *high = WF_ARENA_NEW(places->arena, group);
  *WF_ARENA_PUSH(places->arena, places->groups, places->count, &places->room) = NULL;
  memmove(&places->groups[at + 2], &places->groups[at + 1], (places->count - at - 2) * sizeof(group *));
  places->groups[at + 1] = high;
  low->count = high->count = GROUP / 2;
  memcpy(high->pieces, low->pieces + GROUP / 2, sizeof *high->pieces * (GROUP / 2));
  sum_up(low);
  sum_up(high);
}

static void insert(network_places *places, const piece *p) {
  if (places->count == 0)
    *WF_ARENA_PUSH(places->arena, places->groups, places->count, &places->room) = WF_ARENA_NEW(places->arena, group);
  size_t at = 0;
  while (at + 1 < places->count && is_before(&places->groups[at + 1]->pieces[0], p)) at++;
  if (places->groups[at]->count == GROUP) {
    split(places, at);
    if (is_before(&places->groups[at + 1]->pieces[0], p)) at++;
  }
  group *g = places->groups[at];
  int i = g->count++;
  for (; i > 0 && is_before(p, &g->pieces[i - 1]); i--) g->pieces[i] = g->pieces[i - 1];
  g->pieces[i] = *p;
  sum_up(g);
}

// ---- the sweep

static bool meets(const piece *p, const piece *other) { return p->first <= other->until && other->first <= p->until; }

static bool meets_none(const piece *p, const group *g) { return p->first > g->most_until || p->until < g->least_first; }

static bool meets_all(const piece *p, const group *g) {
  return p->first <= g->least_until && p->until >= g->most_first;
}

// Raises p->address behind the pieces of the group that it meets; true when it fits before one of them.
static bool sweep(const group *g, piece *p, uint64_t bytes) {
  for (int i = 0; i < g->count; i++) {
    const piece *other = &g->pieces[i];
    if (!meets(p, other) || other->end <= p->address) continue;
    if (p->address + bytes <= other->address) return true;
    p->address = other->end;
  }
  return false;
}

uint64_t network_places_take(network_places *places, uint64_t bytes, int first, int until) {
  piece p = {.first = first, .until = until};
  bool found = false;
  for (size_t i = 0; i < places->count && !found; i++) {
    const group *g = places->groups[i];
    if (meets_none(&p, g)) continue;
    if (p.address + bytes > g->pieces[0].address && meets_all(&p, g) && g->gap < bytes)
      p.address = g->end > p.address ? g->end : p.address;
    else
      found = sweep(g, &p, bytes);
  }
  p.end = p.address + bytes;
  insert(places, &p);
  return p.address;
}
