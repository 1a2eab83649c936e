// SPDX-License-Identifier: Apache-2.0
// The search: results are legal, cost what the scalar model says, are near the proven optima, keep to limits, fixed
// hardware and budgets, and do not depend on the number of threads. Rounding, moves, importance and polishing alone.
#include "search/descent/descent.h"

#include <math.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "search/descent/importance.h"
#include "search/descent/moves.h"
#include "search/descent/polish.h"

static layers_network load(const char *name) {
  layers_network network;
  wf_diag diag = wf_diag_to(stderr);
  char *path = wf_format("%s/%s.yaml", WEFT_LAYERS, name);
  assert_true(layers_load(&network, path, &diag));
  wf_free(path);
  return network;
}

static paper_constants constants(void) {
  paper_constants c;
  assert_true(paper_constants_named(&c, "dosa"));
  return c;
}

static const descent_plain_limits usual = {.side_max = 128, .scratchpad_kib_max = 2048, .accumulator_kib_max = 2048};

// ---- rounding and moves

static void factors_are_rounded_to_divisors(void **state) {
  (void)state;
  const layers_layer layer = {.size = {1, 56, 35, 96, 2048, 3, 1}, .stride = {1, 1}, .count = 1};
  uint64_t seed = 1;
  for (int n = 0; n < 2000; n++) {
    double inside[BLOCK_DIMS], spatial[BLOCK_DIMS];
    for (int d = 0; d < BLOCK_DIMS; d++) {
      inside[d] = wf_random_unit(&seed) * log((double)layer.size[d]);
      spatial[d] = wf_random_unit(&seed) * (log((double)layer.size[d]) - inside[d]);
    }
    paper_mapping m = paper_mapping_start(&layer);
    descent_moves_round(&layer, inside, spatial, 16, &m);
    assert_true(paper_mapping_legal(&layer, &m) && m.rows <= 16 && m.columns <= 16);
  }
  double inside[BLOCK_DIMS] = {[BLOCK_DIM_P] = log(9), [BLOCK_DIM_C] = log(30)};
  const double spatial[BLOCK_DIMS] = {[BLOCK_DIM_C] = log(15), [BLOCK_DIM_K] = log(90)};
  paper_mapping m = paper_mapping_start(&layer);
  descent_moves_round(&layer, inside, spatial, 128, &m);
  assert_true(m.temporal[PAPER_ACCUMULATOR][BLOCK_DIM_P] == 8 && m.temporal[PAPER_DRAM][BLOCK_DIM_P] == 7);
  assert_true(m.temporal[PAPER_ACCUMULATOR][BLOCK_DIM_C] == 32 && m.rows == 16 && m.columns == 96);
}

static void moves_lead_everywhere_and_back(void **state) {
  (void)state;
  const layers_layer layer = {.size = {2, 12, 7, 20, 18, 3, 1}, .stride = {1, 1}, .count = 1};
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(&layer, moves);
  // Two directions between two places, six between three: N, P (2 and 3), Q, R have two, K (2, 5) and C (2, 3) three.
  assert_int_equal(count, 5 * 2 + 4 * 6);
  uint64_t seed = 2;
  paper_mapping m = paper_mapping_start(&layer);
  for (int n = 0; n < 5000; n++) {
    const descent_moves_move *move = &moves[wf_random_below(&seed, count)];
    if (!descent_moves_allowed(&m, move)) continue;
    const paper_mapping before = m;
    descent_moves_apply(&m, move);
    assert_true(paper_mapping_legal(&layer, &m));
    paper_mapping undone = m;
    const descent_moves_move back = descent_moves_back(*move);
    assert_true(descent_moves_allowed(&undone, &back));
    descent_moves_apply(&undone, &back);
    assert_memory_equal(undone.temporal, before.temporal, sizeof before.temporal);
  }
}

// ---- importance

static void effort_goes_where_it_pays(void **state) {
  (void)state;
  layers_layer layers[3] = {{.size = {1, 8, 8, 8, 8, 1, 1}, .stride = {1, 1}, .count = 1},
                            {.size = {1, 8, 8, 8, 8, 1, 1}, .stride = {1, 1}, .count = 5},
                            {.size = {1, 8, 8, 8, 8, 3, 3}, .stride = {1, 1}, .count = 1}};
  const layers_network network = {.layers = layers, .count = 3};
  descent_importance_options options = IMPORTANCE_DEFAULTS;
  options.patience = 2;
  descent_importance *m = descent_importance_create(&network, options);
  for (size_t i = 0; i < 3; i++) descent_importance_set(m, i, 1);
  assert_int_equal(descent_importance_pick(m), 1);  // it occurs five times
  descent_importance_set(m, 2, 50);                 // costs more than all of them
  assert_int_equal(descent_importance_pick(m), 2);
  descent_importance_spent(m, 2, 50);  // no gain
  const double once = descent_importance_of(m, 2);
  assert_true(once > 0);
  descent_importance_spent(m, 2, 50);  // twice no gain: given up
  assert_true(descent_importance_of(m, 2) == 0);
  assert_int_equal(descent_importance_pick(m), 1);
  descent_importance_revive(m);
  assert_true(descent_importance_of(m, 2) > 0 && descent_importance_of(m, 2) < once);
  // Of two layers with equal effort, the one that gained just now is worth more.
  descent_importance_set(m, 0, 1);
  descent_importance_spent(m, 0, 0.9);
  const double gained = descent_importance_of(m, 0);
  descent_importance_spent(m, 0, 0.9);
  assert_true(descent_importance_of(m, 0) < gained);
  descent_importance_destroy(m);
}

static void a_similar_layer_limits_the_hope(void **state) {
  (void)state;
  // Equal work; the first costs ten times as much as the second, so there is much to win, and for the second little.
  layers_layer layers[2] = {{.size = {1, 8, 8, 8, 8, 1, 1}, .stride = {1, 1}, .count = 1},
                            {.size = {1, 8, 8, 8, 8, 1, 1}, .stride = {1, 1}, .count = 1}};
  const layers_network network = {.layers = layers, .count = 2};
  descent_importance *m = descent_importance_create(&network, IMPORTANCE_DEFAULTS);
  for (int n = 0; n < 2; n++) {
    descent_importance_set(m, 0, 10);
    descent_importance_set(m, 1, 1);
  }
  // alpha 0, beta 2: min(-10 / 1, 2 - 10) and min(-1, 2 - 1)
  assert_true(fabs(descent_importance_of(m, 0) - 0.8 * 10) < 1e-12);
  assert_true(fabs(descent_importance_of(m, 1) - 0.8 * 1) < 1e-12);
  for (int n = 0; n < 2; n++) descent_importance_spent(m, 0, 10 - 1e-3 * (n + 1));
  // After two efforts hope is 10 / 3, but the similar layer says 8 are there to win.
  assert_true(descent_importance_of(m, 0) > 0.79 * 8);
  descent_importance_destroy(m);
}

// ---- the state and polishing

static void trying_equals_computing_again(void **state) {
  (void)state;
  layers_network bert = load("bert");
  const paper_constants c = constants();
  const descent_goal goal = {.network = &bert, .constants = &c, .limits = usual};
  descent_state *s = descent_state_create(&goal), *again = descent_state_create(&goal);
  uint64_t seed = 3;
  for (size_t n = 0; n < 3000; n++) {
    const size_t layer = wf_random_below(&seed, bert.count);
    descent_moves_move moves[MOVES_MAX];
    const descent_moves_move *move = &moves[wf_random_below(&seed, descent_moves_of(&bert.layers[layer], moves))];
    paper_mapping m = s->layers[layer].mapping;
    if (!descent_moves_allowed(&m, move)) continue;
    descent_moves_apply(&m, move);
    const descent_others others = descent_others_of(s, layer);
    descent_layer candidate;
    const double value = descent_try(s, &others, &m, &candidate);
    descent_state_copy(again, s);
    again->layers[layer].mapping = m;
    descent_state_refresh(again);
    if (!isfinite(value)) {
      assert_true(!isfinite(again->value));
      continue;
    }
    assert_true(fabs(value / again->value - 1) < 1e-12);
    descent_accept(s, &others, &candidate);
    assert_true(fabs(s->value / again->value - 1) < 1e-12);
  }
  descent_state_destroy(s);
  descent_state_destroy(again);
  layers_release(&bert);
}

static bool has_better_move(descent_state *s) {
  for (size_t i = 0; i < s->goal.network->count; i++) {
    const descent_others others = descent_others_of(s, i);
    descent_moves_move moves[MOVES_MAX];
    const size_t count = descent_moves_of(&s->goal.network->layers[i], moves);
    for (size_t n = 0; n < count; n++)
      for (int o = 0; o < PAPER_ORDERS; o++) {
        paper_mapping m = s->layers[i].mapping;
        descent_layer candidate;
        if (!descent_moves_allowed(&m, &moves[n])) continue;
        descent_moves_apply(&m, &moves[n]);
        paper_set_order(&m, (paper_order)o);
        if (descent_try(s, &others, &m, &candidate) < s->value * (1 - 1e-8)) return true;
      }
  }
  return false;
}

static void polishing_ends_where_no_move_gains(void **state) {
  (void)state;
  layers_network resnet = load("resnet50");
  const paper_constants c = constants();
  for (int by_importance = 0; by_importance < 2; by_importance++) {
    const descent_goal goal = {.network = &resnet, .constants = &c, .limits = usual};
    descent_state *s = descent_state_create(&goal);
    const double before = s->value;
    const descent_polish_effort effort = {.importance = by_importance};
    assert_true(has_better_move(s));
    descent_polish_layers(s, &effort);
    assert_true(s->value < before);
    assert_true(!has_better_move(s));
    descent_state_destroy(s);
  }
  layers_release(&resnet);
}

static void fitting_obeys_the_hardware(void **state) {
  (void)state;
  layers_network resnet = load("resnet50");
  const paper_constants c = constants();
  descent_goal goal = {.network = &resnet, .constants = &c, .limits = usual};
  descent_state *s = descent_state_create(&goal);
  const descent_polish_effort effort = {0};
  descent_polish_layers(s, &effort);
  assert_true(s->hardware.side > 16 && s->hardware.scratchpad_kib > 16);
  s->goal.limits = (descent_plain_limits){.side_fixed = 16, .scratchpad_kib_fixed = 16, .accumulator_kib_max = 8};
  descent_state_resize(s);
  assert_true(!isfinite(s->value));
  assert_true(descent_polish_fit(s));
  assert_true(isfinite(s->value) && s->hardware.side == 16 && s->hardware.scratchpad_kib == 16);
  assert_true(s->hardware.accumulator_kib <= 8);
  descent_state_destroy(s);
  layers_release(&resnet);
}

// ---- the search

static void check_result(const descent_options *o, const descent_result *r) {
  const layers_network *network = o->goal.network;
  paper_need most = {0};
  for (size_t i = 0; i < network->count; i++) {
    assert_true(paper_mapping_legal(&network->layers[i], &r->mappings[i]));
    const paper_need need = paper_need_of(&network->layers[i], &r->mappings[i]);
    assert_true(paper_fits(&need, &r->hardware));
    most.side = fmax(most.side, need.side);
    most.scratchpad_words = fmax(most.scratchpad_words, need.scratchpad_words);
    most.column_words = fmax(most.column_words, need.column_words);
  }
  const descent_plain_limits *l = &o->goal.limits;
  const paper_hardware minimal = paper_minimal_hardware(&most, 1);
  assert_true(r->hardware.side == (l->side_fixed > 0 ? l->side_fixed : minimal.side));
  assert_true(r->hardware.scratchpad_kib ==
              (l->scratchpad_kib_fixed > 0 ? l->scratchpad_kib_fixed : minimal.scratchpad_kib));
  paper_cost cost = paper_network(network, r->mappings, &r->hardware, o->goal.constants);
  cost.cycles += o->goal.rest.cycles;
  cost.energy_uj += o->goal.rest.energy_uj;
  assert_true(fabs(cost.cycles / r->cost.cycles - 1) < 1e-12 && fabs(cost.energy_uj / r->cost.energy_uj - 1) < 1e-12);
  assert_true(fabs(r->value / descent_goal_value(&o->goal, &r->hardware, cost) - 1) < 1e-12);
  assert_true(r->value <= r->rounded);
}

// Of the proven optima of this space (docs/search-model.md): the gap may be 1 %.
static void the_optimum_is_near(const char *name, double optimum) {
  layers_network network = load(name);
  const paper_constants c = constants();
  const descent_options options = {.goal = {.network = &network, .constants = &c, .limits = usual}, .seed = 1};
  descent_result r;
  assert_true(descent_search(&options, &r));
  check_result(&options, &r);
  print_message("%s: %.4e, optimum %.3e, %.2f s\n", name, r.value, optimum, r.seconds);
  assert_true(r.value < 1.01 * optimum && r.value > 0.9999 * optimum);
  assert_true(r.gradients > 10000 && r.evaluations > 10000);
  descent_release(&r);
  layers_release(&network);
}

// What is no layer counts: where it takes most of the cycles, those of layers are worth less than their energy.
static void the_rest_counts(void **state) {
  (void)state;
  layers_network network = load("bert");
  const paper_constants c = constants();
  descent_options options = {.goal = {.network = &network, .constants = &c, .limits = usual}, .seed = 1};
  descent_result without, with;
  assert_true(descent_search(&options, &without));
  options.goal.rest = (paper_cost){.cycles = 3e6};
  assert_true(descent_search(&options, &with));
  check_result(&options, &with);
  without.cost.cycles += options.goal.rest.cycles;
  assert_true(with.value < 1.01 * paper_edp(without.cost) && with.cost.energy_uj < 1.01 * without.cost.energy_uj);
  descent_release(&without);
  descent_release(&with);
  layers_release(&network);
}

static void networks_come_near_their_optima(void **state) {
  (void)state;
  the_optimum_is_near("bert", 1.5068e9);
  the_optimum_is_near("resnet50", 6.2878e10);
  the_optimum_is_near("retinanet", 2.0480e10);
}

static void threads_do_not_matter(void **state) {
  (void)state;
  layers_network network = load("bert");
  const paper_constants c = constants();
  descent_options options = {
      .goal = {.network = &network, .constants = &c, .limits = usual}, .seed = 5, .starts = 70, .threads = 1};
  descent_result one, many;
  assert_true(descent_search(&options, &one));
  options.threads = 3;
  assert_true(descent_search(&options, &many));
  assert_true(one.value == many.value && one.evaluations == many.evaluations && one.gradients == many.gradients);
  assert_memory_equal(&one.hardware, &many.hardware, sizeof one.hardware);
  descent_release(&one);
  descent_release(&many);
  layers_release(&network);
}

static void limits_are_kept(void **state) {
  (void)state;
  layers_network network = load("bert");
  const paper_constants c = constants();
  for (int objective = 0; objective < PLAIN_OBJECTIVES; objective++) {
    descent_options options = {
        .goal = {.network = &network,
                 .constants = &c,
                 .objective = (descent_plain_objective)objective,
                 .limits = {.side_fixed = 16, .scratchpad_kib_fixed = 128, .accumulator_kib_max = 32}}};
    descent_result fixed, wide;
    assert_true(descent_search(&options, &fixed));
    check_result(&options, &fixed);
    assert_true(fixed.hardware.accumulator_kib <= 32);
    options.goal.limits = usual;
    assert_true(descent_search(&options, &wide));
    check_result(&options, &wide);
    assert_true(wide.value < fixed.value);
    descent_release(&fixed);
    descent_release(&wide);
  }
  layers_release(&network);
}

static descent_result searched(const descent_options *options) {
  descent_result r;
  assert_true(descent_search(options, &r));
  check_result(options, &r);
  return r;
}

static void area_and_power_stay_within_bounds(void **state) {
  (void)state;
  layers_network network = load("bert");
  const paper_constants c = constants();
  const descent_plain_silicon silicon = PLAIN_SILICON_DEFAULTS;
  descent_options options = {.goal = {.network = &network, .constants = &c, .limits = usual}};
  descent_result free_of_bounds = searched(&options);
  const double area = descent_plain_area_mm2(&silicon, &free_of_bounds.hardware);
  const double power = descent_plain_power_mw(&silicon, free_of_bounds.cost);
  options.goal.area_mm2_max = area / 3;
  descent_result small = searched(&options);
  assert_true(descent_plain_area_mm2(&silicon, &small.hardware) <= area / 3 * (1 + 1e-9));
  assert_true(small.value > free_of_bounds.value);
  options.goal.area_mm2_max = 0;
  options.goal.power_mw_max = power / 2;
  descent_result cool = searched(&options);
  assert_true(descent_plain_power_mw(&silicon, cool.cost) <= power / 2 * (1 + 1e-9));
  assert_true(cool.value > free_of_bounds.value);
  options.goal.power_mw_max = 1e-3;
  descent_result none;
  assert_true(!descent_search(&options, &none));
  descent_release(&free_of_bounds);
  descent_release(&small);
  descent_release(&cool);
  layers_release(&network);
}

static bool next_permutation(uint8_t order[BLOCK_DIMS]) {
  int i = BLOCK_DIMS - 2, k = BLOCK_DIMS - 1;
  while (i >= 0 && order[i] >= order[i + 1]) i--;
  if (i < 0) return false;
  while (order[k] <= order[i]) k--;
  const uint8_t swap = order[i];
  order[i] = order[k];
  order[k] = swap;
  for (int a = i + 1, b = BLOCK_DIMS - 1; a < b; a++, b--) {
    const uint8_t other = order[a];
    order[a] = order[b];
    order[b] = other;
  }
  return true;
}

// Three orders of the loops at main memory are searched; of all 5,040 none makes a layer of the result better.
static void other_orders_gain_nothing(void **state) {
  (void)state;
  static const char *const names[] = {"resnet50", "bert"};
  const paper_constants c = constants();
  for (size_t n = 0; n < 2; n++) {
    layers_network network = load(names[n]);
    const descent_options options = {.goal = {.network = &network, .constants = &c, .limits = usual}};
    descent_result r = searched(&options);
    for (size_t i = 0; i < network.count; i++) {
      const paper_cost found = paper_evaluate(&network.layers[i], &r.mappings[i], &r.hardware, &c);
      paper_mapping m = r.mappings[i];
      for (uint8_t d = 0; d < BLOCK_DIMS; d++) m.order[PAPER_DRAM][d] = d;
      do {
        const paper_cost other = paper_evaluate(&network.layers[i], &m, &r.hardware, &c);
        const double cycles = (other.cycles - found.cycles) / r.cost.cycles;
        const double energy = (other.energy_uj - found.energy_uj) / r.cost.energy_uj;
        assert_true(cycles + energy > -1e-9);
      } while (next_permutation(m.order[PAPER_DRAM]));
    }
    descent_release(&r);
    layers_release(&network);
  }
}

static void budgets_are_kept(void **state) {
  (void)state;
  layers_network network = load("bert");
  const paper_constants c = constants();
  static const uint64_t budgets[] = {2000, 10000, 100000};
  double before = INFINITY;
  for (size_t n = 0; n < 3; n++) {
    const descent_options options = {.goal = {.network = &network, .constants = &c, .limits = usual},
                                     .max_evaluations = budgets[n]};
    descent_result r;
    assert_true(descent_search(&options, &r));
    check_result(&options, &r);
    assert_in_range(r.gradients + r.evaluations, budgets[n] / 4, budgets[n] + budgets[n] / 5);
    assert_true(r.value < before * 1.05);
    before = r.value;
    descent_release(&r);
  }
  layers_release(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_are_rounded_to_divisors),
      cmocka_unit_test(moves_lead_everywhere_and_back),
      cmocka_unit_test(effort_goes_where_it_pays),
      cmocka_unit_test(a_similar_layer_limits_the_hope),
      cmocka_unit_test(trying_equals_computing_again),
      cmocka_unit_test(polishing_ends_where_no_move_gains),
      cmocka_unit_test(fitting_obeys_the_hardware),
      cmocka_unit_test(the_rest_counts),
      cmocka_unit_test(networks_come_near_their_optima),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(limits_are_kept),
      cmocka_unit_test(area_and_power_stay_within_bounds),
      cmocka_unit_test(other_orders_gain_nothing),
      cmocka_unit_test(budgets_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
