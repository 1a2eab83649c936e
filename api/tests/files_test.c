// SPDX-License-Identifier: Apache-2.0
// Files that come with the library: each name once, kernels that compile, an array that loads.
#include "api/tests/session.h"

static const char *text_of(const char *name) {
  weft_file file = {.size = sizeof file};
  const char *found = NULL;
  for (size_t i = 0; weft_file_at(i, &file) == WEFT_OK; i++)
    if (strcmp(file.name, name) == 0) {
      assert_null(found);
      found = file.text;
    }
  assert_non_null(found);
  return found;
}

static void test_files(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = weft_array_parse(s, "mine.yaml", text_of("mine.yaml"), strlen(text_of("mine.yaml")));
  expect(s, WEFT_OK);
  const weft_kernel_options options = {
      .size = sizeof options, .file = "gemm.py", .text = text_of("gemm.py"), .arguments = "M=16,N=16,K=16"};
  weft_kernel *kernel = weft_kernel_compile(s, array, &options);
  expect(s, WEFT_OK);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_end(void **state) {
  (void)state;
  weft_file file = {.size = sizeof file};
  size_t count = 0;
  while (weft_file_at(count, &file) == WEFT_OK) {
    assert_ptr_equal(text_of(file.name), file.text);
    count++;
  }
  assert_true(count >= 3);
  assert_int_equal(weft_file_at(SIZE_MAX, &file), WEFT_USAGE);
  assert_int_equal(weft_file_at(0, NULL), WEFT_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
