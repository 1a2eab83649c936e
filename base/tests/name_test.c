// SPDX-License-Identifier: Apache-2.0
// Forms of names: what each place must not see, and that harmless names stay as they are.
#include "base/name.h"

#include "base/alloc.h"
#include "base/test.h"

static char *written(wf_name_form form, const char *name) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_name_write(form, name, out);
  fclose(out);
  return text;
}

static void expect(wf_name_form form, const char *name, const char *wanted) {
  char *text = written(form, name);
  assert_string_equal(text, wanted);
  free(text);
}

static const wf_name_form all[] = {WF_NAME_TERMINAL, WF_NAME_MESSAGE, WF_NAME_CSV,  WF_NAME_C_COMMENT,
                                   WF_NAME_C_STRING, WF_NAME_GNUPLOT, WF_NAME_JSON, WF_NAME_DOCUMENT};

static void harmless_names_stay(void **state) {
  (void)state;
  static const char *const names[] = {"", "conv1", "layer_4.0/conv-2", "na\xc3\xafve \xe7\x95\xb3\xf0\x9f\x99\x82"};
  for (size_t f = 0; f < sizeof all / sizeof *all; f++)
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) expect(all[f], names[n], names[n]);
}

static void terminals_get_one_line_without_controls(void **state) {
  (void)state;
  expect(WF_NAME_TERMINAL, "a\n\t\r\x1b[31mb\x7f", "a\\n\\t\\r\\x1b[31mb\\x7f");
  expect(WF_NAME_TERMINAL,
         "\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m");
  expect(WF_NAME_TERMINAL, "\xe2\x80\xae", "\\xe2\\x80\\xae");
  expect(WF_NAME_MESSAGE, "a\nb\tc\x1b", "a\nb\tc\\x1b");
}

// Cut off, overlong, a surrogate, beyond the last character, a byte of the middle alone.
static void what_is_not_utf8_is_written_byte_by_byte(void **state) {
  (void)state;
  expect(WF_NAME_TERMINAL, "\xc3", "\\xc3");
  expect(WF_NAME_TERMINAL, "\xe7\x95", "\\xe7\\x95");
  expect(WF_NAME_TERMINAL, "\xc0\xaf", "\\xc0\\xaf");
  expect(WF_NAME_TERMINAL, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");
  expect(WF_NAME_TERMINAL, "\xed\xa0\x80", "\\xed\\xa0\\x80");
  expect(WF_NAME_TERMINAL, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
  expect(WF_NAME_TERMINAL,
         "\x80"
         "a",
         "\\x80"
         "a");
  expect(WF_NAME_JSON, "a\xff\xc3", "a\\ufffd\\ufffd");
}

static void comments_and_strings_of_c_do_not_end(void **state) {
  (void)state;
  expect(WF_NAME_C_COMMENT, "n\n#include \"/etc/passwd\"\n//", "n%0a#include \"/etc/passwd\"%0a//");
  expect(WF_NAME_C_COMMENT,
         "a*/b\\ ?"
         "?/",
         "a%2a/b%5c %3f%3f/");
  expect(WF_NAME_C_STRING, "a\"b\\c?\n\x1b", "a\\\"b\\\\c\\?\\\\n\\\\x1b");
}

static void gnuplot_and_json_see_text(void **state) {
  (void)state;
  expect(WF_NAME_GNUPLOT, "r'; system(\"x\")", "r\\047\\073 system(\\042x\\042)");
  expect(WF_NAME_GNUPLOT, "`id`@x\n", "\\140id\\140\\100x\\134x0a");
  expect(WF_NAME_JSON, "\x7f\xc2\x9b\xe2\x80\xae", "\\u007f\\u009b\\u202e");
  expect(WF_NAME_JSON, "a\"b\\c\n", "a\\\"b\\\\c\\u000a");
  expect(WF_NAME_DOCUMENT, "{\n\t\"a\": 1}", "{\n\t\"a\": 1}");
  expect(WF_NAME_DOCUMENT, "\x7f\xff", "\\u007f\\ufffd");
}

static void lines_and_columns_have_their_width(void **state) {
  (void)state;
  char line[WF_NAME_LINE], many[1000];
  memset(many, 'x', sizeof many - 1);
  many[sizeof many - 1] = '\0';
  assert_string_equal(wf_name_shown("a\x1b", line), "a\\x1b");
  assert_int_equal(strlen(wf_name_shown(many, line)), WF_NAME_LINE - 1);
  assert_string_equal(line + WF_NAME_LINE - 4, "...");
  for (size_t i = 0; i + 1 < sizeof many; i++) many[i] = i % 2 == 0 ? '\xc3' : '\xa4';
  many[sizeof many - 2] = '\0';
  assert_true(strlen(wf_name_shown(many, line)) < WF_NAME_LINE);
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_name_column("\xc3\xa4", 4, false, out);
  wf_name_column("abcdef", 4, false, out);
  wf_name_column(
      "abc\x1b"
      "def",
      4, true, out);
  fclose(out);
  assert_string_equal(text, "\xc3\xa4   abcdefabc ");
  free(text);
}

static void expect_file(const char *name, const char *wanted) {
  char *file = wf_name_file(name);
  assert_string_equal(file, wanted);
  wf_free(file);
}

static void files_are_safe_short_and_apart(void **state) {
  (void)state;
  static const char *const bad[] = {"",    ".",   "..",   "../../X", "/etc/passwd", "-rf",
                                    "a b", "a/b", "a\nb", ".hidden", "\xff",        "a_b/"};
  enum { BAD = sizeof bad / sizeof *bad };
  char *files[BAD];
  expect_file("resnet50-v1.5_x", "resnet50-v1.5_x");
  for (size_t i = 0; i < BAD; i++) {
    files[i] = wf_name_file(bad[i]);
    assert_true(files[i][0] != '.' && files[i][0] != '-' && files[i][0] != '\0');
    assert_true(strspn(files[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
                strlen(files[i]));
    for (size_t k = 0; k < i; k++) assert_string_not_equal(files[i], files[k]);
  }
  for (size_t i = 0; i < BAD; i++) wf_free(files[i]);
  char one[5000], other[5000];
  memset(one, 'a', sizeof one);
  one[sizeof one - 1] = '\0';
  memcpy(other, one, sizeof one);
  other[sizeof other - 2] = 'b';
  char *first = wf_name_file(one), *second = wf_name_file(other);
  assert_true(strlen(first) <= WF_NAME_FILE);
  assert_string_not_equal(first, second);
  wf_free(first);
  wf_free(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(harmless_names_stay),
      cmocka_unit_test(terminals_get_one_line_without_controls),
      cmocka_unit_test(what_is_not_utf8_is_written_byte_by_byte),
      cmocka_unit_test(comments_and_strings_of_c_do_not_end),
      cmocka_unit_test(gnuplot_and_json_see_text),
      cmocka_unit_test(lines_and_columns_have_their_width),
      cmocka_unit_test(files_are_safe_short_and_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
