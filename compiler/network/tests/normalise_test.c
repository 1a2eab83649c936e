// SPDX-License-Identifier: Apache-2.0
// Rows in the normaliser mixed with products before and behind them (--fuse) leave the same bytes as step by step, on
// engines, arrays and ISA revisions. What one step stores takes no other step's statistics away.
#include "base/number.h"
#include "base/random.h"
#include "compiler/network/mix.h"
#include "compiler/network/tests/build_unit.h"
#include "compiler/network/tests/outcome.h"

typedef struct sizes {
  int64_t heads, rows, columns, depth;
} sizes;

// Scores, softmax of their rows, what these weigh, a norm of it, a product, GELU of that and a product again.
static graph *build_block(const sizes *n, const graph_unit *softmax, const graph_unit *norm, int64_t lengths) {
  const graph_unit gelu = build_gelu(7, 0.04);
  graph *g = graph_create("block");
  const int64_t query[3] = {n->heads, n->rows, n->depth}, key[3] = {n->heads, n->columns, n->depth};
  const int64_t wide[2] = {n->depth, 48}, narrow[2] = {48, 32};
  const int ends[3] = {build_input(g, GRAPH_I8, 3, query), build_input(g, GRAPH_I8, 3, key),
                       build_input(g, GRAPH_I8, 3, key)};
  int x = build_product(g, ends[0], ends[1], true, false, false);
  x = build_unit(g, x, softmax, lengths);
  x = build_product(g, x, ends[2], false, false, false);
  x = build_unit(g, x, norm, 0);
  x = build_product(g, x, build_constant(g, GRAPH_I8, 2, wide), false, true, false);
  x = build_unit(g, x, &gelu, 0);
  x = build_product(g, x, build_constant(g, GRAPH_I8, 2, narrow), false, true, false);
  graph_set_ends(g, ends, 3, &x, 1);
  return g;
}

static hw_array array_with_unit(const char *name, uint32_t revision) {
  hw_array array = array_of(name);
  array.units.normaliser = true;
  array.isa.revision = revision;
  return array;
}

// The steps that a step of the network stands for.
static int parts_of(const network_step *step) { return step->parts == 0 ? 1 : step->parts; }

// How many steps with rows stand in mixes.
static int mixed_rows(const graph *g, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = {.array = array, .jobs = 2, .fuse = NETWORK_FUSE_ALL};
  network *apart = network_on(g, array), *mixed = network_create(g, &options, &diag);
  int rows = 0;
  assert_non_null(mixed);
  for (int s = 0, from = 0; s < mixed->step_count; from += parts_of(&mixed->steps[s++]))
    for (int n = from; n < from + mixed->steps[s].parts; n++)
      rows += apart->steps[n].place == GRAPH_ON_ARRAY && apart->kernels[apart->steps[n].kernel].unit != NULL;
  network_destroy(mixed);
  network_destroy(apart);
  return rows;
}

static void check(const graph *g, const hw_array *array, const char *timed) {
  const outcome alone = run_fused(g, array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_OFF);
  const outcome ref = run_fused(g, array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
  const outcome cycle = run_fused(g, array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
  assert_true(cycle.steps < alone.steps);
  assert_int_equal(ref.digest, alone.digest);
  assert_int_equal(cycle.digest, alone.digest);
  if (timed == NULL) return;
  const outcome other = run_fused(g, array, timed, RUN_HART_TIMED, NETWORK_FUSE_ALL);
  assert_int_equal(other.digest, cycle.digest);
  assert_int_equal(other.cycles, cycle.cycles);
}

// Softmax with and without offset and lengths; norms with one gain and two, with a mean and without.
static void test_mixed_rows(void **state) {
  (void)state;
  static const char *const names[] = {"transformer-16", "dim8", "dim32", "dim4"};
  static const sizes all[] = {{3, 37, 37, 32}, {2, 64, 150, 48}, {4, 16, 133, 16}, {1, 19, 64, 32}};
  const graph_unit softmax[] = {build_softmax(12, 0, 0.04), build_softmax(60, 3001, 0.06)};
  const graph_unit norms[] = {build_norm(10, 127, true), build_norm(8, 0, true), build_norm(9, 90, false)};
  int rows = 0;
  for (int n = 0; n < 12; n++) {
    if (TEST_SANITIZED && n % 3 != 0) continue;
    const hw_array array = array_with_unit(names[n % 4], 1 + (unsigned)(n / 4) % 2);
    const sizes *size = &all[(n + n / 4) % 4];
    graph *g = build_block(size, &softmax[n / 2 % 2], &norms[n % 3], n % 2 == 0 ? 0 : size->rows);
    check(g, &array, NULL);
    rows += mixed_rows(g, &array);
    graph_destroy(g);
  }
  assert_true(rows > (TEST_SANITIZED ? 8 : 24));
}

// Two norms may stand in one mix, but not where one of them takes no mean off: it clears it once.
static void test_kept_mean(void **state) {
  (void)state;
  const hw_array array = array_with_unit("transformer-16", 1);
  const sizes n = {2, 40, 32, 32};
  for (int centred = 0; centred < 2; centred++) {
    const graph_unit softmax = build_softmax(12, 0, 0.04), norm = build_norm(9, 90, centred != 0);
    graph *g = build_block(&n, &softmax, &norm, 0);
    network *net = network_on(g, &array);
    assert_int_equal(network_can_mix(net, (network_window){1, 3}), centred != 0);
    assert_true(network_can_mix(net, (network_window){2, 3}));
    network_destroy(net);
    graph_destroy(g);
  }
}

static void test_hardware(void **state) {
  (void)state;
  const graph_unit softmax = build_softmax(60, 3001, 0.06), norm = build_norm(10, 127, true);
  const sizes n = {2, 21, 30, 16};
  for (unsigned revision = 1; revision <= 2; revision++) {
    const hw_array array = array_with_unit("dim4", revision);
    graph *g = build_block(&n, &softmax, &norm, n.rows);
    check(g, &array, "rtl");
    graph_destroy(g);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed_rows), cmocka_unit_test(test_kept_mean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
