// SPDX-License-Identifier: Apache-2.0
// A generated weft_array.h, as a C program and an assembler file (header_words.S) see it, against the array it was made
// from. Built once for each of several arrays.
#include "base/test.h"
#include "hw/array.h"
#include "weft_array.h"

extern const uint32_t header_words[];

static hw_array the_array(void) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, WEFT_ARRAY_NAME, &diag));
  array.isa.revision = HEADER_REVISION;
  return array;
}

static void macros_are_the_derived_numbers(void **state) {
  (void)state;
  const hw_array array = the_array();
  const hw_derived d = hw_derive(&array);
  assert_int_equal(WEFT_DIM, d.dim);
  assert_int_equal(WEFT_SP_ROWS, d.sp_rows);
  assert_int_equal(WEFT_ACC_ROWS, d.acc_rows);
  assert_int_equal(WEFT_BANK_NUM * WEFT_BANK_ROWS, d.sp_rows);
  assert_int_equal(WEFT_ACC_BANK_NUM * WEFT_ACC_BANK_ROWS, d.acc_rows);
  assert_int_equal(WEFT_MAX_BYTES, array.dma.max_burst_bytes);
  assert_int_equal(WEFT_MAX_BLOCK_LEN, d.max_block_len);
  assert_int_equal(WEFT_MAX_BLOCK_LEN_ACC, d.max_block_len_acc);
  assert_int_equal(WEFT_MAX_COLS, d.max_cols);
  assert_int_equal(WEFT_MAX_COLS_ACC, d.max_cols_acc);
  assert_int_equal(WEFT_ROW_BITS, d.row_bits);
  assert_int_equal(WEFT_INPUT_BYTES, d.input_bytes);
  assert_int_equal(WEFT_ACC_BYTES, d.acc_bytes);
  assert_int_equal(WEFT_SP_ROW_BYTES, d.sp_row_bytes);
  assert_int_equal(WEFT_ACC_ROW_BYTES, d.acc_row_bytes);
  assert_int_equal(WEFT_MESH_LATENCY, d.mesh_latency);
  assert_int_equal(WEFT_MAX_MATMULS, d.max_matmuls);
  assert_int_equal(WEFT_LOAD_COMMANDS_TRACKED, d.load_commands_tracked);
  assert_int_equal(WEFT_STORE_COMMANDS_TRACKED, d.store_commands_tracked);
  assert_int_equal(WEFT_NORM_STATS, d.norm_stats);
}

static void macros_are_the_parameters(void **state) {
  (void)state;
  const hw_array array = the_array();
  assert_true(WEFT_ARRAY_HASH == hw_array_hash(&array));
  assert_int_equal(WEFT_ISA_REVISION, HEADER_REVISION);
  assert_int_equal(WEFT_HAS_WS, array.mesh.dataflow != HW_DATAFLOW_OS);
  assert_int_equal(WEFT_HAS_OS, array.mesh.dataflow != HW_DATAFLOW_WS);
  assert_int_equal(WEFT_HAS_NORMALISER, array.units.normaliser);
  assert_int_equal(WEFT_HAS_LOOP_CONV, array.units.loop_conv);
  assert_int_equal(WEFT_UNITS_COUNTERS, array.units.counters);
  assert_int_equal(WEFT_ACCUMULATOR_FULL_READS, array.accumulator.full_reads);
  assert_int_equal(WEFT_MESH_BIAS_GARBAGE, array.mesh.bias_garbage);
  assert_int_equal(WEFT_DMA_READS_IN_FLIGHT, array.dma.reads_in_flight);
#if WEFT_HAS_MAX_POOL
  assert_true(array.units.max_pool);
#else
  assert_false(array.units.max_pool);
#endif
}

static void assembler_sees_the_same(void **state) {
  (void)state;
  const hw_array array = the_array();
  assert_int_equal(header_words[0], WEFT_DIM);
  assert_int_equal(header_words[1], WEFT_SP_ROWS);
  assert_int_equal(header_words[2], (uint32_t)hw_array_hash(&array));
  assert_int_equal(header_words[3], (uint32_t)(hw_array_hash(&array) >> 32));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(macros_are_the_derived_numbers),
      cmocka_unit_test(macros_are_the_parameters),
      cmocka_unit_test(assembler_sees_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
