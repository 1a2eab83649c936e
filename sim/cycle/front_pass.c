// SPDX-License-Identifier: Apache-2.0
// Commands that only pass the front end: see front_pass.h.
//
// Invariant: the time at which a command leaves a queue is known as soon as the three times that it depends on are.
#include "sim/cycle/front_pass.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "sim/cycle/reservation_station.h"

// Sums up what changes with a command that came or left.
static void look(cycle_front_pass *p) {
  const uint64_t head = cycle_pass_empty(p) ? CYCLE_NEVER : cycle_pass_head(p)->left[p->last - 1];
  const uint64_t room = cycle_pass_at(p, p->pushed - CYCLE_PASS_ROOM)->left[0];
  p->head_at = head == CYCLE_NEVER ? CYCLE_NEVER : head + 1;
  p->room_at = room == CYCLE_NEVER ? CYCLE_NEVER : room + 1;
}

void cycle_pass_open(cycle_front_pass *p, uint32_t queues) {
  assert(queues >= 2 && queues <= CYCLE_PASS_QUEUES);
  memset(p, 0, sizeof *p);
  p->open = true;
  p->last = queues - 1;
  p->pushed = p->taken = CYCLE_PASS_RING;
  look(p);
}

// False: what it depends on is not known.
static bool find_left(cycle_front_pass *p, uint32_t number, uint32_t queue) {
  cycle_pass_command *x = cycle_pass_at(p, number);
  const uint64_t came = queue == 0 ? x->pushed : x->left[queue - 1];
  const uint64_t before = cycle_pass_at(p, number - 1)->left[queue];
  const uint64_t room = cycle_pass_at(p, number - CYCLE_PASS_ROOM)->left[queue + 1];
  const uint64_t latest = wf_max(wf_max(came, before), room);
  if (latest == CYCLE_NEVER) return false;
  x->left[queue] = latest + 1;
  return true;
}

void cycle_pass_push(cycle_front_pass *p, uint64_t now, const cycle_front_command *command) {
  cycle_pass_command *x = cycle_pass_at(p, p->pushed);
  x->command = *command;
  x->unit = cycle_station_class(command->insn);
  x->pushed = now;
  for (uint32_t q = 0; q <= p->last; q++) x->left[q] = CYCLE_NEVER;
  for (uint32_t q = 0; q < p->last && find_left(p, p->pushed, q); q++) continue;
  p->pushed++;
  look(p);
}

void cycle_pass_take(cycle_front_pass *p, uint64_t now) {
  assert(p->head_at <= now);
  uint32_t number = p->taken++;
  cycle_pass_at(p, number)->left[p->last] = now;
  for (uint32_t q = p->last; q-- > 0;) {
    number += CYCLE_PASS_ROOM;
    if ((int32_t)(number - p->pushed) >= 0) break;
    find_left(p, number, q);
  }
  look(p);
}
