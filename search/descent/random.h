// A small generator of pseudo-random numbers (splitmix64): every start has its own, so results do not depend on
// threads.
#ifndef SEARCH_DESCENT_RANDOM_H
#define SEARCH_DESCENT_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline double random_unit(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }  // [0, 1)
static inline uint64_t random_below(uint64_t *state, uint64_t bound) { return random_next(state) % bound; }

#endif
