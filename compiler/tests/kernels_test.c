// SPDX-License-Identifier: Apache-2.0
// Every shipped kernel on ragged shapes and several arrays: the commands leave on `ref` and on `cycle` what the
// kernel's interpreter says, byte by byte. With "all" as its argument all combinations, a sample of them otherwise.
#include "base/test.h"
#include "compiler/tests/source.h"
#include "sim/cycle/cycle.h"
#include "sim/ref/ref.h"

enum { SAMPLE = TEST_SANITIZED ? 97 : 29 };  // one in so many; prime, so that it walks through all of them

static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32", "dim64"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
static const int sizes[] = {1, 3, 16, 17, 31, 49, 197, 300};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

// Kernels with M, N, K; what else they need.
static const struct {
  const char *file, *more;
} products[] = {
    {"gemm.py", ",scale=0.003"},
    {"gemm.py", ",scale=0.25,relu=False"},
    {"matmul.py", ""},
};
enum { PRODUCTS = sizeof products / sizeof products[0] };

// The other kernels; DIM stands for the array's.
static const struct {
  const char *file, *arguments;
} others[] = {
    {"gemm.py", "M=17,N=70,K=33,residual=2,scale=0.01"},
    {"gemm.py", "M=49,N=31,K=16,residual=127,bias=False,scale=0.004"},
    {"gemm.py", "M=130,N=300,K=5,residual=128,relu=False,scale=0.003"},
    {"gemm.py", "M=3,N=197,K=300,residual=-1999,scale=0.0002"},
    {"gemm.py", "M=64,N=64,K=64,residual=381,scale=0.001"},
    {"conv2d.py", "N=2,H=9,W=11,C=5,K=37,padding=1,residual=77,scale=0.005"},
    {"conv2d.py", "N=1,H=15,W=14,C=20,K=17,padding=1,stride=2,residual=515,scale=0.001"},
    {"conv2d.py", "N=2,H=7,W=7,C=33,K=65,R=1,S=1,residual=1,scale=0.01"},
    {"conv2d_narrow.py", "N=2,H=15,W=13,C=3,K=20,R=5,S=5,stride=2,scale=0.01"},
    {"conv2d_narrow.py", "N=1,H=20,W=23,C=4,K=65,R=7,S=7,stride=2,relu=False,scale=0.004"},
    {"conv2d_narrow.py", "N=3,H=9,W=8,C=1,K=7,scale=0.05,bias=False"},
    {"conv2d_narrow.py", "N=2,H=15,W=13,C=3,K=20,R=5,S=5,stride=2,padding=2,x_row=64,y_row=113,scale=0.01"},
    {"conv2d_narrow.py", "N=1,H=9,W=8,C=3,K=33,padding=1,stride=2,column_stride=1,y_row=300,scale=0.02"},
    {"conv2d_narrow.py", "N=2,H=19,W=16,C=2,K=40,padding=1,scale=0.02,x_row=33,pool=2,pool_stride=2"},
    {"conv2d.py", "N=2,H=9,W=11,C=5,K=37,padding=1,scale=0.02,pool=2,pool_stride=2"},
    {"conv2d.py", "N=1,H=14,W=23,C=20,K=17,padding=1,scale=0.01,pool=3,pool_stride=2,pool_padding=1"},
    {"conv2d.py", "N=2,H=17,W=13,C=7,K=33,R=1,S=1,scale=0.05,relu=False,pool=3,pool_stride=1"},
    {"conv2d.py",
     "N=1,H=31,W=30,C=9,K=70,padding=2,stride=2,bias=False,scale=0.02,pool=2,pool_stride=3,pool_padding=1"},
    {"conv2d.py",
     "N=1,H=12,W=29,C=3,K=5,R=5,S=3,stride=1,column_stride=2,scale=0.03,pool=3,pool_stride=3,pool_padding=2"},
    {"conv2d_narrow.py", "N=2,H=39,W=41,C=3,K=20,R=7,S=7,stride=2,scale=0.01,pool=3,pool_stride=2,pool_padding=1"},
    {"conv2d_narrow.py", "N=1,H=19,W=16,C=2,K=40,scale=0.02,relu=False,pool=2,pool_stride=2"},
    {"grouped_conv2d.py", "N=2,H=9,W=8,G=3,C=4,K=3,channels=10,results=8,padding=1,scale=0.05,bias=True"},
    {"gemm.py", "M=49,N=70,K=33,relu=False,out=int32"},
    {"gemm.py", "M=17,N=300,K=197,bias=False,relu=False,out=int32"},
    {"conv2d.py", "N=2,H=9,W=11,C=5,K=37,padding=1,stride=2,relu=False,out=int32"},
    {"batched_gemm.py", "B=3,M=17,N=33,K=70,scale=0.01,trans_b=True,bias=True,relu=True"},
    {"grouped_conv2d.py", "N=2,H=9,W=8,G=2,C=17,K=33,padding=2,dilation=2,scale=0.02,bias=True,relu=True"},
    {"depthwise_conv2d.py", "N=1,H=9,W=12,C=33,D=DIM,padding=2,dilation=2,scale=0.1,bias=True,relu=True"},
    {"average_pool2d.py", "N=1,H=7,W=7,C=70,R=7,S=7,stride=1,scale=2.5"},
    {"gemv.py", "N=49,K=70,scale=0.01"},
    {"gemv.py", "N=300,K=17,scale=0.01"},
    {"gemv.py", "N=197,K=1000,scale=0.003"},
    {"batched_gemm.py", "B=3,M=17,N=20,K=31,scale=0.02"},
    {"batched_gemm.py", "B=5,M=49,N=197,K=64,scale=0.005"},
    {"batched_gemm.py", "B=3,M=16,N=16,K=250,trans_b=True,out=int32"},
    {"batched_gemm.py", "B=2,M=5,N=33,K=70,out=int32"},
    {"conv1d.py", "N=2,L=37,C=17,K=9,padding=1,stride=2,dilation=2,scale=0.02"},
    {"conv1d.py", "N=1,L=300,C=31,K=49,padding=1,scale=0.005"},
    {"conv2d.py", "N=2,H=9,W=11,C=5,K=7,padding=1,scale=0.02"},
    {"conv2d.py", "N=3,H=13,W=12,C=3,K=5,R=5,S=3,padding=2,stride=2,scale=0.02"},
    {"conv2d.py", "N=2,H=13,W=12,C=20,K=21,padding=1,stride=2,column_stride=1,scale=0.01"},
    {"conv2d.py", "N=1,H=9,W=14,C=5,K=37,padding=1,stride=1,column_stride=3,relu=False,out=int32"},
    {"conv2d_narrow.py", "N=2,H=15,W=13,C=3,K=20,R=5,S=5,stride=1,column_stride=2,scale=0.01"},
    {"depthwise_conv2d.py", "N=2,H=7,W=8,C=20,D=DIM,padding=1,stride=2,column_stride=1,scale=0.1"},
    {"grouped_conv2d.py", "N=1,H=9,W=10,G=3,C=5,K=7,padding=1,stride=1,column_stride=2,scale=0.05"},
    {"average_pool2d.py", "N=2,H=9,W=10,C=20,R=2,S=3,stride=1,column_stride=3,scale=1.5"},
    {"conv2d.py", "N=1,H=13,W=12,C=9,K=5,dilation=2,padding=1,bias=False,relu=False,scale=0.05"},
    {"conv2d.py", "N=2,H=7,W=7,C=20,K=33,R=1,S=1,stride=2,scale=0.05"},
    {"conv2d.py", "N=1,H=28,W=28,C=49,K=31,padding=1,scale=0.002"},
    {"conv2d.py", "N=1,H=30,W=31,C=3,K=17,R=7,S=7,padding=3,stride=2,scale=0.003"},
    {"conv2d.py", "N=4,H=14,W=14,C=64,K=16,padding=1,scale=0.002,relu=False"},
    {"grouped_conv2d.py", "N=2,H=7,W=8,G=3,C=5,K=7,padding=1,scale=0.05"},
    {"depthwise_conv2d.py", "N=2,H=7,W=8,C=20,D=DIM,padding=1,stride=2,scale=0.1"},
    {"depthwise_conv2d.py", "N=1,H=20,W=17,C=150,D=DIM,padding=1,scale=0.1,bias=True"},
    {"grouped_conv2d.py", "N=1,H=14,W=14,G=32,C=4,K=4,padding=1,scale=0.05"},
    {"grouped_conv2d.py", "N=2,H=7,W=7,G=8,C=64,K=64,padding=1,scale=0.003"},
    {"max_pool2d.py", "N=1,H=33,W=30,C=70,R=3,S=3,padding=1"},
    {"residual_add.py", "M=49,N=33,a_scale=0.7,b_scale=1.3"},
    {"residual_add.py", "M=3,N=65,a_scale=0.5,relu=False"},
    {"max_pool2d.py", "N=2,H=9,W=11,C=5,R=3,S=3,padding=1"},
    {"max_pool2d.py", "N=1,H=28,W=30,C=49"},
    {"copy.py", "N=2,P=3,Q=21,K=70,x_n=5000,x_p=1600,x_q=75,y_n=70,y_p=2940,y_q=140"},
    {"copy.py", "N=1,P=9,Q=40,K=1,x_n=0,x_p=1,x_q=9,y_n=0,y_p=40,y_q=1"},
    {"copy.py", "N=10,P=13,Q=24,K=1,x_n=312,x_p=24,x_q=1,y_n=1,y_p=10,y_q=130,BLOCK_P=7,BLOCK_Q=8,BLOCK_K=16"},
    {"average_pool2d.py", "N=2,H=9,W=11,C=5,R=3,S=2"},
    {"attention_qk.py", "H=2,M=17,N=31,D=20,scale=0.02"},
    {"attention_qk.py", "H=3,M=197,N=197,D=64,scale=0.004"},
    {"attention_pv.py", "H=3,M=17,N=12,L=20,scale=0.02"},
    {"attention_pv.py", "H=2,M=49,N=64,L=197,scale=0.004"},
};
enum { OTHERS = sizeof others / sizeof others[0] };

// Kernels for arrays with the normaliser.
static const struct {
  const char *file, *arguments;
} normalised[] = {
    {"softmax.py", "M=37,N=50,scale=0.03"},
    {"softmax.py", "M=3,N=1,scale=0.01,BLOCK=2"},
    {"softmax.py", "M=16,N=128,scale=0.004"},
    {"attention.py", "H=3,M=35,L=40,D=20,N=24,scale=0.0005"},
    {"attention_causal.py", "H=3,M=35,L=40,D=20,N=24,scale=0.0005"},
    {"attention_causal.py", "H=1,M=1,L=1,D=16,N=16,scale=0.001"},
    {"attention_causal.py", "H=2,M=64,L=64,D=64,N=64,scale=0.0005"},
    {"gate_up.py", "M=35,K=20,H=100,scale=0.0005,levels=30,up_scale=0.01"},
    {"mlp_gelu.py", "M=35,K=20,H=100,N=24,scale=0.0001,levels=30,out_scale=0.01"},
};
// And with the gate.
static const struct {
  const char *file, *arguments;
} gated[] = {
    {"multiply.py", "M=1,N=1,scale=0.01"},
    {"multiply.py", "M=35,N=70,scale=0.02"},
    {"multiply.py", "M=128,N=256,scale=1"},
    {"multiply.py", "M=50,N=19,scale=-0.3,BLOCK_M=8,BLOCK_N=48"},
    {"gated_mlp.py", "M=35,K=20,H=100,N=24,scale=0.0005,levels=30,up_scale=0.01,gate_scale=0.03,out_scale=0.01"},
    {"gated_mlp.py", "M=3,K=64,H=16,N=7,scale=0.0005,levels=30,up_scale=0.01,gate_scale=0.03,out_scale=0.02"},
};
enum { GATED = sizeof gated / sizeof gated[0] };
enum { NORMALISED = sizeof normalised / sizeof normalised[0] };

typedef struct tally {
  bool all;
  unsigned seen, run, failed;
} tally;

// Whether it is this combination's turn.
static bool due(tally *t) { return t->seen++ % SAMPLE == 0 || t->all; }

static bool judge(const test_source *s, const sim_engine_ops *engine) {
  wf_diag diag = wf_diag_to(stderr);
  run_oracle_verdict verdict;
  if (test_source_run(s, NULL, engine, &verdict, &diag) == TEST_GOOD) return true;
  print_error("%s, %s, array %s, engine %s: %llu wrong bytes\n", s->path, s->arguments, s->array->name, engine->name,
              (unsigned long long)verdict.wrong);
  return false;
}

static void run(tally *t, const char *file, const char *arguments, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  test_source s;
  bool good = test_source_open(&s, file, NULL, arguments, array, &diag);
  if (!good) print_error("%s, %s, array %s: not compiled\n", file, arguments, array->name);
  good = good && judge(&s, &sim_ref_engine) && judge(&s, &sim_cycle_engine);
  test_source_close(&s);
  t->run++;
  t->failed += !good;
}

static hw_array array_of(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static void test_products(void **state) {
  tally t = {.all = *(const bool *)*state};
  for (int a = 0; a < ARRAYS; a++) {
    const hw_array array = array_of(arrays[a]);
    for (int i = 0; i < PRODUCTS * SIZES * SIZES * SIZES; i++) {
      if (!due(&t)) continue;
      char arguments[128];
      const int shape = i / PRODUCTS;
      snprintf(arguments, sizeof arguments, "M=%d,N=%d,K=%d%s", sizes[shape % SIZES], sizes[shape / SIZES % SIZES],
               sizes[shape / SIZES / SIZES], products[i % PRODUCTS].more);
      run(&t, products[i % PRODUCTS].file, arguments, &array);
    }
  }
  print_message("%u products\n", t.run);
  assert_int_equal(t.failed, 0);
}

static void test_other_kernels(void **state) {
  (void)state;
  tally t = {0};
  for (int a = 0; a < ARRAYS; a++) {
    const hw_array array = array_of(arrays[a]);
    for (int i = 0; i < OTHERS; i++)
      if (!TEST_SANITIZED || i % ARRAYS == a) run(&t, others[i].file, others[i].arguments, &array);
  }
  assert_int_equal(t.failed, 0);
}

static void test_normalised_kernels(void **state) {
  (void)state;
  tally t = {0};
  const hw_array array = array_of("transformer-16");
  for (int i = 0; i < NORMALISED; i++) run(&t, normalised[i].file, normalised[i].arguments, &array);
  assert_int_equal(t.failed, 0);
}

static void test_gated_kernels(void **state) {
  (void)state;
  tally t = {0};
  hw_array arrays_with[2] = {array_of("gated-16"), array_of("dim8")};
  arrays_with[1].units.normaliser = arrays_with[1].units.gate = true;
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < GATED; i++) run(&t, gated[i].file, gated[i].arguments, &arrays_with[a]);
  assert_int_equal(t.failed, 0);
}

// The judge itself: results that are stored a byte further on are wrong.
static void test_a_moved_store_is_found(void **state) {
  (void)state;
  const hw_array array = array_of("dim4");
  wf_diag diag = wf_diag_to(stderr);
  test_source s;
  assert_true(test_source_open(&s, "gemm.py", NULL, "M=8,N=8,K=8,scale=0.05", &array, &diag));
  const compile_request request = {
      .file = s.path, .text = s.text, .length = s.length, .array = &array, .arguments = s.args};
  const run_config config = {.engine = &sim_ref_engine};
  compile_result result;
  run_oracle_verdict verdict;
  assert_true(compile(&request, &result, &diag));
  assert_true(run_oracle_judge(&s.expected, &result, &config, &verdict, &diag));
  assert_int_equal(verdict.wrong, 0);
  const uint64_t digest = verdict.digest;
  for (size_t n = 0; n < result.commands->count; n++)
    if (result.commands->nodes[n].insn.funct == ISA_FUNCT_MVOUT) {
      result.commands->nodes[n].insn.rs1++;
      break;
    }
  assert_true(run_oracle_judge(&s.expected, &result, &config, &verdict, &diag));
  assert_true(verdict.wrong > 0);
  assert_string_equal(result.commands->tensors[verdict.tensor].name, "c_ptr");
  assert_true(verdict.digest != digest);
  compile_release(&result);
  test_source_close(&s);
}

int main(int argc, char **argv) {
  bool all = argc > 1 && strcmp(argv[1], "all") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_products, &all),
                                     cmocka_unit_test(test_other_kernels), cmocka_unit_test(test_normalised_kernels),
                                     cmocka_unit_test(test_gated_kernels),
                                     cmocka_unit_test(test_a_moved_store_is_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
