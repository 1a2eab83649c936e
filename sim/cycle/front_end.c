// SPDX-License-Identifier: Apache-2.0
// Front end (hw/rtl/weft_front_end.sv): takes RoCC commands, unrolls loops, and hands the result to the reservation
// station in order. See front_end.h for the chain; every arrow of it is a queue of two with a latency of one cycle.
//
// At the head of the unrolled queue the commands that are not for the reservation station end, in program order but
// without waiting for older ones to finish: flush, clock_gate (nothing to do: there is no gated clock) and counter
// commands.
//
// A command is pushed before its cycle is carried out; it stays pending until the cycle's own step puts it into the
// command queue. Commands that meet no loop are kept as times instead (skip/pass.c).
#include "sim/cycle/front_end.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/counters.h"
#include "sim/cycle/loop_conv.h"
#include "sim/cycle/loop_matmul.h"
#include "sim/cycle/page_filter.h"
#include "sim/cycle/port.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/skip/pass.h"

enum { QUEUE = 2 };

const char *const cycle_front_end_causes[CYCLE_CAUSES] = {
    [CYCLE_FRONT_IDLE] = "idle",
    [CYCLE_FRONT_WORKING] = "working",
    [CYCLE_FRONT_FULL + SIM_CLASS_LOAD] = "load entries full",
    [CYCLE_FRONT_FULL + SIM_CLASS_EXECUTE] = "execute entries full",
    [CYCLE_FRONT_FULL + SIM_CLASS_STORE] = "store entries full",
    [CYCLE_FRONT_COUNTER] = "counter response pending",
    [CYCLE_FRONT_LOOP_WAITS] = "loop waits for its commands",
};

typedef struct stage {
  cycle_queue queue;
  cycle_front_command commands[QUEUE];
} stage;

typedef struct cycle_front_end {
  cycle_loop_matmul *matmul;  // NULL: the array lacks it
  cycle_loop_conv *conv;
  bool is_pending;
  cycle_front_command pending;
  stage raw, unrolled;
} cycle_front_end;

// ---- life

void cycle_front_create(cycle_engine *c) {
  cycle_front_end *f = c->front = WF_NEW(cycle_front_end);
  cycle_queue_init(&f->raw.queue, QUEUE, 1, false);
  cycle_queue_init(&f->unrolled.queue, QUEUE, 1, false);
  if (c->array->units.loop_matmul) f->matmul = cycle_loop_matmul_create(c);
  if (c->array->units.loop_conv) f->conv = cycle_loop_conv_create(c);
}

void cycle_front_destroy(cycle_engine *c) {
  cycle_front_end *f = c->front;
  if (f == NULL) return;
  cycle_loop_matmul_destroy(f->matmul);
  cycle_loop_conv_destroy(f->conv);
  cycle_queue_free(&f->raw.queue);
  cycle_queue_free(&f->unrolled.queue);
  wf_free(f);
}

static void stage_push(stage *s, uint64_t now, const cycle_front_command *command) {
  s->commands[cycle_queue_push(&s->queue, now)] = *command;
}

static const cycle_front_command *stage_head(const stage *s) { return &s->commands[cycle_queue_head(&s->queue)]; }

// ---- commands from outside

static bool loops_busy(const cycle_front_end *f) {
  return (f->matmul != NULL && cycle_loop_matmul_busy(f->matmul)) || (f->conv != NULL && cycle_loop_conv_busy(f->conv));
}

static bool is_busy(const cycle_front_end *f) {
  return f->raw.queue.count > 0 || f->unrolled.queue.count > 0 || loops_busy(f);
}

bool cycle_front_busy(const cycle_engine *c) {
  return cycle_pass_is_open(c) ? cycle_pass_busy(c) : c->front->is_pending || is_busy(c->front);
}

bool cycle_front_ready(const cycle_engine *c, uint64_t now) {
  const cycle_front_end *f = c->front;
  if (cycle_pass_is_open(c)) return cycle_pass_ready_at(c) <= now;
  return !f->is_pending && cycle_queue_room(&f->raw.queue, now);
}

void cycle_front_push(cycle_engine *c, uint64_t now, const arch_command *command) {
  cycle_front_end *f = c->front;
  assert(cycle_front_ready(c, now));
  const cycle_front_command taken = {
      .rs1 = command->rs1, .rs2 = command->rs2, .insn = (uint8_t)command->insn->id, .returns = command->returns};
  if (cycle_pass_push(c, now, &taken)) return;
  f->pending = taken;
  f->is_pending = true;
  c->wake[CYCLE_FRONT_END] = now;
}

// ---- the head of the unrolled queue

static cycle_front_cause allocate(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  sim_class unit;
  if (cycle_station_take(c, now, head, &unit)) return CYCLE_FRONT_WORKING;
  if (c->counting) cycle_event(c, ISA_EVENT_STATION_FULL);
  return (cycle_front_cause)(CYCLE_FRONT_FULL + unit);
}

static cycle_front_cause count(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  if (!cycle_counters_ready(c, now)) return CYCLE_FRONT_COUNTER;
  cycle_counters_command(c, now, head->rs1, head->returns);
  return CYCLE_FRONT_WORKING;
}

static cycle_front_cause flush(cycle_engine *c, uint64_t now) {
  cycle_lag_leave(c, now + 1);
  cycle_pages_flush(c, now);
  return CYCLE_FRONT_WORKING;
}

cycle_front_cause cycle_front_end_command(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  switch ((isa_id)head->insn) {
    case ISA_FLUSH:
      return flush(c, now);
    case ISA_CLOCK_GATE:
      return CYCLE_FRONT_WORKING;
    case ISA_COUNTER:
      return count(c, now, head);
    default:
      return allocate(c, now, head);
  }
}

// CYCLE_FRONT_IDLE: there is no command.
static cycle_front_cause step_head(cycle_engine *c, uint64_t now, stage *s) {
  if (!cycle_queue_valid(&s->queue, now)) return CYCLE_FRONT_IDLE;
  const cycle_front_cause cause = cycle_front_end_command(c, now, stage_head(s));
  if (cause == CYCLE_FRONT_WORKING) cycle_queue_pop(&s->queue, now);
  return cause;
}

// ---- the chain

// What goes into the unit behind loop_conv, or behind the command queue if there is none.
static bool source_offer(const cycle_front_end *f, uint64_t now, cycle_front_command *command) {
  if (f->conv != NULL) return cycle_loop_conv_offer(f->conv, now, command);
  if (!cycle_queue_valid(&f->raw.queue, now)) return false;
  *command = *stage_head(&f->raw);
  return true;
}

static bool step_source(cycle_engine *c, uint64_t now, cycle_front_end *f, bool taken) {
  if (f->conv == NULL) {
    if (taken) cycle_queue_pop(&f->raw.queue, now);
    return taken;
  }
  bool changed = cycle_loop_conv_step(c, now, f->conv, taken);
  if (cycle_queue_valid(&f->raw.queue, now) && cycle_loop_conv_room(f->conv, now)) {
    cycle_loop_conv_push(f->conv, now, stage_head(&f->raw));
    cycle_queue_pop(&f->raw.queue, now);
    changed = true;
  }
  return changed;
}

// The unit behind the source is loop_matmul, or there is none.
static bool move_source(cycle_engine *c, uint64_t now, cycle_front_end *f, bool room) {
  cycle_front_command command;
  bool taken = room && source_offer(f, now, &command);
  if (taken && f->matmul != NULL) cycle_loop_matmul_push(f->matmul, now, &command);
  if (taken && f->matmul == NULL) stage_push(&f->unrolled, now, &command);
  return step_source(c, now, f, taken) || taken;
}

static bool step_chain(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  bool room = cycle_queue_room(&f->unrolled.queue, now);
  if (f->matmul == NULL) return move_source(c, now, f, room);
  cycle_front_command command;
  bool taken = room && cycle_loop_matmul_offer(f->matmul, now, &command);
  if (taken) stage_push(&f->unrolled, now, &command);
  bool changed = cycle_loop_matmul_step(c, now, f->matmul, taken);
  return move_source(c, now, f, cycle_loop_matmul_room(f->matmul, now)) || changed;
}

static bool take_pending(cycle_front_end *f, uint64_t now) {
  if (!f->is_pending) return false;
  f->is_pending = false;
  stage_push(&f->raw, now, &f->pending);
  return true;
}

// ---- the cycle

// The head decides what the cycle was spent on; without one it is on its way, or a loop holds it back.
static cycle_front_cause account(const cycle_front_end *f, cycle_front_cause head, bool moved) {
  if (head != CYCLE_FRONT_IDLE) return head;
  if (moved && is_busy(f)) return CYCLE_FRONT_WORKING;
  return loops_busy(f) ? CYCLE_FRONT_LOOP_WAITS : CYCLE_FRONT_IDLE;
}

bool cycle_front_concerned(const cycle_engine *c) {
  const cycle_wires *w = &c->w;
  uint8_t completed = 0;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) completed |= w->matmul_completed[unit] | w->conv_completed[unit];
  return completed != 0 || (cycle_pass_is_open(c) ? cycle_pass_refused(c) : c->front->unrolled.queue.count > 0);
}

// What stands still goes on when an entry of the station becomes free. Commands of loop_conv come by time alone.
static uint64_t next_step(const cycle_engine *c, uint64_t now, const cycle_front_end *f, bool moved) {
  if (moved || (f->unrolled.queue.count > 0 && cycle_station_freed(c, now))) return now + 1;
  const uint64_t offers = f->conv == NULL ? CYCLE_NEVER : cycle_loop_conv_offers_at(f->conv);
  return offers > now ? offers : CYCLE_NEVER;
}

bool cycle_front_step(cycle_engine *c, uint64_t now) {
  cycle_front_end *f = c->front;
  if (cycle_pass_step(c, now)) return true;
  if (c->counting && f->matmul != NULL && cycle_loop_matmul_busy(f->matmul)) cycle_event(c, ISA_EVENT_LOOP_MATMUL_BUSY);
  const cycle_front_cause head = step_head(c, now, &f->unrolled);
  bool moved = step_chain(c, now, f);
  moved |= take_pending(f, now);
  cycle_spend(c, now, CYCLE_FRONT_END, account(f, head, moved));
  moved |= head == CYCLE_FRONT_WORKING || head == CYCLE_FRONT_COUNTER;
  c->wake[CYCLE_FRONT_END] = next_step(c, now, f, moved);
  return moved;
}

// ---- for skip/pass.c

bool cycle_front_rests(const cycle_engine *c) {
  const cycle_front_end *f = c->front;
  if (is_busy(f)) return false;
  return (f->matmul == NULL || !cycle_loop_matmul_due(f->matmul)) && (f->conv == NULL || !cycle_loop_conv_due(f->conv));
}

void cycle_front_count(cycle_engine *c) {
  const cycle_front_end *f = c->front;
  if (f->conv != NULL) cycle_loop_conv_completed(c, f->conv);
  if (f->matmul != NULL) cycle_loop_matmul_completed(c, f->matmul);
}

void cycle_front_fill(cycle_engine *c, uint64_t entered, uint32_t queue, const cycle_front_command *command) {
  cycle_front_end *f = c->front;
  if (queue == 0)
    stage_push(&f->raw, entered, command);
  else if (queue == 1U + (f->matmul != NULL) + (f->conv != NULL))
    stage_push(&f->unrolled, entered, command);
  else if (queue == 1 && f->conv != NULL)
    cycle_loop_conv_push(f->conv, entered, command);
  else
    cycle_loop_matmul_push(f->matmul, entered, command);
}
