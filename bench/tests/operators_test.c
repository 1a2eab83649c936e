// SPDX-License-Identifier: Apache-2.0
// The cases of `weft bench operators`: numbers of groups and classes, sizes inside their class, the same for a seed.
#include "bench/operators.h"

#include "base/test.h"

static bench_operator cases[BENCH_OPERATOR_CASES], again[BENCH_OPERATOR_CASES];

static void has_the_published_numbers(void **state) {
  (void)state;
  unsigned of_group[BENCH_OPERATOR_GROUP_COUNT] = {0}, in_class[BENCH_OPERATOR_GROUP_COUNT][BENCH_CONV_CLASSES] = {0};
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++) {
    of_group[cases[i].group]++;
    in_class[cases[i].group][cases[i].in_class]++;
  }
  assert_int_equal(of_group[BENCH_PRODUCT], 170);
  assert_int_equal(of_group[BENCH_VECTOR], 174);
  assert_int_equal(of_group[BENCH_CONV_1D], 68);
  assert_int_equal(of_group[BENCH_CONV_2D], 128);
  // 100, 88, 64, 98, 66 and 128 of 544 shapes, of 170 cases; the nearest whole numbers of each sum.
  static const unsigned products[] = {31, 28, 20, 30, 21, 40};
  for (int c = 0; c < BENCH_PRODUCT_CLASSES; c++) assert_int_equal(in_class[BENCH_PRODUCT][c], products[c]);
  for (int c = 0; c < BENCH_CONV_CLASSES; c++) assert_true(in_class[BENCH_CONV_2D][c] >= 8);
}

static bool is_in(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }

static void lies_in_its_class(void **state) {
  (void)state;
  static const int64_t bounds[BENCH_PRODUCT_CLASSES][6] = {
      {1, 256, 1, 256, 1, 256},          {1, 256, 1, 256, 257, 65536},   {257, 1024, 1, 256, 1, 65536},
      {257, 1024, 257, 65536, 1, 65536}, {1025, 8192, 1, 256, 1, 65536}, {1025, 8192, 257, 8192, 1, 65536}};
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++) {
    const int64_t *size = cases[i].layer.size;
    for (int d = 0; d < BLOCK_DIMS; d++) assert_true(size[d] >= 1);
    assert_string_equal(cases[i].layer.name, cases[i].name);
    if (cases[i].group == BENCH_CONV_1D) assert_true(size[BLOCK_DIM_Q] == 1 && size[BLOCK_DIM_S] == 1);
    if (cases[i].group == BENCH_CONV_2D) assert_int_equal(size[BLOCK_DIM_P], size[BLOCK_DIM_Q]);
    if (cases[i].group != BENCH_PRODUCT && cases[i].group != BENCH_VECTOR) continue;
    const bool vector = cases[i].group == BENCH_VECTOR;
    const int64_t m = size[vector ? BLOCK_DIM_K : BLOCK_DIM_P], n = size[vector ? BLOCK_DIM_P : BLOCK_DIM_K],
                  k = size[BLOCK_DIM_C], *b = bounds[cases[i].in_class];
    assert_true(is_in(m, b[0], b[1]) && is_in(n, b[2], b[3]) && is_in(k, b[4], b[5]));
    if (vector) assert_true(n <= 8);
  }
}

static void depends_on_the_seed_alone(void **state) {
  (void)state;
  bench_operators_draw(1, again);
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++)
    assert_memory_equal(cases[i].layer.size, again[i].layer.size, sizeof cases[i].layer.size);
  bench_operators_draw(2, again);
  unsigned same = 0;
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++)
    same += memcmp(cases[i].layer.size, again[i].layer.size, sizeof cases[i].layer.size) == 0;
  assert_true(same < BENCH_OPERATOR_CASES / 10);
}

// Large vectors have fewer shapes than cases.
static void repeats_few_shapes(void **state) {
  (void)state;
  unsigned repeated = 0;
  for (int i = 0; i < BENCH_OPERATOR_CASES; i++)
    for (int j = 0; j < i; j++)
      if (cases[i].group == cases[j].group &&
          memcmp(cases[i].layer.size, cases[j].layer.size, sizeof cases[i].layer.size) == 0) {
        assert_int_equal(cases[i].group, BENCH_VECTOR);
        repeated++;
        break;
      }
  assert_true(repeated <= 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_published_numbers),
      cmocka_unit_test(lies_in_its_class),
      cmocka_unit_test(depends_on_the_seed_alone),
      cmocka_unit_test(repeats_few_shapes),
  };
  bench_operators_draw(1, cases);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
