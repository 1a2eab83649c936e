// The RoCC port: see port.h.
#include "sim/port.h"

// Advances the engine until it takes the command.
static sim_push_result push(sim_engine *engine, uint64_t *cycle, const sim_command *command, uint64_t *response) {
  sim_push_result result;
  while ((result = engine->ops->push(engine, *cycle, command, response)) == SIM_PUSH_FULL) {
    uint64_t next = engine->ops->advance(engine, *cycle + 1);
    *cycle = next > *cycle + 1 && next != UINT64_MAX ? next : *cycle + 1;
  }
  return result;
}

static host_port_result refuse(sim_port *port, const sim_command *command) {
  port->illegal++;
  port->last_illegal = *command;
  return HOST_PORT_ILLEGAL;
}

host_port_result sim_port_command(sim_port *port, const sim_command *command, uint64_t *cycle, uint64_t *response) {
  const isa_insn *insn = isa_find(port->revision, command->funct, command->rs1);
  if (insn == NULL || insn->returns != command->returns) return refuse(port, command);
  uint64_t start = *cycle;
  sim_push_result result = push(port->engine, cycle, command, response);
  port->wait_cycles += *cycle - start;
  if (result == SIM_PUSH_FAULT) return HOST_PORT_FAULT;
  port->commands++;
  port->by_insn[insn->id]++;
  if (port->trace != NULL) sim_trace_writer_command(port->trace, command);
  return HOST_PORT_DONE;
}

bool sim_port_fence(sim_port *port, uint64_t *cycle) {
  uint64_t start = *cycle;
  *cycle = port->engine->ops->drain(port->engine, *cycle);
  port->wait_cycles += *cycle - start;
  port->fences++;
  if (port->trace != NULL) sim_trace_writer_fence(port->trace);
  return port->engine->ops->fault(port->engine)->kind == SIM_FAULT_NONE;
}

static host_port_result host_command(void *context, const sim_command *command, uint64_t *cycle, uint64_t *response) {
  return sim_port_command(context, command, cycle, response);
}

static bool host_fence(void *context, uint64_t *cycle) { return sim_port_fence(context, cycle); }

host_port sim_port_for_host(sim_port *port) {
  return (host_port){.context = port, .command = host_command, .fence = host_fence};
}
