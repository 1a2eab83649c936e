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

static int number(graph *g, const char *name, float value) {
  float *kept = WF_ARENA_ARRAY(g->arena, 1, float);
  *kept = value;
  return graph_add_tensor(g, &(graph_tensor){.name = name, .type = GRAPH_F32, .data = kept});
}

// y = gamma * x / sqrt(mean of x^2 + epsilon)
static void add_root_mean_square(graph *g, int64_t rows, int x, int gamma, int y) {
  const graph_tensor one = {.type = GRAPH_F32, .rank = 2, .dim = {rows, 1}};
  graph_tensor t[3] = {one, one, one};
  int per_row[3];
  static const char *const names[3] = {"mean", "more", "root"};
  for (int i = 0; i < 3; i++) t[i].name = names[i], per_row[i] = graph_add_tensor(g, &t[i]);
  const int squares = tensor(g, "squares", rows), normed = tensor(g, "normed", rows);
  graph_add_node(g, GRAPH_OP_POW, "pow", (int[]){x, number(g, "two", 2)}, 2, &squares, 1);
  graph_node *mean = graph_add_node(g, GRAPH_OP_REDUCE_MEAN, "mean", &squares, 1, &per_row[0], 1);
  graph_set_ints(g, mean, "axes", (int64_t[]){-1}, 1);
  graph_add_node(g, GRAPH_OP_ADD, "more", (int[]){per_row[0], number(g, "epsilon", 1e-5F)}, 2, &per_row[1], 1);
  graph_add_node(g, GRAPH_OP_SQRT, "root", &per_row[1], 1, &per_row[2], 1);
  graph_add_node(g, GRAPH_OP_DIV, "div", (int[]){x, per_row[2]}, 2, &normed, 1);
  graph_add_node(g, GRAPH_OP_MUL, "mul", (int[]){normed, gamma}, 2, &y, 1);
}

// A norm between products with the unit matrix, so that its rows and its results are int8.
static graph *model_of(int64_t rows, bool centred) {
  graph *g = graph_create("norm");
  float *unit = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float);
  for (int i = 0; i < WIDTH; i++) unit[i * (WIDTH + 1)] = 1;
  const int w = graph_add_tensor(
      g, &(graph_tensor){.name = "w", .type = GRAPH_F32, .rank = 2, .dim = {WIDTH, WIDTH}, .data = unit});
  const int x = tensor(g, "x", rows), a = tensor(g, "a", rows), b = tensor(g, "b", rows), y = tensor(g, "y", rows);
  const int gamma = per_column(g, "gamma", 0.7F, 1.3F), beta = per_column(g, "beta", 0.4F, -0.4F);
  graph_add_node(g, GRAPH_OP_MAT_MUL, "before", (int[]){x, w}, 2, &a, 1);
  if (centred) {
    graph_node *norm = graph_add_node(g, GRAPH_OP_LAYER_NORMALIZATION, "norm", (int[]){a, gamma, beta}, 3, &b, 1);
    graph_set_float(g, norm, "epsilon", 1e-5F);
  } else {
    add_root_mean_square(g, rows, a, gamma, b);
  }
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
  for (size_t n = 0; n < 2 * sizeof cases / sizeof *cases; n++) {
    const size_t i = n / 2;
    const bool centred = n % 2 == 0;
    wf_diag diag = wf_diag_to(stderr);
    graph *model = model_of(cases[i].rows, centred);
    const void *inputs[1] = {rows_of(model, cases[i].rows, cases[i].ratio)};
    const quantise_options options = {.inputs = inputs, .input_sets = 1};
    graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    const graph_node *node = find(placed, GRAPH_OP_QNORM_MESH);
    assert_int_equal(node != NULL, cases[i].most != 0);
    assert_int_equal(find(placed, GRAPH_OP_QLAYER_NORM) != NULL, cases[i].most == 0);
    if (node != NULL) {
      if (centred) assert_int_equal(graph_int(node, "most", 0), cases[i].most);
      assert_int_equal(node->place, GRAPH_ON_ARRAY);
      assert_int_equal(graph_int(node, "center", 1), centred);
    }
    quantise_quality *quality = quantise_compare(model, placed, &options, &diag);
    print_message("deviations %g, %s: %.1f dB\n", cases[i].ratio, centred ? "centred" : "not", quality[0].sqnr_db);
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
