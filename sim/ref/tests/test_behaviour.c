// SPDX-License-Identifier: Apache-2.0
// What each command does to local and main memory, class by class. Most cases run on a 4 x 4 array so that expected
// values can be read: 1024 scratchpad and 256 accumulator rows, bursts of 16 bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ref/tests/machine.h"

enum { IN = 0x80010000, OUT = 0x80020000 };
#define IN_TEXT "0x80010000"
#define OUT_TEXT "0x80020000"

static hw_array small_array(void) {
  hw_array array = machine_default_array();
  array.mesh.rows = array.mesh.columns = 4;
  array.scratchpad.capacity_kib = array.accumulator.capacity_kib = 4;
  array.dma.max_burst_bytes = 16;
  return array;
}

static machine *m;

static machine *start(const hw_array *array) {
  m = machine_create(array);
  give(m, "config_ld state=0 stride=4 block_stride=4 scale=1");
  give(m, "config_ld state=1 stride=16 block_stride=4 scale=1");
  give(m, "config_ld state=2 stride=16 block_stride=4 scale=1 shrink=1");
  give(m, "config_st stride=4 acc_scale=1");
  give(m, "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1");
  return m;
}

static int set_up(void **state) {
  (void)state;
  hw_array array = small_array();
  start(&array);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  machine_destroy(m);
  return 0;
}

static void put_bytes(const char *elements) {
  int8_t *to = bytes_at(m, IN);
  for (const char *c = elements; *c != '\0';) {
    char *end;
    *to++ = (int8_t)strtol(c, &end, 10);
    c = end;
  }
}

// Four int8 elements to one scratchpad row, four int32 elements to one accumulator row.
static void put_spad(int row, const char *elements) {
  put_bytes(elements);
  give(m, "mvin dram=" IN_TEXT " local=sp:%d rows=1 cols=4", row);
}

static void put_acc(int row, int32_t a, int32_t b, int32_t c, int32_t d) {
  int32_t words[4] = {a, b, c, d};
  memcpy(bytes_at(m, IN), words, sizeof words);
  give(m, "mvin2 dram=" IN_TEXT " local=acc:%d rows=1 cols=4", row);
}

static void expect_spad(int row, const char *elements) {
  give(m, "mvout dram=" OUT_TEXT " local=sp:%d rows=1 cols=4", row);
  expect_bytes(m, OUT, elements);
}

static void expect_acc(int row, const char *elements) {
  give(m, "mvout dram=" OUT_TEXT " local=acc:%d+full rows=1 cols=4", row);
  expect_words(m, OUT, elements);
}

static void test_loads_cut_rows_into_blocks(void **state) {
  (void)state;
  for (int n = 0; n < 32; n++) bytes_at(m, IN)[n] = (int8_t)n;
  give(m, "config_ld state=1 stride=16 block_stride=7 scale=1");
  give(m, "mvin2 dram=" IN_TEXT " local=sp:2 rows=2 cols=10");
  expect_spad(2, "0 1 2 3");
  expect_spad(3, "16 17 18 19");
  expect_spad(9, "4 5 6 7");
  expect_spad(10, "20 21 22 23");
  expect_spad(16, "8 9 0 0");
}

static void test_stride_zero_repeats_and_address_zero_clears(void **state) {
  (void)state;
  give(m, "config_ld state=0 stride=0 block_stride=4 scale=2");
  put_bytes("1 2 3 4 5");
  give(m, "mvin dram=" IN_TEXT " local=sp:0 rows=3 cols=4");
  for (int row = 0; row < 3; row++) expect_spad(row, "2 4 6 8");
  expect_spad(3, "0 0 0 0");
  give(m, "mvin dram=0 local=sp:0 rows=2 cols=3");
  expect_spad(0, "0 0 0 8");
  expect_spad(1, "0 0 0 8");
  expect_spad(2, "2 4 6 8");
}

static void test_loads_into_the_accumulator(void **state) {
  (void)state;
  put_acc(0, INT32_MAX, -5, 7, 9);
  put_bytes("1 2 -3 4 5 6 7 8");
  give(m, "config_ld state=2 stride=16 block_stride=1 scale=3 shrink=1");
  give(m, "mvin3 dram=" IN_TEXT " local=acc:0+acc rows=1 cols=8");
  expect_acc(0, "-2147483646 1 -2 21");
  expect_acc(1, "15 18 21 24");
  give(m, "mvin2 dram=0 local=acc:0+acc rows=1 cols=4");
  expect_acc(0, "-2147483646 1 -2 21");
  give(m, "mvin2 dram=0 local=acc:0 rows=1 cols=2");
  expect_acc(0, "0 0 -2 21");
}

// 0x8f: the low half, -1, comes first, then -8. The scale applies to what is widened; blocks and repeats count
// elements.
static void test_packed_loads(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = small_array();
  array.load.packed_int4 = true;
  start(&array);
  give(m, "config_ld state=0 packed=1 stride=4 block_stride=8 scale=1");
  put_bytes("-113 112 33 67 18");  // 0x8f 0x70 0x21 0x43 0x12
  give(m, "mvin dram=" IN_TEXT " local=sp:0 rows=2 cols=6");
  expect_spad(0, "-1 -8 0 7");
  expect_spad(8, "1 2 0 0");
  expect_spad(1, "2 1 0 0");
  give(m, "config_ld state=0 packed=1 stride=0 block_stride=4 scale=-16");
  give(m, "mvin dram=" IN_TEXT " local=sp:0 rows=2 cols=4");
  expect_spad(0, "16 127 0 -112");
  expect_spad(1, "16 127 0 -112");
  give(m, "mvin dram=0 local=sp:0 rows=1 cols=3");
  expect_spad(0, "0 0 0 -112");
  give(m, "config_ld state=0 packed=1 stride=4 block_stride=4 pixel_repeats=2 scale=1");
  give(m, "mvin dram=" IN_TEXT " local=sp:3 rows=1 cols=2");
  expect_spad(3, "-1 -8 0 0");
  expect_spad(2, "0 0 -1 -8");
}

// Behind scale, activation and saturation; -7.5 becomes -8. Rows that leave as they are pass the gate.
static void test_gated_stores(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = small_array();
  array.units.gate = true;
  start(&array);
  put_spad(3, "3 5 2 -128");
  put_spad(8, "-1 1 0 0");
  put_acc(8, 10, -3, 127, -300);
  put_acc(13, 4, 5, 6, 7);
  give(m, "config_gate on=1 offset=0xfffffffb scale=0.5");
  give(m, "mvout dram=" OUT_TEXT " local=acc:8 rows=1 cols=4");
  expect_bytes(m, OUT, "15 -8 127 127");
  expect_acc(8, "10 -3 127 -300");
  expect_spad(3, "3 5 2 -128");
  give(m, "config_st activation=relu stride=8 acc_scale=2");
  give(m, "mvout dram=" OUT_TEXT " local=acc:8 rows=2 cols=6");
  expect_bytes(m, OUT, "30 0 127 0 0 0");
  expect_bytes(m, OUT + 12, "-4 5");
  give(m, "config_gate on=0 offset=0xfffffffb scale=0.5");
  give(m, "mvout dram=" OUT_TEXT " local=acc:8 rows=1 cols=4");
  expect_bytes(m, OUT, "20 0 127 0");
}

static void test_load_states_are_independent(void **state) {
  (void)state;
  put_bytes("10 20 30 40");
  give(m, "config_ld state=1 stride=4 block_stride=4 scale=-1");
  give(m, "mvin dram=" IN_TEXT " local=sp:0 rows=1 cols=4");
  give(m, "mvin2 dram=" IN_TEXT " local=sp:1 rows=1 cols=4");
  expect_spad(0, "10 20 30 40");
  expect_spad(1, "-10 -20 -30 -40");
}

// Copies that would leave the upper half of the scratchpad at its beginning are dropped like those below row 0.
static void test_pixel_repeats_stay_in_their_half(void **state) {
  (void)state;
  give(m, "config_ld state=0 stride=4 block_stride=4 pixel_repeats=2 scale=1");
  put_bytes("1 2 3 4 5 6 7 8");
  give(m, "mvin dram=" IN_TEXT " local=sp:512 rows=2 cols=2");
  expect_spad(511, "0 0 0 0");
  expect_spad(512, "1 2 5 6");
  expect_spad(513, "5 6 0 0");
  give(m, "mvin dram=0 local=sp:513 rows=1 cols=2");
  expect_spad(512, "1 2 0 0");
}

static void test_stores_of_blocks_and_strides(void **state) {
  (void)state;
  for (int block = 0; block < 3; block++)
    for (int row = 0; row < 2; row++) {
      char text[64];
      snprintf(text, sizeof text, "%d %d %d %d", block * 10 + row, 2, 3, 4);
      put_spad(100 + block * 4 + row, text);
    }
  give(m, "config_st stride=12 acc_scale=1");
  give(m, "mvout dram=" OUT_TEXT " local=sp:100 rows=2 cols=10");
  expect_bytes(m, OUT, "0 2 3 4 10 2 3 4 20 2 0 0 1 2 3 4 11 2 3 4 21 2 0");
}

static void test_the_kept_scale_and_relu_first(void **state) {
  (void)state;
  put_acc(0, -100, 100, 3, 1000);
  give(m, "config_st stride=4 activation=relu acc_scale=-0.5");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "0 -50 -2 -128");
  give(m, "config_st stride=4 acc_scale=0xffffffff");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "50 -50 -2 -128");
  give(m, "config_st stride=4 activation=igelu acc_scale=1");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "-100 100 3 127");
}

// A 3 x 3 image of one value per pixel, windows 2 x 2 one apart, padded above and left.
static void test_pooling(void **state) {
  (void)state;
  for (int pixel = 0; pixel < 9; pixel++) put_acc(10 + pixel, pixel - 6, -pixel, 1000 * (pixel - 4), -128);
  fill_bytes(m, OUT, 64, 99);
  give(m,
       "config_st stride=3 acc_scale=1 pool_stride=2 pool_size=2 pool_upad=1 pool_lpad=1 pool_out_dim=4 pool_orows=2 "
       "pool_ocols=2 orows=3 ocols=3");
  give(m, "mvout dram=" OUT_TEXT " local=acc:10 rows=0 cols=3");
  expect_bytes(m, OUT, "0 0 0 0 0 0 99 99 99 99 99 99 0 0 127 2 -4 127 99");
  give(m, "config_st stride=4 acc_scale=1");
  give(m, "mvout dram=" OUT_TEXT " local=acc:10 rows=1 cols=4");
  expect_bytes(m, OUT, "-6 0 -128 -128");
  // The geometry stays for a later 1-D store, but for what that one writes itself.
  give(m, "config_st stride=4 acc_scale=1 pool_size=1 pool_out_dim=3 orows=2 ocols=2");
  fill_bytes(m, OUT, 64, 99);
  give(m, "mvout dram=" OUT_TEXT " local=acc:10 rows=9 cols=2");
  expect_bytes(m, OUT, "-6 0 99 99 -5 -1 99 99 99 99 99 99 -4 -2 99 99 -3 -3 99 99 99");
}

// A = rows 0.., B = rows 8.., D = rows 12..; A is 2 x 3, B is 3 x 4.
static void put_operands(void) {
  put_spad(0, "1 2 3 100");
  put_spad(1, "4 5 6 100");
  put_spad(8, "1 0 2 -1");
  put_spad(9, "0 1 3 -2");
  put_spad(10, "1 1 4 -3");
  put_spad(11, "100 100 100 100");
  put_spad(12, "1 2 3 4");
  put_spad(13, "5 6 7 8");
}

static void test_weight_stationary_products(void **state) {
  (void)state;
  put_operands();
  give(m, "preload local=sp:8 rows=3 cols=4 dest=acc:0 dest_rows=2 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=2 a_cols=3 bd=sp:12 bd_rows=2 bd_cols=3");
  expect_acc(0, "5 7 23 -14");
  expect_acc(1, "15 17 54 -32");
  give(m, "preload local=garbage dest=acc:0+acc dest_rows=1 dest_cols=2");
  give(m, "compute_accumulated a=sp:1 a_rows=1 a_cols=3 bd=garbage");
  expect_acc(0, "15 18 23 -14");
  expect_acc(1, "15 17 54 -32");
}

static void test_transposed_operands(void **state) {
  (void)state;
  put_operands();
  // B stored as 4 rows (columns of B) of 3: W[k][j] = row 8 + j, lane k
  give(m, "config_ex dataflow=ws b_transpose=1 a_stride=1 c_stride=1 acc_scale=1");
  give(m, "preload local=sp:8 rows=3 cols=3 dest=acc:0 dest_rows=2 dest_cols=3");
  give(m, "compute_preloaded a=sp:0 a_rows=2 a_cols=3 bd=garbage");
  expect_acc(0, "7 11 15 0");
  // A stored as 2 rows of 3 is 3 x 2
  give(m, "config_ex dataflow=ws a_transpose=1 a_stride=1 c_stride=2 acc_scale=1");
  give(m, "preload local=sp:12 rows=2 cols=4 dest=acc:0 dest_rows=3 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=3 a_cols=2 bd=garbage");
  expect_acc(0, "21 26 31 36");
  expect_acc(2, "27 34 41 48");
  expect_acc(4, "33 42 51 60");
}

static void test_strides_of_a_and_c_alone(void **state) {
  (void)state;
  put_operands();
  give(m, "config_ex strides_only=1 dataflow=os a_stride=8 c_stride=5");
  give(m, "preload local=sp:12 rows=1 cols=4 dest=sp:100 dest_rows=2 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=2 a_cols=1 bd=garbage");
  expect_spad(100, "1 2 3 4");
  expect_spad(105, "1 2 3 4");
  expect_spad(101, "0 0 0 0");
}

static void test_the_two_sets_of_weights(void **state) {
  (void)state;
  put_operands();
  give(m, "preload local=sp:12 rows=1 cols=4 dest=garbage");
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  // The next weights go to the shadow set; the active ones stay.
  give(m, "preload local=sp:13 rows=1 cols=4 dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_accumulated a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  expect_acc(0, "1 2 3 4");
  // A garbage preload fills the shadow set with zeros.
  give(m, "preload local=garbage dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  expect_acc(0, "0 0 0 0");
  // A compute without preload only swaps back.
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  give(m, "preload local=garbage dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_accumulated a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  expect_acc(0, "1 2 3 4");
}

static void test_a_preload_without_compute(void **state) {
  (void)state;
  put_acc(0, 1, 2, 3, 4);
  put_acc(1, 1, 2, 3, 4);
  give(m, "preload local=garbage dest=acc:0 dest_rows=1 dest_cols=3");
  expect_acc(0, "1 2 3 4");
  give(m, "preload local=garbage dest=acc:1+acc dest_rows=1 dest_cols=3");
  expect_acc(0, "0 0 0 4");
  give(m, "preload local=garbage dest=garbage");
  expect_acc(1, "1 2 3 4");
}

static void test_partial_sums_wrap_to_their_width(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = small_array();
  array.types.output_bits = 17;
  start(&array);
  for (int row = 0; row < 4; row++) put_spad(row, "-128 -128 -128 -128");
  put_spad(4, "-1 0 1 2");
  give(m, "preload local=sp:0 rows=4 cols=4 dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=4 bd=sp:4 bd_rows=1 bd_cols=4");
  expect_acc(0, "65535 -65536 -65535 -65534");
}

static void test_operands_from_the_accumulator(void **state) {
  (void)state;
  put_acc(0, 10, -20, 30, 1000);
  put_spad(0, "1 0 0 0");
  give(m, "config_ex dataflow=ws activation=relu a_stride=1 c_stride=1 acc_scale=0.5");
  give(m, "preload local=acc:0 rows=1 cols=4 dest=acc:1 dest_rows=1 dest_cols=4");
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=1 bd=acc:0 bd_rows=1 bd_cols=4");
  expect_acc(1, "10 0 30 254");
}

static void test_output_stationary_products(void **state) {
  (void)state;
  put_operands();
  give(m, "config_ex dataflow=os a_stride=1 c_stride=1 acc_scale=1");
  give(m, "preload local=sp:12 rows=2 cols=4 dest=garbage");
  give(m, "compute_preloaded a=sp:0 a_rows=2 a_cols=3 bd=sp:8 bd_rows=3 bd_cols=4");
  give(m, "preload local=sp:13 rows=1 cols=4 dest=acc:8 dest_rows=2 dest_cols=4");
  give(m, "compute_accumulated a=sp:0 a_rows=1 a_cols=1 bd=sp:12 bd_rows=1 bd_cols=4");
  expect_acc(8, "6 9 26 -6");
  expect_acc(9, "15 17 54 -24");
  // With both transposed: A[i][k] = row k lane i, B[k][j] = row 8 + j lane k.
  give(m, "config_ex dataflow=os in_shift=1 a_transpose=1 b_transpose=1 a_stride=1 c_stride=1 activation=relu");
  give(m, "preload local=garbage dest=sp:20 dest_rows=3 dest_cols=2");
  give(m, "compute_preloaded a=sp:0 a_rows=3 a_cols=2 bd=sp:8 bd_rows=2 bd_cols=3");
  expect_spad(20, "0 2 0 0");
  expect_spad(21, "1 2 0 0");
  expect_spad(22, "2 3 0 0");
}

// Rows leave from the last one: with c_stride 0 they share the address of the last row of the array.
static void test_output_stationary_rows_leave_bottom_first(void **state) {
  (void)state;
  put_operands();
  give(m, "config_ex dataflow=os a_stride=1 c_stride=0 acc_scale=1");
  give(m, "preload local=sp:12 rows=1 cols=4 dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_preloaded a=garbage bd=garbage");
  expect_acc(3, "1 2 3 4");
  expect_acc(0, "0 0 0 0");
}

static void test_weights_survive_the_other_dataflow(void **state) {
  (void)state;
  put_operands();
  give(m, "preload local=sp:12 rows=1 cols=4 dest=garbage");
  give(m, "compute_preloaded a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  give(m, "config_ex dataflow=os a_stride=1 c_stride=1 acc_scale=1");
  give(m, "preload local=sp:13 rows=1 cols=4 dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_preloaded a=garbage bd=garbage");
  expect_acc(0, "5 6 7 8");
  give(m, "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1");
  give(m, "preload local=garbage dest=acc:0 dest_rows=1 dest_cols=4");
  give(m, "compute_accumulated a=sp:0 a_rows=1 a_cols=1 bd=garbage");
  expect_acc(0, "1 2 3 4");
}

static void test_moves_to_the_scratchpad(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = small_array();
  array.isa.revision = 2;
  start(&array);
  put_acc(0, 10, -20, 30, 1000);
  put_acc(1, 1, 2, 3, 4);
  give(m, "config_st stride=4 activation=relu acc_scale=0.5");
  give(m, "mvout_spad dest=sp:8 stride=3 local=acc:0 rows=2 cols=4");
  expect_spad(8, "5 0 15 127");
  expect_spad(11, "0 1 2 2");
}

// Two blocks of columns, the second of two: row r of block b goes to 20 + 2 r + 7 b.
static void test_moves_of_column_blocks(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = small_array();
  array.isa.revision = 2;
  start(&array);
  put_acc(0, 1, 2, 3, 4);
  put_acc(1, 5, 6, 7, 8);
  put_acc(4, 9, 10, 11, 12);
  put_acc(5, 13, 14, 15, 16);
  give(m, "config_st stride=4 activation=none acc_scale=1");
  give(m, "mvout_spad dest=sp:20 stride=2 block_stride=7 local=acc:0 rows=2 cols=6");
  expect_spad(20, "1 2 3 4");
  expect_spad(22, "5 6 7 8");
  expect_spad(27, "9 10 0 0");
  expect_spad(29, "13 14 0 0");
}

static void start_normaliser(unsigned revision) {
  machine_destroy(m);
  hw_array array = small_array();
  array.isa.revision = revision;
  array.units.normaliser = true;
  start(&array);
}

// Row 2 4 6 8 (two blocks of 4: the second is 0 2 4 6): mean 4, variance 6 -> deviation 2.
static void collect_layernorm(void) {
  put_acc(0, 2, 4, 6, 8);
  put_acc(4, 0, 2, 4, 6);
  give(m, "config_norm stats_id=1");
  give(m, "mvout dram=0 local=acc:0+mean rows=1 cols=8");
  give(m, "mvout dram=0 local=acc:0+inv_stddev rows=1 cols=8");
}

static void test_layernorm_in_both_revisions(void **state) {
  (void)state;
  static const char *want[] = {"-10 0 10 20 -20 -10 0 10", "-1 0 1 2 -2 -1 0 1"};
  for (unsigned revision = 1; revision <= 2; revision++) {
    start_normaliser(revision);
    collect_layernorm();
    give(m, "config_st stride=8 activation=layernorm acc_scale=10");
    give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=8");
    expect_bytes(m, OUT, want[revision - 1]);
  }
}

// iexp with qln2 = 2, qln2_inverse = 32768, qb = 0, qc = 1: q = 0 -> 1, q = -1 -> z 0: 2, q = -2 -> z 1, p 0: 0,
// q = -3 -> z 1, p -1: 1. Their sum is 4 and the factor 127/4.
static void test_softmax(void **state) {
  (void)state;
  start_normaliser(2);
  put_acc(0, 7, 6, 5, 4);
  give(m, "config_norm activation_msb=1 ln2=2 qc=1");
  give(m, "config_norm activation_msb=1 qln2_inverse=1 ln2=32768 qc=1");
  give(m, "mvout dram=0 local=acc:0+max rows=1 cols=4");
  give(m, "mvout dram=0 local=acc:0+inv_sum_exp rows=1 cols=4");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "32 64 0 32");
  // config_st takes the softmax bit away.
  give(m, "config_st stride=4 acc_scale=1");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "7 6 5 4");
}

// q * (sign * ((min(|q|, 3) - 3)^2 + 5) + 5): 1 -> 14, -1 -> 4, 4 -> 40, -4 -> 0
static void test_igelu(void **state) {
  (void)state;
  start_normaliser(1);
  put_acc(0, 1, -1, 4, -4);
  give(m, "config_norm qb=4294967293 qc=5");
  give(m, "config_st stride=4 activation=igelu acc_scale=1");
  give(m, "mvout dram=" OUT_TEXT " local=acc:0 rows=1 cols=4");
  expect_bytes(m, OUT, "14 4 40 0");
}

static void test_counters(void **state) {
  (void)state;
  give(m, "counter configure=1 index=2 event=4 external=1");
  give(m, "counter configure=1 index=3 event=5 external=1");
  give(m, "counter configure=1 index=4 event=9");
  assert_int_equal(give(m, "counter index=2"), 0);
  put_spad(0, "1 2 3 4");
  give(m, "mvin dram=0 local=sp:1 rows=4 cols=4");
  assert_int_equal(give(m, "counter index=2"), 4);
  give(m, "mvout dram=" OUT_TEXT " local=acc:0+full rows=2 cols=3");
  assert_int_equal(give(m, "counter index=3 snapshot=1"), 24);
  put_spad(0, "1 2 3 4");
  assert_int_equal(give(m, "counter index=2"), 4);
  give(m, "counter snapshot_reset=1");
  assert_int_equal(give(m, "counter index=2"), 8);
  assert_int_equal(give(m, "counter index=4"), 0);
  assert_int_equal(give(m, "counter index=3 reset=1"), 24);
  assert_int_equal(give(m, "counter index=3"), 0);
}

// The same product on arrays from 2 to 128 on a side: C = A * I + D.
static void test_every_size_of_array(void **state) {
  (void)state;
  for (uint32_t dim = 2; dim <= 128; dim *= 2) {
    machine_destroy(m);
    hw_array array = machine_default_array();
    array.mesh.rows = array.mesh.columns = dim;
    array.scratchpad.capacity_kib = 512;
    array.accumulator.capacity_kib = 1024;
    start(&array);
    give(m, "config_ld state=0 stride=%u block_stride=%u scale=1", dim, dim);
    for (uint32_t n = 0; n < dim * dim; n++) bytes_at(m, IN)[n] = (int8_t)(n * 7 + n / dim);
    give(m, "mvin dram=" IN_TEXT " local=sp:0 rows=%u cols=%u", dim, dim);
    for (uint32_t n = 0; n < dim * dim; n++) bytes_at(m, IN)[n] = n / dim == n % dim;
    give(m, "mvin dram=" IN_TEXT " local=sp:%u rows=%u cols=%u", dim, dim, dim);
    give(m, "preload local=sp:%u rows=%u cols=%u dest=sp:%u dest_rows=%u dest_cols=%u", dim, dim, dim, 2 * dim, dim,
         dim);
    give(m, "compute_preloaded a=sp:0 a_rows=%u a_cols=%u bd=sp:%u bd_rows=%u bd_cols=%u", dim, dim, dim, dim, dim);
    give(m, "config_st stride=%u acc_scale=1", dim);
    give(m, "mvout dram=" OUT_TEXT " local=sp:%u rows=%u cols=%u", 2 * dim, dim, dim);
    for (uint32_t n = 0; n < dim * dim; n++) {
      int value = (int8_t)(n * 7 + n / dim) + (n / dim == n % dim);
      assert_int_equal(bytes_at(m, OUT)[n], value > 127 ? 127 : value);
    }
  }
}

// A whole loop against the definition, chained over k without bias, on the default array.
static void test_a_matrix_loop(void **state) {
  (void)state;
  machine_destroy(m);
  hw_array array = machine_default_array();
  start(&array);
  enum { M = 37, N = 45, K = 50, A_AT = 0x80100000, B_AT = 0x80110000, C_AT = 0x80120000 };
  for (int n = 0; n < M * K; n++) bytes_at(m, A_AT)[n] = (int8_t)(n * 31 % 17 - 8);
  for (int n = 0; n < K * N; n++) bytes_at(m, B_AT)[n] = (int8_t)(n * 13 % 11 - 5);
  give(m, "config_ld state=0 stride=%d block_stride=16 scale=1", K);
  give(m, "config_ld state=1 stride=%d block_stride=16 scale=1", N);
  give(m, "config_st stride=%d acc_scale=0.25", N);
  for (int part = 0; part < 2; part++) {
    give(m, "loop_ws_bounds i=3 j=3 k=%d pad_i=11 pad_j=3 pad_k=%d", part == 0 ? 2 : 2, part == 0 ? 0 : 14);
    give(m, "loop_ws_addrs_ab a=%d b=%d", 0, 0);
    give(m, "loop_ws_addrs_ab a=%lu b=%lu", (unsigned long)A_AT + (unsigned long)part * 32,
         (unsigned long)B_AT + (unsigned long)part * 32 * N);
    give(m, "loop_ws_addrs_dc d=0 c=%lu", part == 0 ? 0 : (unsigned long)C_AT);
    give(m, "loop_ws_strides_ab a=%d b=%d", K, N);
    give(m, "loop_ws_strides_dc c=%d", N);
    give(m, "loop_ws ex_accumulate=%d", part);
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int sum = 0;
      for (int k = 0; k < K; k++) sum += bytes_at(m, A_AT)[i * K + k] * bytes_at(m, B_AT)[k * N + j];
      int quarter = sum >> 2, rest = sum & 3;
      quarter += rest == 3 || (rest == 2 && (quarter & 1));
      int want = quarter > 127 ? 127 : quarter < -128 ? -128 : quarter;
      assert_int_equal(bytes_at(m, C_AT)[i * N + j], want);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_loads_cut_rows_into_blocks),
      CASE(test_stride_zero_repeats_and_address_zero_clears),
      CASE(test_loads_into_the_accumulator),
      CASE(test_load_states_are_independent),
      CASE(test_packed_loads),
      CASE(test_gated_stores),
      CASE(test_pixel_repeats_stay_in_their_half),
      CASE(test_stores_of_blocks_and_strides),
      CASE(test_the_kept_scale_and_relu_first),
      CASE(test_pooling),
      CASE(test_weight_stationary_products),
      CASE(test_transposed_operands),
      CASE(test_strides_of_a_and_c_alone),
      CASE(test_the_two_sets_of_weights),
      CASE(test_a_preload_without_compute),
      CASE(test_partial_sums_wrap_to_their_width),
      CASE(test_operands_from_the_accumulator),
      CASE(test_output_stationary_products),
      CASE(test_output_stationary_rows_leave_bottom_first),
      CASE(test_weights_survive_the_other_dataflow),
      CASE(test_moves_to_the_scratchpad),
      CASE(test_moves_of_column_blocks),
      CASE(test_layernorm_in_both_revisions),
      CASE(test_softmax),
      CASE(test_igelu),
      CASE(test_counters),
      CASE(test_every_size_of_array),
      CASE(test_a_matrix_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
