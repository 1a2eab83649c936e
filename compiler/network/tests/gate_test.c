// SPDX-License-Identifier: Apache-2.0
// Gates of channels on the array: images and rows of weights times one number each, of random sizes, against the
// interpreter. Numbers that are never below 0 become diagonals on the mesh; others, and arrays whose mesh writes to the
// accumulator alone, take blocks in memory. And products of two tensors, element by element, on arrays with the gate.
#include "compiler/network/gate.h"

#include <string.h>

#include "base/random.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"

static const char *const arrays[] = {"gemmini-default", "dim4", "dim8", "dim32"};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

typedef enum maker { MAKER_CONV, MAKER_TABLE, MAKER_CURVE, MAKER_SIGNED_TABLE, MAKER_SIGNED_CURVE, MAKERS } maker;

static bool is_signed(maker kind) { return kind == MAKER_SIGNED_TABLE || kind == MAKER_SIGNED_CURVE; }

static int look_up(graph *g, int x, bool with_sign) {
  const int64_t values = 256;
  const int table = build_constant(g, GRAPH_I8, 1, &values), y = build_result(g, GRAPH_I8, 4, g->tensors[x].dim);
  int8_t *bytes = (int8_t *)g->tensors[table].data;
  for (int i = 0; i < values && !with_sign; i++) bytes[i] = (int8_t)(bytes[i] & INT8_MAX);
  graph_add_node(g, GRAPH_OP_QLUT, "table", (int[]){x, table}, 2, &y, 1);
  return y;
}

// A ramp from 0 to 127; with a sign, less one.
static int curve(graph *g, int x, bool with_sign) {
  const graph_curve ramp = {.count = 1,
                            .slope = {1},
                            .start = {40},
                            .weight = {127},
                            .offset = with_sign ? -INT8_MAX : 0,
                            .scale = 1.0F / 127};
  const int y = build_result(g, GRAPH_I8, 4, g->tensors[x].dim);
  graph_curve_set(g, graph_add_node(g, GRAPH_OP_QCURVE, "curve", &x, 1, &y, 1), &ramp);
  return y;
}

static int gates_of(graph *g, int x, maker kind) {
  if (kind == MAKER_CONV)
    return build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = g->tensors[x].dim[3]});
  return kind == MAKER_CURVE || kind == MAKER_SIGNED_CURVE ? curve(g, x, is_signed(kind))
                                                           : look_up(g, x, is_signed(kind));
}

static int multiply(graph *g, int x, int numbers, float scale) {
  const graph_tensor *t = &g->tensors[x];
  const int y = build_result(g, GRAPH_I8, t->rank, t->dim);
  graph_set_float(g, graph_add_node(g, GRAPH_OP_QMUL, "gate", (int[]){x, numbers}, 2, &y, 1), "scale", scale);
  return y;
}

static graph *gated_image(const int64_t image[4], maker kind) {
  graph *g = graph_create("image");
  const int64_t numbers[4] = {image[0], 1, 1, image[3]};
  const int x = build_input(g, GRAPH_I8, 4, image), from = build_input(g, GRAPH_I8, 4, numbers);
  const int y = multiply(g, x, gates_of(g, from, kind), 0.0107F);
  graph_set_ends(g, (int[]){x, from}, 2, &y, 1);
  return g;
}

static int as_column(graph *g, int numbers) {
  const int64_t column[2] = {g->tensors[numbers].dim[3], 1};
  int64_t *dims = memcpy(wf_arena_alloc(g->arena, 2, sizeof *dims), column, sizeof column);
  const int shape = graph_add_tensor(
                g, &(graph_tensor){.name = "shape", .type = GRAPH_I64, .rank = 1, .dim = {2}, .data = dims}),
            to = build_result(g, GRAPH_I8, 2, column);
  graph_add_node(g, GRAPH_OP_RESHAPE, "column", (int[]){numbers, shape}, 2, &to, 1);
  return to;
}

static graph *gated_weights(int64_t channels, int64_t columns, maker kind) {
  graph *g = graph_create("weights");
  const int64_t numbers[4] = {1, 1, 1, channels}, weights[2] = {channels, columns}, image[4] = {1, 3, 5, channels};
  const int from = build_input(g, GRAPH_I8, 4, numbers), x = build_input(g, GRAPH_I8, 4, image);
  const int column = as_column(g, gates_of(g, from, kind));
  const int y =
      build_product(g, x, multiply(g, build_constant(g, GRAPH_I8, 2, weights), column, 0.0079F), false, true, false);
  graph_set_ends(g, (int[]){from, x}, 2, &y, 1);
  return g;
}

static int steps_of(const graph *g, const hw_array *array, const char *kernel) {
  network *net = network_on(g, array);
  int count = 0;
  for (int n = 0; n < net->step_count; n++) count += strncmp(net->steps[n].what, kernel, strlen(kernel)) == 0;
  network_destroy(net);
  return count;
}

static void check(graph *g, const char *name, maker kind, const char *kernel, int64_t times) {
  const hw_array array = array_of(name);
  assert_true(network_gate_fits(&array));
  assert_int_equal(steps_of(g, &array, kernel), is_signed(kind) ? 0 : times);
  run_both(g, name);
  graph_destroy(g);
}

static void images_of_random_sizes(void **state) {
  (void)state;
  enum { CASES = 40 };
  uint64_t random = 17;
  for (int i = 0; i < CASES; i++) {
    const int64_t image[4] = {wf_random_in(&random, 1, 2), wf_random_in(&random, 1, 20), wf_random_in(&random, 2, 21),
                              wf_random_in(&random, 1, 200)};
    const maker kind = (maker)(i % MAKERS);
    check(gated_image(image, kind), arrays[i / MAKERS % ARRAYS], kind, "gate_columns ", image[0]);
  }
}

static void weights_of_random_sizes(void **state) {
  (void)state;
  enum { CASES = 40 };
  uint64_t random = 18;
  for (int i = 0; i < CASES; i++) {
    const int64_t channels = wf_random_in(&random, 2, 301), columns = wf_random_in(&random, 2, 151);
    const maker kind = (maker)(i % MAKERS);
    check(gated_weights(channels, columns, kind), arrays[i / MAKERS % ARRAYS], kind, "gate_rows ", 1);
  }
}

static void mesh_must_write_to_the_scratchpad(void **state) {
  (void)state;
  const int64_t image[4] = {1, 5, 5, 40};
  graph *g = gated_image(image, MAKER_TABLE);
  hw_array array = array_of("gemmini-default");
  array.scratchpad.execute_writes = false;
  assert_false(network_gate_fits(&array));
  assert_int_equal(steps_of(g, &array, "gate_columns "), 0);
  assert_int_equal(run_on(g, &array, "ref", RUN_HART_NATIVE).wrong, 0);
  graph_destroy(g);
}

static graph *elements(const int64_t dim[3], float scale) {
  graph *g = graph_create("elements");
  const int x = build_input(g, GRAPH_I8, 3, dim), by = build_input(g, GRAPH_I8, 3, dim);
  const int y = multiply(g, x, by, scale);
  graph_set_ends(g, (int[]){x, by}, 2, &y, 1);
  return g;
}

// The hart's without a gate; the same bytes.
static void elements_of_random_sizes(void **state) {
  (void)state;
  enum { CASES = 24 };
  static const float scales[] = {0.0079F, 1, -0.3F};
  uint64_t random = 19;
  for (int i = 0; i < CASES; i++) {
    const int64_t dim[3] = {wf_random_in(&random, 1, 3), wf_random_in(&random, 1, 40), wf_random_in(&random, 1, 90)};
    graph *g = elements(dim, scales[i % 3]);
    hw_array array = array_of(arrays[i % ARRAYS]);
    const outcome hart = run_on(g, &array, "cycle", RUN_HART_TIMED);
    assert_int_equal(steps_of(g, &array, "multiply "), 0);
    array.units.gate = true;
    assert_int_equal(steps_of(g, &array, "multiply "), 1);
    const outcome ref = run_on(g, &array, "ref", RUN_HART_NATIVE), cycle = run_on(g, &array, "cycle", RUN_HART_TIMED);
    assert_int_equal(ref.wrong + cycle.wrong, 0);
    assert_int_equal(ref.digest, cycle.digest);
    assert_int_equal(hart.digest, cycle.digest);
    graph_destroy(g);
  }
}

// The Verilated hardware takes as many cycles as engine cycle.
static void hardware(void **state) {
  (void)state;
  const int64_t image[4] = {1, 9, 5, 43};
  graph *const graphs[] = {gated_image(image, MAKER_CONV), gated_weights(75, 37, MAKER_CONV)};
  for (size_t n = 0; n < sizeof graphs / sizeof *graphs; n++) {
    const outcome cycle = run(graphs[n], "dim8", "cycle", RUN_HART_TIMED);
    const outcome rtl = run(graphs[n], "dim8", "rtl", RUN_HART_TIMED);
    assert_int_equal(cycle.digest, rtl.digest);
    assert_int_equal(cycle.cycles, rtl.cycles);
    graph_destroy(graphs[n]);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest on_hardware[] = {cmocka_unit_test(hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(on_hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(images_of_random_sizes), cmocka_unit_test(weights_of_random_sizes),
      cmocka_unit_test(elements_of_random_sizes), cmocka_unit_test(mesh_must_write_to_the_scratchpad)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
