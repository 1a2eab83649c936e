// SPDX-License-Identifier: Apache-2.0
// The layer and the blocking that are read off lowered programs.
#include "base/test.h"
#include "compiler/mapping/mapping.h"

static bool read(const char *text, map_layer *layer, map_mapping *mapping) {
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = block_parse("test.block", text, strlen(text), &diag);
  assert_non_null(program);
  const bool good = map_of_block(program, layer, mapping);
  block_destroy(program);
  return good;
}

#define GEMM_HEAD                                                                                   \
  "program gemm\ntensor a i8[3250] read\ntensor b i8[4225] read\ntensor c i8[3250] write\n"         \
  "loop m 4 parallel dim P\nloop n 3 parallel dim K\nloop k 5 dim C\n"                              \
  "buffer at i8[16, 16]\nbuffer bt i8[16, 32]\nbuffer sum i32[16, 32]\nfor n {\nfor m {\nfor k {\n" \
  "load at = a[m*16:16 of 50 stride 65, k*16:16 of 65 stride 1]\n"                                  \
  "load bt = b[k*16:16 of 65 stride 65, n*32:32 of 65 stride 1]\n"
#define GEMM_TAIL "}\nstore c[m*16:16 of 50 stride 65, n*32:32 of 65 stride 1] = sum scale 0.5\n}\n}\n"

static void test_product(void **state) {
  (void)state;
  map_layer layer;
  map_mapping m;
  assert_true(read(GEMM_HEAD "dot sum += at * bt\n" GEMM_TAIL, &layer, &m));
  assert_int_equal(layer.kind, MAP_GEMM);
  assert_memory_equal(layer.size, ((int64_t[]){1, 50, 1, 65, 65, 1, 1}), sizeof layer.size);
  assert_memory_equal(m.tile, ((int64_t[]){1, 16, 1, 32, 16, 1, 1}), sizeof m.tile);
  assert_memory_equal(m.dram, ((int64_t[]){1, 4, 1, 3, 5, 1, 1}), sizeof m.dram);
  assert_int_equal(m.outer[0], BLOCK_DIM_K);
  assert_int_equal(m.outer[1], BLOCK_DIM_P);
  assert_int_equal(m.outer[2], BLOCK_DIM_C);
  assert_int_equal(layer.result_bytes, 1);
  assert_false(layer.bias || layer.residual);
}

static void test_two_products_are_no_layer(void **state) {
  (void)state;
  map_layer layer;
  map_mapping m;
  assert_false(read(GEMM_HEAD "dot sum += at * bt\ndot sum += at * bt\n" GEMM_TAIL, &layer, &m));
}

static void test_convolution(void **state) {
  (void)state;
  static const char *const text =
      "program conv\ntensor x i8[4096] read\ntensor w i8[4608] read\ntensor bias i32[32] read\ntensor y i8[4096] "
      "write\n"
      "loop p 2 parallel dim P\nloop r 3 dim R\nloop s 3 dim S\n"
      "buffer window i8[1, 4, 8, 16]\nbuffer weights i8[16, 32]\nbuffer sum i32[1, 4, 8, 32]\n"
      "for p {\n"
      "load sum = bias[0:1 of 1 stride 0, 0:4 of 8 stride 0, 0:8 of 8 stride 0, 0:32 of 32 stride 1]\n"
      "for r {\nfor s {\n"
      "load window = x[0:1 of 1 stride 4096, p*8+r-1:4 step 2 of 16 stride 256, s-1:8 step 2 of 16 stride 16, 0:16 of "
      "16 "
      "stride 1]\n"
      "load weights = w[r*1536+s*512; 0:16 of 16 stride 32, 0:32 of 32 stride 1]\n"
      "dot sum += window * weights\n}\n}\n"
      "store y[0:1 of 1 stride 2048, p*4:4 of 7 stride 256, 0:8 of 8 stride 32, 0:32 of 32 stride 1] = sum scale "
      "0.5\n}\n";
  map_layer layer;
  map_mapping m;
  assert_true(read(text, &layer, &m));
  assert_int_equal(layer.kind, MAP_CONV);
  assert_memory_equal(layer.size, ((int64_t[]){1, 7, 8, 32, 16, 3, 3}), sizeof layer.size);
  assert_memory_equal(layer.stride, ((int64_t[]){2, 2}), sizeof layer.stride);
  assert_memory_equal(layer.dilation, ((int64_t[]){1, 1}), sizeof layer.dilation);
  assert_memory_equal(layer.padding, ((int64_t[]){1, 0, 1, 0}), sizeof layer.padding);
  assert_memory_equal(m.tile, ((int64_t[]){1, 4, 8, 32, 16, 1, 1}), sizeof m.tile);
  assert_true(layer.bias);
}

static void test_layers_without_products(void **state) {
  (void)state;
  static const char *const text =
      "program add\ntensor a i8[3250] read\ntensor b i8[3250] read\ntensor c i8[3250] write\n"
      "loop m 4 parallel dim P\nloop n 3 parallel dim K\nbuffer s i32[16, 32]\nfor n {\nfor m {\n"
      "load s = a[m*16:16 of 50 stride 65, n*32:32 of 65 stride 1]\n"
      "load s += b[m*16:16 of 50 stride 65, n*32:32 of 65 stride 1]\n"
      "store c[m*16:16 of 50 stride 65, n*32:32 of 65 stride 1] = s scale 1\n}\n}\n";
  map_layer layer;
  map_mapping m;
  assert_true(read(text, &layer, &m));
  assert_int_equal(layer.kind, MAP_WINDOW);
  assert_memory_equal(layer.size, ((int64_t[]){1, 50, 1, 65, 1, 1, 1}), sizeof layer.size);
  assert_memory_equal(m.tile, ((int64_t[]){1, 16, 1, 32, 1, 1, 1}), sizeof m.tile);
  assert_memory_equal(m.dram, ((int64_t[]){1, 4, 1, 3, 1, 1, 1}), sizeof m.dram);
  assert_int_equal(layer.residual, 1);
  assert_int_equal(layer.pool_size, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_product),
      cmocka_unit_test(test_two_products_are_no_layer),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_layers_without_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
