// The generator's random numbers: a program is a function of its seed and its array, on every machine.
#ifndef SIM_GEN_RANDOM_H
#define SIM_GEN_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

typedef struct gen_random {
  uint64_t state;
} gen_random;

static inline uint64_t gen_bits(gen_random *r) { return wf_random_next(&r->state); }

// A stream for one purpose: equal seeds of two purposes are unrelated.
static inline gen_random gen_random_of(uint64_t seed, uint64_t purpose) {
  gen_random r = {seed * UINT64_C(0xd1342543de82ef95) + purpose};
  gen_bits(&r);
  return r;
}

static inline int64_t gen_in(gen_random *r, int64_t low, int64_t high) { return wf_random_in(&r->state, low, high); }

static inline bool gen_one_in(gen_random *r, int64_t n) { return gen_in(r, 1, n) == 1; }

#define GEN_PICK(r, table) ((table)[gen_in((r), 0, (int64_t)(sizeof(table) / sizeof((table)[0])) - 1)])

#endif
