// SPDX-License-Identifier: Apache-2.0
// What hardware costs: terms add up to parts and parts to the whole, with bands around them; published figures and our
// own synthesis come out where they went in; every parameter of a driver costs something.
#include "hw/cost.h"

#include <math.h>

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
  const double factor = 0.0120315, measured = 2142922;
  const hw_array dim4 = array_named("dim4");
  hw_array more = dim4;
  assert_true(near(hw_cost_of(&dim4).part[HW_COST_STATION].value, factor * measured, 1e-3));
  more.execute.reservation_entries = 32;
  assert_true(near(hw_cost_of(&more).part[HW_COST_STATION].value, factor * 3619162, 1e-3));
  more.sync.by = HW_SYNC_TOKENS;
  assert_true(near(hw_cost_of(&more).part[HW_COST_STATION].value, factor * 1561214, 1e-3));
  more = dim4;
  more.units.gate = true;
  const double by_gate = hw_cost_of(&more).part[HW_COST_LOCAL].value - hw_cost_of(&dim4).part[HW_COST_LOCAL].value;
  assert_true(near(by_gate, factor * (217248 + 4 * 160945), 1e-3));
  more = dim4;
  more.dma.reads_in_flight = 64;
  const double by_reads = hw_cost_of(&more).part[HW_COST_DMA].value - hw_cost_of(&dim4).part[HW_COST_DMA].value;
  assert_true(near(by_reads, factor * (2198295 - 933287), 2e-2));
}

// The logic of a side that took no part in the table, beside its synthesis: `weft rtl synth gemmini-default`, um2.
static void another_side(void **state) {
  (void)state;
  const hw_array array = array_named("gemmini-default");
  double all = 0;
  for (int p = 0; p < HW_COST_PARTS; p++)
    if (p != HW_COST_HART && p != HW_COST_L2) all += hw_cost_logic_of(&array, (hw_cost_part)p);
  assert_true(near(all, 53677885, 0.02));
  assert_true(near(hw_cost_logic_of(&array, HW_COST_MESH), 32566987, 0.03));
  assert_true(near(hw_cost_logic_of(&array, HW_COST_DMA), 1798471, 0.03));
  const double local = hw_cost_logic_of(&array, HW_COST_SCRATCHPAD) + hw_cost_logic_of(&array, HW_COST_ACCUMULATOR) +
                       hw_cost_logic_of(&array, HW_COST_LOCAL);
  assert_true(near(local, 8840519, 0.03));
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(adds_up),         cmocka_unit_test(published),
                                     cmocka_unit_test(synthesised),     cmocka_unit_test(another_side),
                                     cmocka_unit_test(costs_something), cmocka_unit_test(unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
