// SPDX-License-Identifier: Apache-2.0
// The front end as an actor: hw/rtl/weft_front_end.sv, sim/cycle/front_end.c.
//
// The chain is a row of queues of two commands: the command queue, one of each loop unit, and that of the station.
// Commands that only pass are times (HOST): command n leaves queue q in
//   left[q](n) = 1 + max(left[q - 1](n), left[q](n - 1), left[q + 1](n - 2))
// where left[-1] is the push and the last queue is left when the station has room, one command in a cycle. Loop units
// take their own commands out of their queue and put those that they unroll into the queue behind: loops.c.
//
// Until the first command of a loop unit comes nothing but the station holds a command up, and with `last` the last
// queue, push(n) and entry(n), which both go up by at least 1, it follows that
//   left[q](n) = max(push(n) + q + 1, entry(n - 2 * (last - q)) + last - q)
// so no queue is kept (flow_passing).
#include "sim/flow/front.h"

#include "isa/isa.h"
#include "sim/flow/passing.h"

enum { NO_UNIT = FLOW_LOOP_UNITS };

// ---- life

void flow_front_create(flow_engine *e) {
  flow_front *f = &e->front;
  for (uint32_t q = 0; q < FLOW_QUEUES; q++) {
    f->queue[q].in = f->queue[q].out = 2;
    f->queue[q].unit = NO_UNIT;
  }
  f->enters = FLOW_NEVER;
  f->places = UINT32_MAX;
  f->last = 1;
  if (e->array->units.loop_conv) f->queue[f->last++].unit = FLOW_LOOP_CONV;
  if (e->array->units.loop_matmul) f->queue[f->last++].unit = FLOW_LOOP_MATMUL;
  flow_loops_create(e);
  e->next[FLOW_FRONT] = FLOW_NEVER;
}

void flow_front_destroy(flow_engine *e) { flow_loops_destroy(e); }

// ---- the chain

static __attribute__((noinline)) bool stops(const flow_engine *e, const flow_queue *q, uint32_t number) {
  if (q->held) return true;
  return q->unit != NO_UNIT && e->loop_of[flow_queue_command(&e->front, q, number)->insn] == q->unit;
}

// The head of queue q goes on, if it may and if the times that its own depends on are known; else false.
static inline __attribute__((always_inline)) bool move(flow_engine *e, uint32_t q) {
  flow_front *f = &e->front;
  flow_queue *from = &f->queue[q], *to = from + 1;
  const uint32_t n = from->out;
  if (n == from->in || !flow_queue_room_known(to)) return false;
  if ((from->held || f->loop_commands != 0) && stops(e, from, n)) return false;
  flow_time at = flow_later(from->entered[flow_place(n)], from->left[flow_place(n - 1)]);
  at = flow_after(flow_later(flow_later(at, from->floor), flow_queue_room(to)), 1, FLOW_W_FRONT);
  from->left[flow_place(n)] = to->entered[flow_place(to->in)] = at;
  to->command[flow_place(to->in)] = from->command[flow_place(n)];
  from->out++;
  to->in++;
  if (q == 0) f->moved = true;
  return true;
}

// A command that enters goes on from queue to queue, one that leaves makes room for one in each queue before.
static void move_on(flow_engine *e, uint32_t q) {
  while (q < e->front.last && move(e, q)) q++;
}

// Whether any went on.
static inline bool move_up(flow_engine *e) {
  uint32_t q = e->front.last;
  for (; q > 0 && move(e, q - 1); q--) continue;
  return q != e->front.last;
}

void flow_chain_settle(flow_engine *e) {
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t q = e->front.last; q > 0; q--) any |= move(e, q - 1);
  }
}

void flow_chain_enter(flow_engine *e, uint32_t q, flow_time at, const cycle_front_command *command) {
  flow_queue *to = &e->front.queue[q];
  const uint32_t place = (uint32_t)__builtin_ctz(e->front.places);
  e->front.places &= e->front.places - 1;
  e->front.command[place] = *command;
  to->command[flow_place(to->in)] = (uint8_t)place;
  to->entered[flow_place(to->in++)] = at;
  move_on(e, q);
}

// ---- commands that only pass

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Queue q as flow_queue has it, whose commands count from 2; `in` have come.
static void unfold_queue(flow_front *f, uint32_t q, uint32_t in) {
  const flow_passing *p = &f->passing;
  flow_queue *queue = &f->queue[q];
  const uint32_t out = smaller(in, p->out + 2 * (f->last - q));
  queue->in = in + 2;
  queue->out = out + 2;
  for (uint32_t n = out - smaller(out, 2); n < out; n++) queue->left[flow_place(n + 2)] = flow_passed(f, q, n);
  for (uint32_t n = out; n < in; n++) {
    const uint32_t place = (uint32_t)__builtin_ctz(f->places);
    f->places &= f->places - 1;
    f->command[place] = p->command[flow_passing_at(n)];
    queue->command[flow_place(n + 2)] = (uint8_t)place;
    queue->entered[flow_place(n + 2)] = q == 0 ? p->pushed[flow_passing_at(n)] : flow_passed(f, q - 1, n);
  }
}

// A command of a loop unit comes: from now on queues are kept.
static void unfold(flow_front *f) {
  uint32_t in = f->passing.in;
  for (uint32_t q = 0; q <= f->last; q++) {
    unfold_queue(f, q, in);
    in = f->queue[q].out - 2;
  }
  f->passing.over = true;
}

// ---- entry into the station

static void await_queued(flow_engine *e) {
  flow_front *f = &e->front;
  const flow_queue *q = &f->queue[f->last];
  const uint32_t n = q->out;
  if (n == q->in) return;
  const flow_time at = flow_later(flow_after(q->entered[flow_place(n)], 1, FLOW_W_FRONT),
                                  flow_after(q->left[flow_place(n - 1)], 1, FLOW_W_ISSUE));
  flow_await_head(e, at, flow_queue_command(f, q, n));
}

// When the head of the last queue enters.
static void await_entry(flow_engine *e) {
  e->front.enters = FLOW_NEVER;
  e->front.awaits_room = false;
  if (e->front.passing.over)
    await_queued(e);
  else
    flow_await_passing(e);
}

static void renew(flow_engine *e) { e->next[FLOW_FRONT] = wf_min(e->front.enters, flow_loops_next(e)); }

static void wake(flow_engine *e) {
  await_entry(e);
  renew(e);
}

// An entry has ended whose end was not known.
void flow_front_wake(flow_engine *e) { wake(e); }

static void step_queued(flow_engine *e) {
  flow_front *f = &e->front;
  flow_queue *q = &f->queue[f->last];
  const uint32_t n = q->out;
  const cycle_front_command *command = flow_queue_command(f, q, n);
  const sim_class kind = (sim_class)f->kind;
  const flow_time at = flow_station_event(e, kind, f->entry);
  q->left[flow_place(n)] = at;
  q->out++;
  flow_chain_forget(f, q, n);
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  f->enters = FLOW_NEVER;
  f->awaits_room = false;
  if (kind != SIM_CLASSES) flow_station_enter(e, at, kind, command);
  const bool moved = move_up(e);
  if (moved && f->loop_commands != 0)
    flow_loops_wake(e);
  else if (f->loops_active != 0)
    flow_loops_replan(e);
  wake(e);
}

static inline void step_kept(flow_engine *e) {
  flow_front *f = &e->front;
  if (f->enters <= e->next[FLOW_FRONT]) {
    step_queued(e);
    return;
  }
  const flow_queue *last = &f->queue[f->last];
  const bool idle = last->out == last->in;
  flow_loops_step(e);
  if (idle) await_entry(e);
  renew(e);
}

// Whether the next step is another one of the front end.
static inline bool goes_on(const flow_engine *e) {
  const uint64_t at = e->next[FLOW_FRONT];
  return at < e->limit && at <= e->next[FLOW_EXECUTE] && at <= e->next[FLOW_LOAD] && at <= e->next[FLOW_STORE] &&
         at <= e->next[FLOW_REPEATS];
}

// Steps behind one another, up to one after which the host may have room.
void flow_front_step(flow_engine *e) {
  if (!e->front.passing.over) {
    flow_step_passing(e);
    return;
  }
  e->front.moved = false;
  do {
    e->step = e->next[FLOW_FRONT];
    step_kept(e);
  } while (!e->front.moved && goes_on(e));
}

// ---- what others see

void flow_front_push(flow_engine *e, uint64_t cycle, const arch_command *command) {
  flow_front *f = &e->front;
  const cycle_front_command taken = {.rs1 = command->rs1, .rs2 = command->rs2, .insn = (uint8_t)command->insn->id};
  const flow_time at = flow_host_event(e, cycle);
  const bool loops = e->loop_of[taken.insn] != NO_UNIT;
  flow_busy_until(e, flow_after(at, 1, FLOW_W_FRONT));
  if (!f->passing.over) {
    if (!loops) {
      flow_push_passing(e, at, &taken);
      return;
    }
    unfold(f);
  }
  const bool idle = f->queue[f->last].out == f->queue[f->last].in;
  f->loop_commands += loops;
  flow_chain_enter(e, 0, at, &taken);
  if (f->loop_commands != 0) flow_loops_wake(e);
  if (idle || loops) wake(e);
}

bool flow_front_busy(const flow_engine *e) {
  const flow_front *f = &e->front;
  if (!f->passing.over) return f->passing.in != f->passing.out;
  for (uint32_t q = 0; q <= f->last; q++)
    if (f->queue[q].in != f->queue[q].out) return true;
  return f->loops_active != 0;
}
