// SPDX-License-Identifier: Apache-2.0
// Inputs, comparisons and verdict of the examples; see check.h.
#include "driver/examples/check.h"

#include "weft/console.h"

uint32_t check_random(uint32_t *state) {
  *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
  return *state >> 8;
}

void check_fill(int8_t *to, size_t count, uint32_t *state) {
  for (size_t i = 0; i < count; i++) {
    uint32_t random = check_random(state);
    to[i] = (int8_t)(random >> 4);
    if ((random & 7) == 0) to[i] = (random & 8) != 0 ? INT8_MIN : INT8_MAX;
  }
}

void check_fill_small(int8_t *to, size_t count, uint32_t *state) {
  for (size_t i = 0; i < count; i++) to[i] = (int8_t)((int)(check_random(state) % 9) - 4);
}

void check_fill_int32(int32_t *to, size_t count, int32_t magnitude, uint32_t *state) {
  uint32_t range = 2 * (uint32_t)magnitude + 1;
  for (size_t i = 0; i < count; i++) to[i] = (int32_t)(check_random(state) % range) - magnitude;
}

// Adding and subtracting 1.5 * 2^52 rounds a double of small magnitude to an integer, ties to even.
static double round_even(double value) {
  const volatile double magic = 6755399441055744.0;
  volatile double sum = value + magic;
  return sum - magic;
}

int8_t check_saturate(int64_t value) {
  if (value > INT8_MAX) return INT8_MAX;
  return value < INT8_MIN ? INT8_MIN : (int8_t)value;
}

int8_t check_scale(int32_t value, bool relu, float scale) {
  if (relu && value < 0) value = 0;
  volatile float scaled = (float)value * scale;
  if (scaled > 1000.0f) return INT8_MAX;
  if (scaled < -1000.0f) return INT8_MIN;
  return check_saturate((int64_t)round_even((double)scaled));
}

static void report(const char *what, size_t row, size_t col, long got, long wanted, int *errors) {
  if ((*errors)++ == 0) weft_printf("%s: row %zu column %zu is %ld, not %ld\n", what, row, col, got, wanted);
}

void check_int8(const char *what, const int8_t *got, const int8_t *wanted, size_t rows, size_t cols, size_t stride,
                int *errors) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) {
      size_t at = r * stride + c;
      if (got[at] != wanted[at]) report(what, r, c, got[at], wanted[at], errors);
    }
}

void check_int32(const char *what, const int32_t *got, const int32_t *wanted, size_t rows, size_t cols, size_t stride,
                 int *errors) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) {
      size_t at = r * stride + c;
      if (got[at] != wanted[at]) report(what, r, c, got[at], wanted[at], errors);
    }
}

void check_equal(const char *what, int64_t got, int64_t wanted, int *errors) {
  if (got != wanted && (*errors)++ == 0) weft_printf("%s is %ld, not %ld\n", what, (long)got, (long)wanted);
}

int check_verdict(const char *name, int errors) {
  if (errors == 0) {
    weft_printf("PASS %s\n", name);
    return 0;
  }
  weft_printf("FAIL %s: %d differences\n", name, errors);
  return 1;
}
