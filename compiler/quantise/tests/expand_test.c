// SPDX-License-Identifier: Apache-2.0
// Operators that are written in terms of others, with weights that are constants as in exported models: the results
// stay, the operator is gone, all products go to the array, and int8 stays within its noise.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/make.h"
#include "compiler/quantise/quantise.h"

static const graph_node none = {.name = "test"};

typedef struct built {
  graph *g;
  quantise_maker m;
  int x;
  graph_node attributes;  // of the next node
} built;

static built start(int rank, const int64_t *dim) {
  built b = {.g = graph_create("small")};
  b.m = (quantise_maker){b.g, &none};
  b.x = quantise_rewrite_tensor(b.g, "x", "", GRAPH_F32, rank, dim);
  return b;
}

static int weights(const built *b, int rank, const int64_t *dim, float base) {
  int64_t count = 1;
  for (int d = 0; d < rank; d++) count *= dim[d];
  float *data = WF_ARENA_ARRAY(b->g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) data[i] = base + (float)(i * 37 % 101 - 50) / 100;
  return quantise_make_constant(&b->m, GRAPH_F32, rank, dim, data);
}

static int node(built *b, graph_op op, const int *inputs, int count) {
  return quantise_make(&b->m, op, &b->attributes, inputs, count, GRAPH_NONE);
}

static void ints(built *b, const char *name, const int64_t *values, int count) {
  graph_set_ints(b->g, &b->attributes, name, values, count);
}

static float *run(const graph *g) {
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = quantise_random_inputs(g, 5);
  float *out = wf_calloc(graph_bytes(&g->tensors[g->outputs[0]]) + 1, 1);
  assert_true(graph_run(g, (const void *const *)inputs, (void *[]){out}, NULL, &diag));
  quantise_free_inputs(g, inputs);
  return out;
}

static int count_op(const graph *g, graph_op op) {
  int count = 0;
  for (int n = 0; n < g->node_count; n++) count += g->nodes[n].op == op;
  return count;
}

static double distance_db(const graph *g, const float *expected, const float *got) {
  double error = 0, power = 0;
  for (int64_t i = 0; i < graph_elements(&g->tensors[g->outputs[0]]); i++) {
    error += ((double)got[i] - (double)expected[i]) * ((double)got[i] - (double)expected[i]);
    power += (double)expected[i] * (double)expected[i];
  }
  return 10 * log10(power / fmax(error, 1e-30 * power));
}

// `exact`: preparing changes rounding alone; else it replaces quantisation with the range of each input.
static void check(built *b, int y, graph_op gone, double least_db, bool exact) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = b->g;
  graph_set_ends(g, &b->x, 1, &y, 1);
  assert_true(graph_verify(g, &diag));
  assert_int_not_equal(count_op(g, gone), 0);
  float *before = run(g);
  const quantise_options options = {.samples = 3};
  graph *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  float *behind = run(g);
  assert_int_equal(count_op(placed, gone), 0);
  assert_true(distance_db(g, before, behind) > (exact ? 100 : 30));
  quantise_quality *quality = quantise_compare(g, placed, &options, &diag);
  assert_non_null(quality);
  if (!(quality[0].sqnr_db > least_db)) fail_msg("%s: %g dB", graph_op_name(gone), quality[0].sqnr_db);
  wf_free(quality);
  wf_free(before);
  wf_free(behind);
  graph_destroy(placed);
  graph_destroy(g);
}

static const int64_t image[4] = {2, 6, 8, 8}, six[1] = {6};

static void expands_elements_and_norms(void **state) {
  (void)state;
  built b = start(4, image);
  check(&b, node(&b, GRAPH_OP_PRELU, (int[]){b.x, weights(&b, 3, (int64_t[]){6, 1, 1}, 0.3F)}, 2), GRAPH_OP_PRELU, 28,
        true);
  b = start(4, image);
  int inputs[3] = {b.x, weights(&b, 1, six, 1.5F), weights(&b, 1, six, 0)};
  check(&b, node(&b, GRAPH_OP_INSTANCE_NORMALIZATION, inputs, 3), GRAPH_OP_INSTANCE_NORMALIZATION, 28, true);
  b = start(4, image);
  graph_set_int(b.g, &b.attributes, "size", 3);
  graph_set_float(b.g, &b.attributes, "alpha", 0.3F);
  check(&b, node(&b, GRAPH_OP_LRN, &b.x, 1), GRAPH_OP_LRN, 25, true);
}

static void expands_windows(void **state) {
  (void)state;
  const int64_t volume[5] = {2, 4, 5, 6, 7}, kernel[3] = {3, 2, 3}, strides[3] = {2, 1, 2},
                pads[6] = {1, 0, 1, 1, 1, 0};
  for (int64_t groups = 1; groups <= 2; groups++) {
    built b = start(5, volume);
    graph_set_int(b.g, &b.attributes, "group", groups);
    ints(&b, "kernel_shape", kernel, 3);
    ints(&b, "strides", strides, 3);
    ints(&b, "pads", pads, 6);
    const int64_t w[5] = {6, 4 / groups, 3, 2, 3};
    const int inputs[3] = {b.x, weights(&b, 5, w, 0), weights(&b, 1, six, 0)};
    const int y = node(&b, GRAPH_OP_CONV, inputs, 3);
    wf_diag diag = wf_diag_to(stderr);
    graph_set_ends(b.g, &b.x, 1, &y, 1);
    const quantise_options options = {.samples = 2};
    float *before = run(b.g);
    graph *placed = quantise_network(b.g, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    float *behind = run(b.g);
    assert_true(distance_db(b.g, before, behind) > 100);
    assert_int_equal(count_op(placed, GRAPH_OP_QCONV), 1);
    wf_free(before);
    wf_free(behind);
    graph_destroy(placed);
    graph_destroy(b.g);
  }
}

static void expands_transposed_groups(void **state) {
  (void)state;
  built b = start(4, image);
  graph_set_int(b.g, &b.attributes, "group", 2);
  ints(&b, "strides", (int64_t[]){3, 2}, 2);
  ints(&b, "dilations", (int64_t[]){1, 2}, 2);
  ints(&b, "pads", (int64_t[]){1, 2, 0, 1}, 4);
  ints(&b, "output_padding", (int64_t[]){2, 1}, 2);
  const int inputs[3] = {b.x, weights(&b, 4, (int64_t[]){6, 5, 3, 2}, 0), weights(&b, 1, (int64_t[]){10}, 0)};
  check(&b, node(&b, GRAPH_OP_CONV_TRANSPOSE, inputs, 3), GRAPH_OP_CONV_TRANSPOSE, 28, true);
}

static void expands_resizing_and_padding(void **state) {
  (void)state;
  static const char *const modes[] = {"linear", "linear", "cubic"}, *const places[] = {"half_pixel", "align_corners",
                                                                                       "asymmetric"};
  const float scales[4] = {1, 1, 2, 1.5F};
  for (int i = 0; i < 3; i++) {
    built b = start(4, image);
    graph_set_text(b.g, &b.attributes, "mode", modes[i]);
    graph_set_text(b.g, &b.attributes, "coordinate_transformation_mode", places[i]);
    const int inputs[3] = {b.x, GRAPH_NONE, quantise_make_constant(&b.m, GRAPH_F32, 1, (int64_t[]){4}, scales)};
    check(&b, node(&b, GRAPH_OP_RESIZE, inputs, 3), GRAPH_OP_RESIZE, 28, true);
  }
  built b = start(4, image);
  graph_set_text(b.g, &b.attributes, "mode", "reflect");
  const int64_t pads[8] = {0, 0, 3, 2, 0, 0, 1, 4};
  check(&b, node(&b, GRAPH_OP_PAD, (int[]){b.x, quantise_make_integers(&b.m, pads, 8)}, 2), GRAPH_OP_PAD, 35, true);
}

static void expands_recurrent_layers(void **state) {
  (void)state;
  for (int i = 0; i < 8; i += TEST_SANITIZED ? 3 : 1) {
    const bool gru = i < 6, both = i % 2 == 1;
    const int64_t directions = both ? 2 : 1, gates = gru ? 3 : 1, cells = 5;
    built b = start(3, (int64_t[]){6, 48, 7});
    graph_set_int(b.g, &b.attributes, "hidden_size", cells);
    if (gru) graph_set_int(b.g, &b.attributes, "linear_before_reset", i / 2 % 2);
    if (both) graph_set_text(b.g, &b.attributes, "direction", "bidirectional");
    int inputs[4] = {b.x, weights(&b, 3, (int64_t[]){directions, gates * cells, 7}, 0),
                     weights(&b, 3, (int64_t[]){directions, gates * cells, cells}, 0),
                     weights(&b, 2, (int64_t[]){directions, 2 * gates * cells}, 0)};
    const graph_op op = gru ? GRAPH_OP_GRU : GRAPH_OP_RNN;
    check(&b, node(&b, op, inputs, i / 4 == 1 ? 3 : 4), op, gru ? 20 : 30, true);
  }
}

// Pooling of nothing is no operator of the array, whether its ends are int8 or not.
static void leaves_empty_pools(void **state) {
  (void)state;
  for (int int8_ends = 0; int8_ends < 2; int8_ends++) {
    wf_diag diag = wf_diag_to(stderr);
    built b = start(4, (int64_t[]){1, 0, 4, 4});
    ints(&b, "kernel_shape", (int64_t[]){3, 3}, 2);
    const int y = node(&b, GRAPH_OP_AVERAGE_POOL, &b.x, 1);
    graph_set_ends(b.g, &b.x, 1, &y, 1);
    const quantise_options options = {.samples = 1, .int8_ends = int8_ends == 1};
    graph *placed = quantise_network(b.g, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    assert_int_equal(count_op(placed, GRAPH_OP_QAVERAGE_POOL), 0);
    graph_destroy(placed);
    graph_destroy(b.g);
  }
}

// What a model has whose activations are quantised while it runs.
static int dynamic_product(built *b, graph_op op, int weights_rank, const int64_t *dim, int64_t channels) {
  graph *g = b->g;
  const int64_t count = channels;
  int64_t elements = 1;
  for (int d = 0; d < weights_rank; d++) elements *= dim[d];
  int8_t *bytes = wf_arena_alloc(g->arena, (size_t)elements, 1);
  for (int64_t i = 0; i < elements; i++) bytes[i] = (int8_t)(i * 71 % 255 - 127);
  float *scales = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) scales[i] = 0.01F + 0.001F * (float)i;
  const int8_t zero = 0;
  const int w = quantise_make_constant(&b->m, GRAPH_I8, weights_rank, dim, bytes),
            z = quantise_make_constant(&b->m, GRAPH_I8, 0, NULL, &zero);
  const int64_t beside[3] = {count, 1, 1};
  const int s = quantise_make_constant(&b->m, GRAPH_F32, op == GRAPH_OP_CONV_INTEGER ? 3 : 1, beside, scales);
  int outputs[3];
  outputs[0] = quantise_rewrite_tensor(g, "bytes", "", GRAPH_U8, 0, NULL);
  outputs[1] = quantise_rewrite_tensor(g, "scale", "", GRAPH_F32, 0, NULL);
  outputs[2] = quantise_rewrite_tensor(g, "zero", "", GRAPH_U8, 0, NULL);
  graph_node *made = graph_add_node(g, GRAPH_OP_DYNAMIC_QUANTIZE_LINEAR, "dynamic", &b->x, 1, outputs, 3);
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_infer(g, made, "test", &diag));
  const int inputs[4] = {outputs[0], w, outputs[2], z};
  const int sums = quantise_make_cast(&b->m, node(b, op, inputs, 4), GRAPH_F32, GRAPH_NONE);
  const int both = quantise_make_binary(&b->m, GRAPH_OP_MUL, outputs[1], s, GRAPH_NONE);
  return quantise_make_binary(&b->m, GRAPH_OP_MUL, sums, both, GRAPH_NONE);
}

static void expands_dynamic_quantisation(void **state) {
  (void)state;
  built b = start(2, (int64_t[]){5, 20});
  check(&b, dynamic_product(&b, GRAPH_OP_MAT_MUL_INTEGER, 2, (int64_t[]){20, 5}, 5), GRAPH_OP_DYNAMIC_QUANTIZE_LINEAR,
        30, false);
  b = start(4, image);
  ints(&b, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  check(&b, dynamic_product(&b, GRAPH_OP_CONV_INTEGER, 4, (int64_t[]){5, 6, 3, 3}, 5), GRAPH_OP_DYNAMIC_QUANTIZE_LINEAR,
        30, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expands_elements_and_norms), cmocka_unit_test(expands_windows),
      cmocka_unit_test(expands_transposed_groups),  cmocka_unit_test(expands_resizing_and_padding),
      cmocka_unit_test(expands_recurrent_layers),   cmocka_unit_test(expands_dynamic_quantisation),
      cmocka_unit_test(leaves_empty_pools),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
