// SPDX-License-Identifier: Apache-2.0
// The AXI port of the accelerator on main memory: timing from memsys, data from arch_memory.
//
// A cycle: sim_rtl_bus_respond puts the answer that memory has (R or B) on the inputs; the hardware settles;
// sim_rtl_bus_grant decides which request beat is taken and sets the ready inputs; the hardware settles again;
// sim_rtl_bus_transfer carries out the handshakes. One request beat per cycle is shared by AR and W; an AW is taken
// together with the first W beat of its burst. Read data is what memory holds when the request is taken; write data is
// in memory when its beat is taken.
#ifndef SIM_RTL_BUS_H
#define SIM_RTL_BUS_H

#include "sim/engine.h"
#include "sim/memsys/memsys.h"
#include "sim/rtl/shim.h"

typedef struct sim_rtl_bus sim_rtl_bus;

// Memory and timing are borrowed.
sim_rtl_bus *sim_rtl_bus_create(const hw_array *array, arch_memory *memory, memsys *timing);
void sim_rtl_bus_destroy(sim_rtl_bus *bus);

void sim_rtl_bus_respond(sim_rtl_bus *bus, uint64_t cycle, weft_rtl_inputs *in);
void sim_rtl_bus_grant(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_outputs *out, weft_rtl_inputs *in);
// True if a beat moved. A request outside memory, or one that breaks the protocol, is not carried out but described in
// *fault (kind and text).
bool sim_rtl_bus_transfer(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_inputs *in, const weft_rtl_outputs *out,
                          arch_fault *fault);

#endif
