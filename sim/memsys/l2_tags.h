// SPDX-License-Identifier: Apache-2.0
// Tags of the L2: which lines are there, and which way a miss replaces.
#ifndef SIM_MEMSYS_L2_TAGS_H
#define SIM_MEMSYS_L2_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct l2_line {
  // The line's first word is there from this cycle on; UINT64_MAX: not known yet. For requests that do not wait for the
  // register that fetches it.
  uint64_t available;
  bool dirty;
} l2_line;

typedef struct l2_tags {
  uint64_t *numbers;  // sets x ways: line number + 1; 0: empty
  l2_line *lines;     // likewise
  uint64_t set_mask;
  uint32_t ways, way_shift, line_shift;
  uint32_t random;  // the shift register
} l2_tags;

// What a read of the tags found; the line is there from now on.
typedef struct l2_found {
  l2_line *line;
  bool hit;
  bool evicts, evicts_dirty;  // of a miss
  uint64_t victim;            // line number
} l2_found;

void l2_tags_init(l2_tags *tags, const hw_array *array);
void l2_tags_free(l2_tags *tags);
l2_found l2_tags_read(l2_tags *tags, uint64_t number);

enum { L2_RANDOM_BITS = 10 };  // of the shift register choose the way

// Each read draws a way. Fibonacci, x^16 + x^14 + x^13 + x^11 + 1: all values but 0.
static inline uint32_t l2_tags_draw(l2_tags *tags) {
  const uint32_t r = tags->random;
  tags->random = (r << 1 | ((r >> 15 ^ r >> 13 ^ r >> 12 ^ r >> 10) & 1)) & 0xffff;
  return (r & ((1U << L2_RANDOM_BITS) - 1)) >> tags->way_shift;
}

static inline uint64_t l2_set_of(const l2_tags *tags, uint64_t number) { return number & tags->set_mask; }

#endif
