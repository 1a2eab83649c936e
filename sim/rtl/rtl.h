// The rtl engine: the accelerator's SystemVerilog, cycle by cycle, on the shared memory timing.
//
// The hardware is compiled for the array at hand when the engine is created, or taken from the build cache
// (build.h). Commands are checked by sim_checker like on every engine before the hardware sees them. The clock stands
// still while nothing is going on: a long time after the last activity idle cycles are skipped.
#ifndef SIM_RTL_RTL_H
#define SIM_RTL_RTL_H

#include "sim/engine.h"

extern const sim_engine_ops sim_rtl_engine;

#endif
