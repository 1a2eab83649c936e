// SPDX-License-Identifier: Apache-2.0
// Random mappings of products and convolutions: every legal one compiles and gives the result of the kernel, every
// illegal one is refused with a reason. With a number as its argument, so many legal mappings; 300 otherwise, 108 under
// sanitizers.
#include "base/test.h"
#include "compiler/tests/source.h"
#include "sim/ref/ref.h"

enum { LEGAL_BY_DEFAULT = TEST_SANITIZED ? 108 : 300, ILLEGAL_PER_LEGAL = 2 };

static const struct {
  const char *file, *arguments;
} cases[] = {
    {"gemm.py", "M=64,N=64,K=64,scale=0.002"},
    {"gemm.py", "M=49,N=31,K=197,scale=0.002"},
    {"gemm.py", "M=300,N=17,K=16,scale=0.01"},
    {"gemm.py", "M=1,N=300,K=49,scale=0.004"},
    {"gemm.py", "M=17,N=197,K=3,scale=0.03"},
    {"gemm.py", "M=128,N=96,K=160,scale=0.001"},
    {"conv2d.py", "N=1,H=8,W=8,C=16,K=32,padding=1,scale=0.0006,relu=False"},
    {"conv2d.py", "N=2,H=9,W=11,C=31,K=17,scale=0.0004,relu=False"},
    {"gemm.py", "M=70,N=65,K=33,scale=0.0006,residual=300,relu=False"},
    {"depthwise_conv2d.py", "N=2,H=9,W=8,C=37,D=DIM,padding=1,stride=2,scale=0.1"},
    {"grouped_conv2d.py", "N=1,H=9,W=8,G=3,C=17,K=20,padding=1,scale=0.02,bias=True"},
    {"conv2d.py", "N=2,H=19,W=23,C=9,K=20,padding=1,scale=0.004,pool=3,pool_stride=2,pool_padding=1"},
    {"conv2d.py", "N=1,H=17,W=16,C=17,K=37,padding=1,scale=0.004,relu=False,pool=2,pool_stride=2"},
    {"conv2d_narrow.py", "N=1,H=33,W=29,C=3,K=20,R=5,S=5,stride=2,scale=0.004,pool=3,pool_stride=2,pool_padding=2"},
    {"max_pool2d.py", "N=2,H=19,W=18,C=37,R=3,S=3,stride=2,padding=1"},
    {"average_pool2d.py", "N=1,H=9,W=10,C=37"},
    {"residual_add.py", "M=70,N=65,a_scale=0.7"},
    {"conv2d.py", "N=3,H=11,W=29,C=3,K=48,R=2,stride=2,padding=1,scale=0.0008,relu=False"},
};
enum { CASES = sizeof cases / sizeof cases[0] };
static const char *const arrays[] = {"dim4", "dim8", "gemmini-default"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void show(const test_source *s, const map_mapping *m, const char *what) {
  print_error("%s: %s, %s, array %s, mapping:\n", what, s->path, s->arguments, s->array->name);
  map_print(m, stderr);
}

// A legal mapping must compile, whatever it is, to the same result.
static bool try_legal(const test_source *s, uint64_t *seed) {
  map_mapping m;
  if (!map_random(&s->layer, s->array, seed, &m)) {
    print_error("no legal mapping found: %s, %s\n", s->path, s->arguments);
    return false;
  }
  wf_diag diag = wf_diag_to(stderr);
  run_oracle_verdict verdict;
  const test_outcome outcome = test_source_run(s, &m, &sim_ref_engine, &verdict, &diag);
  if (outcome != TEST_GOOD) show(s, &m, outcome == TEST_REFUSED ? "refused" : "another result");
  return outcome == TEST_GOOD;
}

// Whatever map_check refuses the compiler refuses, with at least one error; true when the mapping was illegal.
static bool try_any(const test_source *s, uint64_t *seed, bool *good) {
  map_mapping m;
  map_random_any(&s->layer, s->array, seed, &m);
  if (map_check(&s->layer, &m, s->array, NULL)) return false;
  wf_diag diag = wf_diag_to(NULL);
  run_oracle_verdict verdict;
  if (test_source_run(s, &m, &sim_ref_engine, &verdict, &diag) == TEST_REFUSED && diag.errors > 0) return true;
  show(s, &m, "illegal, but not refused");
  *good = false;
  return true;
}

static void test_random_mappings(void **state) {
  const int wanted = *(const int *)*state;
  unsigned failed = 0, refused = 0;
  int done = 0;
  for (int a = 0; a < ARRAYS; a++) {
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(hw_array_load(&array, arrays[a], &diag));
    for (int c = 0; c < CASES; c++) {
      test_source s;
      uint64_t seed = (uint64_t)(a * CASES + c + 1) * 1000003;
      if (!test_source_open(&s, cases[c].file, NULL, cases[c].arguments, &array, &diag)) fail_msg("case %d", c);
      const int share = wanted * (a * CASES + c + 1) / (ARRAYS * CASES) - done;
      bool good = true;
      for (int i = 0; i < share && failed < 10; i++, done++) {
        failed += !try_legal(&s, &seed);
        for (int j = 0; j < ILLEGAL_PER_LEGAL; j++) refused += try_any(&s, &seed, &good);
      }
      failed += !good;
      test_source_close(&s);
    }
  }
  print_message("%d legal mappings compiled, %u illegal ones refused\n", done, refused);
  assert_int_equal(failed, 0);
  assert_int_equal(done, wanted);
  assert_true(refused > (unsigned)wanted / 2);
}

// Mappings by bands, the first few of each case.
static void test_bands(void **state) {
  (void)state;
  enum { FROM = 40, BANDS = TEST_SANITIZED ? 2 : 6 };
  unsigned failed = 0, tried = 0;
  for (int a = 0; a < ARRAYS; a++) {
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(hw_array_load(&array, arrays[a], &diag));
    for (int c = 0; c < CASES; c++) {
      test_source s;
      map_mapping list[FROM + BANDS];
      if (!test_source_open(&s, cases[c].file, NULL, cases[c].arguments, &array, &diag)) fail_msg("case %d", c);
      const size_t best = map_best(&s.layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, list, FROM);
      const size_t count = map_add_bands(&s.layer, &array, list, best, best + BANDS);
      for (size_t i = best; i < count; i++, tried++) {
        run_oracle_verdict verdict;
        if (test_source_run(&s, &list[i], &sim_ref_engine, &verdict, &diag) == TEST_GOOD) continue;
        show(&s, &list[i], "a mapping by bands");
        failed++;
      }
      test_source_close(&s);
    }
  }
  print_message("%u mappings by bands\n", tried);
  assert_int_equal(failed, 0);
  assert_true(tried > 9 * BANDS);
}

// Products with blocks of zeros are left out, whatever the mapping and wherever the zeros are.
static void test_zeros_are_left_out(void **state) {
  static const struct {
    const char *file, *arguments, *tensor;
    int64_t columns;
  } pruned[] = {
      {"gemm.py", "M=29,N=72,K=104,scale=0.002", "b_ptr", 72},
      {"gemm.py", "M=30,N=65,K=133,scale=0.0006,residual=3,relu=False", "b_ptr", 65},
      {"gemm.py", "M=60,N=96,K=57,scale=0.0006,bias=True", "b_ptr", 96},
      {"conv2d.py", "N=2,H=9,W=11,C=31,K=40,padding=1,scale=0.0004,relu=False", "w_ptr", 40},
      {"conv2d.py", "N=1,H=19,W=13,C=32,K=20,padding=1,scale=0.004,pool=3,pool_stride=2,pool_padding=1", "w_ptr", 20},
      {"conv2d_narrow.py", "N=1,H=33,W=29,C=3,K=40,R=5,S=5,stride=2,scale=0.004", "w_ptr", 40},
      {"depthwise_conv2d.py", "N=1,H=12,W=9,C=56,D=DIM,padding=1,scale=0.02", "w_ptr", 0},  // blocks of the side
  };
  enum { PRUNED = sizeof pruned / sizeof pruned[0], MAPPINGS = TEST_SANITIZED ? 2 : 4 };
  static const unsigned percents[] = {30, 80, 100};
  const int factor = *(const int *)*state > LEGAL_BY_DEFAULT ? 20 : 1;
  unsigned failed = 0;
  for (int a = 0; a < ARRAYS; a++) {
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(hw_array_load(&array, arrays[a], &diag));
    for (int c = 0; c < PRUNED && failed < 10; c++) {
      test_source s;
      uint64_t seed = (uint64_t)(a * PRUNED + c + 1);
      const int64_t dim = hw_derive(&array).dim, columns = pruned[c].columns == 0 ? dim : pruned[c].columns;
      const test_zeros zeros = {pruned[c].tensor, columns, percents[(a + c) % 3], seed};
      if (!test_source_open_pruned(&s, pruned[c].file, pruned[c].arguments, &array, &zeros, &diag))
        fail_msg("case %d", c);
      for (int i = 0; i < MAPPINGS * factor; i++) failed += !try_legal(&s, &seed);
      test_source_close(&s);
    }
  }
  assert_int_equal(failed, 0);
}

// Weights of many tiles that are not packed: most rows of the scratchpad that loads share are read late or never.
static void test_unpacked_zeros(void **state) {
  (void)state;
  test_source s;
  run_oracle_verdict verdict;
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  const test_zeros zeros = {"w_ptr", 2048, 75, 1};
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  assert_true(test_source_open_pruned(&s, "conv2d.py", "N=1,H=14,W=14,C=512,K=2048,R=1,S=1,stride=2,scale=0.001",
                                      &array, &zeros, &diag));
  assert_int_equal(test_source_run_unpacked(&s, &sim_ref_engine, &verdict, &diag), TEST_GOOD);
  test_source_close(&s);
}

int main(int argc, char **argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : LEGAL_BY_DEFAULT;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_random_mappings, &wanted),
                                     cmocka_unit_test_prestate(test_zeros_are_left_out, &wanted),
                                     cmocka_unit_test(test_unpacked_zeros), cmocka_unit_test(test_bands)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
