// SPDX-License-Identifier: Apache-2.0
// Products whose sums wait in the accumulator until the hart has each row of them stored with a scale of its own: of
// all sizes, of heads as strides, in as many runs as the accumulator needs, on engines and arrays; and the ways of
// arrays that cannot.
#include "compiler/network/held.h"

#include "base/number.h"
#include "base/random.h"
#include "compiler/graph/repeat.h"
#include "compiler/network/tests/build_held.h"
#include "compiler/network/tests/outcome.h"
#include "compiler/network/tests/slots.h"

static int held_steps(const graph *g, const hw_array *array) {
  network *net = network_on(g, array);
  int steps = 0;
  for (int s = 0; s < net->step_count; s++) {
    steps += net->steps[s].held;
    if (net->steps[s].held) assert_int_equal(net->steps[s + 1].calls[0].call.op, WEFT_HOST_QLEAVE);
  }
  network_destroy(net);
  return steps;
}

// Every byte as the interpreter says, the hart timed or not; the same cycles from `timed` as from `cycle`.
static void check(const graph *g, const hw_array *array, const char *timed) {
  const outcome ref = run_on(g, array, "ref", RUN_HART_NATIVE), native = run_on(g, array, "cycle", RUN_HART_NATIVE),
                cycle = run_on(g, array, "cycle", RUN_HART_TIMED),
                mixed = run_fused(g, array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
  assert_int_equal(ref.digest, cycle.digest);
  assert_int_equal(ref.digest, native.digest);
  assert_int_equal(ref.digest, mixed.digest);
  assert_true(ref.compared > 0 && cycle.host_cycles > 0 && cycle.cycles > native.cycles);
  if (strcmp(timed, "cycle") == 0) return;
  const outcome other = run_on(g, array, timed, RUN_HART_TIMED);
  assert_int_equal(other.digest, cycle.digest);
  assert_int_equal(other.cycles, cycle.cycles);
}

static const char *timed_engine = "cycle";

static void test_sizes(void **state) {
  (void)state;
  // Runs on gemmini-default: all in one; by pairs; rows of one pair in parts; weights without room for the next pair's.
  static const struct {
    build_held_sizes n;
    int steps;
  } cases[] = {{{1, 2, 49, 32, 49}, 1},   {{2, 3, 19, 24, 19}, 2},   {{1, 12, 128, 64, 128}, 6},
               {{1, 2, 300, 64, 300}, 4}, {{1, 3, 40, 128, 530}, 2}, {{1, 1, 160, 4, 16}, 0},
               {{1, 70, 5, 40, 33}, 4},   {{1, 1, 90, 24, 40}, 1},   {{1, 2, 2, 8, 8}, 0}};
  const hw_array array = array_of("gemmini-default");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = build_held(&cases[i].n, 0.7F);
    assert_int_equal(held_steps(g, &array), cases[i].steps);
    check(g, &array, timed_engine);
    graph_destroy(g);
  }
}

static void test_arrays(void **state) {
  (void)state;
  static const char *const names[] = {"dim4", "dim32", "transformer-16"};
  uint64_t random = 77;
  for (int i = 0; i < 12; i++) {
    const hw_array array = array_of(names[i % 3]);
    const build_held_sizes n = {1 + (int64_t)wf_random_below(&random, 2), 2 + (int64_t)wf_random_below(&random, 4),
                                1 + (int64_t)wf_random_below(&random, 90), 8 + (int64_t)wf_random_below(&random, 70),
                                1 + (int64_t)wf_random_below(&random, 120)};
    graph *g = build_held(&n, i % 4 == 0 ? 900 : 0.9F);  // some leave as the largest and the least number
    check(g, &array, i < 6 ? timed_engine : "cycle");
    graph_destroy(g);
  }
}

// One matrix by one, without dimensions of heads, and a constant on the right.
static void test_one_pair(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  static const char text[] =
      "graph pair\n"
      "input e i8[100, 3]\n"
      "constant ones i8[3, 1] = [1, 1, 1]\n"
      "constant v i8[3, 9] = [1, 2, 3, -4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, -60, 70, 80, 90, 9, "
      "8, 7, 6, 5, 4, 3, 2, 1]\n"
      "node m QMatMul(e, ones) -> m i32[100, 1]\n"
      "node n QMatMul(e, v) -> n i32[100, 9]\n"
      "node d QShare(n, m) -> d i8[100, 9] {scale = 0.6}\n"
      "output d\n";
  graph *g = graph_parse("pair", text, strlen(text), &diag);
  const hw_array array = array_of("gemmini-default");
  assert_non_null(g);
  assert_int_equal(held_steps(g, &array), 1);
  check(g, &array, timed_engine);
  graph_destroy(g);
}

static uint64_t cycles_with(const graph *g, const hw_array *array, bool zeros) {
  wf_diag diag = wf_diag_to(stderr);
  network *net = network_on(g, array);
  void **inputs = build_random_inputs(g);
  for (int i = 0; i < g->input_count && zeros; i++) memset(inputs[i], 0, graph_bytes(&g->tensors[g->inputs[i]]));
  const run_network_config config = {
      .engine = sim_engine_find("cycle"), .inputs = (const void *const *)inputs, .check = true, .hart = RUN_HART_TIMED};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.wrong, 0);
  const uint64_t cycles = result.cycles;
  run_network_release(net, &result);
  build_free_inputs(g, inputs);
  network_destroy(net);
  return cycles;
}

// Networks are timed without data: rows whose sum is 0 take as long as others.
static void test_time_of_zeros(void **state) {
  (void)state;
  const build_held_sizes n = {1, 3, 70, 48, 40};
  const hw_array array = array_of("gemmini-default");
  graph *g = build_held(&n, 0.7F);
  assert_int_equal(cycles_with(g, &array, true), cycles_with(g, &array, false));
  graph_destroy(g);
}

// A hart's commands have no tokens, and an output-stationary mesh leaves no sums in the accumulator: the hart divides.
static void test_arrays_that_cannot(void **state) {
  (void)state;
  const build_held_sizes n = {1, 3, 40, 48, 33};
  graph *g = build_held(&n, 0.7F);
  const hw_array all = array_of("gemmini-default");
  assert_true(held_steps(g, &all) > 0);
  hw_array tokens = all, stationary = all, narrow = all;
  tokens.sync.by = HW_SYNC_TOKENS;
  stationary.mesh.dataflow = HW_DATAFLOW_OS;
  narrow.types.output_bits = 18;
  const hw_array *const arrays[] = {&tokens, &stationary, &narrow};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) assert_int_equal(held_steps(g, arrays[a]), 0);
  run_on(g, &tokens, "cycle", RUN_HART_TIMED);
  run_on(g, &stationary, "cycle", RUN_HART_TIMED);
  graph_destroy(g);
}

// Hart and array at one time: nothing comes between a product and the way out of its sums.
static void test_several_images(void **state) {
  (void)state;
  const build_held_sizes n = {1, 3, 200, 48, 96};
  const hw_array array = array_of("gemmini-default");
  graph *one = build_held(&n, 0.7F), *all = graph_repeat(one, 3);
  const uint64_t digest = run_on(all, &array, "cycle", RUN_HART_TIMED).digest;
  for (network_slot_rule rule = 0; rule < NETWORK_SLOT_RULES; rule++) {
    network *net = network_in_slots(all, &array, rule);
    int held = 0;
    for (int s = 0; s < net->step_count; s++) {
      if (!net->steps[s].held) continue;
      held++;
      assert_int_equal(net->steps[s + 1].part_count, 0);
      assert_int_equal(net->steps[s + 1].calls[0].call.op, WEFT_HOST_QLEAVE);
    }
    assert_int_equal(held, held_steps(all, &array));
    void **inputs = build_random_inputs(all);
    wf_diag diag = wf_diag_to(stderr);
    const run_network_config config = {.engine = sim_engine_find("cycle"),
                                       .inputs = (const void *const *)inputs,
                                       .check = true,
                                       .hart = RUN_HART_TIMED};
    run_network_result result;
    assert_true(run_network(net, &config, &result, &diag));
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.digest, digest);
    run_network_release(net, &result);
    build_free_inputs(all, inputs);
    network_destroy(net);
  }
  graph_destroy(all);
  graph_destroy(one);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),    cmocka_unit_test(test_arrays),        cmocka_unit_test(test_arrays_that_cannot),
      cmocka_unit_test(test_one_pair), cmocka_unit_test(test_time_of_zeros), cmocka_unit_test(test_several_images)};
  if (argc > 1) timed_engine = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
