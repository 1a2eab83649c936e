// SPDX-License-Identifier: Apache-2.0
// Tags of one level-1 cache: set-associative, write-back, write-allocate. Lines are replaced at random, by a shift
// register that a refill moves on: what stays in the cache is a function of the program alone.
#ifndef SIM_HOST_RV64_L1_H
#define SIM_HOST_RV64_L1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t rv64_line;  // (line number + 1) << 1 | dirty; 0: empty

typedef struct rv64_l1 {
  rv64_line *lines;  // sets x ways
  uint64_t set_mask;
  unsigned ways, line_shift;
  uint64_t offset_mask;
  uint32_t shifter;
} rv64_l1;

void rv64_l1_create(rv64_l1 *l1, unsigned kib, unsigned ways, unsigned line_bytes);
void rv64_l1_destroy(rv64_l1 *l1);
void rv64_l1_clear(rv64_l1 *l1);

// The line with this number, NULL if it is not there.
static inline rv64_line *rv64_l1_find(const rv64_l1 *l1, uint64_t number) {
  rv64_line *set = &l1->lines[(number & l1->set_mask) * l1->ways];
  for (unsigned way = 0; way < l1->ways; way++)
    if (set[way] >> 1 == number + 1) return &set[way];
  return NULL;
}

// The place that the line will take. The caller that fills it reads the old contents before.
rv64_line *rv64_l1_victim(rv64_l1 *l1, uint64_t number);

static inline rv64_line rv64_l1_filled(uint64_t number) { return (number + 1) << 1; }
static inline bool rv64_l1_dirty(rv64_line line) { return (line & 1) != 0; }
static inline uint64_t rv64_l1_number(rv64_line line) { return (line >> 1) - 1; }

#endif
