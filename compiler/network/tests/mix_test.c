// SPDX-License-Identifier: Apache-2.0
// Steps whose commands are mixed (--fuse) leave the same bytes as each by itself, on all engines; what is chosen is
// faster.
#include "compiler/graph/curve.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

enum { KINDS = 4 };

static int build_curve(graph *g, int x, const graph_curve *curve) {
  int y;
  graph_curve_set(g, build_like(g, GRAPH_OP_QCURVE, x, GRAPH_I8, &y), curve);
  return y;
}

// Layers with zeros in their weights and curves behind them, of all kinds of offsets.
static graph *build_curved(void) {
  static const graph_curve curves[] = {
      {.count = 2, .slope = {1, -4}, .start = {0, -30}, .weight = {98, 3}, .offset = -84, .scale = 0.01F},
      {.count = 3, .slope = {1, 2, 4}, .start = {9, 0, -99}, .weight = {50, -9, 7}, .offset = 4321, .scale = 0.005F},
  };
  graph *g = graph_create("curved");
  const int64_t image[4] = {1, 21, 18, 48};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 96, .holes = 3, .no_relu = true});
  x = build_curve(g, x, &curves[0]);
  x = build_conv2d(g, x,
                   &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 96, .groups = 96, .no_relu = true});
  x = build_curve(g, x, &curves[1]);
  x = build_conv2d(g, x, &(build_conv){.kernel = 3, .stride = 2, .pad = 1, .channels = 80, .holes = 2});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 112, .holes = 3});
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// Bottlenecks with residuals, strides and downsampling, inverted residuals with depthwise ones, pooling, additions.
static graph *build_mixable(int kind) {
  static const int blocks[4] = {1, 2, 1, 1};
  if (kind == 0) return build_residual(blocks, 16, 32);
  if (kind == 1) return build_mobile();
  if (kind == 3) return build_curved();
  graph *g = graph_create("inverted");
  const int64_t image[4] = {1, 20, 23, 16};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 3, .stride = 2, .pad = 1, .channels = 24});
  for (int n = 0; n < 2; n++) {
    const int wide = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 72});
    const int deep =
        build_conv2d(g, wide, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 72, .groups = 72});
    x = build_conv2d(g, deep, &(build_conv){.kernel = 1, .stride = 1, .channels = 24, .factor = 1, .residual = x});
  }
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// Mixed steps leave the bytes of each node; every step that can be is mixed with its neighbours.
static void test_mixed_steps(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim8", "dim32"};
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
      graph *g = build_mixable(kind);
      const hw_array array = array_of(arrays[a]);
      const outcome alone = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_OFF);
      const outcome ref = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
      const outcome cycle = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
      assert_true(cycle.steps < alone.steps);
      assert_int_equal(ref.digest, alone.digest);
      assert_int_equal(cycle.digest, alone.digest);
      assert_int_equal(cycle.compared, alone.compared);
      graph_destroy(g);
    }
}

// A product with a residual that memory bounds, and the one behind it.
static graph *build_bound(void) {
  graph *g = graph_create("bound");
  const int64_t image[4] = {1, 56, 56, 256};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 64});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 256, .factor = 127, .residual = input});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 64});
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// What the judge chooses is faster, and where it chooses nothing all is as it was.
static void test_chosen_mixes(void **state) {
  (void)state;
  graph *const graphs[] = {build_bound(), build_mixable(0)};
  for (int n = 0; n < 2; n++) {
    const hw_array array = array_of("gemmini-default");
    const outcome alone = run_fused(graphs[n], &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_OFF);
    const outcome chosen = run_fused(graphs[n], &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_AUTO);
    assert_int_equal(chosen.digest, alone.digest);
    assert_true(chosen.cycles <= alone.cycles + alone.cycles / 100);
    if (n == 0) assert_true(chosen.steps < alone.steps && chosen.cycles < alone.cycles);
    graph_destroy(graphs[n]);
  }
}

static void test_mixed_steps_on_hardware(void **state) {
  (void)state;
  const hw_array array = array_of("dim8");
  for (int kind = 0; kind < KINDS; kind++) {
    graph *g = build_mixable(kind);
    const outcome cycle = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
    const outcome rtl = run_fused(g, &array, "rtl", RUN_HART_TIMED, NETWORK_FUSE_ALL);
    assert_int_equal(cycle.digest, rtl.digest);
    assert_int_equal(cycle.cycles, rtl.cycles);
    graph_destroy(g);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_mixed_steps_on_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed_steps), cmocka_unit_test(test_chosen_mixes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
