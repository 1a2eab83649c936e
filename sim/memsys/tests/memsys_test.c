// SPDX-License-Identifier: Apache-2.0
// The memory timing against its closed formulas: unloaded latency (probed at t - 1 and t), streaming rates, order,
// limits. All expectations come from the array's parameters.
#include "sim/memsys/memsys.h"

#include "base/test.h"
#include "sim/memsys/tests/arrays.h"
#include "sim/memsys/tests/host_line.h"

#define BASE UINT64_C(0x80000000)

static void send_read(memsys *m, uint64_t cycle, unsigned id, uint64_t address, unsigned bytes) {
  memsys_request request = {.id = id, .address = address, .bytes = bytes};
  assert_int_equal(memsys_arbitrate(m, cycle, &request, NULL), MEMSYS_READ);
  memsys_read(m, cycle, &request);
}

// Takes every beat as soon as it is there, up to the end of everything; returns the cycle of the last beat.
static uint64_t drain(memsys *m, uint64_t cycle, unsigned *beats) {
  uint64_t last = cycle, next;
  *beats = 0;
  for (; (next = memsys_next_response(m, cycle)) != UINT64_MAX; cycle = next + 1) {
    if (memsys_response(m, next) == NULL) continue;
    memsys_take(m, next);
    last = next;
    ++*beats;
  }
  return last;
}

static void unloaded_latency_is_the_formula(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  uint64_t miss = 100 + array.l2.hit_latency + array.memory.latency_cycles;
  send_read(m, 100, 0, BASE, 64);
  assert_null(memsys_response(m, miss - 1));
  assert_non_null(memsys_response(m, miss));
  unsigned beats;
  uint64_t end = drain(m, miss, &beats);
  assert_int_equal(beats, 64 / (array.dma.bus_bits / 8));
  uint64_t spacing = array.dma.bus_bits / 8 / array.memory.bytes_per_cycle;
  assert_int_equal(end, miss + (beats - 1) * spacing);
  uint64_t hit = 1000 + array.l2.hit_latency;
  send_read(m, 1000, 0, BASE, 64);
  assert_null(memsys_response(m, hit - 1));
  assert_int_equal(drain(m, hit, &beats), hit + beats - 1);
  memsys_destroy(m);
}

// Streams `count` bursts of 64 bytes from line `first` on with at most `window` under way; returns the cycles from
// first request to last beat.
static uint64_t stream_from(memsys *m, uint64_t start, unsigned first, unsigned count, unsigned window) {
  unsigned sent = 0, done = 0;
  uint64_t cycle = start;
  for (; done < count; cycle++) {
    const memsys_beat *beat = memsys_response(m, cycle);
    if (beat != NULL) {
      bool last = beat->last;
      memsys_take(m, cycle);
      done += last;
    }
    memsys_request request = {.id = sent % window, .address = BASE + 64 * ((uint64_t)first + sent), .bytes = 64};
    if (sent < count && sent - done < window && memsys_arbitrate(m, cycle, &request, NULL) == MEMSYS_READ) {
      memsys_read(m, cycle, &request);
      sent++;
    }
  }
  return cycle - 1 - start;
}

static uint64_t stream(memsys *m, uint64_t start, unsigned count, unsigned window) {
  return stream_from(m, start, 0, count, window);
}

static void streams_reach_the_peak(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  enum { COUNT = 1000 };
  uint64_t cold = stream(m, 0, COUNT, array.dma.reads_in_flight);
  uint64_t peak_cold = COUNT * 64 / array.memory.bytes_per_cycle;
  uint64_t latency = array.l2.hit_latency + array.memory.latency_cycles;
  assert_in_range(cold, peak_cold, peak_cold + 2 * latency);
  uint64_t warm = stream(m, cold + 1000, COUNT, array.dma.reads_in_flight);
  uint64_t peak_warm = COUNT * 64 / (array.dma.bus_bits / 8);
  assert_in_range(warm, peak_warm, peak_warm + 2 * array.l2.hit_latency);
  memsys_counts counts = memsys_totals(m, cold + 1000 + warm);
  assert_int_equal(counts.misses, COUNT);
  assert_int_equal(counts.hits, COUNT);
  assert_int_equal(counts.fetched_bytes, COUNT * 64);
  memsys_destroy(m);
}

// Misses beyond the registers wait on the way, in order and before requests that would hit; then the port is refused.
static void misses_are_limited(void **state) {
  (void)state;
  enum { REGISTERS = 3, ON_THE_WAY = 6 };
  hw_array array = fixed_array();
  array.l2.misses_in_flight = REGISTERS;
  memsys *m = memsys_create(&array);
  unsigned sent = 0;
  for (; sent < REGISTERS + ON_THE_WAY; sent++) send_read(m, sent, sent, BASE + 64 * sent, 64);
  memsys_request next = {.id = sent, .address = BASE + 64 * sent, .bytes = 64},
                 same_line = {.id = sent, .address = BASE, .bytes = 16};
  assert_int_equal(memsys_arbitrate(m, sent, &next, NULL), MEMSYS_NOBODY);
  assert_int_equal(memsys_arbitrate(m, sent, &same_line, NULL), MEMSYS_NOBODY);
  // The first register becomes free with the last word of its line, which is noted in the cycle after; in the next one
  // the first request that waits enters.
  uint64_t line = array.l2.line_bytes / array.memory.bytes_per_cycle;
  uint64_t last_word = 1 + 2 + array.memory.latency_cycles - 2 + line - 1, room = last_word + 3;
  assert_int_equal(memsys_arbitrate(m, room - 1, &next, NULL), MEMSYS_NOBODY);
  assert_int_equal(memsys_arbitrate(m, room, &next, NULL), MEMSYS_READ);
  memsys_destroy(m);
}

static void reads_and_writes_alternate_but_bursts_hold(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  memsys_request read = {.id = 0, .address = BASE, .bytes = 16}, write = {.id = 0, .address = BASE + 4096, .bytes = 64};
  unsigned beats = write.bytes / (array.dma.bus_bits / 8);
  assert_int_equal(memsys_arbitrate(m, 0, &read, &write), MEMSYS_WRITE);
  for (unsigned i = 0; i < beats; i++) {
    assert_int_equal(memsys_arbitrate(m, i, &read, &write), MEMSYS_WRITE);
    assert_int_equal(memsys_arbitrate(m, i, &read, i == 0 ? &write : NULL), i == 0 ? MEMSYS_WRITE : MEMSYS_NOBODY);
    memsys_write(m, i, &write);
  }
  write.id = 1;
  assert_int_equal(memsys_arbitrate(m, beats, &read, &write), MEMSYS_READ);
  memsys_read(m, beats, &read);
  assert_int_equal(memsys_arbitrate(m, beats + 1, &read, &write), MEMSYS_WRITE);
  memsys_destroy(m);
}

static void whole_line_writes_fetch_nothing(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  unsigned bus = array.dma.bus_bits / 8, beats = array.l2.line_bytes / bus;
  memsys_request whole = {.id = 0, .address = BASE, .bytes = array.l2.line_bytes},
                 part = {.id = 1, .address = BASE + 4096, .bytes = bus};
  for (unsigned i = 0; i < beats; i++) memsys_write(m, i, &whole);
  unsigned drained;
  assert_int_equal(drain(m, beats, &drained), array.l2.hit_latency + 4);
  assert_int_equal(memsys_totals(m, 50).fetched_bytes, 0);
  memsys_write(m, 50, &part);
  uint64_t answer =
      50 + array.l2.hit_latency + array.memory.latency_cycles - 1;  // the first word of the line is enough
  assert_int_equal(drain(m, 51, &drained), answer);
  assert_int_equal(memsys_totals(m, answer).fetched_bytes, array.l2.line_bytes);
  memsys_destroy(m);
}

// A write of a line that keeps some of its bytes fetches them.
static void partial_lines_are_fetched(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  unsigned beats = array.l2.line_bytes / (array.dma.bus_bits / 8), drained;
  memsys_request line = {.id = 0, .address = BASE, .bytes = array.l2.line_bytes, .partial = true};
  for (unsigned i = 0; i < beats; i++) memsys_write(m, i, &line);
  const uint64_t first = array.l2.hit_latency + array.memory.latency_cycles;  // a cycle more: its beats are read first
  assert_int_equal(drain(m, beats, &drained), first);
  assert_int_equal(memsys_totals(m, first).fetched_bytes, array.l2.line_bytes);
  memsys_destroy(m);
}

// The hart's line waits for a register as a request of the port does, and for its turn on the way to the port.
static void host_lines_wait_in_turn(void **state) {
  (void)state;
  enum { SENT = 6 };
  hw_array array = fixed_array();
  array.l2.misses_in_flight = 1;
  memsys *m = memsys_create(&array);
  const uint64_t alone = host_line(m, 0, BASE + 64 * 100), line = array.l2.line_bytes / array.memory.bytes_per_cycle;
  for (unsigned sent = 0; sent < SENT; sent++) send_read(m, 1000 + sent, sent, BASE + 64 * sent, 64);
  memsys_host_ask(m, 1000 + SENT, BASE + 64 * 200, false);
  uint64_t there = MEMSYS_UNKNOWN;
  unsigned beats = 0;
  for (uint64_t cycle = 1000 + SENT, next = 0; there == MEMSYS_UNKNOWN; cycle++) {
    if (memsys_response(m, cycle) != NULL) {
      memsys_take(m, cycle);
      beats++;
    }
    there = memsys_host_there(m, cycle, &next);
  }
  assert_int_equal(beats, SENT * array.l2.line_bytes / (array.dma.bus_bits / 8));
  assert_true(there > 1000 + (SENT + 1) * (array.memory.latency_cycles + line));
  assert_true(alone < array.l2.hit_latency + array.memory.latency_cycles + 2 * line);
  memsys_destroy(m);
}

// A miss that pushes a dirty line out: its read waits for the words of the victim where memory has a fixed latency; a
// DRAM controller takes it before.
static void reads_pass_victims_to_dram(void **state) {
  (void)state;
  for (unsigned dram = 0; dram < 2; dram++) {
    hw_array array = fixed_array();
    if (dram != 0) array.memory.model = HW_MEMORY_DDR3;
    array.l2.ways = 1;
    memsys *m = memsys_create(&array);
    const uint64_t way = (uint64_t)array.l2.capacity_kib * 1024,
                   line = array.l2.line_bytes / array.memory.bytes_per_cycle;
    const uint64_t clean = host_line(m, 0, BASE);
    memsys_host_ask(m, 6000, BASE, true);
    const uint64_t dirty = host_line(m, 12000, BASE + way) - 12000;
    assert_int_equal(memsys_totals(m, 18000).written_back_bytes, array.l2.line_bytes);
    if (dram != 0)
      assert_in_range(dirty, clean, clean + 2);
    else
      assert_in_range(dirty, clean + line, clean + line + 2);
    memsys_destroy(m);
  }
}

// A line for the hart is there when the port would have the last beat of a read of as many bytes.
static void host_lines_end_with_their_last_beat(void **state) {
  (void)state;
  hw_array array = fixed_array();
  unsigned beats = array.l2.line_bytes / (array.dma.bus_bits / 8);
  unsigned pace = array.dma.bus_bits / 8 / array.memory.bytes_per_cycle;  // cycles of a beat that comes from memory
  assert_int_equal(pace, 2);
  memsys *m = memsys_create(&array);
  uint64_t first = array.l2.hit_latency + array.memory.latency_cycles;
  assert_int_equal(host_line(m, 0, BASE), first + pace * (beats - 1));
  assert_int_equal(host_line(m, 1000, BASE), 1000 + array.l2.hit_latency + beats - 1);
  memsys_destroy(m);
}

static void dirty_lines_are_written_back(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  uint64_t capacity = (uint64_t)array.l2.capacity_kib * 1024;
  uint64_t cycle = 0;
  for (uint64_t at = 0; at < 2 * capacity; at += array.l2.line_bytes, cycle += 100)
    memsys_host_ask(m, cycle, BASE + at, true);
  memsys_counts counts = memsys_totals(m, cycle);
  assert_int_equal(counts.misses, 2 * capacity / array.l2.line_bytes);
  // Victims are drawn, so some lines go twice before others go at all.
  assert_in_range(counts.written_back_bytes, capacity, capacity + capacity / 4);
  memsys_destroy(m);
}

static void without_l2_every_access_pays(void **state) {
  (void)state;
  hw_array array = fixed_array();
  array.l2.present = false;
  memsys *m = memsys_create(&array);
  for (int i = 0; i < 2; i++) {
    uint64_t start = 1000 * (uint64_t)i;
    send_read(m, start, 0, BASE, 16);
    assert_int_equal(memsys_next_response(m, start), start + 1 + array.memory.latency_cycles);
    unsigned beats;
    drain(m, start, &beats);
  }
  memsys_destroy(m);
}

// Sends reads in consecutive cycles and takes answers as they come; notes whose they are and when their first beats
// came.
static void read_all(memsys *m, uint64_t start, const memsys_request *requests, unsigned count, unsigned *ids,
                     uint64_t *first_beats) {
  unsigned sent = 0, answered = 0, done = 0;
  for (uint64_t cycle = start; done < count; cycle++) {
    const memsys_beat *beat = memsys_response(m, cycle);
    if (beat != NULL) {
      if (beat->index == 0) {
        ids[answered] = beat->id;
        first_beats[answered++] = cycle - start;
      }
      done += beat->last;
      memsys_take(m, cycle);
    }
    if (sent < count && memsys_arbitrate(m, cycle, &requests[sent], NULL) == MEMSYS_READ)
      memsys_read(m, cycle, &requests[sent++]);
  }
}

static void read_lines(memsys *m, uint64_t start, unsigned count, unsigned *ids, uint64_t *first_beats) {
  memsys_request requests[16];
  for (unsigned i = 0; i < count; i++)
    requests[i] = (memsys_request){.id = i, .address = BASE + 64 * (uint64_t)i, .bytes = 64};
  read_all(m, start, requests, count, ids, first_beats);
}

// Sixteen lines that hit, asked for in as many cycles: the first registers to become free are taken again while the
// rest wait for the data pipe, and the turn goes round. As recorded from the reference.
static void registers_answer_in_turn(void **state) {
  (void)state;
  static const unsigned expected[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 3, 7, 11, 13, 14, 15};
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  unsigned ids[16];
  uint64_t beats[16], cycle = 0;
  for (unsigned i = 0; i < 16; i++) cycle = host_line(m, cycle, BASE + 64 * i);
  read_lines(m, cycle + 100, 16, ids, beats);
  for (unsigned i = 0; i < 16; i++) {
    assert_int_equal(ids[i], expected[i]);
    assert_int_equal(beats[i], array.l2.hit_latency + 4 * i);
  }
  memsys_destroy(m);
}

// Sixteen lines that miss: the answer of the first waits for the turns in which the other registers ask memory, and
// then catches up with the words. As recorded from the reference.
static void asking_goes_before_answering(void **state) {
  (void)state;
  hw_array array = fixed_array();
  array.memory.latency_cycles = 5;
  memsys *m = memsys_create(&array);
  unsigned ids[16];
  uint64_t beats[16];
  read_lines(m, 0, 16, ids, beats);
  for (unsigned i = 0; i < 16; i++) assert_int_equal(ids[i], i);
  assert_int_equal(beats[0], 20);
  for (unsigned i = 2; i < 16; i++) assert_int_equal(beats[i], array.l2.hit_latency + 5 + 8 * i);
  memsys_destroy(m);
}

// A second request to a line waits for its register alone: it is served right behind. To another line of the same set
// it reads the tags again.
static void a_set_is_served_in_order(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  uint64_t way = (uint64_t)array.l2.capacity_kib * 1024 / array.l2.ways, cycle = 10000;
  for (unsigned i = 0; i < 20; i++) host_line(m, 100 * i, BASE + 64 * i);
  host_line(m, 5000, BASE + way);
  assert_int_equal(memsys_totals(m, cycle).misses, 21);
  const memsys_request requests[3] = {{.id = 0, .address = BASE, .bytes = 16},
                                      {.id = 1, .address = BASE + 16, .bytes = 16},
                                      {.id = 2, .address = BASE + way, .bytes = 16}};
  unsigned ids[3];
  uint64_t beats[3];
  read_all(m, cycle, requests, 3, ids, beats);
  assert_int_equal(memsys_totals(m, 2 * cycle).misses, 21);
  assert_int_equal(beats[0], array.l2.hit_latency);
  assert_int_equal(beats[1], beats[0] + 1);
  assert_int_equal(beats[2], beats[1] + 2);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(ids[i], i);
  memsys_destroy(m);
}

// A front end that polls takes one beat of a stream of hits, and again some cycles after its answer.
static void polls_cost_a_beat_each(void **state) {
  (void)state;
  hw_array array = fixed_array();
  enum { COUNT = 1000 };
  uint64_t cycles[2];
  for (unsigned polls = 0; polls < 2; polls++) {
    array.host.poll_cycles = polls ? 50 : 0;
    memsys *m = memsys_create(&array);
    uint64_t warm = stream(m, 0, COUNT, array.dma.reads_in_flight) + 1000;
    cycles[polls] = stream(m, warm, COUNT, array.dma.reads_in_flight);
    memsys_destroy(m);
  }
  // The registers are full, so a poll waits for all of them: ten answers of four beats. And it waits behind the
  // requests that found no register before: three at least, and no more than are under way.
  unsigned alone = 50 + array.l2.hit_latency, shortest = alone + 4 * (array.l2.misses_in_flight + 3),
           longest = alone + 4 * array.dma.reads_in_flight;
  assert_in_range(cycles[1] - cycles[0], cycles[0] / longest, cycles[0] / shortest);
}

// The first cycle in which a lone read of a line is answered.
static uint64_t lone_read(memsys *m, uint64_t cycle, uint64_t address) {
  send_read(m, cycle, 0, address, 64);
  uint64_t at = cycle;
  while (memsys_response(m, at) == NULL) {
    uint64_t next = memsys_next_response(m, at + 1);
    assert_true(next != UINT64_MAX);
    at = next;
  }
  unsigned beats;
  drain(m, at, &beats);
  return at - cycle;
}

// DDR3 in ps.
enum {
#define X(field, ddr3, ddr4, doc) T_##field = ddr3,
#include "sim/memsys/dram_timing.def"
#undef X
};

// A lone read opens its row, which is closed again long before the next one.
static void dram_latency_is_the_formula(void **state) {
  (void)state;
  for (uint32_t mhz = 100; mhz <= 1000; mhz += 900) {
    hw_array array = dram_array(HW_MEMORY_DDR3);
    array.memory.clock_mhz = mhz;
    memsys *m = memsys_create(&array);
    uint64_t cycle_ps = 1000000 / mhz;
    uint64_t closed = array.memory.controller_ns * UINT64_C(1000) + T_activate + T_read + T_burst;
    uint64_t expected = array.l2.hit_latency + array.memory.path_cycles + (closed + cycle_ps - 1) / cycle_ps;
    assert_int_equal(lone_read(m, 100, BASE), expected);
    // The next line of the same row and bank lies banks * 64 bytes on; another row of that bank, in another set.
    assert_int_equal(lone_read(m, 400, BASE + array.memory.banks * 64), expected);
    uint64_t row = (uint64_t)array.memory.banks * array.memory.row_bytes;
    assert_int_equal(lone_read(m, 700, BASE + row + 2 * array.memory.banks * UINT64_C(64)), expected);
    memsys_destroy(m);
  }
}

// Lines of one row come as fast as the bus, but row_accesses of them at most find it open: then it is closed.
static void a_row_is_closed_after_some_accesses(void **state) {
  (void)state;
  hw_array array = dram_array(HW_MEMORY_DDR3);
  array.memory.bytes_per_cycle = 16;  // faster than the DRAM
  array.memory.row_accesses = 1;
  memsys *m = memsys_create(&array);
  memsys_request requests[4];
  for (unsigned i = 0; i < 4; i++)
    requests[i] = (memsys_request){.id = i, .address = BASE + i * array.memory.banks * UINT64_C(64), .bytes = 64};
  unsigned ids[4];
  uint64_t beats[4];
  read_all(m, 100, requests, 4, ids, beats);
  uint64_t cycle_ps = 1000000 / array.memory.clock_mhz;
  assert_int_equal(beats[1] - beats[0], T_burst / cycle_ps);
  assert_int_equal(beats[3] - beats[2], T_burst / cycle_ps);
  assert_in_range(beats[2] - beats[0], T_row_active / cycle_ps, (T_row_active + T_precharge + T_burst) / cycle_ps);
  memsys_destroy(m);
}

static void dram_streams_reach_the_bus(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_DDR3; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    array.l2.misses_in_flight = 16;
    array.l2.capacity_kib = 16384;  // hardly any victims
    memsys *m = memsys_create(&array);
    enum { COUNT = 4000 };
    uint64_t cycles = stream(m, 0, COUNT, array.dma.reads_in_flight);
    uint64_t peak = COUNT * 64 / array.memory.bytes_per_cycle;
    // Some cycles go to refresh: 260 or 350 ns of 7.8 us.
    assert_in_range(cycles, peak, peak + peak / 15 + 200);
    memsys_destroy(m);
  }
}

// The cycles of a stream of misses that find their sets empty, and of one behind it that replaces clean lines.
typedef struct two_streams {
  uint64_t empty, full;
} two_streams;

static two_streams stream_twice(uint32_t latency, uint32_t registers, unsigned window) {
  hw_array array = fixed_array();
  array.memory.latency_cycles = latency;
  array.l2.ways = 1;
  array.l2.misses_in_flight = registers;
  memsys *m = memsys_create(&array);
  const unsigned lines = array.l2.capacity_kib * 1024 / array.l2.line_bytes;
  two_streams took = {.empty = stream_from(m, 0, 0, lines, window)};
  took.full = stream_from(m, 2 * took.empty, lines, lines, window);
  assert_int_equal(memsys_totals(m, 4 * took.empty + took.full).misses, 2 * lines);
  took.empty = (took.empty + lines / 2) / lines;
  took.full = (took.full + lines / 2) / lines;
  memsys_destroy(m);
  return took;
}

// One register: it evicts, which costs a cycle, and is free when the victim is taken note of: before the words of a far
// memory come, but behind those of a near one.
static void clean_victims_wait_for_the_words(void **state) {
  (void)state;
  const two_streams near = stream_twice(5, 1, 4), far = stream_twice(50, 1, 4);
  assert_int_equal(near.full - near.empty, 2);
  assert_int_equal(far.full - far.empty, 1);
}

// Many registers keep the bus busy as long as no victim waits. Four that wait stop the stream.
static void clean_victims_stop_a_stream(void **state) {
  (void)state;
  const two_streams took = stream_twice(5, 10, 16);
  assert_int_equal(took.empty, 8);
  assert_in_range(took.full, 10, 13);
}

// Three requests while the bank is busy: to its open row, to another row, to the open row. The last overtakes.
static void a_row_hit_overtakes(void **state) {
  (void)state;
  hw_array array = dram_array(HW_MEMORY_DDR3);
  memsys *m = memsys_create(&array);
  uint64_t next = (uint64_t)array.memory.banks * 64, row = (uint64_t)array.memory.banks * array.memory.row_bytes;
  lone_read(m, 0, BASE);
  send_read(m, 200, 1, BASE + next, 64);
  send_read(m, 201, 2, BASE + row, 64);
  send_read(m, 202, 3, BASE + 2 * next, 64);
  unsigned order[3], got = 0;
  for (uint64_t cycle = 203; got < 3; cycle++) {
    const memsys_beat *beat = memsys_response(m, cycle);
    if (beat == NULL) continue;
    if (beat->last) order[got++] = beat->id;
    memsys_take(m, cycle);
  }
  assert_int_equal(order[0], 1);
  assert_int_equal(order[1], 3);
  assert_int_equal(order[2], 2);
  memsys_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unloaded_latency_is_the_formula),
      cmocka_unit_test(streams_reach_the_peak),
      cmocka_unit_test(misses_are_limited),
      cmocka_unit_test(reads_and_writes_alternate_but_bursts_hold),
      cmocka_unit_test(whole_line_writes_fetch_nothing),
      cmocka_unit_test(partial_lines_are_fetched),
      cmocka_unit_test(host_lines_wait_in_turn),
      cmocka_unit_test(reads_pass_victims_to_dram),
      cmocka_unit_test(host_lines_end_with_their_last_beat),
      cmocka_unit_test(dirty_lines_are_written_back),
      cmocka_unit_test(without_l2_every_access_pays),
      cmocka_unit_test(registers_answer_in_turn),
      cmocka_unit_test(asking_goes_before_answering),
      cmocka_unit_test(a_set_is_served_in_order),
      cmocka_unit_test(polls_cost_a_beat_each),
      cmocka_unit_test(dram_latency_is_the_formula),
      cmocka_unit_test(a_row_is_closed_after_some_accesses),
      cmocka_unit_test(clean_victims_wait_for_the_words),
      cmocka_unit_test(clean_victims_stop_a_stream),
      cmocka_unit_test(dram_streams_reach_the_bus),
      cmocka_unit_test(a_row_hit_overtakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
