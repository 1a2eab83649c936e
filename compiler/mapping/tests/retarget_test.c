// SPDX-License-Identifier: Apache-2.0
// Mappings for other layers and arrays: for its own layer a mapping stays what it is, what comes out is legal, blocks
// of the array stay blocks, and what does not fit is made smaller or refused.
#include "base/test.h"
#include "compiler/mapping/mapping.h"

static hw_array array_of(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static const map_layer layers[] = {
    {.kind = MAP_CONV, .size = {1, 56, 56, 64, 64, 3, 3}, .padding = {1, 1, 1, 1}, .bias = true},
    {.kind = MAP_CONV, .size = {1, 14, 14, 512, 256, 3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}},
    {.kind = MAP_CONV, .size = {2, 7, 7, 2048, 512, 1, 1}, .bias = true, .residual = 20},
    {.kind = MAP_GEMM, .size = {1, 128, 1, 3072, 768, 1, 1}, .bias = true},
    {.kind = MAP_GEMM, .size = {1, 197, 1, 100, 72, 1, 1}},
    {.kind = MAP_GEMV, .size = {1, 1, 1, 1000, 2048, 1, 1}},
    {.kind = MAP_BATCHED, .size = {12, 128, 1, 128, 64, 1, 1}},
    {.kind = MAP_DEPTHWISE, .size = {1, 56, 56, 144, 1, 3, 3}, .padding = {1, 1, 1, 1}},
    {.kind = MAP_WINDOW, .size = {1, 28, 28, 64, 1, 3, 3}, .stride = {2, 2}, .pool_size = 3},
};
enum { LAYERS = sizeof layers / sizeof *layers, BEST = 8 };
static const char *const arrays[] = {"gemmini-default", "dim4", "dim32", "gemmini-lean"};

// The whole window of which the largest is taken.
static const int64_t *fixed_of(const map_layer *layer, int64_t fixed[BLOCK_DIMS]) {
  for (int d = 0; d < BLOCK_DIMS; d++)
    fixed[d] = layer->kind == MAP_WINDOW && (d == BLOCK_DIM_R || d == BLOCK_DIM_S) ? layer->size[d] : 0;
  return fixed;
}

static void test_own_layer(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  for (int l = 0; l < LAYERS; l++) {
    int64_t fixed[BLOCK_DIMS];
    map_mapping best[BEST], same;
    const size_t count = map_best(&layers[l], &array, fixed_of(&layers[l], fixed), BLOCK_STYLE_PRIMITIVE, best, BEST);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
      assert_int_equal(map_retarget(&layers[l], &best[i], 16, &layers[l], &array, &same), MAP_RETARGET_FITS);
      assert_true(map_equal(&best[i], &same));
    }
  }
}

// From every array and layer to every other; all come out that are of one kind.
static void test_all_pairs(void **state) {
  (void)state;
  unsigned count[MAP_RETARGET_REJECTED + 1] = {0};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    for (size_t b = 0; b < sizeof arrays / sizeof *arrays; b++)
      for (int n = 0; n < LAYERS * LAYERS; n++) {
        const hw_array from = array_of(arrays[a]), to = array_of(arrays[b]);
        const map_layer *x = &layers[n / LAYERS], *y = &layers[n % LAYERS];
        int64_t fixed[BLOCK_DIMS];
        map_mapping m, out;
        if (map_best(x, &from, fixed_of(x, fixed), BLOCK_STYLE_PRIMITIVE, &m, 1) == 0) continue;
        const map_retargeted how = map_retarget(x, &m, hw_derive(&from).dim, y, &to, &out);
        count[how]++;
        assert_int_equal(how == MAP_RETARGET_REJECTED, x->kind != y->kind);
        if (how != MAP_RETARGET_REJECTED) assert_true(map_check(y, &out, &to, NULL));
      }
  printf("%u fit, %u made smaller, %u refused\n", count[0], count[1], count[2]);
  assert_true(count[MAP_RETARGET_FITS] > count[MAP_RETARGET_CLAMPED] && count[MAP_RETARGET_CLAMPED] > 0);
}

static void test_blocks(void **state) {
  (void)state;
  const hw_array large = array_of("dim32");
  const map_layer from = {.kind = MAP_GEMM, .size = {1, 256, 1, 512, 512, 1, 1}};
  map_mapping m = map_none(), out;
  const int64_t tile[BLOCK_DIMS] = {1, 64, 1, 64, 128, 1, 1}, sp[BLOCK_DIMS] = {1, 1, 1, 1, 2, 1, 1},
                dram[BLOCK_DIMS] = {1, 4, 1, 8, 2, 1, 1};
  for (int d = 0; d < BLOCK_DIMS; d++) m.tile[d] = tile[d], m.sp[d] = sp[d], m.dram[d] = dram[d];
  const map_layer to = {.kind = MAP_GEMM, .size = {1, 300, 1, 2000, 512, 1, 1}};
  assert_int_equal(map_retarget(&from, &m, 16, &to, &large, &out), MAP_RETARGET_FITS);
  assert_int_equal(out.tile[BLOCK_DIM_P], 64);
  assert_int_equal(out.tile[BLOCK_DIM_K], 128);
  assert_int_equal(out.tile[BLOCK_DIM_C], 256);
  assert_int_equal(out.sp[BLOCK_DIM_C], 2);
  assert_int_equal(out.dram[BLOCK_DIM_C], 1);
  assert_int_equal(out.dram[BLOCK_DIM_K], 16);
  assert_int_equal(out.dram[BLOCK_DIM_P], 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own_layer),
      cmocka_unit_test(test_all_pairs),
      cmocka_unit_test(test_blocks),
  };
  return cmocka_run_group_tests_name("retarget", tests, NULL, NULL);
}
