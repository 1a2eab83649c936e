// SPDX-License-Identifier: Apache-2.0
// Pieces take the lowest place one after the other (places.h); what is searched for is their order. Four orders that
// are good for most networks are tried first: by size, by bytes times steps, by steps, by first step. If none reaches
// the least bytes there can be, the best of them is changed: a piece that ends highest, or lies below it at the same
// time, goes before another of the order; what is worse is taken back. A network of a chain or of residual blocks
// needs the first order alone.
#include "compiler/network/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "compiler/network/places.h"

// Steps of places.h that changes may take, at most: some tenths of a second.
enum { WORK = 1 << 20, GROUP = 256, CHANGES = 4000, PIECES = 4096 };

// ---- the least bytes

typedef struct event {
  int step;
  int64_t bytes;  // negative: they end before the step
} event;

static int by_step(const void *a, const void *b) {
  const event *x = a, *y = b;
  if (x->step != y->step) return x->step < y->step ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

uint64_t network_arena_least(const network_piece *pieces, size_t count) {
  event *events = WF_NEW_ARRAY(2 * count + 1, event);
  for (size_t i = 0; i < count; i++) {
    events[2 * i] = (event){pieces[i].first, (int64_t)pieces[i].bytes};
    events[2 * i + 1] = (event){pieces[i].until + 1, -(int64_t)pieces[i].bytes};
  }
  qsort(events, 2 * count, sizeof *events, by_step);
  int64_t live = 0, most = 0;
  for (size_t i = 0; i < 2 * count; i++) {
    live += events[i].bytes;
    if (live > most) most = live;
  }
  wf_free(events);
  return (uint64_t)most;
}

// ---- orders

typedef struct order {
  network_piece *pieces;
  size_t count;
  size_t *of;    // the pieces, first come first
  uint64_t end;  // of the arena, in this order
} order;

static uint64_t place(const order *o) {
  wf_arena *arena = wf_arena_create();
  network_places *places = network_places_create(arena);
  uint64_t end = 0;
  for (size_t i = 0; i < o->count; i++) {
    network_piece *p = &o->pieces[o->of[i]];
    p->address = network_places_take(places, p->bytes, p->first, p->until);
    end = wf_max(end, p->address + p->bytes);
  }
  wf_arena_destroy(arena);
  return end;
}

typedef double rank_function(const network_piece *p);
static double steps_of(const network_piece *p) { return (double)p->until - p->first + 1; }
static double by_size(const network_piece *p) { return (double)p->bytes; }
static double by_area(const network_piece *p) { return (double)p->bytes * steps_of(p); }
static double by_life(const network_piece *p) { return steps_of(p); }
static double by_first(const network_piece *p) { return -(double)p->first; }

typedef struct ranked {
  double rank;
  int first;
  size_t piece;
} ranked;

static int by_rank(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? 1 : -1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->piece > y->piece) - (x->piece < y->piece);
}

static void sort(order *o, rank_function *rank) {
  ranked *all = WF_NEW_ARRAY(o->count + 1, ranked);
  for (size_t i = 0; i < o->count; i++) all[i] = (ranked){rank(&o->pieces[i]), o->pieces[i].first, i};
  qsort(all, o->count, sizeof *all, by_rank);
  for (size_t i = 0; i < o->count; i++) o->of[i] = all[i].piece;
  wf_free(all);
}

// ---- changes

// Where in the order a piece stands that ends highest, or one that lies below it while it lives.
static size_t draw_blocker(const order *o, uint64_t *random) {
  size_t top = 0;
  for (size_t i = 0; i < o->count; i++)
    if (o->pieces[o->of[i]].address + o->pieces[o->of[i]].bytes == o->end) top = i;
  if (wf_random_below(random, 2) == 0) return top;
  const network_piece *highest = &o->pieces[o->of[top]];
  size_t drawn = top, met = 0;
  for (size_t i = 0; i < o->count; i++) {
    const network_piece *p = &o->pieces[o->of[i]];
    if (p->first > highest->until || highest->first > p->until) continue;
    if (wf_random_below(random, ++met) == 0) drawn = i;
  }
  return drawn;
}

static void move(size_t *of, size_t from, size_t to) {
  const size_t piece = of[from];
  if (from < to)
    memmove(of + from, of + from + 1, (to - from) * sizeof *of);
  else
    memmove(of + to + 1, of + to, (from - to) * sizeof *of);
  of[to] = piece;
}

static void change(order *o, uint64_t least) {
  uint64_t random = 1;
  const size_t work = (o->count + 1) * (o->count / GROUP + 1);
  const size_t changes = o->count > PIECES ? 0 : wf_min((size_t)CHANGES, WORK / work);
  for (size_t n = 0; n < changes && o->end > least; n++) {
    const size_t from = draw_blocker(o, &random), to = wf_random_below(&random, o->count);
    move(o->of, from, to);
    const uint64_t end = place(o);
    if (end > o->end)
      move(o->of, to, from);
    else
      o->end = end;
  }
}

uint64_t network_arena_place(network_piece *pieces, size_t count) {
  static rank_function *const ranks[] = {by_size, by_area, by_life, by_first};
  const uint64_t least = network_arena_least(pieces, count);
  order o = {.pieces = pieces, .count = count, .of = WF_NEW_ARRAY(count + 1, size_t)};
  size_t best = 0;
  const size_t orders = count > PIECES ? 1 : sizeof ranks / sizeof *ranks;
  for (size_t r = 0; r < orders && (r == 0 || o.end > least); r++) {
    sort(&o, ranks[r]);
    const uint64_t end = place(&o);
    if (r > 0 && end >= o.end) continue;
    o.end = end;
    best = r;
  }
  sort(&o, ranks[best]);
  o.end = place(&o);
  change(&o, least);
  const uint64_t end = place(&o);
  wf_free(o.of);
  return end;
}
