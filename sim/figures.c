// SPDX-License-Identifier: Apache-2.0
// Figures of a run: see figures.h.
#include "sim/figures.h"

#include <stdio.h>
#include <string.h>

#include "hw/tech.h"
#include "sim/flow/flow.h"

// ---- energy

const char *const sim_part_names[SIM_PARTS] = {[SIM_PART_MESH] = "mesh",   [SIM_PART_LOCAL] = "local_memory",
                                               [SIM_PART_HART] = "hart",   [SIM_PART_L2] = "l2",
                                               [SIM_PART_BUS] = "bus",     [SIM_PART_MEMORY] = "main_memory",
                                               [SIM_PART_CLOCK] = "clock", [SIM_PART_LEAKAGE] = "leakage"};

static uint64_t words_of(uint64_t bytes) { return bytes / sizeof(uint64_t); }

static double local_kib(const hw_array *array) {
  return (double)array->scratchpad.capacity_kib + (double)array->accumulator.capacity_kib;
}

#define KIND(kind) h->instructions[HOST_##kind]
#define AT(pj, table_kib, kib) hw_tech_access_pj(pj, table_kib, kib)
static void list_energy(const sim_cycle_report *u, const host_counts *h, const hw_tech *t, const hw_array *a,
                        sim_energy_level levels[SIM_ENERGY_LEVELS]) {
  const hw_derived derived = hw_derive(a), *d = &derived;
  const sim_energy_level all[SIM_ENERGY_LEVELS] = {
#define ENERGY(PART, name, events, pj) {#name, SIM_PART_##PART, events, pj},
#include "sim/energy.def"
#undef ENERGY
  };
  memcpy(levels, all, sizeof all);
}

static void note_unknown(const sim_energy_level *level, sim_figures *f) {
  const size_t length = strlen(f->unknown);
  snprintf(f->unknown + length, sizeof f->unknown - length, "%s%s", length == 0 ? "" : ", ", level->name);
}

static void add_up(const sim_cycle_report *units, const hw_tech *tech, sim_figures *f) {
  for (unsigned n = 0; n < SIM_ENERGY_LEVELS; n++) {
    f->part_pj[f->energy[n].part] += sim_energy_pj(&f->energy[n]);
    if (!sim_energy_known(&f->energy[n])) note_unknown(&f->energy[n], f);
  }
  for (unsigned part = 0; part < SIM_PARTS; part++) f->energy_pj += f->part_pj[part];
  const double port_bytes = (double)(units->bus_read_bytes + units->bus_written_bytes);
  f->array_pj = f->part_pj[SIM_PART_MESH] + f->part_pj[SIM_PART_LOCAL] + port_bytes * tech->energy_pj.dram;
}

static void add_energy(const sim_cycle_report *units, const host_counts *hart, const hw_array *array, sim_figures *f) {
  static const host_counts nothing;
  hw_tech tech;
  hw_tech_of(&tech, array);
  f->has_energy = tech.has.energy_pj;
  if (!f->has_energy) return;
  snprintf(f->technology, sizeof f->technology, "%s", tech.name);
  list_energy(units, hart == NULL ? &nothing : hart, &tech, array, f->energy);
  add_up(units, &tech, f);
}

sim_figures sim_figures_of(const sim_cycle_report *units, const host_counts *hart, const hw_array *array) {
  const uint64_t dim = hw_derive(array).dim;
  sim_figures f = {.processing_elements = dim * dim};
  const double slots = (double)units->cycles * (double)f.processing_elements;
  f.utilisation = slots > 0 ? (double)units->macs / slots : 0;
  add_energy(units, hart, array, &f);
  return f;
}

bool sim_figures_report(const sim_engine *engine, sim_cycle_report *report) {
  if (engine->ops == &sim_cycle_engine)
    sim_cycle_report_of(engine, report);
  else if (engine->ops == &sim_flow_engine)
    sim_flow_report_of(engine, report);
  else if (engine->ops == &sim_flow_recording_engine)
    sim_flow_recording_report_of(engine, report);
  else
    return false;
  return true;
}

// ---- what held it up

// Causes of every unit: 0 is idle, 1 working, the rest are reasons to wait.
enum { CAUSE_IDLE, CAUSE_WORKING, CAUSE_WAITS };

static const sim_cycle_unit_report *unit_of(const sim_cycle_report *units, const char *name) {
  for (unsigned i = 0; i < units->units; i++)
    if (strcmp(units->unit[i].name, name) == 0) return &units->unit[i];
  return NULL;
}

uint64_t sim_figures_working(const sim_cycle_report *units, const char *name) {
  const sim_cycle_unit_report *unit = unit_of(units, name);
  return unit == NULL ? 0 : unit->cycles[CAUSE_WORKING];
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
