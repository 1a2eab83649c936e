// SPDX-License-Identifier: Apache-2.0
// A program for the hart that carries out calls which the machine that simulates it has put into memory: it measures
// operators one at a time. Its loader sets `weft_host_batch`.
#include "weft/host_ops.h"
#include "weft/port.h"

struct weft_host_batch {
  const struct weft_host_call *calls;
  uint64_t count;
  uint64_t cycles;  // of the calls, without start-up
};

extern volatile struct weft_host_batch weft_host_batch;
volatile struct weft_host_batch weft_host_batch __attribute__((section(".data")));

int main(void) {
  const struct weft_host_call *calls = weft_host_batch.calls;
  const uint64_t count = weft_host_batch.count, start = weft_cycles();
  const enum weft_host_status status = weft_host_run_all(calls, count);
  weft_host_batch.cycles = weft_cycles() - start;
  return (int)status;
}
