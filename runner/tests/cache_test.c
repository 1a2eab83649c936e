// SPDX-License-Identifier: Apache-2.0
// Decoders with a cache of int4, and the new token's part of it: every byte is the reference's, and fewer are read than
// with int8; what cannot read it is refused by name.
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "runner/tests/job.h"

typedef struct decoder {
  const char *name;
  networks_options options;
} decoder;

// Caches that are a hundredth of what is read, or more: the hart's code is read, too. One head of keys for all,
// several, with a batch, several new tokens.
static const decoder decoders[] = {
    {"gpt2-block", {.past = 96, .divisor = 4, .seed = 1}},
    {"gpt2-block", {.past = 40, .divisor = 4, .batch = 2, .sequence = 3, .seed = 2}},
    {"llama2-7b-block", {.past = 17, .divisor = 32, .seed = 1}},
    {"llama3-8b-block", {.past = 20, .divisor = 16, .seed = 1}},
    {"llama3-8b-block", {.past = 20, .divisor = 8, .seed = 1}},
};

static graph *place(const decoder *d, const hw_array *array, quantise_cache cache) {
  wf_diag diag = wf_diag_to(stderr);
  networks_options made = d->options;
  made.present = true;
  graph *model = networks_create(d->name, &made, &diag);
  assert_non_null(model);
  const quantise_options quantise = {
      .seed = 1, .samples = 1, .int8_ends = true, .cache = cache, .target = network_target(array)};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  graph_destroy(model);
  return placed;
}

static uint64_t read_bytes(const decoder *d, const hw_array *array, quantise_cache cache) {
  wf_diag diag = wf_diag_to(stderr);
  graph *placed = place(d, array, cache);
  void **inputs = quantise_random_inputs(placed, 1);
  network *net = network_create(placed, &(network_options){.array = array, .jobs = 1}, &diag);
  assert_non_null(net);
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = (const void *const *)inputs, .check = true};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.wrong, 0);
  assert_true(result.compared > 0);
  const uint64_t bytes = result.units.memory.read_bytes;
  run_network_release(net, &result);
  network_destroy(net);
  quantise_free_inputs(placed, inputs);
  graph_destroy(placed);
  return bytes;
}

static hw_array array_with(const char *name, bool packed) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_true(hw_array_load(&array, name, &diag));
  array.load.packed_int4 = packed;
  return array;
}

static void bytes_are_the_reference_s(void **state) {
  (void)state;
  static const char *const names[] = {"gemmini-default", "dim4", "transformer-16"};
  for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
    const hw_array array = array_with(names[a], true);
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
      if (TEST_SANITIZED && i % 3 != a) continue;
      const uint64_t four = read_bytes(&decoders[i], &array, QUANTISE_CACHE_INT4),
                     eight = read_bytes(&decoders[i], &array, QUANTISE_CACHE_INT8);
      assert_true(four + eight / 100 < eight);
    }
  }
}

static char *refusal(const graph *placed, const hw_array *array) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  assert_null(network_create(placed, &(network_options){.array = array, .jobs = 1}, &diag));
  fclose(out);
  return text;
}

static void other_arrays_refuse_it(void **state) {
  (void)state;
  const hw_array array = array_with("gemmini-default", false);
  graph *placed = place(&decoders[0], &array, QUANTISE_CACHE_INT4);
  char *text = refusal(placed, &array);
  assert_non_null(strstr(text, "QWiden4) cannot be lowered: array gemmini-default loads no packed int4"));
  assert_non_null(strstr(text, "load.packed_int4: true"));
  free(text);
  graph_destroy(placed);
}

// A packed tensor that a product reads as its first operand, and one that is a result.
static void other_readers_are_refused(void **state) {
  (void)state;
  static const char first[] =
      "graph g\ninput x i8[2,8,4]\ninput w i8[2,8,4]\n"
      "node a QWiden4(x) -> y i8[2,8,8]\nnode b QMatMul(y, w) -> z i8[2,8,4] {scale = 0.1}\noutput z\n";
  static const char result[] = "graph g\ninput x i8[2,8,4]\nnode a QWiden4(x) -> y i8[2,8,8]\noutput y\n";
  static const struct {
    const char *text, *want;
  } cases[] = {{first, "b (QMatMul) reads packed int4, which is the second operand of products only"},
               {result, "packed int4 is a result"}};
  const hw_array array = array_with("gemmini-default", true);
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    graph *g = graph_parse("g", cases[i].text, strlen(cases[i].text), &diag);
    assert_non_null(g);
    char *text = refusal(g, &array);
    if (strstr(text, cases[i].want) == NULL) fail_msg("%s", text);
    free(text);
    graph_destroy(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_the_reference_s),
                                     cmocka_unit_test(other_arrays_refuse_it),
                                     cmocka_unit_test(other_readers_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
