// SPDX-License-Identifier: Apache-2.0
// See machine_walk.h. A loop whose iterations have come to take the same time is not walked further: the clocks go on
// by that time for each of the iterations left.
//
// This file is compiled once for plain numbers and once for those of a trace (machine_number.h).
#include <math.h>
#include <stdbool.h>

#include "search/model/machine_number.h"

typedef machine_number number;

enum { WALKED = 4 };          // iterations of a loop, at least
enum { STAGES_KEPT = 64 };    // whose ends are known
enum { PORTIONS_KEPT = 64 };  // of a fill of the only slot of a buffer

typedef struct clocks {
  number load, mesh, store;
  number free[MAP_OPERANDS][MAP_DEPTH_MAX];  // when the slot can be filled again
  number ends[STAGES_KEPT];                  // of the last stages
  number used[MAP_RESULTS][PORTIONS_KEPT];   // when a portion of the only slot was used
} clocks;

typedef struct walker {
  const map_layer *layer;
  const map_mapping *m;
  const machine_work *work;
  const machine_walk_terms *terms;
  const machine_smooth *s;
  int64_t trips[MAP_POSITIONS], at[MAP_POSITIONS];
  int results;                      // positions of loops over results
  uint64_t instance[MAP_OPERANDS];  // fills so far
  bool late;                        // loads stand just in front of the products that need them
  uint64_t stages;                  // so far
  unsigned portion[MAP_RESULTS];    // of the fill
  clocks t;
} walker;

#define TERM(w, name) ((w)->terms->of[MACHINE_TERM_##name])
#define STREAM(w, operand, name) ((w)->terms->stream[operand][MACHINE_STREAM_##name])

// Whether all loops from a position on, that the operand does not use, are in their first iteration: then something new
// of it is touched.
static bool touches_new(const walker *w, map_operand operand) {
  for (int p = w->m->residency[operand]; p < MAP_POSITIONS; p++)
    if (w->at[p] != 0 && !map_uses(w->layer->kind, operand, map_loop_dim(w->m, p))) return false;
  return true;
}

static bool starts(const walker *w, int position) {
  for (int p = position; p < MAP_POSITIONS; p++)
    if (w->at[p] != 0) return false;
  return true;
}

static bool ends(const walker *w, int position) {
  for (int p = position; p < MAP_POSITIONS; p++)
    if (w->at[p] != w->trips[p] - 1) return false;
  return true;
}

static number *slot(walker *w, map_operand operand) {
  return &w->t.free[operand][w->instance[operand] % w->work->depth[operand]];
}

// When the front end comes to the loads of a stage that stand just in front of it: as far ahead of the products as the
// station's entries reach. Entries that the work does not have reach as far back as one stage each.
static number reached(const walker *w) {
  const double stages = w->work->entries;
  if (stages < 1) return less(w->s, w->t.mesh, times(w->s, TERM(w, ENTRIES), TERM(w, MESH)));
  if (stages >= STAGES_KEPT) return fixed(0);
  const number end = w->t.ends[(w->stages - (uint64_t)stages) % STAGES_KEPT];
  const number more = less(w->s, TERM(w, ENTRIES), fixed(stages));
  return is_plain(more) ? end : less(w->s, end, times(w->s, more, TERM(w, MESH)));
}

// Whether each portion of the only slot of a buffer may be loaded again on its own; a load of several waits for all.
static bool is_piecemeal(const walker *w, map_operand operand) {
  const machine_stream *s = &w->work->load[operand];
  return w->work->depth[operand] == 1 && s->portions > 1 && s->commands >= 1 && !s->spread;
}

// When the rows of a portion are free for the next load into them.
static number free_from(walker *w, map_operand operand) {
  const unsigned portion = w->portion[operand]++;
  const number free =
      is_piecemeal(w, operand) && portion < PORTIONS_KEPT ? w->t.used[operand][portion] : *slot(w, operand);
  return sum(w->s, free, STREAM(w, operand, FREE_AFTER));
}

// A load into several blocks of the only slot keeps products before and behind waiting, as the rows between the blocks
// count as touched.
static number alone_of(const walker *w, map_operand operand) {
  const machine_stream *s = &w->work->load[operand];
  if (w->work->depth[operand] != 1 || !s->spread) return fixed(0);
  const number all = sum(w->s, STREAM(w, operand, LATENCY), STREAM(w, operand, DATA));
  const number behind = later(w->s, fixed(0), less(w->s, all, TERM(w, DIM)));
  return times(w->s, fixed(wf_min(s->commands, 1)), behind);
}

// Loads what the stage touches for the first time: when its first product can start, and when the mesh can be done with
// it at the earliest.
static void load(walker *w, map_operand operand, number *first, number *done) {
  const machine_smooth *s = w->s;
  if (!touches_new(w, operand)) return;
  const number data = STREAM(w, operand, DATA), latency = STREAM(w, operand, LATENCY);
  number start = later(s, w->t.load, free_from(w, operand));
  if (w->late) start = later(s, start, reached(w));
  w->t.load = sum(s, start, STREAM(w, operand, UNIT));
  const number ready = later(s, w->t.load, sum(s, sum(s, start, data), latency));
  const number enough = sum(s, sum(s, start, times(s, STREAM(w, operand, FIRST), data)), latency);
  *first = later(s, sum(s, *first, alone_of(w, operand)), sooner(s, ready, enough));
  *done = later(s, *done, sum(s, ready, times(s, STREAM(w, operand, REST), TERM(w, MESH))));
}

// A tile waits for its slot, and its bias for both.
static number start_tile(walker *w, number first) {
  w->instance[MAP_RESULTS]++;
  const number free = *slot(w, MAP_RESULTS);
  first = later(w->s, first, free);
  if (value_of(TERM(w, BIAS)) <= 0) return first;
  w->t.load = sum(w->s, later(w->s, w->t.load, free), TERM(w, BIAS));
  return later(w->s, first, sum(w->s, w->t.load, TERM(w, LOAD_LATENCY)));
}

static void start_fills(walker *w) {
  for (int o = 0; o < MAP_RESULTS; o++)
    if (starts(w, w->m->residency[o])) {
      w->instance[o]++;
      w->portion[o] = 0;
    }
}

static void end_fills(walker *w) {
  for (int o = 0; o < MAP_RESULTS; o++)
    if (touches_new(w, (map_operand)o) && w->portion[o] <= PORTIONS_KEPT) w->t.used[o][w->portion[o] - 1] = w->t.mesh;
  for (int o = 0; o < MAP_RESULTS; o++)
    if (ends(w, w->m->residency[o])) *slot(w, (map_operand)o) = w->t.mesh;
}

static void stage(walker *w) {
  number first = w->t.mesh, done = fixed(0);
  const bool tile_ends = ends(w, w->results);
  start_fills(w);
  if (starts(w, w->results)) first = start_tile(w, first);
  // What has its slot sooner comes first.
  const bool weights_first = value_of(*slot(w, MAP_WEIGHTS)) <= value_of(*slot(w, MAP_INPUTS));
  load(w, weights_first ? MAP_WEIGHTS : MAP_INPUTS, &first, &done);
  load(w, weights_first ? MAP_INPUTS : MAP_WEIGHTS, &first, &done);
  w->t.mesh = later(w->s, sum(w->s, first, TERM(w, MESH)), done);
  w->t.ends[++w->stages % STAGES_KEPT] = w->t.mesh;
  end_fills(w);
  if (!tile_ends) return;
  w->t.store = sum(w->s, later(w->s, w->t.store, sum(w->s, w->t.mesh, TERM(w, DRAIN))), TERM(w, STORE));
  *slot(w, MAP_RESULTS) = w->t.store;
}

static void push(const walker *w, number *to, int count, number by) {
  for (int i = 0; i < count; i++) to[i] = sum(w->s, to[i], by);
}

// Goes on by so many iterations of the loop at a position, as the one since `before` went. Buffers that the loop fills
// again are in use later by as much. Loads that run ahead do so by no more than they did.
static void go_on(walker *w, int position, const clocks *before, double iterations) {
  clocks *t = &w->t;
  const machine_smooth *s = w->s;
  const number count = fixed(iterations);
  const number of_mesh = less(s, t->mesh, before->mesh), of_store = less(s, t->store, before->store);
  const number of_load = sooner(s, less(s, t->load, before->load), later(s, of_mesh, of_store));
  const number mesh = times(s, count, of_mesh), store = times(s, count, of_store);
  t->load = sum(s, t->load, times(s, count, of_load));
  t->mesh = sum(s, t->mesh, mesh);
  t->store = sum(s, t->store, store);
  if (w->late) push(w, t->ends, STAGES_KEPT, mesh);
  for (int o = 0; o < MAP_OPERANDS; o++) {
    if (position >= (o == MAP_RESULTS ? w->results : w->m->residency[o])) continue;
    push(w, t->free[o], w->work->depth[o], o == MAP_RESULTS ? store : mesh);
    if (o != MAP_RESULTS && is_piecemeal(w, (map_operand)o)) push(w, t->used[o], PORTIONS_KEPT, mesh);
  }
}

// All iterations of the loops from a position on.
static void walk(walker *w, int position) {
  while (position < MAP_POSITIONS && w->trips[position] == 1) position++;
  if (position == MAP_POSITIONS) {
    stage(w);
    return;
  }
  const int64_t trips = w->trips[position];
  clocks before = w->t;
  for (int64_t i = 0; i < trips; i++) {
    if (i == WALKED && trips > WALKED + 1) {
      go_on(w, position, &before, (double)(trips - 1 - i));
      i = trips - 1;
    }
    before = w->t;
    w->at[position] = i;
    walk(w, position + 1);
  }
  w->at[position] = 0;
}

number machine_walk(const map_layer *layer, const map_mapping *mapping, const machine_work *work, bool late,
                    const machine_walk_terms *terms, const machine_smooth *smooth) {
  walker w = {.layer = layer, .m = mapping, .work = work, .terms = terms, .s = smooth, .late = late};
  for (int i = 0; i < MAP_POSITIONS; i++) {
    w.trips[i] = map_loop_trips(mapping, i);
    if (w.trips[i] > 1 && map_uses(layer->kind, MAP_RESULTS, map_loop_dim(mapping, i))) w.results = i + 1;
  }
  w.t.load = TERM(&w, FRONT);
  walk(&w, 0);
  return later(smooth, w.t.load, later(smooth, w.t.mesh, w.t.store));
}
