// SPDX-License-Identifier: Apache-2.0
// Commands of a memory controller that are still being carried out: see hw/rtl/weft_command_tracker.sv.
//
// Order within a cycle: cycle_tracker_done first (what the registers say), then room, allocation and returns in any
// order, and at last cycle_tracker_done_taken if the station took the completion that was shown.
#ifndef SIM_CYCLE_COMMAND_TRACKER_H
#define SIM_CYCLE_COMMAND_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_TRACKER_WORDS = 4 };  // 256 entries: ids have 8 bits

typedef struct cycle_tracker {
  uint64_t valid[CYCLE_TRACKER_WORDS];          // occupied entries
  uint64_t finished[CYCLE_TRACKER_WORDS];       // occupied, nothing left
  uint32_t entries, occupied, complete, words;  // complete: finished ones
  uint32_t shown;                               // entry of the last cycle_tracker_done
  uint32_t *left;
  uint8_t *tag;
} cycle_tracker;

void cycle_tracker_init(cycle_tracker *t, uint32_t entries);
void cycle_tracker_free(cycle_tracker *t);

// done_valid_o: shows the lowest finished entry and its tag.
void cycle_tracker_show(cycle_tracker *t, uint8_t *tag);
static inline bool cycle_tracker_done(cycle_tracker *t, uint8_t *tag) {
  if (t->complete > 0) cycle_tracker_show(t, tag);
  return t->complete > 0;
}
// The completion shown in this cycle was taken.
void cycle_tracker_done_taken(cycle_tracker *t);

// alloc_ready_o; an allocation takes the lowest free entry and returns its id.
static inline bool cycle_tracker_room(const cycle_tracker *t) { return t->occupied < t->entries; }
uint8_t cycle_tracker_alloc(cycle_tracker *t, uint8_t tag, uint32_t count);
// `count` of entry `id` came back.
void cycle_tracker_return(cycle_tracker *t, uint8_t id, uint32_t count);

// |valid_o
static inline bool cycle_tracker_busy(const cycle_tracker *t) { return t->occupied > 0; }

#endif
