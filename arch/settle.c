// SPDX-License-Identifier: Apache-2.0
// Stores on their way to main memory: see settle.h.
#include "arch/settle.h"

#include "base/number.h"

// Rows between their read and their grant on the bus (hw/rtl/weft_store_path.sv, weft_dma_writer.sv): the queues in
// front of and behind the scale units, these, the writer's row and the burst that it sends.
arch_settling arch_settling_of(const hw_array *array) {
  enum { DISPATCH = 2, NORMALISER = 2, SHARED_UNITS = 3, WRITER = 3 };
  const uint32_t delay = array->scratchpad.read_delay;
  const uint32_t units = wf_max(array->accumulator.scale_latency, (uint32_t)SHARED_UNITS);
  return (arch_settling){.stores = array->store.reservation_entries,
                         .rows = DISPATCH + 2 * (delay + 2) + (delay + 1) + NORMALISER + units + WRITER};
}
