// SPDX-License-Identifier: Apache-2.0
// Attention by bands gives the bytes of attention as a whole: for the interpreter, with all sizes and kinds of softmax,
// and on engines, where no band is copied out of a tensor or into one.
#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "compiler/graph/run.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/build_bands.h"
#include "compiler/network/tests/outcome.h"
#include "compiler/quantise/rewrite.h"

// Products of two tensors that are no constants: two for each band.
static int count_bands(const graph *g) {
  int products = 0;
  for (int n = 0; n < g->node_count; n++)
    products += g->nodes[n].op == GRAPH_OP_QMAT_MUL && g->tensors[g->nodes[n].inputs[1]].data == NULL;
  assert_int_equal(products % 2, 0);
  return products / 2;
}

static void *result_of(const graph *g) {
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = build_random_inputs(g), *y = WF_NEW_ARRAY(graph_bytes(&g->tensors[g->outputs[0]]) + 1, char);
  assert_true(graph_run(g, (const void *const *)inputs, &y, &(graph_run_options){.file = g->name}, &diag));
  build_free_inputs(g, inputs);
  return y;
}

static graph *banded(const build_bands_sizes *n, build_bands_kind kind, int64_t near_bytes) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = build_bands(n, kind);
  assert_true(graph_verify(g, &diag));
  quantise_rewrite_bands(g, near_bytes);
  assert_true(graph_verify(g, &diag));
  return g;
}

// Bytes of a cache for which a band has so many rows of scores.
static int64_t near_for(const build_bands_sizes *n, int64_t rows) { return 6 * rows * n->columns; }

static void test_random(void **state) {
  (void)state;
  uint64_t random = 5;
  int cut = 0;
  for (int i = 0; i < 160; i++) {
    const build_bands_sizes n = {1 + (int64_t)wf_random_below(&random, 3),
                                 1 + (int64_t)wf_random_below(&random, 6),
                                 32 + (int64_t)wf_random_below(&random, 90),
                                 4 + 4 * (int64_t)wf_random_below(&random, 30),
                                 1 + (int64_t)wf_random_below(&random, 20),
                                 1 + (int64_t)wf_random_below(&random, 20),
                                 wf_random_below(&random, 2) != 0};
    const int64_t rows = 16 + (int64_t)wf_random_below(&random, (uint64_t)(n.heads * n.rows));
    graph *whole = build_bands(&n, (build_bands_kind)(i % BUILD_BANDS_KINDS)),
          *bands = banded(&n, (build_bands_kind)(i % BUILD_BANDS_KINDS), near_for(&n, rows));
    void *expected = result_of(whole), *got = result_of(bands);
    assert_memory_equal(got, expected, graph_bytes(&whole->tensors[whole->outputs[0]]));
    const int64_t all = n.images * n.heads * n.rows;
    // Parts of a matrix are rounded to 32 rows, and heads are shared out evenly.
    const int least = (int)wf_ceil_div(all, wf_max(rows, INT64_C(32)) + 32);
    assert_true(all <= 3 * rows || count_bands(bands) >= least);
    cut += count_bands(bands) > 1;
    wf_free(expected);
    wf_free(got);
    graph_destroy(whole);
    graph_destroy(bands);
  }
  assert_true(cut > 100);
}

static void test_counts(void **state) {
  (void)state;
  static const struct {
    build_bands_sizes n;
    int64_t rows;
    int bands;
  } cases[] = {{{1, 12, 128, 128, 64, 64, true}, 128, 12}, {{1, 12, 128, 128, 64, 64, true}, 300, 6},
               {{1, 12, 128, 128, 64, 64, true}, 64, 24},  {{4, 3, 100, 48, 16, 16, false}, 250, 8},
               {{12, 2, 50, 48, 16, 16, true}, 250, 6},    {{6, 2, 50, 48, 16, 16, true}, 60, 12},
               {{1, 1, 90, 48, 16, 16, true}, 29, 3},      {{1, 2, 70, 40, 8, 8, false}, 1, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = banded(&cases[i].n, BUILD_BANDS_MASKED, near_for(&cases[i].n, cases[i].rows));
    assert_int_equal(count_bands(g), cases[i].bands);
    graph_destroy(g);
  }
}

static void test_left_alone(void **state) {
  (void)state;
  const build_bands_sizes n = {1, 4, 64, 64, 16, 16, true}, low = {1, 400, 16, 64, 16, 16, true};
  graph *g = banded(&n, BUILD_BANDS_SHARES, 0), *near = banded(&n, BUILD_BANDS_SHARES, 1 << 20),
        *few_rows = banded(&low, BUILD_BANDS_SHARES, 4096);
  assert_int_equal(count_bands(g), 1);
  assert_int_equal(count_bands(near), 1);
  assert_int_equal(count_bands(few_rows), 1);
  graph *seen = build_bands(&n, BUILD_BANDS_SHARES);  // the graph has the scores as an output
  for (int i = 0; i < seen->node_count; i++)
    if (seen->nodes[i].op == GRAPH_OP_QMAT_MUL) {
      graph_set_ends(seen, seen->inputs, seen->input_count, (int[]){seen->outputs[0], seen->nodes[i].outputs[0]}, 2);
      break;
    }
  quantise_rewrite_bands(seen, 4096);
  assert_int_equal(count_bands(seen), 1);
  graph_destroy(g);
  graph_destroy(near);
  graph_destroy(few_rows);
  graph_destroy(seen);
}

static const char *timed_engine = "cycle";

static void check(const build_bands_sizes *n, build_bands_kind kind, int64_t rows, const hw_array *array) {
  graph *whole = build_bands(n, kind), *bands = banded(n, kind, near_for(n, rows));
  assert_true(count_bands(bands) > 1);
  const outcome all = run_on(whole, array, "cycle", RUN_HART_TIMED), ref = run_on(bands, array, "ref", RUN_HART_NATIVE),
                cycle = run_on(bands, array, "cycle", RUN_HART_TIMED),
                mixed = run_fused(bands, array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
  assert_int_equal(cycle.digest, all.digest);
  assert_int_equal(cycle.digest, ref.digest);
  assert_int_equal(cycle.digest, mixed.digest);
  network *net = network_on(bands, array);
  for (int s = 0; s < net->step_count; s++) {
    const graph_op op = net->steps[s].node->op;
    assert_true(op != GRAPH_OP_SLICE && op != GRAPH_OP_CONCAT && op != GRAPH_OP_TRANSPOSE);
  }
  network_destroy(net);
  if (strcmp(timed_engine, "cycle") != 0) {
    const outcome other = run_on(bands, array, timed_engine, RUN_HART_TIMED);
    assert_int_equal(other.digest, cycle.digest);
    assert_int_equal(other.cycles, cycle.cycles);
  }
  graph_destroy(whole);
  graph_destroy(bands);
}

static void test_engines(void **state) {
  (void)state;
  static const build_bands_sizes sizes[] = {
      {1, 4, 96, 64, 32, 32, true}, {2, 3, 49, 52, 16, 24, true}, {1, 3, 50, 64, 24, 32, false}};
  const hw_array plain = array_of("gemmini-default"), unit = array_of("transformer-16");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (build_bands_kind kind = 0; kind < BUILD_BANDS_KINDS; kind++)
      check(&sizes[i], kind, 48 - 4 * (int64_t)i, kind == BUILD_BANDS_UNIT ? &unit : &plain);
}

// A part of a tensor as second matrix of one product, with a bias and without.
static void test_parts_with_bias(void **state) {
  (void)state;
  static const char *const shapes[] = {"i8[2, 16, 24]", "i8[1, 16, 24]", "i8[1, 20, 16]", "i8[1, 20, 24]"},
                           *const flat[] = {"i8[32, 24]", "i8[16, 24]", "i8[20, 16]", "i8[20, 24]"};
  const hw_array array = array_of("gemmini-default");
  for (int n = 0; n < 4; n++) {
    const char *const *shape = n < 2 ? shapes : flat;
    char text[2048], bias[256] = "";
    int at = 0;
    for (int i = 0; i < 24; i++)
      at += snprintf(bias + at, sizeof bias - (size_t)at, "%s%d", i == 0 ? "" : ", ", 90 * i);
    snprintf(text, sizeof text,
             "graph parts\ninput x %s\ninput w %s\nconstant from i64[1] = [%d]\nconstant to i64[1] = [%d]\n"
             "constant axis i64[1] = [0]\nconstant step i64[1] = [1]\nconstant bias i32[24] = [%s]\n"
             "node s Slice(w, from, to, axis, step) -> s %s\n"
             "node y QMatMul(x, s%s) -> y %s {scale = 0.01}\noutput y\n",
             shape[2], shape[0], n < 2 ? 1 : 16, n < 2 ? 2 : 32, bias, shape[1], n % 2 == 0 ? ", bias" : "", shape[3]);
    wf_diag diag = wf_diag_to(stderr);
    graph *g = graph_parse("parts", text, strlen(text), &diag);
    assert_non_null(g);
    assert_int_equal(run_on(g, &array, "cycle", RUN_HART_TIMED).digest,
                     run_on(g, &array, "ref", RUN_HART_NATIVE).digest);
    graph_destroy(g);
  }
}

// The scores of a band, what is made of them, and no more are in memory at one time.
static void test_memory(void **state) {
  (void)state;
  const build_bands_sizes n = {1, 8, 128, 128, 16, 16, true};
  const hw_array array = array_of("gemmini-default");
  graph *whole = build_bands(&n, BUILD_BANDS_SHARES), *bands = banded(&n, BUILD_BANDS_SHARES, near_for(&n, n.rows));
  network *large = network_on(whole, &array), *small = network_on(bands, &array);
  assert_true(2 * small->arena_bytes < large->arena_bytes);
  network_destroy(large);
  network_destroy(small);
  graph_destroy(whole);
  graph_destroy(bands);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),     cmocka_unit_test(test_counts),
                                     cmocka_unit_test(test_left_alone), cmocka_unit_test(test_parts_with_bias),
                                     cmocka_unit_test(test_memory),     cmocka_unit_test(test_engines)},
                          on_hardware[] = {cmocka_unit_test(test_engines)};
  if (argc > 1) timed_engine = argv[1];
  if (argc > 1) return cmocka_run_group_tests(on_hardware, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
