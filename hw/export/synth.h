// SPDX-License-Identifier: Apache-2.0
// Area, critical path and power of an array's units in a 0.18 um standard-cell library: yosys and abc map them, OpenSTA
// times them. Scratchpad and accumulator are counted as bits, not mapped.
#ifndef HW_EXPORT_SYNTH_H
#define HW_EXPORT_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "hw/array.h"

enum { HW_SYNTH_DIM_MAX = 16, HW_SYNTH_NAME = 96, HW_SYNTH_UNITS_MAX = 96, HW_SYNTH_PARTS = 9 };

// The clock at which power is reported; critical paths do not depend on it.
#define HW_SYNTH_CLOCK_MHZ 100.0
#define HW_SYNTH_LIBRARY "osu018"

typedef struct hw_synth_unit {
  char name[HW_SYNTH_NAME];  // the module without its prefix weft_
  const char *part;          // of the technology table's area: "mesh"
  unsigned instances;
  unsigned cells;        // of one instance
  double area_um2;       // of one instance, without the other units inside it
  double path_ns;        // longest path between registers and ports
  double power_mw;       // of one instance at HW_SYNTH_CLOCK_MHZ, inputs toggling every tenth cycle
  uint64_t memory_bits;  // of one instance, not in the area
} hw_synth_unit;

// Units that the cost model takes together, and what it says of them in the same cells (hw/cost.h).
typedef struct hw_synth_part {
  const char *name;
  double area_um2, expected_um2;
  double path_ns, expected_path_ns;  // the longest of its units; 0: none
} hw_synth_part;

typedef struct hw_synth_result {
  hw_synth_unit units[HW_SYNTH_UNITS_MAX];
  size_t count;
  hw_synth_part parts[HW_SYNTH_PARTS];
  size_t part_count;  // 0: not all units were mapped
  double area_um2;    // of all instances
  double power_mw;
  uint64_t memory_bits;
} hw_synth_result;

typedef struct hw_synth_options {
  const char *unit;  // only units of that name; NULL: all
  // Told before each unit: how many are done, of how many; false ends the synthesis. NULL: nobody is told.
  bool (*tell)(void *context, size_t done, size_t count, const char *unit);
  void *context;
} hw_synth_options;

// What the synthesis lacks on this machine, such as "yosys"; NULL: nothing.
const char *hw_synth_missing(void);

// False after an error was reported: a tool is missing or failed, or the array is larger than HW_SYNTH_DIM_MAX.
bool hw_synth(const hw_array *array, const hw_synth_options *options, hw_synth_result *result, wf_diag *diag);

#endif
