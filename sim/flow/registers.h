// SPDX-License-Identifier: Apache-2.0
// Registers of the L2, in the order of the cycles in which they are free, the lower number first: a ring.
#ifndef SIM_FLOW_REGISTERS_H
#define SIM_FLOW_REGISTERS_H

#include "sim/flow/time.h"

enum { FLOW_REGISTERS = 64 };

typedef struct flow_registers {
  flow_time free[FLOW_REGISTERS];  // it takes a request behind this cycle
  uint8_t order[FLOW_REGISTERS];
  uint32_t turn[FLOW_REGISTERS];  // requests that it served
  uint32_t first, count;
} flow_registers;

static inline void flow_registers_init(flow_registers *r, uint32_t count) {
  r->count = count;
  for (uint32_t n = 0; n < count; n++) r->order[n] = (uint8_t)n;
}

static inline uint8_t *flow_registers_at(flow_registers *r, uint32_t n) { return &r->order[n % FLOW_REGISTERS]; }
static inline uint32_t flow_registers_first(flow_registers *r) { return *flow_registers_at(r, r->first); }

static inline bool flow_registers_before(const flow_registers *r, uint32_t a, uint32_t b) {
  const uint64_t of_a = flow_cycle(r->free[a]), of_b = flow_cycle(r->free[b]);
  return of_a < of_b || (of_a == of_b && a < b);
}

// Out of the order, in which it is not the first; the last place is free then.
static __attribute__((noinline, unused)) void flow_registers_leave(flow_registers *r, uint32_t reg) {
  const uint32_t last = r->first + r->count - 1;
  uint32_t n = last;
  while (*flow_registers_at(r, n) != reg) n--;
  for (; n < last; n++) *flow_registers_at(r, n) = *flow_registers_at(r, n + 1);
}

// The register, mostly the first one, is free at another time: its place is searched for from the end.
static __attribute__((noinline, unused)) void flow_registers_free(flow_registers *r, uint32_t reg, flow_time at) {
  if (r->free[reg].bits == at.bits) return;
  if (flow_registers_first(r) == reg)
    r->first++;
  else
    flow_registers_leave(r, reg);
  uint32_t n = r->first + r->count - 1;
  r->free[reg] = at;
  for (; n > r->first && flow_registers_before(r, reg, *flow_registers_at(r, n - 1)); n--)
    *flow_registers_at(r, n) = *flow_registers_at(r, n - 1);
  *flow_registers_at(r, n) = (uint8_t)reg;
}

#endif
