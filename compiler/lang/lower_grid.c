// SPDX-License-Identifier: Apache-2.0
// Parallel loops out of the programs of the grid.
//
// Every offset of a load or store is a column with an entry per program. Loops are found as coordinates: a column that
// is no affine function of the coordinates found so far gives a new one, which is what remains of it behind them,
// counted in its greatest common divisor. In the end every column must be affine in the coordinates, and the programs
// must be all their combinations, each once. If that fails, the axes of the grid are tried as coordinates.
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

enum { COORDINATES_MAX = 6 };

typedef struct coordinate {
  int64_t *at;  // per program, from 0
  int64_t trips;
  size_t column;  // where it was seen first
} coordinate;

typedef struct grid {
  lang_lowerer *l;
  int64_t programs;
  coordinate c[COORDINATES_MAX];
  int count;
  int64_t product;  // of the trips
} grid;

// constant + sum of factor * coordinate
typedef struct fit {
  int64_t constant, factor[COORDINATES_MAX];
} fit;

// Columns behind those of the offsets are the variables of the kernel.
static int64_t column_at(const grid *g, size_t column, int64_t program) {
  const lang_lowerer *l = g->l;
  if (column < l->slot_count) return l->slots[(size_t)program * l->slot_count + column];
  const size_t variables = (size_t)l->instance->kernel->function->local_count;
  return l->finals[(size_t)program * variables + column - l->slot_count];
}

static bool varies(const grid *g, size_t column) {
  for (int64_t p = 1; p < g->programs; p++)
    if (column_at(g, column, p) != column_at(g, column, 0)) return true;
  return false;
}

static int64_t code_of(const grid *g, int64_t program) {
  int64_t code = 0;
  for (int i = 0; i < g->count; i++) code = code * g->c[i].trips + g->c[i].at[program];
  return code;
}

static int64_t fitted(const grid *g, const fit *f, int64_t program) {
  int64_t sum = f->constant;
  for (int i = 0; i < g->count; i++) sum += f->factor[i] * g->c[i].at[program];
  return sum;
}

// The affine function through the least entries of a column per combination of coordinates; false: there is none.
static bool find_fit(const grid *g, size_t column, int64_t *least, fit *f) {
  *f = (fit){0};
  for (int64_t i = 0; i < g->product; i++) least[i] = INT64_MAX;
  for (int64_t p = 0; p < g->programs; p++) {
    int64_t *entry = &least[code_of(g, p)], v = column_at(g, column, p);
    if (v < *entry) *entry = v;
  }
  for (int64_t i = 0; i < g->product; i++)
    if (least[i] == INT64_MAX) return false;
  f->constant = least[0];
  int64_t weight = g->product;
  for (int i = 0; i < g->count; i++) {
    weight /= g->c[i].trips;
    f->factor[i] = least[weight] - least[0];
  }
  for (int64_t p = 0; p < g->programs; p++)
    if (least[code_of(g, p)] != fitted(g, f, p)) return false;
  return true;
}

// What remains of the column behind its fit becomes a coordinate, if anything remains.
static bool add_remainder(grid *g, size_t column, const fit *f) {
  int64_t divisor = 0, most = 0;
  for (int64_t p = 0; p < g->programs; p++) {
    const int64_t rest = column_at(g, column, p) - fitted(g, f, p);
    divisor = wf_common_factor(divisor, rest);
    if (rest > most) most = rest;
  }
  if (most == 0) return true;
  coordinate c = {
      .at = WF_ARENA_ARRAY(g->l->arena, (size_t)g->programs, int64_t), .trips = most / divisor + 1, .column = column};
  if (g->count == COORDINATES_MAX || c.trips > g->programs / g->product) return false;
  for (int64_t p = 0; p < g->programs; p++) c.at[p] = (column_at(g, column, p) - fitted(g, f, p)) / divisor;
  g->product *= c.trips;
  g->c[g->count++] = c;
  return true;
}

static bool is_product(const grid *g) {
  if (g->product != g->programs) return false;
  bool *seen = WF_ARENA_ARRAY(g->l->arena, (size_t)g->programs, bool);
  for (int64_t p = 0; p < g->programs; p++) {
    bool *entry = &seen[code_of(g, p)];
    if (*entry) return false;
    *entry = true;
  }
  return true;
}

static bool all_affine(const grid *g, int64_t *room) {
  fit f;
  for (size_t column = 0; column < g->l->slot_count; column++) {
    if (!varies(g, column)) continue;
    if (!find_fit(g, column, room, &f)) return false;
    for (int64_t p = 0; p < g->programs; p++)
      if (column_at(g, column, p) != fitted(g, &f, p)) return false;
  }
  return true;
}

// ---- which columns to look at, and in what order

typedef struct candidate {
  size_t column;
  int64_t distinct;
} candidate;

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_distinct(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->distinct != y->distinct) return x->distinct < y->distinct ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

static int64_t count_distinct(const grid *g, size_t column, int64_t *room) {
  int64_t count = 1;
  for (int64_t p = 0; p < g->programs; p++) room[p] = column_at(g, column, p);
  qsort(room, (size_t)g->programs, sizeof *room, by_value);
  for (int64_t p = 1; p < g->programs; p++) count += room[p] != room[p - 1];
  return count;
}

// Columns with few values first: one that mixes two coordinates has more than each of them alone. Columns of offsets
// must all fit; of variables, the ones that do not fit are passed over.
static bool from_columns(grid *g, size_t first, size_t end, int64_t *room) {
  candidate *candidates = WF_ARENA_ARRAY(g->l->arena, end - first + 1, candidate);
  size_t count = 0;
  g->count = 0;
  g->product = 1;
  for (size_t column = first; column < end; column++)
    if (varies(g, column)) candidates[count++] = (candidate){column, count_distinct(g, column, room)};
  qsort(candidates, count, sizeof *candidates, by_distinct);
  for (size_t i = 0; i < count; i++) {
    fit f;
    const bool fits = find_fit(g, candidates[i].column, room, &f) && add_remainder(g, candidates[i].column, &f);
    if (!fits && first == 0) return false;
  }
  return is_product(g) && all_affine(g, room);
}

static bool from_axes(grid *g) {
  const int64_t *axes = g->l->instance->grid;
  int64_t before = 1;
  g->count = 0;
  g->product = 1;
  for (int a = 0; a < LANG_GRID_AXES; before *= axes[a], a++) {
    if (axes[a] == 1) continue;
    coordinate c = {.at = WF_ARENA_ARRAY(g->l->arena, (size_t)g->programs, int64_t), .trips = axes[a]};
    for (int64_t p = 0; p < g->programs; p++) c.at[p] = p / before % axes[a];
    g->product *= c.trips;
    g->c[g->count++] = c;
  }
  return true;
}

// ---- loops

// A variable of the kernel that has just the values of the coordinate, or else one that is a multiple of it.
static const char *name_of(const grid *g, const coordinate *c) {
  const lang_ast *function = g->l->instance->kernel->function;
  const int count = function->local_count;
  for (int exact = 1; exact >= 0; exact--)
    for (int i = function->param_count; i < count; i++) {
      int64_t factor = exact, offset = 0;
      bool same = true;
      for (int64_t p = 0; p < g->programs && same; p++) {
        const int64_t v = g->l->finals[p * count + i];
        same = g->l->final_known[p * count + i];
        if (exact == 0 && c->at[p] == 0) offset = v;
        if (exact == 0 && c->at[p] == 1) factor = v;
      }
      if (exact == 0) factor -= offset;
      for (int64_t p = 0; p < g->programs && same; p++)
        same = g->l->finals[p * count + i] == offset + factor * c->at[p];
      if (same && factor != 0) return function->locals[i];
    }
  return "pid";
}

static int by_column(const void *a, const void *b) {
  const coordinate *x = a, *y = b;
  return (x->column > y->column) - (x->column < y->column);
}

static void set_offset(const grid *g, const int *loops, size_t column, int64_t *room, block_affine *affine) {
  fit f;
  find_fit(g, column, room, &f);
  affine->constant = f.constant;
  for (int i = 0; i < g->count; i++) affine->per_loop[loops[i]] = f.factor[i];
}

static void set_offsets(const grid *g, const int *loops, int64_t *room) {
  size_t column = 0;
  for (size_t e = 0; e < g->l->event_count; e++) {
    block_statement *s = g->l->events[e];
    if (s->kind != BLOCK_LOAD && s->kind != BLOCK_STORE) continue;
    block_access *a = s->kind == BLOCK_LOAD ? &s->load.access : &s->store.access;
    if (s->kind == BLOCK_STORE && s->store.lengths.most != 0)
      set_offset(g, loops, column++, room, &s->store.lengths.first);
    set_offset(g, loops, column++, room, &a->base);
    for (int d = 0; d < a->rank; d++) set_offset(g, loops, column++, room, &a->dim[d].offset);
  }
}

static bool no_product(lang_lowerer *l) {
  lang_lower_fail(l, l->instance->kernel->function, "the offsets of the programs are no product of loops");
  lang_lower_hint(l, "every block must be where start + i * a + j * b ... says, for all i, j, ... of a grid");
  return false;
}

bool lang_lower_grid(lang_lowerer *l, int64_t programs) {
  grid g = {.l = l, .programs = programs, .product = 1};
  int loops[COORDINATES_MAX];
  if (programs == 1) return true;
  int64_t *room = WF_ARENA_ARRAY(l->arena, (size_t)programs, int64_t);
  const size_t offsets = l->slot_count, variables = (size_t)l->instance->kernel->function->local_count;
  if (!from_columns(&g, 0, offsets, room) && !from_columns(&g, offsets, offsets + variables, room)) {
    from_axes(&g);
    if (!all_affine(&g, room)) return no_product(l);
  }
  qsort(g.c, (size_t)g.count, sizeof *g.c, by_column);
  for (int i = 0; i < g.count; i++)
    loops[i] = block_add_loop(l->program, block_fresh_name(l->program, name_of(&g, &g.c[i]), ""), g.c[i].trips, true);
  set_offsets(&g, loops, room);
  lang_lower_wrap(l, loops, g.count);
  return true;
}
