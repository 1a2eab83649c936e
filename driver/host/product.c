// SPDX-License-Identifier: Apache-2.0
// Products of int8, element by element.
#include "group.h"
#include "private.h"
#include "weft/host_math.h"

// Eight products at a time; the second operand lies side by side like the first, or does not move. Products are exact
// in floating point, where the hart begins one per cycle; of integers it takes one at a time.
__attribute__((always_inline)) static inline void qmul_row(char *to, const char *first, const char *second,
                                                           int64_t other, int64_t count, float scale) {
  for (; count >= GROUP; count -= GROUP, to += GROUP, first += GROUP, second += GROUP * other) {
    int64_t x[GROUP], y[GROUP];
    float v[GROUP], w[GROUP];
    EACH x[j] = host_i8(first + j);
    EACH y[j] = host_i8(second + j * other);
    wholes_there(x);
    EACH v[j] = (float)(int32_t)x[j];
    wholes_there(y);
    EACH w[j] = (float)(int32_t)y[j];
    numbers_there(v);
    numbers_there(w);
    EACH v[j] = v[j] * w[j];
    numbers_there(v);
    EACH v[j] = scale * v[j];
    numbers_there(v);
    not_above(v, INT8_MAX);
    not_below(v, INT8_MIN);
    put_group((int8_t *)to, v);
  }
  for (; count > 0; count--, to++, first++, second += other)
    host_put_i8(to, weft_to_int8(scale * (float)(host_i8(first) * host_i8(second)), 0));
}

static enum weft_host_status qmul(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                  const int64_t *step) {
  const float scale = call->number[0];
  const int64_t n = (int64_t)count;
  if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
    qmul_row(p->at[0], p->at[1], p->at[2], 1, n, scale);
    return WEFT_HOST_OK;
  }
  for (int64_t i = 0; i < n; i++)
    host_put_i8(p->at[0] + i * step[0],
                weft_to_int8(scale * (float)(host_i8(p->at[1] + i * step[1]) * host_i8(p->at[2] + i * step[2])), 0));
  return WEFT_HOST_OK;
}

host_row *host_product_row(const struct weft_host_call *call) {
  return call->op == WEFT_HOST_QMUL && host_is(call, 1, WEFT_I8) && host_is(call, 2, WEFT_I8) ? qmul : NULL;
}
