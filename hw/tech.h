// SPDX-License-Identifier: Apache-2.0
// Energy, bandwidth and area of a technology: a table in hw/tech, one file per technology, all of one form
// (tech_params.def). chip.technology names the one an array uses. A table need not have every group: no number stands
// in for a missing one, so ask `has` first.
#ifndef HW_TECH_H
#define HW_TECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "hw/array.h"

enum { HW_TECH_TEXT_MAX = 1 << 16 };  // bytes of a file

// area = constant + lane * DIM + pe * DIM^2
typedef struct hw_tech_area {
  double constant, lane, pe;
} hw_tech_area;

typedef struct hw_tech {
  char name[HW_NAME_MAX];
  char description[HW_DESCRIPTION_MAX];
  struct {
#define GROUP(group, doc) bool group;
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...)
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  } has;
#define GROUP(group, doc) struct {
#define END(group) \
  }                \
  group;
#define NUMBER(group, field, ...) double field;
#define AREA(group, field, ...) hw_tech_area field;
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
} hw_tech;

// The parts of an array's logic, in um2. A unit that the array does not have counts nothing.
typedef struct hw_area {
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...) double field;
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  double total;
  uint64_t memory_bits;  // of scratchpad and accumulator, not in the area
} hw_area;

// Reads a table; `file` is for messages only. False after an error was reported: a key that is unknown, repeated or
// missing, no group at all, or a value that is no number.
bool hw_tech_parse(hw_tech *tech, const char *file, const char *text, size_t length, wf_diag *diag);

// Reads the table of a file, NULL after an error was reported; freed with wf_free.
hw_tech *hw_tech_load(const char *path, wf_diag *diag);

// The array's own table, or the one that its chip.technology names; one that has nothing when there is no such file.
void hw_tech_of(hw_tech *tech, const hw_array *array);

// A built-in table by its name, "180nm"; false if there is none.
bool hw_tech_named(hw_tech *tech, const char *name);

// Built-in tables by file name ("40nm.yaml"); NULL past the end.
const char *hw_tech_builtin_name(size_t index);
const char *hw_tech_builtin_yaml(size_t index);

// Energy of one access in an array of that size: the table's constant and slope together. For tables with energies.
double hw_tech_accumulator_pj(const hw_tech *tech, const hw_array *array);
double hw_tech_scratchpad_pj(const hw_tech *tech, const hw_array *array);

// Energy of an access in a memory of `kib` where the table has that of one in `table_kib`: it grows with the square
// root of the capacity, as the lengths of a memory's wires do.
double hw_tech_access_pj(double pj, double table_kib, double kib);

// Areas of the whole in um2, for tables with system_um2. NAN: not known.
typedef struct hw_system_area {
  double mesh, scratchpad, accumulator, controllers, hart, l2;
  double known;  // sum of the parts that are known
  bool whole;    // that is all of them
} hw_system_area;
hw_system_area hw_tech_system_area(const hw_tech *tech, const hw_array *array);

// For tables with areas.
hw_area hw_tech_area_of(const hw_tech *tech, const hw_array *array);

#endif
