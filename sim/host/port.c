// Custom instructions and fences: from the hart to the accelerator's port. The engine behind the port does its own
// floating point, so the program's pending flags are taken out of the host FPU before and foreign ones dropped after.
#include <assert.h>

#include "sim/host/rv64_fp.h"

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

rv64_outcome rv64_port_command(host *h, const rv64_op *op, uint64_t pc, bool returns) {
  const host_port *port = &h->config.port;
  if (port->command == NULL) return RV64_TRAP_ILLEGAL;
  sim_command command = {.rs1 = h->x[op->rs1],
                         .rs2 = h->x[op->rs2],
                         .pc = pc,
                         .index = h->commands,
                         .funct = (uint8_t)op->imm,
                         .returns = returns};
  uint64_t before = now(h), cycle = before, response = 0;
  rv64_fp_collect(h);
  rv64_fpu guest = rv64_fp_enter();
  host_port_result result = port->command(port->context, &command, &cycle, &response);
  rv64_fp_restore(guest);
  if (result == HOST_PORT_ILLEGAL) return RV64_TRAP_ILLEGAL;
  h->commands++;
  advance(h, before, cycle);
  if (result == HOST_PORT_FAULT) return stopped(h);
  if (returns) h->x[op->rd] = response;
  return RV64_GO_ON;
}

rv64_outcome rv64_port_fence(host *h) {
  const host_port *port = &h->config.port;
  if (port->fence == NULL) return RV64_GO_ON;
  uint64_t before = now(h), cycle = before;
  rv64_fp_collect(h);
  rv64_fpu guest = rv64_fp_enter();
  bool ok = port->fence(port->context, &cycle);
  rv64_fp_restore(guest);
  advance(h, before, cycle);
  return ok ? RV64_GO_ON : stopped(h);
}
