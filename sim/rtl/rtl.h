// SPDX-License-Identifier: Apache-2.0
// The rtl engine: the accelerator's SystemVerilog, cycle by cycle, on the shared memory timing.
//
// The hardware is compiled for the array at hand when the engine is created, or taken from the build cache
// (build.h). Commands are checked by arch_checker like on every engine before the hardware sees them. The clock stands
// still while nothing is going on: a long time after the last activity idle cycles are skipped.
#ifndef SIM_RTL_RTL_H
#define SIM_RTL_RTL_H

#include "sim/engine.h"
#include "sim/memsys/memsys.h"

extern const sim_engine_ops sim_rtl_engine;

// The same engine with the hardware's ports as signals of a SystemC kernel: made while a module of the kernel is being
// built, used from one process of the kernel. In it a cycle takes twice half_cycle_ps, the clock rises in the middle.
// The timing is borrowed; it is that of the main memory that `memory` leads to.
sim_engine *sim_rtl_create_in_kernel(const hw_array *array, arch_memory *memory, memsys *timing, uint64_t half_cycle_ps,
                                     const sim_engine_options *options, wf_diag *diag);

#endif
