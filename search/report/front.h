// SPDX-License-Identifier: Apache-2.0
// The points that no other beats.
#ifndef SEARCH_REPORT_FRONT_H
#define SEARCH_REPORT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct report_rival {
  double cycles, energy_pj, logic_um2;  // no NaN
  int64_t memory_bits;
  bool beaten;  // the answer: another is nowhere worse and somewhere better
} report_rival;

void report_find_front(report_rival *rivals, size_t count);

#endif
