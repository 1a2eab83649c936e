// SPDX-License-Identifier: Apache-2.0
// The oracle checked before it judges: its numerics against figures observed on the hardware and against the C
// library's binary32 arithmetic, and its arrays against the rules of the array description.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

enum { ROW = 16, RANDOM_SCALES = 200000 };

static int expect_value(const char *what, int index, int64_t got, int64_t want) {
  if (got == want) return 0;
  fprintf(stderr, "FAIL selfcheck %s[%d]: got %lld, want %lld\n", what, index, (long long)got, (long long)want);
  return 1;
}

// Rows that the hardware printed for accumulator values 7j - 50 with the first four replaced.
static const struct {
  uint32_t scale;
  bool relu;
  int16_t row[ROW];
} scaled_rows[] = {
    {0x3f800000, false, {127, -128, 127, 127, -22, -15, -8, -1, 6, 13, 20, 27, 34, 41, 48, 55}},
    {0x3f000000, false, {127, -128, 127, 127, -11, -8, -4, 0, 3, 6, 10, 14, 17, 20, 24, 28}},
    {0x3e800000, false, {127, -128, 127, 127, -6, -4, -2, 0, 2, 3, 5, 7, 8, 10, 12, 14}},
    {0x3eaaaaab, false, {127, -128, 127, 127, -7, -5, -3, 0, 2, 4, 7, 9, 11, 14, 16, 18}},
    {0x33800000, false, {127, -128, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {0x7fc00000, false, {127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127}},
    {0xbf800000, false, {-128, 127, -128, -128, 22, 15, 8, 1, -6, -13, -20, -27, -34, -41, -48, -55}},
    {0x3f000000, true, {127, 0, 127, 127, 0, 0, 0, 0, 3, 6, 10, 14, 17, 20, 24, 28}},
};

static int check_scaled_rows(void) {
  static const int64_t first[] = {INT32_MAX, INT32_MIN, 16777217, 33554435};
  int failures = 0;
  for (size_t i = 0; i < sizeof scaled_rows / sizeof scaled_rows[0]; i++) {
    for (int j = 0; j < ROW; j++) {
      int64_t value = j < 4 ? first[j] : 7 * j - 50;
      oracle_output out = {scaled_rows[i].relu, scaled_rows[i].scale};
      failures += expect_value("scaled row", j, oracle_narrow(value, out), scaled_rows[i].row[j]);
    }
  }
  return failures;
}

// Loaded int8 values 21j modulo 256 under four scales.
static int check_load_rows(void) {
  static const struct {
    uint32_t scale;
    int16_t row[12];
  } rows[] = {
      {0x3f000000, {0, 10, 21, 32, 42, 52, 63, -54, -44, -34, -23, -12}},
      {0x40000000, {0, 42, 84, 126, 127, 127, 127, -128, -128, -128, -92, -50}},
      {0x3fc00000, {0, 32, 63, 94, 126, 127, 127, -128, -128, -100, -69, -38}},
      {0xbf800000, {0, -21, -42, -63, -84, -105, -126, 109, 88, 67, 46, 25}},
  };
  int failures = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int j = 0; j < 12; j++) {
      int64_t value = oracle_wrap(21 * j, 8);
      failures += expect_value("loaded row", j, oracle_scale(value, rows[i].scale), rows[i].row[j]);
    }
  }
  return failures;
}

// Sums of n tiles of 16 * 127 * 127 at 20 bits, plain and shifted by 4; shifts of 3j - 24.
static int check_sums(void) {
  static const int64_t wrapped[] = {258064, 516128, -274384, -16320, 241744};
  static const int64_t shifted[] = {16129, 32258, -17149};
  static const int8_t rows[4][ROW] = {{-24, -21, -18, -15, -12, -9, -6, -3, 0, 3, 6, 9, 12, 15, 18, 21},
                                      {-12, -10, -9, -8, -6, -4, -3, -2, 0, 2, 3, 4, 6, 8, 9, 10},
                                      {-6, -5, -4, -4, -3, -2, -2, -1, 0, 1, 2, 2, 3, 4, 4, 5},
                                      {-3, -3, -2, -2, -2, -1, -1, 0, 0, 0, 1, 1, 2, 2, 2, 3}};
  int failures = 0;
  for (int n = 1; n <= 5; n++) {
    failures += expect_value("wrapped sum", n, oracle_wrap(n * INT64_C(258064), 20), wrapped[n - 1]);
  }
  for (int n = 1; n <= 3; n++) {
    int64_t sum = oracle_shift_even(oracle_wrap(n * INT64_C(258064), 20), 4);
    failures += expect_value("shifted sum", n, sum, shifted[n - 1]);
  }
  for (unsigned shift = 0; shift < 4; shift++) {
    for (int j = 0; j < ROW; j++) {
      failures += expect_value("shifted row", j, oracle_shift_even(3 * j - 24, shift), rows[shift][j]);
    }
  }
  return failures;
}

static int64_t library_scale(int32_t value, uint32_t bits) {
  float scale;
  memcpy(&scale, &bits, sizeof scale);
  volatile float wide = (float)value;
  volatile float product = wide * scale;
  float result = rintf(product);
  if (isnan(result)) return 127;
  return result > 127 ? 127 : result < -128 ? -128 : (int64_t)result;
}

static int check_library(void) {
  oracle_random r = random_of(1, 0, 0);
  int failures = 0;
  for (int i = 0; i < RANDOM_SCALES && failures < 5; i++) {
    int32_t value = (int32_t)(uint32_t)random_u64(&r) >> random_in(&r, 0, 31);
    // Half of the scales bring the product near the int8 range, the others are any pattern.
    uint32_t scale = (uint32_t)random_u64(&r);
    if (i % 2 == 0) scale = (uint32_t)random_in(&r, 127 - 34, 127 + 9) << 23 | (scale & 0x807fffff);
    failures += expect_value("library", i, oracle_scale(value, scale), library_scale(value, scale));
  }
  return failures;
}

static int check_arrays(void) {
  static const int64_t dims[] = {2, 4, 8, 16, 32};
  wf_diag quiet = wf_diag_to(NULL), loud = wf_diag_to(stderr);  // narrow sums are warned of, and wanted here
  int failures = 0;
  for (int i = 0; i < 200; i++) {
    oracle_random r = random_of((uint64_t)i, 1, 0);
    hw_array array = oracle_array(dims[i % 5], 1 + (uint32_t)i % 2, &r);
    if (!hw_array_check(&array, NULL, &quiet)) failures += !hw_array_check(&array, NULL, &loud);
    failures += expect_value("array side", i, hw_derive(&array).dim, dims[i % 5]);
  }
  return failures;
}

int selfcheck(void) {
  return check_scaled_rows() + check_load_rows() + check_sums() + check_library() + check_arrays();
}
