// SPDX-License-Identifier: Apache-2.0
// Cycles that a layer cannot take less of on an array, by what sets the bound.
#ifndef SEARCH_STUDY_FLOORS_H
#define SEARCH_STUDY_FLOORS_H

#include "search/study/study.h"

// X(NAME, name, what)
#define STUDY_BOUNDS(X)                                                                                      \
  X(ARRAY, "array", "multiplications fill the array")                                                        \
  X(EDGES, "edges", "the array works, but sizes are no multiples of its side")                               \
  X(MEMORY, "memory",                                                                                        \
    "bytes: those that were moved at the width of the bus, or all operands once at main memory's peak rate") \
  X(WAITS, "waits",                                                                                          \
    "neither accounts for two thirds of the cycles: latencies, commands, loads that do not overlap, rows of DRAM")
typedef enum {
#define X(NAME, name, what) STUDY_BY_##NAME,
  STUDY_BOUNDS(X)
#undef X
      STUDY_BOUND_COUNT
} study_bound;
extern const char *const study_bound_names[STUDY_BOUND_COUNT];
extern const char *const study_bound_texts[STUDY_BOUND_COUNT];

// Of one occurrence of a layer.
typedef struct study_floors {
  double ideal;   // multiplications / processing elements
  double mesh;    // the same with what the side leaves empty: the best of the forms in floors.c
  double memory;  // each operand moves once (study_memory_cycles)
} study_floors;
study_floors study_floors_of(const layers_layer *layer, const hw_array *array);
// The roofline: no mapping is faster.
double study_roof(const study_floors *floors);

// Bytes of inputs that a layer reads at least, each once.
double study_input_bytes(const layers_layer *layer);
// Cycles of the bus for bytes both ways at the same time.
double study_bus_cycles(double read_bytes, double written_bytes, const hw_array *array);
// Of bytes that are moved once, with cold caches: what is read comes at the peak rate of main memory, too.
double study_memory_cycles(double read_bytes, double written_bytes, const hw_array *array);

// What a layer that took so many cycles, and whose bytes on the bus take so many, was bound by.
study_bound study_bound_of(const study_floors *floors, double cycles, double bus_cycles);

#endif
