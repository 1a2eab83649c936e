// SPDX-License-Identifier: Apache-2.0
// Performance counters: reset, selection of events, reading, freezing. The events counted are printed; what is checked
// holds on every engine, also on one without time.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/weft.h"

enum { LOADS = 8 };

typedef struct counted {
  const char *name;
  enum weft_event event;  // WEFT_EVENT_NONE: `external` is read
  enum weft_external external;
} counted;

static int8_t matrix[WEFT_DIM * WEFT_DIM], out[WEFT_DIM * WEFT_DIM];
static int errors;

static void work(void) {
  for (size_t i = 0; i < LOADS; i++) weft_mvin(weft_dram(matrix), weft_local_sp(i * WEFT_DIM), WEFT_DIM, WEFT_DIM);
  weft_preload(weft_local_sp(0), WEFT_DIM, WEFT_DIM, weft_local_acc(0, 0), WEFT_DIM, WEFT_DIM);
  weft_compute_preloaded(weft_local_sp(WEFT_DIM), WEFT_DIM, WEFT_DIM, WEFT_GARBAGE, WEFT_DIM, WEFT_DIM);
  weft_mvout(weft_dram(out), weft_local_acc(0, 0), WEFT_DIM, WEFT_DIM);
  weft_fence();
}

static void count_from_now(unsigned index, const counted *what) {
  if (what->event != WEFT_EVENT_NONE)
    weft_counter_select(index, what->event);
  else
    weft_counter_select_external(index, what->external);
}

int main(void) {
  static const counted events[] = {{"load active", WEFT_EVENT_LOAD_ACTIVE, WEFT_EXTERNAL_NONE},
                                   {"store active", WEFT_EVENT_STORE_ACTIVE, WEFT_EXTERNAL_NONE},
                                   {"execute active", WEFT_EVENT_EXECUTE_ACTIVE, WEFT_EXTERNAL_NONE},
                                   {"bytes read", WEFT_EVENT_NONE, WEFT_EXTERNAL_BYTES_READ},
                                   {"bytes written", WEFT_EVENT_NONE, WEFT_EXTERNAL_BYTES_WRITTEN}};
  const size_t count = weft_min(sizeof events / sizeof *events, WEFT_UNITS_COUNTERS);
  uint32_t before[sizeof events / sizeof *events];

  if (count == 0) return check_verdict("counters", errors);
  weft_flush(0);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  weft_set_load((struct weft_load){.stride_bytes = WEFT_DIM});
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
  for (size_t i = 0; i < count; i++) count_from_now((unsigned)i, &events[i]);
  weft_counters_reset();
  for (size_t i = 0; i < count; i++) check_equal("after reset", weft_counter_read(i), 0, &errors);

  work();
  for (size_t i = 0; i < count; i++) {
    before[i] = weft_counter_read(i);
    weft_printf("%-16s %6u\n", events[i].name, before[i]);
  }
  // Frozen values do not change while work goes on; thawed ones never run backwards.
  weft_counters_freeze();
  work();
  for (size_t i = 0; i < count; i++) check_equal("frozen", weft_counter_read(i), before[i], &errors);
  weft_counters_thaw();
  for (size_t i = 0; i < count; i++) check_equal("thawed", weft_counter_read(i) >= before[i], 1, &errors);
  weft_counters_reset();
  for (size_t i = 0; i < count; i++) check_equal("after the second reset", weft_counter_read(i), 0, &errors);
  return check_verdict("counters", errors);
}
