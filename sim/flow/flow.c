// SPDX-License-Identifier: Apache-2.0
// The flow engine behind the engine interface: see flow.h.
//
// Invariant: what has been worked out does not depend on commands that are still to be pushed, but for the front end's
// next step: an actor's step may lie ahead of the caller's clock.
#include "sim/flow/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/flow/counts.h"
#include "sim/flow/engine.h"
#include "sim/flow/front.h"
#include "sim/flow/memory.h"
#include "sim/flow/passing.h"
#include "sim/flow/repeats.h"
#include "sim/flow/station.h"
#include "sim/flow/units.h"

static flow_engine *of(sim_engine *engine) { return (flow_engine *)engine; }

// ---- actors

void flow_unit_wake(flow_engine *e, sim_class unit) {
  if (unit == SIM_CLASS_LOAD)
    flow_load_wake(e);
  else if (unit == SIM_CLASS_EXECUTE) {
    if (!e->execute.stepping && !e->execute.fetching) flow_execute_wake(e);
  } else
    flow_store_wake(e);
}

static inline flow_actor first_actor(const flow_engine *e) {
  flow_actor first = FLOW_FRONT;
  for (unsigned a = FLOW_FRONT + 1; a < FLOW_ACTORS; a++)
    if (e->next[a] < e->next[first]) first = (flow_actor)a;
  return first;
}

static void (*const steps[FLOW_ACTORS])(flow_engine *) = {[FLOW_FRONT] = flow_front_step,
                                                          [FLOW_LOAD] = flow_load_step,
                                                          [FLOW_STORE] = flow_store_step,
                                                          [FLOW_EXECUTE] = flow_execute_step,
                                                          [FLOW_REPEATS] = flow_repeats_step};

// Steps whose time is before `limit`; up to one after which the host may have room, if asked to. `actor` has the first
// of all; returns who has it then.
static flow_actor steps_before(flow_engine *e, flow_actor actor, uint64_t limit, bool for_room) {
  e->limit = limit;
  for (; e->next[actor] < limit; actor = first_actor(e)) {
    e->step = e->next[actor];
    steps[actor](e);
    if (for_room && e->front.moved) return first_actor(e);
  }
  return actor;
}

static inline flow_actor run_to(flow_engine *e, uint64_t cycle) {
  flow_actor first = first_actor(e);
  if (e->next[first] < cycle) first = steps_before(e, first, cycle, false);
  if (cycle != FLOW_NEVER) e->now = wf_max(e->now, cycle);
  return first;
}

// ---- records, which are told in the order of their cycles

void flow_keep(flow_engine *e, sim_event_kind kind, sim_class unit, const flow_entry *entry, uint64_t cycle) {
  if (e->event_count == e->event_room) {
    e->event_room = e->event_room == 0 ? 1024 : 2 * e->event_room;
    e->events = wf_realloc(e->events, e->event_room, sizeof *e->events);
  }
  e->events[e->event_count++] = (sim_event){.kind = kind, .unit = unit, .index = entry->index, .cycle = cycle};
}

void flow_keep_alloc(flow_engine *e, const flow_entry *entry, const cycle_front_command *command) {
  flow_keep(e, SIM_EVENT_ALLOC, SIM_CLASSES, entry, flow_cycle(entry->alloc));
  sim_event *event = &e->events[e->event_count - 1];
  event->rs1 = command->rs1;
  event->rs2 = command->rs2;
  event->funct = (uint8_t)isa_insn_at(command->insn)->funct;
}

void flow_tell_burst(flow_engine *e, const flow_seen *burst) {
  enum { MOST = 1024 };
  uint64_t cycles[MOST];
  if (e->sink.burst == NULL) return;
  for (uint32_t i = 0; i < burst->beats && i < MOST; i++) cycles[i] = burst->first + i * burst->spacing;
  e->sink.burst(e->sink.context, &(memsys_seen){.write = burst->write,
                                                .id = burst->id,
                                                .bytes = burst->bytes,
                                                .address = burst->address,
                                                .asked = burst->asked,
                                                .beats = burst->beats,
                                                .beat_cycles = cycles});
}

static int by_cycle(const void *x, const void *y) {
  const sim_event *a = x, *b = y;
  if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return (a->unit > b->unit) - (a->unit < b->unit);
}

// Those of the cycles before `limit`.
static void tell_events(flow_engine *e, uint64_t limit) {
  if (e->event_count == 0) return;
  qsort(e->events, e->event_count, sizeof *e->events, by_cycle);
  size_t told = 0;
  for (; told < e->event_count && e->events[told].cycle < limit; told++)
    e->sink.event(e->sink.context, &e->events[told]);
  memmove(e->events, e->events + told, (e->event_count - told) * sizeof *e->events);
  e->event_count -= told;
}

// ---- life

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  flow_engine *e = of(engine);
  flow_front_destroy(e);
  flow_memory_destroy(e->memory);
  arch_checker_destroy(e->checker);
  wf_free(e->tokens);
  wf_free(e->sp_writes);
  wf_free(e->acc_results);
  wf_free(e->acc_adds);
  wf_free(e->events);
  flow_log_destroy(e->log);
  wf_free(e);
}

static sim_engine *make(const hw_array *array, arch_memory *memory) {
  flow_engine *e = WF_NEW(flow_engine);
  e->base.ops = &sim_flow_engine;
  e->array = array;
  e->d = hw_derive(array);
  e->checker = arch_checker_create(array, memory);
  e->sp_shift = (unsigned)__builtin_ctz(e->d.sp_bank_rows);
  e->acc_shift = (unsigned)__builtin_ctz(e->d.acc_bank_rows);
  e->sp_writes = WF_NEW_ARRAY(array->scratchpad.banks, flow_calendar);
  e->acc_results = WF_NEW_ARRAY(array->accumulator.banks, flow_calendar);
  e->acc_adds = WF_NEW_ARRAY(array->accumulator.banks, flow_calendar);
  e->log = flow_log_create();
  e->memory = flow_memory_create(array, e->log);
  flow_station_create(e);
  flow_front_create(e);
  flow_load_create(e);
  flow_store_create(e);
  flow_execute_create(e);
  flow_repeats_create(e);
  flow_counts_reset(e);
  return &e->base;
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  if (options->wave != NULL || options->disturb != 0) {
    wf_error(diag, wf_in_file(NULL), "engine flow has no %s",
             options->wave != NULL ? "waveforms" : "single cycles that could be disturbed");
    wf_hint(diag, "use --engine cycle or rtl");
    return NULL;
  }
  sim_engine *engine = make(array, memory);
  of(engine)->every_burst = options->every_cycle;
  of(engine)->checked = options->checked;
  of(engine)->execute.never_usual = (options->without_skips & SIM_FLOW_USUAL_OPERATIONS) != 0;
  of(engine)->front.passing.over = options->every_cycle;
  return engine;
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  (void)diag;
  return make(array, memory);
}

// ---- commands

static void stick(flow_engine *e) {
  e->fault = (arch_fault){.kind = ARCH_FAULT_STUCK, .command = e->last};
  snprintf(e->fault.text, sizeof e->fault.text, "engine flow: a command waits for something that never comes");
}

static bool refuse_counter(flow_engine *e, const arch_command *command) {
  if (command->insn->unit != ISA_UNIT_COUNTER) return false;
  e->fault = (arch_fault){.kind = ARCH_FAULT_ILLEGAL, .command = *command};
  snprintf(e->fault.text, sizeof e->fault.text, "counter: engine flow has no performance counters; use --engine cycle");
  return true;
}

// The first cycle with room from `cycle` on; FLOW_NEVER: stuck, or none before `limit`.
static uint64_t find_room(flow_engine *e, uint64_t cycle, uint64_t limit) {
  flow_actor first = run_to(e, cycle);
  while (!flow_front_knows_room(&e->front)) {
    e->front.moved = false;
    first = steps_before(e, first, limit, true);
    if (!e->front.moved) return FLOW_NEVER;
  }
  return flow_front_room(e, wf_max(cycle, e->now));
}

// Where commands were checked before, one that comes alone was not: the hart gives it.
static bool refuse_unchecked(flow_engine *e, const arch_command *command) {
  if (!e->checked) return false;
  e->fault = (arch_fault){.kind = ARCH_FAULT_ILLEGAL, .command = *command};
  snprintf(e->fault.text, sizeof e->fault.text, "engine flow: a command besides those that were checked");
  return true;
}

// Commands that were checked return nothing, so no counter is among them.
static inline bool is_legal(flow_engine *e, const arch_command *command) {
  if (e->checked) return true;
  return arch_checker_command(e->checker, command, NULL, NULL, &e->fault) && !refuse_counter(e, command);
}

static sim_push_result take(flow_engine *e, uint64_t cycle, const arch_command *command) {
  if (!is_legal(e, command)) return SIM_PUSH_FAULT;
  e->last = *command;
  flow_front_push(e, cycle, command);
  e->now = wf_max(e->now, cycle + 1);
  return SIM_PUSH_DONE;
}

// As find_room without limit, with the steps taken in that the programs of a host need most. `actor` has the first of
// all, and is set to who has it then.
static inline uint64_t find_room_here(flow_engine *e, uint64_t cycle, flow_actor *actor) {
  flow_actor first = *actor;
  if (e->next[first] < cycle) first = steps_before(e, first, cycle, false);
  e->now = wf_max(e->now, cycle);
  e->limit = FLOW_NEVER;
  while (!flow_front_knows_room(&e->front)) {
    if (e->next[first] == FLOW_NEVER) return FLOW_NEVER;
    e->step = e->next[first];
    if (first == FLOW_FRONT && !e->front.passing.over)
      flow_step_passing(e);
    else
      steps[first](e);
    first = first_actor(e);
  }
  *actor = first;
  return flow_front_room(e, wf_max(cycle, e->now));
}

static size_t push_many(sim_engine *engine, uint64_t *cycle, const arch_command *commands, size_t count,
                        sim_push_result *result) {
  flow_engine *e = of(engine);
  *result = SIM_PUSH_FAULT;
  if (flow_failed(e)) return 0;
  flow_actor first = first_actor(e);
  for (size_t n = 0; n < count; n++) {
    const arch_command *command = &commands[n];
    const uint64_t room = find_room_here(e, *cycle, &first);
    if (room == FLOW_NEVER) {
      if (n > 0) e->last = command[-1];
      stick(e);
    }
    if (room == FLOW_NEVER || !is_legal(e, command)) return n;
    *cycle = room;
    flow_front_push_here(e, room, command);
    e->now = wf_max(e->now, room + 1);
    first = first == FLOW_FRONT ? first_actor(e) : e->next[FLOW_FRONT] <= e->next[first] ? FLOW_FRONT : first;
  }
  if (count > 0) e->last = commands[count - 1];
  *result = SIM_PUSH_DONE;
  return count;
}

static sim_push_result push_waiting(sim_engine *engine, uint64_t *cycle, const arch_command *command,
                                    uint64_t *response) {
  sim_push_result result;
  (void)response;
  push_many(engine, cycle, command, 1, &result);
  return result;
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  flow_engine *e = of(engine);
  (void)response;
  if (flow_failed(e)) return SIM_PUSH_FAULT;
  run_to(e, cycle);
  if (refuse_unchecked(e, command)) return SIM_PUSH_FAULT;
  const bool room = flow_front_knows_room(&e->front) && flow_front_room(e, wf_max(cycle, e->now)) <= cycle;
  return room ? take(e, cycle, command) : SIM_PUSH_FULL;
}

static uint64_t await_room(sim_engine *engine, uint64_t cycle, uint64_t limit) {
  flow_engine *e = of(engine);
  const uint64_t room = find_room(e, cycle, limit);
  if (room == FLOW_NEVER && limit == FLOW_NEVER) stick(e);
  e->now = wf_max(e->now, wf_min(room, limit));
  return e->now;
}

// ---- time

static bool pending(const flow_engine *e) {
  if (flow_front_busy(e)) return true;
  for (unsigned a = 0; a < FLOW_ACTORS; a++)
    if (e->next[a] != FLOW_NEVER) return true;
  return false;
}

// The units have commands that nothing will bring on.
static bool is_stuck(const flow_engine *e) {
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if (e->files[unit].left != e->files[unit].allocated) return true;
  return flow_front_busy(e);
}

static bool busy(const sim_engine *engine) {
  const flow_engine *e = (const flow_engine *)engine;
  return !flow_failed(e) && (pending(e) || flow_cycle(e->idle_at) > e->now);
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  flow_engine *e = of(engine);
  if (flow_failed(e)) return UINT64_MAX;
  run_to(e, cycle);
  tell_events(e, cycle);
  const uint64_t next = e->next[first_actor(e)];
  return next == FLOW_NEVER ? (flow_cycle(e->idle_at) > cycle ? flow_cycle(e->idle_at) : UINT64_MAX)
                            : wf_max(next, cycle + 1);
}

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  flow_engine *e = of(engine);
  if (flow_failed(e)) return e->now;
  run_to(e, cycle);
  run_to(e, FLOW_NEVER);
  if (is_stuck(e)) stick(e);
  e->now = wf_max(wf_max(e->now, flow_cycle(e->idle_at)), cycle);
  e->waited = true;
  tell_events(e, e->now);
  return e->now;
}

static const arch_fault *fault(const sim_engine *engine) { return &((const flow_engine *)engine)->fault; }

static void set_events(sim_engine *engine, const sim_events *events) {
  flow_engine *e = of(engine);
  tell_events(e, FLOW_NEVER);
  e->sink = events == NULL ? (sim_events){0} : *events;
}

// ---- the hart

static void host_access(sim_engine *engine, uint64_t cycle, uint64_t address, bool write) {
  flow_engine *e = of(engine);
  run_to(e, cycle);
  const flow_time at =
      flow_event(e->log, flow_at(flow_event(e->log, e->front.pushed), wf_max(cycle, e->now), FLOW_W_HOST));
  const flow_time there = flow_memory_host(e->memory, at, address, write);
  if (!write) e->host_there = wf_max(e->host_there, flow_cycle(there));
}

static uint64_t host_there(sim_engine *engine, uint64_t *next) {
  const flow_engine *e = of(engine);
  *next = e->now;
  return e->host_there;
}

static uint64_t reached(const sim_engine *engine) { return ((const flow_engine *)engine)->now; }

const sim_engine_ops sim_flow_engine = {.name = "flow",
                                        .summary = "times as equations over commands and bursts; moves no data",
                                        .timed = true,
                                        .timing_only = true,
                                        .create = create,
                                        .destroy = destroy,
                                        .push = push,
                                        .advance = advance,
                                        .await_room = await_room,
                                        .push_waiting = push_waiting,
                                        .push_many = push_many,
                                        .busy = busy,
                                        .drain = drain,
                                        .fault = fault,
                                        .create_with = create_with,
                                        .set_events = set_events,
                                        .host_access = host_access,
                                        .host_there = host_there,
                                        .reached = reached};
