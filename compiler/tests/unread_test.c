// SPDX-License-Identifier: Apache-2.0
// Arrays that differ in what the compiler does not read (unread.def) get the same programs, bit by bit: each of these
// parameters by itself at the ends of its range, and all of them together.
#include "base/test.h"
#include "compiler/layer/layer.h"
#include "runner/digest.h"

static const map_layer layers[] = {
    {.kind = MAP_GEMM, .size = {1, 60, 1, 48, 72, 1, 1}, .result_bytes = 1, .bias = true, .residual = 1},
    {.kind = MAP_GEMV, .size = {1, 1, 1, 96, 200, 1, 1}, .result_bytes = 1},
    {.kind = MAP_CONV, .size = {1, 9, 9, 24, 16, 3, 3}, .stride = {1, 1}, .result_bytes = 1, .bias = true},
    {.kind = MAP_CONV, .size = {1, 10, 10, 16, 3, 5, 5}, .stride = {2, 2}, .result_bytes = 1},
    {.kind = MAP_DEPTHWISE, .size = {1, 8, 8, 32, 1, 3, 3}, .stride = {1, 1}, .result_bytes = 1, .groups = 32},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static const char *const unread[] = {
#define UNREAD(section, name) #section "." #name,
#include "compiler/unread.def"
#undef UNREAD
};
enum { UNREADS = sizeof unread / sizeof *unread };

// 0: the layer has no program on the array.
static uint64_t digest_of(const map_layer *layer, const hw_array *array) {
  wf_diag silent = wf_diag_to(NULL);
  compile_result result;
  uint64_t digest = 0;
  if (layer_compile(layer, array, &(layer_policy){.straight = true}, &result, &silent))
    digest = run_digest_of(result.commands).commands;
  compile_release(&result);
  return digest;
}

static void expect_same(const hw_array *base, const hw_array *changed, const char *what) {
  assert_int_equal(compile_array_hash(base), compile_array_hash(changed));
  for (unsigned l = 0; l < LAYERS; l++)
    if (digest_of(&layers[l], base) != digest_of(&layers[l], changed))
      fail_msg("%s changes the program of layer %u on %s", what, l, base->name);
}

static hw_array load(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

// Values that the array cannot have with its other ones are left out: no sweep compiles for such an array.
static void change(hw_array *array, const hw_param *param, uint32_t value) {
  wf_diag silent = wf_diag_to(NULL);
  hw_array changed = *array;
  hw_param_set(&changed, param, value);
  if (hw_array_check(&changed, NULL, &silent)) *array = changed;
}

static void programs_do_not_depend_on_what_is_not_read(void **state) {
  (void)state;
  static const char *const names[] = {"gemmini-default", "gemmini-chip"};
  for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
    const hw_array base = load(names[n]);
    hw_array least = base, most = base;
    for (unsigned i = 0; i < UNREADS; i++) {
      const hw_param *param = hw_param_find(unread[i]);
      assert_non_null(param);
      hw_array low = base, high = base;
      change(&low, param, param->min);
      change(&high, param, param->max);
      change(&least, param, param->min);
      change(&most, param, param->max);
      expect_same(&base, &low, unread[i]);
      expect_same(&base, &high, unread[i]);
    }
    expect_same(&base, &least, "the least of all");
    expect_same(&base, &most, "the most of all");
  }
}

// The test can fail: what is read changes programs, and the hash.
static void what_is_read_counts(void **state) {
  (void)state;
  const hw_array base = load("gemmini-default");
  hw_array changed = base;
  changed.accumulator.capacity_kib *= 2;
  assert_int_not_equal(compile_array_hash(&base), compile_array_hash(&changed));
  bool differs = false;
  for (unsigned l = 0; l < LAYERS; l++) differs |= digest_of(&layers[l], &base) != digest_of(&layers[l], &changed);
  assert_true(differs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_do_not_depend_on_what_is_not_read),
      cmocka_unit_test(what_is_read_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
