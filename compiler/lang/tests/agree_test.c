// SPDX-License-Identifier: Apache-2.0
// Every kernel that is shipped, lowered, against the oracle: random data, ragged sizes, several blockings.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

static void check(const char *path, const char *args, uint32_t seed) {
  kernel_case c = open_file(path, args, seed);
  wf_diag diag = wf_diag_to(stderr);
  assert_true(block_verify(c.program, &diag));
  assert_true(agrees(&c));
  close_kernel(&c);
}

static const char *const cases[][2] = {
    {"matmul", "M=17,N=31,K=49,BLOCK_M=16,BLOCK_N=16,BLOCK_K=16"},
    {"gemm", "M=49,N=3,K=100,scale=0.011,BLOCK_M=32,BLOCK_N=4,BLOCK_K=64"},
    {"gemm", "M=1,N=66,K=31,scale=0.02,bias=False,relu=False,BLOCK_M=16,BLOCK_N=16,BLOCK_K=8"},
    {"gemm", "M=20,N=35,K=31,out=int32,relu=False,BLOCK_M=16,BLOCK_N=16,BLOCK_K=8"},
    {"gemv", "N=49,K=70,scale=0.01,BLOCK_M=4,BLOCK_N=16,BLOCK_K=32"},
    {"batched_gemm", "B=3,M=17,N=20,K=31,scale=0.02,BLOCK_M=16,BLOCK_N=8,BLOCK_K=16"},
    {"conv1d", "N=3,L=37,C=17,K=9,padding=1,stride=2,dilation=2,scale=0.02,BLOCK_N=2,BLOCK_P=8,BLOCK_K=8,BLOCK_C=16"},
    {"conv2d", "N=2,H=9,W=11,C=5,K=7,padding=1,scale=0.02,BLOCK_P=4,BLOCK_Q=4,BLOCK_K=4,BLOCK_C=4"},
    {"conv2d", "N=3,H=13,W=12,C=3,K=5,R=5,S=3,padding=2,stride=2,scale=0.02,BLOCK_N=2,BLOCK_P=2,BLOCK_Q=8,BLOCK_C=8"},
    {"conv2d",
     "N=1,H=13,W=12,C=9,K=5,dilation=2,padding=1,bias=False,relu=False,scale=0.05,BLOCK_Q=2,BLOCK_K=8,BLOCK_C=8"},
    {"conv2d", "N=2,H=7,W=7,C=20,K=33,R=1,S=1,stride=2,scale=0.05,BLOCK_P=2,BLOCK_Q=4,BLOCK_K=16,BLOCK_C=16"},
    {"conv2d", "N=1,H=7,W=9,C=20,K=33,padding=1,out=int32,relu=False,BLOCK_P=2,BLOCK_Q=4,BLOCK_K=16,BLOCK_C=16"},
    {"grouped_conv2d", "N=2,H=7,W=8,G=3,C=5,K=7,padding=1,scale=0.05,BLOCK_P=4,BLOCK_Q=4,BLOCK_K=4,BLOCK_C=4"},
    {"depthwise_conv2d", "N=2,H=7,W=8,C=20,D=8,padding=1,stride=2,scale=0.1,BLOCK_P=2,BLOCK_Q=4,BLOCK_K=16"},
    {"residual_add", "M=49,N=33,a_scale=0.7,b_scale=1.3,BLOCK_M=16,BLOCK_N=16"},
    {"residual_add", "M=3,N=65,a_scale=0.5,relu=False,BLOCK_M=16,BLOCK_N=16"},
    {"max_pool2d", "N=2,H=9,W=11,C=5,R=3,S=3,padding=1,BLOCK_P=2,BLOCK_Q=4,BLOCK_K=4"},
    {"copy", "N=2,P=3,Q=7,K=10,x_n=500,x_p=160,x_q=15,y_n=10,y_p=140,y_q=20,BLOCK_Q=4,BLOCK_K=4"},
    {"conv2d",
     "N=2,H=9,W=11,C=5,K=7,padding=1,pool=3,pool_stride=2,pool_padding=1,scale=0.02,BLOCK_P=2,BLOCK_Q=2,"
     "BLOCK_K=4,BLOCK_C=4"},
    {"conv2d_narrow", "N=1,H=13,W=11,C=3,K=7,pool=2,pool_stride=2,scale=0.02,BLOCK_P=2,BLOCK_Q=2,BLOCK_K=4,BLOCK_C=4"},
    {"grouped_conv2d", "N=1,H=9,W=5,G=3,C=4,K=3,channels=10,results=8,padding=1,scale=0.05,BLOCK_P=2,BLOCK_Q=4"},
    {"average_pool2d", "N=2,H=9,W=11,C=5,R=3,S=2,BLOCK_P=2,BLOCK_Q=4,BLOCK_K=4"},
    {"attention_qk", "H=2,M=17,N=31,D=20,scale=0.02,BLOCK_M=16,BLOCK_N=16,BLOCK_K=8"},
    {"attention", "H=2,M=35,L=40,D=20,N=24,scale=0.0005"},
    {"attention_causal", "H=2,M=35,L=40,D=20,N=24,scale=0.0005"},
    {"softmax", "M=35,N=50,scale=0.03,BLOCK=64"},
    {"gate_up", "M=35,K=20,H=100,scale=0.0005,levels=30,up_scale=0.01"},
    {"gated_mlp", "M=35,K=20,H=100,N=24,scale=0.0005,levels=30,up_scale=0.01,gate_scale=0.03,out_scale=0.01"},
    {"multiply", "M=35,N=70,scale=0.03,BLOCK_M=16,BLOCK_N=32"},
    {"leaky", "M=35,K=20,N=24,scale=0.005,slope=0.3"},
    {"mlp_gelu", "M=35,K=20,H=100,N=24,scale=0.0001,levels=30,out_scale=0.01"},
    {"mlp", "M=35,K=20,H=100,N=24,scale=0.01,out_scale=0.01"},
    {"attention_pv", "H=3,M=17,N=12,L=20,scale=0.02,BLOCK_M=16,BLOCK_N=8,BLOCK_K=8"},
};

static void test_kernels(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t seed = 1; seed <= 3; seed++) {
      char path[400];
      snprintf(path, sizeof path, KERNELS "/%s.py", cases[i][0]);
      check(path, cases[i][1], seed + 10 * (uint32_t)i);
    }
}

// Random sizes and blockings of the two kernels that matter most.
static void test_random_sizes(void **state) {
  (void)state;
  static const int sizes[] = {1, 3, 16, 17, 31, 49};
  uint32_t random = 7;
  for (int i = 0; i < 60; i++) {
    char args[200];
    int s[6];
    for (int k = 0; k < 6; k++) s[k] = sizes[next_random(&random) % 6];
    const int stride = 1 + (int)(next_random(&random) % 3);
    snprintf(args, sizeof args, "M=%d,N=%d,K=%d,scale=0.03,BLOCK_M=%d,BLOCK_N=%d,BLOCK_K=%d", s[0], s[1], s[2], s[3],
             s[4], s[5]);
    check(KERNELS "/gemm.py", args, random);
    snprintf(args, sizeof args, "N=2,H=%d,W=%d,C=%d,K=6,stride=%d,padding=1,scale=0.03,BLOCK_P=%d,BLOCK_Q=%d,BLOCK_K=4",
             2 + s[0] % 9, 2 + s[1] % 7, 1 + s[2] % 20, stride, 1 + s[3] % 4, 1 + s[4] % 4);
    check(KERNELS "/conv2d.py", args, random);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels),
      cmocka_unit_test(test_random_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
