// SPDX-License-Identifier: Apache-2.0
// Closed forms against what the tools themselves printed, causes that add up, and topologies and problems that
// are read back.
#include "search/crosscheck/crosscheck.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "search/layers/timeloop.h"

static layers_layer product(int64_t m, int64_t k, int64_t n) {
  return (layers_layer){
      .name = "product", .size = {1, m, 1, n, k, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
}

// Printed by SCALE-Sim v2 and v3 (without memory) and by STONNE with its values checked.
static void forms_are_those_of_the_tools(void **state) {
  (void)state;
  const layers_layer cube = product(512, 512, 512);
  assert_int_equal(crosscheck_ask(CROSSCHECK_SCALE_SIM, &cube, 16).cycles, 571391);
  assert_int_equal(crosscheck_ask(CROSSCHECK_STONNE, &cube, 16).cycles, 560128);
  assert_int_equal(crosscheck_form_named("stonne"), CROSSCHECK_STONNE);
  assert_int_equal(crosscheck_form_named("other"), CROSSCHECK_FORM_COUNT);
}

static void groups_are_one_after_the_other(void **state) {
  (void)state;
  layers_layer one = {
      .name = "g", .size = {1, 14, 14, 8, 8, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .groups = 1, .count = 1};
  layers_layer many = one, deep = one;
  many.groups = 32;
  deep.groups = 0;
  deep.depthwise = true;
  deep.size[BLOCK_DIM_C] = 1;
  for (crosscheck_form form = 0; form < CROSSCHECK_FORM_COUNT; form++) {
    assert_int_equal(crosscheck_ask(form, &many, 16).cycles, 32 * crosscheck_ask(form, &one, 16).cycles);
    const crosscheck_said said = crosscheck_ask(form, &deep, 16);
    assert_int_equal(said.cycles, said.rows + said.fills);
    assert_int_equal(said.folds % deep.size[BLOCK_DIM_K], 0);
  }
}

static void causes_add_up(void **state) {
  (void)state;
  layers_layer layers[] = {
      product(200, 64, 48),
      {.name = "c", .size = {1, 10, 12, 20, 24, 3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .count = 1},
      {.name = "d",
       .size = {1, 14, 14, 32, 1, 3, 3},
       .stride = {1, 1},
       .dilation = {1, 1},
       .depthwise = true,
       .count = 1},
      {.name = "g", .size = {1, 7, 7, 4, 4, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .groups = 8, .count = 1},
  };
  static const char *const arrays[] = {"gemmini-default", "dim8"};
  wf_diag diag = wf_diag_to(stderr);
  for (size_t a = 0; a < 2; a++) {
    hw_array array;
    assert_true(hw_array_load(&array, arrays[a], &diag));
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
      for (crosscheck_form form = 0; form < CROSSCHECK_FORM_COUNT; form++) {
        const crosscheck_result r = crosscheck_layer(&layers[i], &array, form, &diag);
        assert_int_equal(r.status, RUN_MEASURE_GOOD);
        int64_t sum = r.said.cycles;
        for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) sum += r.by[cause];
        assert_int_equal(sum, r.cycles);
        assert_true(r.cycles >= r.ideal && r.mesh_cycles > 0);
      }
  }
}

static void topologies_are_read_back(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  layers_network network, back;
  assert_true(layers_load(&network, "resnet50", &diag));
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_true(crosscheck_write_topology(&network, out, &diag));
  fclose(out);
  assert_true(layers_parse_csv(&back, "t.csv", text, size, &diag));
  assert_int_equal(back.count, network.count);
  for (size_t i = 0; i < back.count; i++)
    for (crosscheck_form form = 0; form < CROSSCHECK_FORM_COUNT; form++)
      assert_int_equal(crosscheck_ask(form, &back.layers[i], 16).cycles,
                       crosscheck_ask(form, &network.layers[i], 16).cycles);
  layers_release(&network);
  layers_release(&back);
  free(text);
}

static void what_a_topology_cannot_say(void **state) {
  (void)state;
  layers_layer layers[2] = {product(8, 8, 8), product(8, 8, 8)};
  layers[0].size[BLOCK_DIM_Q] = 8;
  layers[0].size[BLOCK_DIM_R] = layers[0].size[BLOCK_DIM_S] = 3;
  layers[0].stride[1] = 2;
  layers[0].name = "two\x1b[31m strides";
  const layers_network network = {.name = "n", .layers = layers, .count = 2};
  char *text = NULL, *said = NULL;
  size_t size = 0, said_size = 0;
  FILE *out = open_memstream(&text, &size), *messages = open_memstream(&said, &said_size);
  wf_diag diag = wf_diag_to(messages);
  assert_false(crosscheck_write_topology(&network, out, &diag));
  fclose(out);
  fclose(messages);
  assert_int_equal(diag.errors, 1);
  assert_non_null(strstr(said, "two strides"));
  assert_null(strchr(said, '\x1b'));
  assert_non_null(strstr(text, "product, 8, 1, 1, 1, 8, 8, 1,\n"));
  free(text);
  free(said);
}

// What the rest of a topology's layers is worth must be said.
static void the_rest_of_a_topology(void **state) {
  (void)state;
  layers_layer layers[3] = {product(8, 8, 8), product(8, 8, 8), product(8, 8, 8)};
  layers[0].count = 5;
  layers[1].groups = 4;
  const layers_network network = {.name = "n", .layers = layers, .count = 3};
  char *text = NULL, *said = NULL;
  size_t size = 0, said_size = 0;
  FILE *out = open_memstream(&text, &size), *messages = open_memstream(&said, &said_size);
  wf_diag diag = wf_diag_to(messages);
  assert_true(crosscheck_write_topology(&network, out, &diag));
  fclose(out);
  fclose(messages);
  assert_int_equal(diag.errors, 0);
  assert_non_null(strstr(said, "1 of 3 layers occur more than once"));
  assert_non_null(strstr(said, "1 of 3 layers have groups"));
  free(text);
  free(said);
}

// ---- problems

static layers_network read_problem(const layers_layer *layer) {
  layers_network back = {.arena = wf_arena_create()};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  crosscheck_write_problem(layer, out);
  fclose(out);
  wf_diag diag = wf_diag_to(stderr);
  const hw_yaml_node *root = hw_yaml_tree_parse(back.arena, "p.yaml", text, size, &diag);
  assert_non_null(root);
  assert_true(layers_timeloop_is(root) && layers_timeloop_read(&back, "p", root, &diag));
  free(text);
  return back;
}

static void check_problem(const layers_layer *layer) {
  layers_network back = read_problem(layer);
  assert_int_equal(back.count, 1);
  for (int dim = 0; dim < BLOCK_DIMS; dim++)
    assert_int_equal(back.layers[0].size[dim], layer->depthwise && dim == BLOCK_DIM_K ? 1 : layer->size[dim]);
  for (int axis = 0; axis < 2; axis++) {
    const bool flat = layer->size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q] == 1;
    const bool narrow = layer->size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S] == 1;
    assert_int_equal(back.layers[0].stride[axis], flat ? 1 : layer->stride[axis]);
    assert_int_equal(back.layers[0].dilation[axis], narrow ? 1 : layer->dilation[axis]);
  }
  layers_release(&back);
}

static void problems_are_read_back(void **state) {
  (void)state;
  for (size_t t = 0; layers_builtin_name(t) != NULL; t++) {
    layers_network network = {0};
    wf_diag diag = wf_diag_to(stderr);
    assert_true(layers_load(&network, layers_builtin_name(t), &diag));
    for (size_t i = 0; i < network.count; i++) check_problem(&network.layers[i]);
    layers_release(&network);
  }
  layers_layer layer = {.name = "l", .size = {1, 1, 1, 1, 1, 1, 1}, .stride = {2, 3}, .dilation = {4, 5}, .count = 1};
  for (int dim = 0; dim < BLOCK_DIMS; dim++) layer.size[dim] = 11 + dim;
  check_problem(&layer);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms_are_those_of_the_tools),
                                     cmocka_unit_test(groups_are_one_after_the_other),
                                     cmocka_unit_test(causes_add_up),
                                     cmocka_unit_test(topologies_are_read_back),
                                     cmocka_unit_test(what_a_topology_cannot_say),
                                     cmocka_unit_test(the_rest_of_a_topology),
                                     cmocka_unit_test(problems_are_read_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
