// SPDX-License-Identifier: Apache-2.0
// Tables as sums of ramps: functions that networks have become curves, whose bytes stay near the function; functions
// with many turns, small tensors and scales that a model gives stay tables.
#include "compiler/graph/curve.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/quantise/quantise.h"

#define BIAS 0.125F

static int tensor(graph *g, const char *name, int64_t count) {
  return graph_add_tensor(g, &(graph_tensor){.name = name, .type = GRAPH_F32, .rank = 2, .dim = {count, 4}});
}

// x times the unit matrix (so that it is int8) plus a bias, then the function. The placed graph.
static graph *place(graph_op op, int64_t count, double range, graph **model) {
  static const float unit[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_create("function");
  const int x = tensor(g, "x", count), product = tensor(g, "product", count), y = tensor(g, "y", count);
  const int w =
      graph_add_tensor(g, &(graph_tensor){.name = "w", .type = GRAPH_F32, .rank = 2, .dim = {4, 4}, .data = unit});
  static const float biases[4] = {BIAS, BIAS, BIAS, BIAS};
  const int bias =
      graph_add_tensor(g, &(graph_tensor){.name = "bias", .type = GRAPH_F32, .rank = 1, .dim = {4}, .data = biases});
  graph_add_node(g, GRAPH_OP_GEMM, "product", (int[]){x, w, bias}, 3, &product, 1);
  graph_add_node(g, op, "function", &product, 1, &y, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)(4 * count), float);
  for (int64_t i = 0; i < 4 * count; i++) values[i] = (float)(range * (2.0 * (double)i / (double)(4 * count - 1) - 1));
  const void *inputs[1] = {values};
  const quantise_options options = {.inputs = inputs, .input_sets = 1, .int8_ends = true};
  graph *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  *model = g;
  return placed;
}

static double function(graph_op op, double x) {
  switch (op) {
    case GRAPH_OP_GELU:
      return 0.5 * x * (1 + erf(x / sqrt(2)));
    case GRAPH_OP_HARD_SWISH:
      return x * fmin(1, fmax(0, x / 6 + 0.5));
    case GRAPH_OP_HARD_SIGMOID:
      return fmin(1, fmax(0, x / 5 + 0.5));  // ONNX's default slope
    default:
      return 1 / (1 + exp(-x));
  }
}

static const graph_node *find(const graph *g, graph_op op) {
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].op == op) return &g->nodes[n];
  return NULL;
}

// No byte is far from the function, and together they have little more noise than rounding.
static void check_bytes(const graph *placed, graph_op op) {
  const graph_node *node = find(placed, GRAPH_OP_QCURVE);
  graph_curve curve;
  assert_non_null(node);
  assert_true(graph_curve_of(node, &curve));
  const graph_tensor *x = &placed->tensors[node->inputs[0]], *y = &placed->tensors[node->outputs[0]];
  double noise = 0, most = 0;
  for (int q = -128; q < 128; q++) {
    const double value = function(op, (double)x->scale * q) / (double)y->scale;
    const double error = graph_curve_value(&curve, (int8_t)q) - fmax(-128, fmin(127, value));
    noise += error * error / 256;
    most = fmax(most, fabs(error));
  }
  if (!(noise <= 3.5 / 12) || !(most <= 2.5)) fail_msg("%s: noise %g, error %g", graph_op_name(op), 12 * noise, most);
}

static void functions_become_curves(void **state) {
  (void)state;
  static const graph_op ops[] = {GRAPH_OP_GELU, GRAPH_OP_HARD_SWISH, GRAPH_OP_SIGMOID};
  static const double ranges[] = {1.5, 3, 5, 9};
  for (size_t f = 0; f < sizeof ops / sizeof *ops; f++)
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
      graph *model, *placed = place(ops[f], 1024, ranges[r], &model);
      if (find(placed, GRAPH_OP_QCURVE) == NULL) fail_msg("%s within %g is no curve", graph_op_name(ops[f]), ranges[r]);
      check_bytes(placed, ops[f]);
      graph_destroy(placed);
      graph_destroy(model);
    }
}

// The product's bytes are the function's, up to one: with relu, a scale and, where the function starts beside 0, a
// bias.
static void check_product(const graph *placed, graph_op op) {
  enum { UNIT = 127 };  // what the 1 of the matrix becomes
  const graph_node *product = find(placed, GRAPH_OP_QMAT_MUL);
  assert_null(find(placed, GRAPH_OP_QCURVE));
  assert_null(find(placed, GRAPH_OP_QLUT));
  assert_non_null(product);
  assert_int_equal(graph_int(product, "relu", 0), 1);
  const double in = placed->tensors[product->inputs[0]].scale, out = placed->tensors[product->outputs[0]].scale;
  const int32_t *bias = product->input_count > 2 ? placed->tensors[product->inputs[2]].data : NULL;
  for (int q = -127; q < 128; q++) {
    const double sum = UNIT * q + (bias == NULL ? 0 : bias[0]);
    const double got = rint(fmax(0, (double)graph_float(product, "scale", 0) * sum));
    assert_true(fabs(fmin(127, got) - function(op, in * q + (double)BIAS) / out) <= 1);
  }
}

// Over a wide range GELU is relu but near 0: the product before it does that, and its bytes are as near.
static void relus_go_into_products(void **state) {
  (void)state;
  static const double ranges[] = {300, 1000};
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    graph *model, *placed = place(GRAPH_OP_GELU, 1024, ranges[r], &model);
    check_product(placed, GRAPH_OP_GELU);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

// Hard sigmoids begin beside 0, which takes a bias; they go into the product, however few the elements.
static void hard_sigmoids_go_into_products(void **state) {
  (void)state;
  static const double ranges[] = {0.5, 2, 4, 20};
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    graph *model, *placed = place(GRAPH_OP_HARD_SIGMOID, 16, ranges[r], &model);
    check_product(placed, GRAPH_OP_HARD_SIGMOID);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

static void others_stay_tables(void **state) {
  (void)state;
  graph *model, *placed = place(GRAPH_OP_SIN, 1024, 60, &model);
  assert_null(find(placed, GRAPH_OP_QCURVE));
  assert_non_null(find(placed, GRAPH_OP_QLUT));
  graph_destroy(placed);
  graph_destroy(model);
}

static void few_elements_are_curves(void **state) {
  (void)state;
  graph *model, *placed = place(GRAPH_OP_TANH, 1, 3, &model);  // a row of four
  assert_non_null(find(placed, GRAPH_OP_QCURVE));
  assert_null(find(placed, GRAPH_OP_QLUT));
  graph_destroy(placed);
  graph_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions_become_curves),
                                     cmocka_unit_test(relus_go_into_products),
                                     cmocka_unit_test(hard_sigmoids_go_into_products),
                                     cmocka_unit_test(others_stay_tables), cmocka_unit_test(few_elements_are_curves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
