// SPDX-License-Identifier: Apache-2.0
// What the cycle engine knows beyond the cycles of a run: where each unit's cycles went, use of the mesh, traffic and
// energy by component (sim/energy.def). The same numbers as text and as JSON.
#ifndef API_UNITS_H
#define API_UNITS_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"
#include "sim/figures.h"

// `hart` as sim_figures_of wants it.
void api_units_print(const sim_cycle_report *units, const host_counts *hart, const hw_array *array, FILE *out);
void api_units_json(const sim_cycle_report *units, const host_counts *hart, const hw_array *array, cJSON *document);

// "energy       12.3 uJ, technology 40nm: array 4.5, hart 6.7, ...", and what is not known; nothing without energy.
void api_units_print_energy(const sim_figures *figures, FILE *out);
// Keys technology, energy_pj (each component and the total), array_energy_pj and energy_unknown; none without energy.
void api_units_add_energy(const sim_figures *figures, cJSON *object);

// What the hart did, by kind, and the bytes of the memory system: known of every timed engine that serves a hart.
void api_units_add_hart(const host_counts *hart, cJSON *document);
void api_units_add_memory(const memsys_counts *memory, cJSON *document);

#endif
