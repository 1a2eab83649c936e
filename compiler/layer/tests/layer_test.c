// A layer becomes the call of a kernel that has the layer's size: the compiled program, read back by map_of_block, is
// the layer again, and what no kernel does is refused with a reason.
#include "compiler/layer/layer.h"

#include "base/test.h"

static void use_array(hw_array *array, const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(array, name, &diag));
}

static const map_layer layers[] = {
    {.kind = MAP_GEMM, .size = {1, 49, 1, 33, 70, 1, 1}},
    {.kind = MAP_GEMM, .size = {1, 64, 1, 32, 16, 1, 1}, .bias = true},
    {.kind = MAP_BATCHED, .size = {3, 20, 1, 17, 31, 1, 1}},
    {.kind = MAP_CONV, .size = {2, 7, 9, 24, 20, 3, 3}},
    {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .bias = true},
    {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 3, 3}, .stride = {2, 1}, .padding = {1, 1, 1, 1}, .bias = true},
    {.kind = MAP_CONV, .size = {1, 6, 6, 16, 16, 3, 3}, .dilation = {2, 2}},
};

static void read_back(void **state) {
  (void)state;
  hw_array array;
  use_array(&array, "dim8");
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    wf_diag diag = wf_diag_to(stderr);
    compile_result result;
    assert_true(layer_compile(&layers[i], &array, &(layer_policy){0}, &result, &diag));
    assert_true(result.mapped);
    assert_int_equal(map_macs(&result.layer), map_macs(&layers[i]));
    for (int d = 0; d < BLOCK_DIMS; d++) assert_int_equal(result.layer.size[d], layers[i].size[d]);
    assert_int_equal(result.layer.bias, layers[i].bias);
    compile_release(&result);
  }
}

static void refused(void **state) {
  (void)state;
  hw_array array;
  use_array(&array, "dim8");
  map_layer layer = layers[4];
  layer.dilation[0] = 2, layer.dilation[1] = 1;
  layer_call call;
  wf_diag diag = wf_diag_to(NULL);
  assert_false(layer_call_of(&layer, &array, &call, &diag));
  assert_int_equal(diag.errors, 1);
  layer = layers[0];
  layer.size[BLOCK_DIM_P] = 0;
  assert_false(layer_call_of(&layer, &array, &call, &diag));
  assert_int_equal(diag.errors, 2);
}

static void texts(void **state) {
  (void)state;
  assert_non_null(layer_kernel_text("conv2d"));
  assert_null(layer_kernel_text("conv"));
  assert_null(layer_kernel_text("conv2d.py"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(read_back), cmocka_unit_test(refused), cmocka_unit_test(texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
