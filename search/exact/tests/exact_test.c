// SPDX-License-Identifier: Apache-2.0
// The exact solver against trying everything on small networks, and against the optima of the literature's networks.
#include "search/exact/exact.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"

static paper_constants constants(const char *name) {
  paper_constants c;
  assert_true(paper_constants_named(&c, name));
  return c;
}

// ---- trying everything

// What all mappings of a layer cost that fit a hardware: the points that no other one beats.
typedef struct front {
  paper_cost *costs;
  size_t count, room;
} front;

static void offer(front *f, paper_cost cost) {
  for (size_t i = 0; i < f->count; i++)
    if (f->costs[i].cycles <= cost.cycles && f->costs[i].energy_uj <= cost.energy_uj) return;
  size_t kept = 0;
  for (size_t i = 0; i < f->count; i++)
    if (f->costs[i].cycles < cost.cycles || f->costs[i].energy_uj < cost.energy_uj) f->costs[kept++] = f->costs[i];
  f->count = kept;
  if (f->count == f->room) f->costs = wf_realloc(f->costs, f->room = 2 * f->room + 16, sizeof *f->costs);
  f->costs[f->count++] = cost;
}

typedef struct everything {
  const layers_layer *layer;
  const paper_constants *constants;
  const paper_hardware *hardware;
  front *fronts;
  size_t hardware_count;
  size_t tried;
} everything;

static void try_mapping(everything *e, const paper_mapping *m) {
  assert_true(paper_mapping_legal(e->layer, m));
  const paper_need need = paper_need_of(e->layer, m);
  const paper_traffic traffic = paper_traffic_of(e->layer, m);
  e->tried++;
  for (size_t i = 0; i < e->hardware_count; i++)
    if (paper_fits(&need, &e->hardware[i]))
      offer(&e->fronts[i], paper_cost_of(&traffic, &e->hardware[i], e->constants));
}

static void try_orders(everything *e, paper_mapping *m) {
  for (int order = 0; order < PAPER_ORDERS; order++) {
    paper_set_order(m, (paper_order)order);
    try_mapping(e, m);
  }
}

// Three factors of each dimension: spatial or in the registers (1 for dimensions that have neither), accumulator, the
// rest.
static void try_factors(everything *e, paper_mapping *m, int d) {
  if (d == BLOCK_DIMS) {
    try_orders(e, m);
    return;
  }
  double none = 1;
  double *first = d == BLOCK_DIM_C                       ? &m->rows
                  : d == BLOCK_DIM_K                     ? &m->columns
                  : d == BLOCK_DIM_P || d == BLOCK_DIM_Q ? &m->temporal[PAPER_REGISTERS][d]
                                                         : &none;
  const int64_t size = e->layer->size[d];
  for (int64_t a = 1; a <= (first == &none ? 1 : size); a++)
    for (int64_t b = 1; size % a == 0 && b <= size / a; b++) {
      if (size / a % b != 0) continue;
      *first = (double)a;
      m->temporal[PAPER_ACCUMULATOR][d] = (double)b;
      m->temporal[PAPER_DRAM][d] = (double)(size / a / b);
      try_factors(e, m, d + 1);
    }
}

enum { LAYERS_MAX = 2, SIDE_MAX = 6, KIB_MAX = 5, POINTS = SIDE_MAX / 2 * KIB_MAX * KIB_MAX };

static double best_of(const layers_network *n, const paper_constants *c) {
  paper_hardware hardware[POINTS];
  front fronts[LAYERS_MAX][POINTS] = {0};
  for (int i = 0; i < POINTS; i++)
    hardware[i] = (paper_hardware){2 + 2 * (i / (KIB_MAX * KIB_MAX)), 1 + i / KIB_MAX % KIB_MAX, 1 + i % KIB_MAX};
  for (size_t l = 0; l < n->count; l++) {
    everything e = {&n->layers[l], c, hardware, fronts[l], POINTS, 0};
    paper_mapping m = paper_mapping_start(e.layer);
    try_factors(&e, &m, 0);
    assert_true(e.tried > 500);
  }
  double best = INFINITY;
  for (int i = 0; i < POINTS; i++) {
    const double x = (double)n->layers[0].count, y = (double)n->layers[1].count;
    for (size_t a = 0; a < fronts[0][i].count; a++)
      for (size_t b = 0; b < fronts[1][i].count; b++) {
        const paper_cost p = fronts[0][i].costs[a], q = fronts[1][i].costs[b];
        best = fmin(best, (x * p.cycles + y * q.cycles) * (x * p.energy_uj + y * q.energy_uj));
      }
    for (size_t l = 0; l < n->count; l++) wf_free(fronts[l][i].costs);
  }
  return best;
}

// Of layers that need several KiB, in which accumulator, scratchpad and array all matter.
static void nothing_is_better_than_the_optimum(void **state) {
  (void)state;
  layers_layer layers[][LAYERS_MAX] = {
      {{.name = "a", .size = {1, 16, 1, 24, 48, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1},
       {.name = "b", .size = {1, 64, 1, 8, 36, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 3}},
      {{.name = "c", .size = {1, 14, 14, 6, 4, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .count = 2},
       {.name = "d", .size = {1, 9, 9, 12, 6, 1, 3}, .stride = {2, 2}, .dilation = {1, 1}, .count = 1}},
      {{.name = "e", .size = {2, 1, 30, 5, 7, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1},
       {.name = "f", .size = {1, 6, 10, 30, 20, 3, 1}, .stride = {1, 2}, .dilation = {1, 1}, .count = 1}},
  };
  static const char *const tables[] = {"dosa", "40nm", "dosa"};
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    const layers_network n = {.name = "small", .layers = layers[i], .count = LAYERS_MAX};
    const paper_constants c = constants(tables[i]);
    const exact_options options = {.constants = &c, .side_max = SIDE_MAX, .kib_max = KIB_MAX};
    exact_result r;
    assert_true(exact_solve(&n, &options, &r));
    const double best = best_of(&n, &c);
    if (fabs(paper_edp(r.cost) / best - 1) > 1e-9) fail_msg("%zu: %.9g, not %.9g", i, paper_edp(r.cost), best);
    exact_release(&r);
  }
}

// ---- the literature's networks

static void assert_consistent(const layers_network *n, const exact_result *r, const paper_constants *c) {
  for (size_t l = 0; l < n->count; l++) {
    const paper_need need = paper_need_of(&n->layers[l], &r->mappings[l]);
    assert_true(paper_mapping_legal(&n->layers[l], &r->mappings[l]) && paper_fits(&need, &r->hardware));
  }
  const paper_cost cost = paper_network(n, r->mappings, &r->hardware, c);
  assert_true(paper_edp(cost) == paper_edp(r->cost));
}

// Found earlier by sweeping a coarser grid of hardware, so never smaller than the optimum: with any array, and with the
// default side of 16.
static void optima_are_those_of_the_literature(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double edp, edp16;
  } known[] = {{"resnet50", 6.31e10, 2.17e11},
               {"bert", 1.51e9, 5.93e9},
               {"retinanet", 2.06e10, 1.13e11},
               {"unet", 1.12e13, 2.15e14}};
  const paper_constants c = constants("dosa");
  for (size_t i = 0; i < 4; i++) {
    wf_diag diag = wf_diag_to(stderr);
    layers_network n;
    assert_true(layers_load(&n, known[i].name, &diag));
    for (unsigned side = 0; side <= 16; side += 16) {
      const exact_options options = {.constants = &c, .side = side};
      exact_result r;
      assert_true(exact_solve(&n, &options, &r));
      assert_consistent(&n, &r, &c);
      const double ratio = paper_edp(r.cost) / (side == 0 ? known[i].edp : known[i].edp16);
      print_message("%s %g %g %g: %.4e (%.4f)\n", n.name, r.hardware.side, r.hardware.scratchpad_kib,
                    r.hardware.accumulator_kib, paper_edp(r.cost), ratio);
      assert_true(ratio > 0.98 && ratio < 1.005);
      if (side == 0) assert_true(ratio > 0.99);
      exact_release(&r);
    }
    layers_release(&n);
  }
}

static void fixed_hardware_is_kept(void **state) {
  (void)state;
  const paper_constants c = constants("dosa");
  wf_diag diag = wf_diag_to(stderr);
  layers_network n;
  assert_true(layers_load(&n, "bert", &diag));
  exact_options options = {.constants = &c, .side = 16, .scratchpad_kib = 128, .accumulator_kib = 32};
  exact_result fixed, wider;
  assert_true(exact_solve(&n, &options, &fixed));
  assert_consistent(&n, &fixed, &c);
  assert_true(fixed.hardware.side == 16 && fixed.hardware.scratchpad_kib == 128 &&
              fixed.hardware.accumulator_kib == 32);
  options.side = 0;
  assert_true(exact_solve(&n, &options, &wider));
  assert_consistent(&n, &wider, &c);
  assert_true(wider.hardware.accumulator_kib == 32 && paper_edp(wider.cost) < paper_edp(fixed.cost));
  assert_int_equal(wider.sides, EXACT_SIDE_MAX / 2);
  exact_release(&fixed);
  exact_release(&wider);
  // One value is more than nothing: 1 KiB holds the smallest tiles.
  options = (exact_options){.constants = &c, .side = 128, .scratchpad_kib = 1, .accumulator_kib = 1};
  assert_true(exact_solve(&n, &options, &fixed));
  exact_release(&fixed);
  layers_release(&n);
}

static void what_fits_nowhere_is_said(void **state) {
  (void)state;
  const paper_constants c = constants("dosa");
  layers_layer layer = {.name = "a", .size = {1, 1, 1, 4, 4, 1, 41}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  const layers_network n = {.name = "n", .layers = &layer, .count = 1};
  // A column of 1 KiB / 512 rows holds half a word.
  const exact_options options = {.constants = &c, .side = 512, .accumulator_kib = 1};
  exact_result r;
  assert_false(exact_solve(&n, &options, &r));
  assert_null(r.mappings);
  exact_release(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_better_than_the_optimum),
      cmocka_unit_test(optima_are_those_of_the_literature),
      cmocka_unit_test(fixed_hardware_is_kept),
      cmocka_unit_test(what_fits_nowhere_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
