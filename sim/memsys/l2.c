// The L2's registers: see l2.h for the rules this file implements.
//
// Time is counted in cycles of the port: a request that the port took in cycle t enters in t + 1, and a beat that
// enters the data pipe in s is at the port in s + tail. Cycles in which nothing can happen are skipped: the next one in
// which something can follows from a few words (next_event). A cycle that is looked at in vain does no harm.
//
// What a register does next is a place in masks, so that all that can take a turn in a cycle are found at once.
#include <assert.h>

#include "hw/base/alloc.h"
#include "sim/memsys/l2_state.h"

memsys_l2 *memsys_l2_create(const hw_array *array, backing *memory, memsys_answers *answers, memsys_counts *counts) {
  memsys_l2 *l2 = WF_NEW(memsys_l2);
  l2_tags_init(&l2->tags, array);
  l2->memory = memory;
  l2->answers = answers;
  l2->counts = counts;
  l2->bus_shift = (unsigned)__builtin_ctz(array->dma.bus_bits / 8);
  l2->line_bytes = array->l2.line_bytes;
  l2->tail = array->l2.hit_latency - ENTER_CYCLES - LOOK_CYCLES;
  l2->spacing = backing_spacing(memory);
  l2->line_cycles = backing_cycles(memory, l2->line_bytes);
  l2->soonest = backing_soonest(memory);
  l2->decided_soonest = backing_decided_soonest(memory);
  l2->bank_shift = (unsigned)__builtin_ctzll(l2->spacing);
  l2->poll_cycles = array->host.poll_cycles;
  l2->poll_at = l2->gate = l2->poll_cycles == 0 ? NEVER : l2->poll_cycles;
  l2->beat_limit = l2->tail + SPARE_BEATS;
  memsys_answers_init(answers, l2->beat_limit + 1);  // each has a beat at least
  unsigned count = array->l2.misses_in_flight;
  assert(count <= REGISTERS);
  l2->all = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
  l2->last_chosen = count - 1;
  l2->first_far = NEVER;
  l2->owner = WF_NEW_ARRAY(l2->tags.set_mask + 1, uint16_t);
  l2->pool = WF_NEW_ARRAY(ITEMS, item);
  for (uint16_t i = 0; i < ITEMS; i++) l2->pool[i].next = (uint16_t)(i + 1 < ITEMS ? i + 1 : NONE);
  l2->pool[POLL] = (item){.number = NEVER, .beats = 1, .next = NONE};
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

// ---- a register's work

// The register is looked at again in `at`, after the cycle at hand.
static void look_at(memsys_l2 *l2, unsigned index, uint64_t at) {
  at = l2_later(at, l2->now + 1);
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

// The tags are read, or known because the register served the same line before.
static void take_up(memsys_l2 *l2, unsigned index, uint16_t place, uint64_t cycle, bool same) {
  station *s = &l2->stations[index];
  const item *work = &l2->pool[place];
  s->work = place;
  l2_found found = {.line = s->line, .hit = true};
  if (!same) found = l2_tags_read(&l2->tags, work->number);
  s->line = found.line;
  uint64_t ripe = cycle + (same ? 1 : LOOK_CYCLES) + work->late, pipe = l2->data_free;
  if (found.hit) {
    plan_hit(l2, index, work->write && !found.line->dirty);
    if (found.line->available > ripe) ripe = l2_later(ripe, found.line->available + 1);
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

static unsigned take_register(memsys_l2 *l2) {
  const unsigned index = (unsigned)__builtin_ctzll(~l2->used & l2->all);
  l2->used |= l2_bit(index);
  l2->stations[index].waiting.head = NONE;
  return index;
}

// ---- a line that arrives

// It has nothing more to wait for from then on; NEVER: that is not known.
static void set_done_from(memsys_l2 *l2, unsigned index) {
  station *s = &l2->stations[index];
  const uint64_t from = l2_later(s->last, s->released);
  s->done_from = l2->free_from[index] = from == NEVER ? NEVER : from + 1;
}

// It is known when.
static void arrives(memsys_l2 *l2, unsigned index, uint64_t first, uint64_t last) {
  station *s = &l2->stations[index];
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

// Whoever waits behind the register that has answered has its turn when that one is done.
static void set_follower(memsys_l2 *l2, unsigned index) {
  const station *s = &l2->stations[index];
  const bool unknown = s->waiting.head == NONE || s->done_from == NEVER;
  l2->answer_from[index] = unknown ? NEVER : s->done_from + 1;
}

// It is known when memory has the victim.
static void release(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  station *s = &l2->stations[index];
  s->released = cycle;
  if ((l2->arriving & bit) == 0 || s->last == NEVER) return;
  set_done_from(l2, index);
  if ((l2->unanswered & bit) == 0) set_follower(l2, index);
  if ((l2->held & bit) != 0) look_at(l2, index, s->done_from);
  l2->held &= ~bit;
}

void l2_take_note(memsys_l2 *l2, uint64_t cycle) {
  backing_decision decision;
  while (backing_next(l2->memory) <= cycle) {
    if (!backing_decide(l2->memory, cycle, &decision)) continue;
    if (decision.write)
      release(l2, decision.tag, decision.cycle);
    else
      words_arrive(l2, decision.tag, decision.cycle);
  }
}

// A line arrives at a register: its first word came, or the last one, or it has nothing more to wait for.
static void look_at_arriving(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const station *s = &l2->stations[index];
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

static void evict(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  station *s = &l2->stations[index];
  l2->evictions &= ~bit;
  l2->needs_tags &= ~bit;
  l2->asks |= bit;
  l2->awake |= bit;
  s->released = cycle + RELEASE_CYCLES;
  l2->evict_free = cycle + (s->dirty_victim ? l2->line_cycles : 1);
  if (!s->dirty_victim) return;
  l2_move_words(l2, MOVE_OUT, cycle);
  s->released = backing_write(l2->memory, cycle + 2, s->victim << l2->tags.line_shift, l2->line_bytes, index);
  l2->counts->written_back_bytes += l2->line_bytes;
}

static void ask_memory(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint64_t bit = l2_bit(index);
  station *s = &l2->stations[index];
  const item *work = &l2->pool[s->work];
  l2->asks &= ~bit;
  l2->arriving |= bit;
  l2->unanswered |= bit;
  if (work->whole) {
    arrives(l2, index, cycle + PERMIT_CYCLES, cycle + PERMIT_CYCLES);
    return;
  }
  s->last = l2->answer_from[index] = l2->free_from[index] = NEVER;
  l2->counts->fetched_bytes += l2->line_bytes;
  uint64_t first = backing_read(l2->memory, cycle, work->number << l2->tags.line_shift, l2->line_bytes, index);
  if (first != BACKING_UNKNOWN) words_arrive(l2, index, first);
}

static void answer(memsys_l2 *l2, unsigned index, uint64_t cycle) {
  const uint16_t place = l2->stations[index].work;
  const uint64_t last = l2_answer(l2, &l2->pool[place], place != POLL, cycle);
  if (place == POLL) l2->poll_at = last + l2->tail + l2->poll_cycles;
}

// One step. True: the register's work is done.
static bool step(memsys_l2 *l2, unsigned index, uint64_t cycle) {
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
    set_follower(l2, index);
  }
  if (cycle < l2->stations[index].done_from) return false;
  l2->arriving &= ~bit;
  return true;
}

// ---- the entrance

// A poll that hits: it takes a register and its turns, but no set.
static void poll(memsys_l2 *l2, uint64_t cycle) {
  const unsigned index = take_register(l2);
  l2->stations[index].work = POLL;
  l2->answer_from[index] = NEVER;
  l2->free_from[index] = cycle + LOOK_CYCLES;
  plan_hit(l2, index, false);
  sleep_until(l2, index, cycle + LOOK_CYCLES, l2->data_free);
  l2->poll_at = NEVER;
  l2->enter_from = cycle + 1;
}

// The polls that began and were answered in the cycles before `cycle`, in which there was nothing else. What the L2
// does in a cycle must not depend on how far it is asked to go.
static void skip_polls(memsys_l2 *l2, uint64_t cycle) {
  uint64_t at = l2_later(l2_later(l2->poll_at, l2->enter_from), l2->now),
           period = LOOK_CYCLES + l2->tail + l2->poll_cycles;
  if (at + LOOK_CYCLES >= cycle || l2_data_from(l2) > at + LOOK_CYCLES) return;
  if (l2_moves(l2, at + LOOK_CYCLES) || l2->written_until >= at + LOOK_CYCLES) return;
  l2->poll_at = at + ((cycle - LOOK_CYCLES - 1 - at) / period + 1) * period;
  l2->last_chosen = 0;
  l2->tags_full = false;
}

static uint16_t enter(memsys_l2 *l2, uint64_t cycle) {
  const uint16_t place = l2->queue.head;
  const item *work = &l2->pool[place];
  const unsigned beats = work->write ? work->beats : 1;
  l2->queue.head = work->next;
  l2->head_entered = work->next == NONE ? NEVER : l2->pool[work->next].entered;
  l2->queue_beats -= beats;
  l2->enter_from = cycle + beats;
  return place;
}

// The register goes on with the next request of its set. False: there is none. *reads: the tags are read.
static bool go_on(memsys_l2 *l2, unsigned index, uint64_t cycle, bool *reads) {
  station *s = &l2->stations[index];
  const uint16_t last = s->work;
  if (last == POLL) return false;
  const uint64_t done = l2->pool[last].number, set = l2_set_of(&l2->tags, done);
  l2->pool[last].next = l2->pool_free;
  l2->pool_free = last;
  uint16_t next = s->waiting.head;
  if (next != NONE) {
    s->waiting.head = l2->pool[next].next;
  } else if (l2_later(l2->head_entered, l2->enter_from) <= cycle &&
             l2_set_of(&l2->tags, l2->pool[l2->queue.head].number) == set) {
    next = enter(l2, cycle);
  } else {
    l2->owner[set] = 0;
    return false;
  }
  *reads = l2->pool[next].number != done;
  take_up(l2, index, next, cycle, !*reads);
  return true;
}

static void wait_for_set(memsys_l2 *l2, unsigned index, uint16_t place) {
  station *s = &l2->stations[index];
  l2_append(l2, &s->waiting, place);
  if ((l2->arriving & ~l2->unanswered & l2_bit(index)) != 0) set_follower(l2, index);
}

// A request at the entrance. True: it reads the tags.
static bool receive(memsys_l2 *l2, uint64_t cycle, bool tags_busy, uint64_t used) {
  if (l2_later(l2->poll_at, l2->enter_from) <= cycle && !tags_busy && used != l2->all) {
    poll(l2, cycle);
    return true;
  }
  if (l2_later(l2->head_entered, l2->enter_from) > cycle) return false;
  uint16_t *owner = &l2->owner[l2_set_of(&l2->tags, l2->pool[l2->queue.head].number)];
  if (*owner != 0) {
    wait_for_set(l2, *owner - 1U, enter(l2, cycle));
    return false;
  }
  if (tags_busy || used == l2->all) return false;
  const unsigned index = take_register(l2);
  *owner = (uint16_t)(index + 1);
  take_up(l2, index, enter(l2, cycle), cycle, false);
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
    look_at_arriving(l2, (unsigned)__builtin_ctzll(left), cycle);
}

// The registers that can take the turn of `cycle`.
static uint64_t takers(memsys_l2 *l2, uint64_t cycle) {
  uint64_t can = l2->awake;
  if (l2->tags_full) can &= ~l2->needs_tags;
  if (l2->evict_free > cycle) can &= ~l2->evictions;
  if ((can & l2->needs_pipe) != 0 && l2_data_from(l2) > cycle) can &= ~l2->needs_pipe;
  return can;
}

// Of those that can, the first behind the one chosen last.
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
  if (can != 0) {
    const unsigned index = l2->last_chosen = choose(l2, can);
    note = (l2->needs_tags & l2_bit(index)) != 0;
    if (step(l2, index, cycle)) {
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

// A cycle, not before the one at hand, before which no register that is awake takes a turn: all of them need a pipe.
static uint64_t next_turn(memsys_l2 *l2, uint64_t now) {
  const uint64_t awake = l2->awake, tags = now + l2->tags_full;
  uint64_t next = NEVER;
  if ((awake & l2->needs_pipe) != 0) next = l2_later(now, l2_data_from(l2));
  if ((awake & l2->evictions) != 0) next = l2_earlier(next, l2_later(tags, l2->evict_free));
  return (awake & ~l2->needs_pipe & ~l2->evictions) != 0 ? l2_earlier(next, tags) : next;
}

// A cycle, not before the one at hand, before which nothing happens.
static inline uint64_t next_event(memsys_l2 *l2, uint64_t now) {
  uint64_t next = l2_earlier(l2_earlier(l2->gate, l2->first_far), l2_decisions_from(l2));
  if (l2->awake != 0) {
    if ((l2->awake & ~(l2->needs_pipe | l2->needs_tags)) != 0) return now;
    next = l2_earlier(next, next_turn(l2, now));
  }
  if (l2->marked != 0) {
    // Rotated: the cycle at hand is bit 0.
    const uint64_t place = now % NEARBY, coming = l2->marked >> place | l2->marked << (NEARBY - place) % NEARBY;
    next = l2_earlier(next, now + (unsigned)__builtin_ctzll(coming));
  }
  return l2_later(next, now);
}

// Nobody is there but the polls.
static uint64_t next_without_polls(memsys_l2 *l2, uint64_t cycle) {
  skip_polls(l2, l2_earlier(l2_later(l2->head_entered, l2->enter_from), cycle));
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
