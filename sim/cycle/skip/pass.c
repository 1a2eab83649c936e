// SPDX-License-Identifier: Apache-2.0
// Commands that only pass the front end. While no loop unit has a loop, and none is on its way to one, the queues
// between the command queue and the reservation station do nothing but hold commands back. A command that comes to an
// empty chain and is not for a loop unit is kept as times instead, and so are the commands behind it.
//
// Queue q of the chain (0: the command queue, `last`: the unrolled queue) holds two commands, latency 1, and has room
// in the cycle after one has left. So command n leaves queue q < last in
//   left[q](n) = 1 + max(left[q - 1](n), left[q](n - 1), left[q + 1](n - 2))
// where left[-1](n) is the cycle in which it was pushed; only the last queue is left when the station says so. What
// follows from a command that leaves there is found at once: one time for each queue.
//
// enter     with a command to an empty chain (cycle_pass_push)
// catch up  what cycles were spent on that lay ahead (cycle_pass_catch_up)
// leave     with a command for a loop unit, or when a counter counts: commands are put where they would be
//
// Invariant: the time at which a command leaves a queue is known as soon as the three times that it depends on are.
#include "sim/cycle/skip/pass.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "sim/cycle/front_end.h"
#include "sim/cycle/reservation_station.h"

void cycle_pass_create(cycle_engine *c) { c->pass = WF_NEW(cycle_pass); }
void cycle_pass_destroy(cycle_engine *c) { wf_free(c->pass); }

// ---- times

static cycle_pass_command *at_number(cycle_pass *p, uint32_t number) { return &p->of[number % CYCLE_PASS_RING]; }

static cycle_pass_command *head_of(cycle_pass *p) { return at_number(p, p->taken); }

// Sums up what changes with a command that came or left.
static void look(cycle_pass *p) {
  const uint64_t head = p->pushed == p->taken ? CYCLE_NEVER : head_of(p)->left[p->last - 1];
  const uint64_t room = at_number(p, p->pushed - CYCLE_PASS_ROOM)->left[0];
  p->head_at = head == CYCLE_NEVER ? CYCLE_NEVER : head + 1;
  p->room_at = room == CYCLE_NEVER ? CYCLE_NEVER : room + 1;
}

// False: what it depends on is not known.
static bool find_left(cycle_pass *p, uint32_t number, uint32_t queue) {
  cycle_pass_command *x = at_number(p, number);
  const uint64_t came = queue == 0 ? x->pushed : x->left[queue - 1];
  const uint64_t before = at_number(p, number - 1)->left[queue];
  const uint64_t room = at_number(p, number - CYCLE_PASS_ROOM)->left[queue + 1];
  const uint64_t latest = wf_max(wf_max(came, before), room);
  if (latest == CYCLE_NEVER) return false;
  x->left[queue] = latest + 1;
  return true;
}

static void enter_queues(cycle_pass *p, uint64_t now, const cycle_front_command *command) {
  cycle_pass_command *x = at_number(p, p->pushed);
  x->command = *command;
  x->unit = cycle_station_class(command->insn);
  x->pushed = now;
  for (uint32_t q = 0; q <= p->last; q++) x->left[q] = CYCLE_NEVER;
  for (uint32_t q = 0; q < p->last && find_left(p, p->pushed, q); q++) continue;
  p->pushed++;
  look(p);
}

// The head of the last queue leaves.
static void leave_queues(cycle_pass *p, uint64_t now) {
  assert(p->head_at <= now);
  uint32_t number = p->taken++;
  at_number(p, number)->left[p->last] = now;
  for (uint32_t q = p->last; q-- > 0;) {
    number += CYCLE_PASS_ROOM;
    if ((int32_t)(number - p->pushed) >= 0) break;
    find_left(p, number, q);
  }
  look(p);
}

// ---- enter, catch up, leave

// The chain is empty, as it has been since the cycle before this one at least.
bool cycle_pass_enter(cycle_engine *c, uint64_t from) {
  cycle_pass *p = c->pass;
  (void)from;
  if (!cycle_skips(c, PASS) || !cycle_front_rests(c)) return false;
  memset(p, 0, sizeof *p);
  p->open = true;
  p->last = 1U + c->array->units.loop_matmul + c->array->units.loop_conv;
  p->pushed = p->taken = CYCLE_PASS_RING;
  p->later_at = CYCLE_NEVER;
  look(p);
  return true;
}

void cycle_pass_catch_up(cycle_engine *c, uint64_t now) {
  cycle_pass *p = c->pass;
  if (!p->open || p->later_at > now) return;
  cycle_spend(c, p->later_at, CYCLE_FRONT_END, p->later);
  p->later_at = CYCLE_NEVER;
}

// Puts the command into its queue as it is at the start of cycle `at`.
static void put_back(cycle_engine *c, const cycle_pass_command *x, uint64_t at) {
  uint32_t queue = 0;
  uint64_t entered = x->pushed;
  for (; queue < c->pass->last && x->left[queue] < at; queue++) entered = x->left[queue];
  cycle_front_fill(c, entered, queue, &x->command);
}

void cycle_pass_leave(cycle_engine *c, uint64_t at) {
  cycle_pass *p = c->pass;
  if (!p->open) return;
  cycle_pass_catch_up(c, at);
  for (uint32_t n = p->taken; n != p->pushed; n++) put_back(c, at_number(p, n), at);
  p->open = p->refused = false;
  c->wake[CYCLE_FRONT_END] = at;
}

// ---- the cycle

static void plan_to_spend(cycle_pass *p, uint64_t at, unsigned cause) {
  p->later_at = at;
  p->later = cause;
}

static bool is_for_loops(const cycle_front_command *command) {
  const isa_unit unit = isa_insn_at(command->insn)->unit;
  return unit == ISA_UNIT_LOOP_MATMUL || unit == ISA_UNIT_LOOP_CONV;
}

bool cycle_pass_push(cycle_engine *c, uint64_t now, const cycle_front_command *command) {
  cycle_pass *p = c->pass;
  if (is_for_loops(command)) {
    cycle_pass_leave(c, now);
    return false;
  }
  if (!p->open && !cycle_pass_enter(c, now)) return false;
  cycle_pass_catch_up(c, now);
  const bool first = p->pushed == p->taken;
  enter_queues(p, now, command);
  if (!first) return true;
  p->later_at = CYCLE_NEVER;
  cycle_spend(c, now, CYCLE_FRONT_END, CYCLE_FRONT_WORKING);
  c->wake[CYCLE_FRONT_END] = p->head_at;
  return true;
}

// At the end of this cycle. A head that finds no entry in the next cycle is refused then: nothing but a completion
// helps, and the front end is stepped with it (cycle_front_concerned).
static void await_head(cycle_engine *c, uint64_t now, cycle_pass *p) {
  const uint64_t at = p->head_at, next = now + 1;
  const cycle_pass_command *head = head_of(p);
  c->wake[CYCLE_FRONT_END] = at > next ? at : next;
  if (at == CYCLE_NEVER) plan_to_spend(p, next, CYCLE_FRONT_IDLE);
  if (at > next || head->unit == SIM_CLASSES || !cycle_station_full(c, head->unit)) return;
  if (!p->refused) plan_to_spend(p, next, CYCLE_FRONT_FULL + head->unit);
  p->refused = true;
  c->wake[CYCLE_FRONT_END] = CYCLE_NEVER;
}

bool cycle_pass_step(cycle_engine *c, uint64_t now) {
  cycle_pass *p = c->pass;
  if (!p->open) return false;
  cycle_pass_catch_up(c, now);
  p->refused = false;
  if (p->head_at <= now) {
    const cycle_front_cause cause = cycle_front_end_command(c, now, &head_of(p)->command);
    if (cause == CYCLE_FRONT_WORKING) leave_queues(p, now);
    cycle_spend(c, now, CYCLE_FRONT_END, cause);
    p->refused = cause >= CYCLE_FRONT_FULL && cause < CYCLE_FRONT_COUNTER;
  }
  cycle_front_count(c);
  await_head(c, now, p);
  return true;
}
