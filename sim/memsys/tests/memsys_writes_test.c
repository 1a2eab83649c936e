// SPDX-License-Identifier: Apache-2.0
// Writes that DRAM cannot keep up with: their sender is held back to the pace of its banks, with and without an
// L2, and so is the hart. One bank, and every line in another row of it, so that the pace is a closed formula: a row is
// opened, written, and closed.
#include "base/test.h"
#include "sim/memsys/memsys.h"
#include "sim/memsys/tests/host_line.h"

#define BASE UINT64_C(0x80000000)

enum { LINE = 64, CYCLE_PS = 1000, MOST_IDS = 64 };

// DDR3 in ps; all are multiples of a tick.
enum {
#define X(field, ddr3, ddr4, doc) T_##field = ddr3,
#include "sim/memsys/dram_timing.def"
#undef X
};
enum {
  WRITE_PS = T_activate + T_write + T_burst + T_write_recovery + T_precharge,
  READ_PS = T_row_active + T_precharge,
};

static hw_array one_bank(void) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = HW_MEMORY_DDR3;
  array.memory.clock_mhz = 1000000 / CYCLE_PS;
  array.memory.banks = 1;
  array.host.poll_cycles = 0;
  array.l2.capacity_kib = 16;
  return array;
}

// Lines that the bank can have written up to this cycle, however they come.
static uint64_t bank_writes(uint64_t cycle) { return cycle * CYCLE_PS / WRITE_PS + 1; }

// And the lines that it must have written if it was never idle: each refresh costs its time and a row that was not
// written.
static uint64_t busy_bank_writes(uint64_t cycles) {
  const uint64_t refreshes = cycles * CYCLE_PS / T_refresh_interval + 1;
  return (cycles * CYCLE_PS - refreshes * (T_refresh + 2 * WRITE_PS)) / WRITE_PS;
}

typedef struct writer {
  memsys *m;
  uint64_t stride, sent, answered;
  unsigned beats, beats_left, ids;
  bool under_way[MOST_IDS];
  unsigned id;
} writer;

static writer writer_of(const hw_array *array, unsigned ids) {
  const unsigned beats = LINE / (array->dma.bus_bits / 8);
  return (writer){.m = memsys_create(array), .stride = array->memory.row_bytes, .beats = beats, .ids = ids};
}

static void choose_id(writer *w) {
  for (w->id = 0; w->id < w->ids && w->under_way[w->id];) w->id++;
  if (w->id < w->ids) w->beats_left = w->beats;
}

// Sends a line after the other, as fast as it may.
static void write_in(writer *w, uint64_t cycle) {
  const memsys_beat *beat = memsys_response(w->m, cycle);
  if (beat != NULL) {
    assert_true(beat->write && w->under_way[beat->id]);
    w->under_way[beat->id] = false;
    w->answered++;
    memsys_take(w->m, cycle);
  }
  if (w->beats_left == 0) choose_id(w);
  if (w->beats_left == 0) return;
  const memsys_request request = {.id = w->id, .address = BASE + w->sent * w->stride, .bytes = LINE};
  if (memsys_arbitrate(w->m, cycle, NULL, &request) != MEMSYS_WRITE) return;
  memsys_write(w->m, cycle, &request);
  if (--w->beats_left != 0) return;
  w->under_way[w->id] = true;
  w->sent++;
}

// A register writes its victim before it takes the next line, so no more victims wait than there are registers.
static void victims_go_at_the_pace_of_the_bank(void **state) {
  (void)state;
  enum { CYCLES = 100000 };
  for (unsigned registers = 1; registers <= 16; registers *= 4) {
    hw_array array = one_bank();
    array.l2.misses_in_flight = registers;
    writer w = writer_of(&array, MOST_IDS);
    uint64_t filled = 0, written = 0;  // when the L2 is full of dirty lines
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
      write_in(&w, cycle);
      const uint64_t away = memsys_totals(w.m, cycle).written_back_bytes / LINE;
      assert_true(away <= bank_writes(cycle) + registers);
      if (filled != 0 || w.answered < 4 * UINT64_C(1024) * array.l2.capacity_kib / LINE) continue;
      filled = cycle;
      written = away;
    }
    assert_in_range(filled, 1, CYCLES * 3 / 4);
    written = memsys_totals(w.m, CYCLES - 1).written_back_bytes / LINE - written;
    if (registers > 1) assert_true(written + registers >= busy_bank_writes(CYCLES - filled));
    memsys_destroy(w.m);
  }
}

// Without L2 an answer means that the bank has the line.
static void without_l2_the_port_waits_for_the_bank(void **state) {
  (void)state;
  enum { CYCLES = 50000 };
  for (unsigned ids = 1; ids <= 16; ids *= 4) {
    hw_array array = one_bank();
    array.l2.present = false;
    writer w = writer_of(&array, ids);
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
      write_in(&w, cycle);
      assert_true(w.answered <= bank_writes(cycle) && w.sent <= w.answered + ids);
    }
    if (ids > 1) assert_true(w.answered + ids >= busy_bank_writes(CYCLES));
    memsys_destroy(w.m);
  }
}

// The first line to an idle bank, and the next one behind it: both are answered then, and not a cycle before.
static void an_answer_means_that_the_bank_has_it(void **state) {
  (void)state;
  hw_array array = one_bank();
  array.l2.present = false;
  writer w = writer_of(&array, 2);
  // One cycle on the way, a line on the channel; the bank works in ticks.
  const uint64_t sent = w.beats + LINE / array.memory.bytes_per_cycle;
  const uint64_t arrives = (sent * CYCLE_PS + array.memory.controller_ns * UINT64_C(1000) + T_clock - 1) / T_clock;
  const uint64_t first = arrives * T_clock + T_activate + T_write + T_burst;
  uint64_t cycle = 0;
  for (unsigned n = 0; n < 2; n++) {
    const uint64_t there = (first + n * WRITE_PS + CYCLE_PS - 1) / CYCLE_PS + array.memory.path_cycles;
    for (; w.answered == n; cycle++) write_in(&w, cycle);
    assert_int_equal(cycle - 1, there);
  }
  memsys_destroy(w.m);
}

// Words of a dirty victim go through the banks at half the pace of beats, and before them. A stream of writes that
// fills the pipe loses four to five cycles each time: what is in the pipe when the victim begins to leave waits as
// well.
static void victims_hold_up_a_stream(void **state) {
  (void)state;
  enum { LINES = 256, STRIDE = 1024 };
  hw_array array = one_bank();
  array.memory.model = HW_MEMORY_FIXED;
  array.l2.capacity_kib = 512;
  writer w = writer_of(&array, 16);
  w.stride = STRIDE;
  uint64_t cycle = 0;
  while (w.answered < LINES) write_in(&w, cycle++);
  const uint64_t victims = memsys_totals(w.m, cycle).written_back_bytes / LINE, beats = LINES * w.beats;
  assert_true(victims > LINES / 8);
  assert_in_range(cycle, beats + 4 * victims, beats + 5 * victims + 2 * array.l2.hit_latency);
  memsys_destroy(w.m);
}

// The host's lines and the victims that they push out wait for the bank, too.
static void the_host_waits_for_the_bank(void **state) {
  (void)state;
  enum { LINES = 1000, BETWEEN = 10 };
  hw_array array = one_bank();
  memsys *m = memsys_create(&array);
  uint64_t cycle = 0;
  for (unsigned n = 0; n < LINES; n++) {
    const uint64_t address = BASE + n * (uint64_t)array.memory.row_bytes;
    cycle = host_line(m, cycle, address);
    memsys_host_ask(m, cycle, address, true);
    cycle += BETWEEN;
  }
  const memsys_counts counts = memsys_totals(m, cycle);
  assert_int_equal(counts.misses, LINES);
  const uint64_t victims = counts.written_back_bytes / LINE;
  assert_true(victims > LINES / 2);
  assert_true(cycle * CYCLE_PS >= (LINES - 1) * (uint64_t)READ_PS + (victims - 1) * WRITE_PS);
  memsys_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(victims_go_at_the_pace_of_the_bank),   cmocka_unit_test(without_l2_the_port_waits_for_the_bank),
      cmocka_unit_test(an_answer_means_that_the_bank_has_it), cmocka_unit_test(victims_hold_up_a_stream),
      cmocka_unit_test(the_host_waits_for_the_bank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
