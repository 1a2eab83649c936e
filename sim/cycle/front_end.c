// SPDX-License-Identifier: Apache-2.0
// Front end (hw/rtl/weft_front_end.sv): takes RoCC commands, unrolls loops, and hands the result to the reservation
// station in order. See front_end.h for the chain; every arrow of it is a queue of two with a latency of one cycle.
//
// At the head of the unrolled queue the commands that are not for the reservation station end, in program order but
// without waiting for older ones to finish: flush, clock_gate (nothing to do: there is no gated clock) and counter
// commands.
//
// A command is pushed before its cycle is carried out; it stays pending until the cycle's own step puts it into the
// command queue.
//
// A step has something to do only in the cycle of a push and as long as commands can move; the wake time is the next
// such cycle (plan). A command from a loop unit on its way to the head of an empty unrolled queue is invisible until it
// is there. While nothing else can move, the chain stays behind; it is carried out up to now (catch_up) in the step in
// which the command is at the head, or before completions are counted.
//
// A command that comes to an empty chain and is not for a loop unit is kept in `pass` instead of the queues, and so are
// the commands behind it. When a command for a loop unit comes, or a counter is in use, they are put into the queues
// where they would be (stop_passing). The head of `pass` gets its entry one cycle early, together with the event that
// makes room for it, if no unit can see the difference (take_early).
#include "sim/cycle/front_end.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/counters.h"
#include "sim/cycle/front_pass.h"
#include "sim/cycle/loop_conv.h"
#include "sim/cycle/loop_matmul.h"
#include "sim/cycle/page_filter.h"
#include "sim/cycle/port.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/reservation_station.h"

enum { QUEUE = 2 };

// LOAD_FULL to STORE_FULL in the order of sim_class.
typedef enum {
  FRONT_IDLE,
  FRONT_WORKING,
  FRONT_LOAD_FULL,
  FRONT_EXECUTE_FULL,
  FRONT_STORE_FULL,
  FRONT_COUNTER,
  FRONT_LOOP_WAITS,
  FRONT_CAUSES
} front_cause;
_Static_assert((int)FRONT_CAUSES <= (int)CYCLE_CAUSES, "more causes than a report has room for");

const char *const cycle_front_end_causes[CYCLE_CAUSES] = {
    [FRONT_IDLE] = "idle",
    [FRONT_WORKING] = "working",
    [FRONT_LOAD_FULL] = "load entries full",
    [FRONT_EXECUTE_FULL] = "execute entries full",
    [FRONT_STORE_FULL] = "store entries full",
    [FRONT_COUNTER] = "counter response pending",
    [FRONT_LOOP_WAITS] = "loop waits for its commands",
};

typedef struct stage {
  cycle_queue queue;
  cycle_front_command commands[QUEUE];
} stage;

typedef struct cycle_front_end {
  cycle_loop_matmul *matmul;  // NULL: the array lacks it
  cycle_loop_conv *conv;
  bool is_pending;
  bool refused;  // the head of the unrolled queue found no entry
  bool behind;   // the chain has not been stepped in cycle `at` and those after it
  uint64_t at;
  uint64_t stepped;   // the last cycle whose step of the chain was made in the cycle before it
  uint64_t early;     // the last cycle whose allocation was made in the cycle before it
  uint64_t later_at;  // from then on cycles are spent on `later`; CYCLE_NEVER: nothing is planned
  front_cause later;
  cycle_front_command pending;
  stage raw, unrolled;
  cycle_front_pass pass;
} cycle_front_end;

// ---- life

void cycle_front_create(cycle_engine *c) {
  cycle_front_end *f = c->front = WF_NEW(cycle_front_end);
  f->stepped = f->early = f->later_at = CYCLE_NEVER;
  cycle_queue_init(&f->raw.queue, QUEUE, 1, false);
  cycle_queue_init(&f->unrolled.queue, QUEUE, 1, false);
  if (c->array->units.loop_matmul) f->matmul = cycle_loop_matmul_create(c);
  if (c->array->units.loop_conv) f->conv = cycle_loop_conv_create(c);
}

void cycle_front_destroy(cycle_engine *c) {
  cycle_front_end *f = c->front;
  if (f == NULL) return;
  if (f->matmul != NULL) cycle_loop_matmul_destroy(f->matmul);
  if (f->conv != NULL) cycle_loop_conv_destroy(f->conv);
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
  const cycle_front_end *f = c->front;
  return f->pass.open ? !cycle_pass_empty(&f->pass) : f->is_pending || is_busy(f);
}

uint64_t cycle_front_ready_at(const cycle_engine *c) {
  const cycle_front_end *f = c->front;
  return f->pass.open ? f->pass.room_at : CYCLE_NEVER;
}

bool cycle_front_ready(const cycle_engine *c, uint64_t now) {
  const cycle_front_end *f = c->front;
  if (f->pass.open) return f->pass.room_at <= now;
  return !f->is_pending && cycle_queue_room(&f->raw.queue, now);
}

// What was planned for the cycles that have come is noted.
void cycle_front_settle(cycle_engine *c, uint64_t now) {
  cycle_front_end *f = c->front;
  if (f->later_at > now) return;
  cycle_spend(c, f->later_at, CYCLE_FRONT_END, f->later);
  f->later_at = CYCLE_NEVER;
}

static void plan_to_spend(cycle_front_end *f, uint64_t at, front_cause cause) {
  f->later_at = at;
  f->later = cause;
}

static bool is_for_loops(const isa_insn *insn) {
  return insn->unit == ISA_UNIT_LOOP_MATMUL || insn->unit == ISA_UNIT_LOOP_CONV;
}

// Nothing is on its way, and the loop units have nothing to do.
static bool may_pass(const cycle_engine *c, const cycle_front_end *f) {
  if (c->eager || c->counting || is_busy(f)) return false;
  return (f->matmul == NULL || !cycle_loop_matmul_due(f->matmul)) && (f->conv == NULL || !cycle_loop_conv_due(f->conv));
}

static void pass_on(cycle_engine *c, uint64_t now, cycle_front_end *f, const cycle_front_command *command) {
  cycle_front_pass *p = &f->pass;
  const bool first = cycle_pass_empty(p);
  cycle_pass_push(p, now, command);
  if (!first) return;
  f->later_at = CYCLE_NEVER;
  cycle_spend(c, now, CYCLE_FRONT_END, FRONT_WORKING);
  c->wake[CYCLE_FRONT_END] = p->head_at;
}

// Puts the command into its queue as it is at the start of cycle `at`.
static void put_back(cycle_front_end *f, const cycle_pass_command *x, uint64_t at) {
  uint32_t queue = 0;
  uint64_t entered = x->pushed;
  for (; queue < f->pass.last && x->left[queue] < at; queue++) entered = x->left[queue];
  if (queue == 0)
    stage_push(&f->raw, entered, &x->command);
  else if (queue == f->pass.last)
    stage_push(&f->unrolled, entered, &x->command);
  else if (queue == 1 && f->conv != NULL)
    cycle_loop_conv_push(f->conv, entered, &x->command);
  else
    cycle_loop_matmul_push(f->matmul, entered, &x->command);
}

// A command that was taken early has not left in the hardware.
static void stop_passing(cycle_front_end *f, uint64_t at) {
  cycle_front_pass *p = &f->pass;
  const bool early = f->early == at;
  for (uint32_t n = p->taken - early; n != p->pushed; n++) put_back(f, cycle_pass_at(p, n), at);
  p->open = f->refused = f->behind = false;
  f->later_at = CYCLE_NEVER;
}

void cycle_front_push(cycle_engine *c, uint64_t now, const arch_command *command) {
  cycle_front_end *f = c->front;
  assert(cycle_front_ready(c, now));
  cycle_front_settle(c, now);
  const cycle_front_command taken = {
      .rs1 = command->rs1, .rs2 = command->rs2, .insn = (uint8_t)command->insn->id, .returns = command->returns};
  const bool passes = !is_for_loops(command->insn);
  if (!passes && f->pass.open) stop_passing(f, now);
  if (passes && !f->pass.open && may_pass(c, f))
    cycle_pass_open(&f->pass, 2U + (f->matmul != NULL) + (f->conv != NULL));
  if (f->pass.open) {
    pass_on(c, now, f, &taken);
    return;
  }
  f->pending = taken;
  f->is_pending = true;
  c->wake[CYCLE_FRONT_END] = now;
}

// ---- the head of the unrolled queue

static front_cause allocate(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  sim_class unit;
  if (cycle_station_take(c, now, head, &unit)) return FRONT_WORKING;
  c->front->refused = true;
  if (c->counting) cycle_event(c, ISA_EVENT_STATION_FULL);
  return (front_cause)(FRONT_LOAD_FULL + unit);
}

static front_cause count(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  if (!cycle_counters_ready(c, now)) return FRONT_COUNTER;
  cycle_counters_command(c, now, head->rs1, head->returns);
  return FRONT_WORKING;
}

static front_cause flush(cycle_engine *c, uint64_t now) {
  cycle_port_end(c, now);
  cycle_pages_flush(c, now);
  return FRONT_WORKING;
}

// FRONT_WORKING: the command left.
static front_cause end_command(cycle_engine *c, uint64_t now, const cycle_front_command *head) {
  switch ((isa_id)head->insn) {
    case ISA_FLUSH:
      return flush(c, now);
    case ISA_CLOCK_GATE:
      return FRONT_WORKING;
    case ISA_COUNTER:
      return count(c, now, head);
    default:
      return allocate(c, now, head);
  }
}

// FRONT_IDLE: there is no command.
static front_cause step_head(cycle_engine *c, uint64_t now, const cycle_front_end *f, stage *s) {
  if (f->early == now) {  // it has an entry
    cycle_queue_pop(&s->queue, now);
    return FRONT_WORKING;
  }
  if (!cycle_queue_valid(&s->queue, now)) return FRONT_IDLE;
  front_cause cause = end_command(c, now, stage_head(s));
  if (cause == FRONT_WORKING) cycle_queue_pop(&s->queue, now);
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

// The head decides what the cycle was spent on; without one it is on its way, or a loop holds it back.
static front_cause account(const cycle_front_end *f, front_cause head, bool moved) {
  if (head != FRONT_IDLE) return head;
  if (moved && is_busy(f)) return FRONT_WORKING;
  return loops_busy(f) ? FRONT_LOOP_WAITS : FRONT_IDLE;
}

// ---- what comes next

static bool source_due(const cycle_front_end *f) {
  if (f->conv == NULL) return false;
  return cycle_loop_conv_due(f->conv) || (f->raw.queue.count > 0 && cycle_loop_conv_waiting(f->conv) < QUEUE);
}

// The earliest cycle after this one in which the source offers a command; CYCLE_NEVER: none is in sight.
static uint64_t source_offers(const cycle_front_end *f, uint64_t now) {
  uint64_t next = now + 1, at = f->raw.queue.count > 0 ? 0 : CYCLE_NEVER;
  if (f->conv != NULL) at = cycle_loop_conv_offers_at(f->conv);
  return at > next ? at : next;
}

// In the next two cycles nothing enters the chain or leaves the command queue.
static bool is_steady(const cycle_front_end *f) {
  bool raw_waits = f->raw.queue.count > 0;
  if (f->matmul != NULL && !cycle_loop_matmul_steady(f->matmul)) return false;
  if (f->conv != NULL && cycle_loop_conv_active(f->conv))
    return cycle_loop_conv_steady(f->conv) && (!raw_waits || cycle_loop_conv_waiting(f->conv) == QUEUE) &&
           (f->matmul == NULL || !cycle_loop_matmul_active(f->matmul));
  unsigned source = f->conv != NULL ? cycle_loop_conv_waiting(f->conv) : 0;
  if (source == 0 && !raw_waits) return true;
  // Full queues all the way, of commands that are not for loop_conv.
  if (f->matmul == NULL || cycle_loop_matmul_waiting(f->matmul) < QUEUE) return false;
  if (!cycle_loop_matmul_active(f->matmul) || source_due(f)) return false;
  return f->conv == NULL || !raw_waits || source == QUEUE;
}

// The earliest cycle in which the chain has to be stepped; CYCLE_NEVER: when the next command or completion comes.
// `lead`: a command is at the head of the unrolled queue at least so many cycles later.
static uint64_t chain_moves(const cycle_front_end *f, uint64_t now, unsigned *lead) {
  uint64_t next = now + 1;
  bool room = f->unrolled.queue.count < QUEUE;
  *lead = 0;
  if (f->matmul != NULL) {
    if (cycle_loop_matmul_due(f->matmul)) return next;
    if (room && cycle_loop_matmul_offers(f->matmul)) {
      *lead = 1;
      return next;
    }
    room = cycle_loop_matmul_waiting(f->matmul) < QUEUE;
  }
  if (source_due(f)) return next;
  *lead = f->matmul != NULL ? 2 : 1;
  return room ? source_offers(f, now) : CYCLE_NEVER;
}

// Sets the wake time from what stands at the end of this cycle. `freed`: an entry of the station became free in it.
static void plan(cycle_engine *c, uint64_t now, cycle_front_end *f, bool freed) {
  unsigned lead;
  f->behind = false;
  if (f->unrolled.queue.count > 0 && (!f->refused || freed)) {
    c->wake[CYCLE_FRONT_END] = now + 1;
    return;
  }
  uint64_t next = chain_moves(f, now, &lead);
  c->wake[CYCLE_FRONT_END] = next;
  if (next == CYCLE_NEVER || lead == 0 || f->unrolled.queue.count > 0 || !is_steady(f)) return;
  f->behind = true;
  f->at = next;
  c->wake[CYCLE_FRONT_END] = next + lead;
}

// The cycle of an early allocation was left out, too; beside its command nothing moves in it or after it.
static void leave_early(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  step_head(c, now, f, &f->unrolled);
  cycle_spend(c, now, CYCLE_FRONT_END, FRONT_WORKING);
  cycle_spend(c, now + 1, CYCLE_FRONT_END, account(f, FRONT_IDLE, false));
  f->behind = false;
}

// Steps the chain in the cycles before `end` in which it was left out. Completions of this cycle do not belong to them.
static void catch_up(cycle_engine *c, cycle_front_end *f, uint64_t end) {
  if (!f->behind || f->at >= end) return;
  uint8_t completed[2][SIM_CLASSES];
  memcpy(completed[0], c->w.matmul_completed, sizeof completed[0]);
  memcpy(completed[1], c->w.conv_completed, sizeof completed[1]);
  memset(c->w.matmul_completed, 0, sizeof completed[0]);
  memset(c->w.conv_completed, 0, sizeof completed[1]);
  for (; f->behind && f->at < end; f->at++) {
    if (f->at == f->early)
      leave_early(c, f->at, f);
    else
      cycle_spend(c, f->at, CYCLE_FRONT_END, account(f, FRONT_IDLE, step_chain(c, f->at, f)));
  }
  memcpy(c->w.matmul_completed, completed[0], sizeof completed[0]);
  memcpy(c->w.conv_completed, completed[1], sizeof completed[1]);
}

static bool count_completed(const cycle_engine *c, cycle_front_end *f) {
  bool conv = f->conv != NULL && cycle_loop_conv_completed(c, f->conv);
  bool matmul = f->matmul != NULL && cycle_loop_matmul_completed(c, f->matmul);
  return conv || matmul;
}

// After a plan. A command that loop_matmul offers in the next cycle, to an empty unrolled queue, gets its entry now,
// two cycles early. If nothing follows it, the chain stays behind until a command or a completion comes.
static void take_offer(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  cycle_front_command command;
  unsigned lead;
  if (!f->behind || f->at != now + 1 || c->wake[CYCLE_FRONT_END] != now + 2 || f->matmul == NULL) return;
  if (!cycle_loop_matmul_active(f->matmul) || !cycle_loop_matmul_offer(f->matmul, now, &command)) return;
  if (!cycle_station_take_early(c, now, &command, cycle_station_class(command.insn), 2)) return;
  f->early = now + 2;
  f->stepped = now + 1;
  catch_up(c, f, f->early);
  f->behind = chain_moves(f, now + 1, &lead) == CYCLE_NEVER;
  c->wake[CYCLE_FRONT_END] = f->behind ? CYCLE_NEVER : f->early;
}

// ---- commands that only pass

// The head that will be there in the next cycle enters the station now.
static bool take_early(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  const uint64_t next = now + 1;
  const cycle_pass_command *head = cycle_pass_head(&f->pass);
  if (f->pass.head_at > next || c->counting || head->unit == SIM_CLASSES) return false;
  if (!cycle_station_take_early(c, now, &head->command, head->unit, 1)) return false;
  cycle_pass_take(&f->pass, next);
  cycle_spend(c, next, CYCLE_FRONT_END, FRONT_WORKING);
  f->later_at = CYCLE_NEVER;
  f->early = next;
  f->refused = false;
  return true;
}

// At the end of this cycle. A head that finds no entry in the next cycle is refused then: nothing but a completion
// helps, and that is told (cycle_front_completed).
static void await_head(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  const uint64_t at = f->pass.head_at, next = now + 1;
  const cycle_pass_command *head = cycle_pass_head(&f->pass);
  c->wake[CYCLE_FRONT_END] = at > next ? at : next;
  if (at == CYCLE_NEVER) plan_to_spend(f, next, FRONT_IDLE);
  if (at > next || c->counting || head->unit == SIM_CLASSES || !cycle_station_full(c, head->unit)) return;
  if (!f->refused) plan_to_spend(f, next, (front_cause)(FRONT_LOAD_FULL + head->unit));
  f->refused = true;
  c->wake[CYCLE_FRONT_END] = CYCLE_NEVER;
}

static void plan_pass(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  const bool early = take_early(c, now, f);
  await_head(c, early ? now + 1 : now, f);
}

static void step_pass(cycle_engine *c, uint64_t now, cycle_front_end *f) {
  cycle_front_pass *p = &f->pass;
  f->refused = false;
  if (p->head_at <= now) {
    const front_cause cause = end_command(c, now, &cycle_pass_head(p)->command);
    if (cause == FRONT_WORKING) cycle_pass_take(p, now);
    cycle_spend(c, now, CYCLE_FRONT_END, cause);
  }
  cycle_station_report(c, now);
  count_completed(c, f);
  plan_pass(c, now, f);
  if (c->counting) stop_passing(f, now + 1);
}

// The completions are counted now, and so count from the next cycle on as those of a step would.
void cycle_front_completed(cycle_engine *c, uint64_t now) {
  cycle_front_end *f = c->front;
  cycle_front_settle(c, now);
  catch_up(c, f, now + 1);
  const bool counted = count_completed(c, f);
  if (f->pass.open) {
    if (f->refused) plan_pass(c, now, f);
    return;
  }
  if (!counted && !f->refused && !f->behind) return;
  plan(c, now, f, true);
  take_offer(c, now, f);
}

bool cycle_front_step(cycle_engine *c, uint64_t now) {
  if (!cycle_front_awake(c, now)) return false;
  cycle_front_end *f = c->front;
  cycle_front_settle(c, now);
  if (f->pass.open) {
    step_pass(c, now, f);
    return true;
  }
  stage *unrolled = &f->unrolled;
  catch_up(c, f, now);
  if (c->counting && f->matmul != NULL && cycle_loop_matmul_busy(f->matmul)) cycle_event(c, ISA_EVENT_LOOP_MATMUL_BUSY);
  f->refused = false;
  front_cause head = step_head(c, now, f, unrolled);
  bool left = head == FRONT_WORKING, freed = cycle_station_report(c, now);
  bool moved = f->stepped == now ? count_completed(c, f) : step_chain(c, now, f);
  moved |= take_pending(f, now);
  cycle_spend(c, now, CYCLE_FRONT_END, account(f, head, moved));
  plan(c, now, f, freed);
  if (unrolled->queue.count == 0 && c->wake[CYCLE_FRONT_END] != now + 1)
    cycle_spend(c, now + 1, CYCLE_FRONT_END, account(f, FRONT_IDLE, false));
  return moved || left;
}
