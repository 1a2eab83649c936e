// SPDX-License-Identifier: Apache-2.0
// The exact solver of the plain model: the hardware and the mappings with the least energy x delay of a network, proven
// by enumeration with bounds (docs/search-model.md).
//
// The space: perfect factors, three orders of the loops at main memory, an even side of the array, memories in whole
// KiB, no larger than the mappings need.
#ifndef SEARCH_EXACT_EXACT_H
#define SEARCH_EXACT_EXACT_H

#include "search/model/paper.h"

enum { EXACT_SIDE_MAX = 128, EXACT_KIB_MAX = 2048 };

// What may be fixed. An array of a fixed side may be larger than the mappings use, and a fixed memory has its size.
typedef struct exact_options {
  const paper_constants *constants;                            // without vectors
  unsigned side_max, kib_max;                                  // 0: EXACT_SIDE_MAX, EXACT_KIB_MAX
  unsigned side;                                               // 0: any even one
  unsigned scratchpad_kib, accumulator_kib;                    // 0: as the mappings need
  void (*progress)(void *context, unsigned side, double edp);  // after each side that was searched; may be NULL
  void *context;
} exact_options;

typedef struct exact_result {
  paper_hardware hardware;
  paper_cost cost;
  paper_mapping *mappings;  // of each layer
  unsigned sides;           // of arrays that were searched; all others are proven to be no better
  uint64_t evaluations;     // mappings of layers that were evaluated
  uint64_t kept;            // of them no worse than another of the layer, on no hardware
  uint64_t boxes;           // of hardware that were bounded or solved
} exact_result;

// False: no mapping fits the fixed hardware. Release the result in any case.
bool exact_solve(const layers_network *network, const exact_options *options, exact_result *result);
void exact_release(exact_result *result);

#endif
