// SPDX-License-Identifier: Apache-2.0
// Mappings chosen by the model of the machine: what is kept is legal, different, and the best first; steps find better
// ones that compile and run; a table gives the same answers on any number of threads.
#include <math.h>

#include "base/test.h"
#include "runner/measure.h"
#include "search/model/samples.h"
#include "search/predict/table.h"

static const map_layer layers[] = {
    {.kind = MAP_GEMM, .size = {[BLOCK_DIM_N] = 1, [BLOCK_DIM_P] = 200, 1, 120, 300, 1, 1}},
    {.kind = MAP_CONV, .size = {[BLOCK_DIM_N] = 1, [BLOCK_DIM_P] = 15, 15, 40, 20, 3, 3}},
    {.kind = MAP_CONV, .size = {[BLOCK_DIM_N] = 1, [BLOCK_DIM_P] = 28, 28, 16, 2, 5, 5}},  // few channels
};
enum { LAYERS = sizeof layers / sizeof *layers };

static hw_array small_array(void) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, "dim4", &diag));
  array.scratchpad.capacity_kib = 16;
  array.accumulator.capacity_kib = 4;
  return array;
}

static predict_request request_of(size_t layer, const hw_array *array, unsigned climbs) {
  return (predict_request){.layer = &layers[layer], .array = array, .tried = 8, .climbs = climbs, .kept = 12};
}

static void choices(void **state) {
  (void)state;
  const hw_array array = small_array();
  for (size_t n = 0; n < LAYERS; n++) {
    const predict_request request = request_of(n, &array, 300);
    predict_result r = predict_layer(&request);
    assert_int_equal(r.takes_mappings, n != 2);
    assert_true(r.count > 0 && r.count <= 12);
    for (size_t i = 0; i < r.count && r.takes_mappings; i++) {
      assert_true(map_check(&layers[n], &r.choices[i].mapping, &array, NULL));
      assert_true(r.choices[i].value >= r.choices[0].value);
      for (size_t j = 0; j < i; j++) assert_false(map_equal(&r.choices[i].mapping, &r.choices[j].mapping));
    }
    predict_release(&r);
  }
}

// Layers that the model does not know are left to the mapper; what it expects of them is within twice the truth.
static void left_to_the_mapper(void **state) {
  (void)state;
  const hw_array array = small_array();
  static const map_layer others[] = {
      {.kind = MAP_DEPTHWISE, .size = {[BLOCK_DIM_N] = 1, [BLOCK_DIM_P] = 28, 28, 32, 1, 3, 3}},
      {.kind = MAP_CONV, .groups = 4, .size = {[BLOCK_DIM_N] = 1, [BLOCK_DIM_P] = 14, 14, 8, 8, 3, 3}},
  };
  for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
    wf_diag diag = wf_diag_to(stderr);
    predict_result r = predict_layer(&(predict_request){.layer = &others[n], .array = &array, .tried = 8, .kept = 12});
    const run_measured m = run_measure(&(run_measure_request){.layer = &others[n], .array = &array}, &diag);
    assert_int_equal(m.status, RUN_MEASURE_GOOD);
    assert_false(r.takes_mappings);
    assert_int_equal(r.count, 1);
    const double cycles = r.choices[0].cycles / (double)m.cycles, energy = r.choices[0].energy_pj / m.array_pj;
    printf("%s: %.2f of the cycles, %.2f of the energy\n", map_kind_names[others[n].kind], cycles, energy);
    assert_true(cycles > 0.5 && cycles < 2 && r.choices[0].has_energy && energy > 0.5 && energy < 2);
    predict_release(&r);
  }
}

// On memories as small as these the mapper leaves something to be found, also by tiles that divide nothing.
static void climbs(void **state) {
  (void)state;
  const hw_array array = small_array();
  bool imperfect = false;
  for (size_t n = 0; n < 2; n++) {
    const predict_request without = request_of(n, &array, 0), with = request_of(n, &array, 400);
    predict_result plain = predict_layer(&without), climbed = predict_layer(&with);
    assert_true(climbed.choices[0].value < plain.choices[0].value);
    assert_int_equal(climbed.choices[0].source, PREDICT_CLIMBED);
    assert_true(climbed.evaluations > plain.evaluations && climbed.evaluations <= plain.evaluations + 400);
    const map_mapping *m = &climbed.choices[0].mapping;
    for (int d = 0; d < BLOCK_DIMS; d++) imperfect |= layers[n].size[d] % m->tile[d] != 0;
    wf_diag diag = wf_diag_to(stderr);
    const run_measured measured =
        run_measure(&(run_measure_request){.layer = &layers[n], .array = &array, .policy = {.mapping = m}}, &diag);
    assert_int_equal(measured.status, RUN_MEASURE_GOOD);
    assert_true((double)measured.cycles < 1.5 * climbed.choices[0].cycles);
    assert_true((double)measured.cycles > climbed.choices[0].cycles / 1.5);
    predict_release(&plain);
    predict_release(&climbed);
  }
  assert_true(imperfect);
}

static void given(void **state) {
  (void)state;
  const hw_array array = small_array();
  predict_request request = request_of(0, &array, 300);
  predict_result free = predict_layer(&request);
  const map_mapping best = free.choices[0].mapping;
  request.given = &best;
  request.given_count = 1;
  request.climbs = 0;
  predict_result r = predict_layer(&request);
  assert_true(map_equal(&r.choices[0].mapping, &best));
  assert_int_equal(r.choices[0].source, PREDICT_GIVEN);
  request.objective = PLAIN_LATENCY;
  predict_result fast = predict_layer(&request);
  assert_true(fast.choices[0].value == fast.choices[0].cycles);
  predict_release(&fast);
  predict_release(&r);
  predict_release(&free);
}

static void table(void **state) {
  (void)state;
  enum { ARRAYS = 3, COUNT = ARRAYS * LAYERS };
  hw_array arrays[ARRAYS];
  predict_request requests[COUNT];
  const predict_result *one[COUNT], *many[COUNT], *again[COUNT];
  for (size_t n = 0; n < COUNT; n++) {
    arrays[n / LAYERS] = small_array();
    arrays[n / LAYERS].scratchpad.capacity_kib = 16U << n / LAYERS;
    requests[n] = request_of(n % LAYERS, &arrays[n / LAYERS], 50);
  }
  predict_table *single = predict_table_create(1, true), *several = predict_table_create(4, true);
  predict_table_ask(single, requests, COUNT, one);
  predict_table_ask(several, requests, COUNT, many);
  predict_table_ask(several, requests, COUNT, again);
  for (size_t n = 0; n < COUNT; n++) {
    assert_ptr_equal(many[n], again[n]);
    assert_int_equal(one[n]->count, many[n]->count);
    for (size_t i = 0; i < one[n]->count; i++) {
      assert_true(map_equal(&one[n]->choices[i].mapping, &many[n]->choices[i].mapping));
      assert_true(one[n]->choices[i].value == many[n]->choices[i].value);
    }
    for (size_t m = 0; m < n; m++) assert_ptr_not_equal(many[n], many[m]);
  }
  predict_table_destroy(single);
  predict_table_destroy(several);
}

// What is learned moves cycles and values by the factor that the trees say, up to four, and no choice from its place.
static void corrections_move_figures_alone(void **state) {
  (void)state;
  const hw_array array = small_array();
  wf_diag diag = wf_diag_to(stderr);
  learn_trees trees;
  assert_true(learn_trees_parse(&trees, "half", "trees 1\ntree 3\ntile_k 2 1\n-0.5\n0.5\n", &diag));
  predict_request request = request_of(0, &array, 100);
  predict_result plain = predict_layer(&request);
  request.learned = &trees;
  predict_result learned = predict_layer(&request);
  trees.trees[0].node[1].value = trees.trees[0].node[2].value = 9;
  predict_result most = predict_layer(&request);
  assert_true(plain.count > 1 && plain.count == learned.count && plain.count == most.count);
  for (size_t i = 0; i < plain.count; i++) {
    const predict_choice *p = &plain.choices[i], *l = &learned.choices[i], *m = &most.choices[i];
    assert_true(map_equal(&p->mapping, &l->mapping) && map_equal(&p->mapping, &m->mapping));
    const double sign = (double)p->mapping.tile[BLOCK_DIM_K] < exp(2) ? -0.5 : 0.5;
    assert_true(fabs(l->cycles / (p->cycles * exp(sign)) - 1) < 1e-6);
    assert_true(fabs(m->cycles / (4 * p->cycles) - 1) < 1e-6);
    assert_true(l->value > 0 && l->value != p->value && l->energy_pj == p->energy_pj);
  }
  learn_trees_release(&trees);
  predict_release(&plain);
  predict_release(&learned);
  predict_release(&most);
}

// The trees that travel in the program are nearer to what engine flow takes than the model, on layers and arrays that
// they were not fitted to.
static void shipped_trees_are_nearer(void **state) {
  (void)state;
  enum { SAMPLES = 60 };
  samples_source source;
  wf_diag diag = wf_diag_to(stderr), silent = wf_diag_to(NULL);
  assert_true(samples_open(&source, SAMPLES_JUDGE, 21, &diag));
  learn_trees trees = learn_trees_shipped();
  assert_int_equal(trees.count, 400);
  double plain = 0, learned = 0;
  for (int i = 0; i < SAMPLES; i++) {
    samples_sample s;
    samples_draw(&source, &s);
    const run_measured m = run_measure(
        &(run_measure_request){
            .layer = &s.layer, .array = &s.array, .policy = {.mapping = &s.mapping}, .fidelity = RUN_FIDELITY_FLOW},
        &silent);
    if (m.status != RUN_MEASURE_GOOD) continue;
    const learn_row row = learn_row_of(&s.layer, &s.mapping, &s.array, (double)m.cycles, 0);
    plain += fabs((double)row.target);
    learned += fabs(row.target - learn_trees_say(&trees, row.features));
  }
  assert_true(plain > 1);
  assert_true(learned < 0.9 * plain);
  learn_trees_release(&trees);
  samples_close(&source);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(choices),
                                     cmocka_unit_test(left_to_the_mapper),
                                     cmocka_unit_test(climbs),
                                     cmocka_unit_test(given),
                                     cmocka_unit_test(table),
                                     cmocka_unit_test(corrections_move_figures_alone),
                                     cmocka_unit_test(shipped_trees_are_nearer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
