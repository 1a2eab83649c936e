// The L2's registers and its pipes: see l2.h for the rules this file implements.
//
// Time is counted in cycles of the port: a request that the port took in cycle t enters in t + 1, and a beat that
// enters the data pipe in s is at the port in s + tail. Cycles in which nothing can happen are skipped.
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
  l2->bank_shift = (unsigned)__builtin_ctzll(l2->spacing);
  l2->poll_cycles = array->host.poll_cycles;
  l2->poll_at = l2->poll_cycles == 0 ? NEVER : l2->poll_cycles;
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
  return l2;
}

void memsys_l2_destroy(memsys_l2 *l2) {
  if (l2 == NULL) return;
  l2_tags_free(&l2->tags);
  wf_free(l2->owner);
  wf_free(l2->pool);
  wf_free(l2);
}

// ---- requests that wait for a set

static void append(memsys_l2 *l2, station *s, const item *work) {
  uint16_t place = l2->pool_free;
  assert(place != NONE);
  l2->pool_free = l2->pool[place].next;
  l2->pool[place] = *work;
  l2->pool[place].next = NONE;
  if (s->head == NONE)
    s->head = place;
  else
    l2->pool[s->tail].next = place;
  s->tail = place;
}

static item detach(memsys_l2 *l2, station *s) {
  uint16_t place = s->head;
  item work = l2->pool[place];
  s->head = work.next;
  l2->pool[place].next = l2->pool_free;
  l2->pool_free = place;
  return work;
}

// ---- a register's work

static void plan(memsys_l2 *l2, station *s, bool hit, bool evicts, bool dirties) {
  const uint64_t bit = UINT64_C(1) << (s - l2->stations);
  s->first = s->last = s->released = 0;
  s->todo = ANSWER;
  if (!hit) s->todo |= ASK | ACKNOWLEDGE | NOTE;
  if (evicts) s->todo |= EVICT;
  if (dirties) s->todo |= NOTE;
  l2->hits = s->todo == ANSWER ? l2->hits | bit : l2->hits & ~bit;
  l2->evictions = evicts ? l2->evictions | bit : l2->evictions & ~bit;
}

// Wakes the register in `at`, after the cycle at hand.
static void sleep_until(memsys_l2 *l2, unsigned index, uint64_t at) {
  const uint64_t bit = UINT64_C(1) << index;
  at = l2_later(at, l2->now + 1);
  if (at - l2->now <= NEARBY) {
    l2->nearby_cycles |= UINT64_C(1) << at % NEARBY;
    l2->nearby[at % NEARBY] |= bit;
    l2->far &= ~bit;
    return;
  }
  l2->wake[index] = at;
  l2->far |= bit;
  if (at < l2->first_far) l2->first_far = at;
}

// The tags are read, or known because the register served the same line before.
static void take_up(memsys_l2 *l2, station *s, const item *work, uint64_t cycle, bool same) {
  s->work = *work;
  l2_found found = {.line = s->line, .hit = true};
  if (!same) found = l2_tags_read(&l2->tags, work->number);
  s->line = found.line;
  s->victim = found.victim;
  s->dirty_victim = found.evicts_dirty;
  s->ripe = cycle + (same ? 1 : LOOK_CYCLES) + work->late;
  plan(l2, s, found.hit, found.evicts, found.hit && work->write && !found.line->dirty);
  if (found.hit && found.line->available > s->ripe) s->ripe = l2_later(s->ripe, found.line->available + 1);
  sleep_until(l2, (unsigned)(s - l2->stations), s->ripe);
  if (work->write) found.line->dirty = true;
  ++*(found.hit ? &l2->counts->hits : &l2->counts->misses);
}

static void allocate(memsys_l2 *l2, const item *work, uint64_t cycle) {
  unsigned index = (unsigned)__builtin_ctzll(~l2->used & l2->all);
  station *s = &l2->stations[index];
  l2->used |= UINT64_C(1) << index;
  l2->owner[l2_set_of(&l2->tags, work->number)] = (uint16_t)(index + 1);
  s->head = s->tail = NONE;
  take_up(l2, s, work, cycle, false);
}

// ---- steps

// The first cycle of the register's next step, as far as memory and its own pace decide.
static uint64_t step_from(const station *s) {
  if (s->todo & (EVICT | ASK)) return s->ripe;
  if (s->todo & ACKNOWLEDGE) return s->first == NEVER ? NEVER : l2_later(s->ripe, s->first + 1);
  uint64_t done = l2_later(s->last, s->released);
  if (done == NEVER) return NEVER;
  return l2_later(s->ripe, s->todo & ANSWER ? (s->last == 0 ? 0 : s->last + 1) : done + 1);
}

static bool completes(const station *s, uint64_t cycle) {
  return !(s->todo & (EVICT | ASK)) && (s->last == 0 || cycle > s->last) && (s->released == 0 || cycle > s->released);
}

static bool answers_in(const station *s, uint64_t cycle) {
  if ((s->todo & (EVICT | ASK)) || !(s->todo & ANSWER)) return false;
  return s->first == 0 || cycle > (s->work.offset == 0 ? s->first : s->last);
}

// The first cycle from `cycle` on in which the register, which does not evict, can make a step, with the pipes as they
// are now.
static uint64_t ready_from(memsys_l2 *l2, const station *s, uint64_t cycle) {
  uint64_t from = step_from(s);
  if (from > cycle) return from;
  if (answers_in(s, cycle)) from = l2_later(from, l2_data_from(l2));
  if (from <= cycle && (s->todo & NOTE) && completes(s, cycle) && l2->tags_full) return cycle + 1;
  return from;
}

static void evict(memsys_l2 *l2, station *s, uint64_t cycle) {
  s->todo &= (uint8_t)~EVICT;
  l2->evictions &= ~(UINT64_C(1) << (s - l2->stations));
  s->ripe = cycle + 1;
  s->released = cycle + RELEASE_CYCLES;
  l2->evict_free = cycle + (s->dirty_victim ? l2->line_cycles : 1);
  if (!s->dirty_victim) return;
  l2_move_words(l2, MOVE_OUT, cycle);
  s->released = backing_write(l2->memory, cycle + 2, s->victim << l2->tags.line_shift, l2->line_bytes);
  l2->counts->written_back_bytes += l2->line_bytes;
}

static void arrives(memsys_l2 *l2, station *s, uint64_t first) {
  s->first = first;
  s->last = first + l2->line_cycles - 1;
  s->line->available = first;
  l2_move_words(l2, MOVE_IN, first);
}

static void ask_memory(memsys_l2 *l2, station *s, uint64_t cycle) {
  s->todo &= (uint8_t)~ASK;
  s->first = s->last = NEVER;
  if (s->work.whole) {
    s->first = s->last = s->line->available = cycle + PERMIT_CYCLES;
    return;
  }
  l2->counts->fetched_bytes += l2->line_bytes;
  uint64_t address = s->work.number << l2->tags.line_shift;
  uint64_t first = backing_read(l2->memory, cycle, address, l2->line_bytes, (unsigned)(s - l2->stations));
  if (first != BACKING_UNKNOWN) arrives(l2, s, first);
}

// Nobody else makes a step in the cycle after `cycle`, in which somebody evicts, and memory does nothing in it: other
// victims wait for the tags.
static bool next_is_free(memsys_l2 *l2, uint64_t cycle) {
  const uint64_t next = cycle + 1;
  if (next >= l2->horizon || (l2->due & ~l2->evictions) != 0) return false;
  if ((l2->nearby_cycles >> next % NEARBY & 1) != 0 || l2->first_far <= next) return false;
  if (backing_next(l2->memory) <= next) return false;
  return l2->ready == 0 || l2_data_from(l2) > next;
}

// One step, or two that follow each other. True: the register's work is done. *note: the tags are to be written.
static bool step(memsys_l2 *l2, station *s, uint64_t cycle, bool *note) {
  if (s->todo & EVICT) {
    evict(l2, s, cycle);
    *note = true;
    if ((s->todo & ASK) != 0 && next_is_free(l2, cycle)) ask_memory(l2, s, cycle + 1);
    return false;
  }
  if (s->todo & ASK) {
    ask_memory(l2, s, cycle);
    return false;
  }
  bool done = completes(s, cycle);
  if (answers_in(s, cycle)) l2_answer(l2, s, cycle);
  s->todo &= (uint8_t)~ACKNOWLEDGE;
  if (!done) return false;
  *note = (s->todo & NOTE) != 0;
  return true;
}

// ---- one cycle

static uint64_t wake_far(memsys_l2 *l2, uint64_t cycle) {
  uint64_t woken = 0;
  l2->first_far = NEVER;
  for (uint64_t left = l2->far; left != 0; left &= left - 1) {
    const unsigned index = (unsigned)__builtin_ctzll(left);
    if (l2->wake[index] <= cycle)
      woken |= left & -left;
    else if (l2->wake[index] < l2->first_far)
      l2->first_far = l2->wake[index];
  }
  l2->far &= ~woken;
  return woken;
}

// Those whose time has come; nobody was left asleep before `cycle`.
static void wake_up(memsys_l2 *l2, uint64_t cycle) {
  const unsigned place = (unsigned)(cycle % NEARBY);
  uint64_t woken = l2->nearby[place];
  l2->nearby[place] = 0;
  l2->nearby_cycles &= ~(UINT64_C(1) << place);
  if (l2->first_far <= cycle) woken |= wake_far(l2, cycle);
  l2->ready |= woken & l2->hits;
  l2->due |= woken & ~l2->hits;
}

static uint64_t next_nearby(const memsys_l2 *l2) {
  const unsigned place = (unsigned)(l2->now % NEARBY);
  if (l2->nearby_cycles == 0) return NEVER;
  const uint64_t coming = l2->nearby_cycles >> place | l2->nearby_cycles << (NEARBY - place) % NEARBY;
  return l2->now + (unsigned)__builtin_ctzll(coming);
}

// The register that makes a step in `cycle`: of those that can, the first behind the one chosen last; NONE: none of
// those awake can, *next is the first later cycle in which one can.
static unsigned choose(memsys_l2 *l2, uint64_t cycle, uint64_t *next) {
  const uint64_t data = l2->ready == 0 ? NEVER : l2_data_from(l2);
  const uint64_t can = data <= cycle ? l2->ready : 0;
  uint64_t due = l2->due;
  *next = data;
  if ((due & l2->evictions) != 0) {
    const uint64_t from = l2_later(cycle + l2->tags_full, l2->evict_free);
    if (from > cycle) {
      due &= ~l2->evictions;
      if (from < *next) *next = from;
    }
  }
  const uint64_t behind = l2->last_chosen == 63 ? 0 : UINT64_MAX << (l2->last_chosen + 1);
  for (unsigned round = 0; round < 2; round++)
    for (uint64_t left = (can | due) & (round == 0 ? behind : ~behind); left != 0; left &= left - 1) {
      const unsigned index = (unsigned)__builtin_ctzll(left);
      if (((can | l2->evictions) >> index & 1) != 0) return index;
      const uint64_t from = ready_from(l2, &l2->stations[index], cycle);
      if (from <= cycle) return index;
      if (from < *next) *next = from;
    }
  return NONE;
}

static uint64_t entering_from(const memsys_l2 *l2) {
  if (l2->queue_head == l2->queue_end) return NEVER;
  return l2_later(l2->queue[l2->queue_head % ITEMS].entered, l2->enter_from);
}

static unsigned owner_of_head(const memsys_l2 *l2) {
  return l2->owner[l2_set_of(&l2->tags, l2->queue[l2->queue_head % ITEMS].number)];
}

// A poll that hits: it takes a register and its turns, but no set.
static void poll(memsys_l2 *l2, uint64_t cycle) {
  unsigned index = (unsigned)__builtin_ctzll(~l2->used & l2->all);
  station *s = &l2->stations[index];
  l2->used |= UINT64_C(1) << index;
  s->head = s->tail = NONE;
  s->work = (item){.number = NEVER, .beats = 1, .poll = true};
  s->ripe = cycle + LOOK_CYCLES;
  plan(l2, s, true, false, false);
  sleep_until(l2, index, s->ripe);
  l2->poll_at = NEVER;
  l2->enter_from = cycle + 1;
}

// The polls that began and were answered in the cycles before `cycle`, in which there was nothing else. What the L2
// does in a cycle must not depend on how far it is asked to go.
static void skip_polls(memsys_l2 *l2, uint64_t cycle) {
  if (l2->poll_at == NEVER || l2->waiting_beats >= l2->beat_limit) return;
  uint64_t at = l2_later(l2_later(l2->poll_at, l2->enter_from), l2->now),
           period = LOOK_CYCLES + l2->tail + l2->poll_cycles;
  if (at + LOOK_CYCLES >= cycle || l2->data_free > at + LOOK_CYCLES) return;
  if (l2_moves(l2, at + LOOK_CYCLES) || l2->written_until >= at + LOOK_CYCLES) return;
  l2->poll_at = at + ((cycle - LOOK_CYCLES - 1 - at) / period + 1) * period;
  l2->last_chosen = 0;
  l2->tags_full = false;
}

// Its place is not taken again before the next request is sent.
static const item *enter(memsys_l2 *l2, uint64_t cycle) {
  const item *work = &l2->queue[l2->queue_head++ % ITEMS];
  unsigned beats = work->write ? work->beats : 1;
  l2->queue_beats -= beats;
  l2->enter_from = cycle + beats;
  return work;
}

// The register goes on with the next request of its set. False: there is none. *reads: the tags are read.
static bool go_on(memsys_l2 *l2, station *s, uint64_t cycle, bool *reads) {
  if (s->work.poll) return false;
  uint64_t done = s->work.number, set = l2_set_of(&l2->tags, done);
  item next;
  if (s->head != NONE) {
    next = detach(l2, s);
  } else if (entering_from(l2) <= cycle && l2_set_of(&l2->tags, l2->queue[l2->queue_head % ITEMS].number) == set) {
    next = *enter(l2, cycle);
  } else {
    l2->owner[set] = 0;
    return false;
  }
  *reads = next.number != done;
  take_up(l2, s, &next, cycle, next.number == done);
  return true;
}

// A request at the entrance. True: it reads the tags.
static bool receive(memsys_l2 *l2, uint64_t cycle, bool tags_busy, uint64_t used) {
  if (l2_later(l2->poll_at, l2->enter_from) <= cycle && !tags_busy && used != l2->all) {
    poll(l2, cycle);
    return true;
  }
  if (entering_from(l2) > cycle) return false;
  const item *head = &l2->queue[l2->queue_head % ITEMS];
  unsigned owner = l2->owner[l2_set_of(&l2->tags, head->number)];
  if (owner != 0) {
    append(l2, &l2->stations[owner - 1], enter(l2, cycle));
    return false;
  }
  if (tags_busy || used == l2->all) return false;
  allocate(l2, enter(l2, cycle), cycle);
  return true;
}

static void carry_out(memsys_l2 *l2, uint64_t cycle, unsigned chosen) {
  bool note = false, reads = false;
  uint64_t used = l2->used, freed = 0;
  if (chosen != NONE) {
    const uint64_t bit = UINT64_C(1) << chosen;
    station *s = &l2->stations[chosen];
    l2->last_chosen = chosen;
    l2->ready &= ~bit;
    l2->due &= ~bit;
    bool done = step(l2, s, cycle, &note);
    if (!done)
      sleep_until(l2, chosen, step_from(s));
    else if (!go_on(l2, s, cycle, &reads))
      freed = bit;
  }
  reads |= receive(l2, cycle, reads, used);
  l2->used &= ~freed;
  if (l2->tags_full) {
    if (!reads) l2->tags_full = false;
  } else {
    l2->tags_full = note;
  }
}

static void decisions(memsys_l2 *l2, uint64_t cycle) {
  unsigned tag;
  uint64_t first;
  while (backing_decide(l2->memory, cycle, &tag, &first)) {
    arrives(l2, &l2->stations[tag], first);
    sleep_until(l2, tag, step_from(&l2->stations[tag]));
  }
}

// The first cycle, not before the one at hand, in which somebody wakes, memory decides or something enters.
static uint64_t next_arrival(const memsys_l2 *l2) {
  uint64_t next = next_nearby(l2);
  if (l2->first_far < next) next = l2->first_far;
  const uint64_t decision = backing_next(l2->memory);
  if (decision < next) next = decision;
  if (l2->queue_head != l2->queue_end) {
    const uint64_t entering = entering_from(l2);
    // Without a register it waits until one is free.
    if (entering < next && (entering > l2->now || l2->used != l2->all || owner_of_head(l2) != 0)) next = entering;
  }
  if (l2->poll_at < next && l2->used != l2->all) {
    const uint64_t polling = l2_later(l2->poll_at, l2->enter_from);
    if (polling < next) next = polling;
  }
  return l2_later(next, l2->now);
}

// A cycle before which nothing happens.
static uint64_t quiet_until(memsys_l2 *l2) {
  if (l2->due != 0) return l2->now;
  uint64_t next = next_arrival(l2);
  if (l2->ready == 0) return next;
  const uint64_t data = l2_later(l2_data_from(l2), l2->now);
  return data < next ? data : next;
}

// Carries out the cycle at hand, if anything happens in it; the next one is then at hand.
static void run_cycle(memsys_l2 *l2) {
  const uint64_t cycle = l2->now;
  uint64_t next;
  wake_up(l2, cycle);
  const unsigned chosen = choose(l2, cycle, &next);
  if (chosen == NONE) {
    const uint64_t arrival = next_arrival(l2);
    if (arrival > cycle) {
      l2->quiet = arrival < next ? arrival : next;
      return;
    }
  }
  if (backing_next(l2->memory) <= cycle) decisions(l2, cycle);
  carry_out(l2, cycle, chosen);
  l2->now = cycle + 1;
  l2->quiet = quiet_until(l2);
}

void memsys_l2_run(memsys_l2 *l2, uint64_t cycle) {
  l2->horizon = cycle;
  while (l2->now < cycle) {
    if (l2->quiet < cycle && l2->used == 0 && l2->poll_at != NEVER) {
      const uint64_t entering = entering_from(l2);
      skip_polls(l2, entering < cycle ? entering : cycle);
      l2->quiet = next_arrival(l2);
    }
    if (l2->quiet > l2->now) {
      l2->tags_full = false;  // a cycle passes that reads no tags
      l2->now = l2->quiet < cycle ? l2->quiet : cycle;
      if (l2->now == cycle) return;
    }
    run_cycle(l2);
  }
}

// ---- the port's side

bool memsys_l2_room(const memsys_l2 *l2) { return l2->queue_beats < QUEUE_BEATS; }

uint64_t memsys_l2_next_room(memsys_l2 *l2) {
  const uint64_t entering = entering_from(l2);
  if (entering > l2->now) return entering + 1;
  return (l2_data_from(l2) == NEVER ? l2->now : l2_later(l2->quiet, l2->now)) + 1;
}

void memsys_l2_taken(memsys_l2 *l2) {
  if (l2->waiting_beats >= l2->beat_limit) l2->quiet = 0;
}

static void enqueue(memsys_l2 *l2, const item *part) {
  assert(l2->queue_end - l2->queue_head < ITEMS);
  l2->queue[l2->queue_end++ % ITEMS] = *part;
  l2->queue_beats += part->write ? part->beats : 1;
}

// A request that lies in several lines.
static void send_parts(memsys_l2 *l2, const memsys_request *request, item *part) {
  l2->parts[part->order % ITEMS] = 0;
  for (unsigned done = 0; done < request->bytes;) {
    uint64_t address = request->address + done;
    part->offset = (uint16_t)(address & (l2->line_bytes - 1));
    unsigned room = l2->line_bytes - part->offset, bytes = request->bytes - done < room ? request->bytes - done : room;
    unsigned beats = bytes >> l2->bus_shift;
    part->number = address >> l2->tags.line_shift;
    part->beats = (uint16_t)(beats == 0 ? 1 : beats);
    part->whole = part->write && bytes == l2->line_bytes;
    done += bytes;
    l2->parts[part->order % ITEMS]++;
    enqueue(l2, part);
  }
}

void memsys_l2_send(memsys_l2 *l2, uint64_t cycle, const memsys_request *request, bool write, uint64_t order,
                    uint64_t late) {
  assert(l2->now <= cycle + ENTER_CYCLES);
  if (l2->queue_head == l2->queue_end) {
    l2->queue_head = l2->queue_end = 0;
    const uint64_t entering = l2_later(cycle + ENTER_CYCLES, l2->enter_from);
    if (entering < l2->quiet) l2->quiet = entering;
  }
  const unsigned offset = (unsigned)request->address & (l2->line_bytes - 1), beats = request->bytes >> l2->bus_shift;
  item part = {.number = request->address >> l2->tags.line_shift,
               .entered = cycle + ENTER_CYCLES,
               .order = order,
               .late = late,
               .id = (uint16_t)request->id,
               .beats = (uint16_t)(beats == 0 ? 1 : beats),
               .total = (uint16_t)(beats == 0 ? 1 : beats),
               .offset = (uint16_t)offset,
               .write = write,
               .whole = write && request->bytes == l2->line_bytes,
               .parted = offset + request->bytes > l2->line_bytes};
  if (part.parted)
    send_parts(l2, request, &part);
  else
    enqueue(l2, &part);
}

uint64_t memsys_l2_next_answer(memsys_l2 *l2) {
  if (l2->ready != 0) {
    uint64_t data = l2_data_from(l2);
    return l2_later(l2->now, data == NEVER ? 0 : data) + l2->tail;
  }
  uint64_t next = NEVER, entering = entering_from(l2), decision = backing_next(l2->memory);
  for (uint64_t left = l2->used; left != 0; left &= left - 1) {
    const station *s = &l2->stations[__builtin_ctzll(left)];
    if (s->head == NONE && (s->work.poll || !(s->todo & ANSWER))) continue;
    uint64_t from = step_from(s);
    if (from < next) next = from;
  }
  if (entering != NEVER) {
    // Behind a register that is done with the same line it needs not look.
    bool follows = l2->owner[l2_set_of(&l2->tags, l2->queue[l2->queue_head % ITEMS].number)] != 0;
    entering = l2_later(entering, l2->now) + (follows ? 1 : LOOK_CYCLES);
    if (entering < next) next = entering;
  }
  if (decision < next) next = decision;
  if (next == NEVER) return NEVER;
  next = l2_later(next, l2->now);
  uint64_t data = l2_data_from(l2);
  if (data != NEVER) next = l2_later(next, data);
  return next + l2->tail;
}

// A register that served the same line before answers a cycle after it took the request up.
uint64_t memsys_l2_shortest(const memsys_l2 *l2) { return ENTER_CYCLES + 1 + l2->tail; }

uint64_t memsys_l2_host(memsys_l2 *l2, uint64_t cycle, uint64_t address, bool write) {
  l2->quiet = 0;
  uint64_t number = address >> l2->tags.line_shift, first = 0, beats = (l2->line_bytes >> l2->bus_shift) - 1U;
  l2_found found = l2_tags_read(&l2->tags, number);
  ++*(found.hit ? &l2->counts->hits : &l2->counts->misses);
  if (write) found.line->dirty = true;
  uint64_t ripe = l2_later(cycle + ENTER_CYCLES + LOOK_CYCLES, l2->data_free);
  if (found.hit && found.line->available != NEVER) {
    first = found.line->available;
    if (first <= ripe) l2->data_free = ripe + beats + 1;
  } else {
    if (found.evicts_dirty) {
      backing_write(l2->memory, cycle + ENTER_CYCLES + LOOK_CYCLES, found.victim << l2->tags.line_shift,
                    l2->line_bytes);
      l2->counts->written_back_bytes += l2->line_bytes;
    }
    l2->counts->fetched_bytes += l2->line_bytes;
    first = backing_read_first(l2->memory, cycle + ENTER_CYCLES + LOOK_CYCLES, address, l2->line_bytes);
    if (!found.hit) found.line->available = first;
    l2_move_words(l2, MOVE_IN, first);
  }
  return l2_later(ripe + beats, first == 0 ? 0 : first + (beats + 1) * l2->spacing) + l2->tail;
}
