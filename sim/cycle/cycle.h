// SPDX-License-Identifier: Apache-2.0
// The cycle engine: timing of every unit of the accelerator, equal to the RTL cycle for cycle, with the data moved at
// the moment the timing says so. docs/cycle-engine.md describes it; engine.h is its inside.
#ifndef SIM_CYCLE_CYCLE_H
#define SIM_CYCLE_CYCLE_H

#include "sim/engine.h"
#include "sim/memsys/memsys.h"

// Release builds optimise the engine as a program of its own (CMakeLists.txt): what others see has to be marked.
#if defined(__GNUC__) && !defined(__clang__)
#define SIM_CYCLE_VISIBLE __attribute__((externally_visible))
#else
#define SIM_CYCLE_VISIBLE
#endif

extern SIM_CYCLE_VISIBLE const sim_engine_ops sim_cycle_engine;

// The ways in which the engine leaves out cycles, in the order of their bits in sim_engine_options.without_skips.
typedef enum {
#define CYCLE_SKIP(ID, ...) CYCLE_SKIP_##ID,
#include "sim/cycle/skip/skip.def"
#undef CYCLE_SKIP
  SIM_CYCLE_SKIPS
} sim_cycle_skip;
SIM_CYCLE_VISIBLE const char *sim_cycle_skip_name(unsigned skip);

// The engine on a memory timing that the caller owns (a platform). Before another user of the timing uses it in a
// cycle, the engine must have sent its requests of all earlier cycles: sim_cycle_settle makes it do so up to the cycle
// it has come to.
SIM_CYCLE_VISIBLE void sim_cycle_settle(sim_engine *engine);
SIM_CYCLE_VISIBLE sim_engine *sim_cycle_create_on(const hw_array *array, arch_memory *memory, memsys *timing,
                                                  const sim_engine_options *options, wf_diag *diag);

// What the units spent their cycles on, and what they moved. Cycles of a unit's causes add up to `cycles`.
enum { SIM_CYCLE_UNITS = 7, SIM_CYCLE_CAUSES = 12 };
typedef struct sim_cycle_unit_report {
  const char *name;
  unsigned causes;  // of them
  const char *cause[SIM_CYCLE_CAUSES];
  uint64_t cycles[SIM_CYCLE_CAUSES];
} sim_cycle_unit_report;

typedef struct sim_cycle_report {
  uint64_t cycles;
  uint64_t carried_out;  // of them: cycles that were not left out
  unsigned units;
  sim_cycle_unit_report unit[SIM_CYCLE_UNITS];
  uint64_t macs;
  uint64_t bus_read_bytes, bus_written_bytes;
  uint64_t sp_row_reads, sp_row_writes, acc_row_reads, acc_row_writes;
  memsys_counts memory;
} sim_cycle_report;

// Of a cycle engine only.
SIM_CYCLE_VISIBLE void sim_cycle_report_of(const sim_engine *engine, sim_cycle_report *report);

#endif
