// SPDX-License-Identifier: Apache-2.0
// The performance counters. Without time every cycle event counts zero; of the external values the bytes that the DMA
// moved are real. A command returns the value before its own effects.
#include "sim/ref/state.h"

static uint32_t external_value(const ref_counters *counters, uint32_t event) {
  switch (event) {
    case ISA_EXTERNAL_BYTES_READ:
      return counters->read_bytes;
    case ISA_EXTERNAL_BYTES_WRITTEN:
      return counters->written_bytes;
    default:  // occupancies and latencies
      return 0;
  }
}

static uint32_t live_value(const ref_counters *counters, const ref_counter *counter) {
  return counter->external ? external_value(counters, counter->event) : 0;
}

static void reset(ref_counters *counters) {
  counters->frozen = false;
  counters->read_bytes = counters->written_bytes = 0;
  for (uint32_t n = 0; n < counters->count; n++) counters->file[n].snapshot = 0;
}

static void freeze(ref_counters *counters) {
  counters->frozen = true;
  for (uint32_t n = 0; n < counters->count; n++) counters->file[n].snapshot = live_value(counters, &counters->file[n]);
}

void ref_counter_command(ref_engine *ref, uint64_t rs1, uint64_t rs2) {
  ref_counters *counters = &ref->counters;
  ref_counter *counter = &counters->file[isa_get_counter_index(rs1, rs2)];
  ref->response = counters->frozen ? counter->snapshot : live_value(counters, counter);
  if (isa_get_counter_reset(rs1, rs2))
    reset(counters);
  else if (isa_get_counter_snapshot_reset(rs1, rs2))
    counters->frozen = false;
  else if (isa_get_counter_snapshot(rs1, rs2))
    freeze(counters);
  if (!isa_get_counter_configure(rs1, rs2)) return;
  counter->event = (uint32_t)isa_get_counter_event(rs1, rs2);
  counter->external = isa_get_counter_external(rs1, rs2);
}
