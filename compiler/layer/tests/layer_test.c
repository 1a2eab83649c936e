// SPDX-License-Identifier: Apache-2.0
// A layer becomes the call of a kernel that has the layer's size: the kernel's program, read back by map_of_block, is
// the layer that the call names; what no kernel does is refused with a reason.
#include "compiler/layer/layer.h"

#include "base/test.h"

static void use_array(hw_array *array, const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(array, name, &diag));
}

static const layer_desc layers[] = {
    {.map = {.kind = MAP_GEMM, .size = {1, 49, 1, 33, 70, 1, 1}}, .scale = 0.01},
    {.map = {.kind = MAP_GEMM, .size = {1, 64, 1, 32, 16, 1, 1}, .bias = true}, .scale = 0.5, .relu = true},
    {.map = {.kind = MAP_GEMM, .size = {1, 40, 1, 32, 16, 1, 1}, .residual = 3}, .scale = 0.5},
    {.map = {.kind = MAP_GEMM, .size = {1, 40, 1, 32, 16, 1, 1}, .bias = true, .result_bytes = 4}},
    {.map = {.kind = MAP_GEMV, .size = {1, 1, 1, 300, 70, 1, 1}}, .scale = 0.01},
    {.map = {.kind = MAP_BATCHED, .size = {3, 20, 1, 17, 31, 1, 1}}, .scale = 0.01},
    {.map = {.kind = MAP_BATCHED, .size = {3, 20, 1, 17, 31, 1, 1}, .bias = true}, .scale = 0.01, .transposed = true},
    {.map = {.kind = MAP_BATCHED, .size = {1, 20, 1, 17, 31, 1, 1}}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {2, 7, 9, 24, 20, 3, 3}}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {2, 7, 9, 24, 20, 3, 3}, .result_bytes = 4, .bias = true}},
    {.map =
         {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .bias = true},
     .image = {16, 16},
     .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 3, 3}, .stride = {2, 1}, .padding = {1, 1, 1, 1}},
     .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 1, 1}, .stride = {2, 2}}, .image = {16, 16}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 6, 6, 16, 16, 3, 3}, .dilation = {2, 2}, .residual = 1}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 20, 3, 5, 3}, .padding = {2, 2, 2, 2}}, .scale = 0.01},
    {.map = {.kind = MAP_CONV,
             .size = {2, 4, 6, 40, 20, 3, 3},
             .padding = {1, 1, 1, 1},
             .bias = true,
             .pool_size = 2,
             .pool_stride = 2},
     .image = {9, 12},
     .scale = 0.01,
     .relu = true},
    {.map = {.kind = MAP_CONV,
             .size = {1, 5, 6, 20, 3, 7, 7},
             .stride = {2, 2},
             .padding = {3, 3, 3, 3},
             .pool_size = 3,
             .pool_stride = 2,
             .pool_padding = 1},
     .image = {20, 24},
     .scale = 0.01,
     .relu = true},
    {.map = {.kind = MAP_CONV,
             .size = {1, 5, 6, 20, 40, 3, 3},
             .stride = {2, 2},
             .padding = {1, 1, 1, 1},
             .pool_size = 3,
             .pool_stride = 2,
             .pool_padding = 1},
     .image = {20, 24},
     .scale = 0.01,
     .relu = true},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 20, 3, 1, 7}, .stride = {2, 2}}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {2, 9, 12, 8, 12, 3, 3}, .padding = {1, 1, 1, 1}, .groups = 4}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 8, 12, 1, 1}, .groups = 4}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 2, 2, 3, 3}, .groups = 15, .bias = true}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 5, 5, 3, 3}, .groups = 7, .bias = true}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {2, 9, 12, 12, 4, 3, 3}, .groups = 6}, .scale = 0.01},
    {.map = {.kind = MAP_CONV, .size = {1, 9, 12, 24, 40, 3, 3}, .groups = 3}, .scale = 0.01},
    {.map = {.kind = MAP_DEPTHWISE, .size = {2, 9, 12, 30, 1, 3, 3}, .padding = {1, 1, 1, 1}, .bias = true},
     .scale = 0.01},
    {.map = {.kind = MAP_DEPTHWISE, .size = {1, 1, 1, 30, 1, 7, 5}, .stride = {2, 2}}, .image = {8, 6}, .scale = 0.01},
    {.map = {.kind = MAP_WINDOW,
             .size = {1, 8, 8, 40, 1, 3, 3},
             .stride = {2, 2},
             .padding = {1, 1, 1, 1},
             .pool_size = 3},
     .image = {16, 16}},
    {.map = {.kind = MAP_WINDOW, .size = {2, 8, 9, 40, 1, 2, 2}, .pool_size = 2}},
    {.map = {.kind = MAP_WINDOW, .size = {1, 2, 3, 24, 1, 1, 1}, .stride = {3, 3}, .pool_size = 1}},
};

static void print_layer(const char *what, const map_layer *l) {
  print_error("%s: kind %s sizes", what, map_kind_names[l->kind]);
  for (int d = 0; d < BLOCK_DIMS; d++) print_error(" %lld", (long long)l->size[d]);
  print_error(" stride %lld %lld dilation %lld %lld padding", (long long)l->stride[0], (long long)l->stride[1],
              (long long)l->dilation[0], (long long)l->dilation[1]);
  for (int s = 0; s < 4; s++) print_error(" %lld", (long long)l->padding[s]);
  print_error(" groups %lld bytes %u bias %d residual %lld pool %u\n", (long long)l->groups, l->result_bytes, l->bias,
              (long long)l->residual, l->pool_size);
}

// Also: a program is the same whether its layer is said or found in it.
static void check_call(const layer_call *call, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  compile_request request = layer_request(call, array);
  compile_result said, found;
  assert_ptr_equal(request.layer, &call->layer);
  assert_true(compile(&request, &said, &diag));
  request.layer = NULL;
  assert_true(compile(&request, &found, &diag));
  if (map_layer_hash(&found.layer) != map_layer_hash(&call->layer)) {
    print_layer("call", &call->layer);
    print_layer("program", &found.layer);
    fail();
  }
  assert_true(map_equal(&said.mapping, &found.mapping));
  assert_int_equal(said.commands->count, found.commands->count);
  compile_release(&said);
  compile_release(&found);
}

static void read_back(void **state) {
  (void)state;
  static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32"};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    hw_array array;
    use_array(&array, arrays[a]);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
      wf_diag diag = wf_diag_to(stderr);
      layer_call call;
      assert_true(layer_call_of(&layers[i], &array, &call, &diag));
      check_call(&call, &array);
    }
  }
}

// A mapping for blocks that the kernel has not.
static void foreign_mapping(void **state) {
  (void)state;
  hw_array array;
  use_array(&array, "dim8");
  const map_layer layer = {.kind = MAP_CONV, .size = {1, 8, 8, 16, 16, 3, 3}};
  compile_result result;
  wf_diag diag = wf_diag_to(NULL);
  assert_true(layer_compile(&layer, &array, &(layer_policy){0}, &result, &diag));
  map_mapping mapping = result.mapping;
  compile_release(&result);
  mapping.tile[BLOCK_DIM_R] = 3;
  mapping.sp[BLOCK_DIM_R] = mapping.dram[BLOCK_DIM_R] = 1;
  assert_false(layer_compile(&layer, &array, &(layer_policy){.mapping = &mapping}, &result, &diag));
  compile_release(&result);
  mapping.tile[BLOCK_DIM_R] = 1;
  mapping.dram[BLOCK_DIM_R] = 3;
  assert_true(layer_compile(&layer, &array, &(layer_policy){.mapping = &mapping}, &result, &diag));
  assert_true(map_equal(&result.mapping, &mapping));
  compile_release(&result);
}

static void refused(void **state) {
  (void)state;
  hw_array array;
  use_array(&array, "dim8");
  layer_desc layer = layers[8];
  layer.map.dilation[0] = 2, layer.map.dilation[1] = 1;
  layer_call call;
  wf_diag diag = wf_diag_to(NULL);
  assert_false(layer_call_of(&layer, &array, &call, &diag));
  assert_int_equal(diag.errors, 1);
  layer = layers[0];
  layer.map.size[BLOCK_DIM_P] = 0;
  assert_false(layer_call_of(&layer, &array, &call, &diag));
  assert_int_equal(diag.errors, 2);
  layer = layers[0];
  layer.map.kind = MAP_GROUPED;
  assert_false(layer_call_of(&layer, &array, &call, &diag));
  assert_int_equal(diag.errors, 3);
}

// One choice for tables and networks.
static void narrow_convolutions(void **state) {
  (void)state;
  static const struct {
    const char *array;
    int64_t channels, columns;
    map_layer more;
    layer_kernel kernel;
  } cases[] = {
      {"gemmini-default", 3, 7, {0}, LAYER_CONV2D_NARROW},   // 2 blocks of depth instead of 7
      {"gemmini-default", 12, 5, {0}, LAYER_CONV2D_NARROW},  // 4 instead of 5: less than a third is saved
      {"gemmini-default", 16, 5, {0}, LAYER_CONV2D},         // 5 instead of 5
      {"gemmini-default", 24, 3, {0}, LAYER_CONV2D},         // 5 instead of 6, of more than a block of channels
      {"gemmini-default", 20, 3, {0}, LAYER_CONV2D_NARROW},  // 4 instead of 6
      {"dim4", 3, 7, {0}, LAYER_CONV2D_NARROW},              // 6 instead of 7
      {"gemmini-default", 3, 1, {0}, LAYER_CONV2D},
      {"gemmini-default", 3, 7, {.residual = 1}, LAYER_CONV2D},
      {"gemmini-default", 3, 7, {.result_bytes = 4}, LAYER_CONV2D},
      {"gemmini-default", 3, 7, {.dilation = {2, 2}}, LAYER_CONV2D},
      {"gemmini-default", 3, 7, {.groups = 2}, LAYER_GROUPED_CONV2D},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hw_array array;
    use_array(&array, cases[i].array);
    map_layer layer = cases[i].more;
    layer.kind = MAP_CONV;
    const int64_t size[BLOCK_DIMS] = {1, 8, 8, 32, cases[i].channels, 3, cases[i].columns};
    memcpy(layer.size, size, sizeof size);
    assert_int_equal(layer_kernel_of(&layer, &array), cases[i].kernel);
  }
}

// The fewest passes of any number of groups side by side, where a block is no larger than the side.
static int64_t fewest_passes(int64_t groups, int64_t c, int64_t k, int64_t dim) {
  int64_t fewest = INT64_MAX;
  for (int64_t q = 1; q <= groups; q++) {
    const int64_t rows = (q * c + dim - 1) / dim, columns = (q * k + dim - 1) / dim;
    if (q > 1 && groups % q != 0 && (rows > 1 || columns > 1)) continue;
    const int64_t passes = (groups + q - 1) / q * rows * columns;
    if (passes < fewest) fewest = passes;
  }
  return fewest;
}

static void groups_side_by_side(void **state) {
  (void)state;
  hw_array array;
  use_array(&array, "dim8");
  for (int64_t groups = 2; groups <= 40; groups++)
    for (int64_t c = 1; c <= 20; c++)
      for (int64_t k = 1; k <= 20; k++) {
        const map_layer layer = {.kind = MAP_CONV, .size = {1, 8, 8, k, c, 1, 1}, .groups = groups};
        const layer_packing p = layer_packing_of(&layer, &array);
        assert_int_equal(layer_passes(&layer, &array), fewest_passes(groups, c, k, 8));
        assert_true(p.blocks * p.together >= groups && (p.blocks - 1) * p.together < groups);
        assert_int_equal(p.square, layer_kernel_of(&layer, &array) == LAYER_DEPTHWISE_CONV2D);
      }
}

static void texts(void **state) {
  (void)state;
  for (int k = 0; k < LAYER_KERNEL_COUNT; k++) assert_non_null(layer_kernel_text((layer_kernel)k));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_back),           cmocka_unit_test(foreign_mapping),     cmocka_unit_test(refused),
      cmocka_unit_test(narrow_convolutions), cmocka_unit_test(groups_side_by_side), cmocka_unit_test(texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
