// SPDX-License-Identifier: Apache-2.0
// What hardware costs: terms add up to parts and parts to the whole, with bands around them; published figures and our
// own synthesis come out where they went in; every parameter of a driver costs something.
#include "hw/cost.h"

#include <math.h>
#include <string.h>

#include "base/test.h"
#include "hw/tech.h"

static hw_array array_named(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static bool near(double a, double b, double share) { return fabs(a - b) <= share * fabs(b); }

static void adds_up(void **state) {
  (void)state;
  for (size_t n = 0; hw_builtin_name(n) != NULL; n++) {
    const hw_array array = array_named(hw_builtin_name(n));
    const hw_cost cost = hw_cost_of(&array);
    double terms[HW_COST_PARTS] = {0}, total = 0;
    hw_cost_term term;
    for (size_t i = 0; hw_cost_term_at(&array, i, &term); i++) terms[term.part] += term.um2 * term.number;
    for (int p = 0; p < HW_COST_PARTS; p++) {
      assert_true(near(terms[p], cost.part[p].value, 1e-12) || terms[p] == cost.part[p].value);
      assert_true(cost.part[p].low <= cost.part[p].value && cost.part[p].value <= cost.part[p].high);
      total += cost.part[p].value;
    }
    assert_true(near(total, cost.total.value, 1e-12));
    assert_true(cost.total.low < cost.total.value && cost.total.value < cost.total.high);
  }
}

// The mesh of Gemmini's default is 116,000 um2 in 22 nm; scratchpad and mesh are as hw/tech/40nm.yaml has them.
static void published(void **state) {
  (void)state;
  const hw_array array = array_named("gemmini-default");
  const hw_cost cost = hw_cost_of(&array);
  const double scale = 40.0 * 40 / (22 * 22);
  hw_tech tech;
  assert_true(near(cost.part[HW_COST_MESH].value, 116000 * scale, 1e-6));
  assert_true(near(cost.part[HW_COST_SCRATCHPAD].value, 544000 * scale, 2e-2));  // and the logic of its banks
  assert_true(hw_tech_named(&tech, "40nm"));
  assert_true(near(cost.part[HW_COST_HART].value, hw_tech_system_area(&tech, &array).hart, 1e-3));
}

// Units as they were synthesised at DIM 4 come out again, whatever they are scaled by.
static void synthesised(void **state) {
  (void)state;
  const double factor = 0.0117353, measured = 2223082;
  const hw_array dim4 = array_named("dim4");
  hw_array more = dim4;
  assert_true(near(hw_cost_of(&dim4).part[HW_COST_STATION].value, factor * measured, 1e-3));
  more.execute.reservation_entries = 32;
  assert_true(near(hw_cost_of(&more).part[HW_COST_STATION].value, factor * 3711959, 1e-3));
  more.sync.by = HW_SYNC_TOKENS;
  assert_true(near(hw_cost_of(&more).part[HW_COST_STATION].value, factor * 1561214, 1e-3));
  more = dim4;
  more.units.gate = true;
  const double by_gate = hw_cost_of(&more).part[HW_COST_LOCAL].value - hw_cost_of(&dim4).part[HW_COST_LOCAL].value;
  assert_true(near(by_gate, factor * (217728 + 4 * 167943), 1e-3));
  more = dim4;
  more.dma.reads_in_flight = 64;
  const double by_reads = hw_cost_of(&more).part[HW_COST_DMA].value - hw_cost_of(&dim4).part[HW_COST_DMA].value;
  assert_true(near(by_reads, factor * (2237059 - 966690), 2e-2));
}

// The logic of the largest side beside its synthesis: `weft rtl synth gemmini-default`, um2. Mesh, local memory and
// front end took no part in the table.
static void another_side(void **state) {
  (void)state;
  const hw_array array = array_named("gemmini-default");
  double all = 0;
  for (int p = 0; p < HW_COST_PARTS; p++)
    if (p != HW_COST_HART && p != HW_COST_L2) all += hw_cost_logic_of(&array, (hw_cost_part)p);
  assert_true(near(all, 52863271, 0.02));
  assert_true(near(hw_cost_logic_of(&array, HW_COST_MESH), 32677347, 1e-3));
  assert_true(near(hw_cost_logic_of(&array, HW_COST_DMA), 1851144, 0.03));
  assert_true(near(hw_cost_logic_of(&array, HW_COST_LOAD), 640479, 0.03));
  const double local = hw_cost_logic_of(&array, HW_COST_SCRATCHPAD) + hw_cost_logic_of(&array, HW_COST_ACCUMULATOR) +
                       hw_cost_logic_of(&array, HW_COST_LOCAL);
  assert_true(near(local, 8946001, 0.03));
}

// An array that took no part in the table: the answer of `weft search mobilenetv2 --space default --budget 20`,
// synthesised.
static hw_array an_answer(void) {
  hw_array array = array_named("gemmini-default");
  array.scratchpad.capacity_kib = 32;
  array.accumulator.capacity_kib = 16;
  array.store.reservation_entries = 2;
  array.dma.reads_in_flight = array.dma.writes_in_flight = 32;
  array.l2.present = false;
  return array;
}

static void of_an_answer(void **state) {
  (void)state;
  static const struct {
    hw_cost_part part;
    double um2;
  } measured[] = {{HW_COST_MESH, 31326452}, {HW_COST_EXECUTE, 659614},  {HW_COST_LOAD, 720265},
                  {HW_COST_STORE, 414390},  {HW_COST_STATION, 1962424}, {HW_COST_LOOPS, 4593429},
                  {HW_COST_DMA, 2247100},   {HW_COST_REST, 472477}};
  const hw_array array = an_answer();
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
    assert_true(near(hw_cost_logic_of(&array, measured[i].part), measured[i].um2, 0.15));
  assert_true(near(hw_cost_longest_path(&array).synthesised_ns, 10.87, 0.15));
}

static hw_cost_path path_of(const hw_array *array, const char *unit) {
  hw_cost_path path;
  for (size_t i = 0; hw_cost_path_at(array, i, &path); i++)
    if (strcmp(path.unit, unit) == 0) return path;
  fail_msg("no path of %s", unit);
  return path;
}

// Paths as they were synthesised at DIM 16, within 15 %, and scaled by the feature size; the longest bounds the clock.
static void paths(void **state) {
  (void)state;
  static const struct {
    const char *unit;
    double ns;
  } measured[] = {{"pe", 5.53},
                  {"execute_controller", 11.01},
                  {"load_controller", 10.78},
                  {"store_controller", 10.05},
                  {"reservation_station", 8.48},
                  {"loop_matmul", 9.75},
                  {"loop_conv", 9.95},
                  {"local_memory", 5.23},
                  {"dma_reader", 7.69},
                  {"dma_writer", 8.40}};
  const hw_array array = array_named("gemmini-default");
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    const hw_cost_path path = path_of(&array, measured[i].unit);
    assert_true(near(path.synthesised_ns, measured[i].ns, 0.15));
    assert_true(near(path.ns.value, path.synthesised_ns * 40 / 180, 1e-5));
    assert_true(path.ns.low < path.ns.value && path.ns.value < path.ns.high);
  }
  const hw_cost_path longest = hw_cost_longest_path(&array);
  assert_true(near(hw_cost_clock_mhz(&array) * longest.ns.value, 1e3, 1e-12));
}

// A unit that is not there has no path, and bounds no clock.
static void lacks_units(void **state) {
  (void)state;
  const hw_array array = array_named("gemmini-default");
  hw_array more = array;
  more.units.normaliser = true;
  hw_cost_path path;
  size_t of_array = 0, of_more = 0;
  for (; hw_cost_path_at(&array, of_array, &path); of_array++) assert_string_not_equal(path.unit, "normaliser");
  while (hw_cost_path_at(&more, of_more, &path)) of_more++;
  assert_int_equal(of_array + 1, of_more);
  assert_true(hw_cost_clock_mhz(&more) < hw_cost_clock_mhz(&array));
  assert_string_equal(hw_cost_longest_path(&more).unit, "normaliser");
}

static void costs_something(void **state) {
  (void)state;
  static const char *const names[] = {"scratchpad.capacity_kib",
                                      "scratchpad.banks",
                                      "accumulator.capacity_kib",
                                      "accumulator.banks",
                                      "load.queue",
                                      "load.reservation_entries",
                                      "store.queue",
                                      "store.reservation_entries",
                                      "execute.queue",
                                      "execute.reservation_entries",
                                      "dma.bus_bits",
                                      "dma.reads_in_flight",
                                      "dma.writes_in_flight",
                                      "l2.capacity_kib",
                                      "load.scale_units",
                                      "host.icache_kib"};
  const hw_array array = array_named("gemmini-default");
  const double least = hw_cost_of(&array).total.value;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hw_array more = array;
    const hw_param *param = hw_param_find(names[i]);
    assert_non_null(param);
    hw_param_set(&more, param, 2 * hw_param_get(&array, param));
    assert_true(hw_cost_of(&more).total.value > least);
  }
  assert_non_null(hw_cost_unknown_at(0));
}

// Parameters that are said to be hidden in what is unknown are parameters, and cost nothing.
static void unknown(void **state) {
  (void)state;
  const hw_cost_unknown *u;
  for (size_t i = 0; (u = hw_cost_unknown_at(i)) != NULL; i++) {
    char names[256], *rest = NULL;
    snprintf(names, sizeof names, "%s", u->parameters);
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
      const hw_param *param = hw_param_find(name);
      hw_array array = array_named("gemmini-default");
      const double before = hw_cost_of(&array).total.value;
      assert_non_null(param);
      hw_param_set(&array, param, param->max);
      if (param->section != NULL && strcmp(param->section, "mesh") != 0)
        assert_true(hw_cost_of(&array).total.value == before);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adds_up),      cmocka_unit_test(published),       cmocka_unit_test(synthesised),
      cmocka_unit_test(another_side), cmocka_unit_test(of_an_answer),    cmocka_unit_test(paths),
      cmocka_unit_test(lacks_units),  cmocka_unit_test(costs_something), cmocka_unit_test(unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
