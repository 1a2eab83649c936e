// SPDX-License-Identifier: Apache-2.0
// The arithmetic: kernels compiled for this machine against their plain definition, rounding and saturation at the
// edges.
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "sim/ref/numeric.h"
#include "sim/ref/tests/machine.h"

static uint32_t seed = 1;

static uint32_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed;
}

static void test_multiply_equals_its_definition(void **state) {
  (void)state;
  enum { MOST = 128 };
  static int8_t a[MOST * MOST];
  static int16_t b[MOST * MOST];
  static int32_t got[MOST * MOST], want[MOST * MOST];
  for (size_t dim = 2; dim <= MOST; dim *= 2)
    for (int round = 0; round < 8; round++) {
      for (size_t n = 0; n < dim * dim; n++) {
        a[n] = (int8_t)(round == 0 ? 0x80 : draw());
        b[n] = (int8_t)(round == 0 ? 0x80 : draw());
      }
      size_t rows = 1 + draw() % dim, depth = draw() % (dim + 1);
      memset(got, 0x55, sizeof got);
      memset(want, 0x55, sizeof want);
      ref_multiply(dim, rows, depth, a, b, got);
      ref_multiply_plain(dim, rows, depth, a, b, want);
      assert_memory_equal(got, want, sizeof got);
    }
}

// One element by the library's rounding: nearest even at each of the three steps, then the clip.
static int8_t scaled(int32_t value, float scale, bool relu) {
  if (relu && value < 0) value = 0;
  float product = (float)value * scale;
  if (isnan(product) || product > 127.0f) return 127;
  if (product < -128.0f) return -128;
  return (int8_t)nearbyintf(product);
}

static void test_scaled_rows_equal_the_definition(void **state) {
  (void)state;
  assert_int_equal(fegetround(), FE_TONEAREST);
  static const uint32_t scales[] = {0x3f800000, 0x3f000000, 0xbf800000, 0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000,
                                    0x00000000, 0x80000000, 0x00000001, 0x33800000, 0x7f7fffff, 0x3eaaaaab, 0x3b800000};
  enum { COUNT = 61 };
  int32_t in[COUNT];
  int8_t out[COUNT];
  for (int round = 0; round < 20000; round++) {
    float scale =
        ref_float_of_bits(round % 2 == 0 ? scales[(size_t)round / 2 % (sizeof scales / sizeof *scales)] : draw());
    for (int n = 0; n < COUNT; n++) in[n] = (int32_t)draw() >> draw() % 32;
    in[0] = INT32_MIN, in[1] = INT32_MAX, in[2] = 0;
    bool relu = draw() % 4 == 0;
    ref_scale_row(COUNT, in, scale, relu, out);
    for (int n = 0; n < COUNT; n++)
      if (out[n] != scaled(in[n], scale, relu))
        fail_msg("%d * %g (0x%08x): %d", in[n], (double)scale, ref_bits_of_float(scale), out[n]);
  }
}

static void test_halves_round_to_even(void **state) {
  (void)state;
  static const int32_t in[] = {-7, -6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7};
  static const int32_t by_two[] = {-2, -2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 2, 2};
  for (size_t n = 0; n < sizeof in / sizeof *in; n++) assert_int_equal(ref_rounding_shift(in[n], 2), by_two[n]);
  assert_int_equal(ref_rounding_shift(INT32_MIN, 31), -1);
  assert_int_equal(ref_rounding_shift(1 << 30, 31), 0);
  assert_int_equal(ref_rounding_shift((1 << 30) + 1, 31), 1);
  assert_int_equal(ref_rounding_shift(-12345, 0), -12345);
}

static void test_wrapping_and_saturation(void **state) {
  (void)state;
  assert_int_equal(ref_wrap(0x7ffff, 20), 524287);
  assert_int_equal(ref_wrap(0x80000, 20), -524288);
  assert_int_equal(ref_wrap(0x80000000, 32), INT32_MIN);
  assert_int_equal(ref_scale_int32(INT32_MAX, 1.0f), INT32_MAX);
  assert_int_equal(ref_scale_int32(INT32_MIN, 1.0f), INT32_MIN);
  assert_int_equal(ref_scale_int32(INT32_MIN, -1.0f), INT32_MAX);
  assert_int_equal(ref_scale_int32(5, NAN), INT32_MAX);
  assert_int_equal(ref_scale_int32(5, 0.5f), 2);
  assert_int_equal(ref_floor_sqrt(INT32_MAX), 46340);
  assert_int_equal(ref_floor_sqrt(15), 3);
  assert_int_equal(ref_floor_sqrt(16), 4);
  assert_int_equal(ref_floor_sqrt(-4), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_multiply_equals_its_definition),
      cmocka_unit_test(test_scaled_rows_equal_the_definition),
      cmocka_unit_test(test_halves_round_to_even),
      cmocka_unit_test(test_wrapping_and_saturation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
