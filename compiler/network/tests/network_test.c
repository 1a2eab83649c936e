// SPDX-License-Identifier: Apache-2.0
// Network programs leave, step by step, what the interpreter of the graph says: on all engines, for arrays of several
// sizes, with the hart and without; and what cannot be lowered is refused by name.
#include "base/random.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"
#include "runner/judge.h"

static void test_residual_network(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim8", "dim32"};
  static const int blocks[4] = {1, 2, 1, 1};
  graph *g = build_residual(blocks, 16, 32);
  uint64_t digest = 0;
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome ref = run(g, arrays[a], "ref", RUN_HART_NATIVE);
    const outcome cycle = run(g, arrays[a], "cycle", RUN_HART_TIMED);
    assert_int_equal(ref.digest, cycle.digest);
    assert_true(cycle.cycles > 10000 && ref.cycles == 0 && cycle.compared > 1000);
    if (a > 0) assert_int_equal(ref.digest, digest);
    digest = ref.digest;
  }
  graph_destroy(g);
}

static void test_mobile_network(void **state) {
  (void)state;
  graph *g = build_mobile();
  const outcome ref = run(g, "gemmini-default", "ref", RUN_HART_NATIVE);
  const outcome cycle = run(g, "gemmini-default", "cycle", RUN_HART_TIMED);
  assert_int_equal(ref.digest, cycle.digest);
  assert_int_equal(cycle.host_cycles, 0);  // the padding of the max pooling is the array's
  run(g, "dim8", "ref", RUN_HART_NATIVE);
  graph_destroy(g);
}

static void test_attention(void **state) {
  (void)state;
  graph *g = build_attention();
  const outcome native = run(g, "gemmini-default", "cycle", RUN_HART_NATIVE);
  const outcome timed = run(g, "gemmini-default", "cycle", RUN_HART_TIMED);
  assert_int_equal(native.digest, timed.digest);  // the hart's numbers are the same bits
  assert_true(timed.host_cycles > 10 * native.host_cycles && timed.host_cycles > 100000);
  graph_destroy(g);
}

// Copies: rows, single elements, backwards, over more dimensions than the array's kernel has, of several types.
static const char moves[] =
    "graph moves\n"
    "input x i8[1, 10, 13, 24]\n"
    "input z i8[1, 10, 13, 5]\n"
    "input f f32[3, 7, 5]\n"
    "constant pads i64[8] = [0, 1, 2, 0, 0, 3, 1, 0]\n"
    "constant few i64[6] = [0, 1, 0, 0, 0, 2]\n"
    "constant seven i8[] = [-7]\n"
    "constant half f32[] = [0.5]\n"
    "constant start i64[2] = [11, 1]\n"
    "constant end i64[2] = [-20, 9]\n"
    "constant axes i64[2] = [2, 1]\n"
    "constant steps i64[2] = [-3, 2]\n"
    "constant scales f32[4] = [1.0, 2.0, 3.0, 1.0]\n"
    "constant shape i64[4] = [2, 3, 7, 5]\n"
    "constant parts i64[3] = [4, 1, 8]\n"
    "node pad Pad(x, pads, seven) -> a i8[1, 14, 16, 24]\n"
    "node slice Slice(x, start, end, axes, steps) -> b i8[1, 4, 4, 24]\n"
    "node concat Concat(x, z, x) -> c i8[1, 10, 13, 53] {axis = 3}\n"
    "node split Split(x, parts) -> d i8[1, 10, 4, 24], e i8[1, 10, 1, 24], g i8[1, 10, 8, 24] {axis = 2}\n"
    "node rows Transpose(x) -> h i8[1, 13, 10, 24] {perm = [0, 2, 1, 3]}\n"
    "node elements Transpose(x) -> i i8[1, 24, 13, 10] {perm = [0, 3, 2, 1]}\n"
    "node resize Resize(z, _, scales) -> j i8[1, 20, 39, 5] {mode = \"nearest\"}\n"
    "node depth DepthToSpace(i) -> k i8[1, 6, 26, 20] {blocksize = 2}\n"
    "node space SpaceToDepth(k) -> l i8[1, 24, 13, 10] {blocksize = 2}\n"
    "node float Transpose(f) -> m f32[5, 3, 7] {perm = [2, 0, 1]}\n"
    "node padf Pad(f, few, half) -> n f32[3, 8, 7]\n"
    "node expand Expand(f, shape) -> o f32[2, 3, 7, 5]\n"
    "output a\noutput b\noutput c\noutput d\noutput e\noutput g\noutput h\noutput i\noutput j\noutput k\n"
    "output l\noutput m\noutput n\noutput o\n";

static graph *build_moves(void) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("moves", moves, sizeof moves - 1, &diag);
  assert_non_null(g);
  return g;
}

static void test_moves(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  graph *g = build_moves();
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_true(cycle.host_cycles > 0 && cycle.host_cycles < cycle.cycles / 2);  // the slice that goes backwards
  }
  graph_destroy(g);
}

// Gathers with constant indices are copies, or parts of what is there already; a sum with a row that is repeated.
static const char gathers[] =
    "graph gathers\n"
    "input x i8[4, 6, 8, 16]\n"
    "input row i8[6, 8, 16]\n"
    "constant rolled i64[6] = [2, 3, 4, 5, 0, 1]\n"
    "constant second i64[8] = [0, 2, 4, 6, 1, 3, 5, 7]\n"
    "constant mixed i64[4] = [-1, 0, 0, 7]\n"
    "constant last i64[] = [-2]\n"
    "constant table i64[2, 2] = [3, 1, 0, 2]\n"
    "constant begin i64[1] = [1]\n"
    "constant end i64[1] = [3]\n"
    "node roll Gather(x, rolled) -> a i8[4, 6, 8, 16] {axis = 1}\n"
    "node shuffle Gather(x, second) -> b i8[4, 6, 8, 16] {axis = 2}\n"
    "node mix Gather(a, mixed) -> c i8[4, 6, 4, 16] {axis = 2}\n"
    "node pick Gather(a, last) -> d i8[6, 8, 16] {axis = 0}\n"
    "node transpose Transpose(d) -> e i8[8, 6, 16] {perm = [1, 0, 2]}\n"
    "node of_table Gather(x, table) -> f i8[2, 2, 6, 8, 16] {axis = 0}\n"
    "node part Slice(b, begin, end) -> g i8[2, 6, 8, 16]\n"
    "node sum QAdd(g, row) -> h i8[2, 6, 8, 16] {scale_a = 0.75, scale_b = 0.5}\n"
    "output a\noutput c\noutput d\noutput e\noutput f\noutput h\n";

static void test_gathers(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("gathers", gathers, sizeof gathers - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_int_equal(cycle.host_cycles, 0);
  }
  graph_destroy(g);
}

// Norms of whole blocks of rows and of some more, with the sums of the array; softmax with a mask and without.
static graph *build_rows(void) {
  graph *g = graph_create("rows");
  const int64_t rows[3] = {1, 37, 250}, table[2] = {8, 256};
  const int x = build_input(g, GRAPH_I8, 3, rows), gamma = build_constant(g, GRAPH_F32, 1, rows + 2);
  const int inputs[2][3] = {{x, gamma, build_constant(g, GRAPH_F32, 1, rows + 2)},
                            {x, build_constant(g, GRAPH_U8, 2, table), build_constant(g, GRAPH_I8, 2, rows + 1)}};
  int ends[4];
  for (int n = 0; n < 4; n++) {
    graph_node *node = build_like(g, n < 2 ? GRAPH_OP_QLAYER_NORM : GRAPH_OP_QSOFTMAX, x, GRAPH_I8, &ends[n]);
    node->inputs = memcpy(wf_arena_alloc(g->arena, sizeof inputs[0], sizeof(int)), inputs[n / 2], sizeof inputs[0]);
    node->input_count = n % 2 == 0 ? 3 : 2;
    graph_set_float(g, node, n < 2 ? "epsilon" : "scale", n == 2 ? 30 : 900);
    if (n == 1) graph_set_int(g, node, "center", 0);
  }
  graph_set_ends(g, &x, 1, ends, 4);
  return g;
}

// Masks as high as the tensor: runs of rows with and without excluded columns, and few of them among others.
static graph *build_windows(void) {
  enum { ROWS = 6 * 40, WIDTH = 49 };
  graph *g = graph_create("windows");
  const int64_t rows[3] = {6, 40, WIDTH}, table[2] = {8, 256}, high[2] = {ROWS, WIDTH};
  const int x = build_input(g, GRAPH_I8, 3, rows), powers = build_constant(g, GRAPH_U8, 2, table);
  int8_t *mask = WF_ARENA_ARRAY(g->arena, ROWS * WIDTH, int8_t);
  for (int r = 0; r < ROWS; r++)
    for (int i = 0; i < WIDTH; i++)
      mask[r * WIDTH + i] = r / 40 % 2 == 0 || (r > 200 && r < 210) || (i % 7 < 4) == (r % 7 < 4);
  const int inputs[3] = {x, powers, build_constant(g, GRAPH_I8, 2, high)};
  g->tensors[inputs[2]].data = mask;
  int end;
  graph_node *node = build_like(g, GRAPH_OP_QSOFTMAX, x, GRAPH_I8, &end);
  node->inputs = memcpy(wf_arena_alloc(g->arena, sizeof inputs, sizeof(int)), inputs, sizeof inputs);
  node->input_count = 3;
  graph_set_float(g, node, "scale", 900);
  graph_set_ends(g, &x, 1, &end, 1);
  return g;
}

static void test_windows(void **state) {
  (void)state;
  graph *g = build_windows();
  run_both(g, "gemmini-default");
  graph_destroy(g);
}

static void test_rows(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  graph *g = build_rows();
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_true(cycle.cycles > cycle.host_cycles);  // the array takes part
  }
  graph_destroy(g);
}

// Gates of channels are the array's, on images of every size; products of two images the hart's.
static const char products[] =
    "graph products\n"
    "input x i8[2, 5, 7, 40]\n"
    "input gate i8[2, 1, 1, 40]\n"
    "input z i8[1, 9, 3, 7]\n"
    "input few i8[1, 1, 1, 7]\n"
    "node a QMul(x, gate) -> a i8[2, 5, 7, 40] {scale = 0.013}\n"
    "node b QMul(z, few) -> b i8[1, 9, 3, 7] {scale = 0.5}\n"
    "node c QMul(a, x) -> c i8[2, 5, 7, 40] {scale = 0.0079}\n"
    "node d QMul(gate, gate) -> d i8[2, 1, 1, 40] {scale = 1.0}\n"
    "output a\noutput b\noutput c\noutput d\n";

static void test_products(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("products", products, sizeof products - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    run_both(g, arrays[a]);
  }
  graph_destroy(g);
}

// Gates on the rows of weights, which a product then reads, are the array's, whatever the block at the end has.
static graph *build_gated_weights(int64_t channels, int64_t outputs) {
  graph *g = graph_create("gated");
  const int64_t image[4] = {1, 5, 7, channels}, numbers[4] = {1, 1, 1, channels}, weights[2] = {channels, outputs},
                column[2] = {channels, 1};
  const int x = build_input(g, GRAPH_I8, 4, image), gate = build_input(g, GRAPH_I8, 4, numbers);
  int64_t *dims = memcpy(wf_arena_alloc(g->arena, 2, sizeof *dims), column, sizeof column);
  const int shape =
      graph_add_tensor(g, &(graph_tensor){.name = "shape", .type = GRAPH_I64, .rank = 1, .dim = {2}, .data = dims});
  const int w = build_constant(g, GRAPH_I8, 2, weights), rows = build_result(g, GRAPH_I8, 2, column),
            gated = build_result(g, GRAPH_I8, 2, weights);
  graph_add_node(g, GRAPH_OP_RESHAPE, "column", (int[]){gate, shape}, 2, &rows, 1);
  graph_node *mul = graph_add_node(g, GRAPH_OP_QMUL, "mul", (int[]){w, rows}, 2, &gated, 1);
  graph_set_float(g, mul, "scale", 0.009F);
  const int y = build_product(g, x, gated, false, true, false);
  graph_set_ends(g, (int[]){x, gate}, 2, &y, 1);
  return g;
}

static void test_gated_weights(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim8", "dim32"};
  static const int64_t sizes[][2] = {{40, 24}, {7, 3}, {64, 70}, {33, 16}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    graph *g = build_gated_weights(sizes[i][0], sizes[i][1]);
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
      const outcome cycle = run_both(g, arrays[a]);
      assert_int_equal(cycle.host_cycles, 0);
    }
    graph_destroy(g);
  }
}

// Curves on the array, in rows of all widths.
static const char curves[] =
    "graph curves\n"
    "input x i8[1, 9, 17, 64]\n"
    "input z i8[3, 37]\n"
    "input w i8[41, 130]\n"
    "node a QCurve(x) -> a i8[1, 9, 17, 64] {slopes = [1, -2, 4], starts = [10, -100, 127], weights = [127, -3, 50], "
    "offset = -4321, scale = 0.007}\n"
    "node b QCurve(z) -> b i8[3, 37] {slopes = [12], starts = [-128], weights = [127], offset = 100, "
    "scale = 0.01}\n"
    "node c QCurve(w) -> c i8[41, 130] {slopes = [1, -1, 2, -2, 3, 4, -4, 6], starts = [0, 1, 2, 3, 4, 5, 6, 7], "
    "weights = [1, -2, 3, -4, 5, -6, 7, -8], offset = 16000, scale = 0.005}\n"
    "node d QCurve(a) -> d i8[1, 9, 17, 64] {slopes = [0, 1], starts = [100, 64], weights = [-1, 1], offset = -200, "
    "scale = 1.0}\n"
    "output a\noutput b\noutput c\noutput d\n";

static void test_curves(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim8", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("curves", curves, sizeof curves - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_int_equal(cycle.host_cycles, 0);
    assert_true(cycle.cycles > cycle.host_cycles);  // the array takes part
  }
  graph_destroy(g);
}

// Norms on the mesh: rows of all widths, blocks of rows that are not full, factors that are too large, no centring.
// Eight bytes of a factor do not fit an array with 4 or 8 rows: there the hart has all of a row.
static const char mesh_norms[] =
    "graph norms\n"
    "input x i8[2, 3, 21, 64]\n"
    "input z i8[5, 37]\n"
    "input w i8[41, 130]\n"
    "input u i8[37, 1030]\n"
    "node a QNormMesh(x) -> a i8[2, 3, 21, 64] {gain = 900000.0, most = 254, scale = 0.004, epsilon = 10.0}\n"
    "node b QNormMesh(z) -> b i8[5, 37] {gain = 300000.0, most = 127, scale = 0.007}\n"
    "node c QNormMesh(w) -> c i8[41, 130] {gain = 9000000.0, most = 1016, scale = 0.0011, center = 0}\n"
    "node d QNormMesh(a) -> d i8[2, 3, 21, 64] {gain = 1500000.0, most = 381, scale = 0.003}\n"
    "node e QNormMesh(u) -> e i8[37, 1030] {gain = 20000000.0, most = 254, scale = 0.006, center = 0}\n"
    "output a\noutput b\noutput c\noutput d\noutput e\n";

static void test_mesh_norms(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim2", "dim4", "dim8", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("norms", mesh_norms, sizeof mesh_norms - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_true(cycle.host_cycles > 0 && cycle.cycles > cycle.host_cycles);
  }
  graph_destroy(g);
}

// Attention without copies: heads are strides of the products, of two images too, and of results on their way back; a
// transposed tensor that has another reader, or is an output, and one whose rows change, are copied.
static const char exchanged[] =
    "graph heads\n"
    "input q i8[2, 19, 3, 24]\n"
    "input k i8[2, 19, 3, 24]\n"
    "input v i8[2, 19, 3, 24]\n"
    "input w i8[2, 3, 19, 24]\n"
    "constant ones i8[19, 1] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    "node qt Transpose(q) -> qt i8[2, 3, 19, 24] {perm = [0, 2, 1, 3]}\n"
    "node kt Transpose(k) -> kt i8[2, 3, 19, 24] {perm = [0, 2, 1, 3]}\n"
    "node vt Transpose(v) -> vt i8[2, 3, 19, 24] {perm = [0, 2, 1, 3]}\n"
    "node s QMatMul(qt, kt) -> s i8[2, 3, 19, 19] {transB = 1, scale = 0.002}\n"
    "node c QMatMul(s, vt) -> c i8[2, 3, 19, 24] {scale = 0.004}\n"
    "node ct Transpose(c) -> ct i8[2, 19, 3, 24] {perm = [0, 2, 1, 3]}\n"
    "node n QMatMul(s, w) -> n i32[2, 3, 19, 24]\n"
    "node m QMatMul(s, ones) -> m i32[2, 3, 19, 1]\n"
    "node h QShare(n, m) -> h i8[2, 3, 19, 24] {scale = 1.5}\n"
    "node ht Transpose(h) -> ht i8[2, 19, 3, 24] {perm = [0, 2, 1, 3]}\n"
    "output ct\noutput ht\n";

static const char exchanged_twice[] =
    "graph heads\n"
    "input q i8[2, 19, 3, 24]\n"
    "input w i8[2, 3, 21, 24]\n"
    "input x i8[2, 3, 24, 19]\n"
    "node t Transpose(q) -> t i8[2, 3, 19, 24] {perm = [0, 2, 1, 3]}\n"
    "node u Transpose(q) -> u i8[3, 2, 19, 24] {perm = [2, 0, 1, 3]}\n"
    "node z Transpose(x) -> z i8[2, 3, 19, 24] {perm = [0, 1, 3, 2]}\n"
    "node a QMatMul(t, w) -> a i8[2, 3, 19, 21] {transB = 1, scale = 0.002}\n"
    "node b QMatMul(w, t) -> b i32[2, 3, 21, 19] {transB = 1}\n"
    "node d QMatMul(z, w) -> d i8[2, 3, 19, 21] {transB = 1, scale = 0.002}\n"
    "output a\noutput b\noutput d\noutput u\n";

static void test_heads(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  static const struct {
    const char *text;
    bool copied;
  } cases[] = {{exchanged, false}, {exchanged_twice, true}};
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = graph_parse("heads", cases[i].text, strlen(cases[i].text), &diag);
    assert_non_null(g);
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
      run_both(g, arrays[a]);
      const hw_array array = array_of(arrays[a]);
      assert_int_equal(run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL).wrong, 0);
    }
    assert_int_equal(count_steps(g, "gemmini-default", GRAPH_OP_TRANSPOSE) != 0, cases[i].copied);
    graph_destroy(g);
  }
}

// Softmax around a product: rows of all widths, some in quarters, and sums of several matrices in int32.
static const char shares[] =
    "graph shares\n"
    "input x i8[2, 3, 21, 64]\n"
    "input v i8[2, 3, 64, 24]\n"
    "input z i8[5, 37]\n"
    "constant quarters i64[4] = [1, 252, 2, 16]\n"
    "constant rows i64[4] = [2, 3, 21, 16]\n"
    "node q Reshape(x, quarters) -> q i8[1, 252, 2, 16]\n"
    "node p QMaxPool(q) -> p i8[1, 126, 1, 16] {kernel_shape = [2, 2], strides = [2, 2]}\n"
    "node r Reshape(p, rows) -> r i8[2, 3, 21, 16]\n"
    "node a QHeadroom(r) -> a i8[2, 3, 21, 1]\n"
    "node b QHeadroom(x) -> b i8[2, 3, 21, 1]\n"
    "node c QHeadroom(z) -> c i8[5, 1]\n"
    "node s QMatMul(b, twos, _, x) -> s i8[2, 3, 21, 64] {factor = 1, scale = 1.0}\n"
    "node e QCurve(s) -> e i8[2, 3, 21, 64] {slopes = [1], starts = [0], weights = [1], scale = 1.0}\n"
    "node m QMatMul(e, ones) -> m i32[2, 3, 21, 1]\n"
    "node n QMatMul(e, v) -> n i32[2, 3, 21, 24]\n"
    "node d QShare(n, m) -> d i8[2, 3, 21, 24] {scale = 1.5}\n"
    "output a\noutput b\noutput c\noutput d\n";

static graph *build_shares(void) {
  wf_diag diag = wf_diag_to(stderr);
  char twos[512], ones[512], text[4096];
  int at[2] = {snprintf(twos, sizeof twos, "constant twos i8[1, 64] = ["),
               snprintf(ones, sizeof ones, "constant ones i8[64, 1] = [")};
  for (int i = 0; i < 64; i++) {
    at[0] += snprintf(twos + at[0], sizeof twos - (size_t)at[0], "%s2", i == 0 ? "" : ", ");
    at[1] += snprintf(ones + at[1], sizeof ones - (size_t)at[1], "%s1", i == 0 ? "" : ", ");
  }
  const char *nodes = strstr(shares, "node q");
  snprintf(text, sizeof text, "%.*s%s]\n%s]\n%s", (int)(nodes - shares), shares, twos, ones, nodes);
  graph *g = graph_parse("shares", text, strlen(text), &diag);
  assert_non_null(g);
  return g;
}

static void test_shares(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  graph *g = build_shares();
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const outcome cycle = run_both(g, arrays[a]);
    assert_true(cycle.cycles > cycle.host_cycles);  // the array takes part
  }
  graph_destroy(g);
}

// Nothing is done for tensors without elements.
static const char nothing[] =
    "graph nothing\n"
    "input x i8[1, 3, 3, 0]\n"
    "input gate i8[1, 1, 1, 0]\n"
    "constant places i64[2] = [1, 0]\n"
    "node a QMul(x, gate) -> a i8[1, 3, 3, 0] {scale = 0.5}\n"
    "node b QCurve(x) -> b i8[1, 3, 3, 0] {slopes = [1], starts = [0], weights = [1], scale = 1.0}\n"
    "input none i8[0, 7]\n"
    "node c Gather(x, places) -> c i8[1, 2, 3, 0] {axis = 1}\n"
    "node d QHeadroom(none) -> d i8[0, 1]\n"
    "output a\noutput b\noutput c\n";

static void test_nothing(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("nothing", nothing, sizeof nothing - 1, &diag);
  assert_non_null(g);
  run(g, "gemmini-default", "ref", RUN_HART_NATIVE);
  graph_destroy(g);
}

static int look_up(graph *g, int x, int table) {
  int y;
  const int inputs[2] = {x, table};
  graph_node *node = build_like(g, GRAPH_OP_QLUT, x, GRAPH_I8, &y);
  node->inputs = memcpy(wf_arena_alloc(g->arena, sizeof inputs, sizeof *inputs), inputs, sizeof inputs);
  node->input_count = 2;
  return y;
}

// A table's result takes the place of a buffer without later readers, and of such a buffer only.
static void test_results_in_place(void **state) {
  (void)state;
  graph *g = graph_create("tables");
  const int64_t matrix[2] = {9, 70}, entries[1] = {256};
  const int x = build_input(g, GRAPH_I8, 2, matrix), table = build_constant(g, GRAPH_I8, 1, entries);
  const int a = look_up(g, x, table), b = look_up(g, a, table), c = look_up(g, b, table);
  const int sum = build_add(g, a, c, false);
  graph_set_ends(g, &x, 1, &sum, 1);
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  hw_array_default(&array);
  const network_options options = {.array = &array};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  uint64_t at[4];
  const int tensors[4] = {x, a, b, c};
  for (int t = 0; t < 4; t++) at[t] = net->buffers[net->tensors[tensors[t]].buffer].address;
  assert_true(at[0] == at[1] && at[1] != at[2] && at[2] == at[3]);
  network_destroy(net);
  const outcome cycle = run(g, "gemmini-default", "cycle", RUN_HART_TIMED);
  assert_int_equal(cycle.compared, 4 * 9 * 70);
  graph_destroy(g);
}

// Outputs that no step makes: an input by another name, and a constant.
static void test_outputs_without_steps(void **state) {
  (void)state;
  graph *g = graph_create("names");
  const int64_t matrix[2] = {3, 5}, row[1] = {15};
  const int input = build_input(g, GRAPH_I8, 2, matrix);
  const int outputs[2] = {build_result(g, GRAPH_I8, 1, row), build_constant(g, GRAPH_I32, 1, row)};
  graph_add_node(g, GRAPH_OP_FLATTEN, "flat", &input, 1, &outputs[0], 1);
  graph_set_ends(g, &input, 1, outputs, 2);
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  hw_array_default(&array);
  const network_options options = {.array = &array};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  void **inputs = build_random_inputs(g);
  const run_network_config config = {
      .engine = sim_engine_find("ref"), .inputs = (const void *const *)inputs, .hart = RUN_HART_NATIVE};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_memory_equal(result.outputs[0], inputs[0], 15);
  assert_memory_equal(result.outputs[1], g->tensors[outputs[1]].data, 60);
  run_network_release(net, &result);
  build_free_inputs(g, inputs);
  network_destroy(net);
  graph_destroy(g);
}

// Two steps of cells, the second behind the states of the first.
static graph *build_cells(int64_t batch, int64_t width) {
  graph *g = graph_create("cells");
  const int64_t gates[2] = {batch, 4 * width}, states[2] = {batch, width}, tables = 2561;
  const int first = build_input(g, GRAPH_I8, 2, gates), second = build_input(g, GRAPH_I8, 2, gates);
  const int table = build_constant(g, GRAPH_F32, 1, &tables),
            y[3] = {build_result(g, GRAPH_F32, 2, states), build_result(g, GRAPH_F32, 2, states),
                    build_result(g, GRAPH_I8, 2, states)};
  graph_add_node(g, GRAPH_OP_QCELL, "a", (int[]){first, table}, 2, &y[0], 1)->place = GRAPH_ON_HOST;
  graph_add_node(g, GRAPH_OP_QCELL, "b", (int[]){second, table, y[0]}, 3, &y[1], 1)->place = GRAPH_ON_HOST;
  graph_node *node = graph_add_node(g, GRAPH_OP_QHIDDEN, "c", (int[]){second, table, y[1]}, 3, &y[2], 1);
  node->place = GRAPH_ON_HOST;
  graph_set_float(g, node, "scale", 60);
  graph_set_ends(g, (int[]){first, second}, 2, (int[]){y[1], y[2]}, 2);
  return g;
}

static void test_cells(void **state) {
  (void)state;
  static const int64_t sizes[][2] = {{1, 64}, {3, 7}, {5, 1}, {2, 24}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    graph *g = build_cells(sizes[i][0], sizes[i][1]);
    run_both(g, "dim8");
    graph_destroy(g);
  }
}

static int scaled(graph *g, graph_op op, int x, graph_type type) {
  int y;
  graph_set_float(g, build_like(g, op, x, type, &y), "scale", 0.031F);
  return y;
}

static int two(graph *g, graph_op op, int a, int b) {
  const graph_tensor t = g->tensors[g->tensors[a].rank < g->tensors[b].rank ? b : a];
  const int inputs[2] = {a, b}, y = build_result(g, GRAPH_F32, t.rank, t.dim);
  graph_add_node(g, op, wf_arena_format(g->arena, "two%d", g->node_count), inputs, 2, &y, 1);
  return y;
}

// a * constant + b * constant, from bytes and to bytes; `tail`: a sum that another output keeps.
static graph *build_chain(int64_t heads, int64_t width, bool tail) {
  graph *g = graph_create("chain");
  const int64_t dim[3] = {heads, 16, width};
  const int inputs[2] = {build_input(g, GRAPH_I8, 3, dim), build_input(g, GRAPH_I8, 3, dim)};
  const int a = two(g, GRAPH_OP_MUL, scaled(g, GRAPH_OP_DEQUANTIZE, inputs[0], GRAPH_F32),
                    build_constant(g, GRAPH_F32, 2, dim + 1));
  const int b = two(g, GRAPH_OP_MUL, build_constant(g, GRAPH_F32, 2, dim + 1),
                    scaled(g, GRAPH_OP_DEQUANTIZE, inputs[1], GRAPH_F32));
  const int sum = two(g, GRAPH_OP_ADD, a, b);
  const int64_t entries[1] = {256};
  const int out = look_up(g, scaled(g, GRAPH_OP_QUANTIZE, sum, GRAPH_I8), build_constant(g, GRAPH_I8, 1, entries));
  const int outputs[2] = {out, sum};
  graph_set_ends(g, inputs, 2, outputs, tail ? 2 : 1);
  return g;
}

static int steps_of(const graph *g) {
  hw_array array;
  hw_array_default(&array);
  network *net = network_on(g, &array);
  const int steps = net->step_count;
  network_destroy(net);
  return steps;
}

static void test_chains(void **state) {
  (void)state;
  static const struct {
    int64_t heads, width;
    bool tail;
    int steps;
  } cases[] = {{8, 96, false, 1}, {8, 96, true, 1}, {31, 37, false, 1}, {2, 16, false, 7}, {1, 7919, false, 7}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = build_chain(cases[i].heads, cases[i].width, cases[i].tail);
    assert_int_equal(steps_of(g), cases[i].steps);
    const outcome native = run(g, "dim8", "ref", RUN_HART_NATIVE);
    const outcome timed = run(g, "dim8", "cycle", RUN_HART_TIMED);
    assert_int_equal(native.digest, timed.digest);
    assert_int_equal(native.wrong, 0);
    graph_destroy(g);
  }
}

// The mean over a dimension of a tensor without elements.
static void test_mean_of_nothing(void **state) {
  (void)state;
  graph *g = graph_create("nothing");
  const int64_t dim[3] = {3, 2, 0}, axis[1] = {1}, means[3] = {3, 1, 0};
  const int x = build_input(g, GRAPH_F32, 3, dim), y = build_result(g, GRAPH_F32, 3, means);
  graph_set_ints(g, graph_add_node(g, GRAPH_OP_REDUCE_MEAN, "mean", &x, 1, &y, 1), "axes", axis, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  assert_int_equal(run(g, "dim4", "ref", RUN_HART_NATIVE).compared, 0);
  graph_destroy(g);
}

static void test_refusals(void **state) {
  (void)state;
  graph *g = build_mobile();
  graph_node *conv = &g->nodes[1];
  const int64_t uneven[2] = {1, 2};
  graph_set_ints(g, conv, "dilations", uneven, 2);
  char *message = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  hw_array_default(&array);
  const network_options options = {.array = &array};
  assert_null(network_create(g, &options, &diag));
  fclose(out);
  assert_non_null(strstr(message, "node n1 (QConv) cannot be lowered: dilations of rows and columns differ"));
  free(message);
  graph_destroy(g);
}

// The Verilated hardware takes as many cycles as engine cycle, the hart's included.
static void test_hardware(void **state) {
  (void)state;
  static const int blocks[4] = {1, 1, 0, 0};
  graph *const graphs[] = {build_residual(blocks, 8, 16), build_mobile(), build_attention(), build_moves(),
                           build_rows()};
  for (size_t n = 0; n < sizeof graphs / sizeof *graphs; n++) {
    const outcome cycle = run(graphs[n], "dim8", "cycle", RUN_HART_TIMED);
    const outcome rtl = run(graphs[n], "dim8", "rtl", RUN_HART_TIMED);
    assert_int_equal(cycle.digest, rtl.digest);
    assert_int_equal(cycle.cycles, rtl.cycles);
    assert_int_equal(cycle.host_cycles, rtl.host_cycles);
    graph_destroy(graphs[n]);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_residual_network),
                                     cmocka_unit_test(test_mobile_network),
                                     cmocka_unit_test(test_attention),
                                     cmocka_unit_test(test_moves),

                                     cmocka_unit_test(test_gathers),
                                     cmocka_unit_test(test_products),
                                     cmocka_unit_test(test_gated_weights),
                                     cmocka_unit_test(test_curves),
                                     cmocka_unit_test(test_mesh_norms),
                                     cmocka_unit_test(test_heads),
                                     cmocka_unit_test(test_shares),
                                     cmocka_unit_test(test_cells),
                                     cmocka_unit_test(test_windows),
                                     cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_nothing),
                                     cmocka_unit_test(test_results_in_place),
                                     cmocka_unit_test(test_outputs_without_steps),
                                     cmocka_unit_test(test_chains),
                                     cmocka_unit_test(test_mean_of_nothing),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
