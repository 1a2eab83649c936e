// SPDX-License-Identifier: Apache-2.0
// The functions of weft/host_math.h are near those of the C library, over their whole range and at its edges.
#include <math.h>

#include "base/test.h"
#include "weft/host_math.h"

static double gelu_like_erf(double x) { return erf(x); }

typedef struct function {
  const char *name;
  float (*ours)(float);
  double (*theirs)(double);
  float low, high;
  double relative, absolute;  // either is good enough
} function;

static const function functions[] = {
    {"exp", weft_expf, exp, -87, 88, 4e-7, 0},
    {"exp of tiny", weft_expf, exp, -103, -87, 1e-5, 3e-45},
    {"log", weft_logf, log, 1e-30f, 1e4f, 4e-7, 2e-7},
    {"log near 1", weft_logf, log, 0.5f, 2, 4e-7, 4e-8},
    {"erf", weft_erff, gelu_like_erf, -5, 5, 4e-7, 4e-7},
    {"tanh", weft_tanhf, tanh, -12, 12, 4e-7, 4e-7},
    {"sin", weft_sinf, sin, -1000, 1000, 4e-7, 1e-6},
    {"cos", weft_cosf, cos, -1000, 1000, 4e-7, 1e-6},
    {"floor", weft_floorf, floor, -1e7f, 1e7f, 0, 0},
    {"round", weft_roundf, rint, -1e7f, 1e7f, 0, 0},
};

enum { POINTS = 200000 };

static void test_near(void **state) {
  (void)state;
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    const function *fn = &functions[f];
    for (int i = 0; i <= POINTS; i++) {
      const float x = fn->low + (fn->high - fn->low) * (float)i / (float)POINTS;
      const double want = fn->theirs(x), error = fabs(fn->ours(x) - want);
      if (error <= fn->relative * fabs(want) || error <= fn->absolute) continue;
      fail_msg("%s(%.9g) is %.9g, not %.9g", fn->name, (double)x, (double)fn->ours(x), want);
    }
  }
}

static void test_edges(void **state) {
  (void)state;
  assert_true(weft_expf(-INFINITY) == 0 && weft_expf(INFINITY) == INFINITY && isnan(weft_expf(NAN)));
  assert_true(weft_logf(0) == -INFINITY && isnan(weft_logf(-1)) && weft_logf(INFINITY) == INFINITY);
  assert_true(weft_logf(1) == 0 && weft_expf(0) == 1);
  assert_true(weft_erff(0) == 0 && weft_erff(9) == 1 && weft_erff(-9) == -1 && isnan(weft_erff(NAN)));
  assert_true(weft_tanhf(50) == 1 && weft_tanhf(-INFINITY) == -1 && isnan(weft_tanhf(NAN)));
  assert_true(signbit(weft_roundf(-0.25f)) && weft_roundf(2.5f) == 2 && weft_roundf(3.5f) == 4);
  assert_true(weft_roundf(1e30f) == 1e30f && weft_floorf(-0.5f) == -1);
  assert_true(weft_powf(3, 2) == 9 && weft_powf(2, -2) == 0.25f && weft_powf(9, 0.5f) == 3 && weft_powf(5, 0) == 1);
  assert_true(fabsf(weft_powf(2.5f, 1.3f) - powf(2.5f, 1.3f)) < 1e-5f);
}

static void test_to_int8(void **state) {
  (void)state;
  static const struct {
    float x;
    int zero, want;
  } cases[] = {{0.5f, 0, 0},     {1.5f, 0, 2},    {-0.5f, 0, 0},     {-2.5f, 0, -2},
               {127.4f, 0, 127}, {1e30f, 0, 127}, {-1e30f, 0, -128}, {-128.5f, 0, -128},
               {100, 100, 127},  {-100, 100, 0},  {NAN, 3, 127},     {512, -512, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(weft_to_int8(cases[i].x, cases[i].zero), cases[i].want);
  for (float x = -130; x < 130; x += 0.03125f) {
    const double rounded = rint((double)x);
    assert_int_equal(weft_to_int8(x, 0), rounded > 127 ? 127 : rounded < -128 ? -128 : (int)rounded);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_near), cmocka_unit_test(test_edges),
                                     cmocka_unit_test(test_to_int8)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
