// SPDX-License-Identifier: Apache-2.0
// The baselines: all of them give legal mappings that fit their hardware and cost what they say, keep to the budget,
// and repeat for a seed; none beats the proven optimum; the Gaussian process interpolates.
#include <math.h>

#include "base/random.h"
#include "base/test.h"
#include "search/baselines/gauss.h"
#include "search/baselines/internal.h"
#include "search/exact/exact.h"

static const descent_plain_limits usual = {.side_max = 128, .scratchpad_kib_max = 2048, .accumulator_kib_max = 2048};

typedef struct fixture {
  layers_network network;
  paper_constants constants;
  double optimum;
  baseline_options options;
} fixture;

static fixture set_up(void) {
  fixture f;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(layers_load(&f.network, "bert", &diag));
  assert_true(paper_constants_named(&f.constants, "dosa"));
  const exact_options exact = {.constants = &f.constants};
  exact_result optimum;
  assert_true(exact_solve(&f.network, &exact, &optimum));
  f.optimum = paper_edp(optimum.cost);
  exact_release(&optimum);
  f.options = (baseline_options){.goal = {.limits = usual}, .seed = 1, .max_evaluations = 20000};
  return f;
}

static void check(const fixture *f, baseline_method method, const baseline_result *r) {
  const double value = r->value;
  if (!isfinite(value)) fail_msg("%s found nothing", baseline_names[method]);
  for (size_t i = 0; i < f->network.count; i++) {
    const paper_need need = paper_need_of(&f->network.layers[i], &r->mappings[i]);
    assert_true(paper_mapping_legal(&f->network.layers[i], &r->mappings[i]));
    if (!paper_fits(&need, &r->hardware)) fail_msg("%s: layer %zu does not fit", baseline_names[method], i);
  }
  const paper_cost cost = paper_network(&f->network, r->mappings, &r->hardware, &f->constants);
  assert_true(fabs(paper_edp(cost) / value - 1) < 1e-12);
  if (!(value > f->optimum * (1 - 1e-9))) fail_msg("%s beats the optimum", baseline_names[method]);
  if (r->evaluations > f->options.max_evaluations * 6 / 5)
    fail_msg("%s: %llu evaluations", baseline_names[method], (unsigned long long)r->evaluations);
  assert_true(r->evaluations > 0);
}

static void methods_give_what_they_say(void **state) {
  (void)state;
  fixture f = set_up();
  f.options.goal.network = &f.network;
  f.options.goal.constants = &f.constants;
  double values[BASELINES];
  for (int m = 0; m < BASELINES; m++) {
    baseline_result r, again;
    baseline_run((baseline_method)m, &f.options, &r);
    check(&f, (baseline_method)m, &r);
    baseline_run((baseline_method)m, &f.options, &again);
    assert_true(r.value == again.value && r.evaluations == again.evaluations);
    values[m] = r.value;
    baseline_release(&r);
    baseline_release(&again);
  }
  assert_true(values[BASELINE_default_tuned] < values[BASELINE_default_heuristic]);
  assert_true(values[BASELINE_descent] < values[BASELINE_default_tuned]);
  assert_true(values[BASELINE_descent] < values[BASELINE_random]);
  layers_release(&f.network);
}

static void random_mappings_fit(void **state) {
  (void)state;
  const layers_layer layer = {.size = {2, 56, 30, 64, 48, 3, 3}, .stride = {2, 1}, .dilation = {1, 1}, .count = 1};
  uint64_t rng = 5;
  const descent_goal goal = {.limits = usual};
  unsigned filled = 0;
  for (int n = 0; n < 3000; n++) {
    const paper_hardware h = baseline_random_hardware(&goal, &rng);
    assert_true(h.side >= 2 && h.side <= 128 && h.scratchpad_kib <= 2048 && h.accumulator_kib >= 1);
    paper_mapping m;
    baseline_random_mapping(&layer, &h, &rng, &m);
    paper_need need = paper_need_of(&layer, &m);
    if (h.accumulator_kib * 1024 >= 4 * h.side) assert_true(paper_fits(&need, &h));
    assert_true(paper_mapping_legal(&layer, &m));
    filled += need.scratchpad_words > 0.25 * 1024 * h.scratchpad_kib;
    baseline_greedy_mapping(&layer, &h, &m);
    need = paper_need_of(&layer, &m);
    if (h.accumulator_kib * 1024 >= 4 * h.side) assert_true(paper_fits(&need, &h));
    assert_true(paper_mapping_legal(&layer, &m));
  }
  assert_true(filled > 100);
}

static double hill(double x, double y) { return sin(3 * x) + y * y; }

static void processes_interpolate(void **state) {
  (void)state;
  enum { POINTS = 60 };
  double points[2 * POINTS], values[POINTS], near_error = 0, near_spread = 0;
  uint64_t rng = 9;
  for (int n = 0; n < POINTS; n++) {
    points[2 * n] = 2 * wf_random_unit(&rng);
    points[2 * n + 1] = 2 * wf_random_unit(&rng);
    values[n] = hill(points[2 * n], points[2 * n + 1]);
  }
  baseline_gauss *g = baseline_gauss_fit(points, values, POINTS, 2);
  for (int n = 0; n < 200; n++) {
    const double x[2] = {0.3 + 1.4 * wf_random_unit(&rng), 0.3 + 1.4 * wf_random_unit(&rng)};
    double mean, spread;
    baseline_gauss_predict(g, x, &mean, &spread);
    near_error = fmax(near_error, fabs(mean - hill(x[0], x[1])));
    near_spread = fmax(near_spread, spread);
  }
  const double far[2] = {50, -50};
  double mean, spread;
  baseline_gauss_predict(g, far, &mean, &spread);
  assert_true(near_error < 0.2 && near_spread < 0.5 * spread);
  baseline_gauss_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_give_what_they_say),
      cmocka_unit_test(random_mappings_fit),
      cmocka_unit_test(processes_interpolate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
