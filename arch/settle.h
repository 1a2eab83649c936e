// SPDX-License-Identifier: Apache-2.0
// When bytes of a store are in main memory for the loads behind it, without a fence.
//
// A store is done when its last row has been read from local memory; the row is then on its way through the store unit
// and the DMA writer, which hold a bounded number of rows. Stores begin in order and their rows leave in order.
#ifndef ARCH_SETTLE_H
#define ARCH_SETTLE_H

#include "hw/array.h"

typedef struct arch_settling {
  uint32_t stores;  // the last ones, which may not be done
  uint32_t rows;    // of stores that are done, which may be on their way
} arch_settling;

arch_settling arch_settling_of(const hw_array *array);

#endif
