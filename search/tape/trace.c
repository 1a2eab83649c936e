// SPDX-License-Identifier: Apache-2.0
// See trace.h. Place 0 is that of all constants: what flows there is never looked at.
#include "search/tape/trace.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"

typedef struct entry {
  uint32_t a, b;
  double da, db;
} entry;

struct tape_trace {
  entry *entries;
  double *slopes;
  size_t count, room, slope_room;
};

tape_trace *tape_trace_create(void) {
  tape_trace *t = WF_NEW(tape_trace);
  tape_trace_clear(t);
  return t;
}

void tape_trace_destroy(tape_trace *t) {
  if (t == NULL) return;
  wf_free(t->entries);
  wf_free(t->slopes);
  wf_free(t);
}

size_t tape_trace_size(const tape_trace *t) { return t->count - 1; }

static uint32_t append(tape_trace *t, entry e) {
  if (t->count == t->room) {
    t->room = t->room == 0 ? 1024 : 2 * t->room;
    t->entries = wf_realloc(t->entries, t->room, sizeof *t->entries);
  }
  t->entries[t->count] = e;
  return (uint32_t)t->count++;
}

void tape_trace_clear(tape_trace *t) {
  t->count = 0;
  append(t, (entry){0});
}

tape_number tape_trace_variable(tape_trace *t, double value) {
  return (tape_number){.value = value, .node = append(t, (entry){0})};
}

tape_number tape_trace_of(tape_trace *t, double value, tape_number a, double da, tape_number b, double db) {
  if (a.node == 0 && b.node == 0) return tape_fixed(value);
  return (tape_number){.value = value, .node = append(t, (entry){.a = a.node, .b = b.node, .da = da, .db = db})};
}

tape_number tape_trace_exp(tape_trace *t, tape_number a) {
  const double value = exp(a.value);
  return tape_trace_of(t, value, a, value, tape_fixed(0), 0);
}

// `share`: of the larger one in the slope, 1 without a width.
tape_number tape_trace_max(tape_trace *t, tape_number a, tape_number b, double width) {
  const tape_number high = a.value >= b.value ? a : b, low = a.value >= b.value ? b : a;
  if (width == 0) return high;
  const double rest = exp((low.value - high.value) / width), share = 1 / (1 + rest);
  return tape_trace_of(t, high.value + width * log1p(rest), high, share, low, 1 - share);
}

tape_number tape_trace_min(tape_trace *t, tape_number a, tape_number b, double width) {
  const tape_number high = a.value > b.value ? a : b, low = a.value > b.value ? b : a;
  if (width == 0) return low;
  const double rest = exp((low.value - high.value) / width), share = 1 / (1 + rest);
  return tape_trace_of(t, low.value - width * log1p(rest), low, share, high, 1 - share);
}

// The norm of both whose degree is 1 / share; with a share below 0 that of the smaller one.
static tape_number norm(tape_trace *t, tape_number near, tape_number far, double share) {
  const double rest = pow(far.value / near.value, 1 / share), all = pow(1 + rest, share), part = all / (1 + rest);
  return tape_trace_of(t, near.value * all, near, part, far, part * rest * near.value / far.value);
}

tape_number tape_trace_larger(tape_trace *t, tape_number a, tape_number b, double share) {
  const tape_number high = a.value >= b.value ? a : b, low = a.value >= b.value ? b : a;
  return share == 0 || low.value <= 0 ? high : norm(t, high, low, share);
}

tape_number tape_trace_smaller(tape_trace *t, tape_number a, tape_number b, double share) {
  const tape_number high = a.value > b.value ? a : b, low = a.value > b.value ? b : a;
  return share == 0 || low.value <= 0 ? low : norm(t, low, high, -share);
}

void tape_trace_back(tape_trace *t, tape_number of) {
  if (t->slope_room < t->count) {
    t->slope_room = t->room;
    t->slopes = wf_realloc(t->slopes, t->slope_room, sizeof *t->slopes);
  }
  memset(t->slopes, 0, t->count * sizeof *t->slopes);
  t->slopes[of.node] = 1;
  for (size_t n = t->count; n-- > 1;) {
    const entry *e = &t->entries[n];
    const double slope = t->slopes[n];
    if (slope == 0) continue;
    t->slopes[e->a] += slope * e->da;
    t->slopes[e->b] += slope * e->db;
  }
}

double tape_trace_slope(const tape_trace *t, tape_number by) {
  assert(by.node < t->count);
  return by.node == 0 ? 0 : t->slopes[by.node];
}
