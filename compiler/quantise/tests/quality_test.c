// SPDX-License-Identifier: Apache-2.0
// Signal to noise layer by layer, nodes that stay in float, and the choice of them by a quality.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/make.h"
#include "compiler/quantise/quantise.h"

static const graph_node none = {.name = "net"};

static int weights(const quantise_maker *m, int64_t results, int64_t depth, float outlier, bool faint) {
  const int64_t dim[4] = {results, depth, 3, 3}, count = results * depth * 9;
  float *data = WF_ARENA_ARRAY(m->g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) data[i] = (float)(i * 37 % 101 - 50) / 100;
  if (outlier > 0) data[3 * 9] = outlier;
  for (int64_t i = 0; faint && i < depth * 9; i++) data[3 * depth * 9 + i] /= 1000;
  return quantise_make_constant(m, GRAPH_F32, 4, dim, data);
}

static int conv(graph *g, const char *name, int x, int w) {
  const int out = quantise_rewrite_tensor(g, name, ".out", GRAPH_F32, 0, NULL);
  graph_node *node = graph_add_node(g, GRAPH_OP_CONV, name, (int[]){x, w}, 2, &out, 1);
  graph_set_ints(g, node, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_infer(g, node, "test", &diag));
  return out;
}

// Three convolutions; one weight of the second, of a channel with hardly a signal, is so large that int8 leaves little
// of the others.
static graph *network(void) {
  graph *g = graph_create("net");
  const quantise_maker m = {g, &none};
  const int x = quantise_rewrite_tensor(g, "x", "", GRAPH_F32, 4, (int64_t[]){1, 3, 10, 10});
  int y = conv(g, "first", x, weights(&m, 4, 3, 0, true));
  y = quantise_make_unary(&m, GRAPH_OP_RELU, y, GRAPH_NONE);
  y = conv(g, "second", y, weights(&m, 4, 4, 30, false));
  y = quantise_make_unary(&m, GRAPH_OP_RELU, y, GRAPH_NONE);

  y = conv(g, "third", y, weights(&m, 2, 4, 0, false));
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static int count_op(const graph *g, graph_op op) {
  int count = 0;
  for (int n = 0; n < g->node_count; n++) count += g->nodes[n].op == op;
  return count;
}

static void names_the_layer_that_loses(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  quantise_forms forms;
  const quantise_options options = {.samples = 2, .forms = &forms};
  graph *g = network(), *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  quantise_layers layers;
  assert_true(quantise_compare_layers(g, placed, &forms, &options, &layers, &diag));
  quantise_quality *quality = quantise_compare(g, placed, &options, &diag);
  const quantise_layer *worst = quantise_worst_layer(&layers), *last = &layers.rows[layers.count - 1];
  assert_string_equal(worst->cause, "second");
  assert_true(worst->input_db - worst->sqnr_db > 10);
  assert_true(fabs(last->sqnr_db - quality[0].sqnr_db) < 0.5);  // of the same samples; the output is Dequantize of it
  int products = 0;
  for (int i = 0; i < layers.count; i++) products += layers.rows[i].op == GRAPH_OP_QCONV;
  assert_int_equal(products, 3);
  wf_free(quality);
  quantise_layers_release(&layers);
  graph_destroy(placed);
  graph_destroy(g);
}

// Queries, a part of which is divided, and keys: the division leaves the bytes as they are, the transpose goes into
// the product, and both tensors stay comparable or are left out. 5 heads of 4 x 4 keys,
// so that no shape tells them apart.
static graph *scores(void) {
  graph *g = graph_create("scores");
  const quantise_maker m = {g, &none};
  const int64_t dim[4] = {1, 4, 5, 4};
  const int q = quantise_rewrite_tensor(g, "q", "", GRAPH_F32, 4, dim),
            k = quantise_rewrite_tensor(g, "k", "", GRAPH_F32, 4, dim);
  const int rows = quantise_make_transpose(&m, q, (int64_t[]){0, 2, 1, 3}, GRAPH_NONE),
            columns = quantise_make_transpose(&m, k, (int64_t[]){0, 2, 3, 1}, GRAPH_NONE);
  const int half = quantise_make_slice(&m, rows, 2, 0, 2, 1, GRAPH_NONE);
  const int scaled = quantise_make_binary(&m, GRAPH_OP_DIV, half, quantise_make_number(&m, 8), GRAPH_NONE);
  const int y = quantise_make_binary(&m, GRAPH_OP_MAT_MUL, scaled, columns, GRAPH_NONE);
  graph_set_ends(g, (int[]){q, k}, 2, &y, 1);
  return g;
}

static void compares_what_is_alike(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  quantise_forms forms;
  const quantise_options options = {.samples = 2, .forms = &forms};
  graph *g = scores(), *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  quantise_layers layers;
  assert_true(quantise_compare_layers(g, placed, &forms, &options, &layers, &diag));
  assert_true(layers.count >= 4);
  for (int i = 0; i < layers.count; i++)
    if (layers.rows[i].sqnr_db < 15) fail_msg("%s: %g dB", layers.rows[i].node, layers.rows[i].sqnr_db);
  quantise_layers_release(&layers);
  graph_destroy(placed);
  graph_destroy(g);
}

static double quality_with(const quantise_options *options, int convs) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = network(), *placed = quantise_network(g, options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  if (convs >= 0) assert_int_equal(count_op(placed, GRAPH_OP_CONV), convs);
  quantise_quality *quality = quantise_compare(g, placed, options, &diag);
  const double db = quality[0].sqnr_db;
  wf_free(quality);
  graph_destroy(placed);
  graph_destroy(g);
  return db;
}

static void keeps_nodes_in_float(void **state) {
  (void)state;
  const char *const keep[] = {"second", "third"}, *const unknown[] = {"fourth"};
  quantise_options options = {.samples = 2};
  const double before = quality_with(&options, 0);
  options.keep = keep;
  options.keep_count = 1;
  const double one = quality_with(&options, 1);
  options.keep_count = 2;
  const double two = quality_with(&options, 2);
  assert_true(one > before + 6 && two >= one - 0.5);
  options.keep = unknown;
  options.keep_count = 1;
  wf_diag quiet = wf_diag_to(NULL);
  graph *g = network();
  assert_null(quantise_network(g, &options, QUANTISE_STAGE_PLACED, &quiet));
  graph_destroy(g);
}

static void keeps_as_many_as_needed(void **state) {
  (void)state;
  quantise_kept kept;
  quantise_options options = {.samples = 2, .kept = &kept};
  const double before = quality_with(&options, 0);
  options.least_db = before + 5;
  wf_diag diag = wf_diag_to(stderr);
  graph *g = network(), *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  assert_true(kept.measured && kept.with_db >= options.least_db && kept.before_db < options.least_db);
  assert_in_range(kept.count, 1, 3);
  assert_string_equal(kept.names[0], "second");
  graph_destroy(placed);
  graph_destroy(g);
  options.least_db = before - 5;  // holds without
  g = network();
  placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_int_equal(kept.count, 0);
  graph_destroy(placed);
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_the_layer_that_loses),
      cmocka_unit_test(compares_what_is_alike),
      cmocka_unit_test(keeps_nodes_in_float),
      cmocka_unit_test(keeps_as_many_as_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
