// SPDX-License-Identifier: Apache-2.0
// Seeded pseudo-random numbers (splitmix64): the same numbers for the same seed on every machine. The state is one word
// that its owner keeps, so a result never depends on threads.
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One step of the mixing function: a hash of 64 bits.
static inline uint64_t wf_random_mix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline uint64_t wf_random_next(uint64_t *state) { return wf_random_mix(*state += UINT64_C(0x9e3779b97f4a7c15)); }

// Each of [0, 1), [0, bound), [low, high]; true once in n times.
static inline double wf_random_unit(uint64_t *state) { return (double)(wf_random_next(state) >> 11) * 0x1p-53; }
static inline uint64_t wf_random_below(uint64_t *state, uint64_t bound) { return wf_random_next(state) % bound; }
static inline int64_t wf_random_in(uint64_t *state, int64_t low, int64_t high) {
  return low + (int64_t)wf_random_below(state, (uint64_t)(high - low + 1));
}
static inline bool wf_random_one_in(uint64_t *state, int64_t n) { return wf_random_in(state, 1, n) == 1; }

// An element of an array.
#define WF_RANDOM_PICK(state, table) ((table)[wf_random_below((state), sizeof(table) / sizeof((table)[0]))])

#endif
