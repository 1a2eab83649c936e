// SPDX-License-Identifier: Apache-2.0
// Gates in front of convolutions of 1 x 1: the numbers go into the weights where the image has more pixels than those
// have columns, with and without residual, and what comes out is as near the exact sums as before.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

enum { CHANNELS = 40, FACTOR = 37 };
static const float gate_scale = 0.009F, conv_scale = 0.0007F;

typedef struct sizes {
  int64_t rows, columns, outputs;
  bool residual, bias, given;
} sizes;

static int tensor(graph *g, const char *name, graph_type type, int rank, const int64_t *dim, const void *data) {
  graph_tensor t = {.name = name, .type = type, .rank = rank, .data = data};
  memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
  return graph_add_tensor(g, &t);
}

static int8_t *random_bytes(graph *g, int64_t count, int low, int high, uint64_t seed) {
  int8_t *to = WF_ARENA_ARRAY(g->arena, (size_t)count, int8_t);
  for (int64_t i = 0; i < count; i++) to[i] = (int8_t)wf_random_in(&seed, low, high);
  return to;
}

static graph *build(const sizes *s) {
  graph *g = graph_create("gated");
  const int64_t image[4] = {1, s->rows, s->columns, CHANNELS}, numbers[4] = {1, 1, 1, CHANNELS},
                out[4] = {1, s->rows, s->columns, s->outputs}, weights[4] = {1, 1, CHANNELS, s->outputs};
  int32_t *biases = WF_ARENA_ARRAY(g->arena, (size_t)s->outputs, int32_t);
  for (int64_t i = 0; i < s->outputs; i++) biases[i] = (int32_t)(i * 301 - 5000);
  const int x = tensor(g, "x", GRAPH_I8, 4, image, NULL), gate = tensor(g, "gate", GRAPH_I8, 4, numbers, NULL),
            residual = tensor(g, "residual", GRAPH_I8, 4, out, NULL),
            w = tensor(g, "w", GRAPH_I8, 4, weights, random_bytes(g, CHANNELS * s->outputs, -127, 127, 3)),
            bias = tensor(g, "bias", GRAPH_I32, 1, &s->outputs, biases),
            gated = tensor(g, "gated", GRAPH_I8, 4, image, NULL), y = tensor(g, "y", GRAPH_I8, 4, out, NULL);
  graph_node *mul = graph_add_node(g, GRAPH_OP_QMUL, "mul", (int[]){x, gate}, 2, &gated, 1);
  graph_set_float(g, mul, "scale", gate_scale);
  if (s->given) graph_set_int(g, mul, "given", 1);
  const int inputs[4] = {gated, w, s->bias ? bias : GRAPH_NONE, residual};
  graph_node *conv = graph_add_node(g, GRAPH_OP_QCONV, "conv", inputs, s->residual ? 4 : 3, &y, 1);
  graph_set_float(g, conv, "scale", conv_scale);
  if (s->residual) graph_set_int(g, conv, "factor", FACTOR);
  graph_set_ends(g, (int[]){x, gate, residual}, 3, &y, 1);
  return g;
}

// The root of the mean square distance of the bytes from the sums without any rounding.
static double distance(const graph *g, const sizes *s, const void *const *inputs) {
  wf_diag diag = wf_diag_to(stderr);
  const int64_t pixels = s->rows * s->columns;
  int8_t *y = WF_NEW_ARRAY((size_t)(pixels * s->outputs), int8_t);
  assert_true(graph_run(g, inputs, (void *[]){y}, NULL, &diag));
  const int8_t *x = inputs[0], *gate = inputs[1], *residual = inputs[2],
               *w = random_bytes((graph *)g, CHANNELS * s->outputs, -127, 127, 3);
  double sum = 0;
  for (int64_t p = 0; p < pixels; p++)
    for (int64_t k = 0; k < s->outputs; k++) {
      double exact = s->bias ? (double)(k * 301 - 5000) : 0;
      if (s->residual) exact += FACTOR * residual[p * s->outputs + k];
      for (int64_t c = 0; c < CHANNELS; c++)
        exact += (double)gate_scale * x[p * CHANNELS + c] * gate[c] * w[c * s->outputs + k];
      const double off = fmin(127, fmax(-128, exact * (double)conv_scale)) - y[p * s->outputs + k];
      sum += off * off;
    }
  wf_free(y);
  return sqrt(sum / (double)(pixels * s->outputs));
}

static int count(const graph *g, graph_op op) {
  int sum = 0;
  for (int n = 0; n < g->node_count; n++) sum += g->nodes[n].op == op;
  return sum;
}

static void check(const sizes *s, bool moves) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = build(s);
  const int64_t pixels = s->rows * s->columns;
  const void *inputs[3] = {random_bytes(g, pixels * CHANNELS, -128, 127, 5), random_bytes(g, CHANNELS, 20, 110, 7),
                           random_bytes(g, pixels * s->outputs, -128, 127, 9)};
  const double before = distance(g, s, inputs);
  quantise_place(g, &(quantise_options){0});
  assert_true(graph_verify(g, &diag));
  assert_int_equal(count(g, GRAPH_OP_QCONV), !moves);
  assert_int_equal(count(g, GRAPH_OP_QMAT_MUL), moves);
  assert_int_equal(count(g, GRAPH_OP_QMUL), 1);
  const double after = distance(g, s, inputs);
  if (!(before > 0.2 && before < 1.2) || !(after > 0.2 && after < 1.2)) fail_msg("off by %g, then %g", before, after);
  graph_destroy(g);
}

static void gates_go_into_weights(void **state) {
  (void)state;
  static const sizes many[] = {{7, 9, 24, false, true, false},
                               {7, 9, 24, true, true, false},
                               {4, 4, 8, true, false, false},
                               {50, 1, 3, false, false, false}};
  for (size_t i = 0; i < sizeof many / sizeof *many; i++) check(&many[i], true);
}

// As do scales that the model gives.
static void few_pixels_keep_them(void **state) {
  (void)state;
  static const sizes few[] = {
      {7, 7, 48, false, true, false}, {2, 1, 3, true, true, false}, {7, 9, 24, true, true, true}};
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) check(&few[i], false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gates_go_into_weights), cmocka_unit_test(few_pixels_keep_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
