// SPDX-License-Identifier: Apache-2.0
// The rtl engine: see rtl.h.
//
// Invariants: `now` is the cycle whose clock edge has not come yet; while `presented`, the inputs of that cycle but for
// a command and the ready signals are on the ports and the hardware has settled. A cycle is
//   present   answers of memory on the ports, settle        (outputs of the cycle can be read)
//   finish    ready signals, settle, handshakes, clock edge
// and push() puts its command between the two.
#define _GNU_SOURCE  // RTLD_NODELETE
#include "sim/rtl/rtl.h"

#include <assert.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/check.h"
#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/rtl/build.h"
#include "sim/rtl/bus.h"

enum { RESET_CYCLES = 4, PATIENCE = 1000000, QUIET_CYCLES = 1024 };
enum { UNDER_WAY_MAX = 3 * 64 + 1 };  // entries of the reservation station

// A command in the reservation station.
typedef struct under_way {
  uint32_t index;
  sim_class unit;  // once issued
  bool completes;  // later than it issues
} under_way;

typedef struct rtl_engine {
  sim_engine base;
  arch_checker *checker;
  sim_rtl_bus *bus;
  memsys *timing;
  memsys *own_timing;  // NULL: borrowed from a kernel
  uint64_t half_cycle_ps;
  void *library;
  const weft_rtl_api *api;
  void *model;
  bool wave;
  weft_rtl_inputs in;
  weft_rtl_outputs out;
  uint64_t now;
  bool presented;
  arch_fault fault;
  arch_command last;  // command taken
  bool responded;
  uint64_t response;
  uint64_t quiet, quiet_limit;          // cycles without any activity, and when to stop the clock
  uint64_t without_progress, patience;  // cycles busy, or refusing a command, without progress
  bool refused;                         // a command since the last clock edge
  sim_events events;
  uint32_t allocated;
  under_way under_way[UNDER_WAY_MAX];
  unsigned under_way_count;
} rtl_engine;

static rtl_engine *of(sim_engine *engine) { return (rtl_engine *)engine; }

static bool failed(const rtl_engine *e) { return e->fault.kind != ARCH_FAULT_NONE; }

static void settle(rtl_engine *e) {
  e->in.time_ps = (2 * e->now + e->in.clk) * e->half_cycle_ps;
  e->api->eval(e->model, &e->in, &e->out);
}

// ---- events

static void tell(const rtl_engine *e, sim_event event) {
  event.cycle = e->now;
  if (e->events.event != NULL) e->events.event(e->events.context, &event);
}

// config_ld, config_st and config_norm are done when they issue.
static void enter(rtl_engine *e) {
  bool config = e->out.trace_alloc_funct == ISA_FUNCT_CONFIG_EX;
  assert(e->under_way_count < UNDER_WAY_MAX);
  e->under_way[e->under_way_count++] =
      (under_way){.index = e->allocated - 1,
                  .unit = SIM_CLASSES,
                  .completes = !config || isa_get_config_ex_kind(e->out.trace_alloc_rs1, 0) == 0};
}

static void tell_alloc(rtl_engine *e) {
  const weft_rtl_outputs *out = &e->out;
  tell(e, (sim_event){.kind = SIM_EVENT_ALLOC,
                      .unit = SIM_CLASSES,
                      .index = e->allocated++,
                      .funct = out->trace_alloc_funct,
                      .rs1 = out->trace_alloc_rs1,
                      .rs2 = out->trace_alloc_rs2});
  enter(e);
}

static under_way *find(rtl_engine *e, uint32_t index) {
  unsigned i = 0;
  while (i < e->under_way_count && e->under_way[i].index != index) i++;
  assert(i < e->under_way_count);
  return &e->under_way[i];
}

static void leave(rtl_engine *e, under_way *command) { *command = e->under_way[--e->under_way_count]; }

static void issue(rtl_engine *e, sim_class unit, uint32_t index) {
  under_way *command = find(e, index);
  command->unit = unit;
  tell(e, (sim_event){.kind = SIM_EVENT_ISSUE, .unit = unit, .index = index});
  if (!command->completes) leave(e, command);
}

static void complete(rtl_engine *e, uint32_t index) {
  under_way *command = find(e, index);
  tell(e, (sim_event){.kind = SIM_EVENT_DONE, .unit = command->unit, .index = index});
  leave(e, command);
}

static bool record(rtl_engine *e) {
  const weft_rtl_outputs *out = &e->out;
  if (out->trace_alloc) tell_alloc(e);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if ((out->trace_issue_valid >> unit & 1) != 0) issue(e, (sim_class)unit, out->trace_issue_index[unit]);
  if (out->trace_done_valid) complete(e, out->trace_done_index);
  return out->trace_alloc || out->trace_issue_valid || out->trace_done_valid;
}

// ---- a cycle

static void stick(rtl_engine *e, const char *format, uint64_t number) {
  if (failed(e)) return;
  e->fault.kind = ARCH_FAULT_STUCK;
  snprintf(e->fault.text, sizeof e->fault.text, format, number);
}

static void reset(rtl_engine *e) {
  e->in.resp_ready = 1;
  for (int i = 0; i < RESET_CYCLES; i++) {
    e->in.clk = 0;
    settle(e);
    e->in.clk = 1;
    settle(e);
  }
  e->in.rst_n = 1;
}

static void present(rtl_engine *e) {
  if (e->presented) return;
  if (!e->in.rst_n) reset(e);  // not at creation: a kernel does not run yet
  sim_rtl_bus_respond(e->bus, e->now, &e->in);
  e->in.cmd_valid = 0;
  e->in.clk = 0;
  settle(e);
  e->presented = true;
}

static void watch(rtl_engine *e, bool progress) {
  bool active = progress || e->out.busy;
  e->quiet = active ? 0 : e->quiet + 1;
  e->without_progress = progress ? 0 : e->without_progress + (e->out.busy || e->refused);
  e->refused = false;
  if (e->without_progress > e->patience)
    stick(e, "the accelerator made no progress for %" PRIu64 " cycles", e->without_progress);
  if (e->api->failed(e->model))
    stick(e, "an assertion of the hardware failed in cycle %" PRIu64 " (its text is above)", e->now);
}

static void clock_edge(rtl_engine *e) {
  if (e->wave) e->api->dump(e->model, 2 * e->now);
  e->in.clk = 1;
  settle(e);
  if (e->wave) e->api->dump(e->model, 2 * e->now + 1);
  e->now++;
  e->presented = false;
}

static void finish(rtl_engine *e) {
  weft_rtl_inputs before = e->in;
  sim_rtl_bus_grant(e->bus, e->now, &e->out, &e->in);
  if (before.ar_ready != e->in.ar_ready || before.aw_ready != e->in.aw_ready || before.w_ready != e->in.w_ready)
    settle(e);
  bool progress = e->in.cmd_valid != 0;
  progress |= sim_rtl_bus_transfer(e->bus, e->now, &e->in, &e->out, &e->fault);
  progress |= record(e);
  if (e->out.resp_valid) {
    e->responded = progress = true;
    e->response = e->out.resp_data;
  }
  watch(e, progress);
  if (failed(e)) e->fault.command = e->last;
  clock_edge(e);
}

static void step(rtl_engine *e) {
  present(e);
  finish(e);
}

static void run_to(rtl_engine *e, uint64_t cycle) {
  while (e->now < cycle && !failed(e)) {
    if (e->quiet <= e->quiet_limit) {
      step(e);
      continue;
    }
    e->now = cycle;
    e->presented = false;
  }
}

// ---- life

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  rtl_engine *e = of(engine);
  if (e->model != NULL) e->api->destroy(e->model);
  if (e->library != NULL) dlclose(e->library);
  sim_rtl_bus_destroy(e->bus);
  memsys_destroy(e->own_timing);
  arch_checker_destroy(e->checker);
  wf_free(e);
}

// A kernel keeps pointers into the model (processes, names) for as long as it lives: it must stay mapped (stay).
static bool load_model(rtl_engine *e, const char *path, int stay, const sim_engine_options *options, wf_diag *diag) {
  e->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | stay);
  if (e->library != NULL) e->api = dlsym(e->library, WEFT_RTL_API);
  if (e->api == NULL || e->api->inputs_size != sizeof e->in || e->api->outputs_size != sizeof e->out) {
    const char *reason = dlerror();
    wf_error(diag, wf_in_file(path), "cannot load the hardware: %s", reason == NULL ? "wrong interface" : reason);
    wf_hint(diag, "remove the file; it is built again when needed");
    return false;
  }
  e->model = e->api->create(options->garbage, options->wave);
  e->wave = options->wave != NULL;
  return true;
}

// The wave file is opened inside the model, which cannot say that it failed.
static bool can_write(const char *path, wf_diag *diag) {
  if (path == NULL) return true;
  FILE *file = fopen(path, "w");
  if (file != NULL) return fclose(file) == 0;
  wf_error(diag, wf_in_file(path), "cannot write the file");
  return false;
}

// timing NULL: an own one, outside of any kernel.
static sim_engine *make(const hw_array *array, arch_memory *memory, memsys *timing, uint64_t half_cycle_ps,
                        const sim_engine_options *options, wf_diag *diag) {
  const sim_rtl_build_options build = {.wave = options->wave != NULL,
                                       .systemc = timing != NULL,
                                       .jobs = options->jobs,
                                       .quiet = options->quiet,
                                       .tell = options->tell,
                                       .context = options->tell_context};
  sim_rtl_model model;
  if (!can_write(options->wave, diag) || !sim_rtl_build(array, &build, &model, diag)) return NULL;
  rtl_engine *e = WF_NEW(rtl_engine);
  e->base.ops = &sim_rtl_engine;
  e->half_cycle_ps = half_cycle_ps;
  bool good = load_model(e, model.path, timing == NULL ? 0 : RTLD_NODELETE, options, diag);
  wf_free(model.path);
  if (!good) {
    destroy(&e->base);
    return NULL;
  }
  e->checker = arch_checker_create(array, memory);
  if (timing == NULL) timing = e->own_timing = memsys_create(array);
  e->timing = timing;
  if (options->disturb != 0) memsys_disturb(timing, options->disturb);
  e->bus = sim_rtl_bus_create(array, memory, timing);
  e->patience = options->patience == 0 ? PATIENCE : options->patience;
  e->quiet_limit = QUIET_CYCLES + 16 * hw_derive(array).mesh_latency;
  return &e->base;
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  return make(array, memory, NULL, 0, options, diag);
}

sim_engine *sim_rtl_create_in_kernel(const hw_array *array, arch_memory *memory, memsys *timing, uint64_t half_cycle_ps,
                                     const sim_engine_options *options, wf_diag *diag) {
  return make(array, memory, timing, half_cycle_ps, options, diag);
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  const sim_engine_options defaults = {0};
  return create_with(array, memory, &defaults, diag);
}

// ---- commands

static void offer(rtl_engine *e, const arch_command *command) {
  e->in.cmd_valid = 1;
  e->in.cmd_funct = command->funct;
  e->in.cmd_rs1 = command->rs1;
  e->in.cmd_rs2 = command->rs2;
  e->in.cmd_xd = command->returns;
  e->in.cmd_rd = 0;
  settle(e);
}

// The hart waits for the value; its clock catches up when it next has to do with the accelerator.
static void await_response(rtl_engine *e, uint64_t *response) {
  while (!e->responded && !failed(e)) {
    step(e);
    if (!e->responded) e->refused = true;  // counts as waiting
  }
  if (response != NULL) *response = e->response;
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  rtl_engine *e = of(engine);
  run_to(e, cycle);
  if (failed(e)) return SIM_PUSH_FAULT;
  if (e->now > cycle) return SIM_PUSH_FULL;
  present(e);
  offer(e, command);
  if (!e->out.cmd_ready) {
    e->presented = false;  // the offer is withdrawn
    e->refused = true;
    return SIM_PUSH_FULL;
  }
  e->last = *command;
  if (!arch_checker_command(e->checker, command, NULL, NULL, &e->fault)) return SIM_PUSH_FAULT;
  e->responded = false;
  finish(e);
  if (command->returns) await_response(e, response);
  return failed(e) ? SIM_PUSH_FAULT : SIM_PUSH_DONE;
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  rtl_engine *e = of(engine);
  run_to(e, cycle);
  if (failed(e)) return UINT64_MAX;
  present(e);
  return e->out.busy || e->refused ? e->now : UINT64_MAX;
}

static bool busy(const sim_engine *engine) {
  union {
    const sim_engine *in;
    sim_engine *out;
  } open = {.in = engine};  // settling changes no state that could be seen
  rtl_engine *e = of(open.out);
  if (failed(e)) return false;
  present(e);
  return e->out.busy != 0;
}

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  rtl_engine *e = of(engine);
  run_to(e, cycle);
  while (!failed(e)) {
    present(e);
    if (!e->out.busy) break;
    finish(e);
  }
  return e->now;
}

// ---- the hart

static void host_access(sim_engine *engine, uint64_t cycle, uint64_t address, bool write) {
  rtl_engine *e = of(engine);
  run_to(e, cycle);
  memsys_host_ask(e->timing, cycle > e->now ? cycle : e->now, address, write);
}

static uint64_t host_there(sim_engine *engine, uint64_t *next) {
  return memsys_host_there(of(engine)->timing, of(engine)->now, next);
}

static uint64_t reached(const sim_engine *engine) { return ((const rtl_engine *)engine)->now; }

static memsys_counts memory_counts(const sim_engine *engine) {
  const rtl_engine *e = (const rtl_engine *)engine;
  return memsys_totals(e->timing, e->now);
}

static const arch_fault *fault(const sim_engine *engine) { return &((const rtl_engine *)engine)->fault; }

static void set_events(sim_engine *engine, const sim_events *events) {
  rtl_engine *e = of(engine);
  e->events = events == NULL ? (sim_events){0} : *events;
  memsys_observe(e->timing, e->events.burst, e->events.context);
}

const sim_engine_ops sim_rtl_engine = {.name = "rtl",
                                       .summary = "the SystemVerilog itself, compiled by Verilator",
                                       .timed = true,
                                       .create = create,
                                       .destroy = destroy,
                                       .push = push,
                                       .advance = advance,
                                       .busy = busy,
                                       .drain = drain,
                                       .fault = fault,
                                       .create_with = create_with,
                                       .set_events = set_events,
                                       .host_access = host_access,
                                       .host_there = host_there,
                                       .reached = reached,
                                       .memory_counts = memory_counts};
