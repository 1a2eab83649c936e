// The destinations of products on their way. See execute_hazards.c.
#ifndef SIM_CYCLE_EXECUTE_HAZARDS_H
#define SIM_CYCLE_EXECUTE_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXECUTE_HAZARDS = 128 };

// row_range: first and last local row of a matrix; one that runs over the end is the whole memory.
typedef struct execute_range {
  uint32_t first, last;
} execute_range;

static inline execute_range execute_row_range(uint32_t row_mask, uint32_t base, uint32_t rows, uint32_t stride) {
  uint64_t last = base + (uint64_t)(rows == 0 ? 0 : rows - 1) * stride;
  return last > row_mask ? (execute_range){0, row_mask} : (execute_range){base, (uint32_t)last};
}

typedef struct hazard_entry {
  execute_range rows;
  bool acc;
} hazard_entry;

typedef struct execute_hazards {
  hazard_entry entries[EXECUTE_HAZARDS];
  uint32_t head, count, limit;
  uint32_t in_memory[2];  // entries in the scratchpad, in the accumulator
  bool popped_acc;
  uint64_t popped_at;  // cycle of the last pop + 1
} execute_hazards;

// Entries at the start of the cycle: writeback's pop of this cycle still counts.
static inline uint32_t execute_hazards_count(const execute_hazards *h, uint64_t now) {
  return h->count + (h->popped_at == now + 1);
}
void execute_hazards_push(execute_hazards *h, const hazard_entry *entry);
void execute_hazards_pop(execute_hazards *h, uint64_t now);
bool execute_hazards_hit(const execute_hazards *h, uint64_t now, const hazard_entry *query);

#endif
