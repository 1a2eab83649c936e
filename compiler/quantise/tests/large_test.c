// SPDX-License-Identifier: Apache-2.0
// Deep and wide networks take a small stack and time in proportion; numbers without a scale are refused by name.
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/test.h"
#include "compiler/quantise/quantise.h"

enum { SMALL = TEST_SANITIZED ? 1250 : 5000, LARGE = 8 * SMALL, WIDTH = 16, STACK = 256 << 10 };

static int tensor(graph *g, const char *name, const void *data) {
  const graph_tensor t = {
      .name = name, .type = GRAPH_F32, .rank = 2, .dim = {data == NULL ? 1 : WIDTH, WIDTH}, .data = data};
  return graph_add_tensor(g, &t);
}

static int add(graph *g, graph_op op, const int *inputs, int count) {
  const int number = g->node_count, y = tensor(g, wf_arena_format(g->arena, "y%d", number), NULL);
  graph_add_node(g, op, wf_arena_format(g->arena, "n%d", number), inputs, count, &y, 1);
  return y;
}

// Each node reads the one before.
static graph *chain(graph_op op, int count) {
  graph *g = graph_create("chain");
  const int x = tensor(g, "x", NULL);
  int y = x;
  for (int i = 0; i < count; i++) y = add(g, op, &y, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

// All nodes read the input, or the result of a product with it, and are results.
static graph *fan(bool product, int count) {
  graph *g = graph_create("fan");
  const int x = tensor(g, "x", NULL);
  int *outputs = WF_ARENA_ARRAY(g->arena, (size_t)count, int), source = x;
  if (product) {
    float *w = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float);
    for (int i = 0; i < WIDTH; i++) w[i * WIDTH + i] = 1;
    source = add(g, GRAPH_OP_MAT_MUL, (int[]){x, tensor(g, "w", w)}, 2);
  }
  for (int i = 0; i < count; i++) outputs[i] = add(g, i % 2 == 0 ? GRAPH_OP_TANH : GRAPH_OP_NEG, &source, 1);
  graph_set_ends(g, &x, 1, outputs, count);
  return g;
}

// Products one behind the other, all with the same weights: the same names again and again.
static graph *products(int count) {
  graph *g = graph_create("products");
  float *w = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float);
  for (int i = 0; i < WIDTH; i++) w[i * WIDTH + i] = 1;
  const int x = tensor(g, "x", NULL), weights = tensor(g, "w", w);
  int y = x;
  for (int i = 0; i < count; i++) y = add(g, GRAPH_OP_MAT_MUL, (int[]){y, weights}, 2);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static graph *chain_of_relu(int count) { return chain(GRAPH_OP_RELU, count); }
static graph *chain_of_neg(int count) { return chain(GRAPH_OP_NEG, count); }
static graph *fan_of_input(int count) { return fan(false, count); }
static graph *fan_of_product(int count) { return fan(true, count); }

static graph *(*const forms[])(int count) = {chain_of_relu, chain_of_neg, fan_of_input, fan_of_product, products};
enum { FORMS = sizeof forms / sizeof *forms };

// Seconds of the thread for one network.
static double place(graph *model) {
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options options = {.samples = 1};
  const double start = wf_thread_seconds();
  graph *placed = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
  const double seconds = wf_thread_seconds() - start;
  assert_non_null(placed);
  graph_destroy(placed);
  graph_destroy(model);
  return seconds;
}

static void *place_all(void *context) {
  (void)context;
  for (int i = 0; i < FORMS; i++) place(forms[i](LARGE));
  return NULL;
}

static void depth_takes_no_stack(void **state) {
  (void)state;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
  assert_int_equal(pthread_create(&thread, &attributes, place_all, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attributes);
}

// Eight times the nodes take eight times as long, or a little more; time that grows with the square takes 64.
static void time_grows_with_size(void **state) {
  (void)state;
  for (int i = 0; i < FORMS; i++) {
    double small = place(forms[i](SMALL)), large = place(forms[i](LARGE));
    for (int again = 0; again < 2; again++) {
      small = fmax(small, place(forms[i](SMALL)));
      large = fmin(large, place(forms[i](LARGE)));
    }
    if (large > 3.5 * LARGE / SMALL * small) fail_msg("form %d: %.3f s, then %.3f s", i, small, large);
  }
}

// ---- numbers

static void expect(float value, bool everywhere, float limit, const char *message) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  graph *g = graph_create("numbers");
  float *w = WF_ARENA_ARRAY(g->arena, WIDTH * WIDTH, float), *high = WF_ARENA_ARRAY(g->arena, 1, float);
  for (int i = 0; i < WIDTH * WIDTH; i++) w[i] = i == 3 || everywhere ? value : 0.5F;
  *high = limit;
  const graph_tensor bound = {.name = "limit", .type = GRAPH_F32, .data = high};
  const int x = tensor(g, "x", NULL), weights = tensor(g, "weights", w), most = graph_add_tensor(g, &bound);
  int y = add(g, GRAPH_OP_MAT_MUL, (int[]){x, weights}, 2);
  y = add(g, GRAPH_OP_MIN, (int[]){y, most}, 2);
  graph_set_ends(g, &x, 1, &y, 1);
  const quantise_options options = {0};
  graph *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  fclose(out);
  if ((placed == NULL) != (message != NULL) || (message != NULL && strstr(text, message) == NULL))
    fail_msg("weight %g, limit %g: %s", (double)value, (double)limit, text);
  graph_destroy(placed);
  graph_destroy(g);
  free(text);
}

static void numbers_without_a_scale_are_named(void **state) {
  (void)state;
  const float infinite = INFINITY;
  expect(NAN, false, 1, "tensor weights: element 3 is no number");
  expect(infinite, false, 1, "tensor weights: element 3 is infinite");
  expect(-infinite, true, 1, "tensor weights: element 0 is infinite");
  expect(0.5F, true, NAN, "tensor limit: element 0 is no number");
  expect(0.5F, true, infinite, NULL);
  expect(FLT_MAX, true, 1, "tensor y0: its int8 form would need the scale");
}

// Weights that are too small for a scale are like zeros.
static void denormal_weights_are_zeros(void **state) {
  (void)state;
  expect(1e-40F, true, 1, NULL);
  expect(-FLT_MIN, true, 1, NULL);
  expect(1e-40F, false, 1, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(depth_takes_no_stack), cmocka_unit_test(time_grows_with_size),
                                     cmocka_unit_test(numbers_without_a_scale_are_named),
                                     cmocka_unit_test(denormal_weights_are_zeros)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
