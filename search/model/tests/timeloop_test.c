// SPDX-License-Identifier: Apache-2.0
// The plain model with the constants "timeloop" against Timeloop itself, at 3,000 points: cycles are equal at all of
// them, the mean error of the energy is below 0.01 %. With the constants "dosa" (no rounding to vectors, fewer digits)
#include <math.h>

#include "base/test.h"
#include "search/model/paper.h"

typedef struct point {
  layers_layer layer;
  paper_hardware hardware;
  paper_mapping mapping;
  double cycles, energy_uj;
} point;

// How far a table of constants is off.
typedef struct errors {
  size_t points, cycles_equal, energy_close;
  double cycles_sum, energy_sum, energy_max;
} errors;

static double number(char **at) {
  char *end;
  const double value = strtod(*at, &end);
  assert_true(end != *at && (*end == ',' || *end == '\n'));
  *at = end + 1;
  return value;
}

static point read_point(char *line) {
  static const block_dim_id columns[] = {BLOCK_DIM_R, BLOCK_DIM_S, BLOCK_DIM_P, BLOCK_DIM_Q,
                                         BLOCK_DIM_C, BLOCK_DIM_K, BLOCK_DIM_N};
  point p = {.layer = {.count = 1, .dilation = {1, 1}}};
  for (size_t i = 0; i < BLOCK_DIMS; i++) p.layer.size[columns[i]] = (int64_t)number(&line);
  for (int i = 0; i < 2; i++) p.layer.stride[i] = (int64_t)number(&line);
  p.hardware.side = number(&line);
  p.hardware.scratchpad_kib = number(&line);
  p.hardware.accumulator_kib = number(&line);
  char *end = strchr(line, ',');
  assert_non_null(end);
  *end = '\0';
  if (!paper_mapping_parse(&p.mapping, line)) fail_msg("not read: %s", line);
  if (!paper_mapping_legal(&p.layer, &p.mapping)) fail_msg("not legal: %s", line);
  line = end + 1;
  p.cycles = number(&line);
  p.energy_uj = number(&line);
  return p;
}

static void note(errors *e, const point *p, paper_cost cost) {
  const double energy = fabs(cost.energy_uj / p->energy_uj - 1);
  e->points++;
  e->cycles_equal += cost.cycles == p->cycles;
  e->cycles_sum += fabs(cost.cycles / p->cycles - 1);
  e->energy_sum += energy;
  e->energy_close += energy < 1e-5;
  if (energy > e->energy_max) e->energy_max = energy;
}

static errors errors_with(const char *constants) {
  paper_constants c;
  assert_true(paper_constants_named(&c, constants));
  errors e = {0};
  char line[512];
  FILE *in = fopen(POINTS, "r");
  assert_non_null(in);
  while (fgets(line, sizeof line, in) != NULL) {
    if (strchr("#R", *line) != NULL) continue;
    const point p = read_point(line);
    note(&e, &p, paper_evaluate(&p.layer, &p.mapping, &p.hardware, &c));
  }
  fclose(in);
  const double n = (double)e.points;
  print_message(
      "%s: %zu points, cycles equal %.2f %%, mean error %.4f %%; energy within 0.001 %% at %.2f %%, mean error "
      "%.4f %%, most %.2f %%\n",
      constants, e.points, 100 * (double)e.cycles_equal / n, 100 * e.cycles_sum / n, 100 * (double)e.energy_close / n,
      100 * e.energy_sum / n, 100 * e.energy_max);
  assert_int_equal(e.points, 3000);
  return e;
}

static void exact_constants_give_timeloops_results(void **state) {
  (void)state;
  const errors e = errors_with("timeloop");
  assert_int_equal(e.cycles_equal, e.points);
  assert_true(e.energy_sum / (double)e.points < 1e-4);
  assert_true((double)e.energy_close >= 0.99 * (double)e.points);
}

static void published_constants_are_near(void **state) {
  (void)state;
  const errors e = errors_with("dosa");
  assert_true(e.cycles_sum / (double)e.points < 2e-4);
  assert_true(e.energy_sum / (double)e.points < 4e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_constants_give_timeloops_results),
      cmocka_unit_test(published_constants_are_near),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
