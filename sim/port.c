// SPDX-License-Identifier: Apache-2.0
// The RoCC port: see port.h.
#include "sim/port.h"

#include <assert.h>

sim_port sim_port_for(sim_engine *engine, unsigned revision) {
  return (sim_port){.engine = engine, .revision = revision};
}

sim_port sim_port_for_hart_of(sim_engine *engine, const hw_array *array) {
  sim_port port = sim_port_for(engine, array->isa.revision);
  bool timed = engine->ops->timed && engine->ops->host_access != NULL;
  if (timed) port.queue_limit = array->host.command_queue;
  port.line_bytes = array->host.line_bytes;
  port.unit_bytes = array->l2.present ? array->l2.line_bytes : array->dma.bus_bits / 8;
  assert(port.queue_limit <= SIM_PORT_QUEUE);
  return port;
}

// ---- without queue

static host_port_result refuse(sim_port *port, const arch_command *command) {
  port->illegal++;
  port->last_illegal = *command;
  return HOST_PORT_ILLEGAL;
}

static void note(sim_port *port, const arch_command *command) {
  port->commands++;
  port->by_insn[command->insn->id]++;
  if (port->trace != NULL) sim_trace_writer_command(port->trace, command);
}

static bool exists(const arch_command *command) {
  return command->insn != NULL && command->insn->returns == command->returns;
}

host_port_result sim_port_command(sim_port *port, const arch_command *command, uint64_t *cycle, uint64_t *response) {
  if (!exists(command)) return refuse(port, command);
  uint64_t start = *cycle;
  sim_push_result result = sim_engine_push(port->engine, cycle, command, response);
  port->wait_cycles += *cycle - start;
  if (result == SIM_PUSH_FAULT) return HOST_PORT_FAULT;
  note(port, command);
  return HOST_PORT_DONE;
}

bool sim_port_commands(sim_port *port, const arch_command *commands, size_t count, uint64_t *cycle) {
  size_t there = 0;
  while (there < count && exists(&commands[there])) there++;
  const uint64_t start = *cycle;
  sim_push_result result;
  const size_t taken = sim_engine_push_many(port->engine, cycle, commands, there, &result);
  port->wait_cycles += *cycle - start;
  port->commands += taken;
  for (size_t n = 0; n < taken; n++) port->by_insn[commands[n].insn->id]++;
  for (size_t n = 0; n < taken && port->trace != NULL; n++) sim_trace_writer_command(port->trace, &commands[n]);
  if (taken == there && there < count) refuse(port, &commands[there]);
  return taken == count;
}

bool sim_port_fence(sim_port *port, uint64_t *cycle) {
  uint64_t start = *cycle;
  *cycle = port->engine->ops->drain(port->engine, *cycle);
  port->wait_cycles += *cycle - start;
  port->fence_wait_cycles += *cycle - start;
  port->fences++;
  if (port->trace != NULL) sim_trace_writer_fence(port->trace);
  return port->engine->ops->fault(port->engine)->kind == ARCH_FAULT_NONE;
}

static host_port_result host_command(void *context, arch_command *command, uint64_t *cycle, uint64_t *response) {
  const sim_port *port = context;
  arch_command_find(command, port->revision);
  return sim_port_command(context, command, cycle, response);
}

static bool host_fence(void *context, uint64_t *cycle) { return sim_port_fence(context, cycle); }

// ---- with queue

static bool failed(const sim_port *port) { return port->engine->ops->fault(port->engine)->kind != ARCH_FAULT_NONE; }

// The engine takes the oldest command in a cycle before `limit`, or not. A fault empties the queue.
static bool send_before(sim_port *port, uint64_t limit, uint64_t *response) {
  sim_engine *engine = port->engine;
  sim_port_entry *oldest = &port->queue[port->head];
  while (oldest->since < limit) {
    sim_push_result result = engine->ops->push(engine, oldest->since, &oldest->command, response);
    if (result != SIM_PUSH_FULL) {
      port->head = (port->head + 1) % SIM_PORT_QUEUE;
      port->waiting = result == SIM_PUSH_FAULT ? 0 : port->waiting - 1;
      return true;
    }
    oldest->since = sim_engine_await_room(engine, oldest->since, limit);
    if (failed(port)) {
      port->waiting = 0;
      return true;
    }
  }
  return false;
}

// The accelerator takes what it can in the cycles before `cycle`.
static void come_to(sim_port *port, uint64_t cycle) {
  while (port->waiting != 0 && send_before(port, cycle, NULL)) continue;
}

static void send_all(sim_port *port) { come_to(port, UINT64_MAX); }

bool sim_port_flush(sim_port *port) {
  send_all(port);
  return !failed(port);
}

static void tell_time(const sim_port *port, uint64_t cycle) {
  if (port->trace != NULL) sim_trace_writer_time(port->trace, cycle);
}

static void tell_hart(const sim_port *port, uint64_t cycle, sim_trace_hart what, uint64_t address) {
  if (port->trace == NULL) return;
  sim_trace_writer_time(port->trace, cycle);
  sim_trace_writer_hart(port->trace, what, address);
}

static uint64_t timed_room(void *context, uint64_t cycle) {
  sim_port *port = context;
  come_to(port, cycle);
  if (port->waiting < port->queue_limit) return cycle;
  tell_hart(port, cycle, SIM_TRACE_FULL, 0);
  send_before(port, UINT64_MAX, NULL);
  uint64_t room = port->engine->ops->reached(port->engine);
  if (room < cycle) room = cycle;
  port->wait_cycles += room - cycle;
  return room;
}

// Takes the command into the queue; one that returns a value leaves it at once, and the engine goes on to the response.
static host_port_result timed_command(void *context, arch_command *command, uint64_t *cycle, uint64_t *response) {
  sim_port *port = context;
  arch_command_find(command, port->revision);
  if (!exists(command)) return refuse(port, command);
  if (failed(port)) return HOST_PORT_FAULT;
  assert(port->waiting < port->queue_limit && "the hart asks for room first");
  tell_time(port, *cycle);
  note(port, command);
  unsigned tail = (port->head + port->waiting++) % SIM_PORT_QUEUE;
  port->queue[tail] = (sim_port_entry){.command = *command, .since = *cycle + 1};
  if (!command->returns) return HOST_PORT_DONE;
  while (port->waiting != 0) send_before(port, UINT64_MAX, response);
  uint64_t start = *cycle;
  *cycle = port->engine->ops->reached(port->engine) - 1;
  if (failed(port)) return HOST_PORT_FAULT;
  port->wait_cycles += *cycle - start;
  port->response_wait_cycles += *cycle - start;
  return HOST_PORT_DONE;
}

static bool timed_fence(void *context, uint64_t *cycle) {
  tell_time(context, *cycle);
  send_all(context);
  return sim_port_fence(context, cycle);
}

// The accelerator goes on until it is known when the hart's line is there; a fault ends the run.
static uint64_t await_line(sim_port *port) {
  sim_engine *engine = port->engine;
  uint64_t there, next = 0;
  while ((there = engine->ops->host_there(engine, &next)) == SIM_UNKNOWN) {
    come_to(port, next);
    engine->ops->advance(engine, next);
    if (failed(port)) return next;
  }
  return there;
}

// An engine that is past the cycle serves the hart when it can. A line of several units is asked for in as many cycles.
static uint64_t timed_memory(void *context, uint64_t cycle, uint64_t address, bool write) {
  sim_port *port = context;
  sim_engine *engine = port->engine;
  tell_hart(port, cycle, write ? SIM_TRACE_LINE_WRITE : SIM_TRACE_LINE_READ, address);
  come_to(port, cycle);
  for (uint64_t done = 0; done < port->line_bytes; done += port->unit_bytes) {
    uint64_t reached = engine->ops->reached(engine);
    if (reached > cycle) cycle = reached;
    engine->ops->host_access(engine, cycle++, address + done, write);
  }
  return write ? cycle : await_line(port);
}

static void touch(void *context, uint64_t pc, uint64_t address, unsigned bytes, bool write) {
  const sim_port *port = context;
  port->engine->ops->hart_touches(port->engine, pc, address, bytes, write);
}

host_port sim_port_for_host(sim_port *port) {
  if (port->queue_limit == 0)
    return (host_port){.context = port,
                       .command = host_command,
                       .fence = host_fence,
                       .touch = port->engine->ops->hart_touches != NULL ? touch : NULL};
  return (host_port){
      .context = port, .command = timed_command, .fence = timed_fence, .room = timed_room, .memory = timed_memory};
}
