// SPDX-License-Identifier: Apache-2.0
// Commands that only pass the front end, to be taken in where they are given: front.c has the equation.
#ifndef SIM_FLOW_PASSING_H
#define SIM_FLOW_PASSING_H

#include "sim/flow/front.h"
#include "sim/flow/station_enter.h"

static inline uint32_t flow_passing_at(uint32_t number) { return number % FLOW_PASSING; }

// When command n left queue q; of the last queue all is known.
static inline flow_time flow_passed(const flow_front *f, uint32_t q, uint32_t n) {
  const flow_passing *p = &f->passing;
  const uint32_t behind = f->last - q;
  if (behind == 0) return p->entered[flow_passing_at(n)];
  const flow_time at = flow_after(p->pushed[flow_passing_at(n)], q + 1, FLOW_W_FRONT);
  if (n < 2 * behind) return at;
  return flow_later(at, flow_after(p->entered[flow_passing_at(n - 2 * behind)], behind, FLOW_W_FRONT));
}

static inline flow_time flow_earliest_entry(const flow_engine *e, sim_class kind, flow_time at) {
  if (kind == SIM_CLASSES) return at;
  const flow_time room = flow_station_room(e, kind);
  return flow_cycle(room) > flow_cycle(at) ? room : at;
}

// The head of the last queue could enter in cycle `at`.
static inline void flow_await_head(flow_engine *e, flow_time at, const cycle_front_command *head) {
  flow_front *f = &e->front;
  const sim_class kind = flow_station_class(e, head->insn);
  f->entry = flow_earliest_entry(e, kind, at);
  f->enters = flow_known_cycle(f->entry);
  f->awaits_room = f->enters > flow_cycle(at);
  f->kind = (uint8_t)kind;
}

static inline void flow_await_passing(flow_engine *e) {
  const flow_passing *p = &e->front.passing;
  const uint32_t n = p->out;
  if (n == p->in) return;
  const flow_time at = flow_later(flow_after(p->pushed[flow_passing_at(n)], e->front.last + 1, FLOW_W_FRONT),
                                  flow_after(p->entered[flow_passing_at(n - 1)], 1, FLOW_W_ISSUE));
  flow_await_head(e, at, &p->command[flow_passing_at(n)]);
}

static inline void flow_enter_passing(flow_engine *e, flow_time at, sim_class kind,
                                      const cycle_front_command *command) {
  if (kind != SIM_CLASS_EXECUTE || e->tokens != NULL || !flow_is_product(command->insn)) {
    if (kind != SIM_CLASSES) flow_station_enter(e, at, kind, command);
  } else if (command->insn == ISA_PRELOAD) {
    flow_enter_product(e, at, command, true);
  } else {
    flow_enter_product(e, at, command, false);
  }
}

static inline void flow_step_passing(flow_engine *e) {
  flow_front *f = &e->front;
  flow_passing *p = &f->passing;
  const uint32_t n = p->out++;
  const sim_class kind = (sim_class)f->kind;
  const flow_time at = flow_station_event(e, kind, f->entry);
  p->entered[flow_passing_at(n)] = at;
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  f->enters = FLOW_NEVER;
  f->awaits_room = false;
  flow_enter_passing(e, at, kind, &p->command[flow_passing_at(n)]);
  f->moved = true;
  flow_await_passing(e);
  e->next[FLOW_FRONT] = f->enters;
}

static inline flow_time flow_left_before(const flow_front *f) {
  if (f->passing.over) return flow_queue_room(&f->queue[0]);
  return f->passing.in < 2 ? (flow_time){0} : flow_passed(f, 0, f->passing.in - 2);
}

static inline uint64_t flow_front_room(flow_engine *e, uint64_t at) {
  flow_front *f = &e->front;
  const flow_time left = flow_left_before(f);
  if (flow_cycle(left) == 0 || flow_cycle(left) + 1 < at) return at;  // 0: there was none
  f->room = flow_after(left, 1, FLOW_W_FRONT);
  return flow_cycle(f->room);
}

// What the command that comes in cycle `at` has waited for: room, the end of everything, or the host alone.
static inline flow_time flow_host_event(flow_engine *e, uint64_t at) {
  flow_front *f = &e->front;
  flow_time from = f->room;
  if (flow_cycle(from) != at) {
    const bool waited = e->waited && flow_cycle(e->idle_at) <= at;
    from = flow_at(waited ? e->idle_at : flow_event(e->log, f->pushed), at, FLOW_W_HOST);
  }
  e->waited = false;
  f->pushed = flow_event_unless(e->log, from, FLOW_W_FRONT);
  return f->pushed;
}

static inline void flow_push_passing(flow_engine *e, flow_time at, const cycle_front_command *command) {
  flow_front *f = &e->front;
  flow_passing *p = &f->passing;
  const uint32_t n = p->in++;
  p->pushed[flow_passing_at(n)] = at;
  p->command[flow_passing_at(n)] = *command;
  if (n != p->out) return;
  flow_await_passing(e);
  e->next[FLOW_FRONT] = f->enters;
}

// As flow_front_push.
static inline void flow_front_push_here(flow_engine *e, uint64_t cycle, const arch_command *command) {
  const isa_id insn = command->insn->id;
  if (e->front.passing.over || e->loop_of[insn] != FLOW_LOOP_UNITS) {
    flow_front_push(e, cycle, command);
    return;
  }
  const flow_time at = flow_host_event(e, cycle);
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  flow_push_passing(e, at, &(cycle_front_command){.rs1 = command->rs1, .rs2 = command->rs2, .insn = (uint8_t)insn});
}

#endif
