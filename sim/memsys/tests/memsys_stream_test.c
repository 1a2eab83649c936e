// SPDX-License-Identifier: Apache-2.0
// Random streams of requests against recorded answers: the cycle of every grant and of every beat, and the totals, as a
// digest per memory system. The record was made by a model that carried out the registers of the L2 cycle by cycle.
//
// A stream changes its manners every so often: lines in a row that fit the L2 or do not, single words, lines of few
// sets, writes of words and of lines, a hart beside them, and a port that takes bursts whole, beat by beat, or late.
#include "base/test.h"
#include "sim/memsys/memsys.h"

#define BASE UINT64_C(0x80000000)

enum { IDS = 16, CYCLES = 60000, MANNERS = 700 };

typedef struct stream_case {
  const char *name;
  uint64_t seed, disturb;
  uint32_t model, ways, registers, bus_bits, line_bytes, hit_latency, bytes_per_cycle, poll_cycles, capacity_kib;
  uint64_t digest;
} stream_case;

static const stream_case cases[] = {
#include "sim/memsys/tests/memsys_streams.def"
};

// AS_DRAWN: whole bursts, beat by beat or late. Both others begin a burst in some cycles only and take it as it comes.
typedef enum { AS_DRAWN, AT_ONCE, BEAT_BY_BEAT } port_kind;

typedef struct stream_state {
  memsys *m;
  uint64_t random, digest;
  uint64_t next;  // line
  uint64_t ask, wake;
  uint64_t host_asks;  // the cycle in which the host asks for its line again; 0: it waits for none
  unsigned bus, line;
  bool reading[IDS], writing[IDS];
  bool read_wanted, write_wanted;
  memsys_request read, write;
  port_kind port;
  uint64_t burst_end;  // the port takes its last beat; AT_ONCE
  unsigned burst_id;
  // manners
  unsigned pace, writes, kind, host, lazy;
  bool bursts;
} stream_state;

static uint64_t draw(stream_state *s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return s->random >> 11;
}

static void note(stream_state *s, uint64_t value) {
  s->digest = (s->digest ^ value) * UINT64_C(0x100000001b3);
  s->digest ^= s->digest >> 29;
}

static void choose_manners(stream_state *s) {
  s->pace = (unsigned)(draw(s) % 12);
  s->writes = (unsigned)(draw(s) % 3);
  s->kind = (unsigned)(draw(s) % 6);
  s->host = draw(s) % 3 == 0 ? 40 : 0;
  s->lazy = draw(s) % 4 == 0 ? 5 : 0;
  s->bursts = draw(s) % 2 == 0;
}

static memsys_request draw_request(stream_state *s, unsigned id) {
  memsys_request r = {.id = id, .bytes = s->line};
  switch (s->kind) {
    case 0:
      r.address = s->next++ % 64 * s->line;
      break;
    case 1:
      r.address = s->next++ % 512 * s->line;
      break;
    case 2:
      r.address = s->next++ % 100000 * s->line;
      break;
    case 3:
      r.address = draw(s) % 4096 * s->line;
      break;
    case 4:
      r.address = draw(s) % 16 * 0x8000 + draw(s) % 2 * s->line;
      break;
    default:
      r.bytes = s->bus << draw(s) % 3;
      r.address = draw(s) % 8192 * 64;
  }
  if (s->kind == 3 && draw(s) % 2 == 0) r.bytes = s->bus;
  r.address = BASE + (r.address + draw(s) % 4 * s->bus) / r.bytes * r.bytes;
  return r;
}

static unsigned free_id(const bool *used) {
  unsigned id = 0;
  while (id < IDS && used[id]) id++;
  return id;
}

static void want(stream_state *s) {
  unsigned read = free_id(s->reading), write = free_id(s->writing);
  if (!s->read_wanted && read < IDS && draw(s) % 12 >= s->pace) {
    s->read = draw_request(s, read);
    s->read_wanted = true;
  }
  if (!s->write_wanted && s->writes > 0 && write < IDS && draw(s) % 24 < s->writes) {
    s->write = draw_request(s, write);
    s->write_wanted = true;
  }
}

// Whether a beat was sent.
static bool send(stream_state *s, uint64_t cycle, unsigned *beats_left) {
  memsys_grant grant =
      memsys_arbitrate(s->m, cycle, s->read_wanted ? &s->read : NULL, s->write_wanted ? &s->write : NULL);
  if (grant == MEMSYS_NOBODY) return false;
  note(s, cycle << 2 | grant);
  if (grant == MEMSYS_READ) {
    memsys_read(s->m, cycle, &s->read);
    s->reading[s->read.id] = true;
    s->read_wanted = false;
    return true;
  }
  if (*beats_left == 0) *beats_left = s->write.bytes > s->bus ? s->write.bytes / s->bus : 1;
  s->writing[s->write.id] = true;
  memsys_write(s->m, cycle, &s->write);
  if (--*beats_left == 0) s->write_wanted = false;
  return true;
}

// Answers are shown in the same cycles, whether a burst is taken at once or beat by beat.
static void receive_evenly(stream_state *s, uint64_t cycle) {
  if (s->burst_end == cycle) s->reading[s->burst_id] = false;
  const memsys_beat *beat = s->burst_end > cycle ? NULL : memsys_response(s->m, cycle);
  if (beat == NULL || (beat->index == 0 && cycle / 64 % 2 == 0)) return;
  const memsys_beat shown = *beat;
  if (shown.index == 0) note(s, cycle << 9 | (uint64_t)shown.id << 1 | shown.write);
  if (s->port == AT_ONCE && !shown.write) {
    const memsys_burst burst = memsys_take_burst(s->m, cycle);
    const uint64_t soonest = cycle + burst.beats - 1, there = burst.ready + (burst.beats - 1) * burst.spacing;
    s->burst_end = soonest > there ? soonest : there;
    s->burst_id = shown.id;
    if (s->burst_end == cycle) s->reading[shown.id] = false;
  } else {
    memsys_take(s->m, cycle);
    if (shown.last) (shown.write ? s->writing : s->reading)[shown.id] = false;
  }
}

static void receive(stream_state *s, uint64_t cycle) {
  if (s->wake > cycle) return;
  const memsys_beat *beat = memsys_response(s->m, cycle);
  if (beat == NULL) {
    s->wake = memsys_next_response(s->m, cycle + 1);
    return;
  }
  const memsys_beat shown = *beat;
  note(s, cycle << 16 | (uint64_t)shown.id << 8 | (uint64_t)shown.write << 7 | shown.index);
  if (s->lazy != 0 && draw(s) % s->lazy != 0) return;
  bool last = shown.last;
  if (s->bursts && !shown.write && shown.index == 0) {
    memsys_burst burst = memsys_take_burst(s->m, cycle);
    note(s, burst.ready << 8 | burst.spacing << 4 | burst.beats);
    last = true;
  } else {
    memsys_take(s->m, cycle);
  }
  if (last) (shown.write ? s->writing : s->reading)[shown.id] = false;
}

// The host has one line at a time on its way, and sends others back.
static void serve_host(stream_state *s, uint64_t cycle) {
  if (s->host != 0 && draw(s) % s->host == 0) {
    const uint64_t address = BASE + draw(s) % 8192 * s->line;
    const bool write = draw(s) % 3 == 0;
    if (write || s->host_asks == 0) memsys_host_ask(s->m, cycle, address, write);
    if (!write && s->host_asks == 0) s->host_asks = cycle + 1;
  }
  if (s->host_asks != cycle) return;
  const uint64_t there = memsys_host_there(s->m, cycle, &s->host_asks);
  if (there == MEMSYS_UNKNOWN) return;
  note(s, cycle << 32 ^ there);
  s->host_asks = 0;
}

static uint64_t digest_of(const stream_case *x, port_kind port) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = x->model;
  array.memory.bytes_per_cycle = x->bytes_per_cycle;
  array.l2.ways = x->ways;
  array.l2.misses_in_flight = x->registers;
  array.l2.line_bytes = x->line_bytes;
  array.l2.hit_latency = x->hit_latency;
  array.l2.capacity_kib = x->capacity_kib;
  array.dma.bus_bits = x->bus_bits;
  array.host.poll_cycles = x->poll_cycles;
  stream_state s = {
      .m = memsys_create(&array), .random = x->seed, .bus = x->bus_bits / 8, .line = x->line_bytes, .port = port};
  if (x->disturb != 0) memsys_disturb(s.m, x->disturb);
  unsigned beats_left = 0;
  for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
    if (cycle % MANNERS == 0) choose_manners(&s);
    if (port == AS_DRAWN)
      receive(&s, cycle);
    else
      receive_evenly(&s, cycle);
    want(&s);
    const bool sent = (s.read_wanted || s.write_wanted) && send(&s, cycle, &beats_left);
    serve_host(&s, cycle);
    // Another caller may have asked, so an answer may come before it was expected.
    if (sent && s.wake > cycle)
      s.wake = memsys_next_response_with(s.m, cycle, s.wake);
    else
      s.wake = memsys_next_response(s.m, cycle + 1);
  }
  memsys_counts totals = memsys_totals(s.m, CYCLES - 1);
  note(&s, totals.reads << 32 | totals.writes);
  note(&s, totals.hits << 32 | totals.misses);
  note(&s, totals.fetched_bytes << 32 | totals.written_back_bytes);
  assert_true(totals.reads > (port == AS_DRAWN ? 500 : 100));
  memsys_destroy(s.m);
  return s.digest;
}

static void streams_are_answered_as_recorded(void **state) {
  (void)state;
  unsigned wrong = 0;
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
    uint64_t digest = digest_of(&cases[n], AS_DRAWN);
    if (digest == cases[n].digest) continue;
    fprintf(stderr, "%s: 0x%016llx\n", cases[n].name, (unsigned long long)digest);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

static void bursts_may_be_taken_at_once(void **state) {
  (void)state;
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++)
    assert_int_equal(digest_of(&cases[n], AT_ONCE), digest_of(&cases[n], BEAT_BY_BEAT));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(streams_are_answered_as_recorded),
                                     cmocka_unit_test(bursts_may_be_taken_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
