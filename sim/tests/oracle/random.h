// SPDX-License-Identifier: Apache-2.0
// The seeded generator of the suite (splitmix64). A case is a function of its seed alone, on every machine.
#ifndef SIM_TESTS_ORACLE_RANDOM_H
#define SIM_TESTS_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oracle_random {
  uint64_t state;
} oracle_random;

static inline uint64_t random_u64(oracle_random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

// Of a case: the group and the size are mixed in, so that equal seeds of two groups are unrelated.
static inline oracle_random random_of(uint64_t seed, uint64_t group, uint64_t dim) {
  oracle_random r = {seed};
  r.state = random_u64(&r) ^ group * UINT64_C(0xd1342543de82ef95) ^ dim << 48;
  return r;
}

static inline int64_t random_in(oracle_random *r, int64_t low, int64_t high) {
  return low + (int64_t)(random_u64(r) % (uint64_t)(high - low + 1));
}

static inline bool random_one_in(oracle_random *r, int64_t n) { return random_in(r, 1, n) == 1; }

#define RANDOM_PICK(r, table) ((table)[random_in((r), 0, (int64_t)(sizeof(table) / sizeof((table)[0])) - 1)])

#endif
