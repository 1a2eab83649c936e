// SPDX-License-Identifier: Apache-2.0
// Schedule stores: mappings that tuning found, kept for other runs, other networks and other arrays
// (docs/schedules.md).
//
// A store is a SQLite file. It is read whole when it is opened; what is added is written when it is saved, in one
// transaction. A row is of a layer, an array, an engine and an objective, and gives way to a later one of the same.
#ifndef SEARCH_SCHEDULES_SCHEDULES_H
#define SEARCH_SCHEDULES_SCHEDULES_H

#include <stdatomic.h>

#include "compiler/compile.h"

enum { SCHEDULES_VERSION = 1, SCHEDULES_NAME = 64 };

typedef struct schedules_row {
  map_layer layer;
  uint64_t array;  // hash
  char array_name[SCHEDULES_NAME];
  int64_t dim, scratchpad_kib, accumulator_kib;
  char engine[SCHEDULES_NAME], objective[SCHEDULES_NAME];
  uint64_t cycles, before;
  double energy_pj;  // 0: not known
  map_mapping mapping;
  char origin[SCHEDULES_NAME], version[SCHEDULES_NAME];
} schedules_row;

typedef struct schedules schedules;

// In memory only; nothing is saved.
schedules *schedules_create(void);
// Reads a store; one that is not there is empty if it `may_be_new`. NULL after errors were reported.
schedules *schedules_open(const char *path, bool may_be_new, wf_diag *diag);
void schedules_destroy(schedules *s);

size_t schedules_count(const schedules *s);
const schedules_row *schedules_at(const schedules *s, size_t index);

// Adds a row, in the place of one of the same layer, array, engine and objective.
void schedules_add(schedules *s, const schedules_row *row);
// The columns of a row that are the array's.
void schedules_set_array(schedules_row *row, const hw_array *array);
// Removes the rows of which `is_in` says so; returns how many.
size_t schedules_remove(schedules *s, bool (*is_in)(void *context, const schedules_row *row), void *context);
// Writes all rows. False after an error was reported: the file is as it was.
bool schedules_save(const schedules *s, const char *path, wf_diag *diag);

// ---- what is known of a layer (known.c)

// Layers whose mappings may be carried over: kind, kernel, strides, what happens to results. Equal text: equal class.
enum { SCHEDULES_CLASS = 96 };
void schedules_class(const map_layer *layer, char text[SCHEDULES_CLASS]);

typedef struct schedules_lookup {
  const schedules *store;
  const hw_array *array;
  compile_objective objective;
  bool exact_only;  // only what was tuned for the layer on this array: for a caller that tries nothing
  // What came of it; several threads may ask.
  _Atomic uint64_t exact, fitted, clamped, rejected;
} schedules_lookup;

// The `known` of compile_tuning; the context is a lookup. First what was tuned for the layer on this array; then,
// unless `exact_only`, mappings of the nearest of its class, carried over (map_retarget).
size_t schedules_known(void *lookup, const map_layer *layer, map_mapping *list, size_t count, size_t room);

#endif
