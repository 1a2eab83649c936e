// SPDX-License-Identifier: Apache-2.0
// Rows of int8 on the hart: softmax, norms and tables against the formulas in other types and another order.
#include <math.h>

#include "base/test.h"
#include "driver/host/tests/calls.h"

enum { PHASES = 8, POWERS = 256 };

// Bytes that tell the tables of the columns apart where they are small.
static void make_powers(uint8_t *table, double scale) {
  for (int i = 0; i < PHASES * POWERS; i++)
    table[i] = (uint8_t)(255 * exp(-scale * (POWERS - 1 - i % POWERS)) + i / POWERS / 8.0);
}

// By division, without the shift that makes a product small.
static void check_softmax(const int8_t *x, const int8_t *mask, const uint8_t *table, int count, float number,
                          const int8_t *got) {
  int largest = -128, e[64], sum = 0, shift = 13;
  for (int i = count - 1; i >= 0; i--)
    if (mask[i] != 0 && x[i] > largest) largest = x[i];
  for (int i = count - 1; i >= 0; i--) {
    e[i] = mask[i] != 0 ? table[i % 8 * 256 + 255 + x[i] - (largest % 2 == 0 ? largest + 1 : largest)] : 0;
    sum += e[i];
  }
  const double share = sum == 0 ? 0 : (double)(number / (float)sum);
  while (shift > 0 && share * (1 << shift) > 240) shift--;
  const double factor = fmin(nearbyint(share * (1 << shift)), 240);
  for (int i = 0; i < count; i++) {
    const double value = floor(e[i] * factor / (1 << shift) + 0.5);
    assert_int_equal(got[i], value > 127 ? 127 : (int)value);
  }
}

enum { ROW = 29 };

static void test_qsoftmax(void **state) {
  (void)state;
  static const float scales[] = {150, 2000, 9, 1e5F, 40, 0, -3, INFINITY};
  uint8_t table[PHASES * POWERS];
  make_powers(table, 0.05);
  for (int run = 0; run < 32; run++) {  // no mask, causal, scattered, all; shares of all sizes, saturated or not
    const int kind = run % 4;
    const float scale = scales[run / 4];
    _Alignas(8) int8_t x[A * ROW + 3];
    _Alignas(8) int8_t mask[A * ROW], to[A * ROW];  // words of all three lie alike unless shifted
    const int shift = kind == 3 ? 3 : 0;            // not at a whole word
    for (int i = 0; i < A * ROW; i++) {
      x[i + shift] = (int8_t)(i * 83 % 251 - 125);
      mask[i] = kind % 3 == 0 || (kind == 1 && i % ROW <= 9 * (i / ROW)) || (kind == 2 && i % 3 != 0);
    }
    struct weft_host_call call = {.op = WEFT_HOST_QSOFTMAX, .rank = 2, .outer = 1, .dim = {A, ROW}};
    call.number[0] = scale;
    call.integer[0] = kind != 0;
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x + shift, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_U8};
    call.operand[3] = (struct weft_host_operand){.data = mask, .step = {ROW, 1}, .type = WEFT_I8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < A; r++)
      check_softmax(x + shift + r * ROW, mask + r * ROW, table, ROW, scale > 0 ? scale : 0, to + r * ROW);
  }
}

// Rows of all lengths from all places, in the place of their operand, and one whose lanes add up to 16 bits and more.
static void test_softmax_rows(void **state) {
  (void)state;
  enum { LONG = 5000 };
  static _Alignas(8) int8_t x[LONG + 16], same[64];
  uint8_t table[PHASES * POWERS];
  make_powers(table, 0.02);
  for (int run = 0; run < 8 * 63; run++) {
    const int count = run / 8 + 1, at = run % 8;
    int8_t mask[64];
    for (int i = 0; i < count; i++) {
      same[i] = x[at + i] = (int8_t)(i * 71 % 256 - 128 + run % 3);
      mask[i] = 1;
    }
    x[at + count] = 99;
    struct weft_host_call call = {.op = WEFT_HOST_QSOFTMAX, .rank = 1, .outer = 0, .dim = {count}, .number = {300}};
    call.operand[0] = (struct weft_host_operand){.data = x + at, .step = {1}, .type = WEFT_I8};
    call.operand[1] = call.operand[0];
    call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_U8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    check_softmax(same, mask, table, count, 300, x + at);
    assert_int_equal(x[at + count], 99);
  }
  for (int i = 0; i < LONG; i++) x[i] = 127;
  struct weft_host_call call = {.op = WEFT_HOST_QSOFTMAX, .rank = 1, .outer = 0, .dim = {LONG}, .number = {1e5F}};
  call.operand[0] = (struct weft_host_operand){.data = x, .step = {1}, .type = WEFT_I8};
  call.operand[1] = call.operand[0];
  call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_U8};
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < LONG; i++) assert_int_equal(x[i], 20);
}

// Causal masks at whole words and beside them, with rows of words, and one element behind the first that is hidden.
static void test_wide_masks(void **state) {
  (void)state;
  enum { WIDE = 40 };
  uint8_t table[PHASES * POWERS];
  make_powers(table, 0.05);
  for (int run = 0; run < 2 * WIDE * 2; run++) {
    const int included = run / 2 % WIDE + 1, shift = run % 2 * 5;
    const bool holed = run >= 2 * WIDE;
    _Alignas(8) int8_t x[WIDE], mask[WIDE + 8], to[WIDE];
    for (int i = 0; i < WIDE; i++) {
      x[i] = (int8_t)(i * 83 % 251 - 125);
      mask[i + shift] = (int8_t)(i < included || (holed && i == WIDE - 1) ? (i % 2 == 0 ? -128 : 1) : 0);
    }
    struct weft_host_call call = {.op = WEFT_HOST_QSOFTMAX, .rank = 2, .outer = 1, .dim = {1, WIDE}, .integer = {1}};
    call.number[0] = 150;
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {WIDE, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {WIDE, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = table, .type = WEFT_U8};
    call.operand[3] = (struct weft_host_operand){.data = mask + shift, .step = {WIDE, 1}, .type = WEFT_I8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    check_softmax(x, mask + shift, table, WIDE, 150, to);
  }
}

// Rows of all lengths from all places, few and many, one behind the other and apart: what the largest number leaves to
// 127, in halves.
static void test_qheadroom(void **state) {
  (void)state;
  enum { LONG = 100, MANY = 21, APART = 3, GUARD = 99 };
  _Alignas(8) int8_t x[MANY * (LONG + APART) + 8], to[MANY + 2];
  for (int run = 0; run < 16 * LONG; run++) {
    const int count = run / 16 + 1, at = run % 8, rows = 1 + run % MANY, low = run % 3 == 0 ? 128 : 60;
    const int step = count + (run % 5 == 0 ? APART : 0), first = run / 8 % 2;
    for (int i = 0; i < rows * step; i++) x[at + i] = (int8_t)(i * 71 % (256 - low - 2 * (i / step)) - 128);
    memset(to, GUARD, sizeof to);
    struct weft_host_call call = {.op = WEFT_HOST_QHEADROOM, .rank = 2, .outer = 1, .dim = {rows, count}};
    call.operand[0] = (struct weft_host_operand){.data = to + first, .step = {1, 0}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x + at, .step = {step, 1}, .type = WEFT_I8};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < rows; r++) {
      int largest = -128;
      for (int i = count; i-- > 0;) largest = x[at + r * step + i] > largest ? x[at + r * step + i] : largest;
      assert_int_equal(to[first + r], (127 - largest) / 2);
    }
    assert_int_equal(to[first + rows], GUARD);
    call.operand[1].step[1] = 2;
    assert_int_equal(weft_host_run(&call), WEFT_HOST_NO_SUCH_OP);
  }
}

// Shares of sums of all signs and sizes; of no sum they are nothing.
static void test_qshare(void **state) {
  (void)state;
  static const int32_t sums[] = {127, 1000, 16777217, 2147483647, 0, -400, 1, 77777};
  enum { ROWS = sizeof sums / sizeof *sums };
  int32_t x[ROWS * ROW];
  int8_t to[ROWS * ROW];
  for (int i = 0; i < ROWS * ROW; i++) x[i] = (i % 2 == 0 ? 1 : -1) * (i * 7919 % 20011) * (1 + i % 5 * 977);
  struct weft_host_call call = {.op = WEFT_HOST_QSHARE, .rank = 2, .outer = 1, .dim = {ROWS, ROW}, .number = {0.75F}};
  call.operand[0] = (struct weft_host_operand){.data = to, .step = {ROW, 1}, .type = WEFT_I8};
  call.operand[1] = (struct weft_host_operand){.data = x, .step = {4 * ROW, 4}, .type = WEFT_I32};
  call.operand[2] = (struct weft_host_operand){.data = (int32_t *)sums, .step = {4, 0}, .type = WEFT_I32};
  assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
  for (int i = 0; i < ROWS * ROW; i++) {
    const float one = sums[i / ROW] == 0 ? 0 : 0.75F / (float)sums[i / ROW];
    const float value = rintf((float)x[i] * one);
    assert_int_equal(to[i], value > 127 ? 127 : value < -128 ? -128 : (int)value);
  }
}

// Four rows together, and those that are left.
static void test_qnormalize(void **state) {
  (void)state;
  enum { MANY = 11 };
  int8_t x[MANY * ROW], to[MANY * ROW];
  float gamma[ROW], beta[ROW];
  for (int i = 0; i < MANY * ROW; i++) x[i] = (int8_t)(i * 47 % 239 - 119);
  for (int i = 0; i < ROW; i++) {
    gamma[i] = 40 + number(i);
    beta[i] = number(7 * i);
  }
  for (int run = 0; run < 2 * MANY; run++) {
    const int centred = run % 2, rows = run / 2 + 1;
    struct weft_host_call call = {.op = WEFT_HOST_QNORMALIZE, .rank = 2, .outer = 1, .dim = {rows, ROW}};
    call.number[0] = 12.5F;
    call.integer[0] = centred;
    call.operand[0] = (struct weft_host_operand){.data = to, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = gamma, .step = {0, F}, .type = WEFT_F32};
    call.operand[3] = (struct weft_host_operand){.data = beta, .step = {0, F}, .type = WEFT_F32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < rows; r++) {
      int64_t sum = 0, squares = 0;
      for (int i = 0; i < ROW; i++) {
        sum += centred ? x[r * ROW + i] : 0;
        squares += x[r * ROW + i] * x[r * ROW + i];
      }
      const float root = 1.0F / sqrtf((float)(ROW * squares - sum * sum) + 12.5F);
      for (int i = 0; i < ROW; i++) {
        const float z = fmaf(x[r * ROW + i], ROW * root, (float)-sum * root);
        const float value = floorf(fmaf(z, gamma[i], beta[i] + 0.5F));
        assert_int_equal(to[r * ROW + i], value > 127 ? 127 : value < -128 ? -128 : (int)value);
      }
    }
  }
}

// With sums and squares in memory, in blocks of four rows and three that are left: as from the rows themselves. The
// rows lie where they take each other's places in a cache, or do not.
static void test_qnormalize_sums(void **state) {
  (void)state;
  enum { MANY = 11, APART = 4096 };
  static int8_t x[MANY * APART], to[2][MANY * APART];
  float factors[2 * ROW];
  for (int i = 0; i < 2 * ROW; i++) factors[i] = i < ROW ? 40 + number(i) : number(7 * i);
  for (int run = 0; run < 4; run++) {
    const int step = run / 2 == 0 ? ROW : APART;
    int32_t sums[2 * MANY];
    for (int i = 0; i < MANY * APART; i++) x[i] = (int8_t)(i * 47 % 239 - 119);
    for (int r = 0; r < MANY; r++) {
      int32_t sum = 0, squares = 0;
      for (int i = 0; i < ROW; i++) sum += x[r * step + i], squares += x[r * step + i] * x[r * step + i];
      sums[r] = sum;
      sums[MANY + r] = squares;
    }
    struct weft_host_call call = {.op = WEFT_HOST_QNORMALIZE, .rank = 2, .outer = 1, .dim = {MANY, ROW}};
    call.number[0] = 12.5F;
    call.integer[0] = run % 2;
    call.operand[0] = (struct weft_host_operand){.data = to[0], .step = {step, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {step, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = factors, .step = {0, F}, .type = WEFT_F32};
    call.operand[3] = (struct weft_host_operand){.data = factors + ROW, .step = {0, F}, .type = WEFT_F32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    float scaled[2 * ROW];
    for (int i = 0; i < 2 * ROW; i++) scaled[i] = 16777216 * (i < ROW ? factors[i] : factors[i] + 0.5F);
    call.op = WEFT_HOST_QNORMALIZE_SUMS;
    call.operand[0].data = to[1];
    call.operand[2].data = scaled;
    call.operand[3] = (struct weft_host_operand){.data = sums, .type = WEFT_I32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    assert_memory_equal(to[0], to[1], sizeof to[0]);
  }
}

// Whole factors and offsets of rows against the formula: as bytes for an array with five rows, of which the last block
// has one, and in the rows that the hart computes itself.
static void test_qnorm_mesh(void **state) {
  (void)state;
  enum { MANY = 11, SIDE = 5, COPIES = 3, PARTS = COPIES + 1, MOST = 127 * COPIES };
  static const float scale = 0.0037F, gain = 1.1e6F, epsilon = 31;
  int32_t sums[2 * MANY];
  int8_t x[MANY * ROW], rows[MANY * ROW], bytes[MANY][PARTS][SIDE];
  for (int center = 0; center < 2; center++) {
    for (int i = 0; i < MANY * ROW; i++) x[i] = (int8_t)((i * 47 % 239 - 119) / (i / ROW + 1) - 3 * (i / ROW));
    for (int r = 0; r < MANY; r++) {
      int32_t sum = 0, squares = 0;
      for (int i = 0; i < ROW; i++) sum += x[r * ROW + i], squares += x[r * ROW + i] * x[r * ROW + i];
      sums[r] = sum;
      sums[MANY + r] = squares;
    }
    struct weft_host_call call = {.op = WEFT_HOST_QNORM_FACTORS, .rank = 3, .outer = 1, .dim = {MANY, PARTS, SIDE}};
    call.number[0] = epsilon, call.number[1] = gain;
    call.integer[0] = ROW, call.integer[1] = center;
    call.operand[0] = (struct weft_host_operand){.data = bytes, .step = {PARTS * SIDE, SIDE, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = sums, .type = WEFT_I32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    call = (struct weft_host_call){.op = WEFT_HOST_QNORM_MESH, .rank = 2, .outer = 1, .dim = {MANY, ROW}};
    call.number[0] = epsilon, call.number[1] = gain;
    call.integer[0] = center, call.integer[1] = MOST;
    call.operand[0] = (struct weft_host_operand){.data = rows, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[1] = (struct weft_host_operand){.data = x, .step = {ROW, 1}, .type = WEFT_I8};
    call.operand[2] = (struct weft_host_operand){.data = (void *)(uintptr_t)&scale, .type = WEFT_F32};
    assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
    for (int r = 0; r < MANY; r++) {
      int sum = 0, squares = 0, factor = 0, offset = bytes[r][COPIES][0];
      for (int i = 0; i < ROW; i++) sum += x[r * ROW + i], squares += x[r * ROW + i] * x[r * ROW + i];
      if (center == 0) sum = 0;
      const float root = 1.0F / sqrtf((float)(ROW * squares - sum * sum) + epsilon);
      const int wanted = (int)lrintf(fminf(root * gain, MOST));
      for (int c = 0; c < COPIES; c++) {
        factor += bytes[r][c][r % SIDE];
        offset -= 128 * bytes[r][COPIES][1 + c];
        for (int k = 0; k < SIDE; k++) assert_true(k == r % SIDE || bytes[r][c][k] == 0);
      }
      assert_int_equal(factor, wanted);
      assert_int_equal(offset, -lrintf((float)(wanted * sum) * (1.0F / ROW)));
      assert_int_equal(bytes[r][COPIES][SIDE - 1], 0);
      for (int i = 0; i < ROW; i++) {
        const float value = nearbyintf(scale * (float)(wanted * x[r * ROW + i] + offset));
        assert_int_equal(rows[r * ROW + i], value > 127 ? 127 : value < -128 ? -128 : (int)value);
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

// Cells with and without states before, in place, of widths beside groups of eight; against the formulas in double.
static void test_cells(void **state) {
  (void)state;
  enum { WIDEST = 35, ROWS = 3, TABLES = 512 + 2049 };
  static float tables[TABLES], states[ROWS * WIDEST], before[ROWS * WIDEST];
  int8_t gates[ROWS * 4 * WIDEST], shown[ROWS * WIDEST];
  for (int q = -128; q < 128; q++) {
    tables[128 + q] = (float)(1 / (1 + exp(-0.05 * q)));
    tables[384 + q] = (float)tanh(0.05 * q);
  }
  for (int i = 0; i < 2049; i++) tables[512 + i] = (float)(tanh((i - 1023.5) / 256) - (i - 1023.5) / 256);
  for (int width = 1; width <= WIDEST; width += 1 + width % 3)
    for (int has_states = 0; has_states < 2; has_states++) {
      for (int i = 0; i < ROWS * 4 * width; i++) gates[i] = (int8_t)(i * 89 % 253 - 126);
      for (int i = 0; i < ROWS * width; i++) states[i] = before[i] = 6 * number(i * 13 % 997);
      struct weft_host_call call = {
          .op = WEFT_HOST_QCELL, .rank = 2, .outer = 1, .dim = {ROWS, width}, .integer = {has_states}};
      call.operand[0] = (struct weft_host_operand){.data = states, .step = {F * width, F}, .type = WEFT_F32};
      call.operand[1] = (struct weft_host_operand){.data = gates, .step = {4 * width, 1}, .type = WEFT_I8};
      call.operand[2] = (struct weft_host_operand){.data = tables, .type = WEFT_F32};
      call.operand[3] = call.operand[0];
      assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
      call.op = WEFT_HOST_QHIDDEN;
      call.number[0] = 150;
      call.operand[0] = (struct weft_host_operand){.data = shown, .step = {width, 1}, .type = WEFT_I8};
      assert_int_equal(weft_host_run(&call), WEFT_HOST_OK);
      for (int i = 0; i < ROWS * width; i++) {
        const int8_t *row = gates + i / width * 4 * width + i % width;
        const double kept = has_states ? before[i] / (1 + exp(-0.05 * row[2 * width])) : 0;
        const double cell = kept + tanh(0.05 * row[3 * width]) / (1 + exp(-0.05 * row[0]));
        const double byte = 150 * tanh((double)states[i]) / (1 + exp(-0.05 * row[width]));
        assert_true(fabs(states[i] - cell) < 1e-5);
        assert_true(fabs(shown[i] - fmax(-128, fmin(127, byte))) < 0.5 + 150 * 0.002);
      }
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
      cmocka_unit_test(test_qsoftmax),   cmocka_unit_test(test_softmax_rows), cmocka_unit_test(test_wide_masks),
      cmocka_unit_test(test_qheadroom),  cmocka_unit_test(test_qshare),       cmocka_unit_test(test_qnormalize),
      cmocka_unit_test(test_cells),      cmocka_unit_test(test_qnorm_mesh),   cmocka_unit_test(test_qnormalize_sums),
      cmocka_unit_test(test_byte_table), cmocka_unit_test(test_float_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
