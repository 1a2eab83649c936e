// SPDX-License-Identifier: Apache-2.0
// The numbers that the v0.7.1 RTL of Gemmini gave for a program of corner cases, reproduced command by command:
// wrapping of output-stationary sums, rounding shifts, scaling, masks, the garbage store, pixel repeats, sign
// extension.
#include "sim/ref/tests/machine.h"

#define A "0x80010000"
#define B "0x80020000"
#define D "0x80030000"
enum { A_AT = 0x80010000, B_AT = 0x80020000, D_AT = 0x80030000, C_AT = 0x80040000, F_AT = 0x80050000 };
#define C "0x80040000"
#define F "0x80050000"

static machine *m;

static int set_up(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  m = machine_create(&array);
  for (int load = 0; load < 3; load++)
    give(m, "config_ld state=%d stride=%d block_stride=16 pixel_repeats=1 scale=1", load, load == 2 ? 64 : 16);
  give(m, "config_st stride=16 acc_scale=1");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  machine_destroy(m);
  return 0;
}

static void load_operands(void) {
  give(m, "mvin dram=" A " local=sp:0 rows=16 cols=16");
  give(m, "mvin2 dram=" B " local=sp:8192 rows=16 cols=16");
}

static void chain(int shift, int passes, const char *c) {
  give(m, "config_ex dataflow=os in_shift=%d a_stride=1 c_stride=1 acc_scale=1", shift);
  for (int n = 0; n < passes; n++) {
    give(m, "preload local=garbage rows=16 cols=16 dest=%s dest_rows=16 dest_cols=16", n == passes - 1 ? c : "garbage");
    give(m, "%s a=sp:0 a_rows=16 a_cols=16 bd=sp:8192 bd_rows=16 bd_cols=16",
         n == 0 ? "compute_preloaded" : "compute_accumulated");
  }
}

static void expect_chain(int shift, int passes, int32_t value) {
  chain(shift, passes, "acc:0");
  give(m, "config_st stride=64 acc_scale=1");
  give(m, "mvout dram=" F " local=acc:0+full rows=16 cols=16");
  assert_int_equal(words_at(m, F_AT)[0], value);
  assert_int_equal(words_at(m, F_AT)[255], value);
}

static void test_output_stationary_sums_wrap_at_20_bits(void **state) {
  (void)state;
  fill_bytes(m, A_AT, 256, 127);
  fill_bytes(m, B_AT, 256, 127);
  load_operands();
  static const int32_t sums[] = {258064, 516128, -274384, -16320, 241744};
  for (int passes = 1; passes <= 5; passes++) expect_chain(0, passes, sums[passes - 1]);
  static const int32_t shifted[] = {16129, 32258, -17149};
  for (int passes = 1; passes <= 3; passes++) expect_chain(4, passes, shifted[passes - 1]);
}

static void test_the_shift_rounds_halves_to_even(void **state) {
  (void)state;
  for (int n = 0; n < 256; n++) {
    bytes_at(m, A_AT)[n] = n % 17 == 0;
    bytes_at(m, B_AT)[n] = (int8_t)(n % 16 * 3 - 24 + n / 16);
  }
  load_operands();
  static const char *rows[] = {"-24 -21 -18 -15 -12 -9 -6 -3 0 3 6 9 12 15 18 21",
                               "-12 -10 -9 -8 -6 -4 -3 -2 0 2 3 4 6 8 9 10", "-6 -5 -4 -4 -3 -2 -2 -1 0 1 2 2 3 4 4 5",
                               "-3 -3 -2 -2 -2 -1 -1 0 0 0 1 1 2 2 2 3"};
  for (int shift = 0; shift <= 3; shift++) {
    chain(shift, 1, "sp:4096");
    give(m, "mvout dram=" C " local=sp:4096 rows=16 cols=16");
    expect_bytes(m, C_AT, rows[shift]);
  }
}

static void test_weight_stationary_to_the_scratchpad_clips(void **state) {
  (void)state;
  for (int n = 0; n < 256; n++) {
    bytes_at(m, A_AT)[n] = 20;
    bytes_at(m, B_AT)[n] = (int8_t)(n % 16 - 8);
  }
  load_operands();
  static const char *rows[] = {"-128 -128 -128 -128 -128 -128 -128 -128 0 127 127 127 127 127 127 127",
                               "0 0 0 0 0 0 0 0 0 127 127 127 127 127 127 127"};
  for (int relu = 0; relu <= 1; relu++) {
    give(m, "config_ex dataflow=ws activation=%d a_stride=1 c_stride=1 acc_scale=1", relu);
    give(m, "preload local=sp:8192 rows=16 cols=16 dest=sp:4096 dest_rows=16 dest_cols=16");
    give(m, "compute_preloaded a=sp:0 a_rows=16 a_cols=16 bd=garbage bd_rows=16 bd_cols=16");
    give(m, "mvout dram=" C " local=sp:4096 rows=16 cols=16");
    expect_bytes(m, C_AT, rows[relu]);
  }
}

static void load_accumulator(void) {
  for (int n = 0; n < 256; n++) words_at(m, D_AT)[n] = n % 16 * 7 - 50 + n / 16 * 1000;
  words_at(m, D_AT)[0] = INT32_MAX;
  words_at(m, D_AT)[1] = INT32_MIN;
  words_at(m, D_AT)[2] = 16777217;
  words_at(m, D_AT)[3] = 33554435;
  give(m, "mvin3 dram=" D " local=acc:0 rows=16 cols=16");
}

static void expect_scaled(const char *scale, int activation, const char *row) {
  give(m, "config_st stride=16 activation=%d acc_scale=%s", activation, scale);
  give(m, "mvout dram=" C " local=acc:0 rows=16 cols=16");
  expect_bytes(m, C_AT, row);
}

static void test_the_accumulator_scale(void **state) {
  (void)state;
  load_accumulator();
  expect_scaled("1", 0, "127 -128 127 127 -22 -15 -8 -1 6 13 20 27 34 41 48 55");
  expect_scaled("0.5", 0, "127 -128 127 127 -11 -8 -4 0 3 6 10 14 17 20 24 28");
  expect_scaled("0.25", 0, "127 -128 127 127 -6 -4 -2 0 2 3 5 7 8 10 12 14");
  expect_scaled("0x3eaaaaab", 0, "127 -128 127 127 -7 -5 -3 0 2 4 7 9 11 14 16 18");
  expect_scaled("0x33800000", 0, "127 -128 1 2 0 0 0 0 0 0 0 0 0 0 0 0");
  expect_scaled("0x7fc00000", 0, "127 127 127 127 127 127 127 127 127 127 127 127 127 127 127 127");
  expect_scaled("-1", 0, "-128 127 -128 -128 22 15 8 1 -6 -13 -20 -27 -34 -41 -48 -55");
  expect_scaled("0.5", 1, "127 0 127 127 0 0 0 0 3 6 10 14 17 20 24 28");
  expect_scaled("0xffffffff", 0, "127 -128 127 127 -11 -8 -4 0 3 6 10 14 17 20 24 28");
}

static void test_the_load_scale(void **state) {
  (void)state;
  static const struct {
    const char *scale;
    int8_t picked[12];  // every 21st element, modulo 256
  } cases[] = {{"0.5", {0, 10, 21, 32, 42, 52, 63, -54, -44, -34, -23, -12}},
               {"2", {0, 42, 84, 126, 127, 127, 127, -128, -128, -128, -92, -50}},
               {"1.5", {0, 32, 63, 94, 126, 127, 127, -128, -128, -100, -69, -38}},
               {"-1", {0, -21, -42, -63, -84, -105, -126, 109, 88, 67, 46, 25}}};
  for (int n = 0; n < 256; n++) bytes_at(m, A_AT)[n] = (int8_t)n;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    give(m, "config_ld state=0 stride=16 block_stride=16 pixel_repeats=1 scale=%s", cases[c].scale);
    give(m, "mvin dram=" A " local=sp:0 rows=16 cols=16");
    give(m, "mvout dram=" C " local=sp:0 rows=16 cols=16");
    for (int j = 0; j < 12; j++) assert_int_equal(bytes_at(m, C_AT)[j * 21 % 256], cases[c].picked[j]);
  }
}

static void test_lanes_beyond_the_columns_keep_their_data(void **state) {
  (void)state;
  fill_bytes(m, A_AT, 256, 1);
  give(m, "mvin dram=" A " local=sp:0 rows=16 cols=16");
  fill_bytes(m, A_AT, 256, 9);
  give(m, "mvin dram=" A " local=sp:0 rows=16 cols=5");
  give(m, "mvout dram=" C " local=sp:0 rows=16 cols=16");
  expect_bytes(m, C_AT, "9 9 9 9 9 1 1 1 1 1 1 1 1 1 1 1");
}

static void test_a_garbage_store_counts_on_into_the_accumulator(void **state) {
  (void)state;
  load_accumulator();
  fill_bytes(m, C_AT, 128, 77);
  give(m, "mvout dram=" C " local=garbage rows=2 cols=16");
  expect_bytes(m, C_AT, "0 0 0 0");
  assert_int_equal(bytes_at(m, C_AT)[31], 2);
  for (int n = 0; n < 64; n++) assert_int_equal(bytes_at(m, C_AT)[16 + n], bytes_at(m, D_AT)[n]);
  assert_int_equal(bytes_at(m, C_AT)[80], 77);
}

static void test_pixel_repeats(void **state) {
  (void)state;
  static const char *rows[9] = {
      "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
      "-1 -1 -1 -1 -1 -1 -1 -1 0 1 2 3 -1 -1 -1 -1",     "-1 -1 -1 -1 0 1 2 3 10 11 12 13 -1 -1 -1 -1",
      "0 1 2 3 10 11 12 13 20 21 22 23 -1 -1 -1 -1",     "10 11 12 13 20 21 22 23 30 31 32 33 -1 -1 -1 -1",
      "20 21 22 23 30 31 32 33 -1 -1 -1 -1 -1 -1 -1 -1", "30 31 32 33 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
      "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"};
  for (int n = 0; n < 256; n++) bytes_at(m, A_AT)[n] = (int8_t)(n / 16 * 10 + n % 16);
  fill_bytes(m, B_AT, 256, -1);
  give(m, "mvin2 dram=" B " local=sp:0 rows=16 cols=16");
  give(m, "config_ld state=0 stride=16 block_stride=16 pixel_repeats=3 scale=1");
  give(m, "mvin dram=" A " local=sp:4 rows=4 cols=4");
  give(m, "mvout dram=" C " local=sp:0 rows=16 cols=16");
  for (unsigned r = 0; r < 9; r++) expect_bytes(m, C_AT + 16 * r, rows[r]);
}

static void test_weight_stationary_sums_do_not_wrap_in_the_accumulator(void **state) {
  (void)state;
  fill_bytes(m, A_AT, 256, -128);
  fill_bytes(m, B_AT, 256, -128);
  load_operands();
  give(m, "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1");
  give(m, "preload local=sp:8192 rows=16 cols=16 dest=acc:0 dest_rows=16 dest_cols=16");
  give(m, "compute_preloaded a=sp:0 a_rows=16 a_cols=16 bd=garbage bd_rows=16 bd_cols=16");
  for (int n = 0; n < 3; n++) {
    give(m, "preload local=garbage rows=16 cols=16 dest=acc:0+acc dest_rows=16 dest_cols=16");
    give(m, "compute_accumulated a=sp:0 a_rows=16 a_cols=16 bd=garbage bd_rows=16 bd_cols=16");
  }
  give(m, "config_st stride=64 acc_scale=1");
  give(m, "mvout dram=" F " local=acc:0+full rows=16 cols=16");
  assert_int_equal(words_at(m, F_AT)[0], 1048576);
}

static void test_a_counter_reset_answers_zero(void **state) {
  (void)state;
  assert_int_equal(give(m, "counter reset=1"), 0);
}

#define QUIRK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      QUIRK(test_output_stationary_sums_wrap_at_20_bits),
      QUIRK(test_the_shift_rounds_halves_to_even),
      QUIRK(test_weight_stationary_to_the_scratchpad_clips),
      QUIRK(test_the_accumulator_scale),
      QUIRK(test_the_load_scale),
      QUIRK(test_lanes_beyond_the_columns_keep_their_data),
      QUIRK(test_a_garbage_store_counts_on_into_the_accumulator),
      QUIRK(test_pixel_repeats),
      QUIRK(test_weight_stationary_sums_do_not_wrap_in_the_accumulator),
      QUIRK(test_a_counter_reset_answers_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
