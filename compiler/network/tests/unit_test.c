// SPDX-License-Identifier: Apache-2.0
// Rows in the normaliser: what graph_run says of them is what a plain model in 64-bit integers says, and what kernels
// leave on engines, arrays and ISA revisions is that.
#include "compiler/network/unit.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/network/tests/build_unit.h"
#include "runner/network.h"

// ---- the plain model: wide integers, which are checked to fit, and divisions of floating point

static int32_t fits(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) fail_msg("%lld does not fit", (long long)value);
  return (int32_t)value;
}

static int64_t exponential(const graph_unit_constants *c, int64_t below) {
  const int64_t halvings = -below * c->ln2_inverse >> 16;
  if (halvings >= 32) return 0;
  const int64_t p = below + halvings * c->ln2 + c->b;
  return fits(p * p + c->c) >> halvings;
}

static int8_t nearest(int64_t value, float factor) {
  const float product = (float)fits(value) * factor, rounded = nearbyintf(product);
  return (int8_t)(rounded > 127 ? 127 : rounded < -128 ? -128 : rounded);
}

static void model_softmax(const graph_unit *u, const int8_t *x, int64_t count, int8_t *y) {
  int64_t largest = -128, sum = 0;
  for (int64_t i = 0; i < count; i++) largest = x[i] > largest ? x[i] : largest;
  for (int64_t i = 0; i < count; i++) sum += exponential(&u->constants, u->gain[0] * (x[i] - largest) - u->offset);
  const float factor = 127.0F / (float)fits(sum);
  for (int64_t i = 0; i < count; i++) y[i] = nearest(exponential(&u->constants, u->gain[0] * (x[i] - largest)), factor);
}

static int64_t mean_of(const int8_t *x, int64_t count, int64_t gain) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += gain * x[i];
  return fits(sum) / count;
}

static void model_norm(const graph_unit *u, const int8_t *x, int64_t count, int8_t *y) {
  const int64_t gain = u->two_copies ? u->gain[1] : u->gain[0];
  const int64_t mean = u->centred ? mean_of(x, count, u->gain[0]) : 0;
  const int64_t fine_mean = u->centred ? mean_of(x, count, gain) : 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += (u->gain[0] * x[i] - mean) * (u->gain[0] * x[i] - mean);
  const int64_t variance = fits(sum) / count;
  int64_t root = 0;
  while ((root + 1) * (root + 1) <= variance) root++;
  const float factor = 1.0F / (float)(root == 0 ? 1 : root);
  for (int64_t i = 0; i < count; i++) y[i] = nearest(gain * x[i] - fine_mean, factor);
}

static void model_gelu(const graph_unit *u, const int8_t *x, int64_t count, int8_t *y) {
  const graph_unit_constants *c = &u->constants;
  for (int64_t i = 0; i < count; i++) {
    const int64_t q = u->gain[0] * x[i], size = q < 0 ? -q : q, p = (size < -c->b ? size : -c->b) + c->b;
    const int64_t polynomial = fits(p * p + c->c);
    y[i] = nearest(q * ((q < 0 ? -polynomial : polynomial) + c->c), u->scale);
  }
}

static void model_row(const graph_unit *u, int64_t row, const int8_t *x, int64_t count, int8_t *y) {
  const int64_t length = u->lengths == NULL ? count : u->lengths[row % u->length_count];
  memset(y, 0, (size_t)count);
  if (u->op == GRAPH_OP_QSOFTMAX_UNIT) model_softmax(u, x, length, y);
  if (u->op == GRAPH_OP_QNORM_UNIT) model_norm(u, x, length, y);
  if (u->op == GRAPH_OP_QGELU_UNIT) model_gelu(u, x, length, y);
}

// Rows of several kinds: wide, narrow, all equal, one large number, the least ones.
static void fill_rows(int8_t *x, int64_t rows, int64_t cols, uint64_t seed) {
  build_random(x, (size_t)(rows * cols), seed);
  for (int64_t r = 0; r < rows; r++) {
    int8_t *row = x + r * cols;
    for (int64_t i = 0; i < cols; i++) {
      if (r % 5 == 1) row[i] = (int8_t)(row[i] / 8);
      if (r % 5 == 2) row[i] = (int8_t)(r % 2 == 0 ? -128 : 7);
      if (r % 5 == 3) row[i] = (int8_t)(i == cols / 2 ? 127 : -100);
    }
  }
}

static void test_model(void **state) {
  (void)state;
  static const int64_t widths[] = {1, 2, 15, 17, 128, 197, 768};
  uint64_t different = 0, elements = 0;
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    enum { ROWS = 25 };
    const int64_t cols = widths[w];
    const graph_unit units[] = {build_softmax(12, 0, 0.04), build_softmax(60, 3000, 0.06), build_norm(10, 127, true),
                                build_norm(8, 0, true),     build_norm(9, 90, false),      build_gelu(7, 0.04)};
    int8_t *x = wf_alloc(ROWS * (size_t)cols, 1), *got = wf_alloc((size_t)cols, 1), *want = wf_alloc((size_t)cols, 1);
    fill_rows(x, ROWS, cols, 3 + (uint64_t)cols);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
      for (int64_t r = 0; r < ROWS; r++) {
        graph_unit_row(&units[u], r, x + r * cols, cols, got);
        model_row(&units[u], r, x + r * cols, cols, want);
        for (int64_t i = 0; i < cols; i++) different += got[i] != 0;
        elements += (uint64_t)cols;
        if (memcmp(got, want, (size_t)cols) != 0) fail_msg("unit %d, %d columns, row %d", (int)u, (int)cols, (int)r);
      }
    wf_free(x);
    wf_free(got);
    wf_free(want);
  }
  assert_true(different > elements / 10);  // zeros alone say nothing
}

// Softmax, norm and GELU are near what their names say.
static void test_values(void **state) {
  (void)state;
  enum { COLS = 64 };
  int8_t x[COLS], y[COLS];
  fill_rows(x, 1, COLS, 9);
  const graph_unit softmax = build_softmax(48, 2218, 0.03), gelu = build_gelu(8, 0.04), norm = build_norm(8, 96, true);
  double sum = 0, mean = 0, squares = 0, largest = -128;
  for (int i = 0; i < COLS; i++) largest = x[i] > largest ? x[i] : largest;
  for (int i = 0; i < COLS; i++) {
    sum += exp(0.03 * (x[i] - largest));
    mean += x[i] / (double)COLS;
  }
  for (int i = 0; i < COLS; i++) squares += (x[i] - mean) * (x[i] - mean) / COLS;
  graph_unit_row(&softmax, 0, x, COLS, y);
  for (int i = 0; i < COLS; i++) assert_true(fabs(y[i] - fmin(127, 127 * 4 * exp(0.03 * (x[i] - largest)) / sum)) < 1);
  graph_unit_row(&norm, 0, x, COLS, y);
  for (int i = 0; i < COLS; i++) assert_true(fabs(y[i] - 12 * (x[i] - mean) / sqrt(squares)) < 1);
  graph_unit_row(&gelu, 0, x, COLS, y);
  for (int i = 0; i < COLS; i++) assert_true(fabs(y[i] - 0.5 * x[i] * (1 + erf(0.04 * x[i] / sqrt(2.0)))) < 1);
}

// ---- kernels

static graph *build_rows(const graph_unit *unit, int64_t rows, int64_t cols, int64_t lengths) {
  graph *g = graph_create("rows");
  const int64_t dim[2] = {rows, cols};
  const int x = build_input(g, GRAPH_I8, 2, dim), y = build_unit(g, x, unit, lengths);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static uint64_t run_rows(const graph *g, const hw_array *array, const char *engine, uint64_t *digest) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_verify(g, &diag));
  const network_options options = {.array = array};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  int8_t *x = wf_alloc(graph_bytes(&g->tensors[g->inputs[0]]), 1);
  fill_rows(x, g->tensors[g->inputs[0]].dim[0], g->tensors[g->inputs[0]].dim[1], 11);
  const run_network_config config = {
      .engine = sim_engine_find(engine), .inputs = (const void *[]){x}, .check = true, .hart = RUN_HART_NATIVE};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.compared, graph_bytes(&g->tensors[g->outputs[0]]));
  if (result.wrong != 0)
    fail_msg("%s, %s: element %llu is %g, not %g", array->name, net->steps[0].what,
             (unsigned long long)result.first.element, result.first.found, result.first.expected);
  const uint64_t cycles = result.cycles;
  *digest = result.digest;
  run_network_release(net, &result);
  wf_free(x);
  network_destroy(net);
  return cycles;
}

typedef struct rows_case {
  graph_unit unit;
  int64_t rows, cols, lengths;
} rows_case;

static size_t list_cases(rows_case *cases, int64_t widest) {
  const rows_case all[] = {
      {build_softmax(12, 0, 0.04), 35, 83, 0},
      {build_softmax(60, 3001, 0.06), 35, 83, 0},
      {build_softmax(90, 16000, 0.06), 24, 40, 12},
      {build_softmax(12, 0, 0.04), 19, 1, 0},
      {build_softmax(20, 126, 0.06), 18, 16, 0},
      {build_softmax(50, 4000, 0.06), 13, widest, 0},
      {build_norm(10, 127, true), 21, 83, 0},
      {build_norm(8, 0, true), 20, 48, 0},
      {build_norm(8, 0, true), 40, widest < 640 ? widest : 640, 0},
      {build_norm(9, 90, false), 17, 50, 0},
      {build_norm(9, 90, true), 9, widest, 0},
      {build_gelu(7, 0.04), 37, 83, 0},
      {build_gelu(8, 0.03), 5, 200, 0},
  };
  memcpy(cases, all, sizeof all);
  return sizeof all / sizeof *all;
}

static void check_array(const hw_array *array, const char *timed) {
  rows_case cases[16];
  const int64_t most = network_unit_columns(array);
  assert_true(most >= 128);
  const size_t count = list_cases(cases, most < 800 ? most : 800);
  for (size_t i = 0; i < count; i++) {
    graph *g = build_rows(&cases[i].unit, cases[i].rows, cases[i].cols, cases[i].lengths);
    uint64_t right, digest, more;
    run_rows(g, array, "ref", &right);
    const uint64_t cycles = run_rows(g, array, "cycle", &digest);
    assert_int_equal(right, digest);
    assert_true(cycles > 0);
    if (timed != NULL) {
      assert_int_equal(run_rows(g, array, timed, &more), cycles);
      assert_int_equal(more, right);
    }
    graph_destroy(g);
  }
}

static hw_array array_with_unit(const char *name, uint32_t revision) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  array.units.normaliser = true;
  array.isa.revision = revision;
  assert_true(hw_array_check(&array, name, &diag));
  return array;
}

static void test_kernels(void **state) {
  (void)state;
  static const char *const names[] = {"transformer-16", "dim4", "dim8", "dim32"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (uint32_t revision = 1; revision <= 2; revision++) {
      const hw_array array = array_with_unit(names[i], revision);
      check_array(&array, NULL);
    }
}

static void test_refusals(void **state) {
  (void)state;
  char *message = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  hw_array_default(&array);
  assert_int_equal(network_unit_columns(&array), 0);
  const graph_unit unit = build_norm(9, 90, true);
  graph *g = build_rows(&unit, 4, 2048, 0);
  network_options options = {.array = &array};
  assert_null(network_create(g, &options, &diag));
  array.units.normaliser = true;
  assert_int_equal(network_unit_columns(&array), 1008);
  assert_null(network_create(g, &options, &diag));
  fclose(out);
  assert_non_null(strstr(message, "array gemmini-default has no normaliser that can do it"));
  assert_non_null(strstr(message, "rows of 2048 columns, and its accumulator holds 1008"));
  free(message);
  graph_destroy(g);
}

static void test_hardware(void **state) {
  (void)state;
  const hw_array array = array_with_unit("dim4", 1);
  check_array(&array, "rtl");
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_model), cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_kernels), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
