// SPDX-License-Identifier: Apache-2.0
// See ramps.h.
#include "compiler/quantise/ramps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

enum { VALUES = QUANTISE_RAMPS_VALUES, BASIS = GRAPH_CURVE_RAMPS + 1, COARSE = 4, NEAR = 3, ROUNDS = 4 };
static const int slopes[] = {1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, 12};
enum { SLOPES = sizeof slopes / sizeof *slopes };

static const double nothing = 1e-6, worth = 0.999;

// Sums of weight times a row, and of weight times the row times its place, below each place.
typedef struct sums {
  double of[VALUES + 1], slant[VALUES + 1];
} sums;

enum { STARTS = INT8_MAX - INT8_MIN + 1 };

struct quantise_ramps_search {
  const quantise_ramps_goal *goal;
  uint64_t random;
  double squares[SLOPES][STARTS];  // of every ramp
};

// What the ramps but one leave: rows that are orthonormal, and the rest of the target.
typedef struct others {
  int count;
  double rows[BASIS][VALUES], rest[VALUES];
  sums row_sums[BASIS], rest_sums;
} others;

static double value(quantise_ramp r, int place) {
  const int at = r.slope * (place - VALUES / 2) + r.start;
  return at < 0 ? 0 : at > INT8_MAX ? INT8_MAX : at;
}

static double dot(const quantise_ramps_goal *g, const double *a, const double *b) {
  double sum = 0;
  for (int q = 0; q < VALUES; q++) sum += g->weight[q] * a[q] * b[q];
  return sum;
}

static void sum_up(const quantise_ramps_goal *g, const double *row, sums *to) {
  to->of[0] = to->slant[0] = 0;
  for (int q = 0; q < VALUES; q++) {
    const double part = g->weight[q] * row[q];
    to->of[q + 1] = to->of[q] + part;
    to->slant[q + 1] = to->slant[q] + part * (q - VALUES / 2);
  }
}

// ---- one ramp against rows

// Places from `begin` to `end` lie on the slope; those before have `before`, those behind `behind`.
typedef struct shape {
  quantise_ramp ramp;
  int begin, end;
  double before, behind;
} shape;

static int clamp_place(double place) { return place < 0 ? 0 : place > VALUES ? VALUES : (int)place; }

static shape shape_of(quantise_ramp r) {
  const double zero = VALUES / 2 - (double)r.start / r.slope, top = zero + (double)INT8_MAX / r.slope;
  const double begin = r.slope > 0 ? zero : top, end = r.slope > 0 ? top : zero;
  return (shape){r, clamp_place(ceil(begin)), clamp_place(ceil(end)), r.slope > 0 ? 0 : INT8_MAX,
                 r.slope > 0 ? INT8_MAX : 0};
}

static double against(const shape *s, const sums *of) {
  return s->before * of->of[s->begin] + s->ramp.slope * (of->slant[s->end] - of->slant[s->begin]) +
         s->ramp.start * (of->of[s->end] - of->of[s->begin]) + s->behind * (of->of[VALUES] - of->of[s->end]);
}

// ---- what the others leave

// Takes out of a row what the basis has of it.
static void take_out(const quantise_ramps_goal *g, const others *o, double *row) {
  for (int i = 0; i < o->count; i++) {
    const double part = dot(g, row, o->rows[i]);
    for (int q = 0; q < VALUES; q++) row[q] -= part * o->rows[i][q];
  }
}

// A row that is nearly a sum of those before it adds nothing.
static void add_row(const quantise_ramps_goal *g, others *o, const double *from) {
  double *row = o->rows[o->count];
  memcpy(row, from, VALUES * sizeof *row);
  take_out(g, o, row);
  const double left = dot(g, row, row), whole = dot(g, from, from);
  if (left <= nothing * (whole + 1)) return;
  for (int q = 0; q < VALUES; q++) row[q] /= sqrt(left);
  sum_up(g, row, &o->row_sums[o->count++]);
}

// All ramps but number `but` (none: -1), and the offset.
static void find_others(const quantise_ramps_goal *g, const quantise_ramps *r, int but, others *o) {
  double row[VALUES];
  o->count = 0;
  for (int q = 0; q < VALUES; q++) row[q] = 1;
  add_row(g, o, row);
  for (int i = 0; i < r->count; i++) {
    if (i == but) continue;
    for (int q = 0; q < VALUES; q++) row[q] = value(r->ramps[i], q);
    add_row(g, o, row);
  }
  memcpy(o->rest, g->target, sizeof o->rest);
  take_out(g, o, o->rest);
  sum_up(g, o->rest, &o->rest_sums);
}

// ---- places

typedef struct place {
  quantise_ramp ramp;
  double gain;
} place;

static void try_place(const quantise_ramps_search *s, const others *o, int slope, int start, place *best) {
  const shape at = shape_of((quantise_ramp){slopes[slope], start});
  const double square = s->squares[slope][start - INT8_MIN], rest = against(&at, &o->rest_sums);
  double own = square;
  for (int i = 0; i < o->count; i++) {
    const double part = against(&at, &o->row_sums[i]);
    own -= part * part;
  }
  if (own <= nothing * (square + 1)) return;
  const double gain = rest * rest / own;
  if (gain > best->gain) *best = (place){at.ramp, gain};
}

static void try_starts(const quantise_ramps_search *s, const others *o, int slope, int from, int to, int by,
                       place *best) {
  for (int start = from < INT8_MIN ? INT8_MIN : from; start <= to && start <= INT8_MAX; start += by)
    try_place(s, o, slope, start, best);
}

// Puts ramp number `at` where it explains most.
static void put(const quantise_ramps_search *s, int least_slope, int at, bool everywhere, quantise_ramps *r) {
  others o;
  find_others(s->goal, r, at, &o);
  const quantise_ramp was = r->ramps[at];
  place best = {was, -1};
  for (int k = 0; k < SLOPES; k++) {
    if (abs(slopes[k]) < least_slope) continue;
    const int near = (int)lrint((double)was.start * slopes[k] / was.slope);
    if (everywhere) try_starts(s, &o, k, INT8_MIN, INT8_MAX, COARSE, &best);
    if (near >= INT8_MIN && near <= INT8_MAX) try_starts(s, &o, k, near - NEAR, near + NEAR, 1, &best);
  }
  r->ramps[at] = best.ramp;
  r->left = dot(s->goal, o.rest, o.rest) - fmax(best.gain, 0);
}

// All in turn, until that no longer helps.
static void descend(const quantise_ramps_search *s, int least_slope, quantise_ramps *r) {
  for (int round = 0; round < ROUNDS; round++) {
    const double before = r->left;
    for (int i = 0; i < r->count; i++) put(s, least_slope, i, round < 2, r);
    if (r->left > worth * before) return;
  }
}

static void move_at_random(quantise_ramps_search *s, int least_slope, quantise_ramps *r) {
  for (int moved = 0; moved < 2; moved++) {
    quantise_ramp *one = &r->ramps[wf_random_below(&s->random, (uint64_t)r->count)];
    do one->slope = WF_RANDOM_PICK(&s->random, slopes);
    while (abs(one->slope) < least_slope);
    one->start = (int)wf_random_in(&s->random, INT8_MIN, INT8_MAX);
  }
  r->left = INFINITY;
}

// ---- weights

// The ramps' own rows against the target: the last row has what the sum of the others leaves over, and so on back.
static void find_weights(const quantise_ramps_goal *g, quantise_ramps *r) {
  double rest[VALUES];
  memcpy(rest, g->target, sizeof rest);
  for (int i = r->count - 1; i >= 0; i--) {
    others o;
    quantise_ramps before = *r;
    double row[VALUES], own[VALUES];
    before.count = i;
    find_others(g, &before, -1, &o);
    for (int q = 0; q < VALUES; q++) own[q] = row[q] = value(r->ramps[i], q);
    take_out(g, &o, own);
    const double square = dot(g, own, own);
    r->weights[i] = square <= nothing * (dot(g, row, row) + 1) ? 0 : dot(g, own, rest) / square;
    for (int q = 0; q < VALUES; q++) rest[q] -= r->weights[i] * row[q];
  }
  r->offset = 0;
  for (int q = 0; q < VALUES; q++) r->offset += g->weight[q] * rest[q];
}

// ---- the search

quantise_ramps_search *quantise_ramps_begin(const quantise_ramps_goal *goal) {
  quantise_ramps_search *s = WF_NEW(quantise_ramps_search);
  s->goal = goal;
  for (int k = 0; k < SLOPES; k++)
    for (int start = INT8_MIN; start <= INT8_MAX; start++)
      for (int q = 0; q < VALUES; q++) {
        const double at = value((quantise_ramp){slopes[k], start}, q);
        s->squares[k][start - INT8_MIN] += goal->weight[q] * at * at;
      }
  return s;
}

void quantise_ramps_end(quantise_ramps_search *search) { wf_free(search); }

void quantise_ramps_add(quantise_ramps_search *s, int least_slope, quantise_ramps *found) {
  found->ramps[found->count++] = (quantise_ramp){least_slope, 0};
  put(s, least_slope, found->count - 1, true, found);
  descend(s, least_slope, found);
  find_weights(s->goal, found);
}

void quantise_ramps_again(quantise_ramps_search *s, int least_slope, quantise_ramps *found) {
  move_at_random(s, least_slope, found);
  descend(s, least_slope, found);
  find_weights(s->goal, found);
}
