// SPDX-License-Identifier: Apache-2.0
// Softmax in front of a product becomes shares of sums, with and without masks: results stay near the model's, though
// what is hidden is far above what is not, and no hidden column has a part in them.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/quantise/quantise.h"

enum { HEADS = 3, ROWS = 72, WIDTH = 72, RESULTS = 24 };

static int add_tensor(graph *g, const char *name, int64_t rows, int64_t cols) {
  return graph_add_tensor(g, &(graph_tensor){.name = name, .type = GRAPH_F32, .rank = 3, .dim = {HEADS, rows, cols}});
}

static int add_constant(graph *g, const char *name, int rank, const int64_t *dim, const float *values) {
  graph_tensor t = {.name = name, .type = GRAPH_F32, .rank = rank, .data = values};
  for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
  return graph_add_tensor(g, &t);
}

// Which columns of a row are hidden: none; those behind it; some of each head, but never the first.
typedef enum { PLAIN, CAUSAL, BY_HEAD, KINDS } kind;

static bool is_hidden(kind what, int64_t head, int64_t row, int64_t col) {
  if (what == BY_HEAD) return col > 0 && (col * 7 + row + 3 * head) % 5 < 2;
  return what == CAUSAL && col > row;
}

static int add_mask(graph *g, kind what) {
  const int64_t heads = what == BY_HEAD ? HEADS : 1, dim[3] = {heads, ROWS, WIDTH};
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)(heads * ROWS * WIDTH), float);
  for (int64_t i = 0; i < heads * ROWS * WIDTH; i++)
    values[i] = is_hidden(what, i / ROWS / WIDTH, i / WIDTH % ROWS, i % WIDTH) ? -1e4F : 0;
  return add_constant(g, "mask", 3, dim, values);
}

// Softmax of rows that come through a product with the unit matrix, times values.
static graph *model_of(kind what) {
  graph *g = graph_create("shares");
  float *unit = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float);
  for (int i = 0; i < WIDTH; i++) unit[i * (WIDTH + 1)] = 1;
  const int w = add_constant(g, "w", 2, (int64_t[]){WIDTH, WIDTH}, unit);
  const int ends[2] = {add_tensor(g, "x", ROWS, WIDTH), add_tensor(g, "v", WIDTH, RESULTS)};
  int scores = add_tensor(g, "scores", ROWS, WIDTH);
  const int shares = add_tensor(g, "shares", ROWS, WIDTH), y = add_tensor(g, "y", ROWS, RESULTS);
  graph_add_node(g, GRAPH_OP_MAT_MUL, "before", (int[]){ends[0], w}, 2, &scores, 1);
  if (what != PLAIN) {
    const int masked = add_tensor(g, "masked", ROWS, WIDTH);
    graph_add_node(g, GRAPH_OP_ADD, "hide", (int[]){scores, add_mask(g, what)}, 2, &masked, 1);
    scores = masked;
  }
  graph_set_int(g, graph_add_node(g, GRAPH_OP_SOFTMAX, "softmax", &scores, 1, &shares, 1), "axis", -1);
  graph_add_node(g, GRAPH_OP_MAT_MUL, "context", (int[]){shares, ends[1]}, 2, &y, 1);
  graph_set_ends(g, ends, 2, &y, 1);
  return g;
}

// What is hidden is so far above the rest that it would be all of the row.
static float *scores_of(graph *g, kind what) {
  float *x = WF_ARENA_ARRAY(g->arena, HEADS * ROWS * WIDTH, float);
  for (int64_t i = 0; i < HEADS * ROWS * WIDTH; i++)
    x[i] = is_hidden(what, i / ROWS / WIDTH, i / WIDTH % ROWS, i % WIDTH)
               ? 6
               : (float)(2 * sin((double)(i * i % 1013)) - 1.5 * (double)(i / WIDTH % 4));
  return x;
}

static float *values_of(graph *g) {
  float *v = WF_ARENA_ARRAY(g->arena, HEADS * WIDTH * RESULTS, float);
  for (int64_t i = 0; i < HEADS * WIDTH * RESULTS; i++) v[i] = (float)cos((double)(i * i % 971));
  return v;
}

static int count(const graph *g, graph_op op) {
  int nodes = 0;
  for (int n = 0; n < g->node_count; n++) nodes += g->nodes[n].op == op;
  return nodes;
}

static void test_kinds(void **state) {
  (void)state;
  for (kind what = PLAIN; what < KINDS; what++) {
    wf_diag diag = wf_diag_to(stderr);
    graph *model = model_of(what);
    const void *inputs[2] = {scores_of(model, what), values_of(model)};
    const quantise_options options = {.inputs = inputs, .input_sets = 1, .target.row_scales = true};
    graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
    assert_non_null(placed);
    assert_int_equal(count(placed, GRAPH_OP_QSHARE), 1);
    assert_int_equal(count(placed, GRAPH_OP_QSOFTMAX), 0);
    assert_int_equal(count(placed, GRAPH_OP_QADD), what == PLAIN ? 0 : 2);
    quantise_quality *quality = quantise_compare(model, placed, &options, &diag);
    print_message("kind %d: %.1f dB\n", (int)what, quality[0].sqnr_db);
    assert_true(quality[0].sqnr_db > 25);
    wf_free(quality);
    graph_destroy(placed);
    graph_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
