// SPDX-License-Identifier: Apache-2.0
// See cost.h. area of a part = sum of its terms, each factor of the source x um2 x driver; path of a unit = sum of its
// terms, each ns x driver.
#include "hw/cost.h"

#include <math.h>

// Files of the table that use some of its rows alone.
#define SOURCE(...)
#define DRIVER(...)
#define PART(...)
#define TERM(...)
#define DELAY(...)
#define UNIT(...)
#define PATH(...)
#define UNKNOWN(...)

const char *const hw_cost_part_names[HW_COST_PARTS] = {
#undef PART
#define PART(NAME, text) text,
#include "hw/cost.def"
#undef PART
#define PART(...)
};

typedef enum {
#undef SOURCE
#define SOURCE(NAME, ...) SOURCE_##NAME,
#include "hw/cost.def"
#undef SOURCE
#define SOURCE(...)
  SOURCE_COUNT
} source_name;

static const struct {
  double factor, low, high;
  const char *text;
} sources[SOURCE_COUNT] = {
#undef SOURCE
#define SOURCE(NAME, factor, low, high, text) {factor, low, high, text},
#include "hw/cost.def"
#undef SOURCE
#define SOURCE(...)
};

typedef enum {
#undef DRIVER
#define DRIVER(NAME, ...) DRIVER_##NAME,
#include "hw/cost.def"
#undef DRIVER
#define DRIVER(...)
  DRIVER_COUNT
} driver_name;

static const char *const driver_texts[DRIVER_COUNT] = {
#undef DRIVER
#define DRIVER(NAME, number, text) text,
#include "hw/cost.def"
#undef DRIVER
#define DRIVER(...)
};

static void count(const hw_array *a, double numbers[DRIVER_COUNT]) {
  const hw_derived d = hw_derive(a);
  const uint32_t entries = a->load.reservation_entries + a->execute.reservation_entries + a->store.reservation_entries;
  const bool station = a->sync.by == HW_SYNC_STATION;
#undef DRIVER
#define DRIVER(NAME, number, text) numbers[DRIVER_##NAME] = (double)(number);
#include "hw/cost.def"
#undef DRIVER
#define DRIVER(...)
}

static const struct {
  hw_cost_part part;
  source_name source;
  double um2;
  driver_name driver;
  const char *what;
} terms[] = {
#undef TERM
#define TERM(PART_NAME, SOURCE_NAME, um2, DRIVER_NAME, what) \
  {HW_COST_##PART_NAME, SOURCE_##SOURCE_NAME, um2, DRIVER_##DRIVER_NAME, what},
#include "hw/cost.def"
#undef TERM
#define TERM(...)
};

typedef enum {
#undef UNIT
#define UNIT(NAME, ...) UNIT_##NAME,
#include "hw/cost.def"
#undef UNIT
#define UNIT(...)
  UNIT_COUNT
} unit_name;

static const struct {
  hw_cost_part part;
  driver_name there;
  const char *text;
} units[UNIT_COUNT] = {
#undef UNIT
#define UNIT(NAME, PART_NAME, THERE, text) {HW_COST_##PART_NAME, DRIVER_##THERE, text},
#include "hw/cost.def"
#undef UNIT
#define UNIT(...)
};

static const struct {
  unit_name unit;
  double ns;
  driver_name driver;
} paths[] = {
#undef PATH
#define PATH(UNIT_NAME, ns, DRIVER_NAME, what) {UNIT_##UNIT_NAME, ns, DRIVER_##DRIVER_NAME},
#include "hw/cost.def"
#undef PATH
#define PATH(...)
};

static const struct {
  double factor, low, high;
} delays[] = {
#undef DELAY
#define DELAY(factor, low, high, text) {factor, low, high},
#include "hw/cost.def"
#undef DELAY
#define DELAY(...)
};

static const hw_cost_unknown unknowns[] = {
#undef UNKNOWN
#define UNKNOWN(what, parameters) {what, parameters},
#include "hw/cost.def"
#undef UNKNOWN
};

enum {
  TERMS = sizeof terms / sizeof *terms,
  PATHS = sizeof paths / sizeof *paths,
  UNKNOWNS = sizeof unknowns / sizeof *unknowns
};

static void add(hw_cost_band *band, double value, double low, double high) {
  band->low += low * value;
  band->value += value;
  band->high += high * value;
}

hw_cost hw_cost_of(const hw_array *array) {
  double numbers[DRIVER_COUNT];
  hw_cost cost = {.total = {0, 0, 0}};
  count(array, numbers);
  for (size_t i = 0; i < TERMS; i++) {
    const double um2 = sources[terms[i].source].factor * terms[i].um2 * numbers[terms[i].driver];
    const double low = sources[terms[i].source].low, high = sources[terms[i].source].high;
    add(&cost.part[terms[i].part], um2, low, high);
    add(&cost.total, um2, low, high);
  }
  return cost;
}

static bool is_macro(driver_name driver) { return driver == DRIVER_SP_KIB || driver == DRIVER_ACC_KIB; }

double hw_cost_logic_of(const hw_array *array, hw_cost_part part) {
  double numbers[DRIVER_COUNT], um2 = 0;
  count(array, numbers);
  for (size_t i = 0; i < TERMS; i++)
    if (terms[i].part == part && !is_macro(terms[i].driver))
      um2 += sources[terms[i].source].factor * terms[i].um2 * numbers[terms[i].driver];
  return um2 / sources[SOURCE_OSU018].factor;
}

bool hw_cost_term_at(const hw_array *array, size_t index, hw_cost_term *term) {
  double numbers[DRIVER_COUNT];
  if (index >= TERMS) return false;
  count(array, numbers);
  *term = (hw_cost_term){.part = terms[index].part,
                         .um2 = sources[terms[index].source].factor * terms[index].um2,
                         .number = numbers[terms[index].driver],
                         .driver = driver_texts[terms[index].driver],
                         .source = sources[terms[index].source].text,
                         .what = terms[index].what};
  return true;
}

static hw_cost_path path_of(const double numbers[DRIVER_COUNT], unit_name unit) {
  double ns = 0;
  for (size_t i = 0; i < PATHS; i++)
    if (paths[i].unit == unit) ns += paths[i].ns * numbers[paths[i].driver];
  hw_cost_path path = {.unit = units[unit].text, .part = units[unit].part, .synthesised_ns = ns};
  add(&path.ns, delays[0].factor * ns, delays[0].low, delays[0].high);
  return path;
}

bool hw_cost_path_at(const hw_array *array, size_t index, hw_cost_path *path) {
  double numbers[DRIVER_COUNT];
  count(array, numbers);
  for (size_t u = 0; u < UNIT_COUNT; u++) {
    if (numbers[units[u].there] == 0 || index-- != 0) continue;
    *path = path_of(numbers, (unit_name)u);
    return true;
  }
  return false;
}

hw_cost_path hw_cost_longest_path(const hw_array *array) {
  hw_cost_path longest = {.unit = ""}, path;
  for (size_t i = 0; hw_cost_path_at(array, i, &path); i++)
    if (path.ns.value > longest.ns.value) longest = path;
  return longest;
}

double hw_cost_clock_mhz(const hw_array *array) { return 1e3 / hw_cost_longest_path(array).ns.value; }

const hw_cost_unknown *hw_cost_unknown_at(size_t index) { return index < UNKNOWNS ? &unknowns[index] : NULL; }
