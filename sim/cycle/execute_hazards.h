// SPDX-License-Identifier: Apache-2.0
// The destinations of products on their way. See execute_hazards.c.
#ifndef SIM_CYCLE_EXECUTE_HAZARDS_H
#define SIM_CYCLE_EXECUTE_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_EXECUTE_HAZARDS = 128 };

// row_range: first and last local row of a matrix; one that runs over the end is the whole memory.
typedef struct cycle_execute_range {
  uint32_t first, last;
} cycle_execute_range;

static inline cycle_execute_range cycle_execute_row_range(uint32_t row_mask, uint32_t base, uint32_t rows,
                                                          uint32_t stride) {
  uint64_t last = base + (uint64_t)(rows == 0 ? 0 : rows - 1) * stride;
  return last > row_mask ? (cycle_execute_range){0, row_mask} : (cycle_execute_range){base, (uint32_t)last};
}

typedef struct cycle_hazard_entry {
  cycle_execute_range rows;
  bool acc;
} cycle_hazard_entry;

typedef struct cycle_execute_hazards {
  cycle_hazard_entry entries[CYCLE_EXECUTE_HAZARDS];
  uint32_t head, count, limit;
  uint32_t in_memory[2];  // entries in the scratchpad, in the accumulator
  bool popped_acc;
  uint64_t popped_at;  // cycle of the last pop + 1
} cycle_execute_hazards;

// Entries at the start of the cycle: writeback's pop of this cycle still counts.
static inline uint32_t cycle_execute_hazards_count(const cycle_execute_hazards *h, uint64_t now) {
  return h->count + (h->popped_at == now + 1);
}
void cycle_execute_hazards_push(cycle_execute_hazards *h, const cycle_hazard_entry *entry);
void cycle_execute_hazards_pop(cycle_execute_hazards *h, uint64_t now);
bool cycle_execute_hazards_hit(const cycle_execute_hazards *h, uint64_t now, const cycle_hazard_entry *query);

#endif
