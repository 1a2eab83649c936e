// SPDX-License-Identifier: Apache-2.0
// One simulation from file to result: see run.h. The exits below say where a program stopped in the program's own
// terms: pc, function, instruction or command.
#include "sim/run.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "isa/isa.h"
#include "sim/elf/elf.h"
#include "sim/figures.h"
#include "sim/trace/footprint.h"

enum { PLACE_TEXT = 192, COMMAND_TEXT = 1024 };

static arch_memory *create_memory(const hw_array *array, wf_diag *diag) {
  arch_memory *memory = arch_memory_create((uint64_t)array->memory.capacity_mib << 20);
  if (memory == NULL)
    wf_error(diag, wf_in_file(NULL), "cannot reserve %u MiB of address space for main memory",
             array->memory.capacity_mib);
  return memory;
}

// True if the file was made for this array, or the user said that it does not matter.
static bool array_agrees(const sim_run_config *config, wf_location where, uint64_t hash, const char *name,
                         wf_diag *diag) {
  if (config->any_array || hash == hw_array_hash(config->array)) return true;
  wf_error(diag, where, "made for array %s (%016" PRIx64 "), not for %s (%016" PRIx64 ")", name, hash,
           config->array->name, hw_array_hash(config->array));
  wf_hint(diag, "give that array with --array (and --isa), or run it anyway with --any-array");
  return false;
}

// "0x80000124 (main+0x1c)"
static const char *place(const sim_elf *elf, uint64_t pc, char text[PLACE_TEXT]) {
  const sim_elf_symbol *symbol = sim_elf_symbol_at(elf, pc);
  if (symbol == NULL)
    snprintf(text, PLACE_TEXT, "0x%" PRIx64, pc);
  else
    snprintf(text, PLACE_TEXT, "0x%" PRIx64 " (%.100s+0x%" PRIx64 ")", pc, symbol->name, pc - symbol->address);
  return text;
}

static void command_text(const arch_command *command, char *text, size_t size) {
  if (command->insn != NULL)
    isa_print(command->insn, command->rs1, command->rs2, text, size);
  else
    snprintf(text, size, "funct %u rs1=0x%" PRIx64 " rs2=0x%" PRIx64, command->funct, command->rs1, command->rs2);
}

static sim_run_status fault_status(arch_fault_kind kind) {
  switch (kind) {
    case ARCH_FAULT_LOCAL:
      return SIM_RUN_LOCAL;
    case ARCH_FAULT_MEMORY:
      return SIM_RUN_MEMORY;
    case ARCH_FAULT_STUCK:
      return SIM_RUN_STUCK;
    case ARCH_FAULT_ILLEGAL:
    case ARCH_FAULT_NONE:
      break;
  }
  return SIM_RUN_ILLEGAL;
}

// The array forbids the custom instruction that trapped: say which one and why.
static void explain_illegal(const sim_run_config *config, const char *path, const sim_elf *elf,
                            const arch_command *command, wf_diag *diag) {
  char where[PLACE_TEXT], text[COMMAND_TEXT];
  command_text(command, text, sizeof text);
  wf_error(diag, wf_in_file(path), "pc %s: illegal custom instruction: %s", place(elf, command->pc, where), text);
  unsigned other = config->array->isa.revision == 1 ? 2 : 1;
  if (isa_find(other, command->funct, command->rs1) != NULL)
    wf_hint(diag, "it exists in ISA revision %u: run with --isa %u", other, other);
}

static sim_run_status explain_fault(const char *path, const sim_elf *elf, const arch_fault *fault, wf_diag *diag) {
  char where[PLACE_TEXT], text[COMMAND_TEXT];
  command_text(&fault->command, text, sizeof text);
  wf_error(diag, wf_in_file(path), "pc %s: command %" PRIu64 ": %s: %s", place(elf, fault->command.pc, where),
           fault->command.index, text, fault->text);
  return fault_status(fault->kind);
}

static sim_run_status explain_trap(const char *path, const sim_elf *elf, const host_trap *trap, wf_diag *diag) {
  char where[PLACE_TEXT], text[128];
  isa_rv64_disasm(trap->instruction, trap->pc, text, sizeof text);
  wf_error(diag, wf_in_file(path), "pc %s: %s, value 0x%" PRIx64 ": %s", place(elf, trap->pc, where),
           host_cause_name(trap->cause), trap->value, text);
  wf_hint(diag, "the program sets no trap handler (mtvec)");
  return SIM_RUN_TRAP;
}

static sim_run_status explain_end(const sim_run_config *config, const char *path, const sim_elf *elf,
                                  const sim_run_result *result, wf_diag *diag) {
  const host_result *hosted = &result->host;
  char where[PLACE_TEXT];
  switch (hosted->end) {
    case HOST_EXITED:
      return SIM_RUN_OK;
    case HOST_PORT_STOPPED:
      return explain_fault(path, elf, &result->fault, diag);
    case HOST_TRAPPED:
      if (result->port.illegal != 0 && result->port.last_illegal.pc == hosted->last_trap.pc) {
        explain_illegal(config, path, elf, &result->port.last_illegal, diag);
        return SIM_RUN_ILLEGAL;
      }
      return explain_trap(path, elf, &hosted->last_trap, diag);
    case HOST_LIMIT:
      wf_error(diag, wf_in_file(path), "pc %s: stopped after %" PRIu64 " instructions", place(elf, hosted->pc, where),
               hosted->instructions);
      wf_hint(diag, "raise the limit with --max-instructions N (0: none)");
      return SIM_RUN_LIMIT;
    case HOST_STUCK:
      wf_error(diag, wf_in_file(path), "pc %s: the program waits for ever", place(elf, hosted->pc, where));
      return SIM_RUN_LIMIT;
  }
  return SIM_RUN_BAD_INPUT;
}

// A program that ends with an error after it took traps: its own handler hid where they came from.
static void mention_traps(const char *path, const sim_elf *elf, const host_result *hosted, wf_diag *diag) {
  if (hosted->end != HOST_EXITED || hosted->exit_code == 0 || hosted->traps == 0) return;
  char where[PLACE_TEXT], text[128];
  isa_rv64_disasm(hosted->last_trap.instruction, hosted->last_trap.pc, text, sizeof text);
  wf_warning(diag, wf_in_file(path),
             "the program took %" PRIu64 " traps, the last at pc %s: %s, value 0x%" PRIx64 ": %s", hosted->traps,
             place(elf, hosted->last_trap.pc, where), host_cause_name(hosted->last_trap.cause), hosted->last_trap.value,
             text);
}

// The engine goes on to the end of the run, which is what its units are to account for.
static void account(const sim_run_config *config, sim_engine *engine, sim_run_result *result) {
  if (config->ended != NULL) config->ended(config->watch_context, engine, result->host.cycles);
  if (!result->hosted) result->host.counts.instructions[HOST_COMMAND] = result->port.commands;
  if (engine->ops->memory_counts == NULL && !engine->ops->timing_only) return;
  engine->ops->advance(engine, result->host.cycles);
  result->has_units = sim_figures_report(engine, &result->units);
  result->has_memory = engine->ops->memory_counts != NULL;
  if (result->has_memory) result->memory = engine->ops->memory_counts(engine);
}

// The hart's life, wherever the engine wants it to be.
typedef struct hart_run {
  const sim_run_config *config;
  host *hart;
  sim_port *port;
  host_result result;
  bool flushed;  // the engine took all that the program gave it
} hart_run;

static void run_hart(void *context) {
  hart_run *run = context;
  run->result = host_run(run->hart, run->config->progress, run->config->progress_context);
  run->flushed = sim_port_flush(run->port);
}

static sim_trace_writer *open_trace(const sim_run_config *config, const sim_port *port, arch_memory *memory) {
  if (config->trace == NULL) return NULL;
  return (port->queue_limit == 0 ? sim_trace_writer_open : sim_trace_writer_open_timed)(config->trace, config->array,
                                                                                        memory);
}

// What the program did not wait for belongs to the trace; the result is that of the program's end.
static void end_trace(sim_engine *engine, const sim_run_result *result) {
  if (result->port.trace == NULL || !engine->ops->timed || result->fault.kind != ARCH_FAULT_NONE) return;
  if (engine->ops->set_events != NULL) engine->ops->set_events(engine, NULL);
  engine->ops->drain(engine, result->host.cycles);
}

static void run_program(const sim_run_config *config, const sim_elf *elf, arch_memory *memory, sim_engine *engine,
                        sim_run_result *result) {
  sim_port port = sim_port_for_hart_of(engine, config->array);
  port.trace = open_trace(config, &port, memory);
  host_config hosted = {.memory = memory,
                        .port = sim_port_for_host(&port),
                        .timing = port.queue_limit == 0 ? NULL : config->array,
                        .entry = sim_elf_entry(elf),
                        .console = config->console,
                        .console_error = config->console_error,
                        .max_instructions = config->max_instructions};
  sim_elf_find(elf, "tohost", &hosted.tohost);
  sim_elf_find(elf, "fromhost", &hosted.fromhost);
  hart_run run = {.config = config, .hart = host_create(&hosted), .port = &port};
  double start = wf_seconds();
  sim_engine_enter(engine, run_hart, &run);
  result->host = run.result;
  if (!run.flushed && run.result.end == HOST_EXITED) result->host.end = HOST_PORT_STOPPED;
  result->wall_seconds = wf_seconds() - start;
  host_destroy(run.hart);
  result->fault = *engine->ops->fault(engine);
  result->port = port;
  account(config, engine, result);
  result->read_bytes = memory->read_bytes;
  result->written_bytes = memory->written_bytes;
  end_trace(engine, result);
}

static bool finish_trace(const sim_run_config *config, sim_run_result *result, wf_diag *diag) {
  if (config->trace == NULL) return true;
  bool good = sim_trace_writer_close(result->port.trace);
  result->port.trace = NULL;
  if (!good) wf_error(diag, wf_in_file(NULL), "cannot write the trace");
  return good;
}

static sim_engine *create_engine(const sim_run_config *config, arch_memory *memory, wf_diag *diag) {
  sim_engine *engine = sim_engine_create(config->engine, config->array, memory, config->engine_options, diag);
  if (engine != NULL && engine->ops->set_events != NULL) engine->ops->set_events(engine, config->events);
  if (engine != NULL && config->watch != NULL) config->watch(config->watch_context, engine);
  return engine;
}

static void run_loaded(const sim_run_config *config, const char *path, const sim_elf *elf, arch_memory *memory,
                       sim_run_result *result, wf_diag *diag) {
  sim_engine *engine = create_engine(config, memory, diag);
  if (engine == NULL) {
    result->status = SIM_RUN_CANNOT_BUILD;
    return;
  }
  run_program(config, elf, memory, engine, result);
  engine->ops->destroy(engine);
  bool traced = finish_trace(config, result, diag);
  result->status = explain_end(config, path, elf, result, diag);
  if (!traced) result->status = SIM_RUN_BAD_INPUT;
  mention_traps(path, elf, &result->host, diag);
}

sim_run_result sim_run_elf(const sim_run_config *config, const char *path, wf_diag *diag) {
  sim_run_result result = {.status = SIM_RUN_BAD_INPUT, .hosted = true};
  if (config->at_recorded_times) {
    wf_error(diag, wf_in_file(path), "a program has no recorded times; only a trace is replayed at them");
    return result;
  }
  sim_elf *elf = sim_elf_open(path, diag);
  if (elf == NULL) return result;
  uint64_t hash;
  const char *name;
  bool fits = !sim_elf_array_note(elf, &hash, &name) || array_agrees(config, wf_in_file(path), hash, name, diag);
  arch_memory *memory = fits ? create_memory(config->array, diag) : NULL;
  if (memory != NULL && sim_elf_load(elf, memory, diag)) run_loaded(config, path, elf, memory, &result, diag);
  arch_memory_destroy(memory);
  sim_elf_close(elf);
  return result;
}

// ---- replay of a trace

typedef struct replay {
  const sim_run_config *config;
  wf_diag *diag;
  arch_memory *memory;
  sim_engine *engine;
  sim_footprint *print;      // what the engine wrote
  arch_memory_observer own;  // the engine's
  sim_run_result *result;
  uint64_t cycle;     // that the replay has come to
  host_port port;     // as the hart saw it; at recorded times
  uint64_t recorded;  // the cycle of what comes next
  bool asked;         // the hart asked for room before, and waited for it
} replay;

// The times are those of a hart with a command queue before an engine with cycles.
static bool times_agree(const replay *r, const sim_trace_header *header, wf_location where) {
  if (!r->config->at_recorded_times) return true;
  if (!header->timed) {
    wf_error(r->diag, where, "the trace has no times");
    wf_hint(r->diag, "record it with `weft sim PROG --engine cycle --trace FILE`");
    return false;
  }
  if (r->port.room != NULL) return true;
  wf_error(r->diag, where, "engine %s cannot replay at recorded times", r->engine->ops->name);
  return false;
}

static bool replay_header(void *context, const sim_trace_header *header, wf_location where) {
  replay *r = context;
  if (!times_agree(r, header, where)) return false;
  if (header->revision != r->config->array->isa.revision) {
    wf_error(r->diag, where, "recorded with ISA revision %u, not %u", header->revision, r->config->array->isa.revision);
    wf_hint(r->diag, "run with --isa %u", header->revision);
    return false;
  }
  return array_agrees(r->config, where, header->array_hash, header->array_name, r->diag);
}

static bool replay_data(void *context, uint64_t address, const uint8_t *bytes, size_t length, wf_location where) {
  replay *r = context;
  uint8_t *to = arch_memory_at(r->memory, address, length);
  if (to == NULL) {
    wf_error(r->diag, where, "data outside main memory");
    return false;
  }
  memcpy(to, bytes, length);
  return true;
}

static bool replay_fault(replay *r, wf_location where) {
  const arch_fault *fault = r->engine->ops->fault(r->engine);
  wf_error(r->diag, where, "%s", fault->text);
  r->result->fault = *fault;
  r->result->status = fault_status(fault->kind);
  return false;
}

static void replay_time(void *context, uint64_t cycle) { ((replay *)context)->recorded = cycle; }

// The cycle in which the hart does what it did, if the accelerator has not held it up.
static uint64_t due(const replay *r) { return r->recorded > r->cycle ? r->recorded : r->cycle; }

static host_port_result give_in_time(replay *r, const arch_command *command, uint64_t *response) {
  arch_command given = *command;
  const sim_port *port = &r->result->port;
  r->cycle = r->asked && port->waiting < port->queue_limit ? due(r) : r->port.room(r->port.context, due(r));
  r->asked = false;
  uint64_t cycle = r->cycle;  // the response is awaited by whoever needs it
  return r->port.command(r->port.context, &given, &cycle, response);
}

static bool replay_command(void *context, const arch_command *command, wf_location where) {
  replay *r = context;
  uint64_t response;
  host_port_result got = r->config->at_recorded_times
                             ? give_in_time(r, command, &response)
                             : sim_port_command(&r->result->port, command, &r->cycle, &response);
  if (got == HOST_PORT_DONE) return true;
  return replay_fault(r, where);
}

static bool replay_fence(void *context, wf_location where) {
  replay *r = context;
  if (!r->config->at_recorded_times) return sim_port_fence(&r->result->port, &r->cycle) || replay_fault(r, where);
  r->cycle = due(r);
  return r->port.fence(r->port.context, &r->cycle) || replay_fault(r, where);
}

static bool replay_hart(void *context, sim_trace_hart what, uint64_t address, wf_location where) {
  replay *r = context;
  if (!r->config->at_recorded_times) return true;
  if (what == SIM_TRACE_FULL) {
    r->cycle = r->port.room(r->port.context, due(r));
    r->asked = true;
    return true;
  }
  if (arch_memory_at(r->memory, address, 1) == NULL) {
    wf_error(r->diag, where, "line outside main memory");
    return false;
  }
  r->port.memory(r->port.context, r->recorded, address, what == SIM_TRACE_LINE_WRITE);
  return true;
}

// The engine moves no data, so there is no memory to compare.
static bool timing_only(const sim_run_config *config) {
  return config->engine_options != NULL && config->engine_options->timing_only;
}

static bool replay_end(void *context, const sim_trace_end *end, wf_location where) {
  replay *r = context;
  if (!sim_port_flush(&r->result->port)) return replay_fault(r, where);
  r->cycle = r->engine->ops->drain(r->engine, r->cycle);
  r->result->host.cycles = r->cycle;
  if (r->engine->ops->fault(r->engine)->kind != ARCH_FAULT_NONE) return replay_fault(r, where);
  r->result->status = SIM_RUN_OK;
  if (timing_only(r->config)) return true;
  r->result->replay_digest = sim_footprint_digest(r->print);
  r->result->compared = end->recorded;
  if (!end->recorded) return true;
  r->result->trace_digest = end->digest;
  if (end->digest == r->result->replay_digest && end->written_bytes == sim_footprint_written_bytes(r->print))
    return true;
  wf_error(r->diag, where,
           "the replay wrote %" PRIu64 " bytes with digest %016" PRIx64 ", the recorded run %" PRIu64
           " with %016" PRIx64,
           sim_footprint_written_bytes(r->print), r->result->replay_digest, end->written_bytes, end->digest);
  r->result->status = SIM_RUN_MISMATCH;
  return true;
}

static void note_read(void *context, uint64_t address, size_t length) {
  const replay *r = context;
  r->own.on_read(r->own.context, address, length);
}

static void note_write(void *context, uint64_t address, const void *bytes, size_t length) {
  const replay *r = context;
  sim_footprint_write(r->print, address, bytes, length);
  if (r->own.on_write != NULL) r->own.on_write(r->own.context, address, bytes, length);
}

// Notes what the engine writes; one that observes memory itself (races) is told as before.
static void observe(replay *r) {
  r->own = r->memory->observer;
  r->memory->observer = (arch_memory_observer){
      .context = r, .on_read = r->own.on_read == NULL ? NULL : note_read, .on_write = note_write};
}

typedef struct replay_run {
  replay *r;
  FILE *in;
  const char *path;
  const sim_trace_sink *sink;
  bool good;
} replay_run;

static void read_trace(void *context) {
  replay_run *run = context;
  run->good = sim_trace_read(run->in, run->path, run->sink, run->r->diag);
}

static void replay_file(replay *r, FILE *in, const char *path) {
  const sim_trace_sink sink = {.context = r,
                               .header = replay_header,
                               .data = replay_data,
                               .command = replay_command,
                               .fence = replay_fence,
                               .end = replay_end,
                               .time = replay_time,
                               .hart = replay_hart};
  r->result->port = r->config->at_recorded_times ? sim_port_for_hart_of(r->engine, r->config->array)
                                                 : sim_port_for(r->engine, r->config->array->isa.revision);
  r->port = sim_port_for_host(&r->result->port);
  observe(r);
  double start = wf_seconds();
  replay_run run = {.r = r, .in = in, .path = path, .sink = &sink};
  sim_engine_enter(r->engine, read_trace, &run);
  r->result->wall_seconds = wf_seconds() - start;
  if (!run.good && r->result->status == SIM_RUN_OK) r->result->status = SIM_RUN_BAD_INPUT;
  r->result->read_bytes = r->memory->read_bytes;
  r->result->written_bytes = r->memory->written_bytes;
  account(r->config, r->engine, r->result);
}

sim_run_result sim_run_trace(const sim_run_config *config, const char *path, wf_diag *diag) {
  sim_run_result result = {.status = SIM_RUN_BAD_INPUT};
  FILE *in = fopen(path, "r");
  if (in == NULL) {
    wf_error(diag, wf_in_file(path), "cannot open the file: %s", strerror(errno));
    return result;
  }
  replay r = {.config = config, .diag = diag, .result = &result};
  r.memory = create_memory(config->array, diag);
  if (r.memory != NULL) r.engine = create_engine(config, r.memory, diag);
  if (r.memory != NULL && r.engine == NULL) result.status = SIM_RUN_CANNOT_BUILD;
  if (r.engine != NULL) {
    r.print = sim_footprint_create();
    replay_file(&r, in, path);
    sim_footprint_destroy(r.print);
    r.engine->ops->destroy(r.engine);
  }
  arch_memory_destroy(r.memory);
  fclose(in);
  result.port.engine = NULL;
  return result;
}

static bool is_trace(const char *path) {
  FILE *file = fopen(path, "rb");
  bool trace = file != NULL && sim_trace_recognise(file);
  if (file != NULL) fclose(file);
  return trace;
}

sim_run_result sim_run_file(const sim_run_config *config, const char *path, wf_diag *diag) {
  return is_trace(path) ? sim_run_trace(config, path, diag) : sim_run_elf(config, path, diag);
}
