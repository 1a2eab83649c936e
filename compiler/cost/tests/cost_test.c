// SPDX-License-Identifier: Apache-2.0
// Costs against closed formulas of the array's parameters.
#include "compiler/cost/cost.h"

#include <math.h>

#include "base/number.h"
#include "base/test.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

static hw_array default_array(uint32_t memory) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = memory;
  return array;
}

// ---- constants

static void constants_are_those_of_the_table(void **state) {
  (void)state;
  size_t of[COST_JUDGES] = {0};
  for (size_t i = 0; i < COST_CONSTANTS; i++) {
    assert_true(cost_value(&cost_fitted, i) > 0);  // the fit moves them by factors
    of[cost_numbers[i].judge]++;
    for (size_t j = 0; j < i; j++) assert_string_not_equal(cost_numbers[i].name, cost_numbers[j].name);
  }
  for (int j = 0; j < COST_JUDGES; j++) assert_true(of[j] > 0);
  cost_constants moved = cost_fitted;
  cost_set_value(&moved, COST_CONSTANT_store_row, 7);
  assert_true(moved.store_row == 7 && cost_value(&moved, COST_CONSTANT_store_row) == 7);
  assert_true(moved.store_command == cost_fitted.store_command);
}

static void constants_print_as_in_the_table(void **state) {
  (void)state;
  char text[200] = {0};
  FILE *out = fmemopen(text, sizeof text, "w");
  cost_print(&cost_fitted, COST_CONSTANT_zero_cycles, NULL, out);
  cost_print(&cost_fitted, COST_CONSTANT_os_pair, "a note", out);
  fclose(out);
  assert_string_equal(
      text,
      "NUMBER(GIVEN, zero_cycles, 1, \"cycles\", \"for a row of DIM zeros, or a repeated row of a bias\")\n"
      "NUMBER(MODEL, os_pair, 1.156, \"DIM\", \"an output-stationary pair\")  // a note\n");
}

// ---- main memory and L2

// Bursts are as long as what they carry; rows that start anywhere take a line more than whole ones.
static void rows_become_bursts(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  const int64_t largest = array.dma.max_burst_bytes, beat = (int64_t)m.bus;
  for (int64_t bytes = beat; bytes <= 4 * largest; bytes *= 2) {
    const cost_requests aligned = cost_requests_of(&m, bytes, 4 * largest);
    assert_true(near(aligned.bursts, (double)wf_ceil_div(bytes, largest)));
    assert_true(near(aligned.beats, (double)bytes / m.bus));
    assert_true(near(cost_lines_of(&m, (double)bytes, 4 * largest), (double)wf_ceil_div(bytes, (int64_t)m.line)));
    // A stride of one byte: all places of a line.
    assert_true(cost_requests_of(&m, bytes, 1).beats > aligned.beats);
    assert_true(near(cost_lines_of(&m, (double)bytes, 1), ((double)bytes + m.line - 1) / m.line));
  }
}

static void requests_wait_for_the_bus_or_for_rows(void **state) {
  (void)state;
  const hw_array fixed = default_array(HW_MEMORY_FIXED), ddr = default_array(HW_MEMORY_DDR3);
  const cost_model of_fixed = cost_model_of(&fixed, &cost_fitted), of_ddr = cost_model_of(&ddr, &cost_fitted);
  const double opening = cost_fitted.ddr3_four_rows_ns / 4 * ddr.memory.clock_mhz / 1000;
  for (double bytes = 8; bytes <= 4096; bytes *= 2) {
    assert_true(near(cost_request_cycles(&of_fixed, bytes), bytes / fixed.memory.bytes_per_cycle));
    assert_true(near(cost_request_cycles(&of_ddr, bytes), fmax(opening, bytes / ddr.memory.bytes_per_cycle)));
  }
  assert_true(
      near(of_fixed.miss_latency, fixed.l2.hit_latency + fixed.memory.latency_cycles + cost_fitted.miss_latency));
}

static void caches_lose_by_chance(void **state) {
  (void)state;
  enum { CAPACITY = 1000 };
  assert_true(cost_lost(0, CAPACITY) == 0 && cost_lost(5, 0) == 1);
  assert_true(near(cost_lost(CAPACITY, CAPACITY), 1 - exp(-1)));
  // What is lost in turn obeys its own law; what fits easily stays.
  const double swept = 2.0 * CAPACITY, others = 0.5 * CAPACITY, share = cost_lost_in_turn(swept, others, CAPACITY);
  assert_true(fabs(share - cost_lost(share * swept + others, CAPACITY)) < 1e-6);
  assert_true(cost_lost_in_turn(0.1 * CAPACITY, 0, CAPACITY) < 1e-9 && cost_lost_in_turn(1, 1, 0) == 1);
  // Little comes in between: nothing is written back; very much: everything is.
  assert_true(cost_written_back(100, 0, CAPACITY) == 0 && cost_written_back(100, 1, 0) == 100);
  assert_true(near(cost_written_back(100, CAPACITY, CAPACITY), 100 * exp(-1)));
  assert_true(cost_written_back(100, 1e6 * CAPACITY, CAPACITY) > 99.9);
}

// ---- loads and stores

static void loads_take_their_beats(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_FIXED);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  const cost_rows rows = {.count = 1000, .bytes = 64, .stride = 64, .commands = 62.5, .zeros = 10};
  const cost_load hit = cost_load_of(&m, &rows, 0), miss = cost_load_of(&m, &rows, 1000);
  const double zeros = 10 * ceil(64 / m.dim) * cost_fitted.zero_cycles;
  assert_true(near(hit.data, 1000 * 64 / m.bus) && hit.memory == 0);
  assert_true(near(hit.unit, hit.data + 62.5 * cost_fitted.command_cycles + zeros));
  assert_true(near(hit.latency, array.l2.hit_latency + cost_fitted.load_latency));
  assert_true(near(miss.memory, 1000 * m.line_cycles * cost_fitted.miss_line) && miss.unit >= hit.unit);
  assert_true(near(miss.latency, m.miss_latency + cost_fitted.load_latency));
  assert_true(near(cost_bus_cycles(&m, 6400, 64), 6400 / m.bus + 100 * cost_fitted.row_cycles));
  // A bias: a row of zeros for each row of results.
  assert_true(near(cost_bias_cycles(&m, 1600, m.dim),
                   1600 * cost_fitted.zero_cycles + 1600 / m.dim * cost_fitted.command_cycles));
}

static void stores_collect_their_blocks(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  assert_true(cost_store_row(&m, 4, 4, false) == 7 && cost_store_row(&m, 1, 1, true) == 1);
  assert_true(cost_store_row(&m, 1, 1, false) == cost_fitted.store_row && cost_store_row(&m, 1, 4, true) == 4);
  assert_true(near(cost_store_cycles(&m, 640, 64, true), 640 / m.bus * cost_fitted.wide_store));
  assert_true(near(cost_store_cycles(&m, 640, 64, false),
                   640 / m.bus * cost_fitted.narrow_store + 10 * cost_fitted.row_cycles));
}

static void planned_commands(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  const int64_t dim = m.hw.dim, wide = m.hw.max_cols, peak = array.memory.bytes_per_cycle, bus = (int64_t)m.bus;
  cost_command c = {.rows = dim, .columns = wide, .element_bytes = 1};
  assert_int_equal(cost_planned_load(&m, &c), dim * wide * 4 / (3 * peak) + 4);
  assert_int_equal(cost_planned_store(&m, &c), dim * (wide / dim + wide / bus) + 4);
  c.cached = true;
  assert_int_equal(cost_planned_load(&m, &c), dim * wide / bus + dim);
  c.constant = true;
  assert_int_equal(cost_planned_load(&m, &c), dim * (wide / dim));
}

// ---- products and banks of the scratchpad

static void products_of_few_rows_take_as_long(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  assert_int_equal(cost_product_rows(1, 16), 4);
  assert_int_equal(cost_product_rows(9, 16), 9);
  assert_int_equal(cost_product_rows(1, 2), 2);
  const double in_flight = (m.hw.mesh_latency + cost_fitted.pair_cycles) / m.hw.max_matmuls;
  assert_true(near(cost_pair_cycles(&m, m.dim), fmax(m.dim, in_flight)));
  assert_true(near(cost_pair_cycles(&m, 1), fmax(4, in_flight)));
}

static void operands_share_banks_where_there_are_few(void **state) {
  (void)state;
  const hw_array array = default_array(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  const int64_t bank = m.hw.sp_bank_rows;
  assert_true(array.scratchpad.banks == 4 && array.scratchpad.single_ported);
  const cost_slots apart = {.rows = {bank, bank}, .depth = {2, 2}},
                   halves = {.rows = {bank / 2, bank + 1}, .depth = {2, 2}};
  const cost_slots packed = {.rows = {bank, bank}, .depth = {3, 1}, .unrolled = false},
                   full = {.rows = {bank, bank + bank / 2}, .depth = {1, 2}};
  assert_true(cost_has_own_banks(&m, &apart) && cost_places_of(&m, &apart).apart);
  assert_true(cost_has_own_banks(&m, &packed));
  // Half of the memory for a turn: weights in the second bank's upper half, which has one row of inputs.
  assert_false(cost_has_own_banks(&m, &halves));
  const cost_places h = cost_places_of(&m, &halves);
  assert_true(h.apart && h.banks == 2 && near(h.share[COST_WEIGHTS][1], 1));
  assert_true(near(h.share[COST_INPUTS][1], 1.0 / (double)(bank + 1)));
  assert_true(near(cost_bank_conflicts(&h), 1.0 / (double)(bank + 1)));
  assert_true(cost_bank_writes(&m, &h, COST_WEIGHTS) == 0);
  // All slots packed: those of inputs fill three banks, weights the last one.
  const cost_places d = cost_places_of(&m, &full);
  assert_true(!d.apart && d.banks == 4 && near(d.share[COST_INPUTS][0], 1.0 / 3) && near(d.share[COST_WEIGHTS][3], 1));
  assert_true(cost_bank_conflicts(&d) == 0 && near(cost_bank_writes(&m, &d, COST_INPUTS), 1.0 / 3));
  assert_true(near(cost_bank_writes(&m, &d, COST_WEIGHTS), 1));
}

static void slots_are_as_many_as_banks(void **state) {
  (void)state;
  hw_array array = default_array(HW_MEMORY_DDR3);
  static const struct {
    uint32_t banks;
    int asked[COST_OPERANDS], used[COST_OPERANDS];
  } cases[] = {
      {4, {4, 4}, {2, 2}}, {4, {3, 1}, {3, 1}},  {4, {1, 4}, {1, 3}}, {4, {2, 2}, {2, 2}},  {8, {4, 4}, {4, 4}},
      {8, {8, 3}, {5, 3}}, {16, {8, 8}, {8, 8}}, {2, {4, 2}, {2, 2}}, {16, {1, 1}, {1, 1}},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    array.scratchpad.banks = cases[n].banks;
    const cost_model m = cost_model_of(&array, &cost_fitted);
    cost_slots s = {.rows = {16, 16}, .depth = {cases[n].asked[0], cases[n].asked[1]}};
    cost_limit_slots(&m, &s);
    assert_int_equal(s.depth[0], cases[n].used[0]);
    assert_int_equal(s.depth[1], cases[n].used[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_are_those_of_the_table),
      cmocka_unit_test(constants_print_as_in_the_table),
      cmocka_unit_test(rows_become_bursts),
      cmocka_unit_test(requests_wait_for_the_bus_or_for_rows),
      cmocka_unit_test(caches_lose_by_chance),
      cmocka_unit_test(loads_take_their_beats),
      cmocka_unit_test(stores_collect_their_blocks),
      cmocka_unit_test(planned_commands),
      cmocka_unit_test(products_of_few_rows_take_as_long),
      cmocka_unit_test(operands_share_banks_where_there_are_few),
      cmocka_unit_test(slots_are_as_many_as_banks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
