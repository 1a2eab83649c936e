// SPDX-License-Identifier: Apache-2.0
// Steps from mappings to neighbours, always to the best of them that is better, by the model of the machine.
//
// A step cuts one dimension into another number of blocks, which need not divide it; moves its loop from one level to
// the other; changes places of two loops; keeps an operand longer or shorter; or gives a buffer one slot more or less.
// So the search reaches what no mapper proposes: imperfect factors, any order of the loops that can be carried out, any
// depth of buffers.
#include "base/number.h"
#include "search/predict/private.h"

enum { NEIGHBOURS = 128 };

typedef struct neighbours {
  const predict_chooser *chooser;
  map_mapping list[NEIGHBOURS];
  size_t count;
} neighbours;

static void add(neighbours *n, const map_mapping *mapping) {
  if (n->count < NEIGHBOURS && map_check(&n->chooser->layer, mapping, n->chooser->request->array, NULL))
    n->list[n->count++] = *mapping;
}

// Columns lie in whole rows of the memories.
static int64_t tile_of(const neighbours *n, unsigned dim, int64_t blocks) {
  const int64_t size = n->chooser->layer.size[dim], side = hw_derive(n->chooser->request->array).dim;
  int64_t tile = wf_ceil_div(size, blocks);
  if (dim == BLOCK_DIM_K || dim == BLOCK_DIM_C) tile = wf_ceil_div(tile, side) * side;
  return tile < size ? tile : size;
}

// The same loops over another number of blocks.
static void cut(neighbours *n, const map_mapping *from, unsigned dim, int64_t blocks) {
  const int64_t size = n->chooser->layer.size[dim];
  if (blocks < 1 || blocks > size) return;
  map_mapping m = *from;
  m.tile[dim] = tile_of(n, dim, blocks);
  const int64_t trips = wf_ceil_div(size, m.tile[dim]);
  if (m.tile[dim] == from->tile[dim]) return;
  if (m.dram[dim] == 1 && m.sp[dim] > 1) {
    m.sp[dim] = trips;
  } else {
    if (m.sp[dim] > trips) m.sp[dim] = trips;
    m.dram[dim] = wf_ceil_div(trips, m.sp[dim]);
  }
  add(n, &m);
}

static void cut_all(neighbours *n, const map_mapping *m) {
  static const unsigned dims[] = {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_K, BLOCK_DIM_C};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
    const int64_t blocks = wf_ceil_div(n->chooser->layer.size[dims[i]], m->tile[dims[i]]);
    cut(n, m, dims[i], blocks * 2);
    cut(n, m, dims[i], (blocks + 1) / 2);
    cut(n, m, dims[i], blocks + 1);
    cut(n, m, dims[i], blocks - 1);
  }
}

// The trips of a dimension from one level to the other.
static void move_all(neighbours *n, const map_mapping *from) {
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    if (from->sp[d] == from->dram[d]) continue;
    map_mapping m = *from;
    m.sp[d] = from->dram[d];
    m.dram[d] = from->sp[d];
    add(n, &m);
  }
}

// Every two loops of one level that exist.
static void swap_all(neighbours *n, const map_mapping *from, bool inner) {
  for (int a = inner ? BLOCK_DIMS : 0; a < (inner ? MAP_POSITIONS : BLOCK_DIMS); a++)
    for (int b = a + 1; b < (inner ? MAP_POSITIONS : BLOCK_DIMS); b++) {
      if (map_loop_trips(from, a) == 1 || map_loop_trips(from, b) == 1) continue;
      map_mapping m = *from;
      uint8_t *order = inner ? m.inner : m.outer;
      const int base = inner ? BLOCK_DIMS : 0;
      const uint8_t kept = order[a - base];
      order[a - base] = order[b - base];
      order[b - base] = kept;
      add(n, &m);
    }
}

// An operand is loaded inside of any loop that exists, or once.
static void keep_all(neighbours *n, const map_mapping *from) {
  for (int o = 0; o < MAP_RESULTS; o++)
    for (int r = 0; r <= MAP_POSITIONS; r++) {
      if (r == from->residency[o] || (r > 0 && map_loop_trips(from, r - 1) == 1)) continue;
      map_mapping m = *from;
      m.residency[o] = (uint8_t)r;
      add(n, &m);
    }
}

static void deepen_all(neighbours *n, const map_mapping *from) {
  for (int o = 0; o < MAP_OPERANDS; o++)
    for (int more = -1; more <= 1; more += 2) {
      map_mapping m = *from;
      m.depth[o] = (uint8_t)(m.depth[o] + more);
      add(n, &m);
    }
}

// Until no neighbour is better, or the evaluations are spent.
static void climb_from(predict_chooser *c, map_mapping from, double value, unsigned end) {
  for (bool better = true; better && c->evaluations < end;) {
    neighbours n = {.chooser = c};
    cut_all(&n, &from);
    move_all(&n, &from);
    deepen_all(&n, &from);
    swap_all(&n, &from, false);
    swap_all(&n, &from, true);
    keep_all(&n, &from);
    better = false;
    for (size_t i = 0; i < n.count && c->evaluations < end; i++) {
      const double there = predict_try(c, &n.list[i], PREDICT_CLIMBED);
      if (!(there < value)) continue;
      value = there;
      from = n.list[i];
      better = true;
    }
  }
}

// From the best of all and the best three of each source.
void predict_climb(predict_chooser *c, unsigned evaluations) {
  enum { OF_SOURCE = 3 };
  const unsigned end = c->evaluations + evaluations;
  predict_choice starts[1 + PREDICT_SOURCES * OF_SOURCE];
  size_t count = 0;
  if (c->best != NULL) starts[count++] = *c->best;
  for (size_t n = 0; n < OF_SOURCE; n++)
    for (int s = 0; s < PREDICT_SOURCES; s++)
      if (n < c->lists[s].count && &c->lists[s].choices[n] != c->best) starts[count++] = c->lists[s].choices[n];
  for (size_t i = 0; i < count; i++) climb_from(c, starts[i].mapping, starts[i].value, end);
}
