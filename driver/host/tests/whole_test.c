// SPDX-License-Identifier: Apache-2.0
// Whole numbers of every type, casts, remainders, scatters and samples against plain loops written here.
#include <math.h>

#include "base/test.h"
#include "driver/host/tests/calls.h"

enum { COUNT = 8 };

static struct weft_host_call list_of(enum weft_host_op op) {
  return (struct weft_host_call){.op = op, .rank = 1, .outer = 1, .dim = {COUNT}};
}

static struct weft_host_operand list(void *data, enum weft_host_type type, unsigned bytes) {
  return operand(data, type, bytes, 1, 0, 0);
}

// What arithmetic of C gives, in the type itself.
#define CHECK(OP, TYPE, ctype, expression)                              \
  do {                                                                  \
    ctype out[COUNT];                                                   \
    struct weft_host_call checked = list_of(WEFT_HOST_##OP);            \
    checked.operand[0] = list(out, WEFT_##TYPE, sizeof(ctype));         \
    checked.operand[1] = list(a, WEFT_##TYPE, sizeof(ctype));           \
    checked.operand[2] = list(b, WEFT_##TYPE, sizeof(ctype));           \
    assert_int_equal(weft_host_run(&checked), WEFT_HOST_OK);            \
    for (int i = 0; i < COUNT; i++) {                                   \
      const ctype x = a[i], y = b[i], want = (ctype)(expression);       \
      if (out[i] != want) fail_msg(#OP " of " #TYPE ", element %d", i); \
    }                                                                   \
  } while (0)

#define ALL(TYPE, ctype)                                                        \
  do {                                                                          \
    ctype a[COUNT], b[COUNT];                                                   \
    for (int i = 0; i < COUNT; i++) {                                           \
      a[i] = (ctype)((ctype) ~(ctype)0 / (ctype)(i + 2) * (ctype)3 + (ctype)i); \
      b[i] = (ctype)(i + 1);                                                    \
    }                                                                           \
    a[0] = (ctype)-1;                                                           \
    CHECK(ADD, TYPE, ctype, x + y);                                             \
    CHECK(SUB, TYPE, ctype, x - y);                                             \
    CHECK(MUL, TYPE, ctype, (uint64_t)x *(uint64_t)y);                          \
    CHECK(DIV, TYPE, ctype, x / y);                                             \
    CHECK(MIN, TYPE, ctype, x < y ? x : y);                                     \
    CHECK(MAX, TYPE, ctype, x > y ? x : y);                                     \
    CHECK(REMAINDER, TYPE, ctype, x % y);                                       \
    CHECK(MODULO, TYPE, ctype, (x % y + y) % y);                                \
    CHECK(SHIFT_LEFT, TYPE, ctype, (uint64_t)x << y);                           \
    CHECK(POW, TYPE, ctype, power_of((uint64_t)x, (int)y));                     \
  } while (0)

static uint64_t power_of(uint64_t base, int times) { return times == 0 ? 1 : base * power_of(base, times - 1); }

static void test_types(void **state) {
  (void)state;
  ALL(I8, int8_t);
  ALL(U8, uint8_t);
  ALL(I16, int16_t);
  ALL(U16, uint16_t);
  ALL(U32, uint32_t);
  ALL(U64, uint64_t);
}

static void test_unsigned_order(void **state) {
  (void)state;
  uint64_t a[COUNT], b[COUNT];
  uint8_t less[COUNT];
  for (int i = 0; i < COUNT; i++) a[i] = UINT64_MAX >> i, b[i] = UINT64_MAX >> 3;
  struct weft_host_call call = list_of(WEFT_HOST_LESS);
  call.operand[0] = list(less, WEFT_BOOL, 1);
  call.operand[1] = list(a, WEFT_U64, 8);
  call.operand[2] = list(b, WEFT_U64, 8);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(less[i], i > 3);
  CHECK(SHIFT_RIGHT, U64, uint64_t, y > 63 ? 0 : x >> y);
}

static void test_no_divisor(void **state) {
  (void)state;
  int16_t a[COUNT], b[COUNT] = {0, -1};
  for (int i = 0; i < COUNT; i++) a[i] = INT16_MIN;
  CHECK(DIV, I16, int16_t, y == 0 ? 0 : x / y);
  CHECK(REMAINDER, I16, int16_t, y == 0 ? 0 : x % y);
}

static void test_real_remainders(void **state) {
  (void)state;
  float a[COUNT] = {5.3f, -5.3f, 5.3f, -5.3f, 1e30f, 0, 1e-30f, 7}, b[COUNT] = {2, 2, -2, -2, 0.7f, 3, 2, INFINITY};
  CHECK(REMAINDER, F32, float, fmodf(x, y));
  for (int i = 0; i < COUNT; i++) b[i] = fabsf(b[i]);
  CHECK(MODULO, F32, float, fmodf(x, y) < 0 ? (float)(fmod((double)x, (double)y) + (double)y) : fmodf(x, y));
  double narrow[COUNT];
  struct weft_host_call call = list_of(WEFT_HOST_REMAINDER);
  call.operand[1] = call.operand[2] = call.operand[0] = list(narrow, WEFT_F64, 8);
  for (int i = 0; i < COUNT; i++) narrow[i] = 0;
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  assert_true(isnan(narrow[0]));
}

// Exponents of another type: whole ones exactly, others cut off.
static void test_powers(void **state) {
  (void)state;
  int32_t base[COUNT], out[COUNT];
  float exponent[COUNT];
  for (int i = 0; i < COUNT; i++) base[i] = i + 1, exponent[i] = i == 7 ? 0.5f : 3;
  struct weft_host_call call = list_of(WEFT_HOST_POW);
  call.operand[0] = list(out, WEFT_I32, 4);
  call.operand[1] = list(base, WEFT_I32, 4);
  call.operand[2] = list(exponent, WEFT_F32, 4);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < 7; i++) assert_int_equal(out[i], base[i] * base[i] * base[i]);
  assert_int_equal(out[7], 2);
}

static void cast(void *to, enum weft_host_type to_type, unsigned to_bytes, void *from, enum weft_host_type type,
                 unsigned bytes) {
  struct weft_host_call call = list_of(WEFT_HOST_CAST);
  call.operand[0] = list(to, to_type, to_bytes);
  call.operand[1] = list(from, type, bytes);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
}

static void test_casts(void **state) {
  (void)state;
  double wide[COUNT] = {1.5, -2.75, 0, 1e300, -1e300, NAN, 300, 0.1}, back[COUNT];
  float narrow[COUNT];
  int16_t shorts[COUNT];
  uint64_t large[COUNT];
  uint8_t truth[COUNT];
  cast(narrow, WEFT_F32, 4, wide, WEFT_F64, 8);
  for (int i = 0; i < COUNT; i++) assert_true(narrow[i] == (float)wide[i] || isnan(wide[i]));
  cast(shorts, WEFT_I16, 2, wide, WEFT_F64, 8);
  assert_true(shorts[0] == 1 && shorts[1] == -2 && shorts[5] == 0 && shorts[6] == 300);
  cast(truth, WEFT_BOOL, 1, wide, WEFT_F64, 8);
  for (int i = 0; i < COUNT; i++) assert_int_equal(truth[i], i != 2);
  for (int i = 0; i < COUNT; i++) large[i] = UINT64_MAX >> i;
  cast(back, WEFT_F64, 8, large, WEFT_U64, 8);
  for (int i = 0; i < COUNT; i++) assert_true(back[i] == (double)large[i]);
}

// ---- places

static void test_scatter(void **state) {
  (void)state;
  float y[10], x[COUNT], want[10];
  int64_t at[COUNT] = {0, 3, -1, 3, 5, 9, 2, 0};
  for (int op = WEFT_HOST_SCATTER; op <= WEFT_HOST_SCATTER_MUL; op++) {
    for (int i = 0; i < 10; i++) y[i] = want[i] = number(i);
    for (int i = 0; i < COUNT; i++) {
      float *to = &want[at[i] < 0 ? at[i] + 10 : at[i]];
      x[i] = number(i + 50);
      *to = op == WEFT_HOST_SCATTER ? x[i] : op == WEFT_HOST_SCATTER_ADD ? *to + x[i] : *to * x[i];
    }
    struct weft_host_call call = list_of((enum weft_host_op)op);
    call.operand[0] = operand(y, WEFT_F32, F, 0, 0, 0);
    call.operand[1] = list(x, WEFT_F32, F);
    call.operand[2] = list(at, WEFT_I64, 8);
    call.integer[0] = 10, call.integer[1] = F;
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < 10; i++) assert_true(y[i] == want[i]);
    call.integer[0] = 9;
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OUT_OF_RANGE);
  }
}

// The middle of each pixel is the pixel; between two of them linear is their mean; outside are zeros or the border.
static void test_sample(void **state) {
  (void)state;
  enum { ROWS = 3, COLUMNS = 4 };
  float x[ROWS * COLUMNS], out[4];
  for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = number(i);
  float places[4][2] = {{-0.25f, 0}, {0, 0}, {-0.75f, -2.0f}, {0.75f, 2.0f / 3}};
  struct weft_host_call call = {.op = WEFT_HOST_SAMPLE, .rank = 3, .outer = 1, .dim = {4, ROWS, COLUMNS}};
  call.operand[0] = operand(out, WEFT_F32, F, 1, 0, 0);
  call.operand[1] = operand(x, WEFT_F32, F, 0, COLUMNS, 1);
  call.operand[2] = operand(&places[0][0], WEFT_F32, F, 2, 0, 0);
  call.operand[3] = operand(&places[0][1], WEFT_F32, F, 2, 0, 0);
  for (int mode = 0; mode < 3; mode++) {
    call.integer[0] = mode;
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    assert_true(fabsf(out[0] - x[COLUMNS + 1]) < 1e-5f && fabsf(out[3] - x[2 * COLUMNS + 3]) < 1e-4f);
    assert_true(out[2] == 0);
    if (mode == WEFT_SAMPLE_LINEAR) assert_true(fabsf(out[1] - (x[COLUMNS + 1] + x[COLUMNS + 2]) / 2) < 1e-5f);
  }
  call.integer[0] = WEFT_SAMPLE_LINEAR | WEFT_SAMPLE_BORDER;
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  assert_true(out[2] == x[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types),  cmocka_unit_test(test_unsigned_order),  cmocka_unit_test(test_no_divisor),
      cmocka_unit_test(test_powers), cmocka_unit_test(test_real_remainders), cmocka_unit_test(test_casts),
      cmocka_unit_test(test_sample), cmocka_unit_test(test_scatter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
