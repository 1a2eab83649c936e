// SPDX-License-Identifier: Apache-2.0
// Timing of main memory: see memsys.h for the rules this file implements. This is the port: who may send, and which
// answer is there. What the answers are is decided by the L2 (l2.h), or here when there is none.
//
// Answers leave in the order in which they stand in `answers`. With an L2 that is the order in which it gives them;
// without, a request is answered when memory has its data, so it is put in its place by the cycle of its first beat.
#include "sim/memsys/memsys.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "sim/memsys/answers.h"
#include "sim/memsys/backing.h"
#include "sim/memsys/l2.h"

// Requests under way, and those of them that wait for memory when there is no L2.
enum { MAX_UNDER_WAY = 1024, MAX_WAITING = 512 };
// Requests that an observer is still to be told of, by their order; beats of the longest burst on the narrowest bus.
enum { SEEN = 4096, SEEN_BEATS = 1024 };

struct memsys {
  unsigned bus_bytes, host_bytes;  // host: of what it asks for at a time
  memsys_l2 *l2;                   // NULL: none
  memsys_backing *memory;
  memsys_answers answers;
  // request channel
  unsigned write_beats_left;  // of the burst under way
  uint64_t write_order;       // of the write that was sent last
  uint64_t write_answer;      // the earliest cycle
  bool write_was_last;        // the channel's last grant, for alternation
  // response channel
  unsigned beat;  // of the burst under way
  memsys_beat shown;
  uint64_t order;  // of requests
  // without L2
  memsys_answer waiting[MAX_WAITING];  // answers that memory has not decided on, by tag
  bool used[MAX_WAITING];
  unsigned wait_count;
  uint64_t disturb;  // seed, 0: none
  memsys_counts counts;
  // what is told
  memsys_observer *observer;  // NULL: nothing
  void *observer_context;
  memsys_seen *seen;
  uint64_t beat_cycles[SEEN_BEATS];
};

memsys *memsys_create(const hw_array *array) {
  memsys *m = WF_NEW(memsys);
  m->bus_bytes = array->dma.bus_bits / 8;
  m->host_bytes = array->l2.present ? array->l2.line_bytes : m->bus_bytes;
  // A register of the L2 reads a line and writes a victim.
  m->memory = memsys_backing_create(array, array->l2.present ? 2 * array->l2.misses_in_flight : MAX_WAITING);
  m->write_order = UINT64_MAX;
  if (array->l2.present)
    m->l2 = memsys_l2_create(array, m->memory, &m->answers, &m->counts);
  else
    memsys_answers_init(&m->answers, MAX_UNDER_WAY + MAX_WAITING);
  return m;
}

void memsys_destroy(memsys *m) {
  if (m == NULL) return;
  memsys_l2_destroy(m->l2);
  memsys_answers_free(&m->answers);
  memsys_backing_destroy(m->memory);
  wf_free(m->seen);
  wf_free(m);
}

static unsigned beats_of(const memsys *m, unsigned bytes) { return bytes <= m->bus_bytes ? 1 : bytes / m->bus_bytes; }

// ---- observer

void memsys_observe(memsys *m, memsys_observer *observer, void *context) {
  m->observer = observer;
  m->observer_context = context;
  wf_free(m->seen);
  m->seen = observer == NULL ? NULL : WF_NEW_ARRAY(SEEN, memsys_seen);
}

static void note_request(memsys *m, uint64_t cycle, const memsys_request *request, bool write) {
  if (m->observer == NULL) return;
  m->seen[m->order % SEEN] = (memsys_seen){
      .write = write, .id = request->id, .bytes = request->bytes, .address = request->address, .asked = cycle};
}

// Requests from before the observer came are not told of.
static void tell(memsys *m, const memsys_answer *given) {
  memsys_seen *seen = &m->seen[given->order % SEEN];
  if (seen->bytes == 0) return;
  seen->beats = given->beats;
  seen->beat_cycles = m->beat_cycles;
  m->observer(m->observer_context, seen);
  seen->bytes = 0;
}

static void note_beat(memsys *m, const memsys_answer *given, unsigned beat, uint64_t cycle) {
  if (m->observer == NULL) return;
  m->beat_cycles[beat] = cycle;
  if (beat + 1 == given->beats) tell(m, given);
}

// ---- disturbance

static uint64_t draw(const memsys *m, uint64_t number) {
  return wf_random_mix(m->disturb + number * UINT64_C(0x9e3779b97f4a7c15));
}

// Half of the answers are on time, most others a little late, a few very late.
static uint64_t lateness(const memsys *m, uint64_t order) {
  if (m->disturb == 0) return 0;
  uint64_t x = draw(m, order << 1);
  return x % 2 == 0 ? 0 : (x >> 1) % 16 == 0 ? (x >> 8) % 300 : (x >> 8) % 20;
}

static bool turned_away(const memsys *m, uint64_t cycle) { return m->disturb != 0 && draw(m, cycle << 1 | 1) % 4 == 0; }

// ---- without L2

static bool before(const memsys_answer *a, const memsys_answer *b) {
  return a->shown < b->shown || (a->shown == b->shown && a->order < b->order);
}

// Into its place; nearly always the last one. The burst being answered keeps its place.
static void insert(memsys *m, memsys_answer *given) {
  memsys_answers *a = &m->answers;
  given->shown = given->ready += lateness(m, given->order);
  a->drained = a->head;
  given->taken = UINT64_MAX;
  *memsys_answers_add(a) = *given;
  uint64_t place = a->end - 1, first = a->head + (m->answers.answering ? 1 : 0);
  for (; place > first && before(given, memsys_answer_at(a, place - 1)); place--)
    *memsys_answer_at(a, place) = *memsys_answer_at(a, place - 1);
  *memsys_answer_at(a, place) = *given;
}

static unsigned free_tag(const memsys *m) {
  unsigned tag = 0;
  while (m->used[tag]) tag++;
  return tag;
}

// It is answered when memory has decided.
static void wait_for_memory(memsys *m, unsigned tag, const memsys_answer *given) {
  m->waiting[tag] = *given;
  m->used[tag] = true;
  m->wait_count++;
}

// Memory has data from this cycle on, or sends it: the first beat is there when its last word is.
static void bare_answer(memsys *m, memsys_answer *given, uint64_t cycle) {
  if (given->host && given->write) return;
  given->ready = given->write ? cycle : cycle + given->spacing;
  insert(m, given);
}

static void bare_read(memsys *m, uint64_t cycle, const memsys_request *request) {
  const unsigned tag = free_tag(m);
  memsys_answer given = {.spacing = memsys_backing_spacing(m->memory),
                         .order = m->order,
                         .id = request->id,
                         .beats = beats_of(m, request->bytes)};
  m->counts.misses++;
  m->counts.fetched_bytes += request->bytes;
  const uint64_t first = memsys_backing_read(m->memory, cycle + 1, request->address, request->bytes, tag);
  if (first == BACKING_UNKNOWN)
    wait_for_memory(m, tag, &given);
  else
    bare_answer(m, &given, first);
}

// Answered when memory has it.
static void bare_write(memsys *m, uint64_t cycle, const memsys_request *request) {
  const unsigned tag = free_tag(m);
  memsys_answer given = {.spacing = 1, .order = m->write_order, .id = request->id, .beats = 1, .write = true};
  m->counts.misses++;
  m->counts.written_back_bytes += request->bytes;
  const uint64_t there = memsys_backing_write(m->memory, cycle + 1, request->address, request->bytes, tag);
  if (there == BACKING_UNKNOWN)
    wait_for_memory(m, tag, &given);
  else
    bare_answer(m, &given, there);
}

static void bare_decisions(memsys *m, uint64_t cycle) {
  memsys_backing_decision decision;
  while (memsys_backing_decide(m->memory, cycle, &decision)) {
    m->used[decision.tag] = false;
    m->wait_count--;
    bare_answer(m, &m->waiting[decision.tag], decision.cycle);
  }
  memsys_answers_pass_host(&m->answers, cycle);
}

// ---- request channel

// What lies behind the port comes to `cycle`.
static void catch_up(memsys *m, uint64_t cycle) {
  if (m->l2 != NULL)
    memsys_l2_run(m->l2, cycle);
  else
    bare_decisions(m, cycle);
}

static bool acceptable(const memsys *m) {
  if (m->l2 != NULL) return memsys_l2_room(m->l2);
  return m->wait_count < MAX_WAITING && m->answers.end - m->answers.head < MAX_UNDER_WAY;
}

memsys_grant memsys_arbitrate(memsys *m, uint64_t cycle, const memsys_request *read, const memsys_request *write) {
  if (turned_away(m, cycle)) return MEMSYS_NOBODY;
  if (m->write_beats_left != 0) return write != NULL ? MEMSYS_WRITE : MEMSYS_NOBODY;
  // Room on the way to the L2 does not go away by itself.
  if (m->l2 == NULL || !acceptable(m)) catch_up(m, cycle);
  if (!acceptable(m)) return MEMSYS_NOBODY;
  if (read != NULL && write != NULL) return m->write_was_last ? MEMSYS_READ : MEMSYS_WRITE;
  return read != NULL ? MEMSYS_READ : write != NULL ? MEMSYS_WRITE : MEMSYS_NOBODY;
}

uint64_t memsys_next_grant(memsys *m, uint64_t cycle) {
  if (m->disturb != 0 || m->write_beats_left != 0 || m->l2 == NULL || acceptable(m)) return cycle + 1;
  return wf_max(cycle + 1, memsys_l2_next_room(m->l2));
}

void memsys_read(memsys *m, uint64_t cycle, const memsys_request *request) {
  assert(m->write_beats_left == 0);
  note_request(m, cycle, request, false);
  if (m->l2 != NULL)
    memsys_l2_send(m->l2, cycle, request, false, m->order, lateness(m, m->order));
  else {
    bare_decisions(m, cycle);
    bare_read(m, cycle, request);
  }
  m->order++;
  m->write_was_last = false;
  m->counts.reads++;
  m->counts.read_bytes += request->bytes;
}

// The L2 works with the first beat; the answer comes after the last one.
void memsys_write(memsys *m, uint64_t cycle, const memsys_request *request) {
  m->write_was_last = true;
  if (m->write_beats_left == 0) {
    m->write_beats_left = beats_of(m, request->bytes);
    note_request(m, cycle, request, true);
    m->write_order = m->order++;
    m->counts.writes++;
    m->counts.written_bytes += request->bytes;
    if (m->l2 != NULL) memsys_l2_send(m->l2, cycle, request, true, m->write_order, lateness(m, m->write_order));
  }
  if (--m->write_beats_left != 0) return;
  m->write_answer = cycle + 1;
  if (m->l2 != NULL) return;
  bare_decisions(m, cycle);
  bare_write(m, cycle, request);
}

// ---- response channel

// The first cycle from `cycle` on in which the answer at the head has a beat; UINT64_MAX: there is none, or it is for a
// write whose last beat is still to be sent.
static uint64_t next_known(memsys *m, uint64_t cycle) {
  if (m->answers.head == m->answers.end) return UINT64_MAX;
  if (m->answers.answering) return wf_max(cycle, m->answers.next_beat);
  const memsys_answer *head = memsys_answer_at(&m->answers, m->answers.head);
  uint64_t at = wf_max(wf_max(cycle, head->shown), m->answers.next_beat);
  if (!head->write || head->order != m->write_order) return at;
  return m->write_beats_left != 0 ? UINT64_MAX : wf_max(at, m->write_answer);
}

// What memory decides next may come before what is known.
static uint64_t bare_next(const memsys *m, uint64_t known) {
  uint64_t decision = m->wait_count == 0 ? UINT64_MAX : memsys_backing_next(m->memory);
  return decision < known ? decision : known;
}

uint64_t memsys_next_response(memsys *m, uint64_t cycle) {
  uint64_t next = next_known(m, cycle);
  if (m->answers.answering || (next != UINT64_MAX && m->l2 != NULL)) return next;
  if (m->l2 == NULL) {
    next = bare_next(m, next);
  } else if (m->answers.head == m->answers.end) {
    // The question may come in the cycle before, which is not over: a caller may still send.
    catch_up(m, cycle == 0 ? 0 : cycle - 1);
    next = m->answers.head != m->answers.end ? next_known(m, cycle) : memsys_l2_next_answer(m->l2);
  }
  return next == UINT64_MAX ? UINT64_MAX : wf_max(wf_max(cycle, next), m->answers.next_beat);
}

uint64_t memsys_next_response_with(memsys *m, uint64_t cycle, uint64_t before) {
  // An answer that is known may have waited for the last beat of its write.
  if (m->l2 == NULL || m->answers.head != m->answers.end) return memsys_next_response(m, cycle + 1);
  const uint64_t own = memsys_l2_next_own(m->l2, cycle);
  return own < before ? own : before;
}

uint64_t memsys_soonest_answer(const memsys *m, uint64_t cycle) {
  return m->l2 == NULL ? cycle + 1 : memsys_l2_next_own(m->l2, cycle);
}

const memsys_beat *memsys_response(memsys *m, uint64_t cycle) {
  // Behind an L2 what is decided later stands behind what is known.
  if (!m->answers.answering && (m->l2 == NULL || m->answers.head == m->answers.end)) catch_up(m, cycle);
  if (next_known(m, cycle) != cycle) return NULL;
  if (!m->answers.answering) {
    m->answers.answering = true;
    m->beat = 0;
  }
  const memsys_answer *p = memsys_answer_at(&m->answers, m->answers.head);
  m->shown = (memsys_beat){.write = p->write, .id = p->id, .index = m->beat, .last = m->beat + 1 == p->beats};
  return &m->shown;
}

static void answered(memsys *m, uint64_t last) {
  memsys_answers_taken(&m->answers, last);
  m->answers.port_free = last + 1;
  memsys_answers_pass_host(&m->answers, m->l2 != NULL ? UINT64_MAX : last + 1);
}

void memsys_take(memsys *m, uint64_t cycle) {
  assert(m->answers.answering);
  const memsys_answer *p = memsys_answer_at(&m->answers, m->answers.head);
  note_beat(m, p, m->beat, cycle);
  m->beat++;
  m->answers.next_beat = cycle + 1;
  if (m->beat == p->beats)
    answered(m, cycle);
  else
    m->answers.next_beat = wf_max(m->answers.next_beat, p->ready + m->beat * p->spacing);
}

memsys_burst memsys_take_burst(memsys *m, uint64_t cycle) {
  assert(m->answers.answering && m->beat == 0);
  const memsys_answer *p = memsys_answer_at(&m->answers, m->answers.head);
  memsys_burst burst = {.ready = p->ready, .spacing = p->spacing, .beats = p->beats};
  uint64_t last = cycle;
  // Beat n comes in max(beat n - 1 + 1, ready + n * spacing), so the last one is decided by its own limit or the first.
  last = wf_max(cycle + p->beats - 1, p->ready + (p->beats - 1) * p->spacing);
  for (unsigned beat = 0; m->observer != NULL && beat < p->beats; beat++)
    note_beat(m, p, beat, wf_max(cycle + beat, p->ready + beat * p->spacing));
  answered(m, last);
  return burst;
}

// ---- host

// Without an L2 the host is served as the port is: a bus word, or the answer for it.
static void bare_host(memsys *m, uint64_t cycle, uint64_t address, bool write) {
  const unsigned tag = free_tag(m);
  const uint64_t base = address & ~(uint64_t)(m->bus_bytes - 1);
  memsys_answer given = {
      .spacing = memsys_backing_spacing(m->memory), .order = m->order++, .beats = 1, .write = write, .host = true};
  *(write ? &m->counts.written_back_bytes : &m->counts.fetched_bytes) += m->bus_bytes;
  const uint64_t there = write ? memsys_backing_write(m->memory, cycle + 1, base, m->bus_bytes, tag)
                               : memsys_backing_read(m->memory, cycle + 1, base, m->bus_bytes, tag);
  if (there == BACKING_UNKNOWN)
    wait_for_memory(m, tag, &given);
  else
    bare_answer(m, &given, there);
}

void memsys_host_ask(memsys *m, uint64_t cycle, uint64_t address, bool write) {
  catch_up(m, cycle);
  if (!write && m->answers.host_lines++ == 0) m->answers.host_there = 0;
  *(write ? &m->counts.written_bytes : &m->counts.read_bytes) += m->host_bytes;
  if (m->l2 != NULL)
    memsys_l2_host(m->l2, cycle, address, write);
  else
    bare_host(m, cycle, address, write);
}

// Its answer waits behind those that the port takes, or is still to come.
static uint64_t host_next(memsys *m) {
  if (m->answers.head != m->answers.end) return memsys_answer_at(&m->answers, m->answers.head)->shown;
  return m->l2 == NULL ? memsys_backing_next(m->memory) : memsys_l2_next_data(m->l2);
}

uint64_t memsys_host_there(memsys *m, uint64_t cycle, uint64_t *next) {
  catch_up(m, cycle);
  const bool answered = m->answers.host_lines == 0;
  if (answered && m->answers.host_known <= cycle) return m->answers.host_there;
  *next = answered ? m->answers.host_known : wf_max(host_next(m), cycle) + 1;
  return MEMSYS_UNKNOWN;
}

memsys_counts memsys_totals(memsys *m, uint64_t cycle) {
  catch_up(m, cycle);
  return m->counts;
}

void memsys_disturb(memsys *m, uint64_t seed) { m->disturb = seed; }
