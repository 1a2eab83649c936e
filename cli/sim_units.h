// SPDX-License-Identifier: Apache-2.0
// What the cycle engine knows beyond the cycles of a run: where each unit's cycles went, use of the mesh, traffic and
// energy by level. The same numbers as text and as JSON.
//
// Energy is accesses times the energy of one, from the table of the array's technology (hw/tech): a
// multiply-accumulate, an operand register read with it, a word of a row read or written in accumulator (32 bits) or
// scratchpad (8 bits), and a byte on the bus, which counts as an access to main memory whether or not a shared L2 holds
// it.
#ifndef CLI_SIM_UNITS_H
#define CLI_SIM_UNITS_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"

void sim_units_print(const sim_cycle_report *units, const hw_array *array, FILE *out);
void sim_units_json(const sim_cycle_report *units, const hw_array *array, cJSON *document);

#endif
