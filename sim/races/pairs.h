// SPDX-License-Identifier: Apache-2.0
// The pairs that were found: each once, however many rows, bytes or repetitions of the hart's access it has.
#ifndef SIM_RACES_PAIRS_H
#define SIM_RACES_PAIRS_H

#include "sim/races/races.h"

typedef struct races_pairs {
  races_pair *item;
  size_t count, room;
  uint32_t *slots;  // by hash: 1 + place
  size_t slot_count;
  uint64_t races;  // all that were added, also those behind RACES_KEPT (which may be there twice)
} races_pairs;

void races_pairs_end(races_pairs *p);
void races_pairs_add(races_pairs *p, const races_pair *pair);

#endif
