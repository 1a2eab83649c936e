// SPDX-License-Identifier: Apache-2.0
// Integer operations that C leaves undefined where RISC-V defines them.
#ifndef SIM_HOST_RV64_ALU_H
#define SIM_HOST_RV64_ALU_H

#include <stdint.h>

static inline uint64_t rv64_mulhu(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }

static inline uint64_t rv64_mulh(uint64_t a, uint64_t b) { return (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64); }

static inline uint64_t rv64_mulhsu(uint64_t a, uint64_t b) {
  return (uint64_t)((__int128)(int64_t)a * (__int128)b >> 64);
}

// Division by zero gives all ones, and the most negative number divided by -1 itself.
static inline uint64_t rv64_div(uint64_t a, uint64_t b) {
  if (b == 0) return UINT64_MAX;
  if (b == UINT64_MAX) return 0 - a;
  return (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t rv64_rem(uint64_t a, uint64_t b) {
  if (b == 0) return a;
  if (b == UINT64_MAX) return 0;
  return (uint64_t)((int64_t)a % (int64_t)b);
}

#endif
