// SPDX-License-Identifier: Apache-2.0
// The tape: its exp and log against the C library, all kernels against each other bit by bit, gradients against central
// differences on random expressions, sharing and folding, the smooth functions at their limits.
#include "search/tape/tape.h"

#include <math.h>

#include "base/random.h"
#include "base/test.h"
#include "search/tape/trace.h"

static double uniform(uint64_t *state, double low, double high) {
  return low + (high - low) * (double)(wf_random_next(state) >> 11) * 0x1p-53;
}

// A program of one function of one variable.
typedef struct unary {
  tape *tape;
  tape_program *program;
  tape_workspace *workspace;
} unary;

static unary unary_of(tape_ref (*function)(tape *, tape_ref)) {
  unary u = {.tape = tape_create()};
  tape_ref out = function(u.tape, tape_variable(u.tape));
  u.program = tape_compile(u.tape, &out, 1);
  u.workspace = tape_workspace_create(u.program);
  return u;
}

static void unary_release(unary *u) {
  tape_workspace_destroy(u->workspace);
  tape_program_destroy(u->program);
  tape_destroy(u->tape);
}

static double unary_at(unary *u, double x) {
  for (int n = 0; n < TAPE_LANES; n++) tape_input(u->workspace, 0)[n] = x;
  tape_forward(u->workspace);
  return tape_output(u->workspace, 0)[0];
}

static void elementary_functions_are_the_librarys(void **state) {
  (void)state;
  unary exponential = unary_of(tape_exp), logarithm = unary_of(tape_log), softplus = unary_of(tape_softplus);
  uint64_t seed = 1;
  for (int n = 0; n < 100000; n++) {
    double x = uniform(&seed, -690, 690), y = exp(x);
    assert_true(fabs(unary_at(&exponential, x) / y - 1) < 5e-16);
    double error = fabs(unary_at(&logarithm, y) - log(y));
    assert_true(error <= 5e-16 * fabs(log(y)) + 1e-300);
    double near = uniform(&seed, 0.5, 2);
    assert_true(fabs(unary_at(&logarithm, near) - log(near)) <= 5e-16 * fabs(log(near)));
    double s = uniform(&seed, -30, 30);
    assert_true(fabs(unary_at(&softplus, s) - log1p(exp(s))) <= 4e-16 * (1 + fabs(s)));
  }
  assert_true(unary_at(&exponential, 0) == 1 && unary_at(&logarithm, 1) == 0);
  assert_true(isfinite(unary_at(&exponential, 1e9)) && isfinite(unary_at(&logarithm, -1)));
  assert_true(unary_at(&softplus, 800) == 800);
  unary_release(&exponential);
  unary_release(&logarithm);
  unary_release(&softplus);
}

static void floor_is_exact(void **state) {
  (void)state;
  unary u = unary_of(tape_floor);
  uint64_t seed = 2;
  for (int n = 0; n < 10000; n++) {
    double x = uniform(&seed, -1000, 1000);
    assert_true(unary_at(&u, x) == floor(x));
    assert_true(unary_at(&u, floor(x)) == floor(x));
  }
  unary_release(&u);
}

// ---- random expressions

enum { VARIABLES = 6, NODES = 60 };

// Every value stays within about 0.3 .. 30 and every operation has a slope there, so differences are meaningful.
static tape_ref random_node(tape *t, uint64_t *seed, const tape_ref *nodes, uint64_t count) {
  tape_ref a = nodes[wf_random_next(seed) % count], b = nodes[wf_random_next(seed) % count];
  tape_ref temperature = tape_constant(t, 0.5), pair[2] = {a, b};
  switch (wf_random_next(seed) % 12) {
    case 0:
      return tape_scale(t, tape_add(t, a, b), 0.5);
    case 1:
      return tape_offset(t, tape_scale(t, tape_sub(t, a, b), 0.3), 5);
    case 2:
      return tape_log(t, tape_offset(t, tape_mul(t, a, b), 2));
    case 3:
      return tape_offset(t, tape_div(t, a, tape_add(t, a, b)), 0.5);
    case 4:
      return tape_max(t, a, b);
    case 5:
      return tape_min(t, a, b);
    case 6:
      return tape_exp(t, tape_div(t, a, tape_offset(t, b, 3)));
    case 7:
      return tape_log(t, tape_offset(t, a, 1));
    case 8:
      return tape_softplus(t, tape_sub(t, a, b));
    case 9:
      return tape_offset(t, tape_ramp(t, tape_scale(t, tape_sub(t, a, b), 0.5)), 0.5);
    case 10:
      return tape_smooth_max(t, pair, 2, temperature);
    default:
      return tape_offset(t, tape_smooth_ceil(t, a, temperature), 0.2);
  }
}

static tape_program *random_program(uint64_t *seed) {
  tape *t = tape_create();
  tape_ref nodes[VARIABLES + NODES];
  for (int n = 0; n < VARIABLES; n++) nodes[n] = tape_variable(t);
  for (int n = VARIABLES; n < VARIABLES + NODES; n++) nodes[n] = random_node(t, seed, nodes, (uint64_t)n);
  tape_ref outputs[3] = {nodes[VARIABLES + NODES - 1], nodes[VARIABLES + NODES - 2], nodes[VARIABLES + NODES / 2]};
  tape_program *program = tape_compile(t, outputs, 3);
  tape_destroy(t);
  return program;
}

static double weighted_output(const tape_workspace *w, int lane) {
  return tape_output(w, 0)[lane] + 2 * tape_output(w, 1)[lane] - 3 * tape_output(w, 2)[lane];
}

static void seed_outputs(tape_workspace *w) {
  for (int lane = 0; lane < TAPE_LANES; lane++) {
    tape_seed(w, 0)[lane] = 1;
    tape_seed(w, 1)[lane] = 2;
    tape_seed(w, 2)[lane] = -3;
  }
}

// Lanes are a point, and the point moved a little in one variable: close and far, so that a kink shows as two different
// slopes. Returns false at a kink.
static bool difference(tape_workspace *w, const double *point, int variable, double *slope) {
  const double step[4] = {1e-6, -1e-6, 3e-6, -3e-6};
  for (int v = 0; v < VARIABLES; v++)
    for (int lane = 0; lane < TAPE_LANES; lane++)
      tape_input(w, (size_t)v)[lane] = point[v] + (v == variable && lane < 4 ? step[lane] : 0);
  tape_forward(w);
  *slope = (weighted_output(w, 0) - weighted_output(w, 1)) / 2e-6;
  double right = (weighted_output(w, 0) - weighted_output(w, 4)) / 1e-6;
  double left = (weighted_output(w, 4) - weighted_output(w, 1)) / 1e-6;
  double wide = (weighted_output(w, 2) - weighted_output(w, 3)) / 6e-6;
  double scale = 1 + fabs(*slope);
  return fabs(right - left) < 1e-4 * scale && fabs(wide - *slope) < 1e-5 * scale;
}

static void gradients_are_differences(void **state) {
  (void)state;
  uint64_t seed = 3;
  unsigned checked = 0, kinks = 0, sloped = 0;
  for (int program_number = 0; program_number < 50; program_number++) {
    tape_program *program = random_program(&seed);
    tape_workspace *w = tape_workspace_create(program);
    for (int p = 0; p < 20; p++) {
      double point[VARIABLES], gradient[VARIABLES];
      for (int v = 0; v < VARIABLES; v++) {
        point[v] = uniform(&seed, 0.5, 5);
        for (int lane = 0; lane < TAPE_LANES; lane++) tape_input(w, (size_t)v)[lane] = point[v];
      }
      tape_forward(w);
      seed_outputs(w);
      tape_backward(w);
      for (int v = 0; v < VARIABLES; v++) gradient[v] = tape_gradient(w, (size_t)v)[5];
      for (int v = 0; v < VARIABLES; v++) {
        double slope;
        if (!difference(w, point, v, &slope)) {
          kinks++;
          continue;
        }
        checked++;
        sloped += fabs(slope) > 1e-3;
        if (fabs(gradient[v] - slope) > 1e-4 * (fabs(slope) + 0.01))
          fail_msg("program %d point %d variable %d: %.9g, difference %.9g", program_number, p, v, gradient[v], slope);
      }
    }
    tape_workspace_destroy(w);
    tape_program_destroy(program);
  }
  assert_true(checked > 5000 && sloped > 2000 && kinks < 600);
}

static void kernels_give_equal_bits(void **state) {
  (void)state;
  uint64_t seed = 4;
  unsigned kernels = 0;
  for (int kernel = TAPE_PLAIN + 1; kernel < TAPE_KERNELS; kernel++) {
    if (!tape_kernel_available((tape_kernel)kernel)) {
      print_message("no %s on this processor\n", tape_kernel_names[kernel]);
      continue;
    }
    kernels++;
    for (int n = 0; n < 40; n++) {
      tape_program *program = random_program(&seed);
      tape_workspace *w[2] = {tape_workspace_create(program), tape_workspace_create(program)};
      tape_use_kernel(w[0], TAPE_PLAIN);
      tape_use_kernel(w[1], (tape_kernel)kernel);
      for (size_t v = 0; v < VARIABLES; v++)
        for (int lane = 0; lane < TAPE_LANES; lane++)
          tape_input(w[0], v)[lane] = tape_input(w[1], v)[lane] = uniform(&seed, 0.1, 9);
      for (int k = 0; k < 2; k++) {
        tape_forward(w[k]);
        seed_outputs(w[k]);
        tape_backward(w[k]);
      }
      for (size_t o = 0; o < 3; o++)
        assert_memory_equal(tape_output(w[0], o), tape_output(w[1], o), TAPE_LANES * sizeof(double));
      for (size_t v = 0; v < VARIABLES; v++)
        assert_memory_equal(tape_gradient(w[0], v), tape_gradient(w[1], v), TAPE_LANES * sizeof(double));
      for (int k = 0; k < 2; k++) tape_workspace_destroy(w[k]);
      tape_program_destroy(program);
    }
  }
  if (kernels == 0) skip();
}

// ---- the builder

static void expressions_are_shared_and_folded(void **state) {
  (void)state;
  tape *t = tape_create();
  tape_ref x = tape_variable(t), y = tape_parameter(t);
  tape_ref sum = tape_add(t, x, y);
  assert_int_equal(tape_add(t, y, x), sum);
  assert_int_not_equal(tape_sub(t, x, y), tape_sub(t, y, x));
  assert_int_equal(tape_mul(t, x, tape_constant(t, 1)), x);
  assert_int_equal(tape_exp(t, tape_constant(t, 0)), tape_constant(t, 1));
  assert_int_equal(tape_max(t, tape_constant(t, 2), tape_constant(t, 3)), tape_constant(t, 3));
  size_t size = tape_size(t);
  assert_int_equal(tape_exp(t, sum), tape_exp(t, tape_add(t, y, x)));
  assert_int_equal(tape_size(t), size + 1);
  tape_ref outputs[2] = {sum, sum};  // only the sum is kept; both seeds are one
  tape_program *program = tape_compile(t, outputs, 2);
  assert_int_equal(tape_program_operations(program), 1);
  tape_program_destroy(program);
  tape_destroy(t);
}

static void a_square_counts_both_factors(void **state) {
  (void)state;
  tape *t = tape_create();
  tape_ref x = tape_variable(t), square = tape_mul(t, x, x);
  tape_program *program = tape_compile(t, &square, 1);
  tape_workspace *w = tape_workspace_create(program);
  for (int n = 0; n < TAPE_LANES; n++) {
    tape_input(w, 0)[n] = n;
    tape_seed(w, 0)[n] = 1;
  }
  tape_forward(w);
  for (int again = 0; again < 2; again++) tape_backward(w);  // nothing is left over from the run before
  for (int n = 0; n < TAPE_LANES; n++) assert_true(tape_gradient(w, 0)[n] == 2 * n);
  tape_workspace_destroy(w);
  tape_program_destroy(program);
  tape_destroy(t);
}

static tape_ref max_of_three(tape *t, tape_ref x) {
  tape_ref terms[3] = {x, tape_constant(t, 1), tape_constant(t, -4)};
  return tape_smooth_max(t, terms, 3, tape_constant(t, 0.01));
}
static tape_ref min_of_three(tape *t, tape_ref x) {
  tape_ref terms[3] = {x, tape_constant(t, 1), tape_constant(t, 4)};
  return tape_smooth_min(t, terms, 3, tape_constant(t, 0.01));
}
static tape_ref cold_ceil(tape *t, tape_ref x) { return tape_smooth_ceil(t, x, tape_constant(t, 0.02)); }
static tape_ref warm_ceil(tape *t, tape_ref x) { return tape_smooth_ceil(t, x, tape_constant(t, 1)); }

static void smooth_functions_have_their_limits(void **state) {
  (void)state;
  unary top = unary_of(max_of_three), bottom = unary_of(min_of_three), cold = unary_of(cold_ceil),
        warm = unary_of(warm_ceil);
  for (double x = -3; x < 3; x += 0.25) {
    double max = fmax(x, 1), min = fmin(x, 1);
    assert_true(unary_at(&top, x) >= max && unary_at(&top, x) <= max + 0.01 * log(3) + 1e-12);
    assert_true(unary_at(&bottom, x) <= min && unary_at(&bottom, x) >= min - 0.01 * log(3) - 1e-12);
    assert_true(fabs(unary_at(&cold, x) - ceil(x)) < 1e-5);
    assert_true(fabs(unary_at(&warm, x) - x) < 1e-12);
  }
  unary_release(&top);
  unary_release(&bottom);
  unary_release(&cold);
  unary_release(&warm);
}

// ---- traces

static tape_number mixed(tape_trace *t, tape_number x, tape_number y, double width) {
  const tape_number sum = tape_trace_add(t, x, tape_fixed(2)), rest = tape_trace_sub(t, y, sum);
  const tape_number quotient = tape_trace_div(t, tape_trace_mul(t, sum, y), tape_trace_exp(t, x));
  const tape_number high = tape_trace_max(t, quotient, rest, width), low = tape_trace_min(t, x, quotient, width);
  return tape_trace_mul(t, tape_trace_larger(t, high, y, width), tape_trace_smaller(t, low, y, width));
}

static void traces_have_the_slopes_of_differences(void **state) {
  (void)state;
  tape_trace *t = tape_trace_create();
  uint64_t random = 5;
  for (int n = 0; n < 1000; n++) {
    const double x = uniform(&random, 0.2, 3), y = uniform(&random, 0.2, 3), step = 1e-6;
    tape_trace_clear(t);
    const tape_number a = tape_trace_variable(t, x), b = tape_trace_variable(t, y), out = mixed(t, a, b, 0.3);
    tape_trace_back(t, out);
    const double dx = tape_trace_slope(t, a), dy = tape_trace_slope(t, b);
    const double by_x = mixed(t, tape_fixed(x + step), tape_fixed(y), 0.3).value -
                        mixed(t, tape_fixed(x - step), tape_fixed(y), 0.3).value;
    const double by_y = mixed(t, tape_fixed(x), tape_fixed(y + step), 0.3).value -
                        mixed(t, tape_fixed(x), tape_fixed(y - step), 0.3).value;
    assert_true(fabs(by_x / (2 * step) - dx) < 1e-6 * (1 + fabs(dx)));
    assert_true(fabs(by_y / (2 * step) - dy) < 1e-6 * (1 + fabs(dy)));
  }
  tape_trace_destroy(t);
}

static void traces_without_variables_record_nothing(void **state) {
  (void)state;
  tape_trace *t = tape_trace_create();
  const tape_number fixed = mixed(t, tape_fixed(1), tape_fixed(2), 0);
  assert_int_equal(tape_trace_size(t), 0);
  assert_true(fabs(fixed.value - fmax(6 / exp(1), 2) * fmin(1, 6 / exp(1))) < 1e-12);
  const tape_number x = tape_trace_variable(t, 3);
  tape_trace_back(t, tape_trace_add(t, tape_trace_mul(t, x, x), fixed));
  assert_true(tape_trace_slope(t, x) == 6 && tape_trace_slope(t, fixed) == 0);
  tape_trace_destroy(t);
}

static void rounded_maxima_have_their_bounds(void **state) {
  (void)state;
  tape_trace *t = tape_trace_create();
  for (double x = 0; x < 4; x += 0.25) {
    const tape_number a = tape_fixed(x), b = tape_fixed(2);
    const double max = fmax(x, 2), min = fmin(x, 2), off = 0.1 * log(2) + 1e-12, factor = pow(2, 0.1) + 1e-12;
    assert_true(tape_trace_max(t, a, b, 0.1).value >= max && tape_trace_max(t, a, b, 0.1).value <= max + off);
    assert_true(tape_trace_min(t, a, b, 0.1).value <= min && tape_trace_min(t, a, b, 0.1).value >= min - off);
    assert_true(tape_trace_larger(t, a, b, 0.1).value >= max && tape_trace_larger(t, a, b, 0.1).value <= max * factor);
    assert_true(tape_trace_smaller(t, a, b, 0.1).value <= min &&
                tape_trace_smaller(t, a, b, 0.1).value >= min / factor);
    assert_true(tape_trace_max(t, a, b, 0).value == max && tape_trace_larger(t, a, b, 0).value == max);
    assert_true(tape_trace_min(t, a, b, 0).value == min && tape_trace_smaller(t, a, b, 0).value == min);
  }
  tape_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elementary_functions_are_the_librarys),
      cmocka_unit_test(floor_is_exact),
      cmocka_unit_test(gradients_are_differences),
      cmocka_unit_test(kernels_give_equal_bits),
      cmocka_unit_test(expressions_are_shared_and_folded),
      cmocka_unit_test(a_square_counts_both_factors),
      cmocka_unit_test(smooth_functions_have_their_limits),
      cmocka_unit_test(traces_have_the_slopes_of_differences),
      cmocka_unit_test(traces_without_variables_record_nothing),
      cmocka_unit_test(rounded_maxima_have_their_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
