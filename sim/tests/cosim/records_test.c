// SPDX-License-Identifier: Apache-2.0
// Records of two engines compared: what counts as equal, and which difference is the first.
#include "sim/records.h"

#include "base/test.h"
#include "isa/isa_fields.h"

typedef struct fixture {
  sim_records a, b;
} fixture;

static void add(sim_records *records, sim_event_kind kind, sim_class unit, uint32_t index, uint64_t cycle) {
  const sim_events sink = sim_records_sink(records);
  const sim_event event = {.kind = kind, .unit = unit, .index = index, .cycle = cycle};
  sink.event(sink.context, &event);
}

static void add_mvin(sim_records *records, uint32_t index, uint64_t cycle, uint64_t address) {
  const sim_events sink = sim_records_sink(records);
  const sim_event event = {.kind = SIM_EVENT_ALLOC,
                           .unit = SIM_CLASSES,
                           .index = index,
                           .cycle = cycle,
                           .funct = ISA_FUNCT_MVIN,
                           .rs1 = address,
                           .rs2 = UINT64_C(0x0001000100000000)};
  sink.event(sink.context, &event);
}

static void free_both(fixture *f) {
  sim_records_free(&f->a);
  sim_records_free(&f->b);
}

static void equal_records_do_not_differ(void **state) {
  (void)state;
  fixture f = {0};
  sim_difference d;
  assert_false(sim_records_differ(&f.a, &f.b, &d));
  for (uint32_t i = 0; i < 3000; i++) {  // more than the first room
    add(&f.a, SIM_EVENT_ISSUE, SIM_CLASS_LOAD, i, 10 * i);
    add(&f.b, SIM_EVENT_ISSUE, SIM_CLASS_LOAD, i, 10 * i);
  }
  assert_false(sim_records_differ(&f.a, &f.b, &d));
  free_both(&f);
}

static void the_earlier_record_is_the_difference(void **state) {
  (void)state;
  fixture f = {0};
  sim_difference d;
  add(&f.a, SIM_EVENT_ISSUE, SIM_CLASS_LOAD, 0, 5);
  add(&f.b, SIM_EVENT_ISSUE, SIM_CLASS_LOAD, 0, 5);
  add(&f.a, SIM_EVENT_DONE, SIM_CLASS_LOAD, 0, 30);
  add(&f.a, SIM_EVENT_ISSUE, SIM_CLASS_STORE, 1, 31);
  add(&f.b, SIM_EVENT_ISSUE, SIM_CLASS_STORE, 1, 20);
  add(&f.b, SIM_EVENT_DONE, SIM_CLASS_LOAD, 0, 30);
  assert_true(sim_records_differ(&f.a, &f.b, &d));
  assert_int_equal(d.at, 1);
  assert_int_equal(d.event.kind, SIM_EVENT_ISSUE);
  assert_int_equal(d.event.index, 1);
  assert_true(d.found[0] && d.found[1] && !d.other_command);
  assert_int_equal(d.cycles[0], 31);
  assert_int_equal(d.cycles[1], 20);
  free_both(&f);
}

static void records_of_one_engine_alone_are_found(void **state) {
  (void)state;
  fixture f = {0};
  sim_difference d;
  add(&f.b, SIM_EVENT_DONE, SIM_CLASS_EXECUTE, 7, 40);
  assert_true(sim_records_differ(&f.a, &f.b, &d));
  assert_true(!d.found[0] && d.found[1]);
  assert_int_equal(d.cycles[1], 40);
  free_both(&f);
}

static void the_unit_counts(void **state) {
  (void)state;
  fixture f = {0};
  sim_difference d;
  add(&f.a, SIM_EVENT_DONE, SIM_CLASS_EXECUTE, 7, 40);
  add(&f.b, SIM_EVENT_DONE, SIM_CLASS_LOAD, 7, 40);
  assert_true(sim_records_differ(&f.a, &f.b, &d));
  assert_int_equal(d.event.unit, SIM_CLASS_LOAD);
  free_both(&f);
}

static void commands_count_where_both_tell_them(void **state) {
  (void)state;
  fixture f = {0};
  sim_difference d;
  add(&f.a, SIM_EVENT_ALLOC, SIM_CLASSES, 0, 4);
  add_mvin(&f.b, 0, 4, 0x80000000);
  assert_false(sim_records_differ(&f.a, &f.b, &d));
  add_mvin(&f.a, 1, 5, 0x80000010);
  add_mvin(&f.b, 1, 5, 0x80000020);
  assert_true(sim_records_differ(&f.a, &f.b, &d));
  assert_true(d.other_command);
  char text[SIM_EVENT_TEXT];
  assert_string_equal(sim_event_text(&d.event, &f.b, 1, text),
                      "alloc of 1 mvin dram=0x80000020 local=sp:0x0 cols=1 rows=1");
  assert_null(sim_records_command(&f.a, 0));
  free_both(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_records_do_not_differ),           cmocka_unit_test(the_earlier_record_is_the_difference),
      cmocka_unit_test(records_of_one_engine_alone_are_found), cmocka_unit_test(the_unit_counts),
      cmocka_unit_test(commands_count_where_both_tell_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
