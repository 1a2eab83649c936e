// SPDX-License-Identifier: Apache-2.0
// Rows for the array's normaliser: which operators become what, how near they are to float, what does not fit, and
// that the choice follows the measured quality.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/unit_rows.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

static int count(const graph *g, graph_op op) {
  int sum = 0;
  for (int n = 0; n < g->node_count; n++) sum += g->nodes[n].op == op;
  return sum;
}

static graph *create(const char *name, wf_diag *diag) {
  const networks_row *row = networks_find(name);
  const networks_options options = {
      .divisor = 8, .seed = 3, .size = row->size ? 64 : 0, .sequence = row->sequence ? 16 : 0, .layers = 1};
  graph *g = networks_create(name, &options, diag);
  assert_non_null(g);
  return g;
}

static double quality_of(const graph *model, const graph *placed, const quantise_options *options) {
  wf_diag diag = wf_diag_to(stderr);
  quantise_quality *quality = quantise_compare(model, placed, options, &diag);
  assert_non_null(quality);
  const double db = quality[0].sqnr_db;
  wf_free(quality);
  return db;
}

// All kinds on networks that have them. The prepared model is converted twice.
static void test_forms(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int softmaxes, norms, gelus;
    bool lengths;
  } rows[] = {{"bert-base", 1, 2, 1, false}, {"gpt2-block", 1, 2, 1, true}, {"vit-b16", 1, 3, 1, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    wf_diag diag = wf_diag_to(stderr);
    graph *model = create(rows[i].name, &diag);
    quantise_options options = {.samples = 3};
    quantise_pins pins;
    quantise_ranges ranges;
    assert_true(quantise_prepare(model, &pins, &diag));
    assert_true(quantise_calibrate(model, &options, &ranges, &diag));
    graph *hart = quantise_convert(model, &pins, &ranges, &options, &diag);
    options.unit_kinds = QUANTISE_UNIT_ALL;
    graph *none = quantise_convert(model, &pins, &ranges, &options, &diag);  // no columns fit
    options.target.unit_columns = 1008;
    graph *unit = quantise_convert(model, &pins, &ranges, &options, &diag);
    assert_non_null(hart);
    assert_non_null(none);
    assert_non_null(unit);
    assert_int_equal(count(none, GRAPH_OP_QSOFTMAX_UNIT) + count(none, GRAPH_OP_QNORM_UNIT), 0);
    assert_int_equal(count(unit, GRAPH_OP_QSOFTMAX_UNIT), rows[i].softmaxes);
    assert_int_equal(count(unit, GRAPH_OP_QNORM_UNIT), rows[i].norms);
    assert_int_equal(count(unit, GRAPH_OP_QGELU_UNIT), rows[i].gelus);
    assert_int_equal(count(unit, GRAPH_OP_QSOFTMAX) + count(unit, GRAPH_OP_QLAYER_NORM), 0);
    for (int n = 0; n < unit->node_count; n++)
      if (unit->nodes[n].op == GRAPH_OP_QSOFTMAX_UNIT)
        assert_int_equal(unit->nodes[n].input_count, rows[i].lengths ? 2 : 1);
    const double by_hart = quality_of(model, hart, &options), by_unit = quality_of(model, unit, &options);
    print_message("%s: hart %.1f dB, normaliser %.1f dB\n", rows[i].name, by_hart, by_unit);
    assert_true(by_unit > by_hart - 3 && by_unit > 20);
    graph_destroy(hart);
    graph_destroy(none);
    graph_destroy(unit);
    graph_destroy(model);
  }
}

// The kinds that stay together lose no more than the bound; without a normaliser nothing is measured.
static void test_choice(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  static const int64_t columns[] = {1008, 20, 0};  // rows of a norm do not fit into 20
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    graph *model = create("bert-base", &diag);
    quantise_choice choice = {0};
    const quantise_options options = {.samples = 3, .target.unit_columns = columns[i], .choice = &choice};
    graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    assert_int_equal(choice.measured, columns[i] > 0);
    assert_true(choice.kinds == 0 || choice.unit_db >= choice.hart_db - QUANTISE_UNIT_LOSS);
    assert_int_equal(count(placed, GRAPH_OP_QSOFTMAX_UNIT) != 0, (choice.kinds & QUANTISE_UNIT_SOFTMAX) != 0);
    assert_int_equal(count(placed, GRAPH_OP_QGELU_UNIT) != 0, (choice.kinds & QUANTISE_UNIT_GELU) != 0);
    const bool norms = (choice.kinds & QUANTISE_UNIT_NORM) != 0 && columns[i] > 20;
    assert_int_equal(count(placed, GRAPH_OP_QNORM_UNIT) != 0, norms);
    for (int n = 0; n < placed->node_count; n++)
      if (placed->nodes[n].op == GRAPH_OP_QSOFTMAX_UNIT) assert_int_equal(placed->nodes[n].place, GRAPH_ON_ARRAY);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
