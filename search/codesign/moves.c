// SPDX-License-Identifier: Apache-2.0
// Points that are worth a look, by each method (codesign.h). They only name points; the ladder decides what goes up.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/codesign/internal.h"

enum { LEADERS = 4, TRIES = 40, RANDOM_PART = 4 };

static const codesign_space *space_of(const codesign_loop *l) { return l->options->space; }

// ---- leaders: the best that are believed, of those that have climbed

typedef struct leaders {
  size_t site[LEADERS];
  size_t count;
} leaders;

static void insert(const codesign_result *r, leaders *list, size_t site) {
  size_t place = list->count;
  while (place > 0 && r->sites[site].mean < r->sites[list->site[place - 1]].mean) place--;
  if (place == LEADERS) return;
  if (list->count < LEADERS) list->count++;
  memmove(&list->site[place + 1], &list->site[place], (list->count - place - 1) * sizeof *list->site);
  list->site[place] = site;
}

static leaders leaders_of(const codesign_loop *l, unsigned rungs) {
  const codesign_result *r = l->result;
  leaders list = {.count = 0};
  for (size_t i = 0; i < r->count; i++)
    if (!r->sites[i].failed && r->sites[i].rungs >= rungs) insert(r, &list, i);
  return list;
}

// ---- random points

static codesign_point random_point(codesign_loop *l) {
  codesign_point point = {.at = {0}};
  for (size_t a = 0; a < space_of(l)->axis_count; a++)
    point.at[a] = (uint16_t)wf_random_below(&l->random, space_of(l)->axes[a].value_count);
  return point;
}

static size_t propose_random(codesign_loop *l, size_t count) {
  size_t added = 0;
  for (size_t tries = 0; added < count && tries < TRIES * count; tries++) {
    const codesign_point point = random_point(l);
    added += codesign_add(l, &point) != NULL;
  }
  return added;
}

// ---- steps of one axis

static bool step(const codesign_loop *l, codesign_point *point, size_t axis, int by) {
  const int at = point->at[axis] + by;
  if (at < 0 || at >= (int)space_of(l)->axes[axis].value_count) return false;
  point->at[axis] = (uint16_t)at;
  return true;
}

// Both neighbours of a point along each axis of those that `takes` says (NULL: all), from a random one on.
static size_t propose_steps(codesign_loop *l, const codesign_point *from, const bool *takes, size_t count) {
  const size_t axes = space_of(l)->axis_count, start = wf_random_below(&l->random, 2 * axes);
  size_t added = 0;
  for (size_t n = 0; n < 2 * axes && added < count; n++) {
    const size_t which = (start + n) % (2 * axes);
    codesign_point point = *from;
    if (takes != NULL && !takes[which / 2]) continue;
    if (step(l, &point, which / 2, which % 2 == 0 ? 1 : -1)) added += codesign_add(l, &point) != NULL;
  }
  return added;
}

// Steps of two or three axes at once from a point: what one step alone makes worse, as a larger side without the memory
// that it needs.
static size_t propose_jumps(codesign_loop *l, const codesign_point *from, size_t count) {
  const size_t axes = space_of(l)->axis_count;
  size_t added = 0;
  for (size_t tries = 0; added < count && tries < TRIES; tries++) {
    codesign_point point = *from;
    for (uint64_t left = 2 + wf_random_below(&l->random, 2); left > 0; left--)
      step(l, &point, wf_random_below(&l->random, axes), wf_random_one_in(&l->random, 2) ? 1 : -1);
    added += codesign_add(l, &point) != NULL;
  }
  return added;
}

// Steps of two of the axes that `takes` says at once, each in both directions, from a random pair on: a side and the
// memory that it needs, a memory and its banks, two memories with a constraint between them.
static size_t propose_pairs(codesign_loop *l, const codesign_point *from, const bool *takes, size_t count) {
  const size_t axes = space_of(l)->axis_count, all = 4 * axes * axes, start = wf_random_below(&l->random, all);
  size_t added = 0;
  for (size_t n = 0; n < all && added < count; n++) {
    const size_t which = (start + n) % all, a = which / 4 / axes, b = which / 4 % axes;
    codesign_point point = *from;
    if (a >= b || !takes[a] || !takes[b]) continue;
    if (step(l, &point, a, which % 2 == 0 ? 1 : -1) && step(l, &point, b, which / 2 % 2 == 0 ? 1 : -1))
      added += codesign_add(l, &point) != NULL;
  }
  return added;
}

// The best that is believed of the points with a value of an axis; SIZE_MAX: there is none.
static size_t best_with(const codesign_result *r, size_t axis, size_t at) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < r->count; i++) {
    if (r->sites[i].failed || r->sites[i].rungs == 0 || r->sites[i].point.at[axis] != at) continue;
    if (best == SIZE_MAX || r->sites[i].mean < r->sites[best].mean) best = i;
  }
  return best;
}

// A step and a jump from the best point of each value of some axis: another side is no worse for what the points that
// have it lack.
static size_t propose_niches(codesign_loop *l, size_t count) {
  const size_t axis = wf_random_below(&l->random, space_of(l)->axis_count);
  size_t added = 0;
  for (size_t at = 0; at < space_of(l)->axes[axis].value_count && added < count; at++) {
    const size_t best = best_with(l->result, axis, at);
    if (best == SIZE_MAX) continue;
    const codesign_point point = l->result->sites[best].point;
    added += propose_steps(l, &point, NULL, 1);
    if (added < count) added += propose_jumps(l, &point, 1);
  }
  return added;
}

static size_t propose_neighbours(codesign_loop *l, size_t count) {
  const leaders list = leaders_of(l, 1);
  const size_t steps = count - count / 2;
  size_t added = propose_niches(l, count / 4);
  for (size_t n = 0; n < list.count && added < steps; n++) {
    const codesign_point point = l->result->sites[list.site[n]].point;
    added += propose_steps(l, &point, NULL, steps - added);
  }
  for (size_t n = 0; n < list.count && added < count; n++) {
    const codesign_point point = l->result->sites[list.site[n]].point;
    added += propose_jumps(l, &point, count - added);
  }
  return added;
}

// ---- evolution

static const codesign_site *tournament(codesign_loop *l) {
  enum { ROUNDS = 3 };
  const codesign_result *r = l->result;
  const codesign_site *best = &r->sites[wf_random_below(&l->random, r->count)];
  for (int n = 1; n < ROUNDS; n++) {
    const codesign_site *other = &r->sites[wf_random_below(&l->random, r->count)];
    if (other->mean < best->mean) best = other;
  }
  return best;
}

static codesign_point child(codesign_loop *l) {
  const codesign_point a = tournament(l)->point, b = tournament(l)->point;
  const size_t axes = space_of(l)->axis_count;
  codesign_point point = a;
  for (size_t n = 0; n < axes; n++)
    if (wf_random_one_in(&l->random, 2)) point.at[n] = b.at[n];
  for (size_t n = 0; n < axes; n++)
    if (wf_random_one_in(&l->random, (int64_t)axes)) step(l, &point, n, wf_random_one_in(&l->random, 2) ? 1 : -1);
  return point;
}

static size_t propose_children(codesign_loop *l, size_t count) {
  size_t added = 0;
  for (size_t tries = 0; added < count && tries < TRIES * count; tries++) {
    const codesign_point point = child(l);
    added += codesign_add(l, &point) != NULL;
  }
  return added;
}

// ---- the gradient

// A change as engine flow says it; where that knows nothing of the axis, and the model's slopes are known, as these
// say.
static bool change_of(const codesign_loop *l, codesign_rung rung, const codesign_site *site, size_t n,
                      codesign_change *change) {
  const bool there = codesign_change_by(rung, l->options, site, n, change);
  if (!there || change->known || rung == CODESIGN_MODEL || site->slopes == NULL) return there;
  return codesign_change_by(CODESIGN_MODEL, l->options, site, n, change);
}

// The best change of each axis that the rung knows, at most two steps away; its value 0: none gains.
static void best_changes(const codesign_loop *l, codesign_rung rung, const codesign_site *site, codesign_change *best,
                         bool *blind) {
  enum { STEPS = 2 };
  codesign_change change;
  for (size_t a = 0; a < space_of(l)->axis_count; a++) {
    best[a] = (codesign_change){.axis = a, .at = site->point.at[a]};
    blind[a] = true;
  }
  for (size_t n = 0; change_of(l, rung, site, n, &change); n++) {
    const int away = abs((int)change.at - (int)site->point.at[change.axis]);
    if (!change.known) continue;
    blind[change.axis] = false;
    if (away <= STEPS && change.value < best[change.axis].value) best[change.axis] = change;
  }
}

// All changes that gain, together.
static codesign_point descend(const codesign_loop *l, const codesign_point *from, const codesign_change *best) {
  static const double least = 1e-4;
  codesign_point point = *from;
  for (size_t a = 0; a < space_of(l)->axis_count; a++)
    if (best[a].value < -least) point.at[a] = (uint16_t)best[a].at;
  return point;
}

// From a point: the whole descent, each of its changes alone, and steps of the blind axes with the descent and without.
static size_t propose_from(codesign_loop *l, codesign_rung rung, size_t index, size_t count) {
  codesign_change best[CODESIGN_AXES_MAX];
  bool blind[CODESIGN_AXES_MAX];
  const codesign_point from = l->result->sites[index].point;
  best_changes(l, rung, &l->result->sites[index], best, blind);
  const codesign_point whole = descend(l, &from, best);
  size_t added = codesign_add(l, &whole) != NULL;
  added += propose_steps(l, &whole, blind, count - added);
  for (size_t a = 0; a < space_of(l)->axis_count && added < count; a++) {
    codesign_point point = from;
    point.at[a] = (uint16_t)best[a].at;
    added += codesign_add(l, &point) != NULL;
  }
  if (added < count) added += propose_steps(l, &from, blind, count - added);
  return added + (added < count ? propose_pairs(l, &from, blind, count - added) : 0);
}

static size_t propose_gradient(codesign_loop *l, size_t count) {
  const leaders list = leaders_of(l, CODESIGN_FLOW + 1);
  const size_t own = count - count / 2;
  size_t added = 0;
  for (size_t n = 0; n < list.count && added < own; n++)
    added += propose_from(l, CODESIGN_FLOW, list.site[n], own - added);
  return added + propose_neighbours(l, count - added);
}

// The same for machines that engine flow has not run: the model says what their cycles depend on.
static size_t propose_machine(codesign_loop *l, size_t count) {
  const leaders list = leaders_of(l, CODESIGN_MODEL + 1);
  const size_t own = count - count / 2;
  size_t added = 0;
  for (size_t n = 0; n < list.count && added < own; n++) {
    codesign_site *site = &l->result->sites[list.site[n]];
    codesign_find_slopes(l, site);
    const codesign_rung rung = site->rungs > CODESIGN_FLOW ? CODESIGN_FLOW : CODESIGN_MODEL;
    added += propose_from(l, rung, list.site[n], own - added);
  }
  return added + propose_neighbours(l, count - added);
}

size_t codesign_propose(codesign_loop *l, size_t count) {
  static size_t (*const methods[CODESIGN_METHOD_COUNT])(codesign_loop *, size_t) = {
      [CODESIGN_GRADIENT] = propose_gradient,
      [CODESIGN_MACHINE] = propose_machine,
      [CODESIGN_NEIGHBOURS] = propose_neighbours,
      [CODESIGN_EVOLUTION] = propose_children,
      [CODESIGN_RANDOM] = propose_random};
  // Some at random, or all where the method has none left: what is far from the best is believed on thin grounds.
  const size_t own = methods[l->options->method](l, count - count / RANDOM_PART);
  return own + propose_random(l, own > 0 ? count / RANDOM_PART : count);
}
