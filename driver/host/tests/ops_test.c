// SPDX-License-Identifier: Apache-2.0
// Operators of the hart against plain loops written here: strides, broadcasts, reductions.
#include <math.h>

#include "base/test.h"
#include "driver/host/tests/calls.h"

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

// The places of the best, equal ones by place, along the first dimension: of [B,A] beside [A,B].
static void test_top(void **state) {
  (void)state;
  float x[A * B * C];
  int8_t bytes[A * B * C];
  int64_t places[A * B * C];
  for (int i = 0; i < A * B * C; i++) x[i] = bytes[i] = (int8_t)(i * 7 % 5);
  for (int round = 0; round < 4; round++) {
    const bool smallest = round % 2 == 1, is_float = round / 2 == 0;
    struct weft_host_call call = {
        .op = WEFT_HOST_TOPK, .rank = 2, .outer = 1, .dim = {A, B * C}, .integer = {6, smallest}};
    call.operand[0] = operand(places, WEFT_I64, 8, 1, A, 0);
    call.operand[1] = is_float ? operand(x, WEFT_F32, F, B * C, 1, 0) : operand(bytes, WEFT_I8, 1, B * C, 1, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int a = 0; a < A; a++) {
      bool taken[B * C] = {false};
      for (int k = 0; k < 6; k++) {
        int best = -1;
        for (int i = 0; i < B * C; i++) {
          const float here = x[a * B * C + i];
          if (!taken[i] && (best < 0 || (smallest ? here < x[a * B * C + best] : here > x[a * B * C + best]))) best = i;
        }
        taken[best] = true;
        assert_int_equal(places[k * A + a], best);
      }
    }
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

// Rows with groups and a part of one; factors that do not move take the way without groups.
static void test_wide_normalize(void **state) {
  (void)state;
  enum { WIDTH = 1101, ROWS = 2 };
  static float x[ROWS * WIDTH], factor[WIDTH], shift[WIDTH], out[ROWS * WIDTH];
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = 100 + number(i);
  for (int i = 0; i < WIDTH; i++) factor[i] = number(i + 7), shift[i] = number(i + 90);
  for (int step = 0; step <= 1; step++) {
    struct weft_host_call call = {.op = WEFT_HOST_NORMALIZE, .rank = 2, .outer = 1, .dim = {ROWS, WIDTH}};
    call.number[0] = 1e-5f;
    call.operand[0] = operand(out, WEFT_F32, F, WIDTH, 1, 0);
    call.operand[1] = operand(x, WEFT_F32, F, WIDTH, 1, 0);
    call.operand[2] = operand(factor, WEFT_F32, F, 0, step, 0);
    call.operand[3] = operand(shift, WEFT_F32, F, 0, 1, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int row = 0; row < ROWS; row++) {
      double mean = 0, variance = 0;
      for (int i = 0; i < WIDTH; i++) mean += x[row * WIDTH + i] / (double)WIDTH;
      for (int i = 0; i < WIDTH; i++) variance += pow(x[row * WIDTH + i] - mean, 2) / WIDTH;
      for (int i = 0; i < WIDTH; i++) {
        const double want = (x[row * WIDTH + i] - mean) / sqrt(variance + 1e-5) * factor[step * i] + shift[i];
        assert_true(fabs(out[row * WIDTH + i] - want) < 3e-5);
      }
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

// Pairs side by side, more than a group and a rest.
static void test_pack(void **state) {
  (void)state;
  enum { PAIRS = 21 };
  int8_t x[2 * PAIRS], y[PAIRS];
  for (int i = 0; i < 2 * PAIRS; i++) x[i] = (int8_t)(i * 5 % 16 - 8);
  struct weft_host_call call = {.op = WEFT_HOST_PACK4, .rank = 1, .outer = 1, .dim = {PAIRS}};
  call.operand[0] = operand(y, WEFT_I8, 1, 1, 0, 0);
  call.operand[1] = operand(x, WEFT_I8, 1, 2, 0, 0);
  call.operand[2] = operand(x + 1, WEFT_I8, 1, 2, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < PAIRS; i++) assert_int_equal((uint8_t)y[i], (x[2 * i] + 16) % 16 + (x[2 * i + 1] + 16) % 16 * 16);
}

// Every byte less 128, side by side, from odd addresses and spread.
static void test_bytes_of_a_camera(void **state) {
  (void)state;
  enum { COUNT = 259 };
  static _Alignas(8) uint8_t x[2 * COUNT + 8];
  static _Alignas(8) int8_t q[COUNT + 8];
  for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)(i * 37);
  for (int start = 0; start < 3; start++)
    for (int spread = 1; spread <= 2; spread++) {
      struct weft_host_call call = {
          .op = WEFT_HOST_QUANTIZE, .rank = 1, .outer = 1, .dim = {COUNT}, .integer = {-128}, .number = {1}};
      call.operand[0] = operand(q, WEFT_I8, 1, 1, 0, 0);
      call.operand[1] = operand(x + start, WEFT_U8, 1, spread, 0, 0);
      memset(q, 99, sizeof q);
      assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
      for (int i = 0; i < COUNT; i++) assert_int_equal(q[i], x[start + spread * i] - 128);
      assert_int_equal(q[COUNT], 99);
    }
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

static int8_t rounded(float x, int zero) {
  const float want = rintf(x) + (float)zero;
  return (int8_t)(want > 127 ? 127 : want < -128 ? -128 : want);
}

enum { RAGGED = 43 };  // groups, and a part of one

// Every third byte of the result, a zero point, all magnitudes, and what is no number.
static void test_spread_quotients(void **state) {
  (void)state;
  float x[RAGGED];
  int8_t q[3 * RAGGED];
  for (int i = 0; i < RAGGED; i++) x[i] = ldexpf(number(i), 3 * (i % 43) - 60);
  x[5] = INFINITY, x[6] = -INFINITY, x[7] = 0x1p-149F;
  for (int zero = -128; zero <= 127; zero += 51) {
    struct weft_host_call call = {.op = WEFT_HOST_QUANTIZE, .rank = 1, .outer = 1, .dim = {RAGGED}};
    call.integer[0] = zero;
    call.number[0] = 0.37F;
    call.operand[0] = operand(q, WEFT_I8, 1, 3, 0, 0);
    call.operand[1] = operand(x, WEFT_F32, F, 1, 0, 0);
    for (int i = 0; i < 3 * RAGGED; i++) q[i] = 99;
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < 3 * RAGGED; i++) assert_int_equal(q[i], i % 3 == 0 ? rounded(x[i / 3] / 0.37F, zero) : 99);
  }
  float none[8];
  for (int i = 0; i < 8; i++) none[i] = NAN;
  struct weft_host_call call = {.op = WEFT_HOST_QUANTIZE, .rank = 1, .outer = 1, .dim = {8}, .number = {0.37F}};
  call.operand[0] = operand(q, WEFT_I8, 1, 1, 0, 0);
  call.operand[1] = operand(none, WEFT_F32, F, 1, 0, 0);
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < 8; i++) assert_int_equal(q[i], 127);
}

// Sums by a scale for each, by one for all, and by one for every second.
static void test_requantise(void **state) {
  (void)state;
  int32_t x[RAGGED];
  float scale[2 * RAGGED];
  int8_t q[RAGGED];
  for (int i = 0; i < RAGGED; i++) x[i] = i == 3 ? INT32_MIN : i == 4 ? INT32_MAX : (i - 20) * (1 << i % 19);
  for (int i = 0; i < 2 * RAGGED; i++) scale[i] = 0.003F * (float)(1 + i % 11);
  for (int step = 0; step <= 2; step++) {
    struct weft_host_call call = {.op = WEFT_HOST_REQUANTIZE, .rank = 1, .outer = 1, .dim = {RAGGED}, .integer = {-9}};
    call.operand[0] = operand(q, WEFT_I8, 1, 1, 0, 0);
    call.operand[1] = operand(x, WEFT_I32, 4, 1, 0, 0);
    call.operand[2] = operand(scale, WEFT_F32, F, step, 0, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < RAGGED; i++) assert_int_equal(q[i], rounded(scale[i * step] * (float)x[i], -9));
  }
}

static void test_dequantise(void **state) {
  (void)state;
  int8_t q[2 * RAGGED];
  float x[RAGGED];
  for (int i = 0; i < 2 * RAGGED; i++) q[i] = (int8_t)(i * 3 - 128);
  for (int run = 0; run < 4; run++) {
    const int step = 1 + run % 2, zero = run / 2 * 100;
    struct weft_host_call call = {.op = WEFT_HOST_DEQUANTIZE, .rank = 1, .outer = 1, .dim = {RAGGED}};
    call.integer[0] = zero;
    call.number[0] = 0.013F;
    call.operand[0] = operand(x, WEFT_F32, F, 1, 0, 0);
    call.operand[1] = operand(q, WEFT_I8, 1, step, 0, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < RAGGED; i++) assert_true(x[i] == 0.013F * (float)(q[i * step] - zero));
  }
}

// Bytes by a scale and by numbers: as two calls would.
static void test_dequantised_product(void **state) {
  (void)state;
  int8_t q[2 * RAGGED];
  float y[2 * RAGGED], to[RAGGED + 1];
  for (int i = 0; i < 2 * RAGGED; i++) q[i] = (int8_t)(i * 3 - 128), y[i] = number(i);
  for (int run = 0; run < 8; run++) {
    const int in = 1 + run % 2, other = 1 + run / 2 % 2, zero = run / 4 * 7;
    to[RAGGED] = 77;
    struct weft_host_call call = {.op = WEFT_HOST_DEQUANTIZE_MUL, .rank = 1, .outer = 1, .dim = {RAGGED}};
    call.integer[0] = zero;
    call.number[0] = 0.013F;
    call.operand[0] = operand(to, WEFT_F32, F, 1, 0, 0);
    call.operand[1] = operand(q, WEFT_I8, 1, in, 0, 0);
    call.operand[2] = operand(y, WEFT_F32, F, other, 0, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < RAGGED; i++) {
      const float x = 0.013F * (float)(q[i * in] - zero);
      assert_true(to[i] == x * y[i * other]);
    }
    assert_true(to[RAGGED] == 77);
  }
}

// Of two operands, the second one as long, still, or of every second number; also in the place of the first.
static void test_two_numbers(void **state) {
  (void)state;
  static const enum weft_host_op ops[] = {WEFT_HOST_ADD, WEFT_HOST_SUB, WEFT_HOST_MUL, WEFT_HOST_DIV, WEFT_HOST_POW};
  float x[RAGGED], y[2 * RAGGED], to[RAGGED + 1];
  for (int run = 0; run < 5 * 3 * 2; run++) {
    const int step = run / 5 % 3;
    const bool in_place = run >= 5 * 3;
    for (int i = 0; i < 2 * RAGGED; i++) y[i] = i == 0 ? 2 : 1 + (float)(i % 7);
    for (int i = 0; i < RAGGED; i++) to[i] = x[i] = 0.1F + (float)(i * 29 % 31);
    to[RAGGED] = 77;
    struct weft_host_call call = {.op = ops[run % 5], .rank = 1, .outer = 1, .dim = {RAGGED}};
    call.operand[0] = operand(to, WEFT_F32, F, 1, 0, 0);
    call.operand[1] = operand(in_place ? to : x, WEFT_F32, F, 1, 0, 0);
    call.operand[2] = operand(y, WEFT_F32, F, step, 0, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < RAGGED; i++) {
      const double a = x[i], b = y[i * step];
      const double want[] = {a + b, a - b, a * b, a / b, pow(a, b)};
      assert_true(fabs(to[i] - want[run % 5]) <= 1e-6 * fabs(want[run % 5]));
    }
    assert_true(to[RAGGED] == 77);
  }
}

// A divisor whose inverse is none.
static void test_divisors(void **state) {
  (void)state;
  static const float divisors[] = {0x1p-140F, -0x1p127F, 0, 3};
  float x[RAGGED], to[RAGGED];
  for (int i = 0; i < RAGGED; i++) x[i] = ldexpf(number(i) + 7, -100);
  for (int d = 0; d < 4; d++) {
    struct weft_host_call call = {.op = WEFT_HOST_DIV, .rank = 1, .outer = 1, .dim = {RAGGED}};
    float divisor = divisors[d];
    call.operand[0] = operand(to, WEFT_F32, F, 1, 0, 0);
    call.operand[1] = operand(x, WEFT_F32, F, 1, 0, 0);
    call.operand[2] = operand(&divisor, WEFT_F32, F, 0, 0, 0);
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int i = 0; i < RAGGED; i++) {
      const float want = x[i] / divisor;
      assert_true(to[i] == want || fabsf(to[i] - want) <= 2e-7F * fabsf(want));
    }
  }
}

// Bytes to numbers, times numbers that repeat, to bytes: in pieces through two small places; then a call by itself, and
// one that the hart lacks.
static void test_chain(void **state) {
  (void)state;
  enum { PARTS = 6, PIECE = 43, REPEATS = 2 };
  int8_t x[PARTS * PIECE], out[PARTS * PIECE], copy[PARTS * PIECE];
  float y[PARTS / REPEATS * PIECE], first[PIECE], second[PIECE];
  for (int i = 0; i < PARTS * PIECE; i++) x[i] = (int8_t)(i * 37);
  for (int i = 0; i < PARTS / REPEATS * PIECE; i++) y[i] = number(i);
  struct weft_host_call calls[5] = {
      {.op = WEFT_HOST_DEQUANTIZE, .rank = 2, .outer = 2, .chain = 3, .lead = 1, .dim = {PARTS, PIECE}},
      {.op = WEFT_HOST_MUL, .rank = 3, .outer = 3, .lead = 2, .dim = {REPEATS, PARTS / REPEATS, PIECE}},
      {.op = WEFT_HOST_QUANTIZE, .rank = 2, .outer = 2, .lead = 1, .dim = {PARTS, PIECE}},
      {.op = WEFT_HOST_COPY, .rank = 1, .outer = 1, .dim = {PARTS * PIECE}},
      {.op = WEFT_HOST_OPS}};
  calls[0].number[0] = 0.11F;
  calls[0].operand[0] = operand(first, WEFT_F32, F, 0, 1, 0);
  calls[0].operand[1] = operand(x, WEFT_I8, 1, PIECE, 1, 0);
  calls[1].operand[0] = operand(second, WEFT_F32, F, 0, 0, 1);
  calls[1].operand[1] = operand(first, WEFT_F32, F, 0, 0, 1);
  calls[1].operand[2] = operand(y, WEFT_F32, F, 0, PIECE, 1);
  calls[2].number[0] = 0.23F;
  calls[2].operand[0] = operand(out, WEFT_I8, 1, PIECE, 1, 0);
  calls[2].operand[1] = operand(second, WEFT_F32, F, 0, 1, 0);
  calls[3].operand[0] = operand(copy, WEFT_I8, 1, 1, 0, 0);
  calls[3].operand[1] = operand(out, WEFT_I8, 1, 1, 0, 0);
  assert_int_equal(weft_host_run_all(calls, 4), WEFT_HOST_OK);
  for (int i = 0; i < PARTS * PIECE; i++) {
    const float product = 0.11F * (float)x[i] * y[i % (PARTS / REPEATS * PIECE)];
    assert_int_equal(out[i], rounded(product / 0.23F, 0));
  }
  assert_memory_equal(copy, out, sizeof out);
  assert_int_equal(weft_host_run_all(calls, 5), WEFT_HOST_NO_SUCH_OP);
  calls[1].operand[1].type = WEFT_U8;
  assert_int_equal(weft_host_run_all(calls, 4), WEFT_HOST_NO_SUCH_OP);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain),
                                     cmocka_unit_test(test_spread_quotients),
                                     cmocka_unit_test(test_requantise),
                                     cmocka_unit_test(test_dequantise),
                                     cmocka_unit_test(test_dequantised_product),
                                     cmocka_unit_test(test_two_numbers),
                                     cmocka_unit_test(test_divisors),
                                     cmocka_unit_test(test_wide_normalize),

                                     cmocka_unit_test(test_copy),
                                     cmocka_unit_test(test_broadcast),
                                     cmocka_unit_test(test_reductions),
                                     cmocka_unit_test(test_top),
                                     cmocka_unit_test(test_dot),
                                     cmocka_unit_test(test_softmax),
                                     cmocka_unit_test(test_long_softmax),
                                     cmocka_unit_test(test_normalize),
                                     cmocka_unit_test(test_gather),
                                     cmocka_unit_test(test_quantise),
                                     cmocka_unit_test(test_bytes_of_a_camera),
                                     cmocka_unit_test(test_pack),
                                     cmocka_unit_test(test_quotients),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
