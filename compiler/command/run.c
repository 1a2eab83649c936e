// A program on an engine: see run.h. The way of a command is the one of a trace's replay (sim/port.h), so both have the
// same cycles.
#include "compiler/command/run.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/command/private.h"
#include "hw/base/alloc.h"
#include "sim/port.h"

typedef struct runner {
  const command_program *program;
  const command_layout *layout;
  const command_run_config *config;
  sim_engine *engine;
  sim_port port;
  uint64_t cycle;
  command_run_result *result;
} runner;

static bool push(void *context, const command_insn *insn) {
  runner *r = context;
  uint64_t response;
  if (insn == NULL) return sim_port_fence(&r->port, &r->cycle);
  const sim_command command = command_placed(insn, r->layout, r->result->commands++);
  return sim_port_command(&r->port, &command, &r->cycle, &response) == HOST_PORT_DONE;
}

static bool run_once(runner *r) {
  uint64_t start = r->cycle;
  if (!command_walk(r->program, push, r)) return false;
  r->cycle = r->engine->ops->drain(r->engine, r->cycle);
  r->result->cycles = r->cycle - start;
  return r->engine->ops->fault(r->engine)->kind == SIM_FAULT_NONE;
}

static void run_all(void *context) {
  runner *r = context;
  unsigned times = r->config->times == 0 ? 1 : r->config->times;
  for (unsigned n = 0; n < times && run_once(r); n++) continue;
}

static bool report_fault(const runner *r, wf_diag *diag) {
  const sim_fault *fault = r->engine->ops->fault(r->engine);
  r->result->fault = *fault;
  if (fault->kind == SIM_FAULT_NONE) return true;
  wf_error(diag, wf_in_file(r->program->name), "command %" PRIu64 ": %s", fault->command.index, fault->text);
  return false;
}

bool command_run(const command_program *program, const command_run_config *config, sim_memory *memory,
                 const command_layout *layout, command_run_result *result, wf_diag *diag) {
  *result = (command_run_result){0};
  runner r = {.program = program, .layout = layout, .config = config, .result = result};
  r.engine = sim_engine_create(config->engine, program->array, memory, config->options, diag);
  if (r.engine == NULL) return false;
  r.port = sim_port_for(r.engine, program->array->isa.revision);
  sim_engine_enter(r.engine, run_all, &r);
  bool good = report_fault(&r, diag);
  result->has_units = config->engine == &sim_cycle_engine;
  if (result->has_units) sim_cycle_report_of(r.engine, &result->units);
  r.engine->ops->destroy(r.engine);
  return good;
}

// ---- with a memory of its own

static void copy_in(const command_program *program, const command_layout *layout, sim_memory *memory,
                    void *const *tensors) {
  for (int t = 0; t < program->tensor_count; t++) {
    size_t bytes = command_tensor_bytes(&program->tensors[t]);
    if (tensors[t] != NULL) memcpy(sim_memory_at(memory, layout->tensor_address[t], bytes), tensors[t], bytes);
  }
}

static void copy_out(const command_program *program, const command_layout *layout, const sim_memory *memory,
                     void *const *tensors) {
  for (int t = 0; t < program->tensor_count; t++) {
    size_t bytes = command_tensor_bytes(&program->tensors[t]);
    if (tensors[t] != NULL && program->tensors[t].written)
      memcpy(tensors[t], sim_memory_at(memory, layout->tensor_address[t], bytes), bytes);
  }
}

bool command_run_on(const command_program *program, const command_run_config *config, void *const *tensors,
                    command_run_result *result, wf_diag *diag) {
  uint64_t *address = WF_NEW_ARRAY((size_t)program->tensor_count + 1, uint64_t);
  const command_layout layout = {address};
  sim_memory *memory = NULL;
  bool good = command_place(program, SIM_MEMORY_BASE, address, diag);
  if (good) memory = sim_memory_create((uint64_t)program->array->memory.capacity_mib << 20);
  if (good && memory == NULL) {
    wf_error(diag, wf_in_file(program->name), "cannot reserve %u MiB of address space for main memory",
             program->array->memory.capacity_mib);
    good = false;
  }
  if (good) {
    copy_in(program, &layout, memory, tensors);
    good = command_run(program, config, memory, &layout, result, diag);
    copy_out(program, &layout, memory, tensors);
  }
  sim_memory_destroy(memory);
  wf_free(address);
  return good;
}
