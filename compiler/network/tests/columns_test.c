// SPDX-License-Identifier: Apache-2.0
// Parts of concatenations that need no copy of their own.
#include "base/random.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

// The kernel `copy` writes transposes and resizes into the concatenation that reads them, but not those that the
// network gives out, those of other dimensions, and the second of a part that the concatenation has twice.
static const char joins[] =
    "graph joins\n"
    "input x i8[1, 2, 3, 4, 24]\n"
    "input z i8[1, 3, 4, 16]\n"
    "input y i8[1, 6, 8, 5]\n"
    "input f f32[7, 3, 5]\n"
    "constant scales f32[4] = [1.0, 2.0, 2.0, 1.0]\n"
    "constant rows i64[4] = [1, 6, 4, 24]\n"
    "constant wide i64[4] = [1, 6, 8, 12]\n"
    "node t Transpose(x) -> t i8[1, 3, 2, 4, 24] {perm = [0, 2, 1, 3, 4]}\n"
    "node r Reshape(t, rows) -> r i8[1, 6, 4, 24]\n"
    "node u Transpose(x) -> u i8[1, 3, 4, 2, 24] {perm = [0, 2, 3, 1, 4]}\n"
    "node v Reshape(u, wide) -> v i8[1, 6, 8, 12]\n"
    "node s Resize(z, _, scales) -> s i8[1, 6, 8, 16] {mode = \"nearest\"}\n"
    "node a Concat(y, s) -> a i8[1, 6, 8, 21] {axis = 3}\n"
    "node k Transpose(y) -> k i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node l Transpose(y) -> l i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node b Concat(k, l) -> b i8[1, 8, 6, 10] {axis = -1}\n"
    "node c Concat(r, r) -> c i8[1, 6, 4, 48] {axis = 3}\n"
    "node d Concat(v, y) -> d i8[1, 6, 8, 17] {axis = 3}\n"
    "node m Transpose(f) -> m f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node n Transpose(f) -> n f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node o Transpose(f) -> o f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node e Concat(m, n, o) -> e f32[3, 7, 15] {axis = 2}\n"
    "node p Transpose(y) -> p i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node g Concat(p, p) -> g i8[1, 16, 6, 5] {axis = 1}\n"
    "node q Transpose(y) -> q i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node h Concat(q, b) -> h i8[1, 8, 6, 15] {axis = 3}\n"
    "output a\noutput c\noutput d\noutput e\noutput g\noutput h\noutput n\n";

// Copies of concatenations that are left: y twice, r, n, p twice, and v, whose name has other rows.
static void test_joins(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("joins", joins, sizeof joins - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    run_both(g, arrays[a]);
    assert_int_equal(count_steps(g, arrays[a], GRAPH_OP_CONCAT), 7);
  }
  graph_destroy(g);
}

// ---- convolutions and pooling

static int concat(graph *g, const int *parts, int count) {
  int64_t dim[4];
  memcpy(dim, g->tensors[parts[0]].dim, sizeof dim);
  dim[3] = 0;
  for (int i = 0; i < count; i++) dim[3] += g->tensors[parts[i]].dim[3];
  const int y = build_result(g, GRAPH_I8, 4, dim);
  graph_node *node =
      graph_add_node(g, GRAPH_OP_CONCAT, wf_arena_format(g->arena, "n%d", g->node_count), parts, count, &y, 1);
  graph_set_int(g, node, "axis", 3);
  return y;
}

// A dense block as of DenseNet-121: each layer reads all before it. `nested`: each has what the layer before had with
// that one's results behind it, as other writers of such networks say it.
static graph *dense_block(bool nested) {
  enum { LAYERS = 4 };
  graph *g = graph_create("dense");
  const int64_t dim[4] = {1, 14, 14, 3};
  int parts[LAYERS + 1], all;
  const int input = build_input(g, GRAPH_I8, 4, dim);
  all = parts[0] =
      build_conv2d(g, input, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 32, .pool = {3, 2, 1}});
  for (int i = 0; i < LAYERS; i++) {
    const int64_t channels = g->tensors[all].dim[3];
    int x = build_conv2d(g, all, &(build_conv){.kernel = 1, .stride = 1, .channels = channels, .groups = channels});
    x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 48});
    parts[i + 1] =
        build_conv2d(g, x, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 16, .no_relu = true});
    const int two[2] = {all, parts[i + 1]};
    all = nested ? concat(g, two, 2) : concat(g, parts, i + 2);
  }
  const int mean = build_pool(g, GRAPH_OP_QAVERAGE_POOL, all, 2, 2, 0);
  const int y = build_pool(g, GRAPH_OP_QGLOBAL_AVERAGE_POOL, mean, 0, 0, 0);
  graph_set_ends(g, &input, 1, &y, 1);
  return g;
}

static void test_dense_blocks(void **state) {
  (void)state;
  for (int nested = 0; nested < 2; nested++) {
    graph *g = dense_block(nested != 0);
    run_both(g, "gemmini-default");
    assert_int_equal(count_steps(g, "gemmini-default", GRAPH_OP_CONCAT), 0);
    run_both(g, "dim32");  // whose side is more than the layers' results: copies
    assert_true(count_steps(g, "dim32", GRAPH_OP_CONCAT) > 0);
    graph_destroy(g);
  }
}

// A concatenation lies in a longer one if its parts are neighbours there, in the same order, and if no sum reads it.
// The compiler makes two copies for each of the others.
static void test_shorter_concatenations(void **state) {
  (void)state;
  enum { PARTS = 3 };
  static const int shorter[][2] = {{0, 1}, {1, 2}, {1, 0}, {0, 2}, {0, 1}};
  enum { SHORTER = sizeof shorter / sizeof *shorter };
  graph *g = graph_create("shorter");
  const int64_t dim[4] = {1, 5, 6, 16};
  const int input = build_input(g, GRAPH_I8, 4, dim);
  int parts[PARTS], outputs[SHORTER + 1];
  for (int i = 0; i < PARTS; i++)
    parts[i] = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 16 + 8 * i});
  const build_conv conv = {.kernel = 3, .stride = 1, .pad = 1, .channels = 16};
  for (int i = 0; i < SHORTER; i++) {
    const int two[2] = {parts[shorter[i][0]], parts[shorter[i][1]]}, both = concat(g, two, 2);
    outputs[i] = i + 1 < SHORTER ? build_conv2d(g, both, &conv) : build_add(g, both, both, false);
  }
  outputs[SHORTER] = build_conv2d(g, concat(g, parts, PARTS), &conv);
  graph_set_ends(g, &input, 1, outputs, SHORTER + 1);
  run_both(g, "gemmini-default");
  assert_int_equal(count_steps(g, "gemmini-default", GRAPH_OP_CONCAT), 6);
  graph_destroy(g);
}

// Pooling of all kinds from columns and to columns: windows in one command and in steps, strides of more than a command
// has, padding in memory, means of the whole image.
static void test_pooling(void **state) {
  (void)state;
  static const int64_t pools[][3] = {{2, 1, 0}, {3, 1, 1}, {5, 1, 2}, {5, 4, 2}, {1, 4, 0}, {4, 4, 1}};
  enum { POOLS = sizeof pools / sizeof *pools };
  graph *g = graph_create("pooling");
  const int64_t dim[4] = {2, 9, 9, 16};
  const int input = build_input(g, GRAPH_I8, 4, dim);
  int outputs[2 * POOLS + 2], count = 0;
  const int a = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 24, .no_relu = true}),
            b = build_pool(g, GRAPH_OP_QMAX_POOL, a, 1, 1, 0), both[2] = {a, b};
  for (size_t i = 0; i < POOLS; i++) {
    const int64_t *p = pools[i];
    const int from = build_pool(g, GRAPH_OP_QMAX_POOL, b, p[0], p[1], p[2]),
              other = build_pool(g, GRAPH_OP_QMAX_POOL, a, p[0], p[1], p[2]);
    const int two[2] = {other, from};
    outputs[count++] = concat(g, two, 2);
  }
  outputs[count++] = build_pool(g, GRAPH_OP_QGLOBAL_AVERAGE_POOL, b, 0, 0, 0);
  outputs[count++] = concat(g, both, 2);
  graph_set_ends(g, &input, 1, outputs, count);
  run_both(g, "gemmini-default");
  assert_int_equal(count_steps(g, "gemmini-default", GRAPH_OP_CONCAT), 0);
  run_both(g, "dim4");
  graph_destroy(g);
}

// A step reads columns that the step before it and an earlier one have stored, and begins where the step before it
// does: mixed with it, too, it reads what both have stored.
static void check_wider_reader(int64_t size, int64_t channels, int64_t kernel) {
  hw_array array = array_of("gemmini-default");
  array.isa.revision = 2;
  graph *g = graph_create("wider");
  const int64_t dim[4] = {1, size, size, 16};
  const build_conv part = {.kernel = kernel, .stride = 1, .pad = kernel / 2, .channels = channels, .no_relu = true};
  const int input = build_input(g, GRAPH_I8, 4, dim), behind = build_conv2d(g, input, &part),
            sum = build_add(g, input, input, false),  // a step that the compiler does not mix
      before = build_conv2d(g, input, &part), two[2] = {before, behind}, all = concat(g, two, 2),
            outputs[2] = {sum, build_conv2d(g, all, &part)};
  graph_set_ends(g, &input, 1, outputs, 2);
  const outcome apart = run_on(g, &array, "ref", RUN_HART_NATIVE),
                mixed = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
  assert_int_equal(mixed.digest, apart.digest);
  assert_int_equal(mixed.steps, apart.steps - 1);
  assert_int_equal(run_fused(g, &array, "cycle", RUN_HART_NATIVE, NETWORK_FUSE_ALL).digest, apart.digest);
  graph_destroy(g);
}

static void test_wider_reader(void **state) {
  (void)state;
  static const int64_t sizes[] = {5, 8, 17, 28}, channels[] = {16, 24, 40, 64};
  for (int i = 0; i < 4; i++)
    for (int c = 0; c < 4; c++) check_wider_reader(sizes[i], channels[c], c % 2 == 0 ? 3 : 1);
}

// ---- random networks

enum { TENSORS = 24 };

typedef struct maker {
  graph *g;
  int tensors[TENSORS];
  int count;
  uint64_t random;
} maker;

static int pick(maker *m) { return m->tensors[wf_random_below(&m->random, (uint64_t)m->count)]; }

static void keep(maker *m, int tensor) {
  if (m->count < TENSORS) m->tensors[m->count++] = tensor;
}

static int random_conv(maker *m, int x) {
  static const int64_t channels[] = {5, 16, 16, 24, 32, 40};
  const int64_t all = m->g->tensors[x].dim[3], few = WF_RANDOM_PICK(&m->random, channels);
  const bool by_channel = wf_random_one_in(&m->random, 4);
  build_conv conv = {.kernel = wf_random_one_in(&m->random, 2) ? 3 : 1,
                     .stride = 1,
                     .channels = by_channel ? all : few,
                     .groups = by_channel ? all : 1,
                     .no_relu = wf_random_one_in(&m->random, 2)};
  conv.pad = conv.kernel / 2;
  if (!by_channel && wf_random_one_in(&m->random, 4)) conv.pool[0] = 3, conv.pool[1] = 1, conv.pool[2] = 2;
  if (conv.pool[0] != 0) conv.no_relu = false;
  return build_conv2d(m->g, x, &conv);
}

static int random_concat(maker *m) {
  int parts[4];
  const int count = (int)wf_random_in(&m->random, 2, 4), first = (int)wf_random_below(&m->random, (uint64_t)m->count);
  const bool in_order = wf_random_one_in(&m->random, 2);  // as others have them, perhaps
  for (int i = 0; i < count; i++) parts[i] = in_order ? m->tensors[(first + i) % m->count] : pick(m);
  return concat(m->g, parts, count);
}

static int random_node(maker *m) {
  const int x = pick(m);
  switch (wf_random_below(&m->random, 8)) {
    case 0:
      return build_pool(m->g, GRAPH_OP_QMAX_POOL, x, 3, 1, 1);
    case 1:
      return build_pool(m->g, GRAPH_OP_QAVERAGE_POOL, x, 3, 1, 1);
    case 2:
      return build_add(m->g, x, x, true);
    case 3:
    case 4:
      return random_concat(m);
    default:
      return random_conv(m, x);
  }
}

// The network gives out the tensors that no node reads, and some others.
static void set_ends(maker *m) {
  graph *g = m->g;
  int outputs[TENSORS], count = 0;
  for (int t = 1; t < m->count; t++) {
    bool read = false;
    for (int n = 0; n < g->node_count; n++)
      for (int i = 0; i < g->nodes[n].input_count; i++) read |= g->nodes[n].inputs[i] == m->tensors[t];
    if (!read || wf_random_one_in(&m->random, 8)) outputs[count++] = m->tensors[t];
  }
  graph_set_ends(g, m->tensors, 1, outputs, count);
}

static graph *random_network(uint64_t seed) {
  maker m = {.g = graph_create("random"), .random = seed};
  const int64_t dim[4] = {wf_random_in(&m.random, 1, 2), wf_random_in(&m.random, 1, 7), wf_random_in(&m.random, 3, 7),
                          16};
  keep(&m, build_input(m.g, GRAPH_I8, 4, dim));
  const int nodes = (int)wf_random_in(&m.random, 6, TENSORS - 1);
  for (int i = 0; i < nodes; i++) {
    enum { WIDE = 400 };
    const int made = random_node(&m);
    if (m.g->tensors[made].dim[3] > WIDE) break;  // of no use: it has no reader and is no output
    keep(&m, made);
  }
  set_ends(&m);
  return m.g;
}

// Every element as the interpreter says, with steps by themselves and mixed, their tensors forwarded where they can be.
static void test_random(void **state) {
  (void)state;
  const int cases = TEST_SANITIZED ? 12 : 60;
  hw_array array = array_of("gemmini-default"), small = array_of("dim4");
  array.isa.revision = 2;
  for (int seed = 1; seed <= cases; seed++) {
    graph *g = random_network((uint64_t)seed);
    const outcome apart = run_on(g, &array, "ref", RUN_HART_NATIVE);
    const outcome mixed = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
    assert_int_equal(apart.digest, mixed.digest);
    assert_int_equal(run_on(g, &small, "ref", RUN_HART_NATIVE).digest, apart.digest);
    if (seed % 4 == 0)
      assert_int_equal(run_fused(g, &array, "cycle", RUN_HART_NATIVE, NETWORK_FUSE_ALL).digest, apart.digest);
    graph_destroy(g);
  }
}

// The Verilated hardware takes as many cycles as engine cycle.
static void test_hardware(void **state) {
  (void)state;
  graph *g = dense_block(false);
  assert_int_equal(count_steps(g, "dim8", GRAPH_OP_CONCAT), 0);
  const outcome cycle = run(g, "dim8", "cycle", RUN_HART_TIMED), rtl = run(g, "dim8", "rtl", RUN_HART_TIMED);
  assert_int_equal(cycle.digest, rtl.digest);
  assert_int_equal(cycle.cycles, rtl.cycles);
  graph_destroy(g);
}

int main(int argc, char **argv) {
  const struct CMUnitTest on_hardware[] = {cmocka_unit_test(test_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(on_hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_joins),
                                     cmocka_unit_test(test_dense_blocks),
                                     cmocka_unit_test(test_shorter_concatenations),
                                     cmocka_unit_test(test_pooling),
                                     cmocka_unit_test(test_wider_reader),
                                     cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
