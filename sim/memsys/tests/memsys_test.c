// The memory timing against its closed formulas: unloaded latency (probed at t - 1 and t), streaming rates, order,
// limits. All expectations come from the array's parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka wants the headers above first.
#include <cmocka.h>

#include "sim/memsys/memsys.h"

#define BASE UINT64_C(0x80000000)

static hw_array fixed_array(void) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = HW_MEMORY_FIXED;
  return array;
}

static void send_read(memsys *m, uint64_t cycle, unsigned id, uint64_t address, unsigned bytes) {
  memsys_request request = {id, address, bytes};
  assert_int_equal(memsys_arbitrate(m, cycle, &request, NULL), MEMSYS_READ);
  memsys_read(m, cycle, &request);
}

// Takes every beat as soon as it is there, up to the end of everything; returns the cycle of the last beat.
static uint64_t drain(memsys *m, uint64_t cycle, unsigned *beats) {
  uint64_t last = cycle, next;
  *beats = 0;
  while ((next = memsys_next_response(m, cycle)) != UINT64_MAX) {
    assert_non_null(memsys_response(m, next));
    memsys_take(m, next);
    last = next;
    cycle = next;
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

// Streams `count` bursts of 64 bytes with at most `window` under way; returns the cycles from first request to last
// beat.
static uint64_t stream(memsys *m, uint64_t start, unsigned count, unsigned window) {
  unsigned sent = 0, done = 0;
  uint64_t cycle = start;
  for (; done < count; cycle++) {
    const memsys_beat *beat = memsys_response(m, cycle);
    if (beat != NULL) {
      bool last = beat->last;
      memsys_take(m, cycle);
      done += last;
    }
    memsys_request request = {sent % window, BASE + 64 * (uint64_t)sent, 64};
    if (sent < count && sent - done < window && memsys_arbitrate(m, cycle, &request, NULL) == MEMSYS_READ) {
      memsys_read(m, cycle, &request);
      sent++;
    }
  }
  return cycle - 1 - start;
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
  memsys_counts counts = memsys_totals(m);
  assert_int_equal(counts.misses, COUNT);
  assert_int_equal(counts.hits, COUNT);
  assert_int_equal(counts.fetched_bytes, COUNT * 64);
  memsys_destroy(m);
}

static void misses_are_limited(void **state) {
  (void)state;
  hw_array array = fixed_array();
  array.l2.misses_in_flight = 3;
  memsys *m = memsys_create(&array);
  for (unsigned i = 0; i < 3; i++) send_read(m, i, i, BASE + 64 * i, 64);
  memsys_request fourth = {3, BASE + 1024, 64}, same_line = {4, BASE, 16};
  assert_int_equal(memsys_arbitrate(m, 3, &fourth, NULL), MEMSYS_NOBODY);
  assert_int_equal(memsys_arbitrate(m, 3, &same_line, NULL), MEMSYS_READ);
  uint64_t line = array.l2.line_bytes / array.memory.bytes_per_cycle;
  uint64_t complete = array.l2.hit_latency + array.memory.latency_cycles + line + array.l2.release_cycles;
  assert_int_equal(memsys_arbitrate(m, complete - 1, &fourth, NULL), MEMSYS_NOBODY);
  assert_int_equal(memsys_arbitrate(m, complete, &fourth, NULL), MEMSYS_READ);
  memsys_destroy(m);
}

static void reads_and_writes_alternate_but_bursts_hold(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  memsys_request read = {0, BASE, 16}, write = {0, BASE + 4096, 64};
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
  memsys_request whole = {0, BASE, array.l2.line_bytes}, part = {1, BASE + 4096, bus};
  for (unsigned i = 0; i < beats; i++) memsys_write(m, i, &whole);
  assert_int_equal(memsys_next_response(m, 0), array.l2.hit_latency);
  assert_int_equal(memsys_totals(m).fetched_bytes, 0);
  memsys_write(m, 50, &part);
  assert_int_equal(memsys_totals(m).fetched_bytes, array.l2.line_bytes);
  assert_true(memsys_response(m, array.l2.hit_latency)->write);
  memsys_destroy(m);
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
  assert_int_equal(memsys_host_access(m, 0, BASE, false), first + pace * (beats - 1));
  assert_int_equal(memsys_host_access(m, 1000, BASE, false), 1000 + array.l2.hit_latency + beats - 1);
  memsys_destroy(m);
}

static void dirty_lines_are_written_back(void **state) {
  (void)state;
  hw_array array = fixed_array();
  memsys *m = memsys_create(&array);
  uint64_t capacity = (uint64_t)array.l2.capacity_kib * 1024;
  uint64_t cycle = 0;
  for (uint64_t at = 0; at < 2 * capacity; at += array.l2.line_bytes)
    cycle = memsys_host_access(m, cycle, BASE + at, true);
  memsys_counts counts = memsys_totals(m);
  assert_int_equal(counts.misses, 2 * capacity / array.l2.line_bytes);
  assert_int_equal(counts.written_back_bytes, capacity);
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

static hw_array dram_array(uint32_t model) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = model;
  return array;
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

// DDR3-1600 11-11-11 in ps: activate, read, burst.
static void dram_latency_is_the_formula(void **state) {
  (void)state;
  for (uint32_t mhz = 100; mhz <= 1000; mhz += 900) {
    hw_array array = dram_array(HW_MEMORY_DDR3);
    array.memory.clock_mhz = mhz;
    memsys *m = memsys_create(&array);
    uint64_t cycle_ps = 1000000 / mhz;
    uint64_t closed = array.memory.controller_ns * UINT64_C(1000) + 13750 + 13750 + 5000;
    uint64_t rest = array.l2.hit_latency + array.memory.path_cycles;
    assert_int_equal(lone_read(m, 100, BASE), rest + (closed + cycle_ps - 1) / cycle_ps);
    // The same row again, long after: no activate. The next line of the same bank lies banks * 64 bytes on.
    uint64_t open = closed - 13750;
    assert_int_equal(lone_read(m, 400, BASE + array.memory.banks * 64), rest + (open + cycle_ps - 1) / cycle_ps);
    // Another row of that bank: close it first.
    uint64_t conflict = closed + 13750, row = (uint64_t)array.memory.banks * array.memory.row_bytes;
    assert_int_equal(lone_read(m, 700, BASE + row), rest + (conflict + cycle_ps - 1) / cycle_ps);
    memsys_destroy(m);
  }
}

static void dram_streams_reach_the_bus(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_DDR3; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    array.l2.misses_in_flight = 16;
    memsys *m = memsys_create(&array);
    enum { COUNT = 4000 };
    uint64_t cycles = stream(m, 0, COUNT, array.dma.reads_in_flight);
    uint64_t peak = COUNT * 64 / array.memory.bytes_per_cycle;
    // Some cycles go to refresh: 260 or 350 ns of 7.8 us.
    assert_in_range(cycles, peak, peak + peak / 15 + 200);
    memsys_destroy(m);
  }
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

// A request that is turned away is taken in the cycle that memsys_next_grant leads to, and in none before.
static void a_refused_request_knows_when_to_ask(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_FIXED; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    array.l2.misses_in_flight = 3;
    memsys *m = memsys_create(&array);
    uint64_t ask = 0;
    unsigned taken = 0, leaps = 0, answers = 0;
    for (uint64_t cycle = 0; taken < 200; cycle++) {
      assert_true(cycle < 100000);
      if (memsys_response(m, cycle) != NULL) {
        answers++;
        memsys_take(m, cycle);
      }
      const memsys_request request = {taken, BASE + taken * UINT64_C(64), 64};
      memsys_grant grant = memsys_arbitrate(m, cycle, &request, NULL);
      assert_true(grant == MEMSYS_NOBODY || cycle >= ask);
      if (grant == MEMSYS_READ) {
        memsys_read(m, cycle, &request);
        taken++;
        ask = cycle + 1;
      } else if (cycle >= ask) {
        ask = memsys_next_grant(m, cycle);
        assert_true(ask > cycle && ask != UINT64_MAX);
        leaps += ask > cycle + 1;
      }
    }
    assert_true(leaps > 50 && answers > 0);
    memsys_destroy(m);
  }
}

// Polling every cycle and only when something can happen see the same answers.
static void waiting_and_polling_agree(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_FIXED; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    memsys *poll = memsys_create(&array), *wait = memsys_create(&array);
    uint64_t wake = 0, seed = 1, answered = 0;
    unsigned under_way = 0;
    bool busy[8] = {false};
    for (uint64_t cycle = 0; cycle < 50000; cycle++) {
      const memsys_beat *beat = memsys_response(poll, cycle);
      if (wake <= cycle) {
        const memsys_beat *other = memsys_response(wait, cycle);
        assert_int_equal(beat == NULL, other == NULL);
        if (other != NULL) {
          assert_int_equal(beat->id, other->id);
          memsys_take(wait, cycle);
          wake = cycle + 1;
        }
      } else {
        assert_null(beat);
      }
      if (beat != NULL) {
        answered++;
        if (beat->last) busy[beat->id] = false, under_way--;
        memsys_take(poll, cycle);
      }
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      unsigned id = 0;
      while (id < 8 && busy[id]) id++;
      if (seed >> 60 < 4 && id < 8) {
        const memsys_request request = {id, BASE + (seed >> 20) % 0x100000 * 64, 64};
        memsys_grant grant = memsys_arbitrate(poll, cycle, &request, NULL);
        assert_int_equal(grant, memsys_arbitrate(wait, cycle, &request, NULL));
        if (grant == MEMSYS_READ) {
          memsys_read(poll, cycle, &request);
          memsys_read(wait, cycle, &request);
          busy[id] = true, under_way++;
        }
      }
      uint64_t next = memsys_next_response(wait, cycle + 1);
      wake = next;
    }
    assert_true(answered > 3000);
    memsys_destroy(poll);
    memsys_destroy(wait);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unloaded_latency_is_the_formula),
      cmocka_unit_test(streams_reach_the_peak),
      cmocka_unit_test(misses_are_limited),
      cmocka_unit_test(reads_and_writes_alternate_but_bursts_hold),
      cmocka_unit_test(whole_line_writes_fetch_nothing),
      cmocka_unit_test(host_lines_end_with_their_last_beat),
      cmocka_unit_test(dirty_lines_are_written_back),
      cmocka_unit_test(without_l2_every_access_pays),
      cmocka_unit_test(dram_latency_is_the_formula),
      cmocka_unit_test(dram_streams_reach_the_bus),
      cmocka_unit_test(a_row_hit_overtakes),
      cmocka_unit_test(a_refused_request_knows_when_to_ask),
      cmocka_unit_test(waiting_and_polling_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
