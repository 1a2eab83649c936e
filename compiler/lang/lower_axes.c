// SPDX-License-Identifier: Apache-2.0
// The axes of the grid as loops of the program: what makes one run of the kernel enough.
//
// A kernel that takes a program id apart (`id // columns`, `id % columns`) is affine if the axis is two loops, one of
// `columns` iterations inside. Which splits are needed shows when a division is not affine; the run then starts again.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

bool lang_lower_begin_axes(lang_lowerer *l) {
  l->split_loop = BLOCK_NONE;
  for (int a = 0; a < LANG_GRID_AXES; a++) {
    lang_lower_axis *axis = &l->axes[a];
    l->axis[a] = lang_lower_constant(0);
    for (int i = 0; i < axis->count; i++) {
      lang_lower_index term;
      lang_lower_index_times(&l->axis[a], axis->trips[i], &l->axis[a]);
      axis->loop[i] = BLOCK_NONE;
      if (axis->trips[i] == 1) continue;
      axis->loop[i] = block_add_loop(l->program, "", axis->trips[i], true);
      term = (lang_lower_index){.loops = (uint32_t)1 << axis->loop[i]};
      term.per_loop[axis->loop[i]] = 1;
      lang_lower_index_add(&l->axis[a], &term, &l->axis[a]);
    }
  }
  return true;
}

bool lang_lower_split_axis(lang_lowerer *l) {
  if (l->split_loop == BLOCK_NONE) return false;
  for (int a = 0; a < LANG_GRID_AXES; a++) {
    lang_lower_axis *axis = &l->axes[a];
    for (int i = 0; i < axis->count; i++) {
      if (axis->loop[i] != l->split_loop || axis->count == LOWER_PARTS_MAX) continue;
      memmove(&axis->trips[i + 1], &axis->trips[i], (size_t)(axis->count - i) * sizeof *axis->trips);
      axis->trips[i] /= l->split_by;
      axis->trips[i + 1] = l->split_by;
      axis->count++;
      return true;
    }
  }
  return false;
}

// A variable of the kernel that is the loop's number, or else one that is a multiple of it.
static const char *name_of(const lang_lowerer *l, int loop) {
  const lang_ast *function = l->instance->kernel->function;
  const char *found = "pid";
  for (int i = function->local_count; i-- > function->param_count;) {
    const lang_lower_index *v = &l->final_index[i];
    if (v->loops == (uint32_t)1 << loop && v->per_loop[loop] == 1 && v->constant == 0) found = function->locals[i];
  }
  for (int i = function->param_count; i < function->local_count && strcmp(found, "pid") == 0; i++)
    if (l->final_index[i].loops == (uint32_t)1 << loop) found = function->locals[i];
  return found;
}

typedef struct place {
  int loop;
  size_t first;    // the first offset that the loop moves
  int64_t factor;  // by how much
} place;

static int by_first(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  // Of loops along one dimension the one with the larger steps is outside.
  if (x->factor != y->factor) return x->factor > y->factor ? -1 : 1;
  return (x->loop > y->loop) - (x->loop < y->loop);
}

// By the stores: where results lie is what decides whether loops are in each other's way.
static place place_of(const lang_lowerer *l, int loop) {
  size_t column = 0;
  for (size_t e = 0; e < l->event_count; e++) {
    if (l->events[e]->kind != BLOCK_STORE) continue;
    const block_access *a = &l->events[e]->store.access;
    if (a->base.per_loop[loop] != 0) return (place){loop, column, llabs(a->base.per_loop[loop])};
    column++;
    for (int d = 0; d < a->rank; d++, column++)
      if (a->dim[d].offset.per_loop[loop] != 0) return (place){loop, column, llabs(a->dim[d].offset.per_loop[loop])};
  }
  return (place){loop, column, 0};
}

// Whether two loops count on as one would: the steps of the outer one are those of all iterations of the inner one.
static bool count_on(const lang_lowerer *l, int outer, int inner) {
  const int64_t trips = l->program->loops[inner].trips;
  for (size_t e = 0; e < l->event_count; e++) {
    const block_access *a = block_memory(l->events[e]);
    if (a == NULL) continue;
    bool same = a->base.per_loop[outer] == a->base.per_loop[inner] * trips;
    for (int d = 0; d < a->rank; d++)
      same &= a->dim[d].offset.per_loop[outer] == a->dim[d].offset.per_loop[inner] * trips;
    if (!same) return false;
  }
  return true;
}

static void wrap(lang_lowerer *l, int loop) {
  block_program *program = l->program;
  block_statement *statement = WF_ARENA_NEW(program->arena, block_statement);
  statement->kind = BLOCK_FOR;
  statement->where = l->instance->kernel->where;
  statement->loop.loop = loop;
  statement->loop.body = program->body;
  program->body = statement;
}

void lang_lower_wrap(lang_lowerer *l, const int *loops, int count) {
  place places[LANG_GRID_AXES * LOWER_PARTS_MAX];
  assert(count <= LANG_GRID_AXES * LOWER_PARTS_MAX);
  for (int i = 0; i < count; i++) places[i] = place_of(l, loops[i]);
  qsort(places, (size_t)count, sizeof *places, by_first);
  for (int i = count; i-- > 0;) wrap(l, places[i].loop);
}

bool lang_lower_end_axes(lang_lowerer *l) {
  int loops[LANG_GRID_AXES * LOWER_PARTS_MAX], count = 0;
  for (int a = 0; a < LANG_GRID_AXES; a++)
    for (int i = 0; i < l->axes[a].count; i++)
      if (l->axes[a].loop[i] != BLOCK_NONE) loops[count++] = l->axes[a].loop[i];
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      if (i != j && count_on(l, loops[i], loops[j])) return false;
  for (int i = 0; i < count; i++)
    l->program->loops[loops[i]].name = block_fresh_name(l->program, name_of(l, loops[i]), "");
  lang_lower_wrap(l, loops, count);
  return true;
}
