// SPDX-License-Identifier: Apache-2.0
// The fit of areas: exact where it can be, never negative, and a file that the reader of technology tables takes.
#include "hw/export/fit.h"

#include <math.h>

#include "base/test.h"

static bool near(double value, double expected) { return fabs(value - expected) <= 1e-6 * (1 + fabs(expected)); }

static void three_points_are_met(void **state) {
  (void)state;
  static const hw_tech_area areas[] = {{1e5, 2e4, 3e4}, {1e6, 0, 0}, {0, 5e3, 0}, {0, 0, 7e4}, {4e5, 0, 1e3}};
  for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
    hw_fit_point points[HW_FIT_POINTS_MIN];
    for (int n = 0; n < HW_FIT_POINTS_MIN; n++) {
      const double dim = 2 << n;
      points[n] = (hw_fit_point){dim, areas[i].constant + areas[i].lane * dim + areas[i].pe * dim * dim};
    }
    const hw_tech_area fitted = hw_fit(points, HW_FIT_POINTS_MIN);
    assert_true(near(fitted.constant, areas[i].constant) && near(fitted.lane, areas[i].lane) &&
                near(fitted.pe, areas[i].pe));
    assert_true(hw_fit_error(&fitted, points, HW_FIT_POINTS_MIN) < 1e-9);
  }
}

// Less than linear growth would need a negative square: the best straight line is taken.
static void no_coefficient_is_negative(void **state) {
  (void)state;
  const hw_fit_point points[] = {{2, 100}, {4, 180}, {8, 290}};
  const hw_tech_area fitted = hw_fit(points, 3);
  assert_true(fitted.constant > 0 && fitted.lane > 0 && fitted.pe == 0);
  const double error = hw_fit_error(&fitted, points, 3);
  assert_true(error > 0.01 && error < 0.1);
  // No line is better: small steps to every side make the squares of the relative errors larger.
  double least = 0;
  for (int i = 0; i < 3; i++) least += pow((fitted.constant + fitted.lane * points[i].dim) / points[i].area_um2 - 1, 2);
  for (int step = 0; step < 4; step++) {
    const double constant = fitted.constant + (step == 0) - (step == 1), lane = fitted.lane + (step == 2) - (step == 3);
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += pow((constant + lane * points[i].dim) / points[i].area_um2 - 1, 2);
    assert_true(sum > least);
  }
}

static void what_is_not_there_has_no_area(void **state) {
  (void)state;
  const hw_fit_point points[] = {{2, 0}, {4, 0}, {8, 0}};
  const hw_tech_area fitted = hw_fit(points, 3);
  assert_true(fitted.constant == 0 && fitted.lane == 0 && fitted.pe == 0);
}

static void the_file_is_a_table(void **state) {
  (void)state;
  hw_fit_arrays arrays = {.count = 3};
  for (size_t n = 0; n < 3; n++) {
    const double dim = 2 << n;
    snprintf(arrays.name[n], sizeof arrays.name[n], "dim%g", dim);
    for (size_t part = 0; hw_fit_part(part) != NULL; part++)
      arrays.points[part][n] = (hw_fit_point){dim, 1000 * (double)(part + 1) + 10 * dim + dim * dim};
  }
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  hw_fit_write(&arrays, "the command", out);
  fclose(out);
  assert_non_null(strstr(text, "#   the command\n"));
  wf_diag diag = wf_diag_to(stderr);
  hw_tech tech;
  assert_true(hw_tech_parse(&tech, "fit", text, length, &diag));
  assert_true(tech.has.area_um2 && !tech.has.energy_pj);
  assert_true(near(tech.area_um2.mesh.constant, 1000) && near(tech.area_um2.mesh.lane, 10) &&
              near(tech.area_um2.mesh.pe, 1));
  assert_true(near(tech.area_um2.execute.constant, 2000));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_points_are_met),
      cmocka_unit_test(no_coefficient_is_negative),
      cmocka_unit_test(what_is_not_there_has_no_area),
      cmocka_unit_test(the_file_is_a_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
