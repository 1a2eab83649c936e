// SPDX-License-Identifier: Apache-2.0
// The model of the machine: statistics of the judge, samples, what a prediction must obey, and agreement with engine
// cycle on a few samples (`weft bench model` has many).
#include "search/model/machine.h"

#include <math.h>

#include "base/test.h"
#include "runner/measure.h"
#include "search/model/fit_all.h"
#include "search/model/judge.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

// ---- the judge

static void verdicts_by_hand(void **state) {
  (void)state;
  const judge_pair pairs[] = {{10, 10}, {22, 20}, {30, 40}, {80, 80}};
  const judge_verdict v = judge_pairs(pairs, 4);
  assert_int_equal(v.count, 4);
  assert_true(near(v.mean, (0 + 0.1 + 0.25 + 0) / 4) && near(v.max, 0.25) && near(v.p90, 0.25) && near(v.median, 0.1));
  assert_true(near(v.bias, (log(1.1) + log(0.75)) / 4) && near(v.spearman, 1));
  assert_true(v.pearson > 0.98 && v.pearson < 1);
  // Proportional predictions correlate fully; ties share their rank.
  const judge_pair scaled[] = {{2, 1}, {4, 2}, {4, 2}, {16, 8}};
  assert_true(near(judge_pairs(scaled, 4).pearson, 1) && near(judge_pairs(scaled, 4).spearman, 1));
  const judge_pair reversed[] = {{3, 1}, {2, 2}, {1, 3}};
  assert_true(near(judge_pairs(reversed, 3).spearman, -1));
  assert_int_equal(judge_pairs(pairs, 0).count, 0);
}

// ---- samples

static void open_samples(samples_source *source, samples_set set, uint64_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(samples_open(source, set, seed, &diag));
}

static void samples_are_legal_and_repeat(void **state) {
  (void)state;
  samples_source a, b;
  for (int set = 0; set < 2; set++) {
    open_samples(&a, (samples_set)set, 5);
    open_samples(&b, (samples_set)set, 5);
    for (int i = 0; i < 40; i++) {
      samples_sample x, y;
      samples_draw(&a, &x);
      samples_draw(&b, &y);
      assert_true(map_check(&x.layer, &x.mapping, &x.array, NULL) && map_equal(&x.mapping, &y.mapping));
      assert_true(map_layer_hash(&x.layer) == map_layer_hash(&y.layer));
      assert_true(hw_array_hash(&x.array) == hw_array_hash(&y.array));
      const double dim = hw_derive(&x.array).dim, ideal = (double)map_macs(&x.layer) / (dim * dim);
      assert_true(ideal >= SAMPLES_SHORTEST && ideal <= SAMPLES_LONGEST);
    }
    samples_close(&a);
    samples_close(&b);
  }
}

// ---- predictions

static map_layer product(int64_t m, int64_t n, int64_t k) {
  return (map_layer){.kind = MAP_GEMM, .size = {1, m, 1, n, k, 1, 1}, .result_bytes = 1, .groups = 1};
}

static map_mapping default_mapping(const map_layer *layer, const hw_array *array) {
  map_mapping m;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(map_default(layer, array, NULL, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  return m;
}

// Good mappings of large products come near the ideal and never below.
static void large_products_are_bound_by_the_mesh(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  for (int64_t size = 256; size <= 1024; size *= 2) {
    const map_layer layer = product(size, size, size);
    const map_mapping m = default_mapping(&layer, &array);
    const machine_prediction p = machine_predict(&layer, &m, &array, &cost_fitted);
    const double ideal = (double)map_macs(&layer) / 256;
    assert_true(p.cycles > ideal && p.cycles < 1.25 * ideal && p.bound == MACHINE_COMPUTE);
  }
}

// The walk jumps over iterations that go on alike: N times as many take N times as long.
static void long_loops_are_extrapolated(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  array.memory.model = HW_MEMORY_FIXED;  // main memory holds nothing up, whether the results fit the L2 or not
  array.memory.bytes_per_cycle = 1024;
  const map_layer layer = product(16 * 64, 64, 64), longer = product(16 * 6400, 64, 64);
  map_mapping m = default_mapping(&layer, &array);
  for (int d = 0; d < BLOCK_DIMS; d++) m.sp[d] = m.dram[d] = 1;
  m.tile[BLOCK_DIM_P] = 16;
  m.tile[BLOCK_DIM_K] = m.tile[BLOCK_DIM_C] = 64;
  m.dram[BLOCK_DIM_P] = 64;
  m.residency[MAP_WEIGHTS] = 0;
  m.residency[MAP_INPUTS] = MAP_POSITIONS;
  assert_true(map_check(&layer, &m, &array, NULL));
  const double one = machine_predict(&layer, &m, &array, &cost_fitted).cycles - cost_fitted.front_cycles;
  m.dram[BLOCK_DIM_P] = 6400;
  const double hundred = machine_predict(&longer, &m, &array, &cost_fitted).cycles - cost_fitted.front_cycles;
  assert_true(hundred > 90 * one && hundred < 105 * one);
}

static run_measured measured(const map_layer *layer, const map_mapping *m, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  const run_measured r =
      run_measure(&(run_measure_request){.layer = layer, .array = array, .policy = {.mapping = m}}, &diag);
  assert_int_equal(r.status, RUN_MEASURE_GOOD);
  return r;
}

// Where the accumulator has no room for tiles stores are as narrow as the array, and take many more bytes of the bus.
static void stores_without_tiles_are_narrow(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  const map_layer layer = {.kind = MAP_CONV, .size = {1, 18, 14, 120, 16, 1, 1}, .result_bytes = 1, .groups = 1};
  map_mapping m = default_mapping(&layer, &array);
  for (int d = 0; d < BLOCK_DIMS; d++) m.tile[d] = layer.size[d], m.sp[d] = m.dram[d] = 1;
  m.depth[MAP_RESULTS] = 1;
  double bytes[2];
  for (int wide = 0; wide < 2; wide++) {  // 9 x 14 rows of 8 blocks fit 1,024 rows, 9 x 16 do not
    m.tile[BLOCK_DIM_P] = wide ? 6 : 9;
    m.dram[BLOCK_DIM_P] = wide ? 3 : 2;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(map_check(&layer, &m, &array, &diag));
    const run_measured r = measured(&layer, &m, &array);
    bytes[wide] = machine_predict(&layer, &m, &array, &cost_fitted).bus_bytes;
    assert_true(fabs(bytes[wide] / (double)(r.read_bytes + r.written_bytes) - 1) < 0.1);
  }
  assert_true(bytes[0] > 1.2 * bytes[1]);
}

static void other_layers_are_not_known(void **state) {
  (void)state;
  map_layer layer = product(8, 8, 8);
  assert_true(machine_knows(&layer));
  layer.residual = 1;
  assert_false(machine_knows(&layer));
  layer = product(8, 8, 8);
  layer.groups = 2;
  assert_false(machine_knows(&layer));
  layer = product(8, 8, 8);
  layer.kind = MAP_DEPTHWISE;
  assert_false(machine_knows(&layer));
  layer.kind = MAP_CONV;
  assert_true(machine_knows(&layer));
  layer.pool_stride = 2;
  assert_false(machine_knows(&layer));
}

// Less of anything is never faster, but for the compiler's choice of an order, which depends on the memory's speed.
static void poorer_arrays_are_not_faster(void **state) {
  (void)state;
  samples_source source;
  open_samples(&source, SAMPLES_FIT, 9);
  for (int i = 0; i < 60; i++) {
    samples_sample s;
    samples_draw(&source, &s);
    const double cycles = machine_predict(&s.layer, &s.mapping, &s.array, &cost_fitted).cycles;
    assert_true(isfinite(cycles) && cycles > 0);
    hw_array slow = s.array;
    slow.memory.bytes_per_cycle = 1;
    assert_true(machine_predict(&s.layer, &s.mapping, &slow, &cost_fitted).cycles >= 0.95 * cycles);
    slow = s.array;
    slow.l2.hit_latency += 100;
    assert_true(machine_predict(&s.layer, &s.mapping, &slow, &cost_fitted).cycles >= 0.95 * cycles);
  }
  samples_close(&source);
}

// ---- the fit

enum { FITTED = 24 };

// Samples that the judge itself has run, with some constants moved: the fit moves towards them.
static void comes_closer(cost_judge judge, const cost_constants *truth) {
  static fit_sample samples[FITTED];
  const fit_set set = {.samples = samples, .count = FITTED};
  samples_source source;
  open_samples(&source, SAMPLES_FIT, 3);
  for (int i = 0; i < FITTED; i += SAMPLES_GROUP) {
    samples_sample group[SAMPLES_GROUP];
    if (judge == COST_ESTIMATE) samples_draw_group(&source, group);
    for (int j = 0; j < SAMPLES_GROUP; j++) {
      if (judge == COST_MODEL) samples_draw(&source, &group[j]);
      const samples_sample *s = &group[j];
      const map_footprint f = map_measure(&s->layer, &s->mapping, &s->array);
      samples[i + j].sample = *s;
      samples[i + j].cycles = judge == COST_MODEL
                                  ? machine_predict(&s->layer, &s->mapping, &s->array, truth).cycles
                                  : map_estimate(&s->layer, &s->mapping, &s->array, &f, truth, INFINITY);
    }
  }
  samples_close(&source);
  cost_constants found = cost_fitted;
  bool matters[COST_CONSTANTS];
  const double before = fit_loss(judge, &set, &found), after = fit_constants(judge, &set, 4, &found, matters);
  assert_true(fit_loss(judge, &set, truth) < 1e-12);
  assert_true(before > 0 && after < 0.5 * before && after == fit_loss(judge, &set, &found));
  for (size_t i = 0; i < COST_CONSTANTS; i++) {
    const double start = cost_value(&cost_fitted, i), there = cost_value(truth, i), here = cost_value(&found, i);
    if (cost_numbers[i].judge != judge) assert_true(here == start && !matters[i]);
    if (there != start) assert_true(matters[i] && fabs(log(here / there)) < 0.75 * fabs(log(start / there)));
  }
}

static void fitting_comes_closer_to_moved_constants(void **state) {
  (void)state;
  cost_constants truth = cost_fitted;
  truth.miss_line *= 1.5;
  truth.load_latency *= 1.5;
  comes_closer(COST_MODEL, &truth);
  truth = cost_fitted;
  truth.row_cycles *= 2;
  truth.switch_cycles *= 2;
  comes_closer(COST_ESTIMATE, &truth);
}

// What the order costs is what the simulator says: this one likes short leads.
static double lead_of(const samples_sample *sample, const cost_constants *constants) {
  return (double)map_macs(&sample->layer) * (1 + fabs(log(constants->lead_cycles / 200)));
}

static void orders_are_simulated(void **state) {
  (void)state;
  fit_sample samples[SAMPLES_GROUP];
  samples_sample group[SAMPLES_GROUP];
  samples_source source;
  open_samples(&source, SAMPLES_FIT, 3);
  samples_draw_group(&source, group);
  samples_close(&source);
  for (int i = 0; i < SAMPLES_GROUP; i++) {
    assert_true(map_check(&group[i].layer, &group[i].mapping, &group[i].array, NULL));
    samples[i] = (fit_sample){group[i], lead_of(&group[i], &cost_fitted)};
  }
  const fit_set set = {.samples = samples, .count = SAMPLES_GROUP, .simulate = lead_of};
  cost_constants found = cost_fitted;
  assert_true(fit_loss(COST_ORDER, &set, &found) == 0 && fit_constants(COST_ORDER, &set, 4, &found, NULL) < -0.2);
  assert_true(found.lead_cycles > 150 && found.lead_cycles < 260 && found.lag_cycles == cost_fitted.lag_cycles);
}

// All judges, with a simulator that knows nothing but the size of a layer.
static void all_constants_are_fitted(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const fit_options options = {.samples = 8, .seed = 5, .rounds = 1, .simulate = lead_of};
  fit_result result;
  assert_true(fit_all(&options, &result, &diag));
  for (int j = COST_GIVEN + 1; j < COST_JUDGES; j++) {
    const fit_verdict *v = &result.verdicts[j];
    assert_true(v->count >= 8 && v->held_count >= 2 && v->fitted[1] <= v->fitted[0]);
  }
  assert_true(result.constants.lead_cycles < cost_fitted.lead_cycles && result.matters[COST_CONSTANT_lead_cycles]);
  assert_true(!result.matters[COST_CONSTANT_window_tile] && !result.matters[COST_CONSTANT_lag_cycles]);
  // As many lines as constants, and one for each judge.
  FILE *out = tmpfile();
  fit_print(&result, out);
  rewind(out);
  int lines = 0;
  for (int c; (c = fgetc(out)) != EOF;) lines += c == '\n';
  fclose(out);
  assert_int_equal(lines, COST_CONSTANTS + COST_JUDGES - 1);
}

// ---- against the engine

enum { SIMULATED = 30 };

static void predictions_agree_with_the_engine(void **state) {
  (void)state;
  judge_pair cycles[SIMULATED], energy[SIMULATED];
  samples_source source;
  open_samples(&source, SAMPLES_JUDGE, 4);
  wf_diag diag = wf_diag_to(stderr);
  for (int i = 0; i < SIMULATED; i++) {
    samples_sample s;
    samples_draw(&source, &s);
    const run_measure_request request = {.layer = &s.layer, .array = &s.array, .policy = {.mapping = &s.mapping}};
    const run_measured m = run_measure(&request, &diag);
    assert_int_equal(m.status, RUN_MEASURE_GOOD);
    const machine_prediction p = machine_predict(&s.layer, &s.mapping, &s.array, &cost_fitted);
    cycles[i] = (judge_pair){p.cycles, (double)m.cycles};
    energy[i] = (judge_pair){p.energy_pj, m.array_pj};
  }
  samples_close(&source);
  const judge_verdict c = judge_pairs(cycles, SIMULATED), e = judge_pairs(energy, SIMULATED);
  print_message("cycles: log-Pearson %.4f, mean error %.1f %%; energy: %.4f, %.1f %%\n", c.pearson, 100 * c.mean,
                e.pearson, 100 * e.mean);
  assert_true(c.pearson > 0.97 && c.mean < 0.25);
  assert_true(e.pearson > 0.99 && e.mean < 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verdicts_by_hand),
      cmocka_unit_test(samples_are_legal_and_repeat),
      cmocka_unit_test(large_products_are_bound_by_the_mesh),
      cmocka_unit_test(long_loops_are_extrapolated),
      cmocka_unit_test(stores_without_tiles_are_narrow),
      cmocka_unit_test(other_layers_are_not_known),
      cmocka_unit_test(poorer_arrays_are_not_faster),
      cmocka_unit_test(fitting_comes_closer_to_moved_constants),
      cmocka_unit_test(orders_are_simulated),
      cmocka_unit_test(all_constants_are_fitted),
      cmocka_unit_test(predictions_agree_with_the_engine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
