// SPDX-License-Identifier: Apache-2.0
// The truth loop: arrays that can be built and hold what was asked for, the base first, the best the least of all, each
// candidate the sum of its layers as measured by themselves.
#include "search/truth/truth.h"

#include <math.h>

#include "base/test.h"
#include "runner/measure.h"

static hw_array array_named(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static void arrays(void **state) {
  (void)state;
  const hw_array base = array_named("gemmini-default");
  static const paper_hardware asked[] = {{8, 3, 1}, {12, 142, 784}, {128, 1, 1}, {16, 1000, 33}, {64, 77, 130}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(truth_array(&base, &asked[i], &array));
    assert_true(hw_array_check(&array, NULL, &diag));
    assert_int_equal(diag.warnings, 0);  // of sums that could wrap, for instance
    assert_true(hw_derive(&array).dim >= asked[i].side && hw_derive(&array).dim < 2 * asked[i].side);
    assert_true(array.scratchpad.capacity_kib >= asked[i].scratchpad_kib);
    assert_true(array.accumulator.capacity_kib >= asked[i].accumulator_kib);
    assert_int_equal(array.dma.bus_bits, base.dma.bus_bits);
  }
}

static const char table[] =
    "name: small\ndescription: for the test\nlayers:\n"
    "  - {name: a, P: 64, K: 64, C: 64, count: 3}\n  - {name: b, P: 7, Q: 7, K: 32, C: 32, R: 3, S: 3}\n"
    "  - {name: c, P: 64, K: 64, C: 64}\n";

static descent_goal goal_of(const layers_network *network, const paper_constants *constants, double side, double kib) {
  return (descent_goal){
      .network = network,
      .constants = constants,
      .limits = {.side_max = side, .scratchpad_kib_max = kib, .accumulator_kib_max = kib},
      .silicon = PLAIN_SILICON_DEFAULTS,
  };
}

// Three small layers, searched from side 4 on. It stays where it is: `options` points into it.
typedef struct search_case {
  hw_array base;
  layers_network network;
  paper_constants constants;
  wf_diag diag;
  truth_options options;
} search_case;

static void case_begin(search_case *c, double kib, unsigned candidates) {
  c->base = array_named("dim4");
  c->diag = wf_diag_to(stderr);
  assert_true(layers_parse_yaml(&c->network, "small.yaml", table, strlen(table), &c->diag));
  assert_true(paper_constants_named(&c->constants, "dosa"));
  c->options = (truth_options){.goal = goal_of(&c->network, &c->constants, 16, kib),
                               .base = &c->base,
                               .seed = 1,
                               .candidates = candidates,
                               .jobs = 2};
}

static void case_end(search_case *c) { layers_release(&c->network); }

static paper_cost cost_of(const truth_candidate *c) {
  return (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj};
}

static double area_of(const descent_plain_silicon *silicon, const truth_candidate *c) {
  const paper_hardware hardware = {.side = hw_derive(&c->array).dim,
                                   .scratchpad_kib = c->array.scratchpad.capacity_kib,
                                   .accumulator_kib = c->array.accumulator.capacity_kib};
  return descent_plain_area_mm2(silicon, &hardware);
}

static void loop(void **state) {
  (void)state;
  search_case c;
  case_begin(&c, 256, 10);
  c.options.model_seconds = 0.2;
  truth_result r;
  assert_true(truth_search(&c.options, &r, &c.diag));
  assert_true(r.count > 3 && r.count <= 10);
  assert_int_equal(hw_array_hash(&r.candidates[0].array), hw_array_hash(&c.base));
  for (size_t i = 0; i < r.count; i++) {
    const truth_candidate *one = &r.candidates[i];
    assert_true(r.candidates[r.best].value <= one->value);
    for (size_t j = 0; j < i; j++) assert_true(hw_array_hash(&r.candidates[j].array) != hw_array_hash(&one->array));
  }
  assert_true(r.candidates[r.best].value < r.candidates[0].value);
  const truth_candidate *best = &r.candidates[r.best];
  double cycles = 0;
  for (size_t i = 0; i < c.network.count; i++) {
    const map_layer layer = layers_to_map(&c.network.layers[i]);
    const run_measured m = run_measure(&(run_measure_request){.layer = &layer, .array = &best->array}, &c.diag);
    assert_int_equal(m.cycles, best->layers[i].cycles);
    assert_int_equal(m.program_digest, best->layers[i].program_digest);
    cycles += (double)c.network.layers[i].count * (double)m.cycles;
  }
  assert_true(cycles == best->cycles);
  truth_release(&r);
  case_end(&c);
}

// An array comes again with other mappings, and is never worse then.
static bool is_refined(const truth_result *r) {
  bool again = false;
  for (size_t i = 0; i < r->count; i++)
    for (size_t j = 0; j < i; j++) {
      if (hw_array_hash(&r->candidates[i].array) != hw_array_hash(&r->candidates[j].array)) continue;
      assert_true(r->candidates[i].value <= r->candidates[j].value);
      again = true;
    }
  return again;
}

// The sum of the layers, each measured by itself with the mapping that its result tells.
static void is_as_measured(const layers_network *network, const truth_candidate *c) {
  wf_diag diag = wf_diag_to(stderr);
  double cycles = 0, energy = 0;
  for (size_t i = 0; i < network->count; i++) {
    const map_layer layer = layers_to_map(&network->layers[i]);
    const char *text = c->layers[i].mapping;
    map_mapping mapping;
    assert_true(map_parse(&mapping, "mapping", text, strlen(text), &diag));
    const run_measured m = run_measure(
        &(run_measure_request){.layer = &layer, .array = &c->array, .policy = {.mapping = &mapping}}, &diag);
    assert_int_equal(m.cycles, c->layers[i].cycles);
    cycles += (double)network->layers[i].count * (double)m.cycles;
    energy += (double)network->layers[i].count * m.array_pj * 1e-6;
  }
  assert_true(fabs(cycles - c->cycles) < 1e-9 * cycles);
  assert_true(fabs(energy - c->energy_uj) < 1e-9 * energy);
}

// The loop with the model of the machine: it predicts more arrays than it simulates, the best as it is measured.
static void by_machine(void **state) {
  (void)state;
  search_case c;
  case_begin(&c, 64, 8);
  c.options.machine = true;
  truth_result free, bounded;
  assert_true(truth_search(&c.options, &free, &c.diag));
  assert_true(free.count <= 8 && free.predicted > 3);
  const truth_candidate *first = &free.candidates[1], *best = &free.candidates[free.best];
  assert_true(first->predicted > 0.5 * first->cycles * first->energy_uj);
  assert_true(first->predicted < 2 * first->cycles * first->energy_uj);
  assert_true(is_refined(&free));
  is_as_measured(&c.network, best);
  for (size_t i = 0; i < c.network.count; i++) {  // the base has the mapper's mappings
    const map_layer layer = layers_to_map(&c.network.layers[i]);
    const run_measured m = run_measure(&(run_measure_request){.layer = &layer, .array = &c.base}, &c.diag);
    assert_int_equal(m.cycles, free.candidates[0].layers[i].cycles);
  }
  // An area that the best has not: all but the base keep it.
  const descent_plain_silicon silicon = PLAIN_SILICON_DEFAULTS;
  c.options.goal.area_mm2_max = 0.7 * area_of(&silicon, best);
  assert_true(truth_search(&c.options, &bounded, &c.diag));
  assert_true(bounded.count > 1);
  for (size_t i = 1; i < bounded.count; i++)
    assert_true(area_of(&silicon, &bounded.candidates[i]) <= c.options.goal.area_mm2_max);
  truth_release(&free);
  truth_release(&bounded);
  case_end(&c);
}

// Engine flow before the cycle engine: it says which mapping of a layer is best, and is near; answers are those of
// cycle.
static void by_flow(void **state) {
  (void)state;
  search_case c;
  case_begin(&c, 64, 8);
  c.options.machine = true;
  c.options.flow = 4;
  truth_result r;
  assert_true(truth_search(&c.options, &r, &c.diag));
  assert_null(r.candidates[0].flow);  // the base
  size_t asked = 0;
  for (size_t i = 1; i < r.count; i++) {
    const truth_candidate *one = &r.candidates[i];
    if (!one->good || one->flow == NULL) continue;
    asked++;
    is_as_measured(&c.network, one);
    assert_true(fabs(one->predicted / (one->cycles * one->energy_uj) - 1) < 0.3 || one->predicted == 0);
    for (size_t n = 0; n < c.network.count; n++) {
      const truth_flow *f = &one->flow[n * PREDICT_KEPT_MAX + one->chosen[n]];
      if (one->chosen[n] < PREDICT_KEPT_MAX && f->cycles > 0)
        assert_true(fabs(f->cycles / (double)one->layers[n].cycles - 1) < 0.3);
    }
  }
  assert_true(asked > 1);
  is_as_measured(&c.network, &r.candidates[r.best]);
  truth_release(&r);
  case_end(&c);
}

// Sizes that are fixed, and a bound on power that only some arrays keep.
static void bounds(void **state) {
  (void)state;
  search_case c;
  case_begin(&c, 64, 6);
  c.options.goal.limits.side_fixed = 8;
  c.options.goal.objective = PLAIN_AREA_DELAY;
  truth_result r;
  assert_true(truth_search(&c.options, &r, &c.diag));
  for (size_t i = 1; i < r.count; i++) assert_int_equal(hw_derive(&r.candidates[i].array).dim, 8);
  const descent_plain_silicon silicon = PLAIN_SILICON_DEFAULTS;
  const truth_candidate *best = &r.candidates[r.best];
  assert_true(fabs(best->value - area_of(&silicon, best) * best->cycles) < 1e-9 * best->value);
  truth_release(&r);
  // The base's own power, and a little more: what needs more is not the best.
  c.options.goal.limits.side_fixed = 0;
  c.options.goal.objective = PLAIN_LATENCY;
  assert_true(truth_search(&c.options, &r, &c.diag));
  const double power = descent_plain_power_mw(&silicon, cost_of(&r.candidates[0]));
  assert_true(descent_plain_power_mw(&silicon, cost_of(&r.candidates[r.best])) > 1.1 * power);
  truth_release(&r);
  c.options.goal.power_mw_max = 1.1 * power;
  assert_true(truth_search(&c.options, &r, &c.diag));
  assert_true(descent_plain_power_mw(&silicon, cost_of(&r.candidates[r.best])) <= 1.1 * power);
  truth_release(&r);
  case_end(&c);
}

// What another search proposes: arrays that hold it, refined; tables that are shared give the same.
static void judged(void **state) {
  (void)state;
  search_case c;
  case_begin(&c, 64, 8);
  c.options.machine = true;
  c.options.seed = 0;
  c.options.table = predict_table_create(2, false);
  const descent_options asked = {.goal = c.options.goal, .seed = 1, .max_evaluations = 5000};
  descent_result found;
  assert_true(descent_search(&asked, &found));
  truth_result r, fixed;
  assert_true(truth_judge(&c.options, &found.hardware, found.mappings, &r));
  assert_true(r.count > 2 && r.count <= 8);
  for (size_t i = 0; i < r.count; i++) {
    const hw_array *array = &r.candidates[i].array;
    assert_true(hw_derive(array).dim >= found.hardware.side);
    assert_true(array->scratchpad.capacity_kib >= found.hardware.scratchpad_kib);
    assert_true(array->accumulator.capacity_kib >= found.hardware.accumulator_kib);
  }
  assert_true(is_refined(&r));
  is_as_measured(&c.network, &r.candidates[r.best]);
  assert_true(truth_judge(&c.options, NULL, found.mappings, &fixed));
  for (size_t i = 0; i < fixed.count; i++)
    assert_int_equal(hw_array_hash(&fixed.candidates[i].array), hw_array_hash(&c.base));
  truth_release(&r);
  truth_release(&fixed);
  descent_release(&found);
  predict_table_destroy(c.options.table);
  case_end(&c);
}

// A layer counts if its simulated mapping was given: not a climbed one, none without a choice, none left to the mapper.
static void own_layers(void **state) {
  (void)state;
  predict_choice given = {.source = PREDICT_GIVEN}, climbed = {.source = PREDICT_CLIMBED};
  const predict_result of_given = {.takes_mappings = true, .count = 1, .choices = &given};
  const predict_result of_climbed = {.takes_mappings = true, .count = 1, .choices = &climbed};
  const predict_result by_mapper = {.count = 1, .choices = &given};
  const predict_result *answers[] = {&of_given, &of_climbed, &by_mapper, &of_given, &of_given};
  size_t chosen[] = {0, 0, 0, SIZE_MAX, 0};
  const truth_candidate candidate = {.answers = answers, .chosen = chosen}, without = {.chosen = chosen};
  static const size_t own[] = {0, 1, 1, 1, 1, 2};
  for (size_t layers = 0; layers <= 5; layers++) assert_int_equal(truth_own_layers(&candidate, layers), own[layers]);
  assert_int_equal(truth_own_layers(&without, 5), 0);
}

static void hopeless(void **state) {
  (void)state;
  hw_array base = array_named("dim4");
  static const char odd[] =
      "name: odd\ndescription: x\nlayers:\n  - {name: a, P: 6, Q: 6, K: 4, C: 4, R: 3, S: 3, dilation: [2, 1]}\n";
  layers_network network;
  paper_constants constants;
  wf_diag diag = wf_diag_to(NULL);
  assert_true(layers_parse_yaml(&network, "odd.yaml", odd, strlen(odd), &diag));
  assert_true(paper_constants_named(&constants, "dosa"));
  truth_result r;
  assert_false(truth_search(
      &(truth_options){.goal = goal_of(&network, &constants, 8, 64), .base = &base, .model_seconds = 0.1, .jobs = 1},
      &r, &diag));
  assert_int_equal(diag.errors, 1);
  assert_int_equal(r.count, 1);
  truth_release(&r);
  layers_release(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays), cmocka_unit_test(loop),   cmocka_unit_test(by_machine), cmocka_unit_test(by_flow),
      cmocka_unit_test(bounds), cmocka_unit_test(judged), cmocka_unit_test(own_layers), cmocka_unit_test(hopeless)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
