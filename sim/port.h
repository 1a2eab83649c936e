// SPDX-License-Identifier: Apache-2.0
// The RoCC port: stands between host and engine. It finds out what a hart's command is, counts, records the trace and
// waits for the engine; so every engine gets the same commands and every report the same counts.
//
// For a hart with time of its own it holds the command queue between hart and accelerator: a command that leaves the
// hart in cycle c can enter the accelerator in c + 1. The engine goes forward at most as far as the hart needs to
// know: to the cycle of a memory access, of a command, or of the end of a fence.
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "sim/engine.h"
#include "sim/host/host.h"
#include "sim/trace/trace.h"

enum { SIM_PORT_QUEUE = 16 };

typedef struct sim_port_entry {
  arch_command command;
  uint64_t since;  // the first cycle in which the accelerator may take it
} sim_port_entry;

typedef struct sim_port {
  sim_engine *engine;
  unsigned revision;
  unsigned queue_limit;             // 0: no queue, commands go straight to the engine
  unsigned line_bytes, unit_bytes;  // a line of the hart's caches, and what the memory system moves at once
  sim_trace_writer *trace;          // NULL: none
  sim_port_entry queue[SIM_PORT_QUEUE];
  unsigned head, waiting;  // in the queue
  uint64_t commands;
  uint64_t by_insn[ISA_ID_COUNT];
  uint64_t fences;
  uint64_t wait_cycles;           // of the host for the accelerator, for a reason below or a full queue
  uint64_t fence_wait_cycles;     // until it is idle
  uint64_t response_wait_cycles;  // for the value of a counter
  uint64_t illegal;               // custom instructions that do not exist
  arch_command last_illegal;
} sim_port;

// A port without queue: the engine takes commands when they come.
sim_port sim_port_for(sim_engine *engine, unsigned revision);
// A port for a hart of this array, with its queue if the engine can serve a hart with time of its own.
sim_port sim_port_for_hart_of(sim_engine *engine, const hw_array *array);

// The port as the host sees it; the sim_port is borrowed.
host_port sim_port_for_host(sim_port *port);

// Gives the engine what is in the queue, at the end of a run. False: the engine stopped with a fault.
bool sim_port_flush(sim_port *port);

// For a driver without host, which knows what the command is: push one at *cycle (waiting while the engine is full), or
// wait until idle.
host_port_result sim_port_command(sim_port *port, const arch_command *command, uint64_t *cycle, uint64_t *response);
// Commands one behind the other, which return nothing, as sim_port_command each. False: one was refused or faulty, and
// those behind it were not given.
bool sim_port_commands(sim_port *port, const arch_command *commands, size_t count, uint64_t *cycle);
bool sim_port_fence(sim_port *port, uint64_t *cycle);

#endif
