// SPDX-License-Identifier: Apache-2.0
// Curves of few elements on the array: random curves and counts, against the interpreter.
#include "compiler/network/curve_row.h"

#include <string.h>

#include "base/random.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

static const char *const arrays[] = {"gemmini-default", "dim8", "dim32", "dim4"};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static int8_t any_byte(uint64_t *random) { return (int8_t)wf_random_in(random, INT8_MIN, INT8_MAX); }

// With the largest offsets, too.
static graph_curve random_curve(uint64_t *random, int ramps) {
  const int32_t most = GRAPH_CURVE_OFFSET_MAX;
  graph_curve c = {.count = ramps,
                   .offset = (int32_t)wf_random_in(random, -most, most),
                   .scale = (float)wf_random_unit(random) * 0.02F + 0.001F};
  if (wf_random_one_in(random, 4)) c.offset = wf_random_one_in(random, 2) ? most : -most;
  for (int i = 0; i < ramps; i++)
    c.slope[i] = any_byte(random), c.start[i] = any_byte(random), c.weight[i] = any_byte(random);
  return c;
}

static graph *graph_of(const graph_curve *curve, int64_t elements) {
  graph *g = graph_create("few");
  const int64_t dim[2] = {1, elements};
  const int x = build_input(g, GRAPH_I8, 2, dim), y = build_result(g, GRAPH_I8, 2, dim);
  graph_curve_set(g, graph_add_node(g, GRAPH_OP_QCURVE, "curve", &x, 1, &y, 1), curve);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static bool is_row(const graph *g, const hw_array *array) {
  network *net = network_on(g, array);
  assert_int_equal(net->step_count, 1);
  const bool row = strncmp(net->steps[0].what, "curve_row ", strlen("curve_row ")) == 0;
  network_destroy(net);
  return row;
}

static void random_curves_of_few_elements(void **state) {
  (void)state;
  enum { CASES = 100 };
  uint64_t random = 3;
  int rows = 0;
  for (int i = 0; i < CASES; i++) {
    const hw_array array = array_of(arrays[i % ARRAYS]);
    const int ramps = 1 + i % GRAPH_CURVE_RAMPS;
    const graph_curve curve = random_curve(&random, ramps);
    const int64_t elements = wf_random_in(&random, 1, wf_random_one_in(&random, 2) ? 900 : 40);
    graph *g = graph_of(&curve, elements);
    assert_int_equal(is_row(g, &array), network_curve_row_fits(&curve, elements, &array));
    rows += network_curve_row_fits(&curve, elements, &array);
    run_both(g, arrays[i % ARRAYS]);
    graph_destroy(g);
  }
  assert_true(rows > CASES / 2);
}

// Many elements, and ramps that the mesh has not the rows for, are other kernels'.
static void others_do_not_fit(void **state) {
  (void)state;
  const hw_array large = array_of("gemmini-default"), small = array_of("dim4");
  const graph_curve one = {.count = 1, .slope = {1}, .weight = {1}, .scale = 1};
  graph_curve many = one;
  many.count = GRAPH_CURVE_RAMPS;
  assert_true(network_curve_row_fits(&one, 1, &large));
  assert_true(network_curve_row_fits(&many, 700, &large));
  assert_false(network_curve_row_fits(&one, 5000, &large));
  assert_true(network_curve_row_fits(&one, 5, &small));
  assert_false(network_curve_row_fits(&many, 5, &small));
}

// The Verilated hardware takes as many cycles as engine cycle.
static void hardware(void **state) {
  (void)state;
  uint64_t random = 5;
  const graph_curve curve = random_curve(&random, 6);
  graph *g = graph_of(&curve, 203);
  const hw_array array = array_of("dim8");
  assert_true(is_row(g, &array));
  const outcome cycle = run(g, "dim8", "cycle", RUN_HART_TIMED), rtl = run(g, "dim8", "rtl", RUN_HART_TIMED);
  assert_int_equal(cycle.digest, rtl.digest);
  assert_int_equal(cycle.cycles, rtl.cycles);
  graph_destroy(g);
}

int main(int argc, char **argv) {
  const struct CMUnitTest on_hardware[] = {cmocka_unit_test(hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(on_hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_curves_of_few_elements),
                                     cmocka_unit_test(others_do_not_fit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
