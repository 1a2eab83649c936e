// SPDX-License-Identifier: Apache-2.0
// Sums that wait in the accumulator leave it row by row, each with a scale of its own: the hart divides, and gives a
// store per row. A division takes as long as the commands of the row before.
#include "group.h"
#include "private.h"

#ifdef __riscv
#include "isa/weft_isa.h"
#include "weft/port.h"

struct leaving {
  uint32_t local;            // row of the accumulator
  uint32_t block;            // rows that a block of rows takes there
  uint32_t cols, most_cols;  // of a row, and of a command
};

static inline int32_t sum_at(const char *at) { return *(const int32_t *)(const void *)at; }

// The bits of a scale, 0 where the sum is; without a branch, so that a row takes its time whatever its sum. The
// compiler would move them as soon as the quotient is there, and wait for it.
static inline uint32_t bits_of(float scale, int32_t sum) {
  int64_t counts = sum != 0, bits;
  __asm__("fmv.x.w %0, %1" : "=r"(bits) : "f"(scale));
  __asm__("" : "+r"(counts));
  return (uint32_t)(bits & -counts);
}

// Commands say that they change memory, so what they are made of is kept in variables. A quotient stays where it is
// made until its row's turn: a division takes as long as the commands of the row before.
static enum weft_host_status leave_block(void *context, const struct weft_host_call *call, const struct host_place *p) {
  struct leaving *l = context;
  const unsigned dim = call->outer - 1;
  const int64_t rows = call->dim[dim], to_step = call->operand[0].step[dim], sum_step = call->operand[1].step[dim];
  const uint32_t cols = l->cols, most = l->most_cols, first = cols < most ? cols : most;
  const float number = call->number[0];
  const char *at_sum = p->at[1];
  uint64_t to = (uintptr_t)p->at[0];
  uint32_t local = WEFT_LOCAL_ACCUMULATOR | l->local;
  int32_t sum = sum_at(at_sum);
  float scale = number / (float)sum;
  for (int64_t r = 0; r < rows; r++, to += (uint64_t)to_step, local++) {
    if (r + 1 < rows) at_sum += sum_step;
    const int32_t next = sum_at(at_sum);
    const float next_scale = number / (float)next;
    weft_config_st(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, cols, bits_of(scale, sum));
    weft_mvout(to, local, first, 1);
    for (uint32_t at = most; at < cols; at += most)
      weft_mvout(to + at, local + at, cols - at < most ? cols - at : most, 1);
    scale = next_scale;
    sum = next;
  }
  l->local += l->block;
  return WEFT_HOST_OK;
}

enum weft_host_status host_leave_run(const struct weft_host_call *call, const struct host_place *start) {
  struct leaving l = {.local = (uint32_t)call->integer[0],
                      .block = (uint32_t)call->integer[1],
                      .cols = (uint32_t)call->dim[call->outer],
                      .most_cols = (uint32_t)(call->integer[1] >> 32)};
  const enum weft_host_status status = host_each(call, 0, call->outer - 1, start, leave_block, &l);
  weft_fence();
  return status;
}

#else

enum weft_host_status host_leave_run(const struct weft_host_call *call, const struct host_place *start) {
  (void)call;
  (void)start;
  return WEFT_HOST_NO_SUCH_OP;
}

#endif
