// SPDX-License-Identifier: Apache-2.0
// Statistics of accumulator rows for layer norm and softmax: see hw/rtl/weft_normaliser.sv. The arithmetic is
// sim/ref/norm.h.
//
// A statistics command is carried out when it enters, and then keeps everything out for as long as the RTL computes:
// what it leaves cannot be seen before. Rows that pass wait in a queue of two. Order within a cycle: pop before ready,
// pass and command, as in queue.h.
#ifndef SIM_CYCLE_NORMALISER_H
#define SIM_CYCLE_NORMALISER_H

#include "sim/cycle/cycle.h"
#include "sim/cycle/queue.h"
#include "sim/ref/norm.h"

enum { CYCLE_NORMALISER_QUEUE = 2 };

// A row between the banks and the end of the scale units.
typedef struct cycle_unit_row {
  uint16_t slot;  // of the row's data, among those of the store path or of the execute unit's operands
  uint8_t bank;
  bool for_store;
} cycle_unit_row;

typedef struct cycle_normaliser {
  cycle_queue queue;
  uint64_t idle_from;     // the earliest cycle in which a row that passes may enter
  uint64_t command_from;  // the same of a statistics command
  bool enabled;
  uint32_t set_mask;
  cycle_unit_row rows[CYCLE_NORMALISER_QUEUE];
  ref_stats *sets;
} cycle_normaliser;

// How long a row keeps the unit, from its entry to that of the next one, a statistics command or one that passes.
typedef struct cycle_normaliser_times {
  uint8_t command, pass;
} cycle_normaliser_times;
SIM_CYCLE_VISIBLE cycle_normaliser_times cycle_normaliser_times_of(arch_norm row);

void cycle_normaliser_init(cycle_normaliser *n, bool enabled, uint32_t sets);
void cycle_normaliser_free(cycle_normaliser *n);

// in_ready_o for a row that passes, and for a statistics command.
static inline bool cycle_normaliser_ready(const cycle_normaliser *n, uint64_t now, bool passes) {
  return passes ? now >= n->idle_from && cycle_queue_room(&n->queue, now) : now >= n->command_from;
}

static inline ref_stats *cycle_normaliser_set(const cycle_normaliser *n, uint8_t id) {
  return &n->sets[id & n->set_mask];
}

void cycle_normaliser_pass(cycle_normaliser *n, uint64_t now, cycle_unit_row row);
void cycle_normaliser_command(cycle_normaliser *n, uint64_t now, arch_norm command);

// The row at the end of the queue.
static inline bool cycle_normaliser_valid(const cycle_normaliser *n, uint64_t now) {
  return cycle_queue_valid(&n->queue, now);
}
static inline cycle_unit_row cycle_normaliser_row(const cycle_normaliser *n) {
  return n->rows[cycle_queue_head(&n->queue)];
}

#endif
