// SPDX-License-Identifier: Apache-2.0
// What the hardware of an array costs: the area of every part and the longest path of every unit as functions of the
// array's parameters, with the source of each figure and how far off it may be (cost.def). Its energies are the
// technology's (tech.h); no source at hand has leakage or voltage.
#ifndef HW_COST_H
#define HW_COST_H

#include <stddef.h>

#include "hw/array.h"

typedef enum {
#define SOURCE(...)
#define DRIVER(...)
#define PART(NAME, text) HW_COST_##NAME,
#define TERM(...)
#define DELAY(...)
#define UNIT(...)
#define PATH(...)
#define UNKNOWN(...)
#include "hw/cost.def"
#undef SOURCE
#undef DRIVER
#undef PART
#undef TERM
#undef DELAY
#undef UNIT
#undef PATH
#undef UNKNOWN
  HW_COST_PARTS
} hw_cost_part;
extern const char *const hw_cost_part_names[HW_COST_PARTS];

// A figure and its band: sources are taken to err alike in all that they say, so bands of terms add up.
typedef struct hw_cost_band {
  double low, value, high;
} hw_cost_band;

typedef struct hw_cost {
  hw_cost_band part[HW_COST_PARTS];  // um2 in 40 nm
  hw_cost_band total;
} hw_cost;

hw_cost hw_cost_of(const hw_array *array);

// A part's logic in um2 of the cells that `weft rtl synth` maps to: without the macros of scratchpad and accumulator.
double hw_cost_logic_of(const hw_array *array, hw_cost_part part);

// A term of the table as it stands for an array.
typedef struct hw_cost_term {
  hw_cost_part part;
  double um2;          // of one, in 40 nm
  double number;       // of the array
  const char *driver;  // what is counted: "banks x side"; empty: it is there or not
  const char *source, *what;
} hw_cost_term;

// Terms in the order of the table; false past the end.
bool hw_cost_term_at(const hw_array *array, size_t index, hw_cost_term *term);

// The longest path between two registers of a unit, in ns.
typedef struct hw_cost_path {
  const char *unit;
  hw_cost_part part;
  hw_cost_band ns;        // in 40 nm
  double synthesised_ns;  // in the cells that `weft rtl synth` maps to
} hw_cost_path;

// Units that the array has, in the order of the table; false past the end.
bool hw_cost_path_at(const hw_array *array, size_t index, hw_cost_path *path);
hw_cost_path hw_cost_longest_path(const hw_array *array);
// The clock that the longest path allows.
double hw_cost_clock_mhz(const hw_array *array);

// What costs nothing here, and the parameters that hide in it; NULL past the end.
typedef struct hw_cost_unknown {
  const char *what, *parameters;
} hw_cost_unknown;
const hw_cost_unknown *hw_cost_unknown_at(size_t index);

#endif
