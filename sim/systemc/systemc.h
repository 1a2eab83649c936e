// SPDX-License-Identifier: Apache-2.0
// The systemc engine: a TLM-2.0 platform of hart, interconnect, DRAM and accelerator, in a SystemC kernel.
//
// The platform is C++ in a module of its own that is loaded when the engine is created, so plain simulations do not pay
// for it. SystemC allows one elaboration per process: a second engine in a process is refused. What happens where and
// what is timed where: docs/systemc.md.
#ifndef SIM_SYSTEMC_SYSTEMC_H
#define SIM_SYSTEMC_SYSTEMC_H

#include "sim/engine.h"

extern const sim_engine_ops sim_systemc_engine;

// The engine as it is with this accelerator (options.accelerator; NULL: the first): with a clock or without. Reports
// and returns NULL when there is none of that name.
const sim_engine_ops *sim_systemc_engine_with(const char *accelerator, wf_diag *diag);

// A blocking access of the hart to main memory at `cycle`, over the interconnect, with the timing of the memory system.
// Returns the cycle at which it is done; UINT64_MAX: no such address.
uint64_t sim_systemc_access(sim_engine *engine, uint64_t cycle, bool write, uint64_t address, void *data,
                            unsigned length);

#endif
