// SPDX-License-Identifier: Apache-2.0
// Mappings of the plain model as the compiler carries them out: blocks and orders by hand, and every design legal, with
// layers that the machine takes about as long for as was predicted.
#include "search/truth/realise.h"

#include "base/random.h"
#include "base/test.h"

static hw_array default_array(void) {
  hw_array array;
  hw_array_default(&array);
  return array;
}

static layers_layer convolution(void) {
  return (layers_layer){
      .name = "c", .size = {[BLOCK_DIM_N] = 1, 28, 28, 64, 32, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
}

// Half of the rows, a third of the window, and of 64 columns 8 and 4 outside, which a block of 16 lanes cannot cut.
static void by_hand(void **state) {
  (void)state;
  const hw_array array = default_array();
  const layers_layer layer = convolution();
  paper_mapping paper = paper_mapping_start(&layer);
  assert_true(paper_mapping_parse(&paper, "L3[WIO] K8 R3 P2 - L2[WI] K8X - L1[O] S3 C2 C16X - L0[W] Q28 P14"));
  map_mapping list[TRUTH_REALISE_MAX];
  const size_t count = truth_realise_mappings(&layer, &paper, &array, list);
  assert_true(count > 0 && count <= TRUTH_REALISE_MAX);
  for (size_t i = 0; i < count; i++) {
    const map_mapping *m = &list[i];
    assert_int_equal(m->tile[BLOCK_DIM_P], 14);
    assert_int_equal(m->dram[BLOCK_DIM_P], 2);
    assert_int_equal(m->tile[BLOCK_DIM_Q], 28);
    assert_int_equal(m->tile[BLOCK_DIM_K], 16);  // 8 would start inside of a row
    assert_int_equal(m->dram[BLOCK_DIM_K], 4);
    assert_int_equal(m->tile[BLOCK_DIM_C], 32);
    assert_int_equal(m->tile[BLOCK_DIM_R], 1);
    assert_int_equal(m->dram[BLOCK_DIM_R], 3);
    assert_int_equal(m->sp[BLOCK_DIM_S], 3);
    assert_int_equal(m->dram[BLOCK_DIM_S], 1);
    // Outermost K, then P; the window behind both, and weights change with it.
    assert_int_equal(map_position(m, BLOCK_DIM_K, false) < map_position(m, BLOCK_DIM_P, false), 1);
    assert_int_equal(map_position(m, BLOCK_DIM_P, false) < map_position(m, BLOCK_DIM_R, false), 1);
    assert_int_equal(m->residency[MAP_WEIGHTS], map_position(m, BLOCK_DIM_R, false) + 1);
    for (size_t j = 0; j < i; j++) assert_false(map_equal(m, &list[j]));
  }
  hw_array tiny = array;
  tiny.accumulator.capacity_kib = 16;
  assert_int_equal(truth_realise_mappings(&layer, &paper, &tiny, list), 0);  // 28 x 14 rows of results, 256 there are
}

// 256 x 1024 inputs fill the scratchpad: half and a quarter of the depth leave room for weights, one slot each.
static void cut_in_depth(void **state) {
  (void)state;
  const layers_layer layer = {.name = "m",
                              .size = {[BLOCK_DIM_N] = 1, 256, 1, 64, 1024, 1, 1},
                              .stride = {1, 1},
                              .dilation = {1, 1},
                              .count = 1};
  const map_layer mapped = layers_to_map(&layer);
  const hw_array array = default_array();
  paper_mapping paper = paper_mapping_start(&layer);
  for (int d = 0; d < BLOCK_DIMS; d++) paper.temporal[PAPER_DRAM][d] = 1;
  map_mapping list[TRUTH_REALISE_MAX];
  const size_t count = truth_realise_mappings(&layer, &paper, &array, list);
  assert_true(count > 0);
  for (size_t i = 0; i < count; i++) {
    assert_true(map_check(&mapped, &list[i], &array, NULL));
    assert_int_equal(list[i].tile[BLOCK_DIM_P], 256);
    assert_int_equal(list[i].tile[BLOCK_DIM_C], 512);
    assert_int_equal(list[i].dram[BLOCK_DIM_C], 2);
    assert_int_equal(list[i].residency[MAP_INPUTS], map_position(&list[i], BLOCK_DIM_C, false) + 1);
  }
}

static void random_ones(void **state) {
  (void)state;
  const hw_array array = default_array();
  const layers_layer layer = convolution();
  const map_layer mapped = layers_to_map(&layer);
  uint64_t seed = 7;
  size_t fit = 0;
  for (int n = 0; n < 300; n++) {
    const paper_mapping paper = paper_mapping_random(&layer, 16, &seed);
    map_mapping list[TRUTH_REALISE_MAX];
    const size_t count = truth_realise_mappings(&layer, &paper, &array, list);
    fit += count > 0;
    for (size_t i = 0; i < count; i++) assert_true(map_check(&mapped, &list[i], &array, NULL));
  }
  assert_true(fit > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(cut_in_depth),
                                     cmocka_unit_test(random_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
