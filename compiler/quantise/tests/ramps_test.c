// SPDX-License-Identifier: Apache-2.0
// Sums of ramps: what is a sum of a few ramps is found again, the distance that is said is the one that is there, more
// ramps are never farther, and no single ramp that is tried one by one is nearer than the one that was found.
#include "compiler/quantise/ramps.h"

#include <math.h>

#include "base/random.h"
#include "base/test.h"

enum { VALUES = QUANTISE_RAMPS_VALUES, TRIES = 16 };

static double ramp_at(int slope, int start, int q) { return fmin(INT8_MAX, fmax(0, slope * (q - VALUES / 2) + start)); }

static void even_weights(quantise_ramps_goal *g) {
  for (int q = 0; q < VALUES; q++) g->weight[q] = 1.0 / VALUES;
}

static double distance(const quantise_ramps_goal *g, const quantise_ramps *r) {
  double sum = 0;
  for (int q = 0; q < VALUES; q++) {
    double at = r->offset;
    for (int i = 0; i < r->count; i++) at += r->weights[i] * ramp_at(r->ramps[i].slope, r->ramps[i].start, q);
    sum += g->weight[q] * (at - g->target[q]) * (at - g->target[q]);
  }
  return sum;
}

static void add_up_to(const quantise_ramps_goal *g, int count, double enough, quantise_ramps *r) {
  quantise_ramps_search *s = quantise_ramps_begin(g);
  *r = (quantise_ramps){0};
  for (double before = INFINITY; r->count < count; before = r->left) {
    quantise_ramps_add(s, 1, r);
    assert_true(fabs(distance(g, r) - r->left) <= 1e-3 * (1 + r->left));
    assert_true(r->left <= before * (1 + 1e-6) + 1e-9);
    for (int tries = 0; tries < TRIES && r->left > enough; tries++) {
      quantise_ramps other = *r;
      quantise_ramps_again(s, 1, &other);
      assert_int_equal(other.count, r->count);
      if (other.left < r->left) *r = other;
    }
  }
  quantise_ramps_end(s);
}

// Random places, of the slopes that a ramp may have, far enough from each other to be told apart.
static void random_sum(uint64_t *random, int count, quantise_ramps_goal *g) {
  static const int slopes[] = {1, 2, 3, 4};
  for (int q = 0; q < VALUES; q++) g->target[q] = 5;
  for (int i = 0; i < count; i++) {
    const int slope = WF_RANDOM_PICK(random, slopes), start = (int)wf_random_in(random, -90, 90);
    const double weight = (double)wf_random_in(random, 1, 9) / 10 * (wf_random_one_in(random, 2) ? 1 : -1);
    for (int q = 0; q < VALUES; q++) g->target[q] += weight * ramp_at(slope, start, q);
  }
  even_weights(g);
}

static void sums_of_ramps_are_found(void **state) {
  (void)state;
  enum { SUMS = 60, COUNT = 3 };
  uint64_t random = 7;
  int found = 0;
  for (int i = 0; i < SUMS; i++) {
    quantise_ramps_goal g;
    quantise_ramps r;
    random_sum(&random, 1 + i % COUNT, &g);
    add_up_to(&g, 1 + i % COUNT, 0.01, &r);
    found += r.left <= 0.05;
  }
  if (found < SUMS * 9 / 10) fail_msg("only %d of %d sums are found with as many ramps", found, SUMS);
}

// The distance of the best weight and offset for one ramp.
static double alone(const quantise_ramps_goal *g, int slope, int start) {
  double sums[5] = {0};  // of x, y, xx, xy, yy
  for (int q = 0; q < VALUES; q++) {
    const double w = g->weight[q], x = ramp_at(slope, start, q), y = g->target[q];
    sums[0] += w * x, sums[1] += w * y, sums[2] += w * x * x, sums[3] += w * x * y, sums[4] += w * y * y;
  }
  const double square = sums[2] - sums[0] * sums[0], part = sums[3] - sums[0] * sums[1];
  return sums[4] - sums[1] * sums[1] - (square > 1e-6 ? part * part / square : 0);
}

static void one_ramp_is_the_best_of_all(void **state) {
  (void)state;
  static const int slopes[] = {1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, 12};
  uint64_t random = 11;
  for (int i = 0; i < 10; i++) {
    quantise_ramps_goal g;
    quantise_ramps r;
    random_sum(&random, 3, &g);
    add_up_to(&g, 1, 0, &r);
    double least = INFINITY;
    for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++)
      for (int start = INT8_MIN; start <= INT8_MAX; start++) least = fmin(least, alone(&g, slopes[k], start));
    assert_true(r.left <= least * 1.01 + 1e-9 && r.left >= least * (1 - 1e-6) - 1e-9);
  }
}

// Few enough for the functions that networks have: a ramp more is two products more of each element.
static void functions_need_few(void **state) {
  (void)state;
  static const struct {
    double range;
    bool swish;  // hard swish, else x times its sigmoid
    int ramps;
    double left;
  } cases[] = {{3, false, 5, 0.08}, {6, false, 4, 0.11}, {12, false, 4, 0.04},
               {3, true, 7, 0.14},  {6, true, 7, 0.04},  {12, true, 6, 0.01}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    quantise_ramps_goal g;
    quantise_ramps r;
    even_weights(&g);
    for (int q = 0; q < VALUES; q++) {
      const double x = (q - VALUES / 2) * cases[i].range / INT8_MAX;
      g.target[q] =
          (cases[i].swish ? x * fmin(1, fmax(0, x / 6 + 0.5)) : x / (1 + exp(-x))) / cases[i].range * INT8_MAX;
    }
    add_up_to(&g, cases[i].ramps, cases[i].left / 2, &r);
    if (r.left > cases[i].left)
      fail_msg("%s within %g: %d ramps leave %g", cases[i].swish ? "hard swish" : "silu", cases[i].range, r.count,
               r.left);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_ramps_are_found),
                                     cmocka_unit_test(one_ramp_is_the_best_of_all),
                                     cmocka_unit_test(functions_need_few)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
