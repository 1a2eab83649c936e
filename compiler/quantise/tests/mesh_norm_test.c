// SPDX-License-Identifier: Apache-2.0
// Layer norms on the mesh: norms whose rows are alike enough become QNormMesh and stay near the model; few rows, and
// rows whose deviations are far apart, stay with the hart.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/quantise/quantise.h"

enum { WIDTH = 100 };

static int tensor(graph *g, const char *name, int64_t rows) {
  return graph_add_tensor(g, &(graph_tensor){.name = name, .type = GRAPH_F32, .rank = 2, .dim = {rows, WIDTH}});
}

static int per_column(graph *g, const char *name, float from, float to) {
  float *values = WF_ARENA_ARRAY(g->arena, WIDTH, float);
  for (int i = 0; i < WIDTH; i++) values[i] = from + (to - from) * (float)i / WIDTH;
  return graph_add_tensor(g,
                          &(graph_tensor){.name = name, .type = GRAPH_F32, .rank = 1, .dim = {WIDTH}, .data = values});
}

// A norm between products with the unit matrix, so that its rows and its results are int8.
static graph *model_of(int64_t rows) {
  graph *g = graph_create("norm");
  float *unit = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float);
  for (int i = 0; i < WIDTH; i++) unit[i * (WIDTH + 1)] = 1;
  const int w = graph_add_tensor(
      g, &(graph_tensor){.name = "w", .type = GRAPH_F32, .rank = 2, .dim = {WIDTH, WIDTH}, .data = unit});
  const int x = tensor(g, "x", rows), a = tensor(g, "a", rows), b = tensor(g, "b", rows), y = tensor(g, "y", rows);
  const int gamma = per_column(g, "gamma", 0.7F, 1.3F), beta = per_column(g, "beta", 0.4F, -0.4F);
  graph_add_node(g, GRAPH_OP_MAT_MUL, "before", (int[]){x, w}, 2, &a, 1);
  graph_node *norm = graph_add_node(g, GRAPH_OP_LAYER_NORMALIZATION, "norm", (int[]){a, gamma, beta}, 3, &b, 1);
  graph_set_float(g, norm, "epsilon", 1e-5F);
  graph_add_node(g, GRAPH_OP_MAT_MUL, "behind", (int[]){b, w}, 2, &y, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

// Rows whose deviations go from one to `ratio`, around means that are not 0.
static float *rows_of(graph *g, int64_t rows, double ratio) {
  float *x = WF_ARENA_ARRAY(g->arena, (size_t)(rows * WIDTH), float);
  for (int64_t i = 0; i < rows * WIDTH; i++) {
    const double row = (double)(i / WIDTH), deviation = pow(ratio, row / (double)(rows - 1));
    x[i] = (float)(deviation * (sin(0.7 * (double)(i * i % 1009)) + 0.5 * sin(row)));
  }
  return x;
}

static const graph_node *find(const graph *g, graph_op op) {
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].op == op) return &g->nodes[n];
  return NULL;
}

static void test_norms(void **state) {
  (void)state;
  static const struct {
    int64_t rows;
    double ratio;
    int most;  // of QNormMesh; 0: the hart's
    double least_db;
  } cases[] = {{96, 1, 127, 33}, {96, 3, 254, 30}, {96, 5, 381, 27}, {96, 40, 0, 15}, {40, 1, 0, 33}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wf_diag diag = wf_diag_to(stderr);
    graph *model = model_of(cases[i].rows);
    const void *inputs[1] = {rows_of(model, cases[i].rows, cases[i].ratio)};
    const quantise_options options = {.inputs = inputs, .input_sets = 1};
    graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    const graph_node *node = find(placed, GRAPH_OP_QNORM_MESH);
    assert_int_equal(node != NULL, cases[i].most != 0);
    assert_int_equal(find(placed, GRAPH_OP_QLAYER_NORM) != NULL, cases[i].most == 0);
    if (node != NULL) {
      assert_int_equal(graph_int(node, "most", 0), cases[i].most);
      assert_int_equal(node->place, GRAPH_ON_ARRAY);
    }
    quantise_quality *quality = quantise_compare(model, placed, &options, &diag);
    print_message("deviations %g: %.1f dB\n", cases[i].ratio, quality[0].sqnr_db);
    assert_true(quality[0].sqnr_db > cases[i].least_db);
    wf_free(quality);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_norms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
