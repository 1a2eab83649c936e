// SPDX-License-Identifier: Apache-2.0
// The work of the L2's registers: see l2.h for the rules.
//
// What a register does next is a place in masks, so that all that can take a turn in a cycle are found at once.
#include "sim/memsys/l2_state.h"

// ---- a request

// The register is looked at again in `at`, after the cycle at hand.
static void look_at(memsys_l2 *l2, unsigned index, uint64_t at) {
  at = wf_max(at, l2->now + 1);
  if (at - l2->now < NEARBY) {
    l2->marked |= l2_bit(at % NEARBY);
    l2->nearby[at % NEARBY] |= l2_bit(index);
    return;
  }
  l2->stations[index].wake = at;
  l2->far |= l2_bit(index);
  if (at < l2->first_far) l2->first_far = at;
}

// It wants a turn from `ripe` on, for which a pipe is needed that is not free before `pipe`.
static void sleep_until(memsys_l2 *l2, unsigned index, uint64_t ripe, uint64_t pipe) {
  if (ripe <= pipe)
    l2->awake |= l2_bit(index);
  else
    look_at(l2, index, ripe);
}

static void plan_hit(memsys_l2 *l2, unsigned index, bool dirties) {
  const uint64_t bit = l2_bit(index);
  l2->needs_pipe |= bit;
  l2->needs_tags = dirties ? l2->needs_tags | bit : l2->needs_tags & ~bit;
}

static void plan_miss(memsys_l2 *l2, unsigned index, bool evicts) {
  const uint64_t bit = l2_bit(index);
  l2->needs_pipe &= ~bit;
  l2->needs_tags = evicts ? l2->needs_tags | bit : l2->needs_tags & ~bit;
  *(evicts ? &l2->evictions : &l2->asks) |= bit;
  l2->stations[index].released = 0;
}

void l2_take_up(memsys_l2 *l2, unsigned index, uint16_t place, uint64_t cycle, bool same) {
  l2_station *s = &l2->stations[index];
  const l2_item *work = &l2->pool[place];
  s->work = place;
  l2_found found = {.line = s->line, .hit = true};
  if (!same) found = l2_tags_read(&l2->tags, work->number);
  s->line = found.line;
  uint64_t ripe = cycle + (same ? 1 : LOOK_CYCLES) + work->late, pipe = l2->data_free;
  if (found.hit) {
    plan_hit(l2, index, work->write && !found.line->dirty);
    if (found.line->available > ripe) ripe = wf_max(ripe, found.line->available + 1);
    l2->answer_from[index] = ripe;
    l2->counts->hits++;
  } else {
    s->victim = found.victim;
    s->dirty_victim = found.evicts_dirty;
    plan_miss(l2, index, found.evicts);
    pipe = found.evicts ? l2->evict_free : 0;
    l2->answer_from[index] = ripe + (work->whole ? PERMIT_CYCLES : l2->soonest);
    l2->counts->misses++;
  }
  l2->free_from[index] = l2->answer_from[index];
  sleep_until(l2, index, ripe, pipe);
  if (work->write) found.line->dirty = true;
}

unsigned l2_take_register(memsys_l2 *l2) {
  const unsigned index = (unsigned)__builtin_ctzll(~l2->used & l2->all);
  l2->used |= l2_bit(index);
  l2->stations[index].waiting.head = NONE;
  return index;
}

void l2_poll(memsys_l2 *l2, uint64_t cycle) {
  const unsigned index = l2_take_register(l2);
  l2->stations[index].work = POLL;
  l2->answer_from[index] = NEVER;
  l2->free_from[index] = cycle + LOOK_CYCLES;
  plan_hit(l2, index, false);
  sleep_until(l2, index, cycle + LOOK_CYCLES, l2->data_free);
  l2->poll_at = NEVER;
  l2->enter_from = cycle + 1;
}

// ---- a line that arrives

// It has nothing more to wait for from then on; NEVER: that is not known.
static void set_done_from(memsys_l2 *l2, unsigned index) {
  l2_station *s = &l2->stations[index];
  const uint64_t from = wf_max(s->last, s->released);
  s->done_from = l2->free_from[index] = from == NEVER ? NEVER : from + 1;
}

// It is known when.
static void arrives(memsys_l2 *l2, unsigned index, uint64_t first, uint64_t last) {
  l2_station *s = &l2->stations[index];
  s->last = last;
  s->line->available = first;
  set_done_from(l2, index);
  l2->answer_from[index] = (l2->pool[s->work].offset == 0 ? first : last) + 1;
  look_at(l2, index, first + 1);
}

static void words_arrive(memsys_l2 *l2, unsigned index, uint64_t first) {
  arrives(l2, index, first, first + l2->line_cycles - 1);
  l2_move_words(l2, MOVE_IN, first);
}

void l2_set_follower(memsys_l2 *l2, unsigned index) {
  const l2_station *s = &l2->stations[index];
  const bool unknown = s->waiting.head == NONE || s->done_from == NEVER;
  l2->answer_from[index] = unknown ? NEVER : s->done_from + 1;
}

// It is known when memory has the victim.
static void release(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  l2_station *s = &l2->stations[index];
  s->released = cycle;
  if ((l2->arriving & bit) == 0 || s->last == NEVER) return;
  set_done_from(l2, index);
  if ((l2->unanswered & bit) == 0) l2_set_follower(l2, index);
  if ((l2->held & bit) != 0) look_at(l2, index, s->done_from);
  l2->held &= ~bit;
}

void l2_take_note(memsys_l2 *l2, uint64_t cycle) {
  memsys_backing_decision decision;
  while (memsys_backing_next(l2->memory) <= cycle) {
    if (!memsys_backing_decide(l2->memory, cycle, &decision)) continue;
    if (decision.write)
      release(l2, decision.tag, decision.cycle);
    else
      words_arrive(l2, decision.tag, decision.cycle);
  }
}

void l2_see_off(memsys_l2 *l2, uint64_t cycle) {
  const uint64_t words = l2_words_until(l2, cycle);
  if (words != 0) {
    l2->departs_at = words;
    return;
  }
  const unsigned index = l2->departures[l2->first_departure].index;
  l2->first_departure = (l2->first_departure + 1) % REGISTERS;
  l2->departure_count--;
  const uint64_t next = l2->departures[l2->first_departure].left + RELEASE_CYCLES;
  l2->departs_at = l2->departure_count == 0 ? NEVER : wf_max(next, cycle + 1);
  release(l2, index, cycle);
}

void l2_look_at_arriving(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const l2_station *s = &l2->stations[index];
  const uint64_t bit = l2_bit(index);
  const bool done = cycle >= s->done_from, there = l2->pool[s->work].offset == 0 || cycle > s->last;
  if (done) l2->needs_tags |= bit;
  if (there && (l2->unanswered & bit) != 0) l2->needs_pipe |= bit;
  if (done) return;
  const uint64_t next = there ? s->done_from : s->last + 1;
  if (next == NEVER)
    l2->held |= bit;
  else
    look_at(l2, index, next);
}

// ---- steps

// Memory's side takes note of it when it brings no words.
static void leave_clean(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  l2->stations[index].released = NEVER;
  if (l2->departure_count == 0) l2->departs_at = cycle + RELEASE_CYCLES;
  l2->departures[(l2->first_departure + l2->departure_count++) % REGISTERS] = (l2_departure){cycle, (uint16_t)index};
}

static void evict(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  l2_station *s = &l2->stations[index];
  l2->evictions &= ~bit;
  l2->needs_tags &= ~bit;
  l2->asks |= bit;
  l2->awake |= bit;
  l2->evict_free = cycle + (s->dirty_victim ? l2->line_cycles : 1);
  if (!s->dirty_victim) {
    leave_clean(l2, index, cycle);
    return;
  }
  l2_move_words(l2, MOVE_OUT, cycle);
  l2_hold_up(l2, cycle);
  s->released = NEVER;
  memsys_backing_write_behind(l2->memory, cycle + 1, s->victim << l2->tags.line_shift, l2->line_bytes, index);
  l2->counts->written_back_bytes += l2->line_bytes;
}

static void ask_memory(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  l2_station *s = &l2->stations[index];
  const l2_item *work = &l2->pool[s->work];
  l2->asks &= ~bit;
  l2->arriving |= bit;
  l2->unanswered |= bit;
  if (work->whole) {
    arrives(l2, index, cycle + PERMIT_CYCLES, cycle + PERMIT_CYCLES);
    return;
  }
  s->last = l2->answer_from[index] = l2->free_from[index] = NEVER;
  l2->counts->fetched_bytes += l2->line_bytes;
  uint64_t first = memsys_backing_read(l2->memory, cycle, work->number << l2->tags.line_shift, l2->line_bytes, index);
  if (first != BACKING_UNKNOWN) words_arrive(l2, index, first);
}

static void answer(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint16_t place = l2->stations[index].work;
  const l2_item *work = &l2->pool[place];
  const bool given = place != POLL && !(work->host && work->write);
  const uint64_t last = l2_answer(l2, work, given, cycle);
  if (place == POLL) l2->poll_at = last + l2->tail + l2->poll_cycles;
}

bool l2_step(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  l2->awake &= ~bit;
  if (((l2->asks | l2->evictions) & bit) != 0) {
    if ((l2->asks & bit) != 0)
      ask_memory(l2, index, cycle);
    else
      evict(l2, index, cycle);
    return false;
  }
  if ((l2->needs_pipe & bit) != 0) answer(l2, index, cycle);
  if ((l2->arriving & bit) == 0) return true;
  // The line is acknowledged, if nothing else.
  if ((l2->needs_pipe & bit) != 0) {
    l2->needs_pipe &= ~bit;
    l2->unanswered &= ~bit;
    l2_set_follower(l2, index);
  }
  if (cycle < l2->stations[index].done_from) return false;
  l2->arriving &= ~bit;
  return true;
}
