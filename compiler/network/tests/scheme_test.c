// SPDX-License-Identifier: Apache-2.0
// Schemes of layers: each one that is listed computes what the interpreter of the graph says, whatever its neighbours
// have; it is the kernel that it names; and what is not listed is refused.
#include "compiler/network/scheme.h"

#include <string.h>

#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

// Scheme number `turn` of every node, or the one that is so far behind the last as turn is.
typedef struct turn {
  const graph *g;
  const hw_array *array;
  size_t number;
  network_scheme given;
  bool met[NETWORK_WAY_COUNT], dense, beside, loops, apart, with;
} turn;

static const network_scheme *scheme_of_turn(void *context, const graph_node *node) {
  turn *t = context;
  network_scheme list[NETWORK_SCHEMES_MAX];
  const size_t count = network_list_schemes(t->g, node, t->array, list);
  t->given = list[t->number % count];
  t->met[t->given.way] = true;
  t->dense = t->dense || t->given.dense;
  t->loops = t->loops || t->given.style == BLOCK_STYLE_LOOP;
  t->beside = t->beside || (t->given.beside > 1 && t->given.way != NETWORK_BY_GROUPS);
  t->apart = t->apart || t->given.pool == NETWORK_POOL_APART;
  t->with = t->with || t->given.pool == NETWORK_POOL_WITH;
  return &t->given;
}

static size_t most_schemes(const graph *g, const hw_array *array) {
  size_t most = 0;
  for (int n = 0; n < g->node_count; n++) {
    network_scheme list[NETWORK_SCHEMES_MAX];
    const size_t count = network_list_schemes(g, &g->nodes[n], array, list);
    if (count > most) most = count;
  }
  return most;
}

static turn run_all(const graph *g, const char *name, const char *engine) {
  const hw_array array = array_of(name);
  turn t = {.g = g, .array = &array};
  const uint64_t digest = run_on(g, &array, engine, RUN_HART_NATIVE).digest;
  const size_t most = most_schemes(g, &array);
  assert_true(most > 1 && most <= NETWORK_SCHEMES_MAX);
  for (t.number = 0; t.number < most; t.number++) {
    const network_options options = {.array = &array, .jobs = 2, .scheme = scheme_of_turn, .scheme_context = &t};
    const outcome o = run_with(g, &options, engine, RUN_HART_NATIVE);
    assert_int_equal(o.wrong, 0);
    assert_int_equal(o.digest, digest);
  }
  return t;
}

static graph *build_one(int64_t size, int64_t channels, const build_conv *conv) {
  const int64_t image[4] = {1, size, size, channels};
  graph *g = graph_create("one");
  const int input = build_input(g, GRAPH_I8, 4, image);
  const int x = build_conv2d(g, input, conv);
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

static void test_all_schemes(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4"};
  static const int blocks[4] = {1, 1, 1, 1};
  graph *mobile = build_mobile(), *residual = build_residual(blocks, 16, 32),
        *pooled =
            build_one(16, 24, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 40, .pool = {3, 2, 1}});
  for (size_t a = 0; a < (TEST_SANITIZED ? 1 : sizeof arrays / sizeof *arrays); a++) {
    const turn m = run_all(mobile, arrays[a], "ref"), r = run_all(residual, arrays[a], "ref"),
               p = run_all(pooled, arrays[a], "ref");
    for (int way = 0; way < NETWORK_WAY_COUNT; way++) assert_true(m.met[way] || r.met[way]);
    assert_true(m.dense && (m.beside || r.beside) && (m.loops || r.loops));
    assert_true(p.apart && (p.with || a > 0));  // not every array has the unit
  }
  run_all(mobile, "gemmini-default", "cycle");
  graph_destroy(mobile);
  graph_destroy(residual);
  graph_destroy(pooled);
}

// ---- one convolution

static const network_scheme *fixed(void *context, const graph_node *node) {
  (void)node;
  return context;
}

static network *make(const graph *g, const hw_array *array, network_scheme scheme) {
  wf_diag silent = wf_diag_to(NULL);
  const network_options options = {.array = array, .scheme = fixed, .scheme_context = &scheme};
  return network_create(g, &options, &silent);
}

static void test_kernels(void **state) {
  (void)state;
  static const struct {
    network_scheme scheme;
    const char *kernels[4];
  } cases[] = {
      {{.way = NETWORK_BY_TAPS, .beside = 1}, {"conv2d"}},
      {{.way = NETWORK_BY_TAPS, .beside = 2}, {"conv2d"}},
      {{.way = NETWORK_BY_ROWS, .beside = 1}, {"conv2d_narrow", "conv2d_narrow", "conv2d_narrow"}},
      {{.way = NETWORK_BY_COLUMNS, .beside = 1}, {"copy", "copy", "copy", "gemm"}},
  };
  graph *g = build_one(16, 24, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 24});
  const hw_array array = array_of("gemmini-default");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    network *net = make(g, &array, cases[i].scheme);
    assert_non_null(net);
    const char *last = NULL;
    for (int k = 0; k < 4 && cases[i].kernels[k] != NULL; k++) last = cases[i].kernels[k];
    assert_string_equal(layer_kernels[net->kernels[net->steps[net->step_count - 1].kernel].call->kernel].name, last);
    for (int s = 0; s < net->step_count && cases[i].scheme.way != NETWORK_BY_COLUMNS; s++)
      assert_string_equal(layer_kernels[net->kernels[net->steps[s].kernel].call->kernel].name, cases[i].kernels[s]);
    network_destroy(net);
  }
  graph_destroy(g);
}

// Rows of the window have no residual; a window is no product; no group has groups.
static void test_refused(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  graph *g = build_one(16, 24, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 24});
  assert_null(make(g, &array, (network_scheme){.way = NETWORK_BY_PRODUCT, .beside = 1}));
  assert_null(make(g, &array, (network_scheme){.way = NETWORK_BY_GROUPS, .beside = 1}));
  assert_null(make(g, &array, (network_scheme){.way = NETWORK_BY_TAPS, .beside = 16}));
  assert_null(make(g, &array, (network_scheme){.way = NETWORK_BY_TAPS, .beside = 1, .dense = true}));
  graph_destroy(g);
  wf_diag silent = wf_diag_to(NULL);
  g = build_one(16, 24, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 24, .factor = 3, .residual = 0});
  network_scheme rows = {.way = NETWORK_BY_ROWS, .beside = 1};
  const network_options options = {.array = &array, .scheme = fixed, .scheme_context = &rows};
  assert_null(network_create(g, &options, &silent));
  graph_destroy(g);
}

static void test_text(void **state) {
  (void)state;
  wf_arena *arena = wf_arena_create();
  const network_scheme scheme = {
      .way = NETWORK_BY_ROWS, .dense = true, .beside = 4, .style = BLOCK_STYLE_LOOP, .pool = NETWORK_POOL_APART};
  assert_string_equal(network_scheme_text(&scheme, arena), "dense rows, 4 side by side, as loops, pooled apart");
  assert_string_equal(network_scheme_text(&(network_scheme){.way = NETWORK_BY_RULES}, arena), "rules");
  wf_arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_schemes), cmocka_unit_test(test_kernels),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
