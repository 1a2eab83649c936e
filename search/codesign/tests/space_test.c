// SPDX-License-Identifier: Apache-2.0
// The text of a space: its points and constraints, and what is refused where.
#include "search/codesign/space.h"

#include "base/test.h"
#include "hw/cost.h"

static codesign_space parsed(const char *text) {
  codesign_space space;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(codesign_space_parse(&space, "s.yaml", text, strlen(text), &diag));
  return space;
}

static void points(void **state) {
  (void)state;
  codesign_space space = parsed(
      "base: dim8\nparameters:\n"
      "  mesh.rows, mesh.columns: [4, 8]\n"
      "  dma.bus_bits: {from: 64, to: 256, times: 2}\n"
      "  l2.present, l2.capacity_kib: [[false, 512], [true, 128]]\n"
      "constraints:\n  - dma.bus_bits <= 32 * dim - l2.present\n");
  assert_int_equal(codesign_space_points(&space), 12);
  unsigned good = 0;
  for (uint64_t n = 0; n < 12; n++) {
    const codesign_point point = codesign_space_point(&space, n);
    hw_array array;
    const bool is_good = codesign_space_array(&space, &point, &array);
    assert_int_equal(array.mesh.rows, n < 6 ? 4 : 8);
    assert_int_equal(array.dma.bus_bits, 64 << n / 2 % 3);
    assert_int_equal(array.l2.present, n % 2);
    assert_int_equal(is_good, array.dma.bus_bits <= 32 * array.mesh.rows - array.l2.present);
    good += is_good;
  }
  assert_int_equal(good, 3 + 5);
  const codesign_point base = codesign_space_base(&space);  // side 8, 128 bits; the L2 of 512 KiB is not in the space
  assert_int_equal(base.at[0], 1);
  assert_int_equal(base.at[1], 1);
  assert_true(codesign_point_distance(&space, &base, &base) == 0);
  codesign_space_release(&space);
}

// Sums of larger sides are wider, unless the space says how wide they are.
static void sums_fit(void **state) {
  (void)state;
  static const struct {
    const char *more;
    uint32_t wide[3];
  } rows[] = {{"", {20, 21, 22}}, {"  types.output_bits: [20]\n", {20, 20, 20}}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char text[160];
    snprintf(text, sizeof text, "base: gemmini-default\nparameters:\n  mesh.rows, mesh.columns: [16, 32, 64]\n%s",
             rows[r].more);
    codesign_space space = parsed(text);
    for (uint64_t n = 0; n < 3; n++) {
      const codesign_point point = codesign_space_point(&space, n);
      hw_array array;
      codesign_space_array(&space, &point, &array);
      assert_int_equal(array.types.output_bits, rows[r].wide[n]);
    }
    codesign_space_release(&space);
  }
}

// Arithmetic in constraints, against the same in C.
static void rules(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool holds;
  } cases[] = {{"1 + 2 * 3 == 7", true},
               {"(1 + 2) * 3 == 9", true},
               {"8 / 4 / 2 == 1", true},
               {"10 - 4 - 3 == 3", true},
               {"dim >= 16", true},
               {"dim > 16", false},
               {"dim != mesh.rows", false},
               {"scratchpad.capacity_kib == 4 * accumulator.capacity_kib", true},
               {"units.loop_conv < 1", false},
               {"area_mm2 < 100", true},
               {"area_mm2<=0.5", false},
               {"path_ns > 1", true},
               {"path_ns * chip.clock_mhz < 1000", false}};
  wf_arena *arena = wf_arena_create();
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  hw_array_default(&array);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const codesign_rule *rule = codesign_rule_parse(arena, cases[i].text, (wf_location){0}, &diag);
    assert_non_null(rule);
    assert_int_equal(codesign_rule_holds(rule, &array), cases[i].holds);
    assert_string_equal(codesign_rule_text(rule), cases[i].text);
  }
  wf_arena_destroy(arena);
}

// A clock that the space may choose is one that the longest path allows; one that it may not is taken as it stands.
static void clocks(void **state) {
  (void)state;
  codesign_space space = parsed("parameters:\n  chip.clock_mhz: [100, 200, 1000]\n  units.loop_conv: [false, true]\n");
  unsigned good = 0;
  for (uint64_t n = 0; n < 6; n++) {
    const codesign_point point = codesign_space_point(&space, n);
    hw_array array;
    const bool is_good = codesign_space_array(&space, &point, &array);
    assert_int_equal(is_good, array.chip.clock_mhz <= hw_cost_clock_mhz(&array));
    good += is_good;
  }
  assert_in_range(good, 2, 4);
  codesign_space_release(&space);
  space = parsed("parameters:\n  units.loop_conv: [false, true]\n");
  hw_array array;
  const codesign_point point = codesign_space_point(&space, 1);
  assert_true(codesign_space_array(&space, &point, &array));
  assert_true(array.chip.clock_mhz > hw_cost_clock_mhz(&array));
  codesign_space_release(&space);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"name: a\n", "a space needs `parameters`"},
      {"parameters: {dma.bus_bitz: [64]}\n", "s.yaml:1:14: error: no array parameter 'dma.bus_bitz'"},
      {"parameters: {dma.bus_bits: [65]}\n", "s.yaml:1:29: error: '65' is no value of dma.bus_bits"},
      {"parameters:\n  dma.bus_bits: [64, 64]\n", "s.yaml:2:3: error: value 64 appears twice"},
      {"parameters:\n  dma.bus_bits: [64]\n  dma.bus_bits, l2.ways: [[64, 8]]\n", "appears twice"},
      {"parameters: {}\n", "0 parameters"},
      {"parameters: {dma.bus_bits: [64]}\nparametres: 3\n", "parametres"},
      {"parameters: {dma.bus_bits: [64]}\nconstraints: [dma.bus_bits]\n", "no comparison"},
      {"parameters: {dma.bus_bits: [64]}\nconstraints: [dma.bus < 3]\n",
       "s.yaml:2:15: error: constraint 'dma.bus < 3'"},
      {"parameters: {dma.bus_bits: [64]}\nconstraints: [3 < dim +]\n", "a number or a parameter is missing"},
      {"parameters: {dma.bus_bits: [64]}\nconstraints: [(3 < dim]\n", "a parenthesis is not closed"},
      {"parameters: {dma.bus_bits: [64]}\nconstraints: [3 < dim dim]\n", "there is something behind it"},
      {"base: nothing\nparameters: {dma.bus_bits: [64]}\n", "nothing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *messages = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&messages, &length);
    wf_diag diag = wf_diag_to(out);
    codesign_space space;
    assert_false(codesign_space_parse(&space, "s.yaml", cases[i].text, strlen(cases[i].text), &diag));
    codesign_space_release(&space);
    fclose(out);
    if (strstr(messages, cases[i].message) == NULL) fail_msg("%s: %s", cases[i].text, messages);
    free(messages);
  }
}

static void shipped(void **state) {
  (void)state;
  static const char *const names[] = {"default",        "small-memory", "small-bus",   "small-queues", "small-whole",
                                      "small-l2",       "small-far",    "small-banks", "small-side",   "small-store",
                                      "small-dataflow", "small-wide",   "small-area",  "fusion",       "fusion-small"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    codesign_space space;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(codesign_space_load(&space, names[i], &diag));
    const codesign_point base = codesign_space_base(&space);
    hw_array array;
    assert_string_equal(space.name, names[i]);
    assert_true(codesign_space_array(&space, &base, &array));
    codesign_space_release(&space);
  }
  codesign_space none;
  wf_diag silent = wf_diag_to(NULL);
  assert_false(codesign_space_load(&none, "nothing", &silent));
  codesign_space_release(&none);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(points), cmocka_unit_test(sums_fit), cmocka_unit_test(rules),
                                     cmocka_unit_test(clocks), cmocka_unit_test(refused),  cmocka_unit_test(shipped)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
