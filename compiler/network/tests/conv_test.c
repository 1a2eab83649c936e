// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling as network programs: every way in which they are lowered leaves what the interpreter of the
// graph says.
#include "base/random.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

// Groups of all sizes beside the side of the array: packed side by side, ragged, larger than it; on arrays for either
// dataflow.
static void test_groups(void **state) {
  (void)state;
  static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32"};
  static const int shapes[][3] = {{8, 1, 1},  {15, 2, 2}, {7, 4, 4}, {9, 4, 8}, {5, 8, 3},   {7, 5, 5},
                                  {3, 12, 4}, {4, 4, 12}, {2, 1, 5}, {3, 7, 1}, {2, 16, 16}, {3, 24, 40}};
  uint64_t seed = 7;
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    for (size_t i = TEST_SANITIZED ? a % 2 : 0; i < sizeof shapes / sizeof *shapes; i += TEST_SANITIZED ? 2 : 1) {
      const int *shape = shapes[i];
      const int64_t image[4] = {1 + (int64_t)wf_random_below(&seed, 2), 5 + (int64_t)wf_random_below(&seed, 9),
                                5 + (int64_t)wf_random_below(&seed, 9), shape[0] * shape[1]};
      graph *g = graph_create("groups");
      const int input = build_input(g, GRAPH_I8, 4, image);
      const int x = build_conv2d(g, input,
                                 &(build_conv){.kernel = 1 + (int64_t)wf_random_below(&seed, 4),
                                               .stride = 1 + (int64_t)wf_random_below(&seed, 2),
                                               .pad = (int64_t)wf_random_below(&seed, 2),
                                               .channels = shape[0] * shape[2],
                                               .groups = shape[0],
                                               .no_bias = i % 2 == 0,
                                               .no_relu = i % 3 == 0});
      graph_set_ends(g, &input, 1, &x, 1);
      hw_array array = array_of(arrays[a]);
      const outcome ref = run_on(g, &array, "ref", RUN_HART_NATIVE);
      const outcome cycle = run_on(g, &array, "cycle", RUN_HART_NATIVE);
      array.mesh.dataflow = HW_DATAFLOW_OS;
      const outcome os = run_on(g, &array, "cycle", RUN_HART_NATIVE);
      assert_int_equal(ref.digest, cycle.digest);
      assert_int_equal(ref.digest, os.digest);
      graph_destroy(g);
    }
}

// Kernels of a graph whose results have more columns than the convolutions have channels: pixels lie side by side.
static int count_beside(const graph *g, const char *array_name, int64_t channels) {
  const hw_array array = array_of(array_name);
  network *net = network_on(g, &array);
  int count = 0;
  for (int k = 0; k < net->kernel_count; k++)
    count += net->kernels[k].call->kernel != LAYER_COPY && net->kernels[k].call->layer.size[BLOCK_DIM_K] > channels;
  network_destroy(net);
  return count;
}

// Few channels, whose rows end inside of lines of the cache: 1 x 1 and wider, with strides, padding, residuals.
static void test_pixels_beside(void **state) {
  (void)state;
  static const struct {
    int64_t rows, columns, in;
    build_conv conv;
    bool beside;  // on the default array
  } cases[] = {
      {112, 112, 16, {.kernel = 1, .stride = 1, .channels = 96}, true},
      {112, 112, 32, {.kernel = 1, .stride = 1, .channels = 16, .no_relu = true}, true},
      {112, 113, 32, {.kernel = 1, .stride = 1, .channels = 16, .no_bias = true}, true},  // pixels of two rows
      {97, 97, 32, {.kernel = 1, .stride = 1, .channels = 16}, false},                    // an odd number of pixels
      {96, 96, 3, {.kernel = 3, .stride = 2, .pad = 1, .channels = 32}, true},
      {96, 96, 3, {.kernel = 3, .stride = 1, .pad = 1, .channels = 32}, true},
      {90, 48, 3, {.kernel = 5, .stride = 1, .pad = 2, .channels = 16}, true},
      {64, 64, 64, {.kernel = 1, .stride = 1, .channels = 128}, false},  // whole lines
      {96, 96, 16, {.kernel = 1, .stride = 1, .channels = 16, .factor = 3, .residual = 0}, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t image[4] = {1, cases[i].rows, cases[i].columns, cases[i].in};
    graph *g = graph_create("beside");
    const int input = build_input(g, GRAPH_I8, 4, image);
    build_conv conv = cases[i].conv;
    if (conv.factor != 0) conv.residual = input;
    const int x = build_conv2d(g, input, &conv);
    graph_set_ends(g, &input, 1, &x, 1);
    if ((count_beside(g, "gemmini-default", conv.channels) > 0) != cases[i].beside) fail_msg("case %zu", i);
    run_both(g, "gemmini-default");
    run_both(g, "dim8");
    graph_destroy(g);
  }
}

// A convolution with other padding on each side: `pads` above, left, below, right.
static int build_padded(graph *g, int x, int64_t kernel, int64_t stride, int64_t channels, const int64_t *pads) {
  const graph_tensor in = g->tensors[x];
  const int y = build_conv2d(g, x, &(build_conv){.kernel = kernel, .stride = stride, .channels = channels});
  g->tensors[y].dim[1] = (in.dim[1] + pads[0] + pads[2] - kernel) / stride + 1;
  g->tensors[y].dim[2] = (in.dim[2] + pads[1] + pads[3] - kernel) / stride + 1;
  graph_set_ints(g, &g->nodes[g->node_count - 1], "pads", pads, 4);
  return y;
}

// Kernels of a network that copy.
static int count_copies(const graph *g) {
  const hw_array array = array_of("gemmini-default");
  network *net = network_on(g, &array);
  int count = 0;
  for (int k = 0; k < net->kernel_count; k++) count += net->kernels[k].call->kernel == LAYER_COPY;
  network_destroy(net);
  return count;
}

// Images of few channels with padding of all kinds: the first and the last window of a row are layers of their own;
// where more windows leave the image, it is copied.
static void test_edges(void **state) {
  (void)state;
  static const struct {
    int64_t image[4], kernel, stride, channels, pads[4];
    bool copied;
  } cases[] = {
      {{1, 64, 64, 3}, 3, 2, 32, {1, 1, 1, 1}, false}, {{2, 33, 48, 3}, 3, 1, 16, {1, 1, 1, 1}, false},
      {{1, 31, 33, 3}, 3, 2, 20, {1, 1, 1, 1}, false}, {{2, 20, 21, 4}, 5, 2, 24, {2, 2, 2, 2}, false},
      {{1, 31, 30, 3}, 3, 2, 32, {0, 0, 1, 1}, false}, {{1, 30, 30, 3}, 3, 2, 32, {0, 0, 1, 1}, true},
      {{1, 17, 30, 3}, 3, 2, 32, {1, 0, 1, 1}, false}, {{1, 24, 24, 3}, 7, 2, 16, {3, 3, 3, 3}, false},
      {{1, 24, 21, 3}, 7, 2, 16, {3, 3, 3, 3}, true},  {{1, 24, 64, 3}, 7, 4, 16, {3, 3, 3, 3}, false},
      {{2, 19, 23, 3}, 5, 1, 9, {2, 2, 2, 2}, true},   {{1, 19, 3, 3}, 3, 2, 16, {1, 1, 1, 1}, false},
      {{1, 19, 2, 3}, 3, 2, 16, {1, 1, 1, 1}, false},  {{1, 19, 1, 3}, 3, 2, 16, {1, 1, 1, 1}, true},
      {{1, 30, 32, 1}, 3, 2, 32, {1, 1, 0, 0}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = graph_create("edges");
    const int input = build_input(g, GRAPH_I8, 4, cases[i].image);
    const int x = build_padded(g, input, cases[i].kernel, cases[i].stride, cases[i].channels, cases[i].pads);
    graph_set_ends(g, &input, 1, &x, 1);
    if ((count_copies(g) > 0) != cases[i].copied) fail_msg("case %zu", i);
    static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) run_both(g, arrays[a]);
    graph_destroy(g);
  }
}

// Max pooling behind a convolution: on the way out of it or as a pass of its own, with and without padding.
static void test_pooled_convolutions(void **state) {
  (void)state;
  static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32"};
  uint64_t seed = 11;
  unsigned fused = 0, cases = 0;
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    for (int i = 0; i < (TEST_SANITIZED ? 6 : 24); i++) {
      const int64_t image[4] = {1 + (int64_t)wf_random_below(&seed, 2), 12 + (int64_t)wf_random_below(&seed, 40),
                                12 + (int64_t)wf_random_below(&seed, 40), i % 3 == 0 ? 3 : 20};
      const bool no_relu = wf_random_one_in(&seed, 3);
      const int64_t window = wf_random_in(&seed, 1, 3);
      graph *g = graph_create("pooled");
      const int input = build_input(g, GRAPH_I8, 4, image);
      const int x = build_conv2d(
          g, input,
          &(build_conv){.kernel = wf_random_in(&seed, 1, 5),
                        .stride = wf_random_in(&seed, 1, 2),
                        .pad = wf_random_in(&seed, 0, 1),
                        .channels = wf_random_in(&seed, 1, 40),
                        .no_relu = no_relu,
                        .pool = {window, wf_random_in(&seed, 1, 3), no_relu ? 0 : wf_random_in(&seed, 0, window - 1)}});
      graph_set_ends(g, &input, 1, &x, 1);
      const outcome ref = run(g, arrays[a], "ref", RUN_HART_NATIVE);
      const outcome cycle = run(g, arrays[a], "cycle", RUN_HART_NATIVE);
      assert_int_equal(ref.digest, cycle.digest);
      fused += cycle.steps == 1;
      cases++;
      graph_destroy(g);
    }
  assert_true(fused > cases / 20 && fused < cases);  // both ways are there
}

// Windows and strides that the store unit has not.
static void test_large_pooling(void **state) {
  (void)state;
  static const int sizes[][3] = {{5, 1, 2}, {4, 2, 1}, {9, 1, 4}, {6, 3, 0}, {2, 4, 0}, {7, 5, 3}, {1, 6, 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int relu = 0; relu < 2; relu++) {
      graph *g = graph_create("pool");
      const int64_t image[4] = {2, 19, 17, 20};
      const int input = build_input(g, GRAPH_I8, 4, image);
      int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 20, .no_relu = relu == 0});
      x = build_pool(g, GRAPH_OP_QMAX_POOL, x, sizes[i][0], sizes[i][1], sizes[i][2]);
      graph_set_ends(g, &input, 1, &x, 1);
      run(g, "dim8", "ref", RUN_HART_NATIVE);
      graph_destroy(g);
    }
}

// A network and a table have one program for one layer: a narrow convolution, and one that is none.
static void test_layers_of_tables(void **state) {
  (void)state;
  static const struct {
    int64_t channels;
    layer_kernel kernel;
  } cases[] = {{12, LAYER_CONV2D_NARROW}, {24, LAYER_CONV2D}};
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = graph_create("layer");
    const int64_t image[4] = {1, 12, 13, cases[i].channels};
    const int x = build_input(g, GRAPH_I8, 4, image);
    const int y = build_conv2d(g, x, &(build_conv){.kernel = 5, .stride = 1, .channels = 20, .no_relu = true});
    graph_set_ends(g, &x, 1, &y, 1);
    const network_options options = {.array = &array};
    network *net = network_create(g, &options, &diag);
    assert_non_null(net);
    assert_int_equal(net->kernel_count, 1);
    assert_int_equal(net->kernels[0].call->kernel, cases[i].kernel);
    const map_layer layer = {.kind = MAP_CONV, .size = {1, 8, 9, 20, cases[i].channels, 5, 5}, .bias = true};
    compile_result result;
    assert_true(layer_compile(&layer, &array, &(layer_policy){0}, &result, &diag));
    assert_true(map_equal(&net->kernels[0].mapping, &result.mapping));
    const command_program *of_network = net->kernels[0].program, *of_table = result.commands;
    assert_int_equal(of_network->count, of_table->count);
    for (size_t n = 0; n < of_table->count; n++) {
      assert_int_equal(of_network->nodes[n].kind, of_table->nodes[n].kind);
      if (of_table->nodes[n].kind == COMMAND_INSN)
        assert_int_equal(of_network->nodes[n].insn.funct, of_table->nodes[n].insn.funct);
    }
    compile_release(&result);
    network_destroy(net);
    graph_destroy(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups),        cmocka_unit_test(test_pixels_beside),
                                     cmocka_unit_test(test_edges),         cmocka_unit_test(test_pooled_convolutions),
                                     cmocka_unit_test(test_large_pooling), cmocka_unit_test(test_layers_of_tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
