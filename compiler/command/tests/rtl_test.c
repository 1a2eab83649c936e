// SPDX-License-Identifier: Apache-2.0
// Command programs on the hardware: the same memory as the reference engine, the same cycles as the cycle engine.
#include "base/alloc.h"
#include "base/test.h"
#include "compiler/command/tests/sample.h"
#include "runner/program.h"

static const sample_gemm shapes[] = {{5, 7, 9, 0.5f, false}, {33, 47, 70, 0.0134f, true}, {64, 64, 64, 0.01f, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static run_result run(const command_program *program, const char *engine, const int8_t *a, const int8_t *b, int8_t *c) {
  wf_diag diag = wf_diag_to(stderr);
  const run_config config = {.engine = sim_engine_find(engine), .times = 2};
  void *const tensors[] = {(void *)(uintptr_t)a, (void *)(uintptr_t)b, c};
  run_result result;
  assert_true(run_commands_on(program, &config, tensors, &result, &diag));
  return result;
}

static void compare(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  for (int i = 0; i < SHAPES; i++) {
    const sample_gemm *g = &shapes[i];
    uint64_t random = 99;
    int8_t *a = wf_alloc((size_t)g->m * g->k, 1), *b = wf_alloc((size_t)g->k * g->n, 1);
    for (size_t n = 0; n < (size_t)g->m * g->k; n++) a[n] = (int8_t)(sample_random(&random) >> 30);
    for (size_t n = 0; n < (size_t)g->k * g->n; n++) b[n] = (int8_t)(sample_random(&random) >> 30);
    const size_t bytes = (size_t)g->m * g->n;
    int8_t *want = wf_calloc(bytes, 1), *on_cycle = wf_calloc(bytes, 1), *on_rtl = wf_calloc(bytes, 1);
    sample_gemm_plain(g, a, b, want);
    command_program *program = sample_gemm_program(&array, g);
    const run_result cycle = run(program, "cycle", a, b, on_cycle), rtl = run(program, "rtl", a, b, on_rtl);
    assert_memory_equal(on_cycle, want, bytes);
    assert_memory_equal(on_rtl, want, bytes);
    assert_int_equal(cycle.cycles, rtl.cycles);
    command_destroy(program);
    wf_free(a), wf_free(b), wf_free(want), wf_free(on_cycle), wf_free(on_rtl);
  }
}

static void test_dim4(void **state) {
  (void)state;
  compare("dim4");
}

static void test_dim8(void **state) {
  (void)state;
  compare("dim8");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_dim4), cmocka_unit_test(test_dim8)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
