// The generator's random numbers (splitmix64): a program is a function of its seed and its array, on every machine.
#ifndef SIM_GEN_RANDOM_H
#define SIM_GEN_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gen_random {
  uint64_t state;
} gen_random;

static inline uint64_t gen_bits(gen_random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

// A stream for one purpose: equal seeds of two purposes are unrelated.
static inline gen_random gen_random_of(uint64_t seed, uint64_t purpose) {
  gen_random r = {seed * UINT64_C(0xd1342543de82ef95) + purpose};
  gen_bits(&r);
  return r;
}

static inline int64_t gen_in(gen_random *r, int64_t low, int64_t high) {
  return low + (int64_t)(gen_bits(r) % (uint64_t)(high - low + 1));
}

static inline bool gen_one_in(gen_random *r, int64_t n) { return gen_in(r, 1, n) == 1; }

#define GEN_PICK(r, table) ((table)[gen_in((r), 0, (int64_t)(sizeof(table) / sizeof((table)[0])) - 1)])

#endif
