// SPDX-License-Identifier: Apache-2.0
// Calls over three dimensions, for the tests of the hart's operators.
#ifndef DRIVER_HOST_TESTS_CALLS_H
#define DRIVER_HOST_TESTS_CALLS_H

#include "weft/host_ops.h"

enum { A = 3, B = 4, C = 5, F = sizeof(float) };

static inline struct weft_host_operand operand(void *data, enum weft_host_type type, unsigned bytes, int64_t a,
                                               int64_t b, int64_t c) {
  return (struct weft_host_operand){
      .data = data, .step = {a * bytes, b * bytes, c * bytes}, .type = type, .element_bytes = bytes};
}

static inline struct weft_host_call call_of(enum weft_host_op op, unsigned outer) {
  return (struct weft_host_call){.op = op, .rank = 3, .outer = outer, .dim = {A, B, C}};
}

static inline float number(int i) { return (float)((i * 37) % 41 - 20) / 8; }

#endif
