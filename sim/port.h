// The RoCC port: stands between host and engine. It decodes, counts, records the trace and waits for the engine; so
// every engine gets the same commands and every report the same counts.
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "sim/engine.h"
#include "sim/host/host.h"
#include "sim/trace/trace.h"

typedef struct sim_port {
  sim_engine *engine;
  unsigned revision;
  sim_trace_writer *trace;  // NULL: none
  uint64_t commands;
  uint64_t by_insn[ISA_ID_COUNT];
  uint64_t fences;
  uint64_t wait_cycles;  // of the host, for a full queue or a fence
  uint64_t illegal;      // custom instructions that do not exist
  sim_command last_illegal;
} sim_port;

// The port as the host sees it; the sim_port is borrowed.
host_port sim_port_for_host(sim_port *port);

// For a driver without host: push one command at *cycle (waiting while the engine is full), or wait until idle.
host_port_result sim_port_command(sim_port *port, const sim_command *command, uint64_t *cycle, uint64_t *response);
bool sim_port_fence(sim_port *port, uint64_t *cycle);

#endif
