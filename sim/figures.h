// SPDX-License-Identifier: Apache-2.0
// What follows from the counts of a run: how busy the mesh was, energy by level, what held the run up.
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"

enum { SIM_ENERGY_LEVELS = 5 };

typedef struct sim_energy_level {
  const char *name;
  uint64_t accesses;
  double pj_each;
} sim_energy_level;

typedef struct sim_figures {
  uint64_t processing_elements;
  double utilisation;  // of the mesh, 0..1
  bool has_energy;     // the technology's table has it; the rest is 0 otherwise
  char technology[HW_NAME_MAX];
  sim_energy_level energy[SIM_ENERGY_LEVELS];
  double energy_pj;
} sim_figures;

sim_figures sim_figures_of(const sim_cycle_report *units, const hw_array *array);

static inline double sim_energy_pj(const sim_energy_level *level) { return (double)level->accesses * level->pj_each; }

// What the execute unit and the front end waited for most: "no command 3.1 %; station full 60.2 %". The cycles are
// those of the report.
enum { SIM_BOUND_TEXT = 96 };
void sim_figures_bound(const sim_cycle_report *units, char text[SIM_BOUND_TEXT]);

#endif
