// SPDX-License-Identifier: Apache-2.0
// The generator's random numbers: a program is a function of its seed and its array, on every machine.
#ifndef SIM_GEN_RANDOM_H
#define SIM_GEN_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

typedef struct sim_gen_random {
  uint64_t state;
} sim_gen_random;

static inline uint64_t sim_gen_bits(sim_gen_random *r) { return wf_random_next(&r->state); }

// A stream for one purpose: equal seeds of two purposes are unrelated.
static inline sim_gen_random sim_gen_random_of(uint64_t seed, uint64_t purpose) {
  sim_gen_random r = {seed * UINT64_C(0xd1342543de82ef95) + purpose};
  sim_gen_bits(&r);
  return r;
}

static inline int64_t sim_gen_in(sim_gen_random *r, int64_t low, int64_t high) {
  return wf_random_in(&r->state, low, high);
}

static inline bool sim_gen_one_in(sim_gen_random *r, int64_t n) { return sim_gen_in(r, 1, n) == 1; }

#define GEN_PICK(r, table) ((table)[sim_gen_in((r), 0, (int64_t)(sizeof(table) / sizeof((table)[0])) - 1)])

#endif
