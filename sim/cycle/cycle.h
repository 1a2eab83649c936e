// The cycle engine: timing of every unit of the accelerator, equal to the RTL cycle for cycle, with the data moved at
// the moment the timing says so. docs/cycle-engine.md describes it; weft_accel.h is its inside.
#ifndef SIM_CYCLE_CYCLE_H
#define SIM_CYCLE_CYCLE_H

#include "sim/engine.h"
#include "sim/memsys/memsys.h"

extern const sim_engine_ops sim_cycle_engine;

// The engine on a memory timing that somebody else owns (a platform). Before anybody else uses the timing in a cycle the
// engine must have sent what it asks for in earlier ones: sim_cycle_settle makes it do so up to the cycle it has come to.
void sim_cycle_settle(sim_engine *engine);
sim_engine *sim_cycle_create_on(const hw_array *array, sim_memory *memory, memsys *timing,
                                const sim_engine_options *options, wf_diag *diag);

// What the units spent their cycles on, and what they moved. Cycles of a unit's causes add up to `cycles`.
enum { SIM_CYCLE_CAUSES = 12 };
typedef struct sim_cycle_unit_report {
  const char *name;
  unsigned causes;  // of them
  const char *cause[SIM_CYCLE_CAUSES];
  uint64_t cycles[SIM_CYCLE_CAUSES];
} sim_cycle_unit_report;

typedef struct sim_cycle_report {
  uint64_t cycles;
  unsigned units;
  sim_cycle_unit_report unit[16];
  uint64_t macs;
  uint64_t bus_read_bytes, bus_written_bytes;
  uint64_t sp_row_reads, sp_row_writes, acc_row_reads, acc_row_writes;
  memsys_counts memory;
} sim_cycle_report;

// Of a cycle engine only.
void sim_cycle_report_of(const sim_engine *engine, sim_cycle_report *report);

#endif
