// SPDX-License-Identifier: Apache-2.0
// Causes of cycles: records made by hand whose causes are counted by hand, and programs of many kinds whose causes add
// up to their cycles.
#include "runner/waits.h"

#include "base/test.h"
#include "isa/isa.h"
#include "runner/measure.h"

static hw_array array_named(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

// ---- by hand

enum { CONFIG = 0, LOAD = 2, STORE = 3, PRODUCT = 4, PRELOAD = 6, CONFIG_OF_LOADS = 1 };

typedef struct record {
  uint64_t cycle;
  sim_event_kind kind;
  uint32_t index;
  uint8_t funct;  // of those that enter
  uint64_t rs1;
} record;

static run_waits waits_of(const record *records, size_t count, uint64_t end) {
  const hw_array array = array_named("gemmini-default");
  run_waits_state *state = run_waits_open(&array);
  const sim_events sink = run_waits_sink(state);
  for (size_t i = 0; i < count; i++) {
    const record *r = &records[i];
    sink.event(sink.context,
               &(sim_event){.kind = r->kind, .index = r->index, .cycle = r->cycle, .funct = r->funct, .rs1 = r->rs1});
  }
  return run_waits_close(state, end);
}

static void check(const run_waits *waits, uint64_t products, uint64_t loads, uint64_t stores, uint64_t commands,
                  uint64_t end) {
  const uint64_t expected[RUN_WAIT_COUNT] = {products, loads, stores, commands, end};
  for (int wait = 0; wait < RUN_WAIT_COUNT; wait++)
    if (waits->cycles[wait] != expected[wait])
      fail_msg("%s: %llu cycles, not %llu", run_wait_names[wait], (unsigned long long)waits->cycles[wait],
               (unsigned long long)expected[wait]);
}

#define ALLOC SIM_EVENT_ALLOC
#define ISSUE SIM_EVENT_ISSUE
#define DONE SIM_EVENT_DONE

// A product that waits for its load, one that comes late, and a store behind both. Preloads count for nothing.
static void by_hand(void **state) {
  (void)state;
  static const record records[] = {
      {1, ALLOC, 0, CONFIG, CONFIG_OF_LOADS},
      {2, ALLOC, 1, LOAD, 0},
      {3, ISSUE, 0, 0, 0},
      {4, ALLOC, 2, PRELOAD, 0},
      {4, ISSUE, 1, 0, 0},
      {5, ALLOC, 3, PRODUCT, 0},
      {5, ISSUE, 2, 0, 0},
      {40, DONE, 1, 0, 0},
      {41, ISSUE, 3, 0, 0},
      {60, DONE, 2, 0, 0},
      {61, DONE, 3, 0, 0},
      {70, ALLOC, 4, PRODUCT, 0},
      {71, ISSUE, 4, 0, 0},
      {72, ALLOC, 5, STORE, 0},
      {90, DONE, 4, 0, 0},
      {91, ISSUE, 5, 0, 0},
      {120, DONE, 5, 0, 0},
  };
  const run_waits waits = waits_of(records, sizeof records / sizeof *records, 125);
  // 41..61 and 71..90; 5..41 and, with the entry that the product had at 70, 70..71; 0..5 and 61..70; 90..125
  check(&waits, 20 + 19, 36 + 1, 0, 5 + 9, 35);
}

// All entries for stores are taken, and the next product comes when one is done.
static void station_full(void **state) {
  (void)state;
  static const record records[] = {
      {0, ALLOC, 0, STORE, 0},    {0, ALLOC, 1, STORE, 0}, {0, ALLOC, 2, STORE, 0},
      {0, ALLOC, 3, STORE, 0},    {0, ISSUE, 0, 0, 0},     {50, DONE, 0, 0, 0},
      {52, ALLOC, 4, PRODUCT, 0}, {53, ISSUE, 4, 0, 0},    {60, DONE, 4, 0, 0},
  };
  const run_waits waits = waits_of(records, sizeof records / sizeof *records, 60);
  check(&waits, 7, 0, 50 + 1, 2, 0);
}

// ---- programs

static void check_sum(const map_layer *layer, const char *array_name, block_style style) {
  const hw_array array = array_named(array_name);
  wf_diag diag = wf_diag_to(stderr);
  run_waits waits;
  const run_measure_request asked = {.layer = layer, .array = &array, .policy.style = style, .waits = &waits};
  const run_measured m = run_measure(&asked, &diag);
  assert_int_equal(m.status, RUN_MEASURE_GOOD);
  uint64_t sum = 0;
  for (int wait = 0; wait < RUN_WAIT_COUNT; wait++) sum += waits.cycles[wait];
  assert_int_equal(sum, m.cycles);
  assert_true(waits.cycles[RUN_WAIT_PRODUCTS] >= m.mesh_cycles / 2);
  // Asking changes nothing.
  const run_measure_request plain = {.layer = layer, .array = &array, .policy.style = style};
  assert_int_equal(run_measure(&plain, &diag).cycles, m.cycles);
}

static void causes_add_up(void **state) {
  (void)state;
  static const map_layer layers[] = {
      {.kind = MAP_GEMM, .size = {1, 100, 1, 70, 130, 1, 1}},
      {.kind = MAP_GEMV, .size = {1, 1, 1, 256, 300, 1, 1}},
      {.kind = MAP_CONV, .size = {1, 14, 14, 24, 20, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}},
      {.kind = MAP_CONV, .size = {1, 9, 9, 8, 16, 3, 3}, .stride = {2, 2}, .dilation = {1, 1}},
  };
  static const char *const arrays[] = {"gemmini-default", "gemmini-magic", "dim4", "dim8", "transformer-16"};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) check_sum(&layers[i], arrays[a], BLOCK_STYLE_PRIMITIVE);
  check_sum(&layers[0], "gemmini-default", BLOCK_STYLE_LOOP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(station_full),
                                     cmocka_unit_test(causes_add_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
