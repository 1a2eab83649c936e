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

static void formulas_are_text_and_numbers_are_numbers(void **state) {
  (void)state;
  expect("=1+1", "'=1+1");
  expect("=a,b", "\"'=a,b\"");
  expect("@x", "'@x");
  expect("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0");
  expect("-2+3", "'-2+3");
  expect("\t=1", "'\t=1");
  expect("\n=1", "\"'\n=1\"");
  expect("-5", "-5");
  expect("+1.5e-3", "+1.5e-3");
  expect("-", "-");
  expect("--", "'--");
  expect("a=1", "a=1");
}

static void control_characters_do_not_get_through(void **state) {
  (void)state;
  expect("a\x1b[2Jb", "a\\x1b[2Jb");
  expect("\xff", "\\xff");
  expect("\xc3\xa4", "\xc3\xa4");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields_are_quoted_where_they_must_be),
                                     cmocka_unit_test(formulas_are_text_and_numbers_are_numbers),
                                     cmocka_unit_test(control_characters_do_not_get_through)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
