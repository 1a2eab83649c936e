// SPDX-License-Identifier: Apache-2.0
// Steps of a network on memory and engine: see machine.h.
#include <string.h>

#include "base/alloc.h"
#include "compiler/network/held.h"
#include "runner/machine.h"

// ---- tensors

// A tensor as rows of `bytes` that lie `pitch` apart in memory.
typedef struct lie {
  uint8_t *memory;
  uint64_t bytes, pitch, rows;
} lie;

static lie lie_of(const run_machine *m, int tensor) {
  const network_lie *rows = &m->net->lies[tensor];
  const uint64_t all = graph_bytes(&m->net->graph->tensors[tensor]), bytes = rows->pitch == 0 ? all : rows->bytes,
                 count = bytes == 0 ? 0 : all / bytes, reach = count == 0 ? 0 : (count - 1) * rows->pitch + bytes;
  return (lie){run_machine_at(m, m->net->tensors[tensor], reach), bytes, rows->pitch, count};
}

void run_machine_put(const run_machine *m, int tensor, const void *from) {
  const lie to = lie_of(m, tensor);
  for (uint64_t r = 0; r < to.rows; r++)
    memcpy(to.memory + r * to.pitch, (const uint8_t *)from + r * to.bytes, to.bytes);
}

void run_machine_take(const run_machine *m, int tensor, void *to) {
  const lie from = lie_of(m, tensor);
  for (uint64_t r = 0; r < from.rows; r++)
    memcpy((uint8_t *)to + r * from.bytes, from.memory + r * from.pitch, from.bytes);
}

// ---- opening

static void load_constants(const run_machine *m) {
  for (int b = 0; b < m->net->buffer_count; b++) {
    const network_buffer *buffer = &m->net->buffers[b];
    if (buffer->contents == NULL || buffer->address == 0) continue;
    memcpy(run_machine_at(m, (network_place){.buffer = b}, buffer->bytes), buffer->contents, buffer->content_bytes);
  }
}

static void load_inputs(const run_machine *m) {
  const graph *g = m->net->graph;
  for (int i = 0; i < g->input_count; i++) run_machine_put(m, g->inputs[i], m->config->inputs[i]);
}

// All programs are verified: the engine need not check their commands again.
static bool all_trusted(const network *net) {
  for (int k = 0; k < net->kernel_count; k++)
    if (net->kernels[k].program != NULL && !run_session_may_trust(net->kernels[k].program)) return false;
  return true;
}

bool run_machine_open(run_machine *m, const network *net, const run_network_config *config, wf_diag *diag) {
  *m = (run_machine){.net = net, .config = config, .diag = diag};
  const hw_array *array = net->options.array;
  m->memory = arch_memory_create((uint64_t)array->memory.capacity_mib << 20);
  if (m->memory == NULL) {
    wf_error(diag, wf_in_file(net->graph->name), "cannot reserve %u MiB of address space for main memory",
             array->memory.capacity_mib);
    return false;
  }
  sim_engine_options options = config->options != NULL ? *config->options : (sim_engine_options){0};
  options.checked |= all_trusted(net);
  m->session = run_session_open(array, config->engine, &options, m->memory, diag);
  if (m->session == NULL) return false;
  run_session_watch(m->session, config->stop, NULL, NULL);
  sim_engine *engine = run_session_engine(m->session);
  if (config->events != NULL && engine->ops->set_events != NULL) engine->ops->set_events(engine, config->events);
  if (config->watch != NULL) config->watch(config->context, engine);
  if (config->hart == RUN_HART_TIMED && !run_hart_open(m)) return false;
  load_constants(m);
  load_inputs(m);
  return true;
}

void run_machine_close(run_machine *m) {
  run_hart_close(m);
  if (m->hart_program != NULL) sim_elf_close(m->hart_program);
  run_session_close(m->session);
  arch_memory_destroy(m->memory);
}

// ---- what the units did in a step

static void subtract(uint64_t *from, const uint64_t *what, size_t count) {
  for (size_t i = 0; i < count; i++) from[i] -= what[i];
}

#define SUBTRACT(field) subtract((uint64_t *)&now.field, (const uint64_t *)&m->before.field, sizeof now.field / 8)
static void take_units(run_machine *m, run_step_result *result) {
  sim_cycle_report now;
  if (!run_session_units(m->session, &now)) return;
  const sim_cycle_report all = now;
  SUBTRACT(cycles);
  for (unsigned u = 0; u < now.units; u++) SUBTRACT(unit[u].cycles);
  SUBTRACT(macs);
  SUBTRACT(bus_read_bytes);
  SUBTRACT(bus_written_bytes);
  SUBTRACT(sp_row_reads);
  SUBTRACT(sp_row_writes);
  SUBTRACT(acc_row_reads);
  SUBTRACT(acc_row_writes);
  SUBTRACT(memory);
  m->before = all;
  result->units = now;
  result->has_units = true;
}

// ---- steps

static bool array_step(run_machine *m, const network_step *step, run_step_result *result) {
  const network_kernel *kernel = &m->net->kernels[step->kernel];
  uint64_t *address = WF_NEW_ARRAY((size_t)kernel->program->tensor_count + 1, uint64_t);
  network_layout(m->net, step, address);
  const command_layout layout = {address};
  run_result run;
  const bool good = run_session_run(m->session, kernel->program, &layout, &run, m->diag);
  wf_free(address);
  result->cycles = run.cycles;
  result->timed = m->config->engine->timed;
  m->array_ran = true;
  result->commands = run.commands;
  result->hart.instructions[HOST_COMMAND] = run.commands;
  result->macs = command_useful_macs(kernel->program, step->macs);
  return good;
}

uint64_t run_machine_macs(const run_machine *m, const network_step *step) {
  uint64_t macs = 0;
  for (int p = 0; p < step->part_count; p++)
    if (step->part[p].place == GRAPH_ON_ARRAY)
      macs += command_useful_macs(m->net->kernels[step->part[p].kernel].program, step->part[p].macs);
  return macs;
}

static bool carry_out(run_machine *m, const network_step *step, run_step_result *result);

// Without a hart that has time, what hart and array do at one time is done one after the other.
static bool part_steps(run_machine *m, const network_step *step, run_step_result *result) {
  for (int p = 0; p < step->part_count; p++) {
    run_step_result part = {0};
    if (!carry_out(m, &step->part[p], &part)) return false;
    result->cycles += part.cycles;
    result->timed = result->timed || part.timed;
    result->commands += part.commands;
    result->macs += part.macs;
    host_counts_add(&result->hart, &part.hart, 1);
  }
  return true;
}

// Calls of the hart that give commands, as a program that has them.
static bool leave(run_machine *m, const network_call *call, const struct weft_host_call *placed) {
  command_program *program = network_held_leave(placed, m->net->options.array);
  const command_layout layout = {(const uint64_t[]){network_address(m->net, call->place[0])}};
  run_result run;
  const bool good = command_prove(program, m->diag) && run_session_run(m->session, program, &layout, &run, m->diag);
  command_destroy(program);
  return good;
}

static bool leave_step(run_machine *m, const network_step *step, const struct weft_host_call *calls) {
  for (int c = 0; c < step->call_count; c++)
    if (!leave(m, &step->calls[c], &calls[c])) return false;
  return true;
}

static bool native_step(run_machine *m, const network_step *step) {
  struct weft_host_call *calls = WF_NEW_ARRAY((size_t)step->call_count + 1, struct weft_host_call);
  for (int c = 0; c < step->call_count; c++) {
    calls[c] = step->calls[c].call;
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if (step->calls[c].place[o].buffer >= 0) calls[c].operand[o].data = run_machine_at(m, step->calls[c].place[o], 1);
  }
  if (step->calls[0].call.op == WEFT_HOST_QLEAVE) {
    const bool good = leave_step(m, step, calls);
    wf_free(calls);
    return good;
  }
  const enum weft_host_status status = weft_host_run_all(calls, (size_t)step->call_count);
  wf_free(calls);
  if (status == WEFT_HOST_OK) return true;
  wf_error(m->diag, wf_in_file(m->net->graph->name), "node %s: %s", step->name,
           status == WEFT_HOST_OUT_OF_RANGE ? "an index is out of range" : "the host has no such operator");
  return false;
}

static bool carry_out(run_machine *m, const network_step *step, run_step_result *result) {
  if (step->place == GRAPH_ON_ARRAY) return array_step(m, step, result);
  if (m->hart_program != NULL) return run_hart_step(m, step, result);
  return step->part_count > 0 ? part_steps(m, step, result) : native_step(m, step);
}

bool run_machine_step(run_machine *m, const network_step *step, run_step_result *result) {
  *result = (run_step_result){.start = run_session_cycle(m->session)};
  const bool good = carry_out(m, step, result);
  take_units(m, result);
  return good;
}
