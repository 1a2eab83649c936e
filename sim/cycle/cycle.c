// SPDX-License-Identifier: Apache-2.0
// The cycle engine behind the engine interface: see cycle.h.
//
// Invariant: `now` is the cycle that has not been carried out yet; a command that is pushed enters in cycle `now`,
// which is then carried out.
#include "sim/cycle/cycle.h"

#include <string.h>

#include "arch/check.h"
#include "base/alloc.h"
#include "base/number.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/counters.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/front_end.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/page_filter.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/skip/pass.h"
#include "sim/cycle/store_controller.h"
#include "sim/cycle/store_path.h"
#include "sim/cycle/weft_accel.h"

typedef struct cycle_shell {
  cycle_engine c;
  arch_checker *checker;
  memsys *own_timing;  // NULL: borrowed
  arch_command last;   // taken
} cycle_shell;

static cycle_shell *of(sim_engine *engine) { return (cycle_shell *)engine; }

static bool failed(const cycle_shell *e) { return e->c.fault.kind != ARCH_FAULT_NONE; }

// ---- life

static unsigned log2_of(uint32_t power) { return (unsigned)__builtin_ctz(power); }

static void create_units(cycle_engine *c) {
  cycle_bus_create(c);
  cycle_pages_create(c);
  cycle_local_create(c);
  cycle_execute_create(c);
  cycle_load_path_create(c);
  cycle_reader_create(c);
  cycle_writer_create(c);
  cycle_store_path_create(c);
  cycle_load_create(c);
  cycle_store_create(c);
  cycle_station_create(c);
  cycle_front_create(c);
  cycle_pass_create(c);
  cycle_counters_create(c);
}

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  cycle_shell *e = of(engine);
  cycle_engine *c = &e->c;
  cycle_counters_destroy(c);
  cycle_pass_destroy(c);
  cycle_front_destroy(c);
  cycle_station_destroy(c);
  cycle_store_destroy(c);
  cycle_load_destroy(c);
  cycle_store_path_destroy(c);
  cycle_writer_destroy(c);
  cycle_reader_destroy(c);
  cycle_load_path_destroy(c);
  cycle_execute_destroy(c);
  cycle_local_destroy(c);
  cycle_pages_destroy(c);
  cycle_bus_destroy(c);
  wf_free(c->spad);
  wf_free(c->acc);
  memsys_destroy(e->own_timing);
  arch_checker_destroy(e->checker);
  wf_free(e);
}

static sim_engine *make(const hw_array *array, arch_memory *memory, memsys *timing, const sim_engine_options *options) {
  cycle_shell *e = WF_NEW(cycle_shell);
  cycle_engine *c = &e->c;
  c->base.ops = &sim_cycle_engine;
  c->array = array;
  c->d = hw_derive(array);
  c->memory = memory;
  if (timing == NULL) timing = e->own_timing = memsys_create(array);
  if (options->disturb != 0) memsys_disturb(timing, options->disturb);
  c->timing = timing;
  c->data = !options->timing_only;
  c->eager = options->every_cycle;
  c->may_skip = c->skips = c->eager ? 0 : ~options->without_skips;
  c->stores_to_sp = array->isa.revision == 2;
  c->sp_bank_shift = log2_of(c->d.sp_bank_rows);
  c->acc_bank_shift = log2_of(c->d.acc_bank_rows);
  if (c->data) {
    c->spad = wf_calloc(c->d.sp_rows, c->d.sp_row_bytes);
    c->acc = wf_calloc(c->d.acc_rows, c->d.acc_row_bytes);
  }
  e->checker = arch_checker_create(array, memory);
  cycle_accel_create(c);
  create_units(c);
  return &c->base;
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  return sim_cycle_create_on(array, memory, NULL, options, diag);
}

sim_engine *sim_cycle_create_on(const hw_array *array, arch_memory *memory, memsys *timing,
                                const sim_engine_options *options, wf_diag *diag) {
  if (options->wave != NULL) {
    wf_error(diag, wf_in_file(NULL), "engine cycle has no waveforms");
    wf_hint(diag, "use --engine rtl with --wave, or --timeline");
    return NULL;
  }
  return make(array, memory, timing, options);
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  const sim_engine_options defaults = {0};
  return create_with(array, memory, &defaults, diag);
}

// ---- time

// Nothing will ever happen, and yet a command is not finished.
static void stick(cycle_shell *e) {
  if (failed(e)) return;
  cycle_fail(&e->c, "the accelerator waits for something that never comes, from cycle %llu on",
             (unsigned long long)e->c.now);
  e->c.fault.command = e->last;
}

// Before the engine returns. A fault is that of the command that was taken last.
static void come_back(cycle_shell *e) {
  cycle_pass_catch_up(&e->c, e->c.now);
  if (failed(e)) e->c.fault.command = e->last;
}

static void run_to(cycle_shell *e, uint64_t cycle) {
  if (e->c.now >= cycle || failed(e)) return;
  cycle_accel_run(&e->c, cycle, CYCLE_TO_LIMIT);
  come_back(e);
}

// Brings main memory to what the stores of the cycles before this one have written; without data it never changes.
static void show_memory(cycle_shell *e) {
  if (!e->c.data) return;
  cycle_lag_catch_up(&e->c, e->c.now);
}

// A response that the caller waited for takes the engine ahead of the caller's clock; the caller may give the next
// command at once.
static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  cycle_shell *e = of(engine);
  if (!failed(e) && e->c.now >= cycle) return e->c.now;
  run_to(e, cycle);
  if (failed(e)) return UINT64_MAX;
  show_memory(e);
  uint64_t next = cycle_accel_next(&e->c);
  if (next == CYCLE_NEVER && cycle_accel_busy(&e->c)) stick(e);
  return next;
}

static void run_to_room(cycle_shell *e, uint64_t cycle, uint64_t limit) {
  run_to(e, cycle);
  if (!failed(e) && !cycle_accel_run(&e->c, limit, CYCLE_TO_ROOM)) stick(e);
}

static uint64_t await_room(sim_engine *engine, uint64_t cycle, uint64_t limit) {
  cycle_shell *e = of(engine);
  run_to_room(e, cycle, limit);
  come_back(e);
  show_memory(e);
  return e->c.now;
}

static bool busy(const sim_engine *engine) {
  // Cycles that the port left to be carried out later are not seen as a change.
  cycle_shell *e = (cycle_shell *)(uintptr_t)engine;
  return !failed(e) && cycle_accel_busy(&e->c);
}

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  cycle_shell *e = of(engine);
  run_to(e, cycle);
  if (!failed(e) && !cycle_accel_run(&e->c, CYCLE_NEVER, CYCLE_TO_IDLE)) stick(e);
  come_back(e);
  return e->c.now;
}

// ---- commands

static void await_response(cycle_shell *e, uint64_t *response) {
  uint64_t value = 0;
  while (!failed(e) && !cycle_counters_response(&e->c, e->c.now, &value)) {
    if (cycle_accel_next(&e->c) == CYCLE_NEVER) stick(e);
    cycle_accel_step(&e->c);
  }
  if (response != NULL) *response = value;
}

// In cycle `now`, in which there is room.
static sim_push_result take(cycle_shell *e, const arch_command *command, uint64_t *response) {
  cycle_engine *c = &e->c;
  e->last = *command;
  if (!arch_checker_command(e->checker, command, NULL, NULL, &c->fault)) return SIM_PUSH_FAULT;
  cycle_front_push(c, c->now, command);
  cycle_accel_step(c);
  if (command->returns) await_response(e, response);
  show_memory(e);
  come_back(e);
  return failed(e) ? SIM_PUSH_FAULT : SIM_PUSH_DONE;
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  cycle_shell *e = of(engine);
  run_to(e, cycle);
  if (failed(e)) return SIM_PUSH_FAULT;
  return e->c.now > cycle || !cycle_front_ready(&e->c, e->c.now) ? SIM_PUSH_FULL : take(e, command, response);
}

static sim_push_result push_waiting(sim_engine *engine, uint64_t *cycle, const arch_command *command,
                                    uint64_t *response) {
  cycle_shell *e = of(engine);
  run_to_room(e, *cycle, UINT64_MAX);
  *cycle = e->c.now;
  if (!failed(e)) return take(e, command, response);
  come_back(e);
  return SIM_PUSH_FAULT;
}

static const arch_fault *fault(const sim_engine *engine) { return &((const cycle_shell *)engine)->c.fault; }

static void set_events(sim_engine *engine, const sim_events *events) {
  cycle_engine *c = &of(engine)->c;
  c->sink = events == NULL ? (sim_events){0} : *events;
  memsys_observe(c->timing, c->sink.burst, c->sink.context);
}

void sim_cycle_settle(sim_engine *engine) {
  cycle_shell *e = of(engine);
  cycle_lag_catch_up(&e->c, e->c.now);
  e->c.wake[CYCLE_BUS] = e->c.now;
  cycle_port_touch(&e->c);
}

static void host_access(sim_engine *engine, uint64_t cycle, uint64_t address, bool write) {
  cycle_shell *e = of(engine);
  run_to(e, cycle);
  sim_cycle_settle(engine);
  memsys_host_ask(e->c.timing, wf_max(cycle, e->c.now), address, write);
}

static uint64_t host_there(sim_engine *engine, uint64_t *next) {
  sim_cycle_settle(engine);
  return memsys_host_there(of(engine)->c.timing, of(engine)->c.now, next);
}

static uint64_t reached(const sim_engine *engine) { return ((const cycle_shell *)engine)->c.now; }

// ---- report

static memsys_counts memory_counts(const sim_engine *engine) {
  const cycle_engine *c = &((const cycle_shell *)engine)->c;
  return memsys_totals(c->timing, wf_min(c->port.time, c->now));
}

void sim_cycle_report_of(const sim_engine *engine, sim_cycle_report *report) {
  const cycle_engine *c = &((const cycle_shell *)engine)->c;
  *report = (sim_cycle_report){.cycles = c->now,
                               .carried_out = c->carried_out,
                               .macs = c->macs,
                               .bus_read_bytes = c->bus_read_bytes,
                               .bus_written_bytes = c->bus_written_bytes,
                               .sp_row_reads = c->sp_reads,
                               .sp_row_writes = c->sp_writes,
                               .acc_row_reads = c->acc_reads,
                               .acc_row_writes = c->acc_writes,
                               .memory = memory_counts(engine)};
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++) {
    const char *const *names = cycle_unit_causes((cycle_unit_id)unit);
    if (names == NULL) continue;
    sim_cycle_unit_report *out = &report->unit[report->units++];
    out->name = cycle_unit_name((cycle_unit_id)unit);
    for (unsigned cause = 0; cause < CYCLE_CAUSES && names[cause] != NULL; cause++) {
      out->cause[out->causes++] = names[cause];
      out->cycles[cause] = c->accounts[unit].cycles[cause];
    }
    out->cycles[c->accounts[unit].cause] += c->now - c->accounts[unit].since;
  }
}

const sim_engine_ops sim_cycle_engine = {.name = "cycle",
                                         .summary = "C model of every unit, equal to rtl cycle for cycle, and fast",
                                         .timed = true,
                                         .create = create,
                                         .destroy = destroy,
                                         .push = push,
                                         .advance = advance,
                                         .await_room = await_room,
                                         .push_waiting = push_waiting,
                                         .busy = busy,
                                         .drain = drain,
                                         .fault = fault,
                                         .create_with = create_with,
                                         .set_events = set_events,
                                         .host_access = host_access,
                                         .host_there = host_there,
                                         .reached = reached,
                                         .memory_counts = memory_counts};
