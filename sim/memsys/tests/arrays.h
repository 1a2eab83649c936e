// SPDX-License-Identifier: Apache-2.0
// Arrays whose host polls in every cycle, for tests of the memory's timing.
#ifndef SIM_MEMSYS_TESTS_ARRAYS_H
#define SIM_MEMSYS_TESTS_ARRAYS_H

#include "hw/array.h"

static inline hw_array dram_array(uint32_t model) {
  hw_array array;
  hw_array_default(&array);
  array.memory.model = model;
  array.host.poll_cycles = 0;
  return array;
}

static inline hw_array fixed_array(void) { return dram_array(HW_MEMORY_FIXED); }

#endif
