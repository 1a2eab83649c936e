// SPDX-License-Identifier: Apache-2.0
// Rows of sums times a number that is divided by one sum per row, to int8: what is left of a softmax whose exponentials
// the array computes.
#include "group.h"
#include "private.h"

__attribute__((always_inline)) static inline void share_group(int8_t *to, const int32_t *from, float one) {
  int64_t x[GROUP];
  float v[GROUP];
  EACH x[j] = from[j];
  wholes_there(x);
  EACH v[j] = (float)(int32_t)x[j];
  numbers_there(v);
  EACH v[j] *= one;
  numbers_there(v);
  not_above(v, INT8_MAX);
  not_below(v, INT8_MIN);
  put_group(to, v);
}

void host_qshare_row(int8_t *to, const int32_t *from, int64_t count, int32_t sum, float number) {
  float one = number / (float)sum;
  number_there(&one);  // a row takes its time whatever its sum
  if (sum == 0) one = 0;
  int64_t i = 0;
  for (; i + GROUP <= count; i += GROUP) share_group(to + i, from + i, one);
  for (; i < count; i++) {
    const float v = (float)from[i] * one;
    to[i] = (int8_t)nearest(v > INT8_MAX ? INT8_MAX : v < INT8_MIN ? INT8_MIN : v);
  }
}
