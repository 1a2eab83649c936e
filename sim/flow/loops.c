// SPDX-License-Identifier: Apache-2.0
// LOOP_CONV_WS and LOOP_WS in the chain of the front end (LOOPS). What a unit puts out, and in which order, is that of
// the units of the cycle engine (sim/cycle/loop_conv.c, loop_matmul.c). They are not stepped in every cycle but in
// those in which something of theirs moves:
//   puts out   max(the command before + 1, 1 + the cycle in which the second last one left the queue behind,
//                  1 + an end of its class, if all its entries of the station are taken)
//   takes up   a command of its own from its queue: entry + 1, when it has a slot free
//   orders     its parts, in the cycle behind one in which any of this changed
#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/cycle/loop_conv.h"
#include "sim/cycle/loop_matmul.h"
#include "sim/flow/front.h"

typedef struct loop_unit {
  uint32_t queue;
  bool there, active;
  bool handed;      // the head of its queue is with it
  bool due;         // its next step does something of itself
  bool starved;     // it has nothing to put out before one of its commands ends
  bool planned;     // it is known when it offers:
  uint64_t offers;  // the first cycle in which it has a command to put out; FLOW_NEVER: none before one ends
  uint64_t next;    // its next step
  uint64_t from;    // no step before
  flow_time last;   // the last one
} loop_unit;

typedef struct flow_loops {
  cycle_engine c;  // what the units look at: array, sizes, completions
  cycle_loop_matmul *matmul;
  cycle_loop_conv *conv;
  loop_unit unit[FLOW_LOOP_UNITS];
  flow_done done[FLOW_DONES];  // ends that were not counted, in their order: a ring
  uint32_t first, count;
  flow_time counted;  // the last one that was
} flow_loops;

// ---- life

static uint8_t loop_of(isa_id insn) {
  const isa_unit unit = (isa_unit)isa_insn_at(insn)->unit;
  return unit == ISA_UNIT_LOOP_CONV     ? FLOW_LOOP_CONV
         : unit == ISA_UNIT_LOOP_MATMUL ? FLOW_LOOP_MATMUL
                                        : FLOW_LOOP_UNITS;
}

void flow_loops_create(flow_engine *e) {
  flow_loops *l = e->front.loops = WF_NEW(flow_loops);
  l->c.array = e->array;
  l->c.d = e->d;
  if (e->array->units.loop_conv) l->conv = cycle_loop_conv_create(&l->c);
  if (e->array->units.loop_matmul) l->matmul = cycle_loop_matmul_create(&l->c);
  for (uint32_t k = 0; k < FLOW_LOOP_UNITS; k++) l->unit[k].next = FLOW_NEVER;
  for (uint32_t q = 0; q < FLOW_QUEUES; q++) {
    const uint8_t unit = e->front.queue[q].unit;
    if (unit == FLOW_LOOP_UNITS) continue;
    l->unit[unit].queue = q;
    l->unit[unit].there = true;
  }
  for (unsigned insn = 0; insn < ISA_ID_COUNT; insn++) {
    const uint8_t unit = loop_of((isa_id)insn);
    e->loop_of[insn] = unit != FLOW_LOOP_UNITS && l->unit[unit].there ? unit : FLOW_LOOP_UNITS;
  }
}

void flow_loops_destroy(flow_engine *e) {
  flow_loops *l = e->front.loops;
  if (l == NULL) return;
  if (l->matmul != NULL) cycle_loop_matmul_destroy(l->matmul);
  if (l->conv != NULL) cycle_loop_conv_destroy(l->conv);
  wf_free(l);
}

// ---- either unit

static bool is_active(const flow_loops *l, flow_loop_unit k) {
  return k == FLOW_LOOP_CONV ? cycle_loop_conv_active(l->conv) : cycle_loop_matmul_active(l->matmul);
}

static bool is_due(const flow_loops *l, flow_loop_unit k) {
  return k == FLOW_LOOP_CONV ? cycle_loop_conv_due(l->conv) : cycle_loop_matmul_due(l->matmul);
}

static bool has_taken_up(const flow_loops *l, flow_loop_unit k) {
  return (k == FLOW_LOOP_CONV ? cycle_loop_conv_waiting(l->conv) : cycle_loop_matmul_waiting(l->matmul)) == 0;
}

static bool offer(const flow_loops *l, flow_loop_unit k, uint64_t now, cycle_front_command *command) {
  return k == FLOW_LOOP_CONV ? cycle_loop_conv_offer(l->conv, now, command)
                             : cycle_loop_matmul_offer(l->matmul, now, command);
}

static uint64_t find_offer(const flow_loops *l, flow_loop_unit k) {
  if (k == FLOW_LOOP_CONV) return cycle_loop_conv_offers_at(l->conv);
  return cycle_loop_matmul_offers(l->matmul) ? 0 : FLOW_NEVER;
}

// What it offers changes with its own steps alone, with ends, and with commands that it gets.
static inline uint64_t offers_at(flow_loops *l, flow_loop_unit k) {
  loop_unit *u = &l->unit[k];
  if (!u->planned) u->offers = find_offer(l, k);
  u->planned = true;
  return u->offers;
}

static void step_unit(flow_loops *l, flow_loop_unit k, uint64_t now, bool taken) {
  l->unit[k].planned = false;
  if (k == FLOW_LOOP_CONV)
    cycle_loop_conv_step(&l->c, now, l->conv, taken);
  else
    cycle_loop_matmul_step(&l->c, now, l->matmul, taken);
}

// ---- ends of commands

static flow_done *done_at(flow_loops *l, uint32_t n) { return &l->done[(l->first + n) % FLOW_DONES]; }

// Those before `now` count in it.
static inline void count_done(flow_loops *l, uint64_t now) {
  for (; l->count > 0 && flow_cycle(done_at(l, 0)->at) < now; l->first++, l->count--) {
    const flow_done *done = done_at(l, 0);
    if (done->conv)
      cycle_loop_conv_complete(l->conv, (sim_class)done->kind);
    else
      cycle_loop_matmul_complete(l->matmul, (sim_class)done->kind);
    l->unit[done->conv ? FLOW_LOOP_CONV : FLOW_LOOP_MATMUL].planned = false;
    l->counted = done->at;
  }
}

void flow_loops_done(flow_engine *e, sim_class kind, bool conv, flow_time at) {
  flow_loops *l = e->front.loops;
  uint32_t n = l->count++;
  for (; n > 0 && flow_cycle(done_at(l, n - 1)->at) > flow_cycle(at); n--) *done_at(l, n) = *done_at(l, n - 1);
  *done_at(l, n) = (flow_done){.at = at, .kind = (uint8_t)kind, .conv = conv};
  loop_unit *u = &l->unit[conv ? FLOW_LOOP_CONV : FLOW_LOOP_MATMUL];
  if (!u->starved) return;
  u->next = wf_min(u->next, wf_max(flow_cycle(at) + 1, u->from));
  e->next[FLOW_FRONT] = wf_min(e->next[FLOW_FRONT], u->next);
}

// ---- when it goes on

static void plan(flow_engine *e, flow_loop_unit k) {
  flow_loops *l = e->front.loops;
  loop_unit *u = &l->unit[k];
  const flow_queue *to = &e->front.queue[u->queue + 1];
  u->starved = false;
  if (u->due) return;
  u->next = FLOW_NEVER;
  if (!u->active) return;
  const uint64_t at = offers_at(l, k);
  if (at != FLOW_NEVER) {
    if (flow_queue_room_known(to)) u->next = wf_max(wf_max(at, u->from), flow_cycle(flow_queue_room(to)) + 1);
    return;
  }
  u->starved = true;
  if (l->count > 0) u->next = wf_max(flow_cycle(done_at(l, 0)->at) + 1, u->from);
}

// The head of its queue is for the unit.
static void hand_over(flow_engine *e, flow_loop_unit k) {
  flow_loops *l = e->front.loops;
  loop_unit *u = &l->unit[k];
  const flow_queue *q = &e->front.queue[u->queue];
  if (u->handed || !u->there || q->out == q->in) return;
  const cycle_front_command *command = flow_queue_command(&e->front, q, q->out);
  if (e->loop_of[command->insn] != k) return;
  const uint64_t entered = flow_cycle(q->entered[flow_place(q->out)]);
  if (k == FLOW_LOOP_CONV)
    cycle_loop_conv_push(l->conv, entered, command);
  else
    cycle_loop_matmul_push(l->matmul, entered, command);
  u->handed = true;
  u->planned = false;
  u->next = wf_min(u->due ? u->next : FLOW_NEVER, wf_max(u->from, entered + 1));
  u->due = true;
}

void flow_loops_wake(flow_engine *e) {
  const flow_loops *l = e->front.loops;
  for (flow_loop_unit k = 0; k < FLOW_LOOP_UNITS; k++) {
    if (e->front.loop_commands != 0) hand_over(e, k);
    if (l->unit[k].active) plan(e, k);
  }
}

// A time that is known stays: it depends on ends, which tell (flow_loops_done), and on room that is known.
void flow_loops_replan(flow_engine *e) {
  const flow_loops *l = e->front.loops;
  for (flow_loop_unit k = 0; k < FLOW_LOOP_UNITS; k++)
    if (l->unit[k].active && l->unit[k].next == FLOW_NEVER) plan(e, k);
}

uint64_t flow_loops_next(const flow_engine *e) {
  const flow_loops *l = e->front.loops;
  return wf_min(l->unit[FLOW_LOOP_CONV].next, l->unit[FLOW_LOOP_MATMUL].next);
}

// ---- a step

// What a step in cycle `now` waited for.
static flow_time reason(const flow_engine *e, const loop_unit *u, uint64_t now) {
  const flow_loops *l = e->front.loops;
  const flow_queue *q = &e->front.queue[u->queue];
  flow_time from = flow_later(u->last, flow_queue_room(q + 1));
  if (u->handed && flow_cycle(q->entered[flow_place(q->out)]) <= now)
    from = flow_later(from, q->entered[flow_place(q->out)]);
  if (flow_cycle(l->counted) <= now) from = flow_later(from, l->counted);
  return flow_at(from, now, FLOW_W_LOOPS);
}

// It has taken up its command, or come to an end: commands before it may go on.
static void let_pass(flow_engine *e, flow_loop_unit k, flow_time at) {
  flow_loops *l = e->front.loops;
  loop_unit *u = &l->unit[k];
  flow_queue *q = &e->front.queue[u->queue];
  const bool active = is_active(l, k), taken_up = u->handed && has_taken_up(l, k);
  if (taken_up) {
    flow_chain_forget(&e->front, q, q->out);
    q->left[flow_place(q->out++)] = at;
    u->handed = false;
    e->front.loop_commands--;
  }
  if (active == u->active && !taken_up) return;
  if (!active) {
    q->floor = at;
    u->starved = false;
    if (!u->due) u->next = FLOW_NEVER;
  }
  e->front.loops_active = e->front.loops_active + active - u->active;
  u->active = q->held = active;
  flow_chain_settle(e);
}

__attribute__((noinline)) void flow_loops_step(flow_engine *e) {
  flow_loops *l = e->front.loops;
  const flow_loop_unit k =
      l->unit[FLOW_LOOP_CONV].next <= l->unit[FLOW_LOOP_MATMUL].next ? FLOW_LOOP_CONV : FLOW_LOOP_MATMUL;
  loop_unit *u = &l->unit[k];
  const flow_queue *to = &e->front.queue[u->queue + 1];
  const uint64_t now = u->next;
  cycle_front_command command;
  count_done(l, now);
  const bool room = flow_queue_room_known(to) && flow_cycle(flow_queue_room(to)) < now;
  const bool due = u->due;  // else nothing but the command that it puts out is new
  const bool at_once = !due && k == FLOW_LOOP_CONV;
  const bool taken =
      u->active && room && (at_once ? cycle_loop_conv_put_out(l->conv, now, &command) : offer(l, k, now, &command));
  u->from = now + 1;
  if (taken || due) {
    const flow_time at = flow_event(e->log, reason(e, u, now));
    if (at_once)
      u->planned = false;
    else
      step_unit(l, k, now, taken);
    u->due = is_due(l, k);
    u->next = u->due ? now + 1 : FLOW_NEVER;
    u->last = at;
    flow_busy_until(e, flow_after(at, 1, FLOW_W_LOOPS));
    if (taken) flow_chain_enter(e, u->queue + 1, at, &command);
    if (due) {
      let_pass(e, k, at);
      flow_loops_wake(e);
      return;
    }
  }
  plan(e, k);
}
