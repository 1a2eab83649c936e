// SPDX-License-Identifier: Apache-2.0
// The model of the machine over a trace: at whole values that of plain numbers; slopes against differences.
#include "search/model/machine_slope.h"

#include <math.h>

#include "base/random.h"
#include "base/test.h"
#include "search/model/samples.h"

static const double SHARE = 0.1;

typedef struct points {
  samples_source source;
  uint64_t random;
  tape_trace *trace;
} points;

static void open_points(points *p, samples_set set, uint64_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  *p = (points){.random = seed, .trace = tape_trace_create()};
  assert_true(samples_open(&p->source, set, seed, &diag));
}

static void close_points(points *p) {
  samples_close(&p->source);
  tape_trace_destroy(p->trace);
}

static samples_sample next_point(points *p) {
  samples_sample s;
  do samples_draw(&p->source, &s);
  while (!machine_knows(&s.layer));
  return s;
}

static machine_slope slope_at(points *p, const samples_sample *s, const double *values, double share) {
  const machine_slope_request q = {.layer = &s->layer,
                                   .mapping = &s->mapping,
                                   .array = &s->array,
                                   .constants = &cost_fitted,
                                   .values = values,
                                   .share = share};
  return machine_slope_of(&q, p->trace);
}

static double plain(const samples_sample *s, const hw_array *array) {
  return machine_predict(&s->layer, &s->mapping, array, &cost_fitted).cycles;
}

static void assert_same(const samples_sample *s, double got, double wanted) {
  if (fabs(got / wanted - 1) < 1e-9) return;
  map_print(&s->mapping, stderr);
  hw_array_print(&s->array, stderr);
  fail_msg("%.12g cycles in place of %.12g", got, wanted);
}

// Layers, mappings and arrays at random: sharp maxima give the plain form, rounded ones come to it.
static void whole_values_are_plain(void **state) {
  (void)state;
  for (int set = 0; set < 2; set++) {
    points p;
    open_points(&p, (samples_set)set, 7);
    for (int n = 0; n < 200; n++) {
      const samples_sample s = next_point(&p);
      const double wanted = plain(&s, &s.array);
      assert_same(&s, slope_at(&p, &s, NULL, 0).cycles, wanted);
      assert_true(fabs(slope_at(&p, &s, NULL, 1e-5).cycles / wanted - 1) < 1e-3);
    }
    close_points(&p);
  }
}

// Parameters on which nothing whole depends: the model of one array says what another's does.
static void steady_axes_are_plain_anywhere(void **state) {
  (void)state;
  static const machine_axis steady[] = {MACHINE_AXIS_L2_LATENCY, MACHINE_AXIS_L2_REGISTERS, MACHINE_AXIS_L2_CAPACITY,
                                        MACHINE_AXIS_LATENCY,    MACHINE_AXIS_PATH,         MACHINE_AXIS_CONTROLLER,
                                        MACHINE_AXIS_BANDWIDTH,  MACHINE_AXIS_MEMORY_CLOCK, MACHINE_AXIS_WRITES};
  points p;
  open_points(&p, SAMPLES_JUDGE, 3);
  unsigned moved = 0;
  for (int n = 0; n < 300; n++) {
    const samples_sample s = next_point(&p);
    const machine_axis axis = steady[wf_random_below(&p.random, sizeof steady / sizeof *steady)];
    hw_array other = s.array;
    double values[MACHINE_AXES];
    for (int a = 0; a < MACHINE_AXES; a++) values[a] = machine_axis_value(&s.array, (machine_axis)a);
    values[axis] *= wf_random_one_in(&p.random, 2) ? 2 : 4;
    hw_param_set(&other, hw_param_find(machine_axis_parameters[axis]), (uint32_t)values[axis]);
    const double wanted = plain(&s, &other);
    assert_same(&s, slope_at(&p, &s, values, 0).cycles, wanted);
    moved += fabs(wanted / plain(&s, &s.array) - 1) > 1e-6;
  }
  assert_true(moved > 60);
  close_points(&p);
}

// ---- slopes

// The array's values, each off by up to an eighth, so that no whole number is hit; something of what is absent.
static void scatter(points *p, const hw_array *array, double *values) {
  for (int a = 0; a < MACHINE_AXES; a++) {
    const double by = (double)wf_random_below(&p->random, 1000) / 4000 - 0.125;
    values[a] = fmax(0.5, machine_axis_value(array, (machine_axis)a)) * (1 + by);
  }
}

// Cycles with all values moved by `step` of themselves and the direction.
static double moved(points *p, const samples_sample *s, const double *values, const double *direction, double step) {
  double here[MACHINE_AXES];
  for (int a = 0; a < MACHINE_AXES; a++) here[a] = values[a] * (1 + step * direction[a]);
  return slope_at(p, s, here, SHARE).cycles;
}

// The central difference against the slope, in the direction. Changes of less than a thousandth of the cycles for the
// whole value are compared as if they were one: rounding of large clocks is all that is left of the difference.
static double error_at(points *p, const samples_sample *s, const double *values, const double *direction, double step) {
  const machine_slope slope = slope_at(p, s, values, SHARE);
  double sum = 0;
  for (int a = 0; a < MACHINE_AXES; a++) sum += slope.by[a] * values[a] * direction[a];
  const double near = moved(p, s, values, direction, step) - moved(p, s, values, direction, -step);
  const double far = moved(p, s, values, direction, 2 * step) - moved(p, s, values, direction, -2 * step);
  const double difference = (8 * near - far) / (12 * step);
  return fabs(sum - difference) / fmax(fabs(difference), 1e-3 * slope.cycles);
}

// A shorter step where the curve bends within the step.
static double error_of(points *p, const samples_sample *s, const double *values, const double *direction) {
  const double error = error_at(p, s, values, direction, 5e-5);
  return error < 1e-4 ? error : fmin(error, error_at(p, s, values, direction, 1e-5));
}

// Each axis by itself; those that mean nothing have no slope.
static void slopes_are_differences(void **state) {
  (void)state;
  points p;
  open_points(&p, SAMPLES_FIT, 11);
  unsigned far = 0, moves[MACHINE_AXES] = {0};
  for (int n = 0; n < 300; n++) {
    const samples_sample s = next_point(&p);
    double values[MACHINE_AXES];
    scatter(&p, &s.array, values);
    const machine_slope slope = slope_at(&p, &s, values, SHARE);
    for (int a = 0; a < MACHINE_AXES; a++) {
      double direction[MACHINE_AXES] = {0};
      if (!machine_axis_counts(&s.array, (machine_axis)a)) {
        assert_true(slope.by[a] == 0);
        continue;
      }
      direction[a] = 1;
      const double error = error_of(&p, &s, values, direction);
      far += error > 1e-4;
      if (error > 1e-4) print_error("%s: off by %g\n", machine_axis_parameters[a], error);
      moves[a] += fabs(slope.by[a]) * values[a] > 1e-3 * slope.cycles;
    }
  }
  assert_int_equal(far, 0);
  for (int a = 0; a < MACHINE_AXES; a++) assert_true(moves[a] > 0);
  close_points(&p);
}

// All axes at once, each in a direction of its own.
static void gradients_are_differences(void **state) {
  (void)state;
  enum { POINTS = 1000 };
  points p;
  open_points(&p, SAMPLES_FIT, 12);
  unsigned far = 0;
  for (int n = 0; n < POINTS; n++) {
    const samples_sample s = next_point(&p);
    double values[MACHINE_AXES], direction[MACHINE_AXES];
    scatter(&p, &s.array, values);
    for (int a = 0; a < MACHINE_AXES; a++) direction[a] = 2 * wf_random_unit(&p.random) - 1;
    const double error = error_of(&p, &s, values, direction);
    far += error > 1e-4;
    if (error > 1e-4) print_error("point %d: off by %g\n", n, error);
  }
  assert_int_equal(far, 0);
  close_points(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_values_are_plain),
      cmocka_unit_test(steady_axes_are_plain_anywhere),
      cmocka_unit_test(slopes_are_differences),
      cmocka_unit_test(gradients_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
