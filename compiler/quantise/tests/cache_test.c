// SPDX-License-Identifier: Apache-2.0
// Caches of int4: which inputs are caches, their scales and form, the new token's part, and what they cost in quality.
#include <math.h>
#include <string.h>

#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

enum { PAST = 12 };

static graph *model_of(const char *name, bool past) {
  wf_diag diag = wf_diag_to(stderr);
  const networks_options made = {.past = past ? PAST : 0, .divisor = 4, .present = past, .seed = 3};
  graph *model = networks_create(name, &made, &diag);
  assert_non_null(model);
  return model;
}

static graph *placed(const char *name, quantise_cache cache, bool int8_ends, quantise_cache_quality *quality) {
  wf_diag diag = wf_diag_to(stderr);
  graph *model = model_of(name, true);
  const quantise_options options = {.seed = 1, .int8_ends = int8_ends, .cache = cache, .cache_quality = quality};
  graph *g = quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(g);
  graph_destroy(model);
  return g;
}

static const graph_tensor *tensor(const graph *g, const char *name) {
  const int t = graph_find_tensor(g, name);
  if (t == GRAPH_NONE) fail_msg("no tensor %s", name);
  return &g->tensors[t];
}

static const graph_node *maker(const graph *g, int t) {
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].outputs[0] == t) return &g->nodes[n];
  return NULL;
}

// Rows of half as many bytes; a scale 127 / 7 times that of int8, of the same magnitude; results in the same form.
static void caches_are_packed(void **state) {
  (void)state;
  graph *four = placed("gpt2-block", QUANTISE_CACHE_INT4, true, NULL),
        *eight = placed("gpt2-block", QUANTISE_CACHE_INT8, true, NULL);
  static const char *const names[] = {"h.0.past_key", "h.0.past_value"};
  for (int i = 0; i < 2; i++) {
    char wide[64];
    snprintf(wide, sizeof wide, "%s.wide", names[i]);
    const graph_tensor *a = tensor(four, names[i]), *b = tensor(eight, names[i]), *w = tensor(four, wide);
    assert_int_equal(a->type, GRAPH_I8);
    assert_int_equal(a->dim[2] * 2, b->dim[2]);
    assert_int_equal(w->dim[2], b->dim[2]);
    assert_true(fabs((double)w->scale / (double)b->scale - 127.0 / 7) < 1e-5);
    assert_int_equal(maker(four, graph_find_tensor(four, wide))->op, GRAPH_OP_QWIDEN4);
  }
  assert_int_equal(four->output_count, 3);
  for (int o = 1; o < 3; o++) {
    const graph_tensor *a = &four->tensors[four->outputs[o]], *b = &eight->tensors[eight->outputs[o]];
    assert_int_equal(a->dim[2] * 2, b->dim[2]);
    assert_int_equal(maker(four, four->outputs[o])->op, GRAPH_OP_QPACK4);
    assert_true(fabsf(b->scale - tensor(eight, names[o - 1])->scale) < 1e-9F);
  }
  graph_destroy(four);
  graph_destroy(eight);
}

static int half_of(const uint8_t *bytes, int64_t i) { return ((bytes[i / 2] >> (i % 2 * 4) & 15) ^ 8) - 8; }

// Int8 inputs, or int4 ones of a cache, as the numbers that they stand for.
static float *numbers_of(const graph *g, int input, const uint8_t *bytes) {
  const graph_tensor *t = &g->tensors[g->inputs[input]];
  char wide[64];
  snprintf(wide, sizeof wide, "%s.wide", t->name);
  const float scale = input == 0 ? t->scale : tensor(g, wide)->scale;
  const int64_t count = graph_elements(t) * (input == 0 ? 1 : 2);
  float *numbers = test_malloc((size_t)count * sizeof *numbers);
  for (int64_t i = 0; i < count; i++)
    numbers[i] = scale * (float)(input == 0 ? ((const int8_t *)bytes)[i] : half_of(bytes, i));
  return numbers;
}

// The new token's keys and values, packed, are the float model's within three quarters of a step: half of it is theirs,
// the rest that of the int8 products before, whose sums are cut here and there.
static void results_belong_behind_the_cache(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  graph *g = placed("llama3-8b-block", QUANTISE_CACHE_INT4, true, NULL), *model = model_of("llama3-8b-block", true);
  void **inputs = quantise_random_inputs(g, 9), *outputs[3], *want[3];
  float *numbers[3];
  assert_int_equal(g->input_count, 3);
  for (int i = 0; i < 3; i++) {
    numbers[i] = numbers_of(g, i, inputs[i]);
    outputs[i] = test_malloc(graph_bytes(&g->tensors[g->outputs[i]]) + 1);
    want[i] = test_malloc(graph_bytes(&model->tensors[model->outputs[i]]));
  }
  assert_true(graph_run(g, (const void *const *)inputs, outputs, &(graph_run_options){0}, &diag));
  assert_true(graph_run(model, (const void *const *)numbers, want, &(graph_run_options){0}, &diag));
  static const char *const caches[] = {NULL, "layers.0.past_key.wide", "layers.0.past_value.wide"};
  for (int o = 1; o < 3; o++) {
    const float scale = tensor(g, caches[o])->scale;
    const int64_t count = graph_elements(&model->tensors[model->outputs[o]]);
    int64_t near = 0, there = 0;
    for (int64_t i = 0; i < count; i++) {
      const int q = half_of(outputs[o], i);
      near += fabsf(scale * (float)q - ((const float *)want[o])[i]) < 0.75F * scale || q == 7 || q == -8;
      there += q != 0;
    }
    assert_true(50 * near >= 49 * count && 2 * there > count);
  }
  for (int i = 0; i < 3; i++) test_free(numbers[i]), test_free(outputs[i]), test_free(want[i]);
  quantise_free_inputs(g, inputs);
  graph_destroy(g);
  graph_destroy(model);
}

static void quality_is_measured(void **state) {
  (void)state;
  quantise_cache_quality q = {.measured = false};
  graph *g = placed("llama2-7b-block", QUANTISE_CACHE_INT4, true, &q);
  assert_true(q.measured);
  assert_true(q.int8_db > 15 && q.int4_db > 10);
  graph_destroy(g);
}

static void networks_without_one_are_refused(void **state) {
  (void)state;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  graph *model = model_of("gpt2-block", false);
  const quantise_options options = {.seed = 1, .int8_ends = true, .cache = QUANTISE_CACHE_INT4};
  assert_null(quantise_network(model, &options, QUANTISE_STAGE_PLACED, &diag));
  fclose(out);
  assert_non_null(strstr(text, "no input is a cache of keys or values"));
  free(text);
  graph_destroy(model);
}

// Two numbers a byte, the first in the low half.
static void halves_and_bytes(void **state) {
  (void)state;
  static const char text[] =
      "graph g\ninput x i8[2,4]\nnode a QPack4(x) -> y i8[2,2]\n"
      "node b QWiden4(y) -> z i8[2,4]\noutput y\noutput z\n";
  static const int8_t x[8] = {1, -1, 7, -8, 0, 5, -3, 2};
  static const uint8_t want[4] = {0xf1, 0x87, 0x50, 0x2d};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("g", text, strlen(text), &diag);
  assert_non_null(g);
  uint8_t y[4];
  int8_t z[8];
  assert_true(graph_run(g, (const void *[]){x}, (void *[]){y, z}, &(graph_run_options){0}, &diag));
  assert_memory_equal(y, want, sizeof want);
  assert_memory_equal(z, x, sizeof x);
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(caches_are_packed), cmocka_unit_test(results_belong_behind_the_cache),
      cmocka_unit_test(quality_is_measured), cmocka_unit_test(networks_without_one_are_refused),
      cmocka_unit_test(halves_and_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
