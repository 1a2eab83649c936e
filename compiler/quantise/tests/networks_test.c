// SPDX-License-Identifier: Apache-2.0
// The generated networks in narrow variants through all passes: preparing and folding keep the float results, the
// placed graph keeps them within the noise of int8, products run on the array, and every node has a place and a reason.
#include "workloads/networks/networks.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

// The least ratio of signal to noise of any output, in dB, and the nodes of the placed graph. `host`: products that
// have to stay in float.
static const struct expected {
  const char *name;
  double sqnr_db;
  int convs, products, adds, tables, softmaxes, norms;
} rows[] = {
    {"resnet18", 18, 20, 1, 0, 0, 0, 0},
    {"resnet50", 18, 53, 1, 0, 0, 0, 0},
    {"mobilenetv2", 25, 52, 1, 0, 0, 0, 0},
    {"mobilenetv3-small", 25, 46, 8, 0, 19, 0, 0},  // products of gated weights
    {"efficientnet-b0", 10, 73, 9, 0, 65, 0, 0},
    {"shufflenetv2", 25, 71, 1, 0, 0, 0, 0},  // 15 of them put channels in order
    {"resnext50-32x4d", 18, 53, 1, 0, 0, 0, 0},
    {"densenet-121", 18, 182, 1, 0, 0, 0, 0},
    {"convnext-t", 20, 22, 37, 18, 18, 0, 23},
    {"swin-t", 18, 1, 76, 24, 12, 12, 29},
    {"vgg16", 30, 13, 3, 0, 0, 0, 0},
    {"unet", 24, 23, 0, 0, 0, 0, 0},
    {"retinanet", 17, 111, 0, 0, 2, 0, 0},
    {"bert-base", 22, 0, 16, 0, 2, 2, 3},
    {"gpt2-block", 22, 0, 12, 0, 2, 2, 3},
    {"llama2-7b-block", 22, 0, 22, 0, 2, 2, 3},
    {"llama3-8b-block", 22, 0, 22, 0, 2, 2, 3},
    {"vit-b16", 22, 1, 17, 1, 2, 2, 5},
    {"lstm", 22, 0, 16, 0, 0, 0, 0},
    {"deepbench", 30, 0, 12, 0, 0, 0, 0},
};

static graph *create(const char *name, wf_diag *diag) {
  const networks_row *row = networks_find(name);
  const networks_options options = {.divisor = 8,
                                    .seed = 3,
                                    .size = row->size ? 64 : 0,
                                    .sequence = row->sequence ? 8 : 0,
                                    .layers = row->layers ? 2 : 0};
  graph *g = networks_create(name, &options, diag);
  assert_non_null(g);
  return g;
}

static float **run(const graph *g, const void *const *inputs, wf_diag *diag) {
  float **outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, float *);
  for (int i = 0; i < g->output_count; i++) outputs[i] = wf_alloc(graph_bytes(&g->tensors[g->outputs[i]]), 1);
  const graph_run_options options = {.file = g->name};
  assert_true(graph_run(g, inputs, (void *const *)outputs, &options, diag));
  return outputs;
}

static void drop(const graph *g, float **outputs) {
  for (int i = 0; i < g->output_count; i++) wf_free(outputs[i]);
  wf_free(outputs);
}

// Preparing changes the graph but, up to rounding in float, not what it computes.
static void preparing_keeps_results(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    graph *g = create(rows[i].name, &diag);
    void **inputs = quantise_random_inputs(g, 5);
    float **before = run(g, (const void *const *)inputs, &diag);
    const int nodes = g->node_count;
    quantise_pins pins;
    assert_true(quantise_prepare(g, &pins, &diag));
    if (strcmp(rows[i].name, "resnet18") == 0) assert_int_equal(nodes - g->node_count, 20);  // its batch normalisations
    float **after = run(g, (const void *const *)inputs, &diag);
    for (int o = 0; o < g->output_count; o++) {
      double error = 0, power = 0;
      for (int64_t k = 0; k < graph_elements(&g->tensors[g->outputs[o]]); k++) {
        error += ((double)after[o][k] - (double)before[o][k]) * ((double)after[o][k] - (double)before[o][k]);
        power += (double)before[o][k] * (double)before[o][k];
      }
      assert_true(power > 0);
      if (!(error <= 1e-9 * power)) fail_msg("%s: relative error %g", rows[i].name, sqrt(error / power));
    }
    drop(g, before);
    drop(g, after);
    quantise_free_inputs(g, inputs);
    graph_destroy(g);
  }
}

static int count(const graph *g, graph_op op) {
  int sum = 0;
  for (int n = 0; n < g->node_count; n++) sum += g->nodes[n].op == op;
  return sum;
}

static void check_places(const graph *placed) {
  for (int n = 0; n < placed->node_count; n++) {
    const graph_node *node = &placed->nodes[n];
    assert_int_not_equal(node->place, GRAPH_UNPLACED);
    if (node->place == GRAPH_ON_HOST) assert_non_null(node->reason);
    assert_ptr_not_equal(strstr(node->name, graph_op_name(node->op)), node->name);  // called as in the model
    assert_int_not_equal(node->op, GRAPH_OP_CONV);
    assert_int_not_equal(node->op, GRAPH_OP_GEMM);
    assert_int_not_equal(node->op, GRAPH_OP_MAT_MUL);
    assert_int_not_equal(node->op, GRAPH_OP_BATCH_NORMALIZATION);
    const int64_t factor = graph_int(node, "factor", 1);
    assert_true(factor >= 1 && factor <= QUANTISE_FACTOR_MAX);
  }
}

static void check_quality(const graph *model, const graph *placed, const quantise_options *options, double least) {
  wf_diag diag = wf_diag_to(stderr);
  quantise_quality *quality = quantise_compare(model, placed, options, &diag);
  assert_non_null(quality);
  for (int o = 0; o < model->output_count; o++)
    if (!(quality[o].sqnr_db >= least)) fail_msg("%s: %g dB in %s", model->name, quality[o].sqnr_db, quality[o].output);
  wf_free(quality);
}

// Tables that are relu and went into the products before them; of models that have no relu of their own.
static int absorbed(const graph *model, const graph *placed) {
  if (count(model, GRAPH_OP_RELU) + count(model, GRAPH_OP_CLIP) > 0) return 0;
  int relus = 0;
  for (int n = 0; n < placed->node_count; n++) relus += graph_int(&placed->nodes[n], "relu", 0) != 0;
  return relus;
}

static void placed_networks_are_close(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options options = {.samples = 3};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    graph *model = create(rows[i].name, &diag);
    graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    check_places(placed);
    assert_int_equal(count(placed, GRAPH_OP_QCONV) - count(placed, GRAPH_OP_QNORM_MESH), rows[i].convs);
    assert_int_equal(count(placed, GRAPH_OP_QMAT_MUL), rows[i].products);
    assert_int_equal(count(placed, GRAPH_OP_QADD), rows[i].adds);
    assert_int_equal(count(placed, GRAPH_OP_QLUT) + count(placed, GRAPH_OP_QCURVE) + absorbed(model, placed),
                     rows[i].tables);
    assert_int_equal(count(placed, GRAPH_OP_QSOFTMAX), rows[i].softmaxes);
    assert_int_equal(count(placed, GRAPH_OP_QLAYER_NORM) + count(placed, GRAPH_OP_QNORM_MESH), rows[i].norms);
    assert_int_equal(count(placed, GRAPH_OP_SOFTMAX), 0);
    if (!TEST_SANITIZED || i % 2 == 0) check_quality(model, placed, &options, rows[i].sqnr_db);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

// Cutting off the rarest magnitudes costs a bounded amount; int8 ends change the ends and nothing else.
static void options_work(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options options = {.samples = 3, .method = QUANTISE_PERCENTILE, .percentile = 99.99};
  graph *model = create("resnet18", &diag), *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
  check_quality(model, placed, &options, 18);
  assert_int_equal(count(placed, GRAPH_OP_QUANTIZE), 1);
  assert_int_equal(count(placed, GRAPH_OP_QMAX_POOL), 0);
  graph_destroy(placed);
  graph_destroy(model);
  const quantise_options ends = {.samples = 1, .int8_ends = true, .keep_pools = true};
  model = create("resnet18", &diag);
  placed = quantise_network(model, &ends, QUANTISE_STAGE_PLACED, &diag);
  assert_int_equal(count(placed, GRAPH_OP_QUANTIZE) + count(placed, GRAPH_OP_DEQUANTIZE), 0);
  assert_int_equal(count(placed, GRAPH_OP_QMAX_POOL), 1);
  assert_int_equal(placed->tensors[placed->inputs[0]].type, GRAPH_I8);
  assert_int_equal(placed->tensors[placed->inputs[0]].dim[3], 3);
  graph_destroy(placed);
  graph_destroy(model);
}

// The last normalisation of a transformer is one of int8, too.
static void int8_ends_reach_rows(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options ends = {.samples = 1, .int8_ends = true};
  graph *model = create("bert-base", &diag), *placed = quantise_network(model, &ends, QUANTISE_STAGE_PLACED, &diag);
  assert_int_equal(count(placed, GRAPH_OP_LAYER_NORMALIZATION), 0);
  assert_int_equal(count(placed, GRAPH_OP_QUANTIZE) + count(placed, GRAPH_OP_DEQUANTIZE), 0);
  assert_int_equal(placed->tensors[placed->outputs[0]].type, GRAPH_I8);
  graph_destroy(placed);
  graph_destroy(model);
}

// The steps of an LSTM are cells, with one table for those that have the same weights.
static void steps_are_cells(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options ends = {.samples = 1, .int8_ends = true};
  graph *model = create("lstm", &diag), *placed = quantise_network(model, &ends, QUANTISE_STAGE_PLACED, &diag);
  static const graph_op gone[] = {GRAPH_OP_QUANTIZE, GRAPH_OP_QLUT, GRAPH_OP_TANH, GRAPH_OP_MUL, GRAPH_OP_ADD};
  assert_int_equal(count(placed, GRAPH_OP_QCELL), 2 * 8);
  assert_int_equal(count(placed, GRAPH_OP_QHIDDEN), 2 * 8);
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) assert_int_equal(count(placed, gone[i]), 0);
  int tables = 0, last = GRAPH_NONE;
  for (int n = 0; n < placed->node_count; n++) {
    const graph_node *node = &placed->nodes[n];
    if (node->op != GRAPH_OP_QCELL && node->op != GRAPH_OP_QHIDDEN) continue;
    tables += node->inputs[1] != last;
    last = node->inputs[1];
  }
  assert_int_equal(tables, 2 * 2);  // of two layers: the first step has no product with a state
  graph_destroy(placed);
  graph_destroy(model);
}

// Numbers that a product alone reads are bytes before they are transposed, and a Quantize follows what it reads: here
// at a step that is no cell, since its output gate stays in float.
static void bytes_come_early(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  static const char *const keep[] = {"layer0.lstm.t2.o"};
  const quantise_options ends = {.samples = 1, .int8_ends = true, .keep = keep, .keep_count = 1};
  graph *model = create("lstm", &diag), *placed = quantise_network(model, &ends, QUANTISE_STAGE_PLACED, &diag);
  int quantised = 0;
  for (int n = 0; n < placed->node_count; n++) {
    const graph_node *node = &placed->nodes[n];
    if (node->op == GRAPH_OP_TRANSPOSE) assert_int_equal(placed->tensors[node->inputs[0]].type, GRAPH_I8);
    if (node->op != GRAPH_OP_QUANTIZE) continue;
    assert_true(n > 0 && placed->nodes[n - 1].outputs[0] == node->inputs[0]);
    quantised++;
  }
  assert_int_equal(quantised, 1);
  assert_int_equal(count(placed, GRAPH_OP_QHIDDEN), 2 * 8 - 1);
  graph_destroy(placed);
  graph_destroy(model);
}

// Rows that are long beside those of the product behind them are divided by their sums there, masked ones, too; others
// are not, nor are those that a normaliser can take. If the hart has rows stored with their own scales, the converter
// divides rows of 48 columns, too.
static void long_rows_are_divided_late(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t sequence;
    int64_t unit_columns;
    bool row_scales;
    int divided, pools, wider;  // rows: all, in quarters, and those with columns behind them
  } cases[] = {{"bert-base", 128, 0, false, 2, 4, 0},   {"bert-base", 48, 0, false, 0, 0, 0},
               {"bert-base", 48, 0, true, 2, 0, 0},     {"bert-base", 131, 0, false, 2, 2, 2},
               {"bert-base", 127, 0, false, 2, 0, 0},   {"bert-base", 257, 0, false, 2, 4, 2},
               {"bert-base", 128, 100, false, 2, 4, 0}, {"gpt2-block", 128, 0, false, 2, 4, 0},
               {"bert-base", 197, 0, false, 2, 4, 2},   {"gpt2-block", 24, 0, true, 0, 0, 0},
               {"bert-base", 128, 128, false, 0, 0, 0}};
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const networks_options options = {.divisor = 6, .seed = 3, .sequence = cases[i].sequence, .layers = 2};
    const quantise_options ends = {
        .samples = 2, .seed = 5, .target = {.unit_columns = cases[i].unit_columns, .row_scales = cases[i].row_scales}};
    graph *model = networks_create(cases[i].name, &options, &diag),
          *placed = quantise_network(model, &ends, QUANTISE_STAGE_PLACED, &diag);
    assert_int_equal(count(placed, GRAPH_OP_QSHARE), cases[i].divided);
    assert_int_equal(count(placed, GRAPH_OP_QHEADROOM), cases[i].divided);
    assert_int_equal(count(placed, GRAPH_OP_QMAX_POOL), cases[i].pools);
    assert_int_equal(count(placed, GRAPH_OP_PAD), cases[i].wider);
    assert_int_equal(count(placed, GRAPH_OP_QSOFTMAX) + count(placed, GRAPH_OP_QSOFTMAX_UNIT),
                     options.layers - cases[i].divided);
    quantise_quality *quality = quantise_compare(model, placed, &ends, &diag);
    if (!(quality[0].sqnr_db > 25)) fail_msg("%s: %g dB", cases[i].name, quality[0].sqnr_db);
    wf_free(quality);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(preparing_keeps_results),
                                     cmocka_unit_test(placed_networks_are_close),
                                     cmocka_unit_test(options_work),
                                     cmocka_unit_test(int8_ends_reach_rows),
                                     cmocka_unit_test(steps_are_cells),
                                     cmocka_unit_test(bytes_come_early),
                                     cmocka_unit_test(long_rows_are_divided_late)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
