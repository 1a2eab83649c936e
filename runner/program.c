// SPDX-License-Identifier: Apache-2.0
// Programs on an engine: see run.h and session.h. The way of a command is the one of a trace's replay (sim/port.h), so
// both have the same cycles.
#include "runner/program.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/command/private.h"
#include "runner/session.h"
#include "sim/figures.h"
#include "sim/port.h"

struct run_session {
  arch_memory *memory;
  sim_engine *engine;
  sim_port port;
  uint64_t cycle;
  uint64_t commands;
  bool trusted;  // the engine does not check commands
  const wf_stop *stop;
  void (*progress)(void *context, uint64_t commands);
  void *context;
};

// ---- one program of a session

// Commands are given to the engine many at a time: it knows what comes next, and each has the cycle it would have
// alone.
enum { GIVEN = 64 };

typedef struct runner {
  run_session *session;
  const command_program *program;
  const command_layout *layout;
  bool stopped;
  size_t count;
  arch_command given[GIVEN];  // that the engine does not have yet
} runner;

// Looks once in so many commands: they take far less than a millisecond.
static bool goes_on(const run_session *s) {
  enum { COMMANDS = 1024 };
  if (s->commands % COMMANDS != 0) return true;
  if (s->progress != NULL) s->progress(s->context, s->commands);
  return !wf_stop_wanted(s->stop);
}

static bool give(runner *r) {
  run_session *s = r->session;
  const size_t count = r->count;
  r->count = 0;
  return sim_port_commands(&s->port, r->given, count, &s->cycle);
}

static bool push(void *context, const command_insn *insn) {
  runner *r = context;
  run_session *s = r->session;
  if (insn == NULL) return give(r) && sim_port_fence(&s->port, &s->cycle);
  if (!goes_on(s)) return !(r->stopped = true);
  r->given[r->count++] = command_placed(r->program, insn, r->layout, s->commands++);
  return r->count < GIVEN || give(r);
}

static void run_program(void *context) {
  runner *r = context;
  sim_engine *engine = r->session->engine;
  if (command_walk(r->program, push, r) && give(r)) r->session->cycle = engine->ops->drain(engine, r->session->cycle);
}

static bool report_fault(const runner *r, run_result *result, wf_diag *diag) {
  result->fault = *r->session->engine->ops->fault(r->session->engine);
  if (result->fault.kind == ARCH_FAULT_NONE) return true;
  wf_error(diag, wf_in_file(r->program->name), "command %" PRIu64 ": %s", result->fault.command.index,
           result->fault.text);
  return false;
}

static void write_constants(const command_program *program, const command_layout *layout, arch_memory *memory) {
  for (int t = 0; t < program->tensor_count; t++) {
    const command_tensor *tensor = &program->tensors[t];
    const size_t bytes = command_tensor_bytes(tensor);
    if (tensor->contents != NULL)
      memcpy(arch_memory_at(memory, layout->tensor_address[t], bytes), tensor->contents, bytes);
  }
}

// Whether the checker has passed all commands of the program; of tokens what programs before left counts as well.
bool run_session_may_trust(const command_program *program) {
  return command_is_proved(program) && program->array->sync.by != HW_SYNC_TOKENS;
}

// An engine that does not check commands has been told that programs are verified and their tensors in main memory.
static bool keeps_word(const run_session *s, const command_program *program, const command_layout *layout,
                       wf_diag *diag) {
  if (!s->trusted) return true;
  bool good = run_session_may_trust(program);
  for (int t = 0; t < program->tensor_count && good; t++)
    good = arch_memory_at(s->memory, layout->tensor_address[t], command_tensor_bytes(&program->tensors[t])) != NULL;
  if (!good) wf_error(diag, wf_in_file(program->name), "the program is not verified, or not in main memory");
  return good;
}

bool run_session_run(run_session *session, const command_program *program, const command_layout *layout,
                     run_result *result, wf_diag *diag) {
  *result = (run_result){0};
  runner r = {.session = session, .program = program, .layout = layout};
  if (!keeps_word(session, program, layout, diag)) return false;
  write_constants(program, layout, session->memory);
  const uint64_t cycle = session->cycle, commands = session->commands;
  sim_engine_enter(session->engine, run_program, &r);
  result->cycles = session->cycle - cycle;
  result->commands = session->commands - commands;
  result->has_units = run_session_units(session, &result->units);
  result->stopped = r.stopped;
  return report_fault(&r, result, diag) && !r.stopped;
}

// ---- sessions

run_session *run_session_open(const hw_array *array, const sim_engine_ops *engine, const sim_engine_options *options,
                              arch_memory *memory, wf_diag *diag) {
  sim_engine *created = sim_engine_create(engine, array, memory, options, diag);
  if (created == NULL) return NULL;
  run_session *session = WF_NEW(run_session);
  session->engine = created;
  session->memory = memory;
  session->trusted = options != NULL && options->checked;
  session->port = sim_port_for(created, array->isa.revision);
  return session;
}

void run_session_close(run_session *session) {
  if (session == NULL) return;
  session->engine->ops->destroy(session->engine);
  wf_free(session);
}

void run_session_watch(run_session *session, const wf_stop *stop, void (*progress)(void *context, uint64_t commands),
                       void *context) {
  session->stop = stop;
  session->progress = progress;
  session->context = context;
}

sim_engine *run_session_engine(run_session *session) { return session->engine; }

uint64_t run_session_cycle(const run_session *session) { return session->cycle; }

void run_session_advance(run_session *session, uint64_t cycle) {
  session->engine->ops->advance(session->engine, cycle);
  session->cycle = cycle;
}

bool run_session_units(const run_session *session, sim_cycle_report *units) {
  return sim_figures_report(session->engine, units);
}

// ---- a program alone

bool run_commands(const command_program *program, const run_config *config, arch_memory *memory,
                  const command_layout *layout, run_result *result, wf_diag *diag) {
  *result = (run_result){0};
  sim_engine_options options = config->options != NULL ? *config->options : (sim_engine_options){0};
  options.checked |= run_session_may_trust(program);
  run_session *session = run_session_open(program->array, config->engine, &options, memory, diag);
  if (session == NULL) return false;
  if (config->events != NULL) session->engine->ops->set_events(session->engine, config->events);
  run_session_watch(session, config->stop, config->progress, config->context);
  const unsigned times = config->times == 0 ? 1 : config->times;
  bool good = true;
  for (unsigned n = 0; n < times && good; n++) good = run_session_run(session, program, layout, result, diag);
  result->commands = session->commands;
  if (good && config->ended != NULL) config->ended(config->context, session->engine, session->cycle);
  run_session_close(session);
  return good;
}

// ---- with a memory of its own

static void copy_in(const command_program *program, const command_layout *layout, arch_memory *memory,
                    void *const *tensors) {
  for (int t = 0; t < program->tensor_count; t++) {
    size_t bytes = command_tensor_bytes(&program->tensors[t]);
    if (tensors[t] != NULL && program->tensors[t].contents == NULL)
      memcpy(arch_memory_at(memory, layout->tensor_address[t], bytes), tensors[t], bytes);
  }
}

static void copy_out(const command_program *program, const command_layout *layout, const arch_memory *memory,
                     void *const *tensors) {
  for (int t = 0; t < program->tensor_count; t++) {
    size_t bytes = command_tensor_bytes(&program->tensors[t]);
    if (tensors[t] != NULL && program->tensors[t].written)
      memcpy(tensors[t], arch_memory_at(memory, layout->tensor_address[t], bytes), bytes);
  }
}

bool run_commands_on(const command_program *program, const run_config *config, void *const *tensors, run_result *result,
                     wf_diag *diag) {
  uint64_t *address = WF_NEW_ARRAY((size_t)program->tensor_count + 1, uint64_t);
  const command_layout layout = {address};
  arch_memory *memory = NULL;
  bool good = command_place(program, ARCH_MEMORY_BASE, address, diag);
  if (good) memory = arch_memory_create((uint64_t)program->array->memory.capacity_mib << 20);
  if (good && memory == NULL) {
    wf_error(diag, wf_in_file(program->name), "cannot reserve %u MiB of address space for main memory",
             program->array->memory.capacity_mib);
    good = false;
  }
  if (good) {
    copy_in(program, &layout, memory, tensors);
    good = run_commands(program, config, memory, &layout, result, diag);
    copy_out(program, &layout, memory, tensors);
  }
  arch_memory_destroy(memory);
  wf_free(address);
  return good;
}
