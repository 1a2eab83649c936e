// Every shipped kernel on ragged shapes and several arrays: the commands leave on `ref` and on `cycle` what the
// kernel's interpreter says, byte by byte. With "all" as its argument all combinations, a sample of them otherwise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <string.h>

#include "compiler/tests/source.h"
#include "sim/cycle/cycle.h"
#include "sim/ref/ref.h"

enum { SAMPLE = 29 };  // one in so many; prime, so that it walks through all of them

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

typedef struct tally {
  bool all;
  unsigned seen, run, failed;
} tally;

// Whether it is this combination's turn.
static bool due(tally *t) { return t->seen++ % SAMPLE == 0 || t->all; }

static bool judge(const test_source *s, const sim_engine_ops *engine) {
  wf_diag diag = wf_diag_to(stderr);
  oracle_verdict verdict;
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

int main(int argc, char **argv) {
  bool all = argc > 1 && strcmp(argv[1], "all") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_products, &all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
