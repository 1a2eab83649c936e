// SPDX-License-Identifier: Apache-2.0
// Banks of main memory: which of them rows visit, and when stores are cut into shorter commands for them.
#include "base/test.h"
#include "compiler/cost/cost.h"

enum { LINE = 64, BANKS = 8, DIM = 16 };

static hw_array array_with(uint32_t model) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = model;
  assert_int_equal(array.l2.line_bytes, LINE);
  assert_int_equal(array.memory.banks, BANKS);
  return array;
}

static cost_bank_rows rows_of(int64_t stride, int64_t pieces) {
  return (cost_bank_rows){.bytes = LINE, .stride = stride, .pieces = pieces};
}

static void rows_visit_what_their_stride_allows(void **state) {
  (void)state;
  const hw_array array = array_with(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  static const struct {
    int64_t stride, pieces, command, all;
  } cases[] = {{LINE, 1, 8, 8},     {2 * LINE, 1, 4, 4},  {2 * LINE, 2, 4, 8},  {4 * LINE, 2, 2, 4},
               {8 * LINE, 4, 1, 4}, {8 * LINE, 16, 1, 8}, {24 * LINE, 1, 1, 1}, {LINE + 16, 1, 8, 8}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const cost_bank_rows rows = rows_of(cases[i].stride, cases[i].pieces);
    assert_int_equal(cost_banks_of_command(&m, &rows), cases[i].command);
    assert_int_equal(cost_banks_of_pieces(&m, &rows), cases[i].all);
  }
}

static void more_banks_are_quicker(void **state) {
  (void)state;
  const hw_array array = array_with(HW_MEMORY_DDR3);
  const cost_model m = cost_model_of(&array, &cost_fitted);
  for (int64_t banks = 1; banks < BANKS; banks *= 2)
    assert_true(cost_write_cycles(&m, banks) > cost_write_cycles(&m, 2 * banks));
  assert_true(cost_write_cycles(&m, BANKS) >= (double)LINE / array.memory.bytes_per_cycle);
}

// Only where stores hold the products up and the pieces beside them lie in other banks.
static void stores_take_turns_where_it_helps(void **state) {
  (void)state;
  const hw_array ddr = array_with(HW_MEMORY_DDR3), fixed = array_with(HW_MEMORY_FIXED);
  const cost_model ddr_costs = cost_model_of(&ddr, &cost_fitted), fixed_costs = cost_model_of(&fixed, &cost_fitted);
  const cost_bank_rows two = rows_of(4 * LINE, 2), one = rows_of(4 * LINE, 1), all = rows_of(LINE, 4);
  enum { BUSY = 16, IDLE = 1000 };
  assert_int_equal(cost_store_rows(&ddr_costs, &two, BUSY), 2);
  assert_int_equal(cost_store_rows(&ddr_costs, &two, IDLE), DIM);
  assert_int_equal(cost_store_rows(&ddr_costs, &one, BUSY), DIM);
  assert_int_equal(cost_store_rows(&ddr_costs, &all, BUSY), DIM);
  assert_int_equal(cost_store_rows(&fixed_costs, &two, BUSY), DIM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_visit_what_their_stride_allows),
      cmocka_unit_test(more_banks_are_quicker),
      cmocka_unit_test(stores_take_turns_where_it_helps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
