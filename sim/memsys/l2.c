// SPDX-License-Identifier: Apache-2.0
// The L2's entrance, and whose turn a cycle is: see l2.h for the rules this file implements.
//
// Time is counted in cycles of the port: a request that the port took in cycle t enters in t + 1, and a beat that
// enters the data pipe in s is at the port in s + tail. Cycles in which nothing can happen are skipped: the next one in
// which something can follows from a few words (next_event). A cycle that is looked at in vain does no harm.
#include <assert.h>

#include "base/alloc.h"
#include "sim/memsys/l2_state.h"

memsys_l2 *memsys_l2_create(const hw_array *array, memsys_backing *memory, memsys_answers *answers,
                            memsys_counts *counts) {
  memsys_l2 *l2 = WF_NEW(memsys_l2);
  l2_tags_init(&l2->tags, array);
  l2->memory = memory;
  l2->answers = answers;
  l2->counts = counts;
  l2->bus_shift = (unsigned)__builtin_ctz(array->dma.bus_bits / 8);
  l2->line_bytes = array->l2.line_bytes;
  l2->tail = array->l2.hit_latency - ENTER_CYCLES - LOOK_CYCLES;
  l2->spacing = memsys_backing_spacing(memory);
  l2->line_cycles = memsys_backing_cycles(memory, l2->line_bytes);
  l2->soonest = memsys_backing_soonest(memory);
  l2->decided_soonest = memsys_backing_decided_soonest(memory);
  l2->bank_shift = (unsigned)__builtin_ctzll(l2->spacing);
  l2->poll_cycles = array->host.poll_cycles;
  l2->poll_at = l2->gate = l2->poll_cycles == 0 ? NEVER : l2->poll_cycles;
  l2->beat_limit = l2->tail + SPARE_BEATS;
  memsys_answers_init(answers, l2->beat_limit + 1);  // each has a beat at least
  unsigned count = array->l2.misses_in_flight;
  assert(count <= REGISTERS);
  l2->all = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
  l2->last_chosen = count - 1;
  l2->first_far = l2->departs_at = NEVER;
  l2->owner = WF_NEW_ARRAY(l2->tags.set_mask + 1, uint16_t);
  l2->pool = WF_NEW_ARRAY(ITEMS, l2_item);
  for (uint16_t i = 0; i < ITEMS; i++) l2->pool[i].next = (uint16_t)(i + 1 < ITEMS ? i + 1 : NONE);
  l2->pool[POLL] = (l2_item){.number = NEVER, .beats = 1, .next = NONE};
  l2->pool_free = POLL + 1;
  l2->queue.head = NONE;
  l2->head_entered = NEVER;
  return l2;
}

void memsys_l2_destroy(memsys_l2 *l2) {
  if (l2 == NULL) return;
  l2_tags_free(&l2->tags);
  wf_free(l2->owner);
  wf_free(l2->pool);
  wf_free(l2);
}

// ---- the entrance

// The polls that began and were answered in the cycles before `cycle`, in which there was nothing else. What the L2
// does in a cycle must not depend on how far it is asked to go.
static void skip_polls(memsys_l2 *l2, uint64_t cycle) {
  uint64_t at = wf_max(wf_max(l2->poll_at, l2->enter_from), l2->now), period = LOOK_CYCLES + l2->tail + l2->poll_cycles;
  if (at + LOOK_CYCLES >= cycle || l2_data_from(l2) > at + LOOK_CYCLES) return;
  if (l2_moves(l2, at + LOOK_CYCLES) || l2->written_until >= at + LOOK_CYCLES) return;
  l2->poll_at = at + ((cycle - LOOK_CYCLES - 1 - at) / period + 1) * period;
  l2->last_chosen = 0;
  l2->tags_full = false;
}

static uint16_t enter(memsys_l2 *l2, uint64_t cycle) {
  const uint16_t place = l2->queue.head;
  const l2_item *work = &l2->pool[place];
  const unsigned beats = work->write ? work->beats : 1;
  l2->queue.head = work->next;
  l2->head_entered = work->next == NONE ? NEVER : l2->pool[work->next].entered;
  l2->queue_beats -= beats;
  l2->enter_from = cycle + beats;
  return place;
}

// The register goes on with the next request of its set. False: there is none. *reads: the tags are read.
static bool go_on(memsys_l2 *l2, unsigned index, uint64_t cycle, bool *reads) {
  l2_station *s = &l2->stations[index];
  const uint16_t last = s->work;
  if (last == POLL) return false;
  const uint64_t done = l2->pool[last].number, set = l2_set_of(&l2->tags, done);
  l2->pool[last].next = l2->pool_free;
  l2->pool_free = last;
  uint16_t next = s->waiting.head;
  if (next != NONE) {
    s->waiting.head = l2->pool[next].next;
  } else if (wf_max(l2->head_entered, l2->enter_from) <= cycle &&
             l2_set_of(&l2->tags, l2->pool[l2->queue.head].number) == set) {
    next = enter(l2, cycle);
  } else {
    l2->owner[set] = 0;
    return false;
  }
  *reads = l2->pool[next].number != done;
  l2_take_up(l2, index, next, cycle, !*reads);
  return true;
}

static void wait_for_set(memsys_l2 *l2, unsigned index, uint16_t place) {
  l2_station *s = &l2->stations[index];
  l2_append(l2, &s->waiting, place);
  if ((l2->arriving & ~l2->unanswered & l2_bit(index)) != 0) l2_set_follower(l2, index);
}

// A request at the entrance, or a poll that was there before. True: it reads the tags.
static bool receive(memsys_l2 *l2, uint64_t cycle, bool tags_busy, uint64_t used) {
  const bool first = l2->poll_at <= l2->head_entered;
  if (first && wf_max(l2->poll_at, l2->enter_from) <= cycle && !tags_busy && used != l2->all) {
    l2_poll(l2, cycle);
    return true;
  }
  if (wf_max(l2->head_entered, l2->enter_from) > cycle) return false;
  uint16_t *owner = &l2->owner[l2_set_of(&l2->tags, l2->pool[l2->queue.head].number)];
  if (*owner != 0) {
    wait_for_set(l2, *owner - 1U, enter(l2, cycle));
    return false;
  }
  if (tags_busy || used == l2->all) return false;
  const unsigned index = l2_take_register(l2);
  *owner = (uint16_t)(index + 1);
  l2_take_up(l2, index, enter(l2, cycle), cycle, false);
  return true;
}

// ---- one cycle

static uint64_t wake_far(memsys_l2 *l2, uint64_t cycle) {
  uint64_t woken = 0;
  l2->first_far = NEVER;
  for (uint64_t left = l2->far; left != 0; left &= left - 1) {
    const unsigned index = (unsigned)__builtin_ctzll(left);
    const uint64_t wake = l2->stations[index].wake;
    if (wake <= cycle)
      woken |= left & -left;
    else if (wake < l2->first_far)
      l2->first_far = wake;
  }
  l2->far &= ~woken;
  return woken;
}

static void wake_up(memsys_l2 *l2, uint64_t cycle) {
  const unsigned place = (unsigned)(cycle % NEARBY);
  uint64_t woken = 0;
  if ((l2->marked >> place & 1) != 0) {
    woken = l2->nearby[place];
    l2->nearby[place] = 0;
    l2->marked &= ~l2_bit(place);
  }
  if (l2->first_far <= cycle) woken |= wake_far(l2, cycle);
  l2->awake |= woken;
  for (uint64_t left = woken & l2->arriving; left != 0; left &= left - 1)
    l2_look_at_arriving(l2, (unsigned)__builtin_ctzll(left), cycle);
}

// The registers that can take the turn of `cycle`.
static uint64_t takers(memsys_l2 *l2, uint64_t cycle) {
  uint64_t can = l2->awake;
  if (l2->tags_full) can &= ~l2->needs_tags;
  if ((can & l2->evictions) != 0 && l2_evicts_from(l2, cycle) > cycle) can &= ~l2->evictions;
  if ((can & l2->needs_pipe) != 0 && l2_data_from(l2) > cycle) can &= ~l2->needs_pipe;
  return can;
}

// Of the registers that can, the first behind the one chosen last.
static unsigned choose(const memsys_l2 *l2, uint64_t can) {
  const uint64_t behind = can & ~UINT64_C(1) << l2->last_chosen;
  return (unsigned)__builtin_ctzll(behind != 0 ? behind : can);
}

static void carry_out(memsys_l2 *l2, uint64_t cycle) {
  bool note = false, reads = false, open = l2->gate <= cycle;
  uint64_t freed = 0;
  const uint64_t used = l2->used;
  wake_up(l2, cycle);
  const uint64_t can = l2->awake == 0 ? 0 : takers(l2, cycle);
  if (can != 0 || l2_decisions_from(l2) <= cycle) l2_decide(l2, cycle);
  if (l2->departs_at <= cycle) l2_see_off(l2, cycle);
  if (can != 0) {
    const unsigned index = l2->last_chosen = choose(l2, can);
    note = (l2->needs_tags & l2_bit(index)) != 0;
    if (l2_step(l2, index, cycle)) {
      if (!go_on(l2, index, cycle, &reads)) freed = l2_bit(index);
      open = true;
    }
  }
  if (open) {
    reads |= receive(l2, cycle, reads, used);
    l2->used &= ~freed;
    l2_set_gate(l2);
  }
  l2->tags_full = l2->tags_full ? reads : note;
}

// The earliest cycle, from the one at hand on, in which a register that is awake can take a turn: all need a pipe.
static uint64_t next_turn(memsys_l2 *l2, uint64_t now) {
  const uint64_t awake = l2->awake, tags = now + l2->tags_full;
  uint64_t next = NEVER;
  if ((awake & l2->needs_pipe) != 0) next = wf_max(now, l2_data_from(l2));
  if ((awake & l2->evictions) != 0) next = wf_min(next, l2_evicts_from(l2, tags));
  return (awake & ~l2->needs_pipe & ~l2->evictions) != 0 ? wf_min(next, tags) : next;
}

// The earliest cycle, from the one at hand on, in which something can happen.
static inline uint64_t next_event(memsys_l2 *l2, uint64_t now) {
  uint64_t next = wf_min(wf_min(l2->gate, l2->first_far), wf_min(l2_decisions_from(l2), l2->departs_at));
  if (l2->awake != 0) {
    if ((l2->awake & ~(l2->needs_pipe | l2->needs_tags)) != 0) return now;
    next = wf_min(next, next_turn(l2, now));
  }
  if (l2->marked != 0) {
    // Rotated: the cycle at hand is bit 0.
    const uint64_t place = now % NEARBY, coming = l2->marked >> place | l2->marked << (NEARBY - place) % NEARBY;
    next = wf_min(next, now + (unsigned)__builtin_ctzll(coming));
  }
  return wf_max(next, now);
}

// Only polls are there.
static uint64_t next_without_polls(memsys_l2 *l2, uint64_t cycle) {
  skip_polls(l2, wf_min(wf_max(l2->head_entered, l2->enter_from), cycle));
  l2_set_gate(l2);
  return next_event(l2, l2->now);
}

void memsys_l2_run(memsys_l2 *l2, uint64_t cycle) {
  while (l2->now < cycle) {
    uint64_t next = next_event(l2, l2->now);
    if (next < cycle && l2->used == 0 && l2->poll_at != NEVER) next = next_without_polls(l2, cycle);
    if (next > l2->now) l2->tags_full = false;  // a cycle passes that reads no tags
    if (next >= cycle) {
      l2->now = cycle;
      return;
    }
    l2->now = next;
    carry_out(l2, next);
    l2->now = next + 1;
  }
}
