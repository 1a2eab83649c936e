// SPDX-License-Identifier: Apache-2.0
// Lowered kernels against plain loops written out here.
#include <math.h>

#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

static const int sizes[] = {1, 3, 16, 17, 31, 49, 66};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int8_t saturated(float x) {
  float rounded = rintf(x);
  return (int8_t)(rounded > 127 ? 127 : rounded < -128 ? -128 : rounded);
}

static int32_t product(const int8_t *a, const int8_t *b, int m, int n, int N, int K) {
  int32_t sum = 0;
  for (int k = 0; k < K; k++) sum += a[m * K + k] * b[k * N + n];
  return sum;
}

// The lowered program or the oracle, in turn.
static void **run_either(const kernel_case *c, int which) { return which == 0 ? run_blocks(c) : run_oracle(c); }

static void test_matmul(void **state) {
  (void)state;
  for (int i = 0; i < 60; i++) {
    char args[80];
    const int M = sizes[i % SIZES], N = sizes[i / 2 % SIZES], K = sizes[i / 3 % SIZES];
    snprintf(args, sizeof args, "M=%d,N=%d,K=%d,BLOCK_M=%d,BLOCK_N=%d,BLOCK_K=%d", M, N, K, 16 << i % 2, 8, 24);
    kernel_case c = open_file(KERNELS "/matmul.py", args, (uint32_t)i);
    void **data = run_either(&c, i / 6 % 2);
    for (int m = 0; m < M; m++)
      for (int n = 0; n < N; n++)
        assert_int_equal(((int32_t *)data[2])[m * N + n], product(data[0], data[1], m, n, N, K));
    free_tensors(&c, data);
    close_kernel(&c);
  }
}

static void test_gemm(void **state) {
  (void)state;
  for (int i = 0; i < 40; i++) {
    char args[120];
    const int M = sizes[i % SIZES], N = sizes[i / 2 % SIZES], K = sizes[i / 3 % SIZES], relu = i % 2;
    const float scale = 0.0117f;
    snprintf(args, sizeof args, "M=%d,N=%d,K=%d,BLOCK_M=32,BLOCK_N=16,BLOCK_K=16,scale=0.0117,relu=%s", M, N, K,
             relu ? "True" : "False");
    kernel_case c = open_file(KERNELS "/gemm.py", args, (uint32_t)i + 100);
    void **data = run_either(&c, i / 6 % 2);
    for (int m = 0; m < M; m++)
      for (int n = 0; n < N; n++) {
        int32_t sum = product(data[0], data[1], m, n, N, K) + ((int32_t *)data[2])[n];
        if (relu && sum < 0) sum = 0;
        assert_int_equal(((int8_t *)data[3])[m * N + n], saturated((float)sum * scale));
      }
    free_tensors(&c, data);
    close_kernel(&c);
  }
}

static const char *text_of(const block_program *program) {
  static char text[8192];
  memset(text, 0, sizeof text);
  FILE *out = fmemopen(text, sizeof text, "w");
  block_print(program, out);
  fclose(out);
  return text;
}

// Roles, names, and no more buffers than are needed.
static void test_shape_of_gemm(void **state) {
  (void)state;
  kernel_case c = open_file(KERNELS "/gemm.py", "M=100,N=80,K=200,scale=0.5", 1);
  assert_string_equal(text_of(c.program),
                      "program gemm\n"
                      "tensor a_ptr i8[20000] read\n"
                      "tensor b_ptr i8[16000] read\n"
                      "tensor bias_ptr i32[80] read\n"
                      "tensor c_ptr i8[8000] write\n"
                      "tensor res_ptr i8[1]\n"
                      "loop pid_m 2 parallel dim P\n"
                      "loop pid_n 2 parallel dim K\n"
                      "loop k 4 dim C\n"
                      "buffer acc i32[64, 64]\n"
                      "buffer a i8[64, 64]\n"
                      "buffer b i8[64, 64]\n"
                      "buffer bias i32[1, 64]\n"
                      "buffer c f32[64, 64]\n"
                      "buffer c2 i8[64, 64]\n"
                      "for pid_m {  # 2 parallel\n"
                      "  for pid_n {  # 2 parallel\n"
                      "    copy acc = 0\n"
                      "    for k {  # 4\n"
                      "      load a = a_ptr[pid_m*64:64 of 100 stride 200, k*64:64 of 200 stride 1]\n"
                      "      load b = b_ptr[k*64:64 of 200 stride 80, pid_n*64:64 of 80 stride 1]\n"
                      "      dot acc += a * b\n"
                      "    }\n"
                      "    load bias = bias_ptr[0:1 of 1 stride 0, pid_n*64:64 of 80 stride 1]\n"
                      "    add acc = acc, bias\n"
                      "    max acc = acc, 0\n"
                      "    scale c = acc, 0.5\n"
                      "    to_i8 c2 = c\n"
                      "    store c_ptr[pid_m*64:64 of 100 stride 80, pid_n*64:64 of 80 stride 1] = c2\n"
                      "  }\n"
                      "}\n");
  close_kernel(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_matmul),
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_shape_of_gemm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
