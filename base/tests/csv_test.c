// SPDX-License-Identifier: Apache-2.0
// Fields and when they are quoted.
#include "base/csv.h"

#include "base/test.h"

static void expect(const char *text, const char *written) {
  char *got = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&got, &length);
  wf_csv_field(text, out);
  fclose(out);
  assert_string_equal(got, written);
  free(got);
}

static void fields_are_quoted_where_they_must_be(void **state) {
  (void)state;
  expect("", "");
  expect("M=1 N=2; 'x'", "M=1 N=2; 'x'");
  expect("a,b", "\"a,b\"");
  expect("a \"b\"", "\"a \"\"b\"\"\"");
  expect("two\nlines", "\"two\nlines\"");
  expect("cr\r", "\"cr\r\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields_are_quoted_where_they_must_be)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
