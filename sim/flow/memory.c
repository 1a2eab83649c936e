// SPDX-License-Identifier: Apache-2.0
// What lies behind the memory port, as times: request channel, L2, memory's channel and bus. The rules are those of
// sim/memsys (l2.h, backing.h); here each request is worked out as a whole when it is granted.
//
//   room      a request is granted while fewer than 6 beats have not entered the L2                     (L2_ROOM)
//   enters    max(grant + 1, behind the one before, 1 + the first cycle in which a register is free); a request to a
//             set for which a register works goes behind that one                                       (REGISTERS,
//             SET)
//   polls     of the front end go the way of requests, before those that enter in the same cycle       (POLLS)
//   hit       answer in the data pipe from enters + 2 on; the register is free in that cycle            (PIPE)
//   miss      evicts in enters + 2, asks a cycle later; the line arrives word by word; answer behind the first word, or
//             the last one if the request does not start with the line; the register is free behind the last word and
//             the victim                                                                                (MISS)
//   victim    leaves when the tags have noted the one before (TAGS); clean: taken note of 5 cycles later at the
//             earliest, in a cycle without a word, one per cycle, at most four on their way (CLEAN_VICTIM); dirty:
//             takes the channel for a line, and its data waits for a gap between reads (DIRTY_VICTIM)
// Tags are those of sim/memsys/l2_tags.h: what hits is looked up.
#include "sim/flow/memory.h"

#include "base/alloc.h"
#include "sim/memsys/l2_tags.h"

enum {
  ENTER = 1,
  LOOK = 2,
  PERMIT = 3,
  LEAVE = 3,
  RELEASE = 5,
  DEPARTURES = 4,
  QUEUE_BEATS = 6,
  WAITING = 16,
  POSTED = 3,
  MOVES = 16,
  WRITTEN = 3,
  BANKS = 4,
  FEW_POLLS = 4,
};

// By set: the register that worked for it last, and its line.
typedef struct set_use {
  uint64_t line;
  uint32_t reg;
} set_use;

// A clean victim that has not been taken note of.
typedef struct departure {
  uint64_t left;
  flow_time last;  // otherwise its register would be free behind this cycle
  flow_time seen;  // it is taken note of, as far as words are known
  uint32_t reg;
} departure;

struct flow_memory {
  bool l2;
  flow_log *log;
  uint32_t beat_bytes, line_bytes, beat_shift;
  flow_pipe requests, pipe, answers, channel, bus;
  flow_calendar written[BANKS];  // beats, by bank of the L2's data
  uint64_t written_until;
  uint64_t spacing, line_cycles, bytes_per_cycle, latency, path, tail;
  flow_dram *dram;  // NULL: fixed latency
  l2_tags tags;
  set_use *sets;
  uint32_t *places;  // by the lowest bits of a line's number: where one was in the tags
  uint64_t place_mask;
  flow_registers registers;
  uint64_t works_for[FLOW_REGISTERS];  // set
  flow_time enter_from;
  uint64_t poll_at, poll_cycles;  // of the front end's word
  flow_time register_before;      // what the request before waited for
  flow_time entered[WAITING];     // by beat of the requests, a ring: when its request entered
  uint32_t beats_entered;
  flow_time evict_from;
  flow_calendar tags_read;  // cycles
  flow_calendar turns;      // of registers: cycles
  uint64_t left;            // the last victim
  uint64_t tags_from;       // their port has taken note of the last victim
  flow_stream stream;
  uint64_t seen_off, soonest;
  uint64_t moved[MOVES];      // lines that memory brings or takes: the cycle of the first word, a ring
  uint32_t moved_low[MOVES];  // its lower bits
  uint32_t moves;
  uint64_t moved_until;
  flow_calendar placed;  // beats of hits in the pipe
  flow_calendar moving;  // cycles of all of them
  departure departing[FLOW_REGISTERS];
  uint32_t departures;
  memsys_counts counts;
  uint64_t hart_bytes[2];  // read, written
};

flow_memory *flow_memory_create(const hw_array *array, flow_log *log) {
  flow_memory *m = WF_NEW(flow_memory);
  m->log = log;
  m->l2 = array->l2.present;
  m->beat_bytes = array->dma.bus_bits / 8;
  m->beat_shift = (uint32_t)__builtin_ctz(m->beat_bytes);
  m->line_bytes = array->l2.line_bytes;
  m->bytes_per_cycle = array->memory.bytes_per_cycle;
  m->spacing = m->beat_bytes > m->bytes_per_cycle ? m->beat_bytes / m->bytes_per_cycle : 1;
  m->line_cycles = (m->line_bytes + m->bytes_per_cycle - 1) / m->bytes_per_cycle;
  m->latency = array->memory.latency_cycles;
  m->path = array->memory.path_cycles;
  if (array->memory.model != HW_MEMORY_FIXED) m->dram = flow_dram_create(array, &m->registers, log);
  if (!m->l2) return m;
  m->tail = array->l2.hit_latency - ENTER - LOOK;
  flow_registers_init(&m->registers, array->l2.misses_in_flight);
  m->soonest = m->dram != NULL ? flow_dram_soonest(m->dram) + m->path : m->latency;
  l2_tags_init(&m->tags, array);
  m->poll_cycles = array->host.poll_cycles;
  m->poll_at = m->poll_cycles == 0 ? FLOW_NEVER : m->poll_cycles;
  m->sets = WF_NEW_ARRAY(m->tags.set_mask + 1, set_use);
  m->place_mask = 2 * (m->tags.set_mask + 1) * m->tags.ways - 1;
  m->places = WF_NEW_ARRAY(m->place_mask + 1, uint32_t);
  return m;
}

void flow_memory_destroy(flow_memory *m) {
  if (m == NULL) return;
  if (m->l2) l2_tags_free(&m->tags);
  flow_dram_destroy(m->dram);
  wf_free(m->sets);
  wf_free(m->places);
  wf_free(m);
}

memsys_counts flow_memory_counts(const flow_memory *m, uint64_t hart_bytes[2]) {
  for (unsigned write = 0; write < 2; write++) hart_bytes[write] = m->hart_bytes[write];
  return m->counts;
}

// ---- the request channel

// The oldest of the newest beats that fit has to have entered.
flow_time flow_memory_room(const flow_memory *m, flow_time at) {
  if (!m->l2 || m->beats_entered < QUEUE_BEATS) return at;
  const flow_time entered = m->entered[(m->beats_entered - QUEUE_BEATS) % WAITING];
  return flow_later(at, flow_after(entered, 1, FLOW_W_L2_QUEUE));
}

flow_time flow_memory_grant(flow_memory *m, flow_time at, uint32_t beats) {
  return flow_pipe_take(m->log, &m->requests, at, beats, FLOW_W_BUS);
}

flow_time flow_memory_answer(flow_memory *m, flow_time at, uint32_t cycles) {
  return flow_pipe_take(m->log, &m->answers, at, cycles, FLOW_W_BUS);
}

uint64_t flow_memory_answer_from(const flow_memory *m, uint64_t at, uint32_t cycles) {
  return flow_calendar_find(&m->answers.taken, at, wf_min(cycles, FLOW_CALENDAR_BITS));
}

void flow_memory_answer_waits(flow_memory *m, uint64_t from, uint64_t until) {
  flow_calendar_mark(&m->answers.taken, from, until - from);
}

// ---- memory behind the L2

static uint64_t cycles_of(const flow_memory *m, uint32_t bytes) {
  return (bytes + m->bytes_per_cycle - 1) / m->bytes_per_cycle;
}

static flow_time ask(flow_memory *m, flow_time at, uint64_t beats) {
  return flow_pipe_take(m->log, &m->channel, at, beats, FLOW_W_MEMORY_WIDTH);
}

// The cycle of the first word.
static flow_time backing_read(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes) {
  m->counts.fetched_bytes += bytes;
  const flow_time start = ask(m, at, 1);
  flow_time there = start;
  if (m->dram != NULL) there = flow_dram_ask(m->dram, start, address, bytes, false);
  there = flow_after(there, m->dram == NULL ? m->latency : m->path, FLOW_W_MEMORY_LATENCY);
  const uint64_t least = flow_cycle(start) + 1, from = flow_cycle(there);
  there = flow_at(there, from > least + m->spacing ? from - m->spacing : least, FLOW_W_MEMORY_LATENCY);
  return flow_pipe_take(m->log, &m->bus, there, cycles_of(m, bytes), FLOW_W_MEMORY_WIDTH);
}

static flow_time send_words(flow_memory *m, flow_time at, uint32_t bytes) {
  m->counts.written_back_bytes += bytes;
  const uint64_t words = cycles_of(m, bytes);
  return flow_event(m->log, flow_after(ask(m, at, words), words, FLOW_W_MEMORY_WIDTH));
}

// Memory has it.
static flow_time backing_write(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes) {
  const flow_time sent = send_words(m, at, bytes);
  if (m->dram == NULL) return flow_event(m->log, flow_after(sent, m->latency, FLOW_W_MEMORY_LATENCY));
  const flow_time written = flow_dram_ask(m->dram, sent, address, bytes, true);
  return flow_event(m->log, flow_after(written, m->path, FLOW_W_MEMORY_LATENCY));
}

// ---- the L2

typedef struct request {
  uint64_t line;
  uint32_t offset, beats;
  bool write, whole, partial;
} request;

// When departure n is taken note of, as far as words are known.
static uint64_t seen_off_at(const flow_memory *m, const departure *d, uint64_t before) {
  return flow_calendar_find(&m->bus.taken, wf_max(d->left + RELEASE, before + 1), 1);
}

static void forget_first(flow_memory *m) {
  m->departures--;
  for (uint32_t i = 0; i < m->departures; i++) m->departing[i] = m->departing[i + 1];
}

// Words of requests to come arrive `soonest` behind `now` at the earliest: what happens before is final. What happens
// later is found again at the next request.
static void see_off(flow_memory *m, uint64_t now) {
  uint64_t at = m->seen_off;
  for (uint32_t i = 0; i < m->departures;) {
    departure *d = &m->departing[i];
    at = seen_off_at(m, d, at);
    d->seen = flow_at(d->last, at, FLOW_W_L2_VICTIMS);
    flow_registers_free(&m->registers, d->reg, flow_after(flow_later(d->last, d->seen), 1, FLOW_W_L2_VICTIMS));
    if (i > 0 || at >= now + m->soonest) {
      i++;
      continue;
    }
    m->seen_off = at;
    forget_first(m);
  }
}

// With four on their way the next one waits for the first of these.
static flow_time leaves_from(const flow_memory *m, flow_time at) {
  if (m->departures < DEPARTURES) return at;
  const departure *d = &m->departing[m->departures - DEPARTURES];
  if (flow_cycle(at) < m->departing[m->departures - 1].left + LEAVE) return at;
  return flow_later(at, flow_after(d->seen, 1, FLOW_W_L2_VICTIMS));
}

// The first cycle in which no request enters: those of the reader that follow at once do, as far as there are registers
// for them.
static uint64_t entrance_quiet(const flow_memory *m) {
  const flow_stream *s = &m->stream;
  const uint64_t from = flow_cycle(m->enter_from);
  const flow_registers *r = &m->registers;
  uint32_t count = 0;
  while (count < s->left && count + 1 < s->ids->count && count + 1 < r->count &&
         flow_cycle(s->ids->free[(s->ids->first + count + 1) % FLOW_IDS]) <= from &&
         flow_cycle(r->free[r->order[(r->first + count + 1) % FLOW_REGISTERS]]) < from)
    count++;
  return from + count;
}

// One register does one thing in a cycle (TURNS).
static flow_time take_turn(flow_memory *m, flow_time at) {
  return flow_not_before(at, flow_calendar_take(&m->turns, flow_cycle(at), 1), FLOW_W_L2_VICTIMS);
}

// The victim leaves from `at` on; returns the cycle in which the register asks for its line.
static flow_time evict(flow_memory *m, flow_time at, const l2_found *found) {
  if (!found->evicts) return take_turn(m, at);
  const uint64_t quiet = entrance_quiet(m);
  at = flow_not_before(flow_later(at, m->evict_from), m->tags_from, FLOW_W_L2_VICTIMS);
  if (!found->evicts_dirty) at = leaves_from(m, at);
  at = take_turn(m, at);
  m->left = flow_cycle(at);
  m->tags_from = flow_calendar_find(&m->tags_read, wf_max(m->left + 1, quiet), 1) + 1;
  m->evict_from = flow_after(at, found->evicts_dirty ? m->line_cycles : 1, FLOW_W_L2_VICTIMS);
  at = flow_after(at, 1, FLOW_W_L2_VICTIMS);
  return flow_event(m->log, take_turn(m, at));
}

typedef struct served {
  flow_time first;  // beat in the data pipe
  uint64_t last;    // the last one's cycle
  flow_time free;   // the register
} served;

static void move_line(flow_memory *m, uint64_t start) {
  m->moved_low[m->moves % MOVES] = (uint32_t)start;
  m->moved[m->moves++ % MOVES] = start;
  m->moved_until = wf_max(m->moved_until, start + m->line_cycles);
  flow_calendar_mark(&m->moving, start, m->line_cycles);
}

// Which of the lines that moved last do so in some of `count` cycles from `at` on, a bit each. The compiler makes
// vector instructions of this loop.
static inline uint32_t moves_near(const flow_memory *m, uint64_t at, uint32_t count) {
  static const uint32_t bits[MOVES] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                       1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const uint32_t line = (uint32_t)m->line_cycles - 1, low = line - (uint32_t)at;
  uint32_t near = 0;
  for (uint32_t n = 0; n < MOVES; n++) near |= m->moved_low[n] + low < count + line ? bits[n] : 0;
  return near;
}

// The cycle of the last beat of an answer that enters the data pipe in `at`: beat i is in its bank `behind` later, and
// waits while a line that moves is there. That has its words of a beat in a bank for `spacing` cycles.
static uint64_t behind_lines(const flow_memory *m, const request *r, uint64_t at) {
  const uint64_t behind = r->write ? WRITTEN : 0, first = r->offset >> m->beat_shift;
  uint64_t last = at + r->beats - 1;
  for (uint32_t near = moves_near(m, at + behind, r->beats); near != 0; near &= near - 1) {
    const uint64_t start = m->moved[__builtin_ctz(near)];
    if (start == 0) continue;
    for (uint32_t i = 0; i < r->beats; i++) {
      const uint64_t here = at + i + behind, from = start + (first + i) % BANKS * m->spacing;
      if (here < from || here >= from + m->spacing) continue;
      last = wf_max(last, from + m->spacing - behind + (r->beats - 1 - i) * m->spacing);
      break;
    }
  }
  return last;
}

// Of most answers no beat meets a line.
static inline uint64_t behind_moves(const flow_memory *m, const request *r, uint64_t at) {
  const uint64_t behind = r->write ? WRITTEN : 0, last = at + r->beats - 1;
  if (at + behind >= m->moved_until) return last;
  if (flow_calendar_window(&m->moving, at + behind, wf_min(r->beats, FLOW_CALENDAR_BITS)) == 0) return last;
  return behind_lines(m, r, at);
}

// Whether a beat that enters the pipe in `at` finds its bank free of beats that are written; a write that keeps no
// bytes reads none.
static bool finds_banks(const flow_memory *m, const request *r, uint64_t at) {
  const uint32_t first = r->offset >> m->beat_shift;
  if (at > m->written_until || (r->write && !r->partial)) return true;
  for (uint32_t i = 0; i < r->beats; i++)
    if (flow_calendar_count(&m->written[(first + i) % BANKS], at + i, 1) != 0) return false;
  return true;
}

static inline __attribute__((always_inline)) uint64_t enter_pipe(flow_memory *m, const request *r, uint64_t ripe) {
  const uint32_t first = r->offset >> m->beat_shift;
  if (!r->write && ripe > m->written_until) return flow_calendar_take(&m->pipe.taken, ripe, r->beats);
  uint64_t at = flow_calendar_find(&m->pipe.taken, ripe, r->beats);
  while (!finds_banks(m, r, at)) at = flow_calendar_find(&m->pipe.taken, at + 1, r->beats);
  flow_calendar_mark(&m->pipe.taken, at, r->beats);
  for (uint32_t i = 0; r->write && i < r->beats; i++)
    flow_calendar_mark(&m->written[(first + i) % BANKS], at + i + WRITTEN, 1);
  if (r->write) m->written_until = wf_max(m->written_until, at + r->beats + WRITTEN);
  return at;
}

static inline __attribute__((always_inline)) served serve_hit(flow_memory *m, const request *r, flow_time ripe,
                                                              const l2_line *line) {
  if (line->available > flow_cycle(ripe)) ripe = flow_at(ripe, line->available + 1, FLOW_W_L2_SET);
  const uint64_t at = enter_pipe(m, r, flow_cycle(ripe)), last = behind_moves(m, r, at);
  if (last >= at + r->beats) flow_calendar_mark(&m->pipe.taken, at + r->beats, last + 1 - (at + r->beats));
  flow_calendar_mark(&m->placed, at, r->beats);
  const flow_time first = flow_pipe_hold(m->log, &m->pipe, ripe, at, last + 1 - at, FLOW_W_L2_PIPE);
  return (served){.first = first, .last = last, .free = first};
}

// Beats of answers that were given a place in the pipe while the line's words come go at the pace of the words, as they
// pass the same banks in the same order. Their places are kept; what they lose is taken from those behind.
static void slow_down(flow_memory *m, uint64_t start) {
  uint64_t beats = flow_calendar_count(&m->placed, start, wf_min(m->line_cycles, FLOW_CALENDAR_BITS));
  for (beats *= m->spacing - 1; beats > 0; beats--) start = flow_calendar_take(&m->pipe.taken, start, 1) + 1;
}

// A dirty victim leaves: so do beats beside its words.
static void hold_up(flow_memory *m, uint64_t at) {
  move_line(m, at);
  slow_down(m, at);
}

// The answer follows the words of the line, which arrive from `first` on.
static served answer_arriving(flow_memory *m, const request *r, flow_time first, uint64_t last) {
  flow_time from = flow_at(first, last + 1, FLOW_W_MEMORY_WIDTH);
  uint64_t length = r->beats;
  if (r->offset == 0) {
    from = flow_after(first, r->write ? 1 : m->spacing, FLOW_W_MEMORY_WIDTH);
    length = (r->beats - 1) * m->spacing + 1;
    if (r->write) length = r->beats;
  }
  const flow_time at = flow_pipe_take(m->log, &m->pipe, from, length, FLOW_W_L2_PIPE);
  return (served){.first = at, .last = flow_cycle(at) + length - 1};
}

// The register is free behind the cycle returned. A dirty victim is written behind the read of the line.
static flow_time release(flow_memory *m, uint32_t reg, flow_time asks, flow_time last, const l2_found *found) {
  if (!found->evicts) return flow_after(last, 1, FLOW_W_L2_LATENCY);
  const uint64_t left = m->left;
  if (found->evicts_dirty) {
    const uint64_t address = found->victim * m->line_bytes;
    const flow_time gone_from = flow_at(asks, left + 1, FLOW_W_L2_VICTIMS);
    hold_up(m, left);
    if (m->dram != NULL) {
      const flow_time sent = send_words(m, flow_after(gone_from, POSTED, FLOW_W_L2_VICTIMS), m->line_bytes);
      return flow_dram_post(
          m->dram, &(flow_posted){sent, flow_event(m->log, last), address, m->line_bytes, reg, m->registers.turn[reg]});
    }
    const flow_time gone = backing_write(m, gone_from, address, m->line_bytes);
    return flow_after(flow_later(last, gone), 1, FLOW_W_L2_VICTIMS);
  }
  last = flow_event(m->log, last);
  m->departing[m->departures++] = (departure){.left = left, .last = last, .reg = reg};
  departure *d = &m->departing[m->departures - 1];
  const uint64_t seen = seen_off_at(m, d, m->departures > 1 ? flow_cycle(d[-1].seen) : m->seen_off);
  d->seen = flow_at(last, seen, FLOW_W_L2_VICTIMS);
  return flow_after(flow_later(last, d->seen), 1, FLOW_W_L2_VICTIMS);
}

static __attribute__((noinline)) served serve_miss(flow_memory *m, const request *r, uint32_t reg, flow_time ripe,
                                                   const l2_found *found) {
  const flow_time asks = evict(m, ripe, found);
  flow_time first, last;
  if (r->whole) {
    first = last = flow_after(asks, PERMIT, FLOW_W_L2_LATENCY);
  } else {
    first = backing_read(m, asks, r->line * m->line_bytes, m->line_bytes);
    move_line(m, flow_cycle(first));
    slow_down(m, flow_cycle(first));
    last = flow_after(first, m->line_cycles - 1, FLOW_W_MEMORY_WIDTH);
  }
  found->line->available = flow_cycle(first);
  served s = answer_arriving(m, r, first, flow_cycle(last));
  s.free = flow_later(release(m, reg, asks, flow_later(last, s.first), found), s.first);
  return s;
}

// With one more register the request would wait for the one that the request before waited for.
static flow_time enter(flow_memory *m, flow_time at, flow_time free) {
  const flow_time before = m->register_before;
  m->register_before = free;
  if (flow_cycle(free) + 1 <= flow_cycle(at)) return flow_event(m->log, at);
  return flow_event_released(m->log, flow_after(free, 1, FLOW_W_L2_REGISTERS), flow_later(at, before));
}

// Polls that come before the request: a cycle of the entrance, one of the data pipe, and the next one `poll_cycles`
// behind the answer. Those of long ago met nothing.
static __attribute__((noinline)) flow_time behind_polls(flow_memory *m, flow_time enters) {
  const uint64_t period = LOOK + m->tail + m->poll_cycles, entry = flow_cycle(enters);
  uint64_t at = entry, free = flow_cycle(m->enter_from);
  if (m->poll_at + FEW_POLLS * period < at) m->poll_at += ((at - m->poll_at) / period - 1) * period;
  while (wf_max(m->poll_at, free) <= at) {
    const uint64_t polled = wf_max(m->poll_at, free);
    m->poll_at = flow_calendar_take(&m->pipe.taken, polled + LOOK, 1) + m->tail + m->poll_cycles;
    free = polled + 1;
    at += polled == at;
  }
  return at == entry ? enters : flow_at(flow_event(m->log, enters), at, FLOW_W_L2_QUEUE);
}

static inline void note_entry(flow_memory *m, flow_time enters, uint32_t beats) {
  if (beats == 1) {
    m->entered[m->beats_entered++ % WAITING] = enters;
    return;
  }
  for (uint32_t i = 0; i < beats && i < QUEUE_BEATS; i++) m->entered[(m->beats_entered + i) % WAITING] = enters;
  m->beats_entered += beats < QUEUE_BEATS ? beats : QUEUE_BEATS;
}

// Most lines are where they were the last time.
static inline l2_found look_up(flow_memory *m, uint64_t line) {
  uint32_t *place = &m->places[line & m->place_mask];
  if (m->tags.numbers[*place] == line + 1) {
    l2_tags_draw(&m->tags);
    return (l2_found){.line = &m->tags.lines[*place], .hit = true};
  }
  const l2_found found = l2_tags_read(&m->tags, line);
  *place = (uint32_t)(found.line - m->tags.lines);
  return found;
}

// It enters the L2 and is served; all at once.
static inline __attribute__((always_inline)) served serve(flow_memory *m, flow_time granted, const request *r) {
  const uint64_t number = l2_set_of(&m->tags, r->line);
  set_use *set = &m->sets[number];
  flow_time enters = flow_later(flow_after(granted, ENTER, FLOW_W_BUS), m->enter_from), taken;
  uint64_t look = LOOK;
  uint32_t reg = set->reg;
  if (m->departures != 0) see_off(m, flow_cycle(granted));
  if (m->poll_at <= flow_cycle(enters)) enters = behind_polls(m, enters);
  if (m->works_for[reg] == number && flow_cycle(m->registers.free[reg]) >= flow_cycle(enters)) {
    enters = flow_event(m->log, enters);
    taken = m->registers.free[reg];
    if (set->line == r->line) look = 1;
  } else {
    reg = flow_registers_first(&m->registers);
    taken = enters = enter(m, enters, m->registers.free[reg]);
  }
  const uint32_t in = r->write ? r->beats : 1;
  note_entry(m, enters, in);
  m->enter_from = flow_after(enters, in, FLOW_W_BUS);
  const l2_found found = look_up(m, r->line);
  flow_calendar_mark(&m->tags_read, flow_cycle(taken), 1);
  *(found.hit ? &m->counts.hits : &m->counts.misses) += 1;
  const flow_time ripe = flow_after(taken, look, FLOW_W_L2_LATENCY);
  const served s = found.hit ? serve_hit(m, r, ripe, found.line) : serve_miss(m, r, reg, ripe, &found);
  if (r->write) found.line->dirty = true;
  flow_registers_free(&m->registers, reg, flow_event(m->log, s.free));
  m->registers.turn[reg]++;
  m->works_for[reg] = number;
  set->line = r->line;
  set->reg = reg;
  return s;
}

// ---- bursts

static inline request part_of(const flow_memory *m, uint64_t address, uint32_t bytes, bool write, bool partial) {
  const uint32_t beats = bytes >> m->beat_shift;
  return (request){.line = address >> m->tags.line_shift,
                   .offset = (uint32_t)address & (m->line_bytes - 1),
                   .beats = beats == 0 ? 1 : beats,
                   .write = write,
                   .partial = partial,
                   .whole = write && !partial && bytes == m->line_bytes};
}

static uint32_t bytes_in_line(const flow_memory *m, uint64_t address, uint32_t bytes) {
  const uint32_t room = m->line_bytes - ((uint32_t)address & (m->line_bytes - 1));
  return bytes < room ? bytes : room;
}

// All lines of a burst; the last of their beats, and the first of the only one.
static __attribute__((noinline)) served serve_lines(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes,
                                                    bool write, bool partial) {
  served all = {.last = 0};
  while (bytes > 0) {
    const uint32_t part = bytes_in_line(m, address, bytes);
    const request r = part_of(m, address, part, write, partial);
    const served s = serve(m, at, &r);
    all.first = s.last > all.last ? s.first : all.first;
    all.last = wf_max(all.last, s.last);
    address += part;
    bytes -= part;
  }
  return all;
}

static inline __attribute__((always_inline)) served serve_burst(flow_memory *m, flow_time at, uint64_t address,
                                                                uint32_t bytes, bool write, bool partial) {
  if (bytes_in_line(m, address, bytes) < bytes) return serve_lines(m, at, address, bytes, write, partial);
  const request r = part_of(m, address, bytes, write, partial);
  return serve(m, at, &r);
}

static flow_answer bare_read(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes) {
  const flow_time first = backing_read(m, flow_after(at, 1, FLOW_W_BUS), address, bytes);
  return (flow_answer){.ready = flow_after(first, m->spacing, FLOW_W_MEMORY_WIDTH), .spacing = m->spacing};
}

void flow_memory_stream(flow_memory *m, const flow_stream *stream) { m->stream = *stream; }

flow_answer flow_memory_read(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes) {
  m->counts.reads++;
  m->counts.read_bytes += bytes;
  if (!m->l2) return bare_read(m, at, address, bytes);
  const uint64_t steps = (bytes >> m->beat_shift) - 1;
  const bool parted = bytes_in_line(m, address, bytes) < bytes;
  const served s = serve_burst(m, at, address, bytes, false, false);
  const uint64_t first = flow_cycle(s.first), length = s.last - first;
  const bool paced = !parted && length == steps * m->spacing;
  const uint64_t from = paced ? first : s.last - wf_min(s.last, steps);
  const flow_time ready = from == first ? s.first : flow_event(m->log, flow_at(s.first, from, FLOW_W_L2_PIPE));
  return (flow_answer){.ready = flow_after(ready, m->tail, FLOW_W_L2_LATENCY), .spacing = paced ? m->spacing : 1};
}

flow_time flow_memory_write(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes, bool partial) {
  m->stream.left = 0;
  m->counts.writes++;
  m->counts.written_bytes += bytes;
  const uint64_t beats = bytes >> m->beat_shift;
  const flow_time sent = flow_after(at, beats, FLOW_W_BUS);
  if (!m->l2) return flow_memory_answer(m, backing_write(m, sent, address, bytes), 1);
  const served s = serve_burst(m, at, address, bytes, true, partial);
  return flow_memory_answer(m, flow_later(flow_after(s.first, m->tail, FLOW_W_L2_LATENCY), sent), 1);
}

flow_time flow_memory_host(flow_memory *m, flow_time at, uint64_t address, bool write) {
  const uint32_t bytes = m->l2 ? m->line_bytes : m->beat_bytes;
  address &= ~(uint64_t)(bytes - 1);
  m->hart_bytes[write] += bytes;
  if (write) {
    m->counts.written_bytes += bytes;
    if (m->l2)
      serve_burst(m, at, address, bytes, true, false);
    else
      backing_write(m, flow_after(at, 1, FLOW_W_BUS), address, bytes);
    return at;
  }
  const flow_answer a = flow_memory_read(m, at, address, bytes);
  const uint64_t span = ((bytes >> m->beat_shift) - 1) * a.spacing + 1;
  return flow_after(flow_memory_answer(m, a.ready, (uint32_t)span), span - 1, FLOW_W_BUS);
}
