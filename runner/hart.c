// SPDX-License-Identifier: Apache-2.0
// Steps of the host on the hart of the array: the program driver/host/step.c is loaded once; for each step its calls
// are written into memory and the hart runs it from the start, with the engine's clock and its memory, so that its
// misses meet what the accelerator left in the caches. It is one hart from step to step: its instruction cache and its
// branch prediction keep what they hold. Its data cache does while no step of the array runs in between; the array
// writes to memory, and then it is empty. The cycles are those that the program measures around the calls.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runner/machine.h"
#include "sim/host/host.h"
#include "sim/port.h"

__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    ".globl run_host_step_elf\n"
    "run_host_step_elf:\n"
    ".incbin \"" WEFT_HOST_STEP_ELF
    "\"\n"
    ".globl run_host_step_elf_end\n"
    "run_host_step_elf_end:\n"
    ".byte 0\n"
    ".previous\n");

bool run_hart_open(run_machine *m) {
  if (!m->config->engine->timed || m->config->engine->host_access == NULL) {
    wf_error(m->diag, wf_in_file(m->net->graph->name), "engine %s has no time for the hart", m->config->engine->name);
    return false;
  }
  const size_t bytes = (size_t)(run_host_step_elf_end - run_host_step_elf);
  m->hart_program = sim_elf_parse("host_step.elf", run_host_step_elf, bytes, m->diag);
  return m->hart_program != NULL && sim_elf_load(m->hart_program, m->memory, m->diag) &&
         sim_elf_find(m->hart_program, "weft_host_batch", &m->batch);
}

// ---- a port whose hart began at `base`; steps of the array move it on

typedef struct late_port {
  host_port port;
  uint64_t base;
} late_port;

struct run_machine_hart {
  run_machine *m;
  sim_port port;
  late_port late;
  host *host;
  host_result result;  // of the last run
};

static host_port_result late_command(void *context, arch_command *command, uint64_t *cycle, uint64_t *response) {
  late_port *late = context;
  *cycle += late->base;
  const host_port_result result = late->port.command(late->port.context, command, cycle, response);
  *cycle -= late->base;
  return result;
}

static bool late_fence(void *context, uint64_t *cycle) {
  late_port *late = context;
  *cycle += late->base;
  const bool good = late->port.fence(late->port.context, cycle);
  *cycle -= late->base;
  return good;
}

static uint64_t late_room(void *context, uint64_t cycle) {
  late_port *late = context;
  return late->port.room(late->port.context, cycle + late->base) - late->base;
}

static uint64_t late_memory(void *context, uint64_t cycle, uint64_t address, bool write) {
  late_port *late = context;
  return late->port.memory(late->port.context, cycle + late->base, address, write) - late->base;
}

// ---- a step

static void write_calls(run_machine *m, const network_step *step, int first, int count) {
  const uint64_t at = ARCH_MEMORY_BASE + NETWORK_CALLS;
  struct weft_host_call *calls = (void *)arch_memory_at(m->memory, at, (size_t)count * sizeof *calls);
  for (int c = 0; c < count; c++) {
    const network_call *from = &step->calls[first + c];
    calls[c] = from->call;
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if (from->place[o].buffer >= 0)
        calls[c].operand[o].data = (void *)(uintptr_t)network_address(m->net, from->place[o]);
  }
  uint64_t *batch = (void *)arch_memory_at(m->memory, m->batch, 3 * sizeof *batch);
  batch[0] = at, batch[1] = (uint64_t)count, batch[2] = 0;
}

static run_machine_hart *create(run_machine *m) {
  run_machine_hart *hart = WF_NEW(run_machine_hart);
  hart->m = m;
  hart->port = sim_port_for_hart_of(run_session_engine(m->session), m->net->options.array);
  hart->late.port = sim_port_for_host(&hart->port);
  host_config config = {.memory = m->memory,
                        .port = {&hart->late, late_command, late_fence, late_room, late_memory, .touch = NULL},
                        .entry = sim_elf_entry(m->hart_program),
                        .console = stderr,
                        .console_error = stderr,
                        .timing = m->net->options.array};
  sim_elf_find(m->hart_program, "tohost", &config.tohost);
  sim_elf_find(m->hart_program, "fromhost", &config.fromhost);
  hart->host = host_create(&config);
  return hart;
}

void run_hart_close(run_machine *m) {
  if (m->hart == NULL) return;
  host_destroy(m->hart->host);
  wf_free(m->hart);
}

static void hart_body(void *context) {
  run_machine_hart *hart = context;
  run_machine *m = hart->m;
  uint64_t tohost;
  if (sim_elf_find(m->hart_program, "tohost", &tohost)) memset(arch_memory_at(m->memory, tohost, 8), 0, 8);
  hart->late.base = run_session_cycle(m->session) - hart->result.cycles;
  hart->result = host_run(hart->host, NULL, NULL);
  run_session_advance(m->session, hart->late.base + hart->result.cycles);
}

static void run_once(run_machine *m) {
  if (m->hart == NULL)
    m->hart = create(m);
  else
    host_restart(m->hart->host, !m->array_ran);
  m->array_ran = false;
  sim_engine_enter(run_session_engine(m->session), hart_body, m->hart);
}

// What the hart has counted since it was made.
static host_counts hart_counts(const run_machine *m) {
  static const host_counts none;
  return m->hart == NULL ? none : m->hart->result.counts;
}

static bool report_end(const run_machine *m, const network_step *step, const host_result *result) {
  if (result->end == HOST_EXITED && result->exit_code == WEFT_HOST_OK) return true;
  wf_error(m->diag, wf_in_file(m->net->graph->name),
           "node %s: the hart's program ended with code %" PRIu64 " at 0x%" PRIx64, step->name, result->exit_code,
           result->pc);
  return false;
}

bool run_hart_step(run_machine *m, const network_step *step, run_step_result *result) {
  const int room = (NETWORK_RESERVED - NETWORK_CALLS) / (int)sizeof(struct weft_host_call);
  for (int first = 0; first < step->call_count; first += room) {
    const int left = step->call_count - first;
    write_calls(m, step, first, left < room ? left : room);
    const host_counts before = hart_counts(m);
    run_once(m);
    if (!report_end(m, step, &m->hart->result)) return false;
    const host_counts after = hart_counts(m), these = host_counts_between(&before, &after);
    host_counts_add(&result->hart, &these, 1);
    result->commands += these.instructions[HOST_COMMAND];
    result->cycles += ((const uint64_t *)(const void *)arch_memory_at(m->memory, m->batch, 24))[2];
  }
  result->timed = true;
  if (step->part_count > 0) result->macs = run_machine_macs(m, step);
  if (step->part_count > 0 || step->calls[0].call.op == WEFT_HOST_QLEAVE) m->array_ran = true;
  return true;
}
