// SPDX-License-Identifier: Apache-2.0
// The front of four figures in O(n log^2 n): see front.h.
//
// Rivals are sorted by all figures in turn, equal ones count as one. Then a rival can be beaten by earlier ones only.
// Halves are solved by themselves; what the left half beats in the right one is found in the order of energies, with a
// tree over the places of areas that knows the least memory of all areas up to a place.
#include "search/report/front.h"

#include <stdlib.h>

#include "base/alloc.h"

typedef struct entry {
  const report_rival *of;
  size_t area;  // its place among the areas, from 1
  bool beaten;
} entry;

typedef struct front {
  entry **order, **merged;
  int64_t *least;  // memory, by place of area: node i of a Fenwick tree
  size_t areas;
} front;

static int compare(double a, double b) { return (a > b) - (a < b); }

static int by_figures(const void *a, const void *b) {
  const report_rival *x = *(report_rival *const *)a, *y = *(report_rival *const *)b;
  int order = compare(x->cycles, y->cycles);
  if (order == 0) order = compare(x->energy_pj, y->energy_pj);
  if (order == 0) order = compare(x->logic_um2, y->logic_um2);
  return order != 0 ? order : (x->memory_bits > y->memory_bits) - (x->memory_bits < y->memory_bits);
}

static int by_area(const void *a, const void *b) {
  return compare((*(entry *const *)a)->of->logic_um2, (*(entry *const *)b)->of->logic_um2);
}

// ---- the tree

static void insert(front *f, size_t area, int64_t memory) {
  for (; area <= f->areas; area += area & -area)
    if (memory < f->least[area]) f->least[area] = memory;
}

static void take_out(front *f, size_t area) {
  for (; area <= f->areas; area += area & -area) f->least[area] = INT64_MAX;
}

static bool has_at_most(const front *f, size_t area, int64_t memory) {
  for (; area > 0; area -= area & -area)
    if (f->least[area] <= memory) return true;
  return false;
}

// ---- halves

// Both halves are in the order of energies; what is of the left goes into the tree before the right asks.
static void cross(front *f, size_t low, size_t middle, size_t high) {
  size_t left = low, right = middle, at = low;
  while (left < middle || right < high) {
    const bool of_left =
        right == high || (left < middle && f->order[left]->of->energy_pj <= f->order[right]->of->energy_pj);
    entry *e = f->order[of_left ? left++ : right++];
    if (of_left)
      insert(f, e->area, e->of->memory_bits);
    else
      e->beaten = e->beaten || has_at_most(f, e->area, e->of->memory_bits);
    f->merged[at++] = e;
  }
  for (size_t i = low; i < middle; i++) take_out(f, f->order[i]->area);
  for (size_t i = low; i < high; i++) f->order[i] = f->merged[i];
}

static void solve(front *f, size_t low, size_t high) {
  if (high - low < 2) return;
  const size_t middle = low + (high - low) / 2;
  solve(f, low, middle);
  solve(f, middle, high);
  cross(f, low, middle, high);
}

// The entries in the order of areas, each with its place.
static void number_areas(front *f, entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) f->order[i] = &entries[i];
  qsort(f->order, count, sizeof *f->order, by_area);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || by_area(&f->order[i - 1], &f->order[i]) != 0) f->areas++;
    f->order[i]->area = f->areas;
  }
}

static void mark(entry *entries, size_t count) {
  front f = {.order = wf_calloc(count + 1, sizeof *f.order), .merged = wf_calloc(count + 1, sizeof *f.merged)};
  number_areas(&f, entries, count);
  f.least = wf_calloc(f.areas + 1, sizeof *f.least);
  for (size_t i = 0; i <= f.areas; i++) f.least[i] = INT64_MAX;
  for (size_t i = 0; i < count; i++) f.order[i] = &entries[i];
  solve(&f, 0, count);
  wf_free(f.order);
  wf_free(f.merged);
  wf_free(f.least);
}

void report_find_front(report_rival *rivals, size_t count) {
  report_rival **sorted = wf_calloc(count + 1, sizeof *sorted);
  entry *entries = wf_calloc(count + 1, sizeof *entries);
  size_t distinct = 0;
  for (size_t i = 0; i < count; i++) sorted[i] = &rivals[i];
  qsort(sorted, count, sizeof *sorted, by_figures);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || by_figures(&sorted[i - 1], &sorted[i]) != 0) entries[distinct++].of = sorted[i];
  mark(entries, distinct);
  for (size_t i = 0, e = 0; i < count; i++) {
    if (by_figures(&sorted[i], &entries[e].of) != 0) e++;
    sorted[i]->beaten = entries[e].beaten;
  }
  wf_free(sorted);
  wf_free(entries);
}
