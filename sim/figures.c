// SPDX-License-Identifier: Apache-2.0
// Figures of a run: see figures.h.
#include "sim/figures.h"

#include <stdio.h>
#include <string.h>

#include "hw/tech.h"

// ---- energy

static void add_energy(const sim_cycle_report *units, const hw_array *array, sim_figures *f) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  f->has_energy = tech.has.energy_pj;
  if (!f->has_energy) return;
  const uint64_t dim = hw_derive(array).dim;
  const sim_energy_level levels[SIM_ENERGY_LEVELS] = {
      {"mac", units->macs, tech.energy_pj.mac},
      {"registers", units->macs, tech.energy_pj.registers},
      {"accumulator", (units->acc_row_reads + units->acc_row_writes) * dim, hw_tech_accumulator_pj(&tech, array)},
      {"scratchpad", (units->sp_row_reads + units->sp_row_writes) * dim, hw_tech_scratchpad_pj(&tech, array)},
      {"main_memory", units->bus_read_bytes + units->bus_written_bytes, tech.energy_pj.dram},
  };
  snprintf(f->technology, sizeof f->technology, "%s", tech.name);
  for (unsigned n = 0; n < SIM_ENERGY_LEVELS; n++) {
    f->energy[n] = levels[n];
    f->energy_pj += sim_energy_pj(&levels[n]);
  }
}

sim_figures sim_figures_of(const sim_cycle_report *units, const hw_array *array) {
  const uint64_t dim = hw_derive(array).dim;
  sim_figures f = {.processing_elements = dim * dim};
  const double slots = (double)units->cycles * (double)f.processing_elements;
  f.utilisation = slots > 0 ? (double)units->macs / slots : 0;
  add_energy(units, array, &f);
  return f;
}

// ---- what held it up

// Causes of every unit: 0 is idle, 1 working, the rest are reasons to wait.
enum { CAUSE_IDLE, CAUSE_WORKING, CAUSE_WAITS };

static const sim_cycle_unit_report *unit_of(const sim_cycle_report *units, const char *name) {
  for (unsigned i = 0; i < units->units; i++)
    if (strcmp(units->unit[i].name, name) == 0) return &units->unit[i];
  return NULL;
}

// The cause other than working, from `first` on, on which a unit spent most cycles.
static unsigned largest_wait(const sim_cycle_unit_report *unit, unsigned first) {
  unsigned best = first;
  for (unsigned cause = first; cause < unit->causes; cause++)
    if (cause != CAUSE_WORKING && unit->cycles[cause] > unit->cycles[best]) best = cause;
  return best;
}

static size_t add_wait(const sim_cycle_report *units, const char *name, unsigned first, char *text, size_t size) {
  const sim_cycle_unit_report *unit = unit_of(units, name);
  if (unit == NULL) return 0;
  const unsigned cause = largest_wait(unit, first);
  const int length = snprintf(text, size, "%s %.1f %%", unit->cause[cause],
                              100.0 * (double)unit->cycles[cause] / (double)units->cycles);
  return (size_t)length < size ? (size_t)length : size - 1;
}

void sim_figures_bound(const sim_cycle_report *units, char text[SIM_BOUND_TEXT]) {
  text[0] = '\0';
  if (units->cycles == 0) return;
  size_t length = add_wait(units, "execute", CAUSE_IDLE, text, SIM_BOUND_TEXT);
  if (length > 0) length += (size_t)snprintf(text + length, SIM_BOUND_TEXT - length, "; ");
  if (length < SIM_BOUND_TEXT) add_wait(units, "front_end", CAUSE_WAITS, text + length, SIM_BOUND_TEXT - length);
}
