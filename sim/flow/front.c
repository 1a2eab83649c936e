// SPDX-License-Identifier: Apache-2.0
// The front end as an actor: hw/rtl/weft_front_end.sv, sim/cycle/front_end.c.
//
// Commands that only pass are times (HOST): queue q of the chain holds two commands, and command n leaves it in
//   left[q](n) = 1 + max(left[q - 1](n), left[q](n - 1), left[q + 1](n - 2))
// where left[-1] is the push and the last queue is left when the station has room, one command in a cycle.
// While a loop unit has work, the chain is stepped cycle by cycle with the loop units of the cycle engine themselves
// (LOOPS): what they emit, and in which order, depends on the cycle in which their commands end.
#include "sim/flow/front.h"

#include <string.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/cycle/loop_conv.h"
#include "sim/cycle/loop_matmul.h"
#include "sim/cycle/queue.h"
#include "sim/flow/station.h"

enum { STAGE = 2 };

typedef struct stage {
  cycle_queue queue;
  cycle_front_command commands[STAGE];
} stage;

// The chain while it is stepped.
typedef struct flow_loops {
  cycle_engine c;  // what the loop units look at: array, sizes, completions of the cycle
  cycle_loop_matmul *matmul;
  cycle_loop_conv *conv;
  stage raw, unrolled;
  bool pending, blocked;
  bool completed;  // the wires below say so
  cycle_front_command pushed;
  uint64_t now;    // the next cycle to be carried out
  flow_time from;  // what brought the chain to it
} flow_loops;

// ---- life

static bool has_loops(const flow_engine *e) { return e->front.loops->matmul != NULL || e->front.loops->conv != NULL; }

void flow_front_create(flow_engine *e) {
  flow_loops *l = e->front.loops = WF_NEW(flow_loops);
  l->c.array = e->array;
  l->c.d = e->d;
  cycle_queue_init(&l->raw.queue, STAGE, 1, false);
  cycle_queue_init(&l->unrolled.queue, STAGE, 1, false);
  if (e->array->units.loop_matmul) l->matmul = cycle_loop_matmul_create(&l->c);
  if (e->array->units.loop_conv) l->conv = cycle_loop_conv_create(&l->c);
  e->front.pass.last = 1U + (l->matmul != NULL) + (l->conv != NULL);
  for (uint32_t q = 0; q <= e->front.pass.last; q++) e->front.pass.known[q] = 2;
  e->front.pass.pushed = 2;
  e->front.first_done = FLOW_NEVER;
  e->next[FLOW_FRONT] = FLOW_NEVER;
}

void flow_front_destroy(flow_engine *e) {
  flow_loops *l = e->front.loops;
  if (l == NULL) return;
  if (l->matmul != NULL) cycle_loop_matmul_destroy(l->matmul);
  if (l->conv != NULL) cycle_loop_conv_destroy(l->conv);
  cycle_queue_free(&l->raw.queue);
  cycle_queue_free(&l->unrolled.queue);
  wf_free(l);
}

static bool for_loops(isa_id insn) {
  const isa_unit unit = (isa_unit)isa_insn_at(insn)->unit;
  return unit == ISA_UNIT_LOOP_MATMUL || unit == ISA_UNIT_LOOP_CONV;
}

// ---- commands that only pass

static flow_time left_at(const flow_pass *p, uint32_t queue, uint32_t number) {
  return p->left[queue][number % FLOW_PASS];
}

static bool is_left(const flow_pass *p, uint32_t queue, uint32_t number) {
  return (int32_t)(p->known[queue] - number) > 0;
}

// Queue q: the next command leaves it, if that follows from the queues around it; else false.
static bool settle_queue(flow_pass *p, uint32_t q) {
  const uint32_t n = p->known[q];
  if (n == p->pushed || (q > 0 && p->known[q - 1] == n) || (int32_t)(p->known[q + 1] - (n - 2)) <= 0) return false;
  flow_time at = q == 0 ? p->pushed_at[n % FLOW_PASS] : left_at(p, q - 1, n);
  at = flow_later(at, flow_later(left_at(p, q, n - 1), left_at(p, q + 1, n - 2)));
  p->left[q][n % FLOW_PASS] = flow_after(at, 1, FLOW_W_FRONT);
  p->known[q]++;
  return true;
}

// Finds all times that follow; those of the last queue are the station's. A command that is pushed goes on from queue
// to queue, one that leaves makes room for one in each queue before.
static void settle_pushed(flow_pass *p) {
  for (uint32_t q = 0; q < p->last && settle_queue(p, q); q++) continue;
}

static void settle_left(flow_pass *p) {
  for (uint32_t q = p->last; q > 0 && settle_queue(p, q - 1); q--) continue;
}

// The chain is empty from `at` on. Two commands have left it before.
static void restart_pass(flow_pass *p, flow_time at) {
  p->pushed = 2;
  for (uint32_t q = 0; q <= p->last; q++) {
    p->known[q] = 2;
    p->left[q][0] = p->left[q][1] = flow_at(at, flow_cycle(at) - (flow_cycle(at) != 0), FLOW_W_LOOPS);
  }
}

static uint32_t head_of(const flow_pass *p) { return p->known[p->last]; }

static bool pass_empty(const flow_pass *p) { return p->pushed == p->known[p->last]; }

static uint64_t entry_cycle(const flow_engine *e, sim_class unit, uint64_t at) {
  return unit == SIM_CLASSES ? at : wf_max(at, flow_known_cycle(flow_station_room(e, unit)));
}

static flow_time earliest_entry(const flow_engine *e, sim_class unit, flow_time at) {
  if (unit == SIM_CLASSES) return at;
  const flow_time room = flow_station_room(e, unit);
  return flow_cycle(room) > flow_cycle(at) ? room : at;
}

static void wake_pass(flow_engine *e) {
  const flow_pass *p = &e->front.pass;
  const uint32_t n = head_of(p);
  e->next[FLOW_FRONT] = FLOW_NEVER;
  if (n == p->pushed || !is_left(p, p->last - 1, n)) return;
  const flow_time at = flow_later(flow_after(left_at(p, p->last - 1, n), 1, FLOW_W_FRONT),
                                  flow_after(left_at(p, p->last, n - 1), 1, FLOW_W_ISSUE));
  const sim_class unit = flow_station_class(e, p->command[n % FLOW_PASS].insn);
  e->front.next = earliest_entry(e, unit, at);
  e->next[FLOW_FRONT] = flow_known_cycle(e->front.next);
  e->front.awaits_room = e->next[FLOW_FRONT] > flow_cycle(at);
  e->front.awaited = (uint8_t)unit;
}

static void step_pass(flow_engine *e) {
  flow_pass *p = &e->front.pass;
  const uint32_t n = head_of(p);
  const cycle_front_command command = p->command[n % FLOW_PASS];
  const sim_class unit = flow_station_class(e, command.insn);
  const flow_time at = flow_station_event(e, unit, e->front.next);
  p->left[p->last][n % FLOW_PASS] = at;
  p->known[p->last]++;
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  settle_left(p);
  e->front.moved = true;
  e->next[FLOW_FRONT] = FLOW_NEVER;
  if (unit != SIM_CLASSES) flow_station_enter(e, at, unit, &command);
  wake_pass(e);
}

// ---- the chain

static void stage_push(stage *s, uint64_t now, const cycle_front_command *command) {
  s->commands[cycle_queue_push(&s->queue, now)] = *command;
}

static const cycle_front_command *stage_head(const stage *s) { return &s->commands[cycle_queue_head(&s->queue)]; }

static bool loops_busy(const flow_loops *l) {
  return (l->matmul != NULL && cycle_loop_matmul_busy(l->matmul)) || (l->conv != NULL && cycle_loop_conv_busy(l->conv));
}

static bool chain_busy(const flow_loops *l) {
  return l->pending || l->raw.queue.count > 0 || l->unrolled.queue.count > 0 || loops_busy(l);
}

// Puts a command that only passed into the queue in which it is at the start of cycle `at`.
static void put_back(flow_engine *e, uint32_t n, uint64_t at) {
  const flow_pass *p = &e->front.pass;
  flow_loops *l = e->front.loops;
  uint64_t entered = flow_cycle(p->pushed_at[n % FLOW_PASS]);
  uint32_t q = 0;
  for (; q < p->last && is_left(p, q, n) && flow_cycle(left_at(p, q, n)) < at; q++)
    entered = flow_cycle(left_at(p, q, n));
  const cycle_front_command *command = &p->command[n % FLOW_PASS];
  if (q == 0)
    stage_push(&l->raw, entered, command);
  else if (q == p->last)
    stage_push(&l->unrolled, entered, command);
  else if (q == 1 && l->conv != NULL)
    cycle_loop_conv_push(l->conv, entered, command);
  else
    cycle_loop_matmul_push(l->matmul, entered, command);
}

static void start_loops(flow_engine *e, flow_time at) {
  flow_front *f = &e->front;
  for (uint32_t n = head_of(&f->pass); n != f->pass.pushed; n++) put_back(e, n, flow_cycle(at));
  f->pass.pushed = f->pass.known[f->pass.last];
  f->looping = true;
  f->loops->now = flow_cycle(at);
  f->loops->from = at;
  f->loops->blocked = false;
}

// Completions of the cycles up to `now` that were not counted, for the loop units; false: there are none.
static bool take_done(flow_engine *e, uint64_t now) {
  flow_front *f = &e->front;
  cycle_wires *w = &f->loops->c.w;
  if (f->loops->completed) {
    memset(w->matmul_completed, 0, sizeof w->matmul_completed);
    memset(w->conv_completed, 0, sizeof w->conv_completed);
  }
  f->loops->completed = f->first_done <= now;
  if (!f->loops->completed) return false;
  f->first_done = FLOW_NEVER;
  for (uint32_t i = 0; i < f->dones;) {
    const flow_done done = f->done[i];
    if (flow_cycle(done.at) > now) {
      f->first_done = wf_min(f->first_done, flow_cycle(done.at));
      i++;
      continue;
    }
    f->loops->from = flow_later(f->loops->from, done.at);
    (done.conv ? w->conv_completed : w->matmul_completed)[done.unit]++;
    f->done[i] = f->done[--f->dones];
  }
  return true;
}

// Those before `now` are counted in place of steps that they would not have changed.
static void count_done(flow_engine *e, uint64_t now) {
  flow_loops *l = e->front.loops;
  if (e->front.first_done > now && !l->completed) return;
  if (e->front.first_done < now && take_done(e, now - 1)) {
    if (l->matmul != NULL) cycle_loop_matmul_completed(&l->c, l->matmul);
    if (l->conv != NULL) cycle_loop_conv_completed(&l->c, l->conv);
  }
  take_done(e, now);
}

static bool source_offer(const flow_loops *l, uint64_t now, cycle_front_command *command) {
  if (l->conv != NULL) return cycle_loop_conv_offer(l->conv, now, command);
  if (!cycle_queue_valid(&l->raw.queue, now)) return false;
  *command = *stage_head(&l->raw);
  return true;
}

static bool source_due(const flow_loops *l) {
  if (l->conv == NULL) return false;
  return cycle_loop_conv_due(l->conv) || (l->raw.queue.count > 0 && cycle_loop_conv_waiting(l->conv) < STAGE);
}

static uint64_t source_offers(const flow_loops *l) {
  if (l->conv == NULL) return l->raw.queue.count > 0 ? 0 : FLOW_NEVER;
  return cycle_loop_conv_offers_at(l->conv);
}

static void step_source(flow_loops *l, uint64_t now, bool taken) {
  if (l->conv == NULL) {
    if (taken) cycle_queue_pop(&l->raw.queue, now);
    return;
  }
  cycle_loop_conv_step(&l->c, now, l->conv, taken);
  if (!cycle_queue_valid(&l->raw.queue, now) || !cycle_loop_conv_room(l->conv, now)) return;
  cycle_loop_conv_push(l->conv, now, stage_head(&l->raw));
  cycle_queue_pop(&l->raw.queue, now);
}

static void move_source(flow_loops *l, uint64_t now, bool room) {
  cycle_front_command command;
  if (!source_due(l) && (!room || source_offers(l) > now)) {
    if (l->conv != NULL && l->completed) cycle_loop_conv_completed(&l->c, l->conv);
    return;
  }
  const bool taken = room && source_offer(l, now, &command);
  if (taken && l->matmul != NULL) cycle_loop_matmul_push(l->matmul, now, &command);
  if (taken && l->matmul == NULL) stage_push(&l->unrolled, now, &command);
  step_source(l, now, taken);
}

static void move_matmul(flow_loops *l, uint64_t now, bool room) {
  cycle_front_command command;
  const bool taken = room && cycle_loop_matmul_offer(l->matmul, now, &command);
  if (taken) stage_push(&l->unrolled, now, &command);
  cycle_loop_matmul_step(&l->c, now, l->matmul, taken);
}

// What can move in this cycle is stepped alone.
static void step_chain(flow_loops *l, uint64_t now) {
  const bool room = cycle_queue_room(&l->unrolled.queue, now);
  if (l->matmul == NULL) {
    move_source(l, now, room);
    return;
  }
  if (l->completed || cycle_loop_matmul_due(l->matmul) || (room && cycle_loop_matmul_offers(l->matmul)))
    move_matmul(l, now, room);
  move_source(l, now, cycle_loop_matmul_room(l->matmul, now));
}

// The head of the unrolled queue enters the station.
static void step_head(flow_engine *e, flow_loops *l, uint64_t now) {
  const bool waited = l->blocked;
  l->blocked = false;
  if (!cycle_queue_valid(&l->unrolled.queue, now)) return;
  const cycle_front_command command = *stage_head(&l->unrolled);
  const sim_class unit = flow_station_class(e, command.insn);
  const flow_time room = unit == SIM_CLASSES ? (flow_time){0} : flow_station_room(e, unit);
  l->blocked = e->front.awaits_room = flow_known_cycle(room) > now;
  e->front.awaited = (uint8_t)unit;
  if (l->blocked) return;
  cycle_queue_pop(&l->unrolled.queue, now);
  l->from = waited && flow_cycle(room) == now ? room : flow_at(l->from, now, FLOW_W_LOOPS);
  l->from = flow_station_event(e, unit, l->from);
  if (unit != SIM_CLASSES) flow_station_enter(e, l->from, unit, &command);
}

static void take_pending(flow_loops *l, uint64_t now) {
  if (!l->pending) return;
  l->pending = false;
  stage_push(&l->raw, now, &l->pushed);
}

// ---- when the chain is stepped: as sim/cycle/front_end.c plans it

// The earliest cycle from `next` on in which commands can move; FLOW_NEVER: when one enters the chain or completes.
static uint64_t chain_moves(const flow_loops *l, uint64_t next) {
  bool room = l->unrolled.queue.count < STAGE;
  if (l->matmul != NULL) {
    if (cycle_loop_matmul_due(l->matmul) || (room && cycle_loop_matmul_offers(l->matmul))) return next;
    room = cycle_loop_matmul_waiting(l->matmul) < STAGE;
  }
  if (source_due(l)) return next;
  return room ? wf_max(source_offers(l), next) : FLOW_NEVER;
}

// A head that was refused waits for an entry.
static uint64_t head_enters(const flow_engine *e, const flow_loops *l, uint64_t next) {
  if (l->unrolled.queue.count == 0) return FLOW_NEVER;
  if (!l->blocked) return wf_max(cycle_queue_next(&l->unrolled.queue), next);
  return entry_cycle(e, flow_station_class(e, stage_head(&l->unrolled)->insn), next);
}

// A loop unit may offer a command when one of its own has completed, and there is room for it.
static bool may_offer(const flow_loops *l) {
  if (l->matmul == NULL || l->unrolled.queue.count < STAGE) return l->unrolled.queue.count < STAGE;
  return l->conv != NULL && cycle_loop_matmul_waiting(l->matmul) < STAGE;
}

static void wake_loops(flow_engine *e) {
  const flow_front *f = &e->front;
  const flow_loops *l = f->loops;
  uint64_t next = wf_min(chain_moves(l, l->now), head_enters(e, l, l->now));
  if (l->pending) next = l->now;
  if (f->dones > 0 && (may_offer(l) || !chain_busy(l))) next = wf_min(next, wf_max(f->first_done, l->now));
  e->next[FLOW_FRONT] = next;
}

static void end_loops(flow_engine *e) {
  flow_front *f = &e->front;
  f->looping = false;
  restart_pass(&f->pass, flow_at(f->loops->from, f->loops->now, FLOW_W_LOOPS));
  e->next[FLOW_FRONT] = FLOW_NEVER;
}

static void step_loops(flow_engine *e) {
  flow_front *f = &e->front;
  f->moved = true;
  flow_loops *l = f->loops;
  const uint64_t now = l->now = e->next[FLOW_FRONT];
  e->next[FLOW_FRONT] = FLOW_NEVER;
  step_head(e, l, now);
  count_done(e, now);
  step_chain(l, now);
  take_pending(l, now);
  l->now = now + 1;
  flow_busy_until(e, flow_at(l->from, now + 1, FLOW_W_LOOPS));
  if (!chain_busy(l) && f->dones == 0)
    end_loops(e);
  else
    wake_loops(e);
}

// ---- what others see

static uint64_t room_in_chain(const flow_loops *l, uint64_t at) {
  if (l->pending || !cycle_queue_room(&l->raw.queue, wf_max(at, l->now))) return FLOW_NEVER;
  return wf_max(at, l->now);
}

uint64_t flow_front_room(flow_engine *e, uint64_t at) {
  flow_front *f = &e->front;
  if (f->looping) return room_in_chain(f->loops, at);
  const flow_pass *p = &f->pass;
  if (!is_left(p, 0, p->pushed - 2)) return FLOW_NEVER;
  const flow_time left = left_at(p, 0, p->pushed - 2);
  if (flow_cycle(left) == 0 || flow_cycle(left) + 1 < at) return at;  // 0: there was none
  f->room = flow_after(left, 1, FLOW_W_FRONT);
  return flow_cycle(f->room);
}

// What the command that comes in cycle `at` has waited for: room, the end of everything, or the host alone.
static flow_time host_event(flow_engine *e, uint64_t at) {
  flow_front *f = &e->front;
  flow_time from = flow_at(f->pushed, at, FLOW_W_HOST);
  if (e->waited && flow_cycle(e->idle_at) <= at) from = flow_at(e->idle_at, at, FLOW_W_HOST);
  if (flow_cycle(f->room) == at) from = f->room;
  e->waited = false;
  f->pushed = flow_event(e->log, from);
  return f->pushed;
}

void flow_front_push(flow_engine *e, uint64_t cycle, const arch_command *command) {
  flow_front *f = &e->front;
  flow_pass *p = &f->pass;
  const cycle_front_command taken = {.rs1 = command->rs1, .rs2 = command->rs2, .insn = (uint8_t)command->insn->id};
  const flow_time at = host_event(e, cycle);
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  if (!f->looping && has_loops(e) && for_loops(taken.insn)) start_loops(e, at);
  if (f->looping) {
    f->loops->pushed = taken;
    f->loops->pending = true;
    e->next[FLOW_FRONT] = wf_min(e->next[FLOW_FRONT], cycle);
    return;
  }
  p->command[p->pushed % FLOW_PASS] = taken;
  p->pushed_at[p->pushed++ % FLOW_PASS] = at;
  settle_pushed(p);
  if (head_of(p) == p->pushed - 1) wake_pass(e);
}

void flow_front_done(flow_engine *e, sim_class unit, bool conv, flow_time at) {
  flow_front *f = &e->front;
  f->done[f->dones++] = (flow_done){.at = at, .unit = (uint8_t)unit, .conv = conv};
  f->first_done = wf_min(f->first_done, flow_cycle(at));
  if (f->looping && (may_offer(f->loops) || !chain_busy(f->loops)))
    e->next[FLOW_FRONT] = wf_min(e->next[FLOW_FRONT], wf_max(flow_cycle(at), f->loops->now));
}

// An entry has ended whose end was not known.
void flow_front_wake(flow_engine *e) {
  if (!e->front.looping) {
    wake_pass(e);
  } else if (e->front.loops->blocked) {
    const flow_loops *l = e->front.loops;
    const sim_class unit = flow_station_class(e, stage_head(&l->unrolled)->insn);
    e->next[FLOW_FRONT] = wf_min(e->next[FLOW_FRONT], entry_cycle(e, unit, l->now));
  }
}

bool flow_front_busy(const flow_engine *e) {
  return e->front.looping ? chain_busy(e->front.loops) : !pass_empty(&e->front.pass);
}

void flow_front_step(flow_engine *e) {
  if (e->front.looping)
    step_loops(e);
  else
    step_pass(e);
}
