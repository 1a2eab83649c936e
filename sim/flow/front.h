// SPDX-License-Identifier: Apache-2.0
// The front end as an actor: front.c, and the loop units in its chain: loops.c.
#ifndef SIM_FLOW_FRONT_H
#define SIM_FLOW_FRONT_H

#include "sim/flow/engine.h"

void flow_front_create(flow_engine *e);
void flow_front_destroy(flow_engine *e);
// A command enters in cycle `at`, in which there is room.
void flow_front_push(flow_engine *e, uint64_t at, const arch_command *command);
void flow_front_wake(flow_engine *e);
void flow_front_step(flow_engine *e);
bool flow_front_busy(const flow_engine *e);

// ---- the chain, as loop units see it

static inline uint32_t flow_place(uint32_t number) { return number % FLOW_PLACES; }

// Whether it is known when the queue has room for its next command: behind the cycle in which the second last one left.
static inline bool flow_queue_room_known(const flow_queue *q) { return (int32_t)(q->out + 1 - q->in) >= 0; }
static inline flow_time flow_queue_room(const flow_queue *q) { return q->left[flow_place(q->in - 2)]; }

static inline const cycle_front_command *flow_queue_command(const flow_front *f, const flow_queue *q, uint32_t number) {
  return &f->command[q->command[flow_place(number)]];
}

// Whether it is known when the command queue has room for the next command of the host: the one 2 before it leaves.
static inline bool flow_front_knows_room(const flow_front *f) {
  if (f->passing.over) return flow_queue_room_known(&f->queue[0]);
  return f->passing.in - f->passing.out < 2U * f->last + 2U;
}

// The command has left the chain; it stays where it is until another one enters.
static inline void flow_chain_forget(flow_front *f, const flow_queue *q, uint32_t number) {
  f->places |= UINT32_C(1) << q->command[flow_place(number)];
}

// The command enters queue q in cycle `at`, in which there is room, and goes on as far as times follow.
void flow_chain_enter(flow_engine *e, uint32_t q, flow_time at, const cycle_front_command *command);
// All queues go on as far as times follow.
void flow_chain_settle(flow_engine *e);

// ---- loop units

void flow_loops_create(flow_engine *e);
void flow_loops_destroy(flow_engine *e);
// A command of a loop ends in cycle `at`.
void flow_loops_done(flow_engine *e, sim_class kind, bool conv, flow_time at);
// Commands moved: loop units take up theirs, and find when they go on.
void flow_loops_wake(flow_engine *e);
// The same, where nothing came to the head of a queue.
void flow_loops_replan(flow_engine *e);
// The next step of one of them; FLOW_NEVER: none is known.
uint64_t flow_loops_next(const flow_engine *e);
void flow_loops_step(flow_engine *e);

#endif
