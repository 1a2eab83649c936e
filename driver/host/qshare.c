// SPDX-License-Identifier: Apache-2.0
// Rows of sums times a number that is divided by one sum per row, to int8: what is left of a softmax whose exponentials
// the array computes. The conversion to int32 is the one that saturates: its highest byte is the result.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

enum { RESULT_SHIFT = 24 };

static const float half = 1 << (RESULT_SHIFT - 1);

__attribute__((always_inline)) static inline void share_group(int8_t *to, const int32_t *from, float one) {
  int64_t x[GROUP];
  float v[GROUP];
  EACH x[j] = from[j];
  wholes_there(x);
  EACH v[j] = (float)(int32_t)x[j];
  numbers_there(v);
  EACH v[j] = __builtin_fmaf(v[j], one, half);
  numbers_there(v);
  EACH x[j] = lowest(v[j]);
  wholes_there(x);
  EACH x[j] >>= RESULT_SHIFT;
  EACH to[j] = (int8_t)x[j];
}

void host_qshare_row(int8_t *to, const int32_t *from, int64_t count, int32_t sum, float number) {
  float one = (1 << RESULT_SHIFT) * (number / (float)sum);
  number_there(&one);  // a row takes its time whatever its sum
  if (sum == 0) one = 0;
  int64_t i = 0;
  for (; i + GROUP <= count; i += GROUP) share_group(to + i, from + i, one);
  for (; i < count; i++) to[i] = (int8_t)(lowest(__builtin_fmaf((float)from[i], one, half)) >> RESULT_SHIFT);
}
