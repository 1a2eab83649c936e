// SPDX-License-Identifier: Apache-2.0
// What follows from the counts of a run: how busy the mesh was, energy by component (energy.def), what held the run up.
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"
#include "sim/host/host.h"

// The parts of a system whose energy is counted, in the order of reports.
typedef enum {
  SIM_PART_MESH,
  SIM_PART_LOCAL,
  SIM_PART_HART,
  SIM_PART_L2,
  SIM_PART_BUS,
  SIM_PART_MEMORY,
  SIM_PART_CLOCK,
  SIM_PART_LEAKAGE,
  SIM_PARTS
} sim_part;
extern const char *const sim_part_names[SIM_PARTS];  // "mesh", "local_memory", "hart", "l2", "bus", "main_memory", ..

enum {
#define ENERGY(PART, name, events, pj) SIM_ENERGY_##name,
#include "sim/energy.def"
#undef ENERGY
  SIM_ENERGY_LEVELS
};

typedef struct sim_energy_level {
  const char *name;
  sim_part part;
  uint64_t events;
  double pj_each;  // NAN: not known
} sim_energy_level;

enum { SIM_UNKNOWN_ENERGY = 512 };

typedef struct sim_figures {
  uint64_t processing_elements;
  double utilisation;  // of the mesh, 0..1
  bool has_energy;     // the technology's table has it; the rest is 0 otherwise
  char technology[HW_NAME_MAX];
  sim_energy_level energy[SIM_ENERGY_LEVELS];
  double part_pj[SIM_PARTS];  // sums over the components that are known
  double energy_pj;           // sum of the parts
  // The array's energy as models count it, the published ones and search/model: mesh and local memory, and each byte of
  // its port as one of main memory, whether or not an L2 holds it.
  double array_pj;
  char unknown[SIM_UNKNOWN_ENERGY];  // components with events that have no number: "bus, clock_hart"
} sim_figures;

// What an engine has counted; false: it counts nothing. Of engine flow no units are known, but what the array did.
bool sim_figures_report(const sim_engine *engine, sim_cycle_report *report);

// `hart` NULL: there was none. The time is units->cycles.
sim_figures sim_figures_of(const sim_cycle_report *units, const host_counts *hart, const hw_array *array);

// 0 where the energy of one is not known.
static inline double sim_energy_pj(const sim_energy_level *level) {
  return isnan(level->pj_each) ? 0 : (double)level->events * level->pj_each;
}
static inline bool sim_energy_known(const sim_energy_level *level) {
  return level->events == 0 || !isnan(level->pj_each);
}

// The cycles in which a unit worked; 0 if the report does not know it.
uint64_t sim_figures_working(const sim_cycle_report *units, const char *name);

// What the execute unit and the front end waited for most: "no command 3.1 %; station full 60.2 %". The cycles are
// those of the report.
enum { SIM_BOUND_TEXT = 96 };
void sim_figures_bound(const sim_cycle_report *units, char text[SIM_BOUND_TEXT]);

#endif
