// SPDX-License-Identifier: Apache-2.0
// Custom instructions and fences: from the hart to the accelerator's port. The engine behind the port does its own
// floating point, so the program's pending flags are taken out of the host FPU before and foreign ones dropped after.
#include <assert.h>

#include "sim/host/rv64_fp.h"

static rv64_fpu leave(host *h) {
  rv64_fp_collect(h);
  return rv64_fp_enter();
}

// The port saw `before` and left `after` on the clock.
static void advance(host *h, uint64_t before, uint64_t after) {
  assert(after >= before && "a port never turns the clock back");
  h->extra_cycles += after - before;
}

// h->left counts the instruction at hand as retired already.
static uint64_t now(const host *h) { return rv64_cycles(h) - 1; }

static rv64_outcome stopped(host *h) {
  h->end = HOST_PORT_STOPPED;
  return RV64_END;
}

rv64_outcome rv64_port_timed_command(host *h, const rv64_op *op, uint64_t pc, bool returns, uint64_t *cycle) {
  const host_port *port = &h->config.port;
  arch_command command = {.rs1 = h->x[op->rs1],
                          .rs2 = h->x[op->rs2],
                          .pc = pc,
                          .index = h->commands,
                          .funct = (uint8_t)op->imm,
                          .returns = returns};
  uint64_t response = 0;
  rv64_fpu guest = leave(h);
  host_port_result result = port->command(port->context, &command, cycle, &response);
  rv64_fp_restore(guest);
  if (result == HOST_PORT_ILLEGAL) return RV64_TRAP_ILLEGAL;
  h->commands++;
  if (result == HOST_PORT_FAULT) return stopped(h);
  if (returns) h->x[op->rd] = response;
  return RV64_GO_ON;
}

rv64_outcome rv64_port_command(host *h, const rv64_op *op, uint64_t pc, bool returns) {
  if (h->config.port.command == NULL) return RV64_TRAP_ILLEGAL;
  uint64_t before = now(h), cycle = before;
  rv64_outcome outcome = rv64_port_timed_command(h, op, pc, returns, &cycle);
  advance(h, before, cycle);
  return outcome;
}

rv64_outcome rv64_port_timed_fence(host *h, uint64_t *cycle) {
  const host_port *port = &h->config.port;
  if (port->fence == NULL) return RV64_GO_ON;
  rv64_fpu guest = leave(h);
  bool ok = port->fence(port->context, cycle);
  rv64_fp_restore(guest);
  return ok ? RV64_GO_ON : stopped(h);
}

rv64_outcome rv64_port_fence(host *h) {
  uint64_t before = now(h), cycle = before;
  rv64_outcome outcome = rv64_port_timed_fence(h, &cycle);
  advance(h, before, cycle);
  return outcome;
}

uint64_t rv64_port_room(host *h, uint64_t cycle) {
  rv64_fpu guest = leave(h);
  uint64_t room = h->config.port.room(h->config.port.context, cycle);
  rv64_fp_restore(guest);
  return room;
}

uint64_t rv64_port_memory(host *h, uint64_t cycle, uint64_t address, bool write) {
  rv64_fpu guest = leave(h);
  uint64_t full = h->config.port.memory(h->config.port.context, cycle, address, write);
  rv64_fp_restore(guest);
  return full;
}
