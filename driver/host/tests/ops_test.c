// SPDX-License-Identifier: Apache-2.0
// Operators of the hart against plain loops written here: strides, broadcasts, reductions.
#include <math.h>

#include "base/test.h"
#include "weft/host_ops.h"

enum { A = 3, B = 4, C = 5, F = sizeof(float) };

static struct weft_host_operand operand(void *data, enum weft_host_type type, unsigned bytes, int64_t a, int64_t b,
                                        int64_t c) {
  return (struct weft_host_operand){
      .data = data, .step = {a * bytes, b * bytes, c * bytes}, .type = type, .element_bytes = bytes};
}

static struct weft_host_call call_of(enum weft_host_op op, unsigned outer) {
  return (struct weft_host_call){.op = op, .rank = 3, .outer = outer, .dim = {A, B, C}};
}

static float number(int i) { return (float)((i * 37) % 41 - 20) / 8; }

// [A,B,C] to [C,A,B], and back with negative steps.
static void test_copy(void **state) {
  (void)state;
  int16_t from[A * B * C], to[A * B * C], back[A * B * C];
  for (int i = 0; i < A * B * C; i++) from[i] = (int16_t)(i * 3);
  struct weft_host_call call = call_of(WEFT_HOST_COPY, 3);
  call.operand[0] = operand(to, WEFT_I8, 2, B, 1, A * B);
  call.operand[1] = operand(from, WEFT_I8, 2, B * C, C, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int a = 0; a < A; a++)
    for (int b = 0; b < B; b++)
      for (int c = 0; c < C; c++) assert_int_equal(to[(c * A + a) * B + b], from[(a * B + b) * C + c]);
  call.operand[1] = operand(from + A * B * C - 1, WEFT_I8, 2, -B * C, -C, -1);
  call.operand[0] = operand(back, WEFT_I8, 2, B * C, C, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < A * B * C; i++) assert_int_equal(back[i], from[A * B * C - 1 - i]);
}

static void test_broadcast(void **state) {
  (void)state;
  float x[A * B * C], y[B], out[A * B * C];
  for (int i = 0; i < A * B * C; i++) x[i] = number(i);
  for (int b = 0; b < B; b++) y[b] = number(100 + b);
  struct weft_host_call call = call_of(WEFT_HOST_SUB, 3);
  call.operand[0] = operand(out, WEFT_F32, F, B * C, C, 1);
  call.operand[1] = operand(x, WEFT_F32, F, B * C, C, 1);
  call.operand[2] = operand(y, WEFT_F32, F, 0, 1, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < A * B * C; i++) assert_true(out[i] == x[i] - y[i / C % B]);
}

static void test_reductions(void **state) {
  (void)state;
  float x[A * B * C], sum[A], largest[A];
  int64_t place[A];
  for (int i = 0; i < A * B * C; i++) x[i] = number(i);
  struct weft_host_call call = call_of(WEFT_HOST_SUM, 1);
  call.number[0] = 0.5f;
  call.operand[0] = operand(sum, WEFT_F32, F, 1, 0, 0);
  call.operand[1] = operand(x, WEFT_F32, F, B * C, C, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  call.op = WEFT_HOST_LARGEST;
  call.operand[0].data = largest;
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  call.op = WEFT_HOST_ARG_LARGEST;
  call.operand[0] = operand(place, WEFT_I64, 8, 1, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int a = 0; a < A; a++) {
    float want = 0, most = x[a * B * C];
    int at = 0;
    for (int i = 0; i < B * C; i++) {
      want += x[a * B * C + i];
      if (x[a * B * C + i] > most) most = x[a * B * C + i], at = i;
    }
    assert_true(sum[a] == 0.5f * want && largest[a] == most && place[a] == at);
  }
}

// A product [A,B] x [B,C] of int8: the sum runs over the last dimension of the call.
static void test_dot(void **state) {
  (void)state;
  int8_t x[A * C], y[C * B];
  int32_t out[A * B];
  for (int i = 0; i < A * C; i++) x[i] = (int8_t)(i * 29 - 120);
  for (int i = 0; i < C * B; i++) y[i] = (int8_t)(100 - i * 17);
  struct weft_host_call call = call_of(WEFT_HOST_DOT, 2);
  call.operand[0] = operand(out, WEFT_I32, 4, B, 1, 0);
  call.operand[1] = operand(x, WEFT_I8, 1, C, 0, 1);
  call.operand[2] = operand(y, WEFT_I8, 1, 0, 1, B);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int a = 0; a < A; a++)
    for (int b = 0; b < B; b++) {
      int32_t want = 0;
      for (int c = 0; c < C; c++) want += x[a * C + c] * y[c * B + b];
      assert_int_equal(out[a * B + b], want);
    }
}

static void test_softmax(void **state) {
  (void)state;
  float x[A * B * C], out[A * B * C];
  for (int i = 0; i < A * B * C; i++) x[i] = 3 * number(i);
  struct weft_host_call call = call_of(WEFT_HOST_SOFTMAX, 2);
  call.operand[0] = operand(out, WEFT_F32, F, B * C, C, 1);
  call.operand[1] = operand(x, WEFT_F32, F, B * C, C, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int row = 0; row < A * B; row++) {
    double sum = 0;
    for (int c = 0; c < C; c++) sum += exp(x[row * C + c]);
    for (int c = 0; c < C; c++) assert_true(fabs(out[row * C + c] - exp(x[row * C + c]) / sum) < 1e-6);
  }
}

// Thousands of classes: nothing gets lost in the sum.
static void test_long_softmax(void **state) {
  (void)state;
  enum { CLASSES = 6625 };
  static float x[CLASSES], out[CLASSES];
  for (int i = 0; i < CLASSES; i++) x[i] = i == 0 ? 12.0f : 0.1f * number(i);
  struct weft_host_call call = call_of(WEFT_HOST_SOFTMAX, 2);
  call.dim[0] = call.dim[1] = 1;
  call.dim[2] = CLASSES;
  call.operand[0] = operand(out, WEFT_F32, F, 0, 0, 1);
  call.operand[1] = operand(x, WEFT_F32, F, 0, 0, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  double sum = 0;
  for (int i = 0; i < CLASSES; i++) sum += exp(x[i]);
  for (int i = 0; i < CLASSES; i++) assert_true(fabs(out[i] - exp(x[i]) / sum) < 2e-6);
}

static void test_normalize(void **state) {
  (void)state;
  float x[A * B * C], factor[C], shift[C], out[A * B * C];
  for (int i = 0; i < A * B * C; i++) x[i] = number(i);
  for (int c = 0; c < C; c++) factor[c] = number(c + 7), shift[c] = number(c + 90);
  struct weft_host_call call = call_of(WEFT_HOST_NORMALIZE, 2);
  call.number[0] = 1e-5f;
  call.operand[0] = operand(out, WEFT_F32, F, B * C, C, 1);
  call.operand[1] = operand(x, WEFT_F32, F, B * C, C, 1);
  call.operand[2] = operand(factor, WEFT_F32, F, 0, 0, 1);
  call.operand[3] = operand(shift, WEFT_F32, F, 0, 0, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int row = 0; row < A * B; row++) {
    double mean = 0, variance = 0;
    for (int c = 0; c < C; c++) mean += x[row * C + c] / (double)C;
    for (int c = 0; c < C; c++) variance += (x[row * C + c] - mean) * (x[row * C + c] - mean) / C;
    for (int c = 0; c < C; c++) {
      const double want = (x[row * C + c] - mean) / sqrt(variance + 1e-5) * factor[c] + shift[c];
      assert_true(fabs(out[row * C + c] - want) < 1e-5);
    }
  }
}

// Rows of a table by index, from the end, too; an index outside is told.
static void test_gather(void **state) {
  (void)state;
  float table[A * C], out[B * C];
  int64_t index[B] = {2, 0, -1, 1};
  for (int i = 0; i < A * C; i++) table[i] = number(i);
  struct weft_host_call call = {.op = WEFT_HOST_GATHER, .rank = 2, .outer = 2, .dim = {B, C}, .integer = {A, C * F}};
  call.operand[0] = operand(out, WEFT_F32, F, C, 1, 0);
  call.operand[1] = operand(table, WEFT_F32, F, 0, 1, 0);
  call.operand[2] = operand(index, WEFT_I64, 8, 1, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int b = 0; b < B; b++) assert_memory_equal(out + b * C, table + ((index[b] + A) % A) * C, C * sizeof(float));
  index[1] = A;
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OUT_OF_RANGE);
}

static void test_quantise(void **state) {
  (void)state;
  float x[6] = {0.5f, -0.26f, 100, -100, 0.124f, 0}, back[6];
  int8_t q[6];
  struct weft_host_call call = {
      .op = WEFT_HOST_QUANTIZE, .rank = 1, .outer = 1, .dim = {6}, .integer = {-3}, .number = {0.25f}};
  call.operand[0] = operand(q, WEFT_I8, 1, 1, 0, 0);
  call.operand[1] = operand(x, WEFT_F32, F, 1, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  static const int8_t want[6] = {-1, -4, 127, -128, -3, -3};
  assert_memory_equal(q, want, sizeof want);
  call.op = WEFT_HOST_DEQUANTIZE;
  call.operand[0] = operand(back, WEFT_F32, F, 1, 0, 0);
  call.operand[1] = operand(q, WEFT_I8, 1, 1, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < 6; i++) assert_true(back[i] == 0.25f * (float)(want[i] + 3));
}

// Every quotient near a middle between two integers, for many scales: as the division rounds.
static void test_quotients(void **state) {
  (void)state;
  enum { COUNT = 1021 };
  float x[COUNT];
  int8_t q[COUNT];
  struct weft_host_call call = {.op = WEFT_HOST_QUANTIZE, .rank = 1, .outer = 1, .dim = {COUNT}};
  call.operand[0] = operand(q, WEFT_I8, 1, 1, 0, 0);
  call.operand[1] = operand(x, WEFT_F32, F, 1, 0, 0);
  for (int n = 1; n < 300; n++) {
    const float scale = call.number[0] = (float)n * 0.00137f;
    for (int i = 0; i < COUNT; i++) {
      x[i] = ((float)(i / 4) - 127.5f) * scale;
      for (int ulp = 0; ulp < i % 4; ulp++) x[i] = nextafterf(x[i], 2 * x[i]);
    }
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < COUNT; i++) {
      const float want = rintf(x[i] / scale);
      assert_int_equal(q[i], want > 127 ? 127 : want < -128 ? -128 : (int)want);
    }
  }
}

static void test_refusals(void **state) {
  (void)state;
  int32_t x[A * B * C] = {0};
  struct weft_host_call call = call_of(WEFT_HOST_EXP, 3);
  call.operand[0] = operand(x, WEFT_I32, 4, B * C, C, 1);
  call.operand[1] = operand(x, WEFT_I32, 4, B * C, C, 1);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_NO_SUCH_OP);
  call.op = WEFT_HOST_OPS;
  assert_int_equal(weft_host_run(&call), WEFT_HOST_NO_SUCH_OP);
}

// Rows of int8 against the formulas in other types and another order.
static void check_softmax(const int8_t *x, const int8_t *mask, const int32_t *table, int count, float number,
                          const int8_t *got) {
  int largest = -128;
  int64_t sum = 0;
  for (int i = count - 1; i >= 0; i--)
    if (mask[i] != 0 && x[i] > largest) largest = x[i];
  for (int i = count - 1; i >= 0; i--) sum += mask[i] != 0 ? table[255 + x[i] - largest] : 0;
  const float factor = number / (float)sum;
  for (int i = 0; i < count; i++) {
    // A masked element may be larger than all others, and then has no place in the table.
    const float share = mask[i] == 0 ? 0 : nearbyintf((float)table[255 + x[i] - largest] * factor);
    assert_int_equal(got[i], share > 127 ? 127 : (int)share);
  }
}

enum { ROW = 29 };

static void test_qsoftmax(void **state) {
  (void)state;
  int32_t table[256];
  float floats[256];
  for (int i = 0; i < 256; i++) floats[i] = (float)(table[i] = (int32_t)(524288 * exp(-0.05 * (255 - i))));
  for (int run = 0; run < 16; run++) {  // no mask, causal, scattered, all; with tables of both types; saturated or not
    const int kind = run % 4;
    const float scale = run < 8 ? 150 : 2000;
    _Alignas(8) int8_t x[A * ROW + 3];
    int8_t mask[A * ROW], to[A * ROW];
    const int shift = kind == 3 ? 3 : 0;  // not at a whole word
    for (int i = 0; i < A * ROW; i++) {
      x[i + shift] = (int8_t)(i * 83 % 251 - 125);
      mask[i] = kind % 3 == 0 || (kind == 1 && i % ROW <= 9 * (i / ROW)) || (kind == 2 && i % 3 != 0);
    }
    struct weft_host_call call = {.op = WEFT_HOST_QSOFTMAX, .rank = 2, .outer = 1, .dim = {A, ROW}};
    call.number[0] = scale;
    call.integer[0] = kind != 0;
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x + shift, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_I32};
    if (run / 4 % 2 == 1) call.operand[2] = (struct weft_host_operand){.data = floats, .type = WEFT_F32};
    call.operand[3] = (struct weft_host_operand){.data = mask, .step = {ROW, 1}, .type = WEFT_I8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < A; r++) check_softmax(x + shift + r * ROW, mask + r * ROW, table, ROW, scale, to + r * ROW);
  }
}

static void test_qnormalize(void **state) {
  (void)state;
  int8_t x[A * ROW], to[A * ROW];
  float gamma[ROW], beta[ROW];
  for (int i = 0; i < A * ROW; i++) x[i] = (int8_t)(i * 47 % 239 - 119);
  for (int i = 0; i < ROW; i++) {
    gamma[i] = 40 + number(i);
    beta[i] = number(7 * i);
  }
  for (int centred = 0; centred < 2; centred++) {
    struct weft_host_call call = {.op = WEFT_HOST_QNORMALIZE, .rank = 2, .outer = 1, .dim = {A, ROW}};
    call.number[0] = 12.5F;
    call.integer[0] = centred;
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = gamma, .step = {0, F}, .type = WEFT_F32};
    call.operand[3] = (struct weft_host_operand){.data = beta, .step = {0, F}, .type = WEFT_F32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < A; r++) {
      int64_t sum = 0, squares = 0;
      for (int i = 0; i < ROW; i++) {
        sum += centred ? x[r * ROW + i] : 0;
        squares += x[r * ROW + i] * x[r * ROW + i];
      }
      const float factor = 1.0F / sqrtf((float)(ROW * squares - sum * sum) + 12.5F);
      for (int i = 0; i < ROW; i++) {
        const float value = nearbyintf(fmaf((float)(ROW * x[r * ROW + i] - sum) * factor, gamma[i], beta[i]));
        assert_int_equal(to[r * ROW + i], value > 127 ? 127 : value < -128 ? -128 : (int)value);
      }
    }
  }
}

// One behind the other, and every second one.
static void test_byte_table(void **state) {
  (void)state;
  int8_t x[2 * ROW], table[256], to[ROW + 1];
  for (int i = 0; i < 256; i++) table[i] = (int8_t)(i * 29 % 256 - 128);
  for (int i = 0; i < 2 * ROW; i++) x[i] = (int8_t)(i * 9 - 128);
  for (int step = 1; step <= 2; step++) {
    to[ROW] = 77;
    struct weft_host_call call = {.op = WEFT_HOST_LUT, .rank = 1, .outer = 1, .dim = {ROW}};
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {step}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_I8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < ROW; i++) assert_int_equal(to[i], table[x[step * i] + 128]);
    assert_int_equal(to[ROW], 77);
  }
}

static void test_float_table(void **state) {
  (void)state;
  int8_t x[ROW];
  float table[256], to[ROW];
  for (int i = 0; i < 256; i++) table[i] = 0.37F * (float)(i * i);
  for (int i = 0; i < ROW; i++) x[i] = (int8_t)(i * 9 - 128);
  struct weft_host_call call = {.op = WEFT_HOST_LUT, .rank = 1, .outer = 1, .dim = {ROW}};
  call.operand[0] = (struct weft_host_operand){.data = to, .step = {F}, .type = WEFT_F32};
  call.operand[1] = (struct weft_host_operand){.data = x, .step = {1}, .type = WEFT_I8};
  call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_F32};
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < ROW; i++) assert_true(to[i] == table[x[i] + 128]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_qsoftmax),     cmocka_unit_test(test_qnormalize), cmocka_unit_test(test_float_table),
      cmocka_unit_test(test_byte_table),   cmocka_unit_test(test_copy),       cmocka_unit_test(test_broadcast),
      cmocka_unit_test(test_reductions),   cmocka_unit_test(test_dot),        cmocka_unit_test(test_softmax),
      cmocka_unit_test(test_long_softmax), cmocka_unit_test(test_normalize),  cmocka_unit_test(test_gather),
      cmocka_unit_test(test_quantise),     cmocka_unit_test(test_quotients),  cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
